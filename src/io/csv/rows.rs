//! Rows of a table and their fields, as bytes.
//!
//! A quote opens a quoted field where it is the field's first byte. In one, delimiters and line ends are text and two
//! quotes are one; behind the closing quote the field goes on as if there had been none. A row ends with LF, to which
//! a CR before it belongs. The csv crate reads the same fields, but not where a row's bytes begin and end, which is
//! all that matters to a row that must come out as it went in; so it is not used here, but to test this.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2};

use crate::io::number::spelled;
use crate::parallel::{self, ParallelIterator};

const QUOTE: u8 = b'"';

/// How far a row was looked through: all of it, or up to where what was read of it ends.
#[derive(Clone, Copy, Debug)]
pub(in crate::io) struct Row {
    /// Where to go on.
    at: usize,
    /// Where the field begins in which that is, and its number.
    begin: usize,
    number: usize,
    /// Whether that is between quotes.
    quoted: bool,
}

impl Row {
    /// A row that begins at `start` and was not looked at.
    #[inline]
    pub(in crate::io) fn new(start: usize) -> Self {
        Self { at: start, begin: start, number: 0, quoted: false }
    }

    /// Goes on through the row, giving each field's number and bytes to `field`. Returns where the next row begins and
    /// how many fields there are; `None` if the row does not end in these bytes, after which it can be gone on with when there
    /// are more of them.
    #[inline]
    pub(in crate::io) fn for_each_field(
        &mut self,
        bytes: &[u8],
        delimiter: u8,
        mut field: impl FnMut(usize, Range<usize>),
    ) -> Option<(usize, usize)> {
        loop {
            if self.quoted || self.at == self.begin && bytes.get(self.at) == Some(&QUOTE) {
                self.pass_quotes(bytes)?;
            }
            let Some(length) = memchr2(delimiter, b'\n', &bytes[self.at..]) else {
                self.at = bytes.len();
                return None;
            };
            let (begin, at) = (self.begin, self.at + length);
            if bytes[at] == b'\n' {
                let end = if at > begin && bytes[at - 1] == b'\r' { at - 1 } else { at };
                field(self.number, begin..end);
                return Some((at + 1, self.number + 1));
            }
            field(self.number, begin..at);
            (self.at, self.begin, self.number) = (at + 1, at + 1, self.number + 1);
        }
    }

    /// Goes on after the closing quote.
    fn pass_quotes(&mut self, bytes: &[u8]) -> Option<()> {
        if !std::mem::replace(&mut self.quoted, true) {
            self.at += 1;
        }
        loop {
            let Some(quote) = memchr(QUOTE, &bytes[self.at..]) else {
                self.at = bytes.len();
                return None;
            };
            self.at += quote;
            if *bytes.get(self.at + 1)? != QUOTE {
                break;
            }
            self.at += 2;
        }
        self.at += 1;
        self.quoted = false;
        Some(())
    }
}

/// Goes through the row that begins at `start`, as [`Row::for_each_field`] does.
#[inline]
pub(in crate::io) fn for_each_field(
    bytes: &[u8],
    start: usize,
    delimiter: u8,
    field: impl FnMut(usize, Range<usize>),
) -> Option<(usize, usize)> {
    Row::new(start).for_each_field(bytes, delimiter, field)
}

/// Whether a field has a CR outside quotes, which is none of a line end.
pub(in crate::io) fn has_lone_cr(field: &[u8]) -> bool {
    let mut row = Row::new(0);
    if field.first() == Some(&QUOTE) && row.pass_quotes(field).is_none() {
        return false;
    }
    // Several before an LF, as some make of one, are at the end of a line like one.
    let after = &field[row.at..];
    let ends = after.iter().rev().take_while(|&&byte| byte == b'\r').count();
    memchr(b'\r', &after[..after.len() - ends]).is_some()
}

/// What is said of an input whose lines seem to end so: its header has one, or its only row.
pub(in crate::io) const LONE_CR: &str =
    "lines seem to end in CR alone, which is no line end of a table; tr '\\r' '\\n' makes it one";

