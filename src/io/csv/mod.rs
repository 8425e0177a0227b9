//! Records as text: rows of CSV and TSV, lines of fields, tokens. They are ordered by some columns
//! and preserved byte for byte.
//!
//! Each core reads a piece of the table, from one row boundary to another. The parity of the quotes
//! before a line end shows whether it is a boundary; since a stray quote may mislead, a piece is
//! accepted only if the piece before it ended exactly there, and is otherwise read again from where
//! that ended.

mod column;
mod dialect;
mod header;
pub(in crate::io) mod json;
mod key;
mod rows;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use gpusort_order::key::ElementType;

use self::column::{Column, Field, NotAdded};
use self::dialect::trimmed;
use self::json::{Damage, Paths};
#[cfg(not(feature = "arrow"))]
use self::rows::for_each_field;
use self::rows::line_end;
use super::counts::{Counts, Doubt};
use super::infer::{Inference, Refused, conflicting};
use super::keys::{self, Keys, KeysOfRuns};
use super::number::{PerLine, Tokens, ends_line, is_space, several, token_at};
use super::packing::Numbers;
use super::piece::{self, Bytes, Piece};
use super::records::Records;
use super::source::{Input, LineEnd, Spot, Text, piece_size};
use crate::error::{Error, Hint};
use crate::human::quoted;
use crate::order::{KeyOrder, Reading};
use crate::parallel::map_parts;

#[cfg(feature = "arrow")]
pub(in crate::io) use self::dialect::unquoted;
pub use self::dialect::{Dialect, Fields};
pub(crate) use self::header::{Found, Header};
pub use self::key::{Key, KeySpec, Kind};
use self::rows::UNCLOSED;
pub(crate) use self::rows::end_of_first_row;
#[cfg(any(feature = "arrow", feature = "distributed"))]
pub(crate) use self::rows::end_of_row;
#[cfg(feature = "arrow")]
pub(in crate::io) use self::rows::for_each_field;
pub(super) use self::rows::{end_of_rows, pieces};
#[cfg(feature = "distributed")]
pub(crate) use self::rows::{probable_row, row_from};

/// Rows read by one core.
struct RowPart {
    /// Offset of its first row.
    start: usize,
    /// Offset of the row after its last one.
    end: usize,
    /// Where the rows begin and end, counted from `start`; of numbers only if that is asked for.
    ranges: Vec<piece::Range>,
    /// Rows left out, by their numbers within this part.
    skipped: Vec<u32>,
    counts: Counts,
    /// One column per key.
    columns: Vec<Column>,
    /// Of JSON, whether a record has a value for each key.
    seen: Vec<bool>,
}

/// Where the token of this number begins of a range of text, or of lines that are numbers and
/// nothing else; or where the last one does.
pub(in crate::io) fn place_of_token(
    bytes: &[u8],
    range: Range<usize>,
    number: usize,
    is_last: bool,
) -> usize {
    let piece = &bytes[range.clone()];
    let piece = &piece[..piece.iter().rposition(|&byte| !is_space(byte)).map_or(0, |last| last + 1)];
    let line = piece.iter().rposition(|&byte| ends_line(byte)).map_or(0, |end| end + 1);
    // In what may be a comment there are others.
    if is_last && !piece[line..].contains(&b'#') {
        return range.start + piece.iter().rposition(|&byte| is_space(byte)).map_or(0, |blank| blank + 1);
    }
    range.start + Tokens::new(&bytes[range.clone()]).nth(number).map_or(0, |(at, _)| at)
}

/// The offset of a row and its error.
struct Problem(usize, Wrong);

enum Wrong {
    Row(String),
    /// The field of this key is rejected.
    Field(usize, Refused),
    /// Its line has a number already, and may have no more.
    Several,
    /// There are so many rows.
    TooMany(u64),
}

impl RowPart {
    /// How many rows there are, with those left out.
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len) + self.skipped.len()
    }

    /// Adds what is counted of its rows.
    fn count(&self, counts: &mut Counts) {
        counts.add_all(&self.counts);
        for column in &self.columns {
            counts.rounded += column.inference.rounded;
        }
    }

    /// Where a row begins.
    fn place(&self, row: usize, bytes: &[u8]) -> usize {
        self.ranges.get(row).map_or_else(
            || place_of_token(bytes, self.start..self.end, row, false),
            |range| self.start + range.begin(),
        )
    }

    /// Where each begins.
    fn places(&self, bytes: &[u8]) -> Vec<usize> {
        if self.ranges.is_empty() && self.columns.iter().any(|column| column.len() > 0) {
            let tokens = Tokens::new(&bytes[self.start..self.end]);
            return tokens.map(|(at, _)| self.start + at).collect();
        }
        self.ranges.iter().map(|range| self.start + range.begin()).collect()
    }
}

/// What is known of a table after some of it.
#[derive(Clone, Default)]
pub(crate) struct Known {
    /// The first row, header or not, and its place.
    pub(super) first: Option<(Header, String)>,
    /// The line end of the first row of the last input.
    line_end: &'static [u8],
    /// The types of the key columns; places are the bytes before a row and the field.
    pub(crate) columns: Vec<Inference<(u64, Spot)>>,
    /// Bytes.
    pub(crate) passed: u64,
    /// Whether another input comes first, whose comments and header are written.
    pub(super) is_later: bool,
    /// Which columns of nothing but empty fields, nan and inf were taken for numbers.
    taken_for_numbers: Vec<bool>,
    /// Of JSON, what is wrong for each key of which no record had a value so far.
    lacking: Vec<Option<Lacking>>,
    /// Whether it is of one of several processes, of which others may find what is lacking here.
    is_shared: bool,
}

/// What one of several processes tells the others of the columns.
#[cfg(feature = "distributed")]
#[derive(Clone, Debug, Default, serde::Deserialize, serde::Serialize)]
pub(crate) struct Facts {
    columns: Vec<Inference<(u64, Spot)>>,
    taken_for_numbers: Vec<bool>,
    /// Of JSON, whether no record has a value for a key.
    lacking: Vec<bool>,
}

/// What several processes know of a key: whether it is text, and whether it has decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) is_text: bool,
    pub(crate) is_float: bool,
}

