//! Records as text: rows of CSV and TSV, lines of fields, JSON objects, and tokens. Records are ordered
//! by some columns and preserved byte for byte.
//!
//! Each core reads a piece of the table, from one row boundary to another. The parity of the quotes
//! before a line end tells if the line end is a boundary. Since a stray quote may mislead, a piece is
//! accepted only if the piece before it ended exactly there; otherwise, the piece starts again
//! from that end.

mod column;
mod dialect;
mod groups;
mod header;
mod key;
mod layout;
mod misfit;
mod rows;
mod spec;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use super::counts::Counts;
use super::keys::texts::TextColumn;
use super::keys::{self, Keys};
use super::number::{PerLine, Tokens, is_space};
use super::piece::{Bytes, Piece};
use super::text::{LineEnd, Text};
use crate::error::Error;
use crate::parallel::map_parts;

pub use self::column::{Column, NotAdded};
pub use self::dialect::{Dialect, Fields, Gap, unquoted};
pub use self::groups::{Groups, table_of};
pub use self::header::{ColumnAt, Header, ResolvedKey};
pub use self::key::{Axis, Key, KeySpec, Kind};
pub use self::layout::{Body, Layout, Surveyed};
pub(crate) use self::rows::{LongRow, UNCLOSED};
pub use self::rows::{behind_rows, end_of_first_row, end_of_first_rows, end_of_row, end_of_rows};
pub use self::rows::{for_each_field, pieces, probable_row, row_from};
pub use self::spec::{InputKind, InputSpec};

/// Returns the offset of a token in a range of text or of lines with plain numbers, by its number in
/// the range or as the last token.
pub fn place_of_token(bytes: &[u8], range: Range<usize>, number: usize, is_last: bool) -> usize {
    let piece = &bytes[range.clone()];
    let piece = &piece[..piece.iter().rposition(|&byte| !is_space(byte)).map_or(0, |last| last + 1)];
    if is_last {
        return range.start + piece.iter().rposition(|&byte| is_space(byte)).map_or(0, |blank| blank + 1);
    }
    range.start + Tokens::new(&bytes[range.clone()], PerLine::Any).nth(number).map_or(0, |(at, _)| at)
}

/// The state of a reader after a part of a table.
#[derive(Clone, Default)]
pub struct Known {
    /// The rows of the first header without line ends, and the place of the header.
    pub header: Option<(Vec<u8>, String)>,
    /// The line end of the first row of the last input.
    line_end: Option<&'static [u8]>,
    /// The number of bytes read.
    pub passed: u64,
    /// True if another input comes first, so that a byte order mark here is dropped.
    pub is_later: bool,
}

impl Known {
    /// Returns the row of the first header that names the columns, without its line end.
    pub fn names(&self, dialect: Dialect) -> Option<&[u8]> {
        let (header, _) = self.header.as_ref()?;
        let above =
            if dialect.header > 1 { memchr::memrchr(b'\n', header).map_or(0, |end| end + 1) } else { 0 };
        Some(&header[above..])
    }

    /// Returns the state for one of several processes, after `passed` bytes; another process writes the
    /// header.
    pub fn shared(&self, passed: u64) -> Self {
        Self { passed, is_later: true, ..self.clone() }
    }
}

/// The lines on top of the output: a byte order mark, the comments, and the header.
#[derive(Clone, Debug, Default)]
pub struct Head([Vec<u8>; 3]);

impl Head {
    /// Copies the lines on top from a text.
    fn of(text: &Text, dialect: Dialect, tops: &Tops, bodies: &[Body], known: &Known) -> Self {
        let has_mark = known.passed == 0 && !known.is_later && dialect.fields != Fields::Tokens;
        let lines = |ranges: &[Range<usize>]| {
            let mut lines = Vec::new();
            for range in ranges.iter().filter(|range| range.start < range.end) {
                lines.extend_from_slice(&text.bytes[range.clone()]);
                // The last line of an input may lack its end.
                if lines.last() != Some(&text.line_end.byte()) {
                    let end = bodies.iter().find(|(body, _)| range.start <= body.end);
                    lines.extend_from_slice(end.map_or(text.line_end.bytes(), |(_, end)| end));
                }
            }
            lines
        };
        let mark = if has_mark { text.mark().to_vec() } else { Vec::new() };
        Self([mark, lines(&tops.comments), lines(&tops.header)])
    }

    /// Puts this field before the names of columns, which are the last row of the header.
    pub fn prefix(&mut self, dialect: Dialect, field: &[u8]) {
        let (header, mut at) = (&mut self.0[2], 0);
        for _ in 1..dialect.header {
            at = end_of_row(header, at, dialect.fields).unwrap_or(header.len());
        }
        if at < header.len() {
            header.splice(at..at, field.iter().copied());
        }
    }

    /// Adds the lines on top of later records.
    pub fn append(&mut self, later: Self) {
        self.0.iter_mut().zip(later.0).for_each(|(lines, mut more)| lines.append(&mut more));
    }

    /// Returns true if no bytes go on top.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// Writes all bytes.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        self.0.iter().try_for_each(|lines| to.write_all(lines))
    }
}

/// The ranges of the lines on top.
#[derive(Default)]
pub struct Tops {
    comments: Vec<Range<usize>>,
    header: Vec<Range<usize>>,
}

