//! How rows are divided into fields: tables by a delimiter and quotes, lines by blanks or by a
//! character; a token of text is a row of one field.
//!
//! ```text
//! Quoted(b',')   6,"lamp, desk",89.90          three fields
//! Blanks            12 2026-11-21 10:00 /usr   three: those of a date and a time of day are one,
//!                                              as are two words in brackets
//! Split(b':')    root:x:0:0::/root             six, one of them empty
//! Json           {"ms": 12, "user": {"id": 7}} as many as there are paths to values
//! ```
//!
//! All rows of a table have the same number of fields; lines have any number. Tokens of text are
//! divided here only where [`crate::io::text`] cannot read them all as numbers that print alike.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr3};

use super::json;
use crate::io::source::LineEnd;
use crate::io::time;

pub(super) const QUOTE: u8 = b'"';

/// The form of a table, or of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// What separates the fields of a row.
    pub fields: Fields,
    /// How many rows are a header, of which the last names the columns.
    pub header: usize,
    /// Whether lines that begin with `#` before the first row stay on top of an input, as a header
    /// does.
    pub comments: bool,
}

/// What separates fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fields {
    /// In tables, this byte, but not between quotes.
    Quoted(u8),
    /// In lines, this byte.
    Split(u8, LineEnd),
    /// In lines, spaces and tabs, of which those before the first field do not count. A date, one
    /// blank and a time of day are one field, as is what is in brackets with one blank. Where NUL
    /// ends lines, line feeds are blanks, too.
    Blanks(LineEnd),
    /// The same with a date and a time of day as two, as `sort` has them.
    Words(LineEnd),
    /// In text, which has a record for each token, and comments.
    Tokens,
    /// In JSON Lines, values at paths.
    Json,
}

impl Dialect {
    /// Where the comments end that stay on top, from `start` on, how many there are, and where the
    /// last begins; `None` where that has no end here.
    pub(in crate::io) fn after_comments(self, bytes: &[u8], start: usize) -> Option<(usize, u64, usize)> {
        let (mut at, mut count, mut last) = (start, 0, start);
        while self.comments && bytes.get(at) == Some(&b'#') {
            last = at;
            at += memchr(self.fields.line_end().byte(), &bytes[at..])? + 1;
            count += 1;
        }
        Some((at, count, last))
    }

    /// Whether columns have names.
    pub(super) fn has_header(self) -> bool {
        self.header > 0
    }
}

impl Fields {
    /// Whether records are tokens, not lines.
    pub(crate) fn are_tokens(self) -> bool {
        self == Self::Tokens
    }

    /// Whether rows are lines or tokens, which may have any number of fields.
    pub fn are_of_lines(self) -> bool {
        !matches!(self, Self::Quoted(_))
    }

    /// Whether a blank line is a row.
    pub(crate) fn keep_blank_lines(self) -> bool {
        self.are_of_lines() && self != Self::Json
    }

    /// What ends a row.
    #[inline]
    pub(crate) fn line_end(self) -> LineEnd {
        match self {
            Self::Quoted(_) | Self::Tokens | Self::Json => LineEnd::Lf,
            Self::Split(_, end) | Self::Blanks(end) | Self::Words(end) => end,
        }
    }

    /// The whole line that begins at `start`, where it is one that begins with `#`: under a key of
    /// a number it is no number, whatever its fields are.
    #[inline]
    pub(in crate::io) fn comment(self, bytes: &[u8], start: usize) -> Option<Range<usize>> {
        // Where it separates fields, it is no comment.
        let has_comments = match self {
            Self::Blanks(_) | Self::Words(_) => true,
            Self::Split(byte, _) => byte != b'#',
            Self::Quoted(_) | Self::Tokens | Self::Json => false,
        };
        if bytes.get(start) != Some(&b'#') || !has_comments {
            return None;
        }
        let line = &bytes[start..start + memchr(self.line_end().byte(), &bytes[start..])?];
        let is_crlf = self.line_end() == LineEnd::Lf && line.ends_with(b"\r");
        Some(start..start + line.len() - usize::from(is_crlf))
    }