#[cfg(feature = "distributed")]
impl Facts {
    /// The same where places in inputs of these names come after so many lines.
    pub(crate) fn after(self, lines: &[(String, u64)]) -> Self {
        let columns = self.columns.into_iter().map(|column| column.at(|(at, spot)| (at, spot.after(lines))));
        Self { columns: columns.collect(), ..self }
    }

    /// Whether what was found of a key would have been read otherwise by somebody who knew this,
    /// and has integers −0 in it.
    pub(crate) fn differ_from(&self, settled: &[Settled], has_zeros: &[bool]) -> bool {
        settled.iter().enumerate().any(|(key, settled)| {
            let is = |all: &[bool]| all.get(key) == Some(&true);
            settled.is_text && is(&self.taken_for_numbers) || settled.is_float && is(has_zeros)
        })
    }
}

/// What is wrong if no record has what a key names: where, what, and what helps.
type Lacking = (String, String, Option<Hint>);

impl Known {
    /// Notes records of numbers alone: they are lines, if there are others, and a first number
    /// beside times is an error.
    pub(crate) fn note_numbers(
        &mut self,
        records: &Records,
        numbers: Option<(PerLine, KeyOrder)>,
        inputs: &[Input],
    ) {
        let Some((PerLine::Whole, order)) = numbers else { return };
        let Some(input) = inputs.iter().find(|input| input.size() != Some(0)) else { return };
        self.first.get_or_insert_with(|| (Header::of_lines(), input.name()));
        self.line_end = LineEnd::Lf.bytes();
        if order.reading.finds_times() {
            self.columns[0].note_number(|| Some((0, records.first_number(&input.name())?)));
        }
    }

    /// What is to be known of the keys in runs.
    pub(crate) fn keys_of_runs(&self, by: &KeySpec, numbers: Option<KeyOrder>) -> Result<KeysOfRuns, Error> {
        let orders: Vec<KeyOrder> = match (&self.first, numbers) {
            // Of numbers alone nobody has asked what they are.
            (_, Some(order)) if !self.columns.iter().any(Inference::is_text) => vec![order],
            (Some((header, place)), _) => {
                let keys = header.find(by, place)?.into_iter().zip(&self.columns);
                keys.map(|(key, column)| KeyOrder { reading: column.order().reading, ..key.order }).collect()
            }
            (None, _) => Vec::new(),
        };
        let columns = orders.iter().zip(&self.columns);
        let zeros = columns.map(|(order, column)| keys::minus_zero(column.is_float(), *order)).collect();
        let floats = self.columns.iter().map(Inference::is_float).collect();
        Ok(KeysOfRuns { orders, zeros, floats })
    }

    /// The type of text, once all was read.
    pub(crate) fn element(&self) -> ElementType {
        self.columns.first().and_then(|column| column.finish().ok()).unwrap_or(ElementType::F64)
    }

    /// The columns, which are one as long as nobody knows better.
    fn header(&self, fields: Fields) -> Cow<'_, Header> {
        match &self.first {
            Some((header, _)) => Cow::Borrowed(header),
            None if fields == Fields::Json => Cow::Owned(Header::of_lines()),
            None => Cow::Owned(Header::of_columns(1)),
        }
    }

    /// Adds what is known of another input.
    ///
    /// # Errors
    ///
    /// A conflict between them that nothing else can resolve.
    pub(super) fn join(&mut self, other: &Self) -> Result<(), Error> {
        for (number, column) in other.columns.iter().enumerate() {
            match self.columns.get_mut(number) {
                Some(all) => *all = all.clone().merge(column.clone()),
                None => self.columns.push(column.clone()),
            }
            self.columns[number].settled().map_err(conflicting)?;
        }
        for key in (0..other.columns.len()).filter(|&key| other.is_taken_for_numbers(key)) {
            self.take_for_numbers(key);
        }
        if self.lacking.is_empty() {
            self.lacking.clone_from(&other.lacking);
        }
        self.lacking
            .iter_mut()
            .zip(&other.lacking)
            .for_each(|(all, other)| *all = all.take().and(other.clone()));
        self.check_texts()
    }

    /// Notes which keys records have a value for.
    fn note_seen(&mut self, layout: &Layout, parts: &[RowPart]) {
        if layout.fields != Fields::Json || parts.iter().all(|part| part.seen.is_empty()) {
            return;
        }
        let Some((header, place)) = &self.first else { return };
        if self.lacking.is_empty() {
            let of_key = |key| {
                let (problem, hint) = header.lacking(key);
                Some((place.clone(), problem, hint))
            };
            self.lacking = layout.keys.iter().map(of_key).collect();
        }
        for part in parts {
            self.lacking
                .iter_mut()
                .zip(&part.seen)
                .filter(|(_, seen)| **seen)
                .for_each(|(lacking, _)| *lacking = None);
        }
    }

    /// Finds which of these columns are text; of those that nothing tells of, by what comes later,
    /// where it does.
    fn find_texts(
        &mut self,
        columns: &mut [Inference<(u64, Spot)>],
        later: Option<&dyn Fn(usize) -> bool>,
        nulls_are_open: bool,
        texts: &mut [bool],
    ) {
        for (key, column) in columns.iter_mut().enumerate() {
            let is_open = column.may_be_text()
                && !self.is_taken_for_numbers(key)
                && (column.has_nan_or_infinity() || !nulls_are_open);
            match later.filter(|_| is_open) {
                Some(is_text) if is_text(key) => column.expect_text(),
                Some(_) => self.take_for_numbers(key),
                None => {}
            }
            texts[key] |= column.is_text();
        }
    }

    fn is_taken_for_numbers(&self, key: usize) -> bool {
        self.taken_for_numbers.get(key).copied().unwrap_or(false)
    }

    fn take_for_numbers(&mut self, key: usize) {
        let count = self.taken_for_numbers.len().max(key + 1);
        self.taken_for_numbers.resize(count, false);
        self.taken_for_numbers[key] = true;
    }

    /// Checks that no column is text that was taken for numbers.
    fn check_texts(&self) -> Result<(), Error> {
        for (key, column) in self.columns.iter().enumerate() {
            let Some((_, word)) = column.word().filter(|_| self.is_taken_for_numbers(key)) else { continue };
            let problem = format!(
                "{} is a word, but earlier fields (empty, nan or inf) were read as numbers, and this input \
                 cannot be read twice",
                quoted(&word.token)
            );
            return Err(Error::input(word.clone().place(), problem).hinting(Hint::Text(word.key())));
        }
        Ok(())
    }

    /// Nothing yet, in one of several processes.
    #[cfg(feature = "distributed")]
    pub(crate) fn of_many() -> Self {
        Self { is_shared: true, ..Self::default() }
    }

    /// The names of the columns and what they are read as, without what records have; `at` is how
    /// many bytes come before.
    #[cfg(feature = "distributed")]
    pub(crate) fn shared(&self, at: u64) -> Self {
        Self {
            first: self.first.clone(),
            line_end: self.line_end,
            columns: self.columns.iter().map(Inference::emptied).collect(),
            passed: at,
            is_later: true,
            ..Self::of_many()
        }
    }

    /// What others are to know of it.
    #[cfg(feature = "distributed")]
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            columns: self.columns.clone(),
            taken_for_numbers: self.taken_for_numbers.clone(),
            lacking: self.lacking.iter().map(Option::is_some).collect(),
        }
    }

    /// Adds what others found, whose records are not here.
    ///
    /// # Errors
    ///
    /// A conflict between them; a key that no record has.
    #[cfg(feature = "distributed")]
    pub(crate) fn join_all(&mut self, all: &[Facts]) -> Result<(), Error> {
        let lacking = std::mem::take(&mut self.lacking);
        self.is_shared = false;
        for (key, column) in self.columns.iter_mut().enumerate() {
            let found = all.iter().filter_map(|facts| facts.columns.get(key).cloned());
            *column = found.fold(column.emptied(), Inference::merge);
        }
        let is_lacking = |key: usize| all.iter().all(|facts| facts.lacking.get(key) != Some(&false));
        self.lacking =
            lacking.into_iter().enumerate().map(|(key, what)| what.filter(|_| is_lacking(key))).collect();
        self.end()
    }

    /// What is known of each key, once all is.
    #[cfg(feature = "distributed")]
    pub(crate) fn settled(&self) -> Vec<Settled> {
        let of = |column: &Inference<_>| Settled { is_text: column.is_text(), is_float: column.is_float() };
        self.columns.iter().map(of).collect()
    }

    /// Any error about the types, after all of the table.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.is_shared {
            return self.columns.iter().try_for_each(|column| column.settled().map_err(conflicting));
        }
        if let Some((place, problem, hint)) = self.lacking.iter().flatten().next().cloned() {
            let error = Error::input(place, problem);
            return Err(hint.into_iter().fold(error, Error::hinting));
        }
        self.columns.iter().try_for_each(|column| column.finish().map(|_| ()).map_err(conflicting))
    }

    /// The names of the columns' types, separated by commas.
    pub(crate) fn types(&self) -> String {
        let name = |column: &Inference<_>| {
            column.name().unwrap_or_else(|| column.finish().unwrap_or(ElementType::F64).name())
        };
        let names = self.columns.iter().map(name);
        if self.columns.is_empty() {
            ElementType::U32.name().to_owned()
        } else {
            names.collect::<Vec<_>>().join(",")
        }
    }
}

