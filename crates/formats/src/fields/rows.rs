//! Rows of a table and their fields, as bytes.
//!
//! A quote as the first byte of a field opens a quoted field. Inside, delimiters and line ends are
//! text, and two quotes mean one quote; after the closing quote, the field continues unquoted. A row
//! ends with LF or CR LF. The csv crate reads the same fields but does not report the byte range of a
//! row, which sorting needs to preserve the row, so the crate only serves as a reference in tests.

use std::ops::Range;

use memchr::{memchr, memchr2, memrchr};

use super::dialect::{Dialect, Fields, QUOTE};
use crate::parallel;
use crate::text::MARK;

/// Passes the number and the range of each field of the row at `start` to `field`; for lines, only of
/// the first `most` fields. Returns the offset of the next row and the number of fields, or `None` if
/// the row does not end here.
#[inline]
pub fn for_each_field(
    bytes: &[u8],
    start: usize,
    fields: Fields,
    most: usize,
    mut field: impl FnMut(usize, Range<usize>),
) -> Option<(usize, usize)> {
    let Fields::Quoted(delimiter) = fields else {
        let next = start + memchr(fields.line_end().byte(), &bytes[start..])? + 1;
        let line = start..fields.end_of_line(bytes, start, next);
        return Some((next, fields.of_line(bytes, line, most, field)));
    };
    let (mut begin, mut number) = (start, 0);
    loop {
        let from = if bytes.get(begin) == Some(&QUOTE) { after_quotes(bytes, begin)? } else { begin };
        let at = from + memchr2(delimiter, b'\n', &bytes[from..])?;
        if bytes[at] == b'\n' {
            let end = if at > begin && bytes[at - 1] == b'\r' { at - 1 } else { at };
            field(number, begin..end);
            return Some((at + 1, number + 1));
        }
        field(number, begin..at);
        (begin, number) = (at + 1, number + 1);
    }
}

/// Returns the offset after the closing quote of the quote at `quote`, or `None` if the bytes end
/// before or right after the closing quote.
#[inline]
fn after_quotes(bytes: &[u8], quote: usize) -> Option<usize> {
    let mut at = quote + 1;
    loop {
        at += memchr(QUOTE, &bytes[at..])? + 1;
        if *bytes.get(at)? != QUOTE {
            return Some(at);
        }
        at += 1;
    }
}

/// Returns true if a field has a CR outside quotes and outside its line end.
pub(super) fn has_lone_cr(field: &[u8]) -> bool {
    let quoted = if field.first() == Some(&QUOTE) { after_quotes(field, 0) } else { Some(0) };
    let Some(after) = quoted.map(|quoted| &field[quoted..]) else { return false };
    // Several CRs before an LF, as written by some programs, count as part of the line end.
    let ends = after.iter().rev().take_while(|&&byte| byte == b'\r').count();
    memchr(b'\r', &after[..after.len() - ends]).is_some()
}

/// The error for an input with a lone CR in its header or only row.
pub(super) const LONE_CR: &str =
    "lines seem to end in CR alone, which does not end a row; use: tr '\\r' '\\n' < FILE";

/// Returns the end of the row at `start`, including its line end.
#[inline]
pub fn end_of_row(bytes: &[u8], start: usize, fields: Fields) -> Option<usize> {
    for_each_field(bytes, start, fields, 0, |_, _| {}).map(|(next, _)| next)
}

/// The error for a row with an unclosed quote.
pub const UNCLOSED: &str = "a quote opened in this row is never closed; add the closing quote";

/// Divides a range of a table into pieces of about `size` bytes, cut at probable row boundaries. A
/// stray quote may lead to a wrong cut, which shows after parsing the piece before the cut.
pub fn pieces(bytes: &[u8], range: Range<usize>, fields: Fields, size: usize) -> Vec<Range<usize>> {
    let mut cuts = cuts(bytes, range.clone(), fields, size);
    cuts.push(range.end);
    cuts.windows(2).map(|ends| ends[0]..ends[1]).collect()
}

/// Finds the end of a row too long for memory, block by block.
pub struct LongRow {
    fields: Fields,
    /// True within quotes.
    pub is_quoted: bool,
    /// True where a quote opens: at the beginning of a field, and after a closing quote.
    may_open: bool,
}

impl LongRow {
    /// Begins with bytes that end in the row.
    pub fn new(bytes: &[u8], fields: Fields) -> Self {
        let mut row = Self { fields, is_quoted: false, may_open: true };
        let mut at = 0;
        while let Some(end) = row.end(&bytes[at..]) {
            at += end;
        }
        row
    }

