//! The one reader of records as text: batch by batch, with keys that hold until the last merge.
//!
//! ```text
//! inputs ── bytes that are there ──> Text ── pieces, on all cores ──> ranges of records, keys
//! ```
//!
//! A batch ends before the first record that is wrong; the error comes next.

use std::sync::{Arc, Mutex, PoisonError};

use super::binary::Source;
use super::chunks::{Chunks, Form};
use super::csv::{self, By, Dialect, Fields, Known};
use super::infer::Inference;
use super::keys::{self, Keys};
use super::number::PerLine;
use super::records::Print;
use super::source::{Input, Text};
use crate::error::{Error, Hint};
use crate::io::counts::Counts;
use crate::key::KeyMap;
use crate::order::{KeyOrder, Reading};
use crate::runs::Budget;
use crate::words::{Block, Width, Words, by_width};

/// The common format of all inputs.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Numbers separated by white space.
    Text(PerLine),
    /// Rows of a table.
    Table(Dialect),
    /// Binary elements, with the source for each input.
    Bits(Vec<Source>),
}

impl Kind {
    /// How records are divided into fields; tokens of text have one each.
    pub(super) fn dialect(&self) -> Dialect {
        match self {
            Self::Table(dialect) => *dialect,
            _ => Dialect { fields: Fields::Tokens, header: false, comments: false },
        }
    }
}

/// The format of inputs and the order of their records.
#[derive(Clone, Debug)]
pub struct How {
    /// The common format.
    pub kind: Kind,
    /// The order and the requested type; for tables, also the columns.
    pub by: By,
}

/// How much is looked at together, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Stretches {
    /// The most that is in memory, but for longer records.
    pub most: usize,
    /// The size of a piece that one core reads, if it is not to be as is good for most.
    pub piece: Option<usize>,
}

impl Default for Stretches {
    /// Large enough that all cores are busy, and small enough that the same memory is taken again each time.
    fn default() -> Self {
        Self { most: 8 << 20, piece: None }
    }
}

/// Records that were read together, in the order of their input, of which those before `at` are done.
pub(crate) struct Piece {
    pub(crate) keys: Keys,
    pub(super) at: usize,
    /// The positions of the records, if they go with them.
    pub(crate) positions: Vec<u64>,
    pub(super) bytes: Bytes,
}