/// What comes before the rows.
fn head(text: &Text, dialect: Dialect, tops: Vec<Range<usize>>, known: &Known) -> Vec<u8> {
    let has_mark = known.passed == 0 && !known.is_later && dialect.fields != Fields::Tokens;
    let mut head = if has_mark { text.mark().to_vec() } else { Vec::new() };
    for top in tops.into_iter().filter(|top| !top.is_empty()) {
        head.extend_from_slice(&text.bytes[top]);
        // What has no line end is the end of its input, so any line end is right.
        let end = text.line_end.byte();
        if !head.ends_with(&[end]) {
            head.push(end);
        }
    }
    head
}

/// Records in the order of their input, with the keys that stay.
pub(in crate::io) struct Batch {
    /// What comes before the records.
    pub(in crate::io) head: Vec<u8>,
    pub(in crate::io) pieces: Vec<Piece>,
    /// The numbers of the records that were left out among those of each piece.
    pub(in crate::io) skipped: Vec<Vec<u32>>,
    /// What is wrong with the record after them.
    pub(in crate::io) wrong: Option<Error>,
    pub(in crate::io) counts: Counts,
    /// What may not be meant.
    pub(in crate::io) doubts: Vec<Doubt>,
    /// What is known of the numbers of each key.
    pub(in crate::io) numbers: Vec<Numbers>,
}

/// What is known of the columns from what comes later, if anybody can say it.
#[derive(Clone, Copy)]
pub(in crate::io) struct Later<'a> {
    /// Whether a key with an integer −0 has decimals. Without it that stays open, and conflicts
    /// between types are found at the end.
    pub(in crate::io) decimals: Option<&'a dyn Fn(usize) -> Result<bool, Error>>,
    /// Whether a key that has had nothing but empty fields, nan and inf is text. Without it that
    /// stays open.
    pub(in crate::io) texts: Option<&'a dyn Fn(usize) -> bool>,
    /// Whether one of nothing but empty fields stays open all the same.
    pub(in crate::io) nulls_are_open: bool,
    /// Whether nothing comes later.
    pub(in crate::io) is_last: bool,
}