/// Where the row that begins at `start` ends, behind its line end.
#[inline]
pub(super) fn end_of_row(bytes: &[u8], start: usize, delimiter: u8, quotes: bool) -> Option<usize> {
    if quotes {
        for_each_field(bytes, start, delimiter, |_, _| {}).map(|(next, _)| next)
    } else {
        memchr(b'\n', &bytes[start..]).map(|newline| start + newline + 1)
    }
}

/// What a field says: without its quotes.
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

/// What is said of a row in which a quote is not closed.
pub(in crate::io) const UNCLOSED: &str = "a quote is opened in this row and never closed";

/// What is said of a row of so many fields, where the first one has another number.
pub(in crate::io) fn ragged(count: usize, columns: usize) -> String {
    let fields = if count == 1 { "field" } else { "fields" };
    format!("{count} {fields} where the first row has {columns}")
}

/// Whether a field is neither a number nor empty.
pub(in crate::io) fn is_invalid(field: &[u8]) -> bool {
    let said = unquoted(field);
    let value = trimmed(&said);
    !value.is_empty() && spelled(value).is_none()
}

/// Without the spaces and tabs around it.
#[inline]
pub(in crate::io) fn trimmed(mut field: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = field {
        field = rest;
    }
    field
}

/// How many bytes the line end has that these begin with; 0 if they begin with something else.
#[inline]
pub(in crate::io) fn line_end(bytes: &[u8]) -> usize {
    match bytes {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => 0,
    }
}