/// The bytes of records.
pub(crate) enum Bytes {
    /// There are none: the keys are all that is asked for.
    None,
    /// The number of the key, printed so.
    Printed(Print),
    /// Ranges of what was read of a run.
    Read { text: Vec<u8>, ranges: Vec<[usize; 2]> },
    /// Ranges of this text, which count from a place in it.
    Of {
        text: Arc<Text>,
        start: usize,
        until: usize,
        ranges: Vec<[u32; 2]>,
        /// Where the input ends, and what is to end a last record that has no line end; of tokens all need one.
        end: (usize, &'static [u8]),
        are_tokens: bool,
    },
}

impl Piece {
    /// Keys of numbers without bytes: of text those that stay, of binary the words themselves.
    pub(crate) fn of_keys(words: &Words, map: KeyMap, rules: KeyOrder, is_text: bool) -> Self {
        fn of<W: Width>(blocks: &[Block<W>], map: KeyMap, rules: KeyOrder, is_text: bool) -> Keys {
            let (mut keys, of_word) = (Keys::new(1), W::map(map));
            for &key in blocks.iter().flat_map(|block| block.iter()) {
                keys.push(&[if is_text {
                    keys::of_bits(key.bits(of_word).into(), map.element, map.descending, rules)
                } else {
                    keys::whole(key.into())
                }]);
            }
            keys
        }
        let keys = by_width!(words, blocks => of(blocks, map, rules, is_text));
        Self { keys, at: 0, positions: Vec::new(), bytes: Bytes::None }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Appends the bytes of a record, and what ends it.
    #[inline]
    pub(crate) fn push(&self, record: usize, to: &mut Vec<u8>) {
        /// Most records are shorter, which a few instructions copy.
        const WINDOW: usize = 64;
        let (text, begin, end) = match &self.bytes {
            Bytes::Of { text, start, ranges, end, are_tokens, .. } => {
                let [begin, after] = ranges[record].map(|at| start + at as usize);
                // An LF after a token ends it here, too.
                let has_end = *are_tokens && text.bytes[after] == b'\n';
                if *are_tokens && !has_end {
                    to.extend_from_slice(&text.bytes[begin..after]);
                    return to.push(b'\n');
                }
                if !*are_tokens && after > end.0 {
                    // The line end after the input only served to find the end of the row.
                    let row = &text.bytes[begin..after - 1];
                    to.extend_from_slice(row);
                    return to.extend_from_slice(csv::lacking_end(row, end.1));
                }
                (&text.bytes[..], begin, after + usize::from(has_end))
            }
            Bytes::Read { text, ranges } => (&text[..], ranges[record][0], ranges[record][1]),
            Bytes::None | Bytes::Printed(_) => return,
        };
        match text[begin..].first_chunk::<WINDOW>() {
            Some(window) if end - begin <= WINDOW => {
                let length = to.len() + end - begin;
                to.extend_from_slice(window);
                to.truncate(length);
            }
            _ => to.extend_from_slice(&text[begin..end]),
        }
    }

    /// How many bytes these records have, about.
    pub(crate) fn length(&self, from: usize, to: usize) -> usize {
        match &self.bytes {
            _ if from == to => 0,
            Bytes::Of { ranges, .. } => (ranges[to - 1][1] - ranges[from][0]) as usize + to - from,
            Bytes::Read { ranges, .. } => ranges[to - 1][1] - ranges[from][0],
            Bytes::None | Bytes::Printed(_) => 8 * (to - from),
        }
    }

    /// Keeps the first records.
    pub(super) fn truncate(&mut self, records: usize) {
        self.keys.truncate(records);
    }
}

/// Records of a part of what is read, in the order of their input.
pub(crate) struct Keyed {
    pub(crate) pieces: Vec<Piece>,
    /// What comes before the records.
    pub(crate) head: Vec<u8>,
    pub(crate) counts: Counts,
    pub(crate) doubtful_header: Option<String>,
    /// The word of an integer −0 of each key, if there are no decimals.
    pub(crate) zeros: Vec<u128>,
}

/// Reads a part of a text. If records are left out, each of the others has its number in that part.
pub(crate) fn read_part(text: Text, how: &How, known: &mut Known) -> Result<Keyed, Error> {
    let read = csv::read_batch(&text, &how.kind, &how.by, known, None, true, None)?;
    if let Some(wrong) = read.wrong {
        return Err(wrong);
    }
    let (mut number, are_some) = (0, read.pieces.iter().any(|piece| !piece.skipped.is_empty()));
    let mut pieces = pieces_of(&Arc::new(text), &how.kind, read.pieces, |piece: &csv::Piece| {
        let all = (piece.keys.len() + piece.skipped.len()) as u64;
        let mut skipped = piece.skipped.iter().map(|&at| u64::from(at)).peekable();
        let kept = (0..all).filter(|at| skipped.next_if_eq(at).is_none()).map(|at| number + at);
        let kept = if are_some { kept.collect() } else { Vec::new() };
        number += all;
        kept
    });
    pieces.retain(|piece| piece.len() > 0);
    let csv::Batch { head, counts, doubtful_header, zeros, .. } = read;
    Ok(Keyed { pieces, head, counts, doubtful_header, zeros })
}

/// Pieces of a text, with the positions of the records of each.
fn pieces_of(
    text: &Arc<Text>,
    kind: &Kind,
    pieces: Vec<csv::Piece>,
    mut positions: impl FnMut(&csv::Piece) -> Vec<u64>,
) -> Vec<Piece> {
    let are_tokens = kind.dialect().fields.are_tokens();
    let of_piece = |piece: csv::Piece| {
        let positions = positions(&piece);
        let csv::Piece { start, until, ranges, keys, end, .. } = piece;
        let bytes = Bytes::Of { text: text.clone(), start, until, ranges, end, are_tokens };
        Piece { keys, at: 0, positions, bytes }
    };
    pieces.into_iter().map(of_piece).collect()
}

/// Inputs, and whether there are decimals in their columns, if anybody had to ask.
pub(super) struct Ahead<'a> {
    inputs: &'a [Input],
    how: &'a How,
    found: Mutex<Option<Vec<bool>>>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(inputs: &'a [Input], how: &'a How) -> Self {
        Self { inputs, how, found: Mutex::new(None) }
    }

    /// Whether a key has decimals, as reading all inputs from the beginning finds, up to what is wrong.
    pub(super) fn decimals(&self, key: usize) -> Result<bool, Error> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*found {
            return Ok(found.get(key).copied().unwrap_or(false));
        }
        if let Some(stdin) = self.inputs.iter().find(|input| !input.can_be_read_again()) {
            let problem = "there is -0, which is 0 among integers and less than 0 among decimals, and this input \
                           cannot be read twice";
            let error = Error::input(stdin.name(), problem);
            // A type would not say that they are sizes.
            let is_size = self.how.by.order.reading == Reading::Sizes;
            return Err(if is_size { error } else { error.hinting(Hint::Type) });
        }
        let budget = Budget::unlimited();
        let mut batches = Batches::new(self.inputs, self.how, &budget, Stretches::default());
        while batches.next(batches.stretches.most, &|_| Ok(false)).is_ok_and(|batch| batch.is_some()) {}
        let all: Vec<bool> = batches.known.columns.iter().map(Inference::is_float).collect();
        Ok(found.insert(all).get(key).copied().unwrap_or(false))
    }
}

