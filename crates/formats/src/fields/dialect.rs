//! Divides rows into fields: tables at a delimiter outside quotes, lines at blanks or at a character. A
//! token of text is a row with one field.
//!
//! ```text
//! Quoted(b',')   6,"lamp, desk",89.90          three fields
//! Words             12 2026-11-21 10:00 /usr   four, as in awk
//! Split(b':')    root:x:0:0::/root             six, one of them empty
//! Json           {"ms": 12, "user": {"id": 7}} one for each path to a value
//! ```
//!
//! All rows of a table have the same number of fields; lines have any number. Tokens of text are
//! divided here only if [`crate::text`] cannot read all of them as numbers that print unchanged.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr3};

use crate::blanks::{is_blank, trimmed, without_blanks};
use crate::json;
use crate::text::LineEnd;

pub(super) const QUOTE: u8 = b'"';

/// A range of positions, from and until, with blanks in every line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap(pub usize, pub usize);

/// The form of a table, or of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The separator of fields.
    pub fields: Fields,
    /// The number of header rows; the last one names the columns.
    pub header: usize,
    /// True if all lines that begin with `#` go on top.
    pub comments: bool,
}

/// The separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fields {
    /// In tables, this byte, but not between quotes.
    Quoted(u8),
    /// In lines, this byte.
    Split(u8, LineEnd),
    /// In lines, runs of spaces and tabs; blanks before the first field do not count. If NUL ends
    /// lines, line feeds count as blanks, too.
    Words(LineEnd),
    /// In text, white space; each token is a record.
    Tokens,
    /// In JSON Lines, values at paths.
    Json,
}

impl Dialect {
    /// Returns true if each line is a row, whatever its fields are.
    pub(super) fn are_plain_lines(self) -> bool {
        matches!(self.fields, Fields::Split(..) | Fields::Words(_)) && !self.comments
    }

    /// Returns the end of the comment that begins here, if any.
    #[inline]
    pub fn comment(self, bytes: &[u8], at: usize) -> Option<usize> {
        if !self.comments || bytes.get(at) != Some(&b'#') {
            return None;
        }
        let rest = &bytes[at..];
        Some(memchr(self.fields.line_end().byte(), rest).map_or(bytes.len(), |end| at + end + 1))
    }
}

impl Fields {
    /// Returns true if records are tokens, not lines.
    pub fn are_tokens(self) -> bool {
        self == Self::Tokens
    }

    /// Returns true if rows are lines or tokens, which may have any number of fields.
    pub fn are_of_lines(self) -> bool {
        !matches!(self, Self::Quoted(_))
    }

    /// Returns the line end of rows.
    #[inline]
    pub fn line_end(self) -> LineEnd {
        match self {
            Self::Quoted(_) | Self::Tokens | Self::Json => LineEnd::Lf,
            Self::Split(_, end) | Self::Words(end) => end,
        }
    }

    /// Returns the format of lines with the same line end, where quotes have no meaning.
    pub(super) fn of_lines(self) -> Self {
        Self::Words(self.line_end())
    }

    /// Returns the end of the line at `start`, without its line end; the next line begins at `next`.
    #[inline]
    pub(super) fn end_of_line(self, bytes: &[u8], start: usize, next: usize) -> usize {
        let end = next - 1;
        let is_crlf = self.line_end() == LineEnd::Lf && end > start && bytes[end - 1] == b'\r';
        end - usize::from(is_crlf)
    }

    /// Returns a field without its quotes.
    #[inline]
    pub(super) fn content(self, field: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Json => json::content(field),
            Self::Quoted(_) => unquoted(field),
            Self::Split(..) | Self::Words(_) | Self::Tokens => field.into(),
        }
    }

    /// Returns the content of a field, without its quotes and surrounding blanks; strings of JSON keep blanks.
    #[inline]
    pub fn value(self, field: &[u8]) -> Cow<'_, [u8]> {
        match self.content(field) {
            content if self == Self::Json => content,
            Cow::Borrowed(content) => without_blanks(content, self.line_end()).into(),
            Cow::Owned(content) => trimmed(&content).to_vec().into(),
        }
    }

    /// Returns the last field of a line, or an empty range for a line without fields.
    pub(super) fn last(self, bytes: &[u8], line: Range<usize>) -> Range<usize> {
        let text = &bytes[line.clone()];
        match self {
            Self::Words(line_end) => {
                let is_word = |byte: &u8| !is_blank(*byte, line_end);
                let Some(end) = text.iter().rposition(is_word) else { return line.end..line.end };
                let begin = text[..end].iter().rposition(|byte| !is_word(byte)).map_or(0, |blank| blank + 1);
                line.start + begin..line.start + end + 1
            }
            Self::Split(byte, _) => {
                let begin = memchr::memrchr(byte, text).map_or(0, |separator| separator + 1);
                line.start + begin..line.end
            }
            Self::Quoted(_) | Self::Tokens | Self::Json => line,
        }
    }

    /// Returns the part of a line between two gaps, or `None` if a word crosses a gap.
    pub(super) fn between(
        bytes: &[u8],
        line: Range<usize>,
        from: Gap,
        until: Option<Gap>,
    ) -> Option<Range<usize>> {
        let text = &bytes[line.clone()];
        // Positions count characters; an invalid byte counts as a character, too.
        let begins = |byte: &u8| byte & 0xC0 != 0x80;
        let place = |position: usize| {
            if text.is_ascii() {
                return position.min(text.len());
            }
            let mut places = text.iter().enumerate().filter(|(_, byte)| begins(byte)).map(|(at, _)| at);
            places.nth(position).unwrap_or(text.len())
        };
        // The end of the last blank in a gap.
        let cut = |Gap(from, until): Gap| {
            let (from, until) = (place(from), place(until));
            let blank = text[from..until].iter().rposition(|byte| matches!(byte, b' ' | b'\t'));
            let is_outside = from == 0 || until == text.len();
            blank.map(|blank| from + blank + 1).or(is_outside.then_some(until))
        };
        let (begin, end) = (cut(from)?, until.map_or(Some(text.len()), cut)?);
        let field = &text[begin.min(end)..end];
        let skipped = field.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let start = line.start + begin.min(end) + skipped;
        Some(start..start + trimmed(field).len())
    }

    /// Passes the first `most` fields of a line to `field`, with their numbers, and returns their number.
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
                Self::Words(line_end) => {
                    let is_blank = |byte| is_blank(byte, line_end);
                    let end_of_word = |start| {
                        /// Words up to this length are faster to scan byte by byte than with a vector
                        /// search.
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
                    let end = end_of_word(at);
                    if end == at {
                        return number;
                    }
                    (at, end)
                }
                // A token has no fields of its own, and JSON values have no numbers.
                Self::Tokens | Self::Json => return number,
                Self::Split(byte, _) | Self::Quoted(byte) => {
                    if at > bytes.len() {
                        return number;
                    }
                    (at, memchr(byte, &bytes[at..]).map_or(bytes.len(), |length| at + length))
                }
            };
            field(number, begin..end);
            // After the separator, or one past the end of the last field.
            at = end + usize::from(!matches!(self, Self::Words(_)));
        }
        most
    }
}

/// Returns the content of a field, without its quotes.
pub fn unquoted(field: &[u8]) -> Cow<'_, [u8]> {
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
            assert_eq!(fields(Fields::Words(LineEnd::Lf), line, 9), expected, "{line:?}");
            assert_eq!(
                fields(Fields::Words(LineEnd::Lf), line, 1),
                expected[..expected.len().min(1)],
                "{line:?}"
            );
        }
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
