//! Numbers in human-readable form, and untrusted text in a form that messages can show.

pub mod size;

use std::borrow::Cow;
use std::path::Path;

/// Returns the digits in groups of three.
pub fn grouped(number: impl std::fmt::Display) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Returns a number with its noun in the singular or the plural.
pub fn counted(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { more })
}

/// Rounds to three significant digits or a whole number, with at most three decimals; zero has no decimals.
pub fn short(number: f64) -> String {
    let decimals = match number {
        0.0 => 0,
        number if number >= 99.95 => 0,
        number if number >= 9.995 => 1,
        number if number >= 0.9995 => 2,
        _ => 3,
    };
    format!("{number:.decimals$}")
}

/// Returns a time in the unit that leaves one to three digits before the point: `9.94 µs`.
pub fn time(milliseconds: f64) -> String {
    in_unit(milliseconds, [(1e3, " s"), (1.0, " ms"), (1e-3, " µs"), (1e-6, " ns")])
}

/// Returns a count in thousands, millions or billions: `1.62 G`.
pub fn count(number: f64) -> String {
    in_unit(number, [(1e9, " G"), (1e6, " M"), (1e3, " K"), (1.0, "")])
}

/// Returns the number in the first unit that makes its rounded value at least one, or else in the last unit.
fn in_unit(number: f64, units: [(f64, &str); 4]) -> String {
    let unit = units.into_iter().find(|(unit, _)| number >= 0.9995 * unit);
    let (unit, name) = unit.unwrap_or(units[3]);
    format!("{}{name}", short(number / unit))
}

/// Returns a power of two as options write it: `64K`.
pub fn power<T: Into<f64>>(log2: T) -> String {
    let log2 = log2.into();
    let unit = (log2 / 10.0).floor().clamp(0.0, 3.0);
    format!("{:.0}{}", (log2 - 10.0 * unit).exp2(), ["", "K", "M", "G"][unit as usize])
}

/// Returns a size in the largest unit that leaves a whole part.
pub fn bytes(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (bytes.max(1).ilog2() / 10).min(4);
    let value = bytes as f64 / (1_u64 << (10 * unit)) as f64;
    let digits = if value.fract() == 0.0 { value.to_string() } else { short(value) };
    format!("{digits} {}", units[unit as usize])
}

/// The maximum number of characters of a token, a column's name and the like in a message.
const QUOTED: usize = 48;

/// The maximum number of characters of a file's name in a message.
const NAME: usize = 160;

/// Returns untrusted text in a printable form: a token, a column's or device's name, another program's
/// output. See [`path`] for the escapes. Omits the middle of a long text.
pub fn quoted(text: impl AsRef<[u8]>) -> String {
    shown(text.as_ref(), QUOTED)
}

/// Returns a file name in a printable form.
///
/// Escapes control characters and invisible characters: direction marks, the byte order mark, spaces
/// with other widths. Invalid UTF-8 becomes U+FFFD.
pub fn path(path: &Path) -> String {
    shown(path.as_os_str().as_encoded_bytes(), NAME)
}

/// Cuts a name to at most `most` characters; the cut may omit the middle.
pub fn cut(name: &str, most: usize) -> String {
    let whole = shown(name.as_bytes(), most);
    if whole.chars().count() <= most { whole } else { shown(name.as_bytes(), most.saturating_sub(1)) }
}

/// Wraps a text into lines of at most `width` characters, unless a word is longer. Indents all lines but
/// the first, and ends each with a line feed.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            Some(_) => lines.push(" ".repeat(indent) + word),
            None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

/// Puts several lines of another program's output on one printable line.
pub fn said(text: impl AsRef<[u8]>) -> String {
    shown(text.as_ref(), 2 * NAME)
}

