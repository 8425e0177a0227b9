//! Versions, and other names with numbers, in the order of GNU `sort -V`.
//!
//! The rules are [the rules of coreutils]: words without digits and numbers alternate in a name. Words compare by
//! characters: `~`, then the end of the name, then letters, then other characters. Numbers compare by value. File
//! extensions count only if the names without extensions are equal.
//!
//! The bytes of two keys compare as the names do:
//!
//! ```text
//! name            no bytes for an empty name; 00 00 for "."; 00 01 for ".."; 00 02 in front of dot files
//!                 ┊ the name without extensions ┊ the extensions, if the name has extensions
//!
//! a10.2-3.txt     a 10 . 2 - 3 end ┊ 0 . t x t 0 end
//! a.txt           a 0 end ┊ . t x t 0 end
//! ```
//!
//! An empty name and a word at the end of a name get a number 0: `a` equals `a0`, and is greater than `a0~`.
//! `a0.txt` and `a.txt` are equal without extensions, and the `0` of `a0.txt` then sorts before the dot; so
//! extensions behind a digit also get a number 0 in front.
//!
//! [the rules of coreutils]: https://www.gnu.org/software/coreutils/manual/html_node/Version-sort-ordering.html

use std::sync::LazyLock;

use crate::digits::{split_digits, split_while};
use crate::hex::push_count;

/// In front of the keys of names that begin with a dot.
const HIDDEN: u8 = 0;
const TILDE: u8 = 1;
/// The end of a part of a name.
const END: u8 = 2;
/// The number 0; the next codes are numbers of 1, 2, 3 … digits.
const NUMBER: u8 = 3;
/// Numbers of at least this count of digits share a code.
const FEW: usize = 7;
/// The code of the first letter, behind the codes of numbers.
const LETTERS: u8 = NUMBER + FEW as u8 + 1;

/// The codes of bytes other than digits: letters before other characters.
static CODES: LazyLock<[u8; 256]> = LazyLock::new(|| {
    let letters = (0..=u8::MAX).filter(u8::is_ascii_alphabetic);
    let others = (0..=u8::MAX).filter(|byte| !byte.is_ascii_alphanumeric() && *byte != b'~');
    let mut codes = [TILDE; 256];
    for (byte, code) in letters.chain(others).zip(LETTERS..=u8::MAX) {
        codes[usize::from(byte)] = code;
    }
    codes
});

/// The count of points between the numbers of a version: `v` or nothing, numbers with points, then any text behind
/// one of `-+~/:`. Other fields have none.
///
/// Addresses such as 10.0.0.1, 10.0.0.0/8 and 10.0.0.1:80 are versions.
pub fn points(field: &[u8]) -> Option<usize> {
    let ([b'v', text @ ..] | text) = field;
    let mut points = 0;
    let (mut number, mut rest) = split_digits(text);
    while let [b'.', after @ ..] = rest
        && !number.is_empty()
    {
        (number, rest) = split_digits(after);
        points += 1;
    }
    (!number.is_empty() && matches!(rest, [] | [b'-' | b'+' | b'~' | b'/' | b':', ..])).then_some(points)
}

/// Appends the key of a name. Two names have equal keys exactly if `sort -V` finds the names equal.
pub(crate) fn push_version(name: &[u8], to: &mut Vec<u8>) {
    match name {
        [] => return,
        b"." => return to.extend([HIDDEN, 0]),
        b".." => return to.extend([HIDDEN, 1]),
        [b'.', ..] => to.extend([HIDDEN, 2]),
        _ => {}
    }
    let (before, extensions) = name.split_at(extensions(name));
    push_part(before, to);
    if !extensions.is_empty() {
        if before.last().is_some_and(u8::is_ascii_digit) {
            to.push(NUMBER);
        }
        push_part(extensions, to);
    }
}