/// Reads a part of a text, of which something is known, up to the first record that is wrong, and
/// adds to what is known. `piece` is how many bytes a core reads at once; `has_ranges` asks where
/// numbers are.
///
/// # Errors
///
/// What is wrong before the first record: a column that does not exist, a header that differs.
pub(in crate::io) fn read_batch(
    text: &Arc<Text>,
    (dialect, per_line): (Dialect, Option<PerLine>),
    by: &KeySpec,
    known: &mut Known,
    piece: Option<usize>,
    has_ranges: bool,
    later: Later,
) -> Result<Batch, Error> {
    let decimals = later.decimals;
    let any = dialect.fields.are_tokens().then_some(PerLine::Any);
    let numbers = per_line.or(any).or_else(|| dialect.first_number(by).map(|_| PerLine::Whole));
    let mut counts = Counts::default();
    let (tops, bodies) = bodies(text, dialect, &mut counts, known)?;
    let head = head(text, dialect, tops, known);
    let has_none = dialect.fields == Fields::Json || bodies.iter().all(|(body, _)| body.is_empty());
    let is_empty = known.first.is_none() && has_none;
    let header = &known.header(dialect.fields);
    let layout =
        Layout { numbers, has_ranges, piece, ..Layout::new(text, dialect.fields, header, by, is_empty)? };
    let mut known_texts: Vec<bool> = known.columns.iter().map(Inference::is_text).collect();
    known_texts.resize(layout.keys.len(), false);
    let passed = known.passed;
    known.passed += text.bytes.len() as u64;
    let (mut until, mut wrong) = (usize::MAX, None);
    let (parts, columns, found) = loop {
        // What is not read since something is wrong before it makes no column text.
        let mut texts = known_texts.clone();
        let mut parts = match layout.read(&up_to(&bodies, until), &texts) {
            Ok(parts) => parts,
            Err(problem) => {
                until = problem.0;
                wrong = Some(layout.error(problem));
                continue;
            }
        };
        let settled = |columns: &[Inference<_>]| {
            columns.iter().try_for_each(|column| column.settled().map_err(conflicting))
        };
        let mut columns = layout.known_after(&parts, &known.columns, passed);
        let are_last = later.is_last && wrong.is_none();
        let has_rows = parts.iter().any(|part| part.rows() > 0);
        let later_texts = later.texts.filter(|_| has_rows && !are_last);
        known.find_texts(&mut columns, later_texts, later.nulls_are_open, &mut texts);
        if let Err(problem) = layout.read_as_text(&mut parts, &bodies, &texts) {
            (until, wrong) = (problem.0, Some(layout.error(problem)));
            continue;
        }
        // As text others are words.
        let expected = columns;
        columns = layout.known_after(&parts, &known.columns, passed);
        columns.iter_mut().zip(expected).for_each(|(column, expected)| column.expect_as(&expected));
        if decimals.is_none() {
            columns.iter().try_for_each(Inference::words).map_err(conflicting)?;
        }
        if decimals.is_some() && settled(&columns).is_err() {
            let places: Vec<usize> = parts.iter().flat_map(|part| part.places(&text.bytes)).collect();
            let starts: Vec<usize> = places.iter().skip(1).copied().chain([until]).collect();
            let columns_before = |end: usize| {
                let parts = layout.read(&up_to(&bodies, end), &texts).unwrap_or_default();
                layout.known_after(&parts, &known.columns, passed)
            };
            let at = starts.partition_point(|&end| settled(&columns_before(end)).is_ok());
            wrong = settled(&columns_before(starts[at])).err();
            until = places[at];
            continue;
        }
        let found = match decimals_of(&parts, &mut columns, decimals, &text.bytes) {
            Ok(found) => found,
            Err(unknown) => {
                (until, wrong) = (unknown.0, Some(unknown.1));
                continue;
            }
        };
        break (parts, columns, found);
    };
    known.columns = columns;
    known.note_seen(&layout, &parts);
    known.check_texts()?;
    parts.iter().for_each(|part| part.count(&mut counts));
    let read = map_parts(parts, |part| {
        let end = bodies.iter().find(|(body, _)| part.start <= body.end);
        let end = end.map_or((0, &b""[..]), |(body, line_end)| (body.end, *line_end));
        let columns = part.columns.into_iter().zip(&found);
        let (start, until, ranges) = (part.start, part.end, part.ranges);
        let of_column = |(column, decimals): (Column, &Option<bool>)| match column.keys(*decimals) {
            keys::Column::Texts(texts) => keys::Column::Texts(texts.of_text(text, start)),
            numbers => numbers,
        };
        let keys = Keys::Columns(columns.map(of_column).collect());
        let are_tokens = dialect.fields.are_tokens();
        let bytes = Bytes::Of { text: text.clone(), start, until, ranges, end, are_tokens };
        (Piece { keys, at: 0, positions: Vec::new(), bytes }, part.skipped)
    });
    let (pieces, skipped): (Vec<Piece>, _) = read.into_iter().unzip();
    let mut doubts: Vec<Doubt> = layout.doubtful_header(dialect, by).map(Doubt::Header).into_iter().collect();
    if passed == 0 {
        doubts.extend(layout.doubts(&pieces, dialect));
    }
    let of_key = |(key, column): (&Found, &Inference<_>)| Numbers {
        order: KeyOrder { reading: column.order().reading, ..key.order },
        unit: column.unit(),
        zero: keys::minus_zero(false, key.order),
    };
    let numbers = layout.keys.iter().zip(&known.columns).map(of_key).collect();
    Ok(Batch { head, pieces, skipped, wrong, counts, doubts, numbers })
}

/// Whether each column has decimals, as far as that is known or `decimals` says it of one with an
/// integer −0.
///
/// # Errors
///
/// Where the first −0 is of a column of which nobody can say it, or that has no type then.
fn decimals_of(
    parts: &[RowPart],
    columns: &mut [Inference<(u64, Spot)>],
    decimals: Option<&dyn Fn(usize) -> Result<bool, Error>>,
    bytes: &[u8],
) -> Result<Vec<Option<bool>>, Box<(usize, Error)>> {
    let first_zero =
        |key: usize| parts.iter().find_map(|part| Some(part.place(part.columns[key].minus_zero()?, bytes)));
    let of_column = |(key, column): (usize, &mut Inference<_>)| {
        let zero = first_zero(key).filter(|_| !column.is_float());
        let Some((zero, decimals)) = zero.zip(decimals) else {
            return Ok(if zero.is_none() { Some(column.is_float()) } else { None });
        };
        let there_are = decimals(key).and_then(|there_are| {
            if there_are {
                column.push_decimal();
                column.settled().map_err(conflicting)?;
            }
            Ok(there_are)
        });
        there_are.map(Some).map_err(|error| Box::new((zero, error)))
    };
    columns.iter_mut().enumerate().map(of_column).collect()
}