/// What a row lacks whose line end is not there: its input's, or only LF where CR is there.
pub(in crate::io) fn lacking_end(row: &[u8], line_end: &'static [u8]) -> &'static [u8] {
    if row.ends_with(b"\r") { b"\n" } else { line_end }
}

/// Where rows probably begin that the table can be cut at, about every `size` bytes, the first at the beginning of the
/// range: at line ends before which quotes are even in number. Where stray quotes mislead this, whoever reads up to
/// such a place comes out elsewhere.
pub(super) fn cuts(bytes: &[u8], range: Range<usize>, size: usize) -> Vec<usize> {
    let starts: Vec<usize> = range.clone().step_by(size).collect();
    if starts.len() < 2 {
        return starts;
    }
    let quotes: Vec<usize> = parallel::iter(&starts)
        .map(|&start| memchr::memchr_iter(QUOTE, &bytes[start..range.end.min(start + size)]).count())
        .collect();
    let mut inside = false;
    let mut cuts = vec![range.start];
    for (&start, quotes) in starts[1..].iter().zip(quotes) {
        inside ^= quotes % 2 == 1;
        if start < cuts[cuts.len() - 1] {
            // A row is longer than a cut: the next one begins behind it.
            continue;
        }
        let mut open = inside;
        let here = &bytes[start..range.end.min(start + size)];
        let next = memchr::memchr2_iter(QUOTE, b'\n', here).find(|&at| {
            let is_quote = bytes[start + at] == QUOTE;
            open ^= is_quote;
            !is_quote && !open
        });
        // Where all seems to be quoted, a stray quote may be to blame: then any line end will do.
        let next = next.or_else(|| memchr(b'\n', &bytes[start..range.end]));
        match next.map(|newline| start + newline + 1) {
            Some(next) if next < range.end => cuts.push(next),
            _ => break,
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fields(bytes: &[u8], start: usize) -> Option<(usize, Vec<&[u8]>)> {
        let mut fields = Vec::new();
        let (next, count) = for_each_field(bytes, start, b',', |number, range| {
            assert_eq!(number, fields.len());
            fields.push(&bytes[range]);
        })?;
        assert_eq!(count, fields.len());
        Some((next, fields))
    }

    #[test]
    fn quotes_and_line_ends() {
        let table = b"a,\"b,\n\"\"c\",d\r\n5\" x,\"6\"7,\n\n\"open";
        let (next, row) = fields(table, 0).unwrap();
        assert_eq!(row, [&b"a"[..], b"\"b,\n\"\"c\"", b"d"]);
        assert_eq!(unquoted(row[1]), &b"b,\n\"c"[..]);
        let (next, row) = fields(table, next).unwrap();
        assert_eq!(row, [&b"5\" x"[..], b"\"6\"7", b""]);
        assert_eq!((unquoted(row[0]), unquoted(row[1])), (b"5\" x"[..].into(), b"67"[..].into()));
        let (next, row) = fields(table, next).unwrap();
        assert_eq!(row, [b""]);
        assert_eq!(fields(table, next), None);
        assert_eq!(unquoted(b"\"\"\"a\"\"\""), &b"\"a\""[..]);
    }

    /// The rows of a table as the csv crate reads them.
    fn by_csv(table: &[u8], end: &str) -> Vec<Vec<Vec<u8>>> {
        let mut reader = csv::ReaderBuilder::new();
        reader.has_headers(false).flexible(true).terminator(csv::Terminator::Any(b'\n'));
        let rows = reader.from_reader(table).into_byte_records().map(|row| {
            let mut row: Vec<Vec<u8>> = row.unwrap().iter().map(<[u8]>::to_vec).collect();
            // The crate takes the CR of a line end for a part of the last field.
            if let Some(last) = row.last_mut().filter(|_| end == "\r\n") {
                assert_eq!(last.pop(), Some(b'\r'));
            }
            row
        });
        rows.collect()
    }

    #[test]
    fn a_cr_outside_quotes_is_found() {
        for field in ["a\rb", "\rb", "a\r\rb\r", "\"a\"\rb", "\"\"\"a\"\rb"] {
            assert!(has_lone_cr(field.as_bytes()), "{field:?}");
        }
        for field in ["", "a", "\r", "a\r", "\"a\"\r", "\"\r\"", "\"a\"\"\r\"", "\"\r\"b"] {
            assert!(!has_lone_cr(field.as_bytes()), "{field:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn rows_that_come_in_pieces_are_the_same(row in "[ab5,\"\r\n]{0,40}", piece in 1..9_usize) {
            let bytes = row.as_bytes();
            let mut whole = Vec::new();
            let expected = for_each_field(bytes, 0, b',', |_, field| whole.push(field));
            let (mut fields, mut state, mut read) = (Vec::new(), Row::new(0), None);
            for end in (0..bytes.len()).step_by(piece).chain([bytes.len()]) {
                read = read.or_else(|| state.for_each_field(&bytes[..end], b',', |_, field| fields.push(field)));
            }
            prop_assert_eq!((read, fields), (expected, whole));
        }

        #[test]
        fn fields_are_those_of_the_csv_crate(
            rows in prop::collection::vec(
                prop::collection::vec("[ab5 ]{1,3}\"?|\"([ab5,\n\r]|\"\"){0,6}\"[a]?", 1..5),
                0..9,
            ),
            end in "\r?\n",
        ) {
            let table: String = rows.iter().map(|row| row.join(",") + &end).collect();
            let bytes = table.as_bytes();
            let (mut at, mut read) = (0, Vec::new());
            while at < bytes.len() {
                let (next, row) = fields(bytes, at).expect("all quotes are closed");
                prop_assert_eq!(end_of_row(bytes, at, b',', true), Some(next));
                read.push(row.into_iter().map(|field| unquoted(field).into_owned()).collect::<Vec<_>>());
                at = next;
            }
            prop_assert_eq!(read, by_csv(bytes, &end));
        }

        #[test]
        fn cuts_are_where_rows_begin(
            rows in prop::collection::vec("[ab5 ]{1,3},(\"([ab5,\n\r]|\"\"){0,6}\"|7)", 0..40),
            size in 1..120_usize,
        ) {
            let table: String = rows.iter().map(|row| row.clone() + "\n").collect();
            let bytes = table.as_bytes();
            let mut starts = vec![0];
            while let Some(next) = end_of_row(bytes, starts[starts.len() - 1], b',', true) {
                starts.push(next);
            }
            starts.pop();
            let cuts = cuts(bytes, 0..bytes.len(), size);
            // A field may be longer than a cut here, and not where cuts are of hundreds of kilobytes.
            let is_right = cuts.iter().all(|cut| starts.contains(cut));
            prop_assert!(is_right || size < 40, "{:?} {:?}", cuts, starts);
            prop_assert!(cuts.is_sorted_by(|a, b| a < b), "{:?}", cuts);
        }
    }
}