/// Returns the system's message for an error, without the error number.
pub fn system(error: &std::io::Error) -> String {
    let said = error.to_string();
    said.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Returns at most `most` characters of the text; omits the middle of a longer text.
fn shown(text: &[u8], most: usize) -> String {
    // No character has more than 4 bytes, so each end includes all characters shown.
    let end = 4 * most;
    let text = if text.len() > 2 * end {
        Cow::Owned([&text[..end], &text[text.len() - end..]].concat())
    } else {
        Cow::Borrowed(text)
    };
    let characters: Vec<String> = String::from_utf8_lossy(&text).chars().map(visible).collect();
    if characters.iter().map(|shown| shown.chars().count()).sum::<usize>() <= most {
        return characters.concat();
    }
    // The end of a name says more than its beginning.
    let first = fitting(characters.iter(), most / 3);
    let last = characters.len() - fitting(characters.iter().rev(), most - most / 3);
    format!("{}…{}", characters[..first].concat(), characters[last..].concat())
}

/// Returns the number of leading characters that fit into `room`.
fn fitting<'a>(characters: impl Iterator<Item = &'a String>, mut room: usize) -> usize {
    let fits = |shown: &&String| {
        let left = room.checked_sub(shown.chars().count());
        room = left.unwrap_or(0);
        left.is_some()
    };
    characters.take_while(fits).count()
}

/// Returns a visible character unchanged, and an invisible character escaped.
fn visible(c: char) -> String {
    if c == ' ' || c.is_ascii_graphic() {
        c.to_string()
    } else {
        // The escape considers the character after another one, because a combining mark is visible there.
        format!(".{c}").escape_debug().skip(1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_escaped_and_long_texts_are_cut() {
        assert_eq!(quoted("plain 'text' \\ \"é\" 数 e\u{301}"), "plain 'text' \\ \"é\" 数 e\u{301}");
        assert_eq!(quoted(b"a\x1b[31m\n\t\r\x07\x7f\xff"), "a\\u{1b}[31m\\n\\t\\r\\u{7}\\u{7f}\u{fffd}");
        assert_eq!(quoted("\u{feff}1\u{a0}\u{202e}2\u{9b}"), "\\u{feff}1\\u{a0}\\u{202e}2\\u{9b}");
        assert_eq!(quoted("1".repeat(48)), "1".repeat(48));
        for long in [49, 383, 384, 385, 1 << 20] {
            let text = format!("{}{}", "1".repeat(long - 16), "2".repeat(16));
            assert_eq!(quoted(text), format!("{}…{}{}", "1".repeat(16), "1".repeat(16), "2".repeat(16)));
            let wide = "数".repeat(long);
            assert_eq!(quoted(wide).chars().count(), 49);
            assert!(quoted(vec![0x1b; long]).chars().count() <= 49);
            assert!(quoted(vec![0xff; long]).chars().count() <= 49);
        }
        assert_eq!(
            (cut("NVIDIA H200", 11), cut("NVIDIA H200", 8)),
            ("NVIDIA H200".into(), "NV… H200".into())
        );
        let name = Path::new("/a/folder\x1b]0;title\x07/with a name.txt");
        assert_eq!(path(name), "/a/folder\\u{1b}]0;title\\u{7}/with a name.txt");
    }

    #[test]
    fn long_texts_are_wrapped_between_words() {
        assert_eq!(wrapped("one two three", 7, 2), "one two\n  three\n");
        assert_eq!(wrapped("   one two", 8, 3), "   one\n   two\n");
        assert_eq!(wrapped("indivisible", 4, 1), "indivisible\n");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(["0", "999", "1000", "1234567"].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0612, 1.234, 12.34, 123.4].map(short), ["0.061", "1.23", "12.3", "123"]);
        assert_eq!([0.9999, 9.999, 99.99].map(short), ["1.00", "10.0", "100"]);
        assert_eq!(
            [0.0, 0.000_5, 0.0375, 23.3, 999.9].map(time),
            ["0 ns", "500 ns", "37.5 µs", "23.3 ms", "1.00 s"]
        );
        assert_eq!([5.0, 1_500.0, 25e6, 11.5e9].map(count), ["5.00", "1.50 K", "25.0 M", "11.5 G"]);
        assert_eq!(
            [0, 1023, 1 << 10, 3 << 29, 5 << 40].map(bytes),
            ["0 B", "1023 B", "1 KiB", "1.50 GiB", "5 TiB"]
        );
    }
}