/// `file:line` of the record at this place of a text, with the column of this key if there are
/// several, if it is asked for; and what the keys are made of.
pub(in crate::io) fn shown(
    text: &Text,
    fields: Fields,
    by: &KeySpec,
    known: &Known,
    row: usize,
    key: Option<usize>,
) -> Result<(String, Vec<Vec<u8>>), Error> {
    let header = &known.header(fields);
    let layout = Layout::new(text, fields, header, by, false)?;
    let mut place = key.map_or_else(String::new, |_| text.line_of(row, fields.are_tokens()));
    if let Some(key) = key.filter(|_| layout.keys.len() > 1) {
        place.push_str(&format!(", column '{}'", layout.keys[key].shown()));
    }
    Ok((place, (0..layout.keys.len()).map(|key| layout.token(row, key)).collect()))
}

/// The bodies up to this place.
fn up_to(bodies: &[Body], until: usize) -> Vec<Body> {
    let before = bodies.iter().filter(|(body, _)| body.start <= until);
    before.map(|(body, line_end)| (body.start..body.end.min(until), *line_end)).collect()
}

/// The range of an input's rows, and the line end of its first row.
type Body = (Range<usize>, &'static [u8]);

/// The ranges of what stays on top, as far as it is here: comments, and the header; and the rows of
/// each input.
fn bodies(
    text: &Text,
    dialect: Dialect,
    counts: &mut Counts,
    known: &mut Known,
) -> Result<(Vec<Range<usize>>, Vec<Body>), Error> {
    let (mut tops, mut bodies) = (Vec::new(), Vec::new());
    for (number, part) in text.parts.iter().enumerate() {
        let range = part.range.clone();
        if dialect.fields.are_tokens() {
            known.first.get_or_insert_with(|| (Header::of_lines(), part.name.clone()));
            known.line_end = text.line_end.bytes();
        }
        if part.before.is_some() || dialect.fields.are_tokens() {
            known.line_end = part.before.and_then(|before| before.line_end).unwrap_or(known.line_end);
            bodies.push((range, known.line_end));
            continue;
        }
        // With the line end after the input.
        let bytes = &text.bytes[..=range.end];
        let found = dialect.after_comments(bytes, range.start);
        let (mut start, comments, last_comment) = found.unwrap_or((range.end, 0, range.end));
        let (body, mut blank) = (start.min(range.end)..range.end, 0);
        if number == 0 && known.passed == 0 && !known.is_later {
            tops.push(range.start..body.start);
        } else {
            counts.comments += comments;
        }
        while !dialect.fields.keep_blank_lines() && start < range.end && line_end(&bytes[start..]) > 0 {
            start += line_end(&bytes[start..]);
            blank += 1;
        }
        // Where rows begin if there is a header.
        let mut head = start.min(range.end);
        let mut end = text.line_end.bytes();
        if start < range.end {
            let begin = start;
            for _ in 1..dialect.header {
                let next = rows::end_of_row(bytes, start, dialect.fields);
                // What is left is all header.
                start = next.filter(|&next| next < range.end).unwrap_or(start);
            }
            let wrong = |problem| Error::input(text.line(start), problem);
            let (next, mut here) = Header::read(bytes, start, range.end, dialect).map_err(wrong)?;
            if dialect.has_header() {
                here = here.below(&bytes[begin..start]);
            } else if comments > 0 {
                here = here.named_by(bytes, last_comment, dialect.fields);
            }
            let place = begin..next.min(range.end);
            // Where there is one column and no header, a blank line is a row.
            let is_blank_first = blank > 0 && !dialect.has_header() && here.columns == 1;
            let row = if is_blank_first { body.start..start } else { place.clone() };
            let is_crlf = bytes[row.start..].starts_with(b"\r\n")
                || text.bytes[row].ends_with(b"\r\n") && !is_blank_first;
            if is_crlf && text.line_end == LineEnd::Lf {
                end = b"\r\n";
            }
            head = place.end;
            match &known.first {
                Some((header, place)) if dialect.has_header() && *header != here => {
                    let problem = format!("the header differs from that of {place}");
                    return Err(Error::input(text.line(start), problem));
                }
                Some(_) => {}
                None => {
                    known.first = Some((here, text.line(start)));
                    if dialect.has_header() {
                        tops.push(place);
                    }
                }
            }
        }
        known.line_end = end;
        // Blank lines without a header after them may be rows.
        if dialect.has_header() {
            counts.blank += blank;
        }
        bodies.push((if dialect.has_header() { head..range.end } else { body }, end));
    }
    Ok((tops, bodies))
}

/// The layout common to all rows.
struct Layout<'a> {
    text: &'a Text,
    fields: Fields,
    /// The number of columns of a table. If it is 1, blank lines are rows.
    columns: usize,
    keys: Vec<Found>,
    /// Which fields are the keys, as fields are, and then as `sort` has them where these are others
    /// and a key asks for them.
    divisions: Vec<Division>,
    /// The keys that are the whole line.
    whole: Vec<usize>,
    /// How many numbers a line may have, in text and where lines may be nothing else.
    numbers: Option<PerLine>,
    /// Whether it is asked where numbers are.
    has_ranges: bool,
    /// Bytes that a core reads at once, if not as many as are good for most.
    piece: Option<usize>,
}

/// Fields in which keys are looked for.
struct Division {
    fields: Fields,
    /// How many of them are looked at.
    most: usize,
    /// The columns of the keys in their order, and which keys these are.
    keys: Vec<(usize, usize)>,
    /// The paths of the keys in JSON.
    paths: Option<Paths>,
}

impl Division {
    /// Of the keys for which this holds.
    fn of(fields: Fields, keys: &[Found], holds: impl Fn(&Found) -> bool) -> Self {
        let paths = keys.iter().enumerate().filter_map(|(key, found)| Some((key, found.path.as_ref()?)));
        let paths = (fields == Fields::Json).then(|| Paths::new(paths));
        let keys = keys.iter().enumerate().filter(|(_, found)| holds(found));
        let mut keys: Vec<_> = keys.filter_map(|(key, found)| Some((found.column?, key))).collect();
        keys.sort_unstable();
        Self { fields, most: keys.last().map_or(0, |&(column, _)| column + 1), keys, paths }
    }

