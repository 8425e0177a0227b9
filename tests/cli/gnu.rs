//! Lines sorted by keys of `sort`, beside `sort` itself under `LC_ALL=C`. What is text there says so here.

use std::fmt;
use std::process::Command;

use proptest::prelude::*;

use crate::support::command::{gpusort, run_with};
use crate::support::tier;

/// What a field is, and the letters of keys that order it.
#[derive(Clone, Copy, Debug)]
enum Field {
    Word,
    Number,
    Size,
    Version,
}

impl Field {
    fn letters(self) -> &'static str {
        match self {
            Self::Word => "",
            Self::Number => "n",
            Self::Size => "h",
            Self::Version => "V",
        }
    }

    /// A field of this kind, without what separates fields.
    fn strategy(self, separator: Option<u8>, may_be_empty: bool) -> BoxedStrategy<Vec<u8>> {
        match self {
            Self::Number => {
                "-?0{0,2}[1-9][0-9]{0,5}(\\.[0-9]{1,3})?|-?0(\\.[1-9])?".prop_map(String::into_bytes).boxed()
            }
            // Which `sort` orders by units first: as sizes are that have no more than three digits.
            Self::Size => "[1-9][0-9]{0,2}[KMGTPE]?".prop_map(String::into_bytes).boxed(),
            Self::Version => "v?[0-9]{1,2}(\\.[0-9]{1,2}){0,3}(-(rc|a)[0-9]?)?(\\.gz)?"
                .prop_map(String::into_bytes)
                .boxed(),
            Self::Word => {
                let byte = prop::sample::select(b"abABzZ019-_.,\"'\\~%\x01\x7f\x80\xc3\xa9\xff".to_vec());
                let mut word = prop_oneof![
                    prop::collection::vec(byte.clone(), 1..4),
                    // Alike up to and beyond what fits a word.
                    (
                        prop::sample::select(vec![
                            "chr",
                            "sample_",
                            "prefix-8",
                            "nine_byte",
                            "https://www.example.org/"
                        ]),
                        prop::collection::vec(byte, 0..3)
                    )
                        .prop_map(|(beginning, rest)| [beginning.as_bytes(), &rest].concat()),
                ]
                .boxed();
                if let Some(separator) = separator {
                    let blanks = prop_oneof![9 => Just(0), 1 => 1..3_usize];
                    let empty = prop_oneof![1 => Just(Vec::new()), 9 => word];
                    word =
                        (blanks, empty).prop_map(|(blanks, word)| [&b"  "[..blanks], &word].concat()).boxed();
                    word = word
                        .prop_map(move |word| {
                            let word: Vec<u8> = word.into_iter().filter(|&byte| byte != separator).collect();
                            if word.is_empty() && !may_be_empty { b"x".to_vec() } else { word }
                        })
                        .boxed();
                }
                word
            }
        }
    }
}

/// Lines of some fields, and the arguments for each.
#[derive(Clone)]
struct Case {
    theirs: Vec<String>,
    ours: Vec<String>,
    lines: Vec<Vec<u8>>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [theirs, ours] = [&self.theirs, &self.ours].map(|args| args.join(" "));
        write!(f, "{theirs}, {ours}: {}", self.lines.join(&b'\n').escape_ascii())
    }
}

fn case() -> impl Strategy<Value = Case> {
    let field =
        prop::sample::select(vec![Field::Word, Field::Word, Field::Number, Field::Size, Field::Version]);
    let shape = (
        prop::collection::vec(field, 1..4),
        prop::option::of(prop::sample::select(b",\t;".to_vec())),
        prop::collection::vec((0..3_usize, "f?r?", any::<bool>()), 1..4),
        any::<[bool; 4]>(),
    );
    shape.prop_flat_map(|(fields, separator, keys, flags)| {
        let (theirs, ours, may_be_empty) = args(&fields, separator, &keys, flags);
        let columns: Vec<_> = fields.iter().map(|field| field.strategy(separator, may_be_empty)).collect();
        let blanks = match separator {
            Some(separator) => Just(vec![separator]).boxed(),
            None => prop::collection::vec(prop::sample::select(b" \t".to_vec()), 1..3).boxed(),
        };
        // Fields that are not there are text alone: others are 0 to `sort`.
        let may_end = may_be_empty && fields.iter().all(|field| matches!(field, Field::Word));
        let all = fields.len();
        let parts =
            move |most| (columns.clone(), prop::collection::vec(blanks.clone(), 4), most, any::<bool>());
        let line = move |(fields, blanks, most, begins): (Vec<Vec<u8>>, Vec<Vec<u8>>, usize, bool)| {
            let count = if may_end { most.min(fields.len()) } else { fields.len() };
            let mut line = if begins && separator.is_none() { blanks[3].clone() } else { Vec::new() };
            for (number, field) in fields.iter().take(count).enumerate() {
                line.extend_from_slice(if number > 0 { &blanks[number - 1] } else { b"" });
                line.extend_from_slice(field);
            }
            line
        };
        let lines = prop::collection::vec(parts(1..9_usize).prop_map(line), 0..200);
        // A blank line is a record here, as there; and a line has all fields.
        (lines, parts(all..all + 1).prop_map(line)).prop_map(move |(mut lines, whole)| {
            lines.push(whole);
            Case { theirs: theirs.clone(), ours: ours.clone(), lines }
        })
    })
}