    /// Whether this byte separates fields, wherever it is.
    pub(crate) fn divides_at(self, byte: u8) -> bool {
        match self {
            Self::Split(separator, _) => byte == separator,
            Self::Blanks(_) | Self::Words(_) => byte == b' ' || byte == b'\t',
            Self::Quoted(_) | Self::Tokens | Self::Json => false,
        }
    }

    /// Whether `sort` has other fields.
    pub(super) fn differ_in_sort(self) -> bool {
        matches!(self, Self::Blanks(_))
    }

    /// Lines with the same ends, in which quotes mean nothing.
    pub(super) fn of_lines(self) -> Self {
        Self::Words(self.line_end())
    }

    /// Where the line ends that begins here, before what ends it, if the next begins there.
    #[inline]
    pub(super) fn end_of_line(self, bytes: &[u8], start: usize, next: usize) -> usize {
        let end = next - 1;
        let is_crlf = self.line_end() == LineEnd::Lf && end > start && bytes[end - 1] == b'\r';
        end - usize::from(is_crlf)
    }

    /// The same fields as `sort` has them.
    pub(super) fn of_sort(self) -> Self {
        if let Self::Blanks(end) = self { Self::Words(end) } else { self }
    }

    /// The text of a field, without its quotes, and where it is if it is there as it counts.
    #[inline]
    pub(in crate::io) fn text(self, bytes: &[u8], field: Range<usize>) -> Result<Range<usize>, Vec<u8>> {
        if self == Self::Json && bytes.get(field.start) == Some(&QUOTE) && !field.is_empty() {
            let within = field.start + 1..field.end - 1;
            return match json::unescaped(&bytes[within.clone()]) {
                Cow::Borrowed(_) => Ok(within),
                Cow::Owned(text) => Err(text),
            };
        }
        if bytes.get(field.start) != Some(&QUOTE) || field.is_empty() || self.are_of_lines() {
            return Ok(field);
        }
        match unquoted(&bytes[field.clone()]) {
            Cow::Borrowed(text) => Ok(field.start + 1..field.start + 1 + text.len()),
            Cow::Owned(text) => Err(text),
        }
    }

    /// The content of a field, without its quotes and the blanks around it.
    #[inline]
    pub(in crate::io) fn value(self, field: &[u8]) -> Cow<'_, [u8]> {
        // Most fields have no quotes.
        if self.line_end() == LineEnd::Nul {
            return field.trim_ascii().into();
        }
        if self == Self::Json
            && let [QUOTE, string @ .., QUOTE] = field
        {
            return json::unescaped(string);
        }
        if field.first() != Some(&QUOTE) || self.are_of_lines() {
            return trimmed(field).into();
        }
        match unquoted(field) {
            Cow::Borrowed(content) => trimmed(content).into(),
            Cow::Owned(content) => trimmed(&content).to_vec().into(),
        }
    }

    /// Passes the first `most` fields of a line to `field`, with their numbers. Returns how many
    /// there are of these.
    #[inline]
    pub(super) fn of_line(
        self,
        bytes: &[u8],
        line: Range<usize>,
        most: usize,
        mut field: impl FnMut(usize, Range<usize>),
    ) -> usize {
        let mut at = line.start;
        let bytes = &bytes[..line.end];
        for number in 0..most {
            let (begin, end) = match self {
                Self::Blanks(line_end) | Self::Words(line_end) => {
                    let is_blank =
                        |byte| byte == b' ' || byte == b'\t' || byte == b'\n' && line_end == LineEnd::Nul;
                    let end_of_word = |start| {
                        /// Most words are shorter than what a search in vectors is worth.
                        const SHORT: usize = 8;
                        let mut at = start;
                        while bytes.get(at).is_some_and(|&byte| !is_blank(byte)) {
                            at += 1;
                            if at == start + SHORT {
                                let other = if line_end == LineEnd::Nul { b'\n' } else { b' ' };
                                let rest = memchr3(b' ', b'\t', other, &bytes[at..]);
                                return rest.map_or(bytes.len(), |length| at + length);
                            }
                        }
                        at
                    };
                    while bytes.get(at).is_some_and(|&byte| is_blank(byte)) {
                        at += 1;
                    }
                    let mut end = end_of_word(at);
                    if end == at {
                        return number;
                    }
                    if matches!(self, Self::Blanks(_))
                        && bytes.get(end).is_some_and(|&byte| byte != b'\n')
                        && may_go_on(&bytes[at..end])
                    {
                        let next = end_of_word(end + 1);
                        if goes_on(&bytes[at..end], &bytes[end + 1..next]) {
                            end = next;
                        }
                    }
                    (at, end)
                }
                // A token is the whole of it, and values have no numbers.
                Self::Tokens | Self::Json => return number,
                Self::Split(byte, _) | Self::Quoted(byte) => {
                    if at > bytes.len() {
                        return number;
                    }
                    (at, memchr(byte, &bytes[at..]).map_or(bytes.len(), |length| at + length))
                }
            };
            field(number, begin..end);
            // After the separator, or beyond the end where there is none.
            at = end + usize::from(!matches!(self, Self::Blanks(_) | Self::Words(_)));
        }
        most
    }
}