/// Records in input order, with the keys that a sort keeps.
pub struct Batch {
    /// The lines on top of the records.
    pub head: Head,
    /// The records before the first wrong one.
    pub pieces: Vec<Piece>,
    /// For each piece, the numbers of the records left out.
    pub skipped: Vec<Vec<u32>>,
    /// The error of the record after the pieces.
    pub wrong: Option<Error>,
    /// The numbers of null fields and of left-out records.
    pub counts: Counts,
}

/// Reads a part of a text up to the first wrong record. A core reads `piece` bytes at once;
/// `has_ranges` requests the ranges of numbers.
///
/// # Errors
///
/// The header differs from the header of an earlier input.
pub fn read_batch(
    text: &Arc<Text>,
    how: &InputSpec,
    known: &mut Known,
    piece: Option<usize>,
    has_ranges: bool,
) -> Result<Batch, Error> {
    let dialect = how.kind.dialect();
    let (mut tops, bodies) = bodies(text, dialect, known)?;
    let mut layout = Layout::new(text, how);
    (layout.piece, layout.has_ranges) = (piece, has_ranges);
    let (mut until, mut wrong) = (usize::MAX, None);
    let parts = loop {
        let before = bodies.iter().filter(|(body, _)| body.start <= until);
        let before = before.map(|(body, line_end)| (body.start..body.end.min(until), *line_end));
        match layout.read(&before.collect::<Vec<_>>()) {
            Ok(parts) => break parts,
            Err(problem) => {
                until = problem.0;
                wrong = Some(layout.error(problem));
            }
        }
    };
    for (Range { start, .. }, part) in &parts {
        tops.comments.extend(part.comments.iter().map(|comment| start + comment.start..start + comment.end));
    }
    // Comments behind the records of an input precede the comments of the next input.
    tops.comments.sort_unstable_by_key(|comment| comment.start);
    let head = Head::of(text, dialect, &tops, &bodies, known);
    known.passed += text.bytes.len() as u64;
    let mut counts = Counts::default();
    parts.iter().for_each(|(_, part)| counts.add_all(&part.counts));
    let read = map_parts(parts, |(Range { start, end: until }, part)| {
        let end = bodies.iter().find(|(body, _)| start <= body.end);
        let end = end.map_or((0, &b""[..]), |(body, line_end)| (body.end, *line_end));
        let ranges = Arc::new(part.ranges);
        let of_column = |column: Column| column.words.of_text(text, start);
        let mut columns: Vec<keys::Column> = part.columns.into_iter().map(of_column).collect();
        if let Some(key) = how.keys.get(columns.len()) {
            columns.push(keys::Column::Texts(TextColumn::of_lines(key.order, &ranges, text, start)));
        }
        let keys = Keys::of(columns);
        let are_tokens = dialect.fields.are_tokens();
        let bytes = Bytes::Of { text: text.clone(), start, until, ranges, end, are_tokens };
        let (respelled, spellings) = (part.respelled, part.spellings);
        (Piece { respelled, spellings, bytes, ..Piece::of(keys) }, part.skipped)
    });
    let (pieces, skipped): (Vec<Piece>, _) = read.into_iter().unzip();
    Ok(Batch { head, pieces, skipped, wrong, counts })
}

/// Returns the ranges of the lines on top that precede the rows (comments and the first header), and
/// the rows of each input.
///
/// # Errors
///
/// A header that differs from an earlier one; an unclosed quote.
pub fn bodies(text: &Text, dialect: Dialect, known: &mut Known) -> Result<(Tops, Vec<Body>), Error> {
    let (mut tops, mut bodies) = (Tops::default(), Vec::new());
    for part in &text.parts {
        let range = part.range.clone();
        if part.before.is_some() || dialect.fields.are_tokens() {
            let of_part = part.before.and_then(|before| before.line_end);
            let line_end = of_part.or(known.line_end).unwrap_or(text.line_end.bytes());
            known.line_end = Some(line_end);
            bodies.push((range, line_end));
            continue;
        }
        // Includes the line end after the input.
        let bytes = &text.bytes[..=range.end];
        let first = dialect.comment(bytes, range.start);
        let first = first.or_else(|| rows::end_of_row(bytes, range.start, dialect.fields));
        let is_crlf = first.is_some_and(|end| bytes[..end].ends_with(b"\r\n"));
        let line_end = if is_crlf && text.line_end == LineEnd::Lf { b"\r\n" } else { text.line_end.bytes() };
        known.line_end = Some(line_end);
        let (mut start, mut header) = (range.start, Vec::new());
        while start < range.end {
            let comment = dialect.comment(bytes, start);
            if comment.is_none() && header.len() == dialect.header {
                break;
            }
            let Some(next) = comment.or_else(|| rows::end_of_row(bytes, start, dialect.fields)) else {
                return Err(Error::input(text.line(start), UNCLOSED));
            };
            let line = start..next.min(range.end);
            start = line.end;
            if comment.is_some() { tops.comments.push(line) } else { header.push(line) }
        }
        let rows = header.iter().map(|row: &Range<usize>| bytes[row.clone()].trim_ascii_end());
        let here = rows.collect::<Vec<_>>().join(&b'\n');
        match (&known.header, header.last()) {
            (Some((first, place)), Some(last)) if *first != here => {
                let problem = format!(
                    "the header differs from that of {place}; correct one, or sort each file by itself"
                );
                return Err(Error::input(text.line(last.start), problem));
            }
            (None, Some(_)) => {
                known.header = Some((here, text.line(range.start)));
                tops.header = header;
            }
            _ => {}
        }
        bodies.push((start..range.end, line_end));
    }
    Ok((tops, bodies))
}