    /// Finds the places of the keys in the row that begins here. Returns where the next one begins,
    /// and how many fields there are, of damaged JSON none; `None` if it has no end.
    #[allow(clippy::inline_always, reason = "as a call it takes twice as long")]
    #[inline(always)]
    fn find(&self, bytes: &[u8], at: usize, places: &mut [Range<usize>]) -> Option<(usize, usize)> {
        if let Some(paths) = &self.paths {
            return paths.find(bytes, at, places).map_or_else(
                |damage| {
                    places.fill(0..0);
                    Some((damage.at + memchr::memchr(b'\n', &bytes[damage.at..])? + 1, 0))
                },
                |next| Some((next, 1)),
            );
        }
        let mut keys = &self.keys[..];
        for_each_field(bytes, at, self.fields, self.most, |column, field| {
            while let [(of, key), rest @ ..] = keys
                && *of == column
            {
                places[*key].clone_from(&field);
                keys = rest;
            }
        })
    }
}

impl<'a> Layout<'a> {
    /// The layout of a table with this header; `is_empty` if it has nothing at all, not even
    /// columns.
    fn new(
        text: &'a Text,
        fields: Fields,
        header: &Header,
        by: &KeySpec,
        is_empty: bool,
    ) -> Result<Self, Error> {
        let table = text.parts.first().map_or("", |part| &part.name);
        let keys = if is_empty { Vec::new() } else { header.find(by, table)? };
        let columns = header.columns;
        let are_of_sort = |key: &Found| fields.differ_in_sort() && key.is_of_sort;
        let own = Division::of(fields, &keys, |key| !are_of_sort(key));
        // Where there are no others, lines are divided once.
        let divisions = match keys.iter().filter(|key| are_of_sort(key)).count() {
            0 => vec![own],
            count if count == keys.len() => vec![Division::of(fields.of_sort(), &keys, |_| true)],
            _ => vec![own, Division::of(fields.of_sort(), &keys, are_of_sort)],
        };
        let fields = divisions[0].fields;
        let whole = (0..keys.len()).filter(|&key| keys[key].column.is_none()).collect();
        let (numbers, has_ranges, piece) = (None, false, None);
        Ok(Self { text, fields, columns, keys, divisions, whole, numbers, has_ranges, piece })
    }

    /// The header of a key column, if it is a number and was not requested by name.
    fn doubtful_header(&self, dialect: Dialect, by: &KeySpec) -> Option<String> {
        let is_number = |key: &&Found| super::number::spelled(trimmed(key.name.as_bytes())).is_some();
        let is_named = |key: &&Found| by.keys.iter().any(|named| named.names(&key.name));
        let doubtful = self.keys.iter().find(|key| is_number(key) && !is_named(key));
        let may_be_data = dialect.has_header() && !dialect.fields.are_of_lines();
        doubtful.filter(|_| may_be_data).map(|key| key.name.clone())
    }

    /// What else may not be meant, by the first of these records.
    fn doubts(&self, pieces: &[Piece], dialect: Dialect) -> Vec<Doubt> {
        const FEW: usize = 100;
        let bytes = &self.text.bytes;
        let Some(piece) = pieces.iter().find(|piece| piece.records() > 0) else { return Vec::new() };
        let lines: Vec<&[u8]> = (0..piece.ranges().len().min(FEW))
            .map(|record| {
                let [begin, end] = piece.range(record);
                &bytes[begin..end.min(bytes.len())]
            })
            .collect();
        let mut doubts = Vec::new();
        let texts =
            self.keys.iter().enumerate().filter_map(|(key, found)| Some((found, piece.keys.texts(key)?)));
        for (found, texts) in texts {
            let count = texts.len().min(FEW);
            let is_number =
                |record| texts.get(record).is_ok_and(|text| super::number::spelled(text).is_some());
            if found.is_of_sort && !found.has_letters && count > 0 && (0..count).all(is_number) {
                doubts.push(Doubt::Numbers(found.shown()));
            }
            if found.order.reading == Reading::Any && !found.is_of_sort && count > 0 {
                let all = |is: IsOfKind| (0..count).all(|record| texts.get(record).is_ok_and(is));
                if let Some(kind) = seeming_kind(all) {
                    doubts.push(Doubt::Kind(found.shown(), kind));
                }
            }
            let is_by_itself =
                found.order.reading == Reading::Any && matches!(dialect.fields, Fields::Blanks(_));
            if is_by_itself && !dialect.comments && lines.iter().any(|line| line.starts_with(b"#")) {
                doubts.push(Doubt::Comments);
            }
            let commas = |line: &&[u8]| memchr::memchr_iter(b',', line).count();
            let first = lines.first().map_or(0, commas);
            if is_by_itself && first > 1 && lines.len() > 1 && lines.iter().all(|line| commas(line) == first)
            {
                doubts.push(Doubt::Commas);
            }
        }
        doubts.dedup();
        doubts
    }

    /// Reads the rows of all inputs, in parallel; of these keys as text.
    fn read(&self, bodies: &[Body], texts: &[bool]) -> Result<Vec<RowPart>, Problem> {
        let size = self.piece.unwrap_or_else(|| piece_size(self.text.bytes.len()));
        let mut pieces = Vec::new();
        for (body, _) in bodies {
            let of_body = rows::pieces(&self.text.bytes[..=body.end], body.clone(), self.fields, size);
            pieces.extend(of_body.into_iter().map(|piece| (body, piece)));
        }
        let read = |body: &Range<usize>, start, until: usize| {
            let bytes = &self.text.bytes[..=body.end];
            let numbers = self.numbers.filter(|_| !texts.contains(&true));
            match numbers.map(|per_line| self.read_numbers(bytes, start..until, per_line)) {
                Some(Ok(part)) => Ok(part),
                Some(Err(problem)) if self.fields.are_tokens() => Err(problem),
                _ => self.read_part(bytes, start, until, texts),
            }
        };
        let parts: Vec<Result<RowPart, Problem>> =
            map_parts(pieces.clone(), |(body, piece)| read(body, piece.start, piece.end));
        let mut right: Vec<RowPart> = Vec::with_capacity(parts.len());
        let (mut rows, mut next) = (0, 0);
        for ((body, piece), part) in pieces.into_iter().zip(parts) {
            if piece.start == body.start {
                next = piece.start;
            }
            let part = if piece.start == next { part } else { read(body, next, piece.end) };
            let part = part?;
            next = part.end;
            rows += part.rows() as u64;
            right.push(part);
        }
        if u32::try_from(rows).is_err() {
            return Err(Problem(0, Wrong::TooMany(rows)));
        }
        Ok(right)
    }