/// Reads inputs one after another.
pub(super) struct Batches<'a> {
    how: &'a How,
    chunks: Chunks<'a>,
    pub(super) stretches: Stretches,
    pub(super) known: Known,
    /// What comes before the records, if it was not taken.
    pub(super) head: Vec<u8>,
    pub(super) counts: Counts,
    wrong: Option<Error>,
    /// What was read and not looked at.
    fetched: Option<Text>,
    /// The text of the records that were given last.
    last: Option<Arc<Text>>,
    /// Whether files are open only while they are read.
    pub(super) shut: bool,
    /// Whether records are written, so that it is asked where they are.
    pub(super) has_ranges: bool,
}

impl<'a> Batches<'a> {
    pub(super) fn new(inputs: &'a [Input], how: &'a How, budget: &'a Budget, stretches: Stretches) -> Self {
        let form = match how.kind {
            Kind::Text(per_line) => Form::Tokens(per_line),
            _ => Form::Rows(how.kind.dialect()),
        };
        let chunks = Chunks::new(inputs, form, how.by.columns.len(), budget);
        let (known, head, counts) = (Known::default(), Vec::new(), Counts::default());
        Self {
            how,
            chunks,
            stretches,
            known,
            head,
            counts,
            wrong: None,
            fetched: None,
            last: None,
            shut: false,
            has_ranges: false,
        }
    }

    /// The next records, of about so many bytes; `None` at the end. `decimals` says whether a key has decimals, if there is an
    /// integer −0.
    ///
    /// # Errors
    ///
    /// What is wrong with the next record.
    pub(super) fn next(
        &mut self,
        most: usize,
        decimals: &dyn Fn(usize) -> Result<bool, Error>,
    ) -> Result<Option<Vec<Piece>>, Error> {
        if let Some(wrong) = self.wrong.take() {
            self.chunks.end();
            return Err(wrong);
        }
        if let Some(text) = self.last.take().and_then(Arc::into_inner) {
            self.chunks.recycle(text);
        }
        self.fetch(most)?;
        let Some(text) = self.fetched.take() else { return Ok(None) };
        let read = csv::read_batch(
            &text,
            &self.how.kind,
            &self.how.by,
            &mut self.known,
            self.stretches.piece,
            self.has_ranges,
            Some(decimals),
        )?;
        self.counts = self.counts.and(read.counts);
        self.head.extend_from_slice(&read.head);
        self.wrong = read.wrong;
        let text = Arc::new(text);
        // Where records are merged, they are needed longer.
        self.last = (!self.has_ranges).then(|| text.clone());
        Ok(Some(pieces_of(&text, &self.how.kind, read.pieces, |_| Vec::new())))
    }

    /// Has the text of the next records in memory. Whether it is nothing but blank lines, so that nobody knows of what columns.
    pub(super) fn fetch(&mut self, most: usize) -> Result<bool, Error> {
        if self.fetched.is_none() {
            let shut = self.shut;
            let opens = |input: &Input| if shut { input.open_to_read() } else { input.open() };
            self.fetched = self.chunks.some(most, &opens)?;
        }
        let has_blank_lines = !self.how.kind.dialect().fields.are_of_lines();
        Ok(has_blank_lines && self.fetched.as_ref().is_none_or(|text| !text.has_more_than_blank_lines()))
    }

    /// Whether reading never waits for others.
    pub(super) fn is_ready(&self) -> bool {
        self.chunks.is_ready()
    }

    /// Bytes read so far.
    pub(super) fn passed(&self) -> u64 {
        self.chunks.bytes
    }

    /// Whether nothing more is read after what is wrong now.
    pub(super) fn is_over(&self) -> bool {
        self.wrong.is_none() && self.fetched.is_none() && self.chunks.is_over()
    }

    /// What each key of a record is in messages; and of which place that is, with the column if there are several, if this key is
    /// asked for.
    pub(super) fn shown(
        &self,
        piece: &Piece,
        record: usize,
        key: Option<usize>,
    ) -> Result<(String, Vec<String>), Error> {
        let Bytes::Of { text, start, until, ranges, .. } = &piece.bytes else {
            return Ok(Default::default());
        };
        let row = ranges.get(record).map_or_else(
            || csv::place_of_token(&text.bytes, *start..*until, record, record + 1 == piece.len()),
            |&[begin, _]| start + begin as usize,
        );
        let (place, tokens) = csv::shown(text, &self.how.kind, &self.how.by, &self.known, row, key)?;
        let nulls = piece.keys.at(record).map(keys::is_null);
        Ok((
            place,
            tokens
                .iter()
                .zip(nulls)
                .map(|(token, is_null)| self.how.by.order.shown(token, is_null))
                .collect(),
        ))
    }
}