/// Whether a word may be the first of a field of two: a date, or what a bracket opens.
#[inline]
fn may_go_on(word: &[u8]) -> bool {
    word.len() == time::DATE && time::is_date(word) || word[0] == b'[' && !word.contains(&b']')
}

/// Whether a field goes on with this word after one blank.
fn goes_on(word: &[u8], next: &[u8]) -> bool {
    if word[0] == b'[' {
        return next.strip_suffix(b"]").is_some_and(|within| !within.iter().any(|byte| b"[]".contains(byte)));
    }
    time::is_time_of_day(next)
}

/// The field without surrounding spaces and tabs.
#[inline]
pub(super) fn trimmed(mut field: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = field {
        field = rest;
    }
    field
}

/// The content of a field, without its quotes.
pub(in crate::io) fn unquoted(field: &[u8]) -> Cow<'_, [u8]> {
    let [QUOTE, quoted @ ..] = field else { return Cow::Borrowed(field) };
    match memchr(QUOTE, quoted) {
        Some(closing) if closing + 1 == quoted.len() => Cow::Borrowed(&quoted[..closing]),
        _ => {
            let mut said = Vec::with_capacity(quoted.len());
            let mut rest = quoted;
            while let Some(quote) = memchr(QUOTE, rest) {
                said.extend_from_slice(&rest[..quote]);
                rest = &rest[quote + 1..];
                let [QUOTE, more @ ..] = rest else { break };
                said.push(QUOTE);
                rest = more;
            }
            said.extend_from_slice(rest);
            Cow::Owned(said)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(fields: Fields, line: &str, most: usize) -> Vec<&str> {
        let mut found = Vec::new();
        let bytes = format!("x {line}\n1 2");
        let count = fields.of_line(bytes.as_bytes(), 2..2 + line.len(), most, |number, field| {
            assert_eq!(number, found.len());
            found.push(&line[field.start - 2..field.end - 2]);
        });
        assert_eq!(count, found.len());
        found
    }

    #[test]
    fn words_in_brackets_are_one_field() {
        let blanks = |line| fields(Fields::Blanks(LineEnd::Lf), line, 9);
        assert_eq!(
            blanks("- [21/Nov/2026:10:00:01 +0100] \"GET / [x y] z\""),
            ["-", "[21/Nov/2026:10:00:01 +0100]", "\"GET", "/", "[x y]", "z\""]
        );
        for line in ["[a b", "[a  b]", "[a [b]", "[a b c]", "[a] b]", "[", "[ ]x", "[a b]c"] {
            let expected: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
            assert_eq!(blanks(line), expected, "{line}");
        }
        assert_eq!(fields(Fields::Words(LineEnd::Lf), "[a b]", 9), ["[a", "b]"]);
    }

    #[test]
    fn words_between_blanks() {
        let words = fields(Fields::Words(LineEnd::Lf), " a 2026-11-21 10:00 b", 9);
        assert_eq!(words, ["a", "2026-11-21", "10:00", "b"]);
        for (line, expected) in [
            ("", &[][..]),
            (" \t ", &[]),
            ("a", &["a"]),
            ("  12 /usr/my\\ file\t-\r5  ", &["12", "/usr/my\\", "file", "-\r5"]),
            ("\"a b\",c", &["\"a", "b\",c"]),
        ] {
            assert_eq!(fields(Fields::Blanks(LineEnd::Lf), line, 9), expected, "{line:?}");
            assert_eq!(
                fields(Fields::Blanks(LineEnd::Lf), line, 1),
                expected[..expected.len().min(1)],
                "{line:?}"
            );
        }
    }

    #[test]
    fn a_date_and_a_time_of_day_are_one_field() {
        for time in
            ["10:00", "10:00:59", "23:59:60.123456789", "10:00:00,5", "10:00Z", "10:00:00z", "10:00+02:00"]
        {
            let line = format!("- 2026-11-21 {time} x");
            let both = format!("2026-11-21 {time}");
            assert_eq!(fields(Fields::Blanks(LineEnd::Lf), &line, 9), ["-", &both, "x"]);
            assert_eq!(fields(Fields::Blanks(LineEnd::Lf), &both, 9), [&both]);
            assert_eq!(fields(Fields::Blanks(LineEnd::Lf), &format!("2026-11-21\t{time}"), 9).len(), 1);
            assert_eq!(fields(Fields::Blanks(LineEnd::Lf), &format!("2026-11-21  {time}"), 9).len(), 2);
        }
        for time in [
            "10",
            "10:0",
            "1:00",
            "10:00:",
            "10:00:00.",
            "10:00x",
            "10:00+02",
            "10:00+02:000",
            "10:00+0200",
            "x",
        ] {
            assert_eq!(
                fields(Fields::Blanks(LineEnd::Lf), &format!("2026-11-21 {time}"), 9),
                ["2026-11-21", time]
            );
        }
        for date in ["2026-11-2", "26-11-2101", "2026/11/21", "2026-11-21T"] {
            assert_eq!(fields(Fields::Blanks(LineEnd::Lf), &format!("{date} 10:00"), 9), [date, "10:00"]);
        }
        assert_eq!(fields(Fields::Blanks(LineEnd::Lf), "2026-11-21 ", 9), ["2026-11-21"]);
    }

    #[test]
    fn fields_between_characters() {
        let split = |line| fields(Fields::Split(b':', LineEnd::Lf), line, 9);
        assert_eq!(split(""), [""]);
        assert_eq!(split(":"), ["", ""]);
        assert_eq!(split("root:x:0:\"a:b\": 1"), ["root", "x", "0", "\"a", "b\"", " 1"]);
        assert_eq!(fields(Fields::Split(b':', LineEnd::Lf), "a:b:c", 2), ["a", "b"]);
    }

    #[test]
    fn only_quotes_of_tables_are_none_of_a_value() {
        let value = |fields: Fields, field: &'static str| fields.value(field.as_bytes()).into_owned();
        assert_eq!(value(Fields::Quoted(b','), "\" 5 \""), b"5");
        assert_eq!(value(Fields::Split(b',', LineEnd::Lf), "\" 5 \""), b"\" 5 \"");
        assert_eq!(value(Fields::Split(b',', LineEnd::Lf), " 5\t"), b"5");
    }
}