/// Their arguments, ours, and whether fields may be empty.
fn args(
    fields: &[Field],
    separator: Option<u8>,
    keys: &[(usize, String, bool)],
    [reverse, fold, unique, zero]: [bool; 4],
) -> (Vec<String>, Vec<String>, bool) {
    // Blanks between separators count in text, here and there.
    let blanks = if separator.is_some() { "" } else { "b" };
    let mut theirs: Vec<String> =
        separator.into_iter().map(|byte| format!("-t{}", char::from(byte))).collect();
    for (flag, letter) in [(reverse, "-r"), (fold, "-f"), (unique, "-u"), (zero, "-z")] {
        theirs.extend(flag.then(|| letter.to_owned()));
    }
    let mut ours = theirs.clone();
    theirs.extend(separator.is_none().then(|| "-b".to_owned()));
    let mut falling = Vec::new();
    for (number, letters, is_plain) in keys {
        let number = number % fields.len();
        let kind = fields[number].letters();
        let number = number + 1;
        // A key with a letter has none of the global ones.
        let mut own = if *is_plain || !kind.is_empty() { letters.clone() } else { String::new() };
        if kind.is_empty() && !own.is_empty() && fold && !own.contains('f') {
            own.insert(0, 'f');
        }
        let has_letters = !own.is_empty() || !kind.is_empty();
        let skips = if has_letters { blanks } else { "" };
        theirs.push(format!("-k{number}{skips},{number}{kind}{own}"));
        falling.push(if has_letters { own.contains('r') } else { reverse });
        ours.push(if kind.is_empty() {
            let nocase = if own.contains('f') { ":nocase" } else { "" };
            let turn = if own.contains('r') { ":r" } else { ":a" };
            format!("-k{number}:text{nocase}{}", if has_letters { turn } else { "" })
        } else {
            format!("-k{number}{skips},{number}{kind}{own}")
        });
    }
    // Empty fields have a place of their own here, and are the smallest text there.
    let first = if falling[0] { "last" } else { "first" };
    ours.push(format!("--empty={first}"));
    (theirs, ours, falling.iter().all(|&is_falling| is_falling == falling[0]))
}

fn sorted_by(mut command: Command, input: &[u8]) -> (bool, Vec<u8>, String) {
    command.env("LC_ALL", "C");
    let output = run_with(command, input);
    (output.status.success(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Whether these arguments make the same of lines here and there, and `check` agrees.
fn compare(theirs: &[&str], ours: &[&str], lines: &[Vec<u8>]) -> Result<(), String> {
    let end: &[u8] = if theirs.contains(&"-z") { b"\0" } else { b"\n" };
    let input: Vec<u8> = lines.iter().flat_map(|line| [line, end].concat()).collect();
    let mut sort = Command::new("sort");
    sort.arg("-s").args(theirs);
    let (is_sorted, expected, said) = sorted_by(sort, &input);
    assert!(is_sorted, "GNU sort is needed, as on any Linux: {said}");
    let (is_sorted, found, said) = sorted_by(gpusort(&[&["sort", "-q"], ours].concat()), &input);
    if !is_sorted || found != expected {
        return Err(format!("{said}{}\nis not\n{}", found.escape_ascii(), expected.escape_ascii()));
    }
    let (is_ordered, _, said) = sorted_by(gpusort(&[&["check", "-q"], ours].concat()), &expected);
    if is_ordered { Ok(()) } else { Err(said) }
}

#[test]
fn another_order_is_noticed() {
    let lines = ["b 2", "a 10", "b 1"].map(|line| line.as_bytes().to_vec());
    compare(&["-b", "-k2,2n"], &["-b", "-k2,2n"], &lines).unwrap();
    // The kind is found, too, and what is text says so.
    compare(&["-b", "-k2,2n"], &["-k2,2"], &lines).unwrap();
    compare(&["-b", "-k2,2"], &["-k2:text"], &lines).unwrap();
    for ours in ["-k2:text", "-k2,2nr", "-k1,1", "-k3,3n"] {
        compare(&["-b", "-k2,2n"], &["-b", ours], &lines).unwrap_err();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn lines_come_out_as_sort_has_them(Case { theirs, ours, lines } in case()) {
        let [theirs, ours] = [&theirs, &ours].map(|args| args.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(compare(&theirs, &ours, &lines), Ok(()));
    }
}

/// As many as `GPUSORT_CASES` says; by itself 20,000 lines.
fn cases() -> u32 {
    let asked = std::env::var("GPUSORT_CASES").ok();
    asked.map_or(tier::count(200, 50) as u32, |cases| cases.parse().expect("GPUSORT_CASES is a number"))
}