    /// Reads parts again that were read as numbers where these keys are text.
    fn read_as_text(&self, parts: &mut [RowPart], bodies: &[Body], texts: &[bool]) -> Result<(), Problem> {
        let is_other = |part: &&mut RowPart| {
            part.columns.iter().zip(texts).any(|(column, &is_text)| is_text && !column.is_of_texts())
        };
        let again = map_parts(parts.iter_mut().filter(is_other), |part| {
            let end = bodies.iter().find(|(body, _)| part.start <= body.end).map_or(0, |(body, _)| body.end);
            *part = self.read_part(&self.text.bytes[..=end], part.start, part.end, texts)?;
            Ok(())
        });
        again.into_iter().collect()
    }

    /// Reads a piece of text, or of lines that are numbers and nothing else.
    fn read_numbers(&self, bytes: &[u8], piece: Range<usize>, per_line: PerLine) -> Result<RowPart, Problem> {
        const TOKEN: usize = 8;
        if u32::try_from(piece.len()).is_err() {
            return Err(Problem(piece.start, Wrong::Row("a line is longer than 4 GiB".to_owned())));
        }
        let guess = piece.len() / TOKEN;
        let mut column = Column::new(&self.keys[0], false, guess);
        let mut ranges = Vec::with_capacity(if self.has_ranges { guess } else { 0 });
        let part = self.text.parts.iter().find(|part| part.range.start == piece.start);
        let begun = part.and_then(|part| part.before).is_some_and(|before| before.begun);
        let slice = &bytes[piece.clone()];
        let (mut tokens, mut counts) = (Tokens::per_line(slice, per_line, begun), Counts::default());
        let read = if self.has_ranges {
            // The line end of a line is a part of it.
            let more = usize::from(!self.fields.are_tokens());
            let keep = |start: usize, end: usize| {
                ranges.push(piece::Range::new(start as u32, (end + more) as u32));
            };
            column.push_tokens(&mut tokens, slice, piece.start, &mut counts, keep)
        } else {
            column.push_tokens(&mut tokens, slice, piece.start, &mut counts, |_, _| {})
        };
        read.map_err(|(at, refused)| {
            Problem(at, refused.map_or(Wrong::Several, |refused| Wrong::Field(0, refused)))
        })?;
        counts.comments = tokens.comments;
        let (Range { start, end }, skipped) = (piece, Vec::new());
        Ok(RowPart { start, end, ranges, skipped, counts, columns: vec![column], seen: Vec::new() })
    }

    /// What is known of the types of the keys after these parts, where this many bytes were passed
    /// before.
    fn known_after(
        &self,
        parts: &[RowPart],
        known: &[Inference<(u64, Spot)>],
        passed: u64,
    ) -> Vec<Inference<(u64, Spot)>> {
        let of_key = |key: usize| {
            let inferences = parts.iter().map(|part| part.columns[key].inference.clone());
            let Found { element, order, .. } = &self.keys[key];
            let new = inferences.fold(Inference::new(*element, *order), Inference::merge);
            let before = known.get(key).cloned().unwrap_or_else(|| Inference::new(*element, *order));
            let new = new.beyond(&before).at(|row| (passed + row as u64, self.spot(row, key)));
            before.merge(new)
        };
        (0..self.keys.len()).map(of_key).collect()
    }

    /// Reads the rows that begin at or after `start` and before `until`; of these keys as text.
    fn read_part(
        &self,
        bytes: &[u8],
        start: usize,
        until: usize,
        texts: &[bool],
    ) -> Result<RowPart, Problem> {
        const ROW: usize = 32;
        let guess = until.saturating_sub(start) / ROW;
        let column = |(key, is_text): (&Found, &bool)| Column::new(key, *is_text, guess);
        let columns = self.keys.iter().zip(texts).map(column).collect();
        let (ranges, skipped, counts) = (Vec::with_capacity(guess), Vec::new(), Counts::default());
        let is_json = self.fields == Fields::Json;
        let seen = if is_json { vec![false; self.keys.len()] } else { Vec::new() };
        let mut part = RowPart { start, end: start, ranges, skipped, counts, columns, seen };
        let mut places = vec![0..0; self.keys.len()];
        let are_lines = self.fields.are_of_lines();
        let of_line = |key: &Found| key.column.map_or(self.fields.of_lines(), |_| self.fields);
        let fields_of: Vec<Fields> = self.keys.iter().map(of_line).collect();
        let skips_invalid = self.keys.iter().any(|key| key.order.skips_invalid());
        while part.end < until {
            let at = part.end;
            let wrong = |problem| Problem(at, Wrong::Row(problem));
            if !self.fields.keep_blank_lines() && self.columns != 1 && line_end(&bytes[at..]) > 0 {
                part.counts.blank += 1;
                part.end += line_end(&bytes[at..]);
                continue;
            }
            let (next, count) =
                self.divide(bytes, at, &mut places).ok_or_else(|| wrong(UNCLOSED.to_owned()))?;
            part.end = next;
            if self.columns != count && !are_lines {
                let fields = if count == 1 { "field" } else { "fields" };
                return Err(wrong(format!("{count} {fields}, but the first row has {}", self.columns)));
            }
            let unfit = if is_json {
                (count == 0).then(|| at..self.fields.end_of_line(bytes, at, next))
            } else {
                self.fields.comment(bytes, at)
            };
            for (seen, place) in part.seen.iter_mut().zip(&places) {
                *seen |= unfit.is_some() || !place.is_empty();
            }
            let field = |key: usize| Field {
                bytes,
                start,
                place: &places[key],
                fields: fields_of[key],
                unfit: unfit.as_ref(),
                row: at,
            };
            if skips_invalid {
                let mut invalid = 0;
                for key in 0..self.keys.len() {
                    let field = field(key);
                    let value = field.value().into_owned();
                    if !self.keys[key].is_valid_as(&field, &value) {
                        part.counts.note_invalid(&value);
                        invalid += 1;
                    }
                }
                if invalid > 0 {
                    part.counts.invalid += invalid;
                    part.counts.skipped += 1;
                    part.skipped.push(part.rows() as u32);
                    continue;
                }
            }
            let offset = |at: usize| u32::try_from(at - start);
            let too_long = |_| wrong("a row is longer than 4 GiB".to_owned());
            let (begin, end) = (offset(at).map_err(too_long)?, offset(next).map_err(too_long)?);
            for (key, column) in part.columns.iter_mut().enumerate() {
                match column.push(&field(key), &mut part.counts) {
                    Ok(()) => {}
                    Err(NotAdded::Refused(refused)) => return Err(Problem(at, Wrong::Field(key, refused))),
                    Err(NotAdded::TooLong) => return Err(wrong("a key is longer than 2 GiB".to_owned())),
                    Err(NotAdded::IsText) => {
                        let mut texts = texts.to_vec();
                        texts[key] = true;
                        return self.read_part(bytes, start, until, &texts);
                    }
                }
            }
            part.ranges.push(piece::Range::new(begin, end));
        }
        Ok(part)
    }

