//! Lines sorted by `sort`'s own keys, beside `sort` itself under `LC_ALL=C`.

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
            // A negative zero is less than zero among decimals.
            Self::Number => "n",
            Self::Size => "h",
            Self::Version => "V",
        }
    }

    /// A field of this kind, without what separates fields.
    fn strategy(self, separator: Option<u8>) -> BoxedStrategy<Vec<u8>> {
        match self {
            Self::Number => {
                "-?0{0,2}[1-9][0-9]{0,5}(\\.[0-9]{1,3})?|0(\\.[1-9])?".prop_map(String::into_bytes).boxed()
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
                        .prop_map(move |word| word.into_iter().filter(|&byte| byte != separator).collect())
                        .boxed();
                }
                word
            }
        }
    }
}

/// Lines of some fields, and the arguments for both.
#[derive(Clone)]
struct Case {
    args: Vec<String>,
    lines: Vec<Vec<u8>>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.args.join(" "), self.lines.join(&b'\n').escape_ascii())
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
    shape.prop_flat_map(|(fields, separator, keys, [reverse, fold, unique, zero])| {
        let args = args(&fields, separator, &keys, [reverse, fold, unique, zero]);
        let columns: Vec<_> = fields.iter().map(|field| field.strategy(separator)).collect();
        let blanks = match separator {
            Some(separator) => Just(vec![separator]).boxed(),
            None => prop::collection::vec(prop::sample::select(b" \t".to_vec()), 1..3).boxed(),
        };
        // Fields that are not there are text alone: others are 0 to `sort`.
        let may_end = fields.iter().all(|field| matches!(field, Field::Word));
        let line = (columns, prop::collection::vec(blanks, 4), 1..9_usize, any::<bool>());
        let line = line.prop_map(move |(fields, blanks, most, begins)| {
            let count = if may_end { most.min(fields.len()) } else { fields.len() };
            let mut line = if begins && separator.is_none() { blanks[3].clone() } else { Vec::new() };
            for (number, field) in fields.iter().take(count).enumerate() {
                line.extend_from_slice(if number > 0 { &blanks[number - 1] } else { b"" });
                line.extend_from_slice(field);
            }
            line
        });
        // What is a blank line is a record here, as there.
        prop::collection::vec(line, 1..200).prop_map(move |lines| Case { args: args.clone(), lines })
    })
}

fn args(
    fields: &[Field],
    separator: Option<u8>,
    keys: &[(usize, String, bool)],
    flags: [bool; 4],
) -> Vec<String> {
    let mut args: Vec<String> = vec!["-b".to_owned()];
    args.extend(separator.map(|separator| format!("-t{}", char::from(separator))));
    for (flag, letter) in flags.into_iter().zip(["-r", "-f", "-u", "-z"]) {
        if flag {
            args.push(letter.to_owned());
        }
    }
    for (number, letters, is_plain) in keys {
        let number = number % fields.len();
        let kind = fields[number].letters();
        // A key with a letter has none of the global ones, so it says where blanks do not count.
        let own = if *is_plain || !kind.is_empty() { letters } else { "" };
        let blanks = if own.is_empty() && kind.is_empty() { "" } else { "b" };
        args.push(format!("-k{0}{blanks},{0}{kind}{own}", number + 1));
    }
    args
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
    for ours in ["-k2,2", "-k2,2nr", "-k1,1", "-k3,3n"] {
        compare(&["-b", "-k2,2n"], &["-b", ours], &lines).unwrap_err();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn lines_come_out_as_sort_has_them(Case { args, lines } in case()) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        prop_assert_eq!(compare(&args, &args, &lines), Ok(()));
    }
}

/// As many as `GPUSORT_CASES` says; by itself 20,000 lines.
fn cases() -> u32 {
    let asked = std::env::var("GPUSORT_CASES").ok();
    asked.map_or(tier::count(200, 50) as u32, |cases| cases.parse().expect("GPUSORT_CASES is a number"))
}