/// The position of the extensions of a name, `(\.[A-Za-z~][A-Za-z0-9~]*)*$`.
///
/// The extensions may fill the whole name, as in coreutils 9.1: `.b` is before `.a.1`. Later releases never begin
/// extensions at the first byte.
fn extensions(name: &[u8]) -> usize {
    let is_extension = |part: &[u8]| {
        part.first().is_some_and(|first| !first.is_ascii_digit())
            && part.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'~')
    };
    let mut start = name.len();
    while let Some(dot) = memchr::memrchr(b'.', &name[..start])
        && is_extension(&name[dot + 1..start])
    {
        start = dot;
    }
    start
}

/// Appends words, numbers and the end of a part.
fn push_part(mut part: &[u8], to: &mut Vec<u8>) {
    let codes = &*CODES;
    loop {
        let (word, rest) = split_while(part, |byte| !byte.is_ascii_digit());
        to.extend(word.iter().map(|&byte| codes[usize::from(byte)]));
        let (digits, rest) = split_digits(rest);
        push_number(digits, to);
        if rest.is_empty() {
            return to.push(END);
        }
        part = rest;
    }
}

/// Appends the count of digits without leading zeros, then the digits, two in a byte.
fn push_number(digits: &[u8], to: &mut Vec<u8>) {
    let (_, digits) = split_while(digits, |&digit| digit == b'0');
    to.push(NUMBER + digits.len().min(FEW) as u8);
    if let Some(more) = digits.len().checked_sub(FEW) {
        push_count(more, to);
    }
    let (odd, pairs) = digits.split_at(digits.len() % 2);
    to.extend(odd.iter().map(|digit| digit - b'0'));
    to.extend(pairs.chunks_exact(2).map(|pair| 10 * (pair[0] - b'0') + (pair[1] - b'0')));
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;
    use std::io::Write;
    use std::process::{Command, Stdio};

    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    fn key(name: &[u8]) -> Vec<u8> {
        let mut key = Vec::new();
        push_version(name, &mut key);
        key
    }

    /// The order of names by the rules of the manual.
    fn compare(a: &[u8], b: &[u8]) -> Ordering {
        let class = |name: &[u8]| match name {
            b"" => 0,
            b"." => 1,
            b".." => 2,
            _ if name[0] == b'.' => 3,
            _ => 4,
        };
        let before = |name: &[u8]| name[..name.len() - extensions_length(name)].to_vec();
        class(a)
            .cmp(&class(b))
            .then_with(|| compare_parts(&before(a), &before(b)))
            .then_with(|| compare_parts(a, b))
    }

    /// The length of the extensions, found by trying each length.
    fn extensions_length(name: &[u8]) -> usize {
        let are_extensions = |end: &[u8]| {
            let Some(parts) = end.strip_prefix(b".") else { return end.is_empty() };
            parts.split(|&byte| byte == b'.').all(|part| {
                matches!(part, [b'A'..=b'Z' | b'a'..=b'z' | b'~', ..])
                    && part.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'~'))
            })
        };
        (0..=name.len()).rev().find(|&length| are_extensions(&name[name.len() - length..])).unwrap_or(0)
    }

    fn compare_parts<'a>(mut a: &'a [u8], mut b: &'a [u8]) -> Ordering {
        // A digit and the end have one weight.
        let weight = |byte: Option<&u8>| match byte {
            Some(b'~') => -1,
            None | Some(b'0'..=b'9') => 0,
            Some(&letter) if letter.is_ascii_alphabetic() => i32::from(letter),
            Some(&other) => 256 + i32::from(other),
        };
        let cut = |bytes: &mut &[u8], length: usize| {
            let (cut, rest) = bytes.split_at(length);
            *bytes = rest;
            cut.to_vec()
        };
        let word = |bytes: &[u8]| bytes.iter().position(u8::is_ascii_digit).unwrap_or(bytes.len());
        let number =
            |bytes: &[u8]| bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
        while !a.is_empty() || !b.is_empty() {
            let words = [&mut a, &mut b].map(|rest| cut(rest, word(rest)));
            for at in 0..words[0].len().max(words[1].len()) {
                let order = weight(words[0].get(at)).cmp(&weight(words[1].get(at)));
                if order.is_ne() {
                    return order;
                }
            }
            let numbers = [&mut a, &mut b].map(|rest| {
                let digits = String::from_utf8(cut(rest, number(rest))).unwrap();
                digits.trim_start_matches('0').to_owned()
            });
            let order = numbers[0].len().cmp(&numbers[1].len()).then(numbers[0].cmp(&numbers[1]));
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    #[test]
    fn every_pair_of_names() {
        let many = format!("a{}", "9".repeat(300));
        let more = format!("a1{}", "0".repeat(300));
        let names = [
            "",
            ".",
            "..",
            ".~",
            ".0",
            ".1",
            ".a",
            ".a.b",
            ".a10",
            "..a",
            "...",
            "~",
            "0~",
            "0",
            "00.txt",
            "0.txt",
            "1",
            "1~",
            "1.0~",
            "1.0",
            "1.0.txt",
            "1.0a",
            "1.0-1",
            "1.0.0",
            "1.1",
            "1.9",
            "1.9.1",
            "1.10",
            "1a",
            "1-2",
            "2",
            "9999999",
            "10000000",
            "a~",
            "a0~",
            "a",
            "a0.txt",
            "a.txt",
            "a1",
            "a1.tar.gz",
            "a1b",
            "a1.b.1",
            "a1.2",
            "a2",
            "a10",
            "a123456",
            "a1234567",
            "a12345678",
            "a99999999",
            &many,
            &more,
            "aZ",
            "aa",
            "a+",
            "a.",
            "a..b",
            "a.1",
            "a_",
            "b",
            "-",
            "_",
        ];
        for a in names {
            for b in names {
                let order = compare(a.as_bytes(), b.as_bytes());
                assert_eq!(key(a.as_bytes()).cmp(&key(b.as_bytes())), order, "{a} {b}");
            }
        }
    }

    #[test]
    fn known_orders() {
        for names in [
            &["", ".", "..", ".a", "0", "A", "a", "-"][..],
            &["1.0~rc1", "1.0", "1.0-1", "1.0.1", "1.2", "1.10", "2"],
            &["a~", "a", "a.txt~", "a.txt"],
            &["abc-1.01.4-1", "abc-1.007", "abc-1.10", "abc-1.012b"],
            &[".b", ".a.1"],
            &["file1.tar.gz", "file2.tar.gz", "file10.tar.gz"],
            &["10.0.0.2", "10.0.0.10", "10.0.1.1", "192.168.0.1"],
        ] {
            let expected = names.iter().map(|name| key(name.as_bytes()));
            assert!(expected.clone().is_sorted(), "{names:?} {:?}", expected.collect::<Vec<_>>());
        }
        for (a, b) in [("a", "a0"), ("a", "a00"), ("a01", "a1"), ("x.y-00", "x.y-"), ("0", "00")] {
            assert_eq!(key(a.as_bytes()), key(b.as_bytes()), "{a} {b}");
        }
    }

    #[test]
    fn versions_and_their_points() {
        for (text, expected) in [
            ("1.2.10", Some(2)),
            ("v1.2.3-rc1", Some(2)),
            ("1.2.3+build.5", Some(2)),
            ("1.0~beta", Some(1)),
            ("10.0.0.1", Some(3)),
            ("10.0.0.0/8", Some(3)),
            ("10.0.0.1:80", Some(3)),
            ("2", Some(0)),
            ("v2-", Some(0)),
            ("", None),
            ("v", None),
            ("V1.2", None),
            ("vv1", None),
            ("1.", None),
            (".1", None),
            ("1..2", None),
            ("1.2.3rc1", None),
            ("1.2.3_4", None),
            ("1.2.x", None),
            ("-1.2.3", None),
            ("foo", None),
        ] {
            let text = text.as_bytes();
            assert_eq!(points(text), expected, "{}", text.escape_ascii());
        }
    }

    fn name() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            6 => prop::sample::select(b"00112359".as_slice()),
            4 => Just(b'.'),
            2 => Just(b'~'),
            3 => prop::sample::select(b"abcXZ".as_slice()),
            1 => prop::sample::select(b"-_+ \0\x01\x7f\x80\xc3\xff/:@[`{".as_slice()),
        ];
        prop::collection::vec(byte, 0..14)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1 << 14))]

        #[test]
        fn keys_are_in_order_of_names(a in name(), b in name(), same in 0..10_usize, zero: bool) {
            // The names begin alike.
            let mut b = b;
            let same = same.min(a.len());
            b.splice(..0, a[..same].iter().copied());
            if zero {
                b.insert(same, b'0');
            }
            let order = key(&a).cmp(&key(&b));
            prop_assert_eq!(order, compare(&a, &b), "{} {}", a.escape_ascii(), b.escape_ascii());
        }

        #[test]
        fn extensions_are_those_of_the_rule(name in "[.~a-c0-2-]{0,12}") {
            let start = name.len() - extensions_length(name.as_bytes());
            prop_assert_eq!(extensions(name.as_bytes()), start, "{}", name);
        }
    }

    /// Random names.
    fn names(count: usize) -> Vec<Vec<u8>> {
        let kinds = prop_oneof![
            "[0-9]{1,2}\\.[0-9]{1,3}(\\.[0-9]{1,2})?(\\.[0-9])?([-~+]?(rc|alpha|dev|post)\\.?[0-9]{0,2})?",
            "v?[0-3]\\.[0-9]{1,2}\\.[0-9](-[0-9a-z]{1,3}(\\.[0-9]{1,2})?)?(\\+[a-z0-9]{1,3})?",
            "[a-c]{1,3}[-_]?[0-9]{0,3}[-_.]?[0-9]{0,2}(\\.(txt|tar|gz|c|h|so|7z|mp3|~|bak~|[0-9])){0,3}~?",
            "(vmlinuz|initrd\\.img)-[2-6]\\.[0-9]{1,2}\\.[0-9]{1,3}(-[0-9]{1,3})?(-(x64|rc[1-9]))?(\\.old)?",
            "(10|192|172)\\.(0|16|168)\\.[0-9]{1,3}\\.[0-9]{1,3}(/[0-9]{1,2}|:[0-9]{2,5})?",
            "(19|20)[0-9]{2}[-./]?[01]?[0-9][-./]?[0-3]?[0-9](T[0-9]{2})?(\\.log(\\.[0-9](\\.gz)?)?)?",
            "\\.{1,3}[a-c0-2~]{0,4}(\\.[a-c0-2~]{0,3}){0,3}",
            "[a-b]{0,2}0{0,12}[0-9]{0,20}[a-b~.]{0,2}",
            "[.~0-2a-bA-B_ +-]{0,10}",
        ];
        let kinds = prop_oneof![
            9 => kinds.prop_map(String::into_bytes),
            1 => name(),
        ];
        let mut runner = TestRunner::deterministic();
        (0..count).map(|_| kinds.new_tree(&mut runner).unwrap().current()).collect()
    }

    /// Compares the order of keys with the order of the installed `sort`.
    fn compare_with_sort(mut names: Vec<Vec<u8>>) {
        let mut sort = Command::new("sort")
            .args(["-s", "-V"])
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // `sort` writes nothing before the end of its input.
        let mut input = sort.stdin.take().unwrap();
        for name in &names {
            input.write_all(&[name, &b"\n"[..]].concat()).unwrap();
        }
        drop(input);
        let sort = sort.wait_with_output().unwrap();
        assert!(sort.status.success());
        names.sort_by_cached_key(|name| key(name));
        let ours = names.iter().flat_map(|name| [name.escape_ascii().to_string(), "\n".to_owned()]);
        let theirs = sort.stdout.split_inclusive(|&byte| byte == b'\n');
        let theirs =
            theirs.map(|line| line.strip_suffix(b"\n").unwrap_or(line).escape_ascii().to_string() + "\n");
        assert!(ours.collect::<String>() == theirs.collect::<String>());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_order_is_that_of_sort() {
        // Releases of `sort` order these names in two ways.
        let is_all_extensions = |name: &Vec<u8>| !name.is_empty() && extensions(name) == 0;
        compare_with_sort(names(10_000).into_iter().filter(|name| !is_all_extensions(name)).collect());
    }

    #[test]
    #[ignore = "needs GNU sort 9.1, and time"]
    fn the_order_is_that_of_sort_for_many() {
        compare_with_sort(names(100_000));
    }
}