    /// The places of the keys in the row that begins here, where the next one begins, and how many
    /// fields there are; `None` if it has no end.
    #[allow(clippy::inline_always, reason = "as a call it takes twice as long")]
    #[inline(always)]
    fn divide(&self, bytes: &[u8], at: usize, places: &mut [Range<usize>]) -> Option<(usize, usize)> {
        if self.fields.are_of_lines() {
            // A field that a line lacks is empty.
            places.fill(0..0);
        }
        let mut read = None;
        for division in &self.divisions {
            let found = division.find(bytes, at, places);
            read = read.or(found);
        }
        let (next, _) = read?;
        for &key in &self.whole {
            places[key] = at..self.fields.end_of_line(bytes, at, next);
        }
        read
    }

    /// The field of a key in the row at this offset, for a message.
    fn token(&self, row: usize, key: usize) -> Vec<u8> {
        let bytes = &self.text.bytes;
        if self.fields.are_tokens() {
            return token_at(bytes, row).to_vec();
        }
        let is_text = self.keys[key].order.reading.text().is_some();
        if let Some(comment) = self.fields.comment(bytes, row).filter(|_| !is_text) {
            return trimmed(&bytes[comment]).to_vec();
        }
        let mut places = vec![0..0; self.keys.len()];
        if self.divide(bytes, row, &mut places).is_none() {
            return Vec::new();
        }
        let place = places.swap_remove(key);
        if self.keys[key].column.is_none() {
            bytes[place].to_vec()
        } else {
            self.fields.value(&bytes[place]).into_owned()
        }
    }

    /// The same with its place.
    fn spot(&self, row: usize, key: usize) -> Spot {
        let column = Some(self.keys[key].shown()).filter(|_| self.fields != Fields::Tokens);
        Spot { place: self.place(row), column, token: self.token(row, key) }
    }

    /// The place of a row, for a message: that of a token has a column.
    fn place(&self, row: usize) -> String {
        if self.fields.are_tokens() { self.text.place(row) } else { self.text.line(row) }
    }

    /// Whether the line of a token has several, where it may have one.
    fn has_several(&self, row: usize) -> bool {
        let is_one =
            self.fields.are_tokens() && self.numbers.is_some_and(|per_line| per_line != PerLine::Any);
        is_one && Tokens::new(self.text.line_around(row)).nth(1).is_some()
    }

    /// The error about a line of JSON, if it is damaged.
    fn damage(&self, row: usize) -> Option<Error> {
        let (paths, bytes) = (self.divisions[0].paths.as_ref()?, &self.text.bytes);
        let Damage { at, problem } = paths.find(bytes, row, &mut vec![0..0; self.keys.len()]).err()?;
        // One that goes on on the next line.
        let is_open = bytes.get(at) == Some(&b'\n');
        let hint = match bytes[row] {
            b'[' if is_open => Hint::Through(json::OF_ARRAY),
            b'{' if is_open => Hint::Through(json::OF_OBJECTS),
            _ => Hint::Invalid,
        };
        let place = format!("{}:{}", self.text.line(row), at - row + 1);
        Some(Error::input(place, format!("invalid JSON: {problem}")).hinting(hint))
    }

    fn error(&self, Problem(row, wrong): Problem) -> Error {
        match wrong {
            Wrong::Row(problem) => Error::input(self.place(row), problem),
            Wrong::TooMany(rows) => Error::limit("records in one sort", rows, u32::MAX.into()),
            Wrong::Several => several(self.text.place(row)),
            Wrong::Field(..) if self.has_several(row) => several(self.text.place(row)),
            Wrong::Field(key, refused) => {
                let damage = if refused == Refused::Json { self.damage(row) } else { None };
                damage.unwrap_or_else(|| refused.into_error(self.spot(row, key)))
            }
        }
    }
}

/// Whether a text is of some kind.
type IsOfKind = fn(&[u8]) -> bool;

/// The kind of which all of these texts seem to be, in whose order text is not: numbers, where they
/// are percentages.
fn seeming_kind(all: impl Fn(IsOfKind) -> bool) -> Option<Kind> {
    fn is_size(text: &[u8]) -> bool {
        super::size::size(text).is_some_and(|(_, length)| length == text.len())
    }
    fn is_duration(text: &[u8]) -> bool {
        super::duration::duration(text).is_some()
    }
    fn is_version(text: &[u8]) -> bool {
        let numbers = text.strip_prefix(b"v").unwrap_or(text).split(|&byte| byte == b'.');
        numbers.clone().count() > 1
            && numbers.into_iter().all(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
    }
    fn is_date(text: &[u8]) -> bool {
        let has_year = |parts: [&[u8]; 3]| parts.iter().any(|part| part.len() == 4);
        super::time::parts_of_date(text, b"/.-").is_some_and(has_year)
    }
    fn is_percent(text: &[u8]) -> bool {
        text.strip_suffix(b"%").is_some_and(|number| super::number::spelled(number).is_some())
    }
    let kinds: [(IsOfKind, Kind); 5] = [
        (is_size, Kind::Size),
        (is_duration, Kind::Duration),
        (is_date, Kind::Time),
        (is_version, Kind::Version),
        (is_percent, Kind::Number),
    ];
    kinds.into_iter().find_map(|(is, kind)| all(is).then_some(kind))
}