    /// Returns the end of the row in the next bytes, or `None` if the row continues.
    pub fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let Fields::Quoted(delimiter) = self.fields else {
            return memchr(self.fields.line_end().byte(), bytes).map(|end| end + 1);
        };
        let is_end = |&byte: &u8| {
            let is_quote = byte == QUOTE && (self.is_quoted || self.may_open);
            self.is_quoted ^= is_quote;
            self.may_open = !self.is_quoted && (is_quote || byte == delimiter || byte == b'\n');
            !self.is_quoted && byte == b'\n'
        };
        bytes.iter().position(is_end).map(|end| end + 1)
    }
}

/// Returns the end of the last whole row at the beginning of an input, or `None` if even the first row is
/// incomplete.
pub fn end_of_first_rows(bytes: &[u8], dialect: Dialect) -> Option<usize> {
    let first = end_of_first_row(bytes, dialect)?;
    Some(end_of_rows(&bytes[first..], dialect).map_or(first, |end| first + end))
}

/// Returns the end of the last whole row or comment; `None` if the first row or comment is incomplete.
pub fn end_of_rows(bytes: &[u8], dialect: Dialect) -> Option<usize> {
    if dialect.fields.are_of_lines() || memchr(QUOTE, bytes).is_none() {
        return memrchr(dialect.fields.line_end().byte(), bytes).map(|end| end + 1);
    }
    let end = |start: usize| end_of_row_or_comment(bytes, start, dialect);
    std::iter::successors(end(0), |&start| end(start)).last()
}

/// Returns the end of the row or of the comment at `start`; a quote in a comment opens no field.
fn end_of_row_or_comment(bytes: &[u8], start: usize, dialect: Dialect) -> Option<usize> {
    let is_comment = dialect.comment(bytes, start).is_some();
    end_of_row(bytes, start, if is_comment { dialect.fields.of_lines() } else { dialect.fields })
}

/// Returns the beginning of the first row at or after `at`, or `None` if no row begins there. The bytes
/// must begin with a row.
pub fn row_from(bytes: &[u8], at: usize, fields: Fields) -> Option<usize> {
    if at == 0 {
        return Some(0);
    }
    if fields.are_of_lines() || memchr(QUOTE, bytes).is_none() {
        return memchr(fields.line_end().byte(), bytes.get(at - 1..)?).map(|end| at + end);
    }
    std::iter::successors(end_of_row(bytes, 0, fields), |&end| end_of_row(bytes, end, fields))
        .find(|&end| end >= at)
}

/// Returns the beginning of the first row after the first byte, or `None` if no row begins here. The
/// bytes may begin anywhere in a table, even within quotes: the guess with the more uniform number of
/// fields per row wins.
pub fn probable_row(bytes: &[u8], fields: Fields) -> Option<usize> {
    /// The number of rows to compare.
    const ROWS: usize = 64;
    let outside = memchr(fields.line_end().byte(), bytes).map(|end| end + 1);
    if fields.are_of_lines() || memchr(QUOTE, bytes).is_none() {
        return outside;
    }
    // Counts the rows with another number of fields than the row before.
    let differing = |start: Option<usize>| {
        let Some(mut at) = start else { return (true, usize::MAX) };
        let (mut before, mut count, mut rows) = (None, 0, 0);
        while rows < ROWS
            && let Some((next, columns)) = for_each_field(bytes, at, fields, usize::MAX, |_, _| {})
        {
            count += usize::from(before.is_some_and(|before| before != columns));
            (before, at, rows) = (Some(columns), next, rows + 1);
        }
        // A row without an end does not count.
        (rows == 0, count)
    };
    let inside = end_of_row(&[&[QUOTE], bytes].concat(), 0, fields).map(|end| end - 1);
    if differing(inside) < differing(outside) { inside } else { outside }
}

/// Returns the end of the first row of an input, after comments and the header; `None` if the row is
/// incomplete.
pub fn end_of_first_row(bytes: &[u8], dialect: Dialect) -> Option<usize> {
    behind_rows(bytes, dialect, dialect.header.max(1))
}

/// Returns the end of this number of rows at the beginning of an input, and of the comments before them.
pub fn behind_rows(bytes: &[u8], dialect: Dialect, rows: usize) -> Option<usize> {
    let mut start = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
    let mut left = rows;
    while left > 0 {
        left -= usize::from(dialect.comment(bytes, start).is_none());
        start = end_of_row_or_comment(bytes, start, dialect)?;
    }
    Some(start)
}

/// Returns probable row boundaries, about every `size` bytes, beginning with the start of the range:
/// line ends after an even number of quotes.
fn cuts(bytes: &[u8], range: Range<usize>, fields: Fields, size: usize) -> Vec<usize> {
    let starts: Vec<usize> = range.clone().step_by(size).collect();
    if starts.len() < 2 {
        return starts;
    }
    let has_quotes = !fields.are_of_lines();
    let count =
        |&start: &usize| memchr::memchr_iter(QUOTE, &bytes[start..range.end.min(start + size)]).count();
    let quotes = if has_quotes { parallel::map_parts(&starts, count) } else { vec![0; starts.len()] };
    let mut inside = false;
    let mut cuts = vec![range.start];
    for (&start, quotes) in starts[1..].iter().zip(quotes) {
        inside ^= quotes % 2 == 1;
        if start < cuts[cuts.len() - 1] {
            // A row is longer than a part; the next boundary comes after the row.
            continue;
        }
        let mut open = inside;
        let here = &bytes[start..range.end.min(start + size)];
        let outside = |&at: &usize| {
            let is_quote = bytes[start + at] == QUOTE;
            open ^= is_quote;
            !is_quote && !open
        };
        let next = if has_quotes { memchr::memchr2_iter(QUOTE, b'\n', here).find(outside) } else { None };
        // If everything seems quoted, a stray quote may be the cause, and any line end is an equally
        // good guess.
        let next = next.or_else(|| memchr(fields.line_end().byte(), &bytes[start..range.end]));
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
    use crate::fields::dialect::unquoted;

    const COMMAS: Fields = Fields::Quoted(b',');

    fn fields(bytes: &[u8], start: usize) -> Option<(usize, Vec<&[u8]>)> {
        let mut fields = Vec::new();
        let (next, count) = for_each_field(bytes, start, COMMAS, usize::MAX, |number, range| {
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

    proptest! {
        #[test]
        fn a_long_row_ends_where_it_would_end_in_memory(
            bytes in prop::collection::vec(prop::sample::select(&b"a,\"\n\r"[..]), 0..40),
            cuts in prop::collection::vec(0..40_usize, 1..4),
        ) {
            for fields in [COMMAS, Fields::Quoted(b'a'), Fields::Words(crate::text::LineEnd::Lf)] {
                let mut cuts: Vec<usize> = cuts.iter().map(|&cut| cut.min(bytes.len())).collect();
                cuts.sort_unstable();
                cuts.push(bytes.len());
                let mut row = LongRow::new(&bytes[..cuts[0]], fields);
                let found = cuts.windows(2).find_map(|cut| Some(cut[0] + row.end(&bytes[cut[0]..cut[1]])?));
                let mut ends = std::iter::successors(Some(0), |&start| end_of_row(&bytes, start, fields));
                prop_assert_eq!(found, ends.find(|&end| end > cuts[0]));
            }
        }
    }

    /// Reads the rows of a table with the csv crate.
    fn by_csv(table: &[u8], end: &str) -> Vec<Vec<Vec<u8>>> {
        let mut reader = csv::ReaderBuilder::new();
        reader.has_headers(false).flexible(true).terminator(csv::Terminator::Any(b'\n'));
        let rows = reader.from_reader(table).into_byte_records().map(|row| {
            let mut row: Vec<Vec<u8>> = row.unwrap().iter().map(<[u8]>::to_vec).collect();
            // The crate includes the CR of a line end in the last field.
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

    #[test]
    fn a_quote_in_a_comment_opens_no_field() {
        let dialect = Dialect { fields: COMMAS, header: 1, comments: true };
        assert_eq!(end_of_first_rows(b"# 5,\" wide\nid,name\n1,a\n2,b\n3", dialect), Some(27));
        assert_eq!(end_of_first_rows(b"# 5,\" wide\nid,name\n# 1", dialect), Some(19));
        assert_eq!(end_of_first_rows(b"# 5,\" wide", dialect), None);
        // The line end is inside the name.
        assert_eq!(end_of_rows(b"1,a\n# 5,\" wide\n2,\"a\nb", dialect), Some(15));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

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
                prop_assert_eq!(end_of_row(bytes, at, COMMAS), Some(next));
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
            while let Some(next) = end_of_row(bytes, starts[starts.len() - 1], COMMAS) {
                starts.push(next);
            }
            starts.pop();
            let cuts = cuts(bytes, 0..bytes.len(), COMMAS, size);
            // A field may be longer than a part here, but not with parts of hundreds of kilobytes.
            let is_right = cuts.iter().all(|cut| starts.contains(cut));
            prop_assert!(is_right || size < 40, "{:?} {:?}", cuts, starts);
            prop_assert!(cuts.is_sorted_by(|a, b| a < b), "{:?}", cuts);
        }
    }
}
