//! Reads records as text, batch by batch, with keys that hold until the last merge.
//!
//! ```text
//! inputs ── Chunks ──> Text ── pieces, on all cores ──> ranges of records, keys
//! ```
//!
//! A batch ends before the first wrong record; the next call returns its error.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use gpusort_order::key::{KeyMap, KeyWords};

use super::binary::BinaryInput;
use super::chunks::Chunks;
use super::csv::{self, Dialect, Fields, KeySpec, Known, Later};
use super::infer::Inference;
use super::keys::{self, Keys, RecordKey};
use super::number::PerLine;
use super::packing::{self, Numbers, Words};
use super::print;
#[cfg(feature = "distributed")]
use super::records::Print;
use super::records::{ahead, touch};
use super::source::{Input, Spot, Text};
use super::texts::ties::Ties;
use crate::error::{Error, Hint};
use crate::human::quoted;
use crate::io::counts::{Counts, Doubt};
use crate::io::piece::{Bytes, Piece, Range};
use crate::key_buf::{KeyBuf, KeyWidth};
use crate::memory::prefetch;
use crate::order::{KeyOrder, Reading};
use crate::parallel;
use crate::parallel::lock;
use crate::runs::Budget;

/// The common format of all inputs.
#[derive(Clone, Debug)]
pub enum InputKind {
    /// Numbers separated by white space.
    Text(PerLine),
    /// Rows of a table.
    Table(Dialect),
    /// Binary elements, with the source for each input.
    Bits(Vec<BinaryInput>),
}

impl InputKind {
    /// How records are divided into fields, and tokens of text into lines.
    pub(crate) fn divided(&self) -> (Dialect, Option<PerLine>) {
        let tokens = Dialect { fields: Fields::Tokens, header: 0, comments: false };
        match self {
            Self::Table(dialect) => (*dialect, None),
            Self::Text(per_line) => (tokens, Some(*per_line)),
            Self::Bits(_) => (tokens, None),
        }
    }
}

/// The format of inputs and the order of their records.
#[derive(Clone, Debug)]
pub struct InputSpec {
    /// The common format.
    pub kind: InputKind,
    /// The order and the requested type; for tables, also the columns.
    pub by: KeySpec,
}

/// How much is read at once, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Stretches {
    /// The most that is in memory, but for longer records.
    pub most: usize,
    /// The size of a piece that one core reads, if not the default.
    pub piece: Option<usize>,
}

impl Default for Stretches {
    /// Large enough that all cores are busy, and small enough that the same memory is taken again
    /// each time.
    fn default() -> Self {
        Self { most: 8 << 20, piece: None }
    }
}

/// Records of a part of what is read, in the order of their input.
pub(crate) struct Keyed {
    pub(crate) pieces: Vec<Piece>,
    /// What comes before the records.
    pub(crate) head: Vec<u8>,
    pub(crate) counts: Counts,
    pub(crate) doubts: Vec<Doubt>,
    numbers: Vec<Numbers>,
}

impl Keyed {
    /// Reads a part of a text, of which nothing comes later if it is the last. If records are left
    /// out, each of the others has its position in that part.
    pub(crate) fn read(
        text: Text,
        how: &InputSpec,
        known: &mut Known,
        ahead: &Ahead,
        is_last: bool,
    ) -> Result<Self, Error> {
        // In runs nulls are the same, whatever their column is.
        let texts: &dyn Fn(usize) -> bool = &|key| ahead.is_text(key);
        let decimals: &dyn Fn(usize) -> Result<bool, Error> = &|key| ahead.decimals(key);
        let later = Later {
            decimals: ahead.is_settled().then_some(decimals),
            texts: Some(texts),
            nulls_are_open: true,
            is_last: is_last && ahead.shared.is_none(),
        };
        let read = csv::read_batch(&Arc::new(text), how.kind.divided(), &how.by, known, None, true, later)?;
        if let Some(wrong) = read.wrong {
            return Err(wrong);
        }
        let csv::Batch { mut pieces, skipped, head, counts, doubts, numbers, .. } = read;
        if counts.skipped > 0 {
            let mut first = 0;
            for (piece, skipped) in pieces.iter_mut().zip(&skipped) {
                let all = (piece.keys.len() + skipped.len()) as u64;
                let mut skipped = skipped.iter().map(|&at| u64::from(at)).peekable();
                let kept = (0..all).filter(|at| skipped.next_if_eq(at).is_none());
                piece.positions = kept.map(|at| first + at).collect();
                first += all;
            }
        }
        pieces.retain(|piece| piece.len() > 0);
        Ok(Self { pieces, head, counts, doubts, numbers })
    }

    /// Numbers without records, of text, or elements of binary inputs with words that are in order
    /// as they are.
    pub(crate) fn of_numbers(keys: &KeyBuf, map: KeyMap, rules: KeyOrder, is_text: bool) -> Self {
        let pieces = vec![Piece::of_keys(keys, map, rules, is_text)];
        let unit = (is_text && !map.element.is_float()).then_some(1);
        let order = KeyOrder { descending: map.descending, ..rules };
        let numbers = vec![Numbers { order, unit, zero: 0 }];
        let (head, counts, doubts) = (Vec::new(), Counts::default(), Vec::new());
        Self { pieces, head, counts, doubts, numbers }
    }

    /// The same, of which each is a record: its number, printed so.
    #[cfg(feature = "distributed")]
    pub(crate) fn printed(mut self, print: Print, descending: bool) -> Self {
        self.pieces.iter_mut().for_each(|piece| piece.bytes = Bytes::Printed(print, descending));
        self
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.pieces.iter().map(Piece::records).sum()
    }

    /// The words to sort by, of which the next decides where those before it are equal, and what is
    /// to be settled where all are.
    ///
    /// # Errors
    ///
    /// Texts that are too long.
    pub(crate) fn words(&self) -> Result<Words<'_>, Error> {
        let keys = self.pieces.iter().map(|piece| Cow::Borrowed(&piece.keys));
        packing::words(keys.collect(), &self.numbers)
    }

    /// The same, made of the keys themselves if nothing is to be settled.
    ///
    /// # Errors
    ///
    /// Texts that are too long.
    pub(crate) fn take_words(&mut self) -> Result<Words<'static>, Error> {
        let take = |piece: &mut Piece| Cow::Owned(std::mem::replace(&mut piece.keys, Keys::new(1)));
        if self.pieces.iter().any(|piece| piece.keys.have_texts()) {
            let views: Vec<&Keys> = self.pieces.iter().map(|piece| &piece.keys).collect();
            let words = packing::coded(&views, &self.numbers)?;
            if words.ties.is_none() {
                self.pieces.iter_mut().map(take).for_each(drop);
            }
            return Ok(words);
        }
        packing::words(self.pieces.iter_mut().map(take).collect(), &self.numbers)
    }

    /// Settles the order of the records, which is that of these words.
    pub(crate) fn settle(&self, ties: &Ties, order: &mut Vec<u32>, words: &[KeyBuf], unique: bool) {
        let zeros: Vec<u128> = self.numbers.iter().map(|numbers| numbers.zero).collect();
        ties.settle(order, words, &self.pieces, &zeros, unique);
    }

    /// The key of a record.
    pub(crate) fn key(&self, number: u32) -> RecordKey {
        let (piece, record) = Places::of(&self.pieces).find(number);
        piece.keys.key(record)
    }

    /// The key of a record as bytes that compare as keys do: an integer −0 as what it is here.
    #[cfg(feature = "distributed")]
    pub(crate) fn row(&self, number: u32) -> Vec<u8> {
        let (piece, record) = Places::of(&self.pieces).find(number);
        let mut row = Vec::new();
        for (key, numbers) in self.numbers.iter().enumerate().take(piece.keys.each()) {
            match piece.keys.texts(key) {
                None if piece.keys.word(record, key) == keys::MINUS_ZERO => {
                    row.extend_from_slice(&numbers.zero.to_be_bytes());
                }
                None => row.extend_from_slice(&piece.keys.word(record, key).to_be_bytes()),
                Some(texts) => texts.push_key(record, &mut row),
            }
        }
        row
    }

    /// The ranges of the records in their text, sorted in place of positions: then no range has to
    /// be looked up. `None` where there are several words, since those sort positions, or more
    /// text than 32 bits count.
    pub(crate) fn take_places(&mut self, words: &[KeyBuf]) -> Option<KeyBuf<'static>> {
        let Some(Piece { bytes: Bytes::Of { text, .. }, .. }) = self.pieces.first() else { return None };
        if words.len() != 1 || u32::try_from(text.bytes.len()).is_err() {
            return None;
        }
        let places = parallel::map_parts(&mut self.pieces, |piece| match &mut piece.bytes {
            Bytes::Of { start, ranges, .. } => {
                let base = Range::new(*start as u32, *start as u32).0;
                // Where the ranges were.
                std::mem::take(ranges).into_iter().map(|Range(range)| range + base).collect::<Vec<u64>>()
            }
            _ => Vec::new(),
        });
        Some(places.into())
    }

    /// Writes the bytes of the records at these places, in this order, after what comes before all
    /// of them.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(crate) fn write_places(
        &self,
        places: &[u64],
        to: &mut impl Write,
        progress: impl FnMut(u64),
    ) -> io::Result<()> {
        to.write_all(&self.head)?;
        let Some(first) = self.pieces.first() else { return Ok(()) };
        let Bytes::Of { text, .. } = &first.bytes else { return Ok(()) };
        // Where inputs end, and what is to end a last record there.
        let mut ends: Vec<(usize, &Piece)> =
            self.pieces.iter().filter_map(|piece| Some((piece.end()?, piece))).collect();
        ends.dedup_by_key(|(end, _)| *end);
        let expected = text.bytes.len() / places.len().max(1) + 1;
        print::write(places, expected, to, progress, |places, lines| {
            let places = places.iter().map(|&place| (Range(place).begin(), Range(place)));
            touch(&text.bytes, expected, places, |place| {
                let input = ends.partition_point(|&(end, _)| end < place.begin());
                ends[input].1.push_range(text, [place.begin(), place.end()], lines);
            });
        })
    }

    /// Whether any key is an integer −0 of which nobody knows what it is.
    pub(crate) fn have_minus_zeros(&self) -> bool {
        self.pieces.iter().any(|piece| piece.keys.have_minus_zeros())
    }

    /// Writes the bytes of these records, in this order, after what comes before all of them.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(crate) fn write(
        &self,
        order: &[u32],
        to: &mut impl Write,
        progress: impl FnMut(u64),
    ) -> io::Result<()> {
        to.write_all(&self.head)?;
        let records = Places::of(&self.pieces);
        print::write(order, records.length(), to, progress, |order, lines| {
            records.each(order, |piece, record, _| piece.push(record, lines));
        })
    }

    /// The positions of these records among all that were read.
    pub(crate) fn positions(&self, mut order: Vec<u32>) -> Vec<u32> {
        let records = Places::of(&self.pieces);
        for number in &mut order {
            let (piece, record) = records.find(*number);
            *number = piece.positions.get(record).map_or(*number, |&position| position as u32);
        }
        order
    }

    /// The keys of the elements of this type that the only key of each record is.
    pub(crate) fn elements(&self, map: KeyMap) -> KeyBuf<'static> {
        fn of<W: KeyWidth>(all: &Keyed, map: KeyMap) -> KeyBuf<'static> {
            let of_word = W::map(map);
            let of_piece = |piece: &Piece| {
                let mut keys = Vec::with_capacity(piece.len());
                piece.keys.for_each(0, all.numbers[0].zero, |word| {
                    keys.push(W::of_u64(keys::bits(word, map.descending, map.element)).key(of_word));
                });
                keys
            };
            parallel::map_parts(&all.pieces, of_piece).into()
        }
        match map.element.key_words() {
            KeyWords::One => of::<u32>(self, map),
            KeyWords::Two => of::<u64>(self, map),
        }
    }
}

/// Where records are that are known by their numbers among all of some pieces.
pub(crate) struct Places<'a> {
    pieces: &'a [Piece],
    /// The number of the first record of each piece.
    begins: Vec<u32>,
    /// The piece of each [`STEP`]th record.
    steps: Vec<u32>,
    count: usize,
}

/// Pieces have more records, mostly.
const STEP: usize = 1 << 10;

impl<'a> Places<'a> {
    pub(crate) fn of(pieces: &'a [Piece]) -> Self {
        let (mut begins, mut steps, mut count) = (Vec::with_capacity(pieces.len()), Vec::new(), 0);
        for (number, piece) in (0..).zip(pieces) {
            begins.push(count as u32);
            count += piece.records();
            while steps.len() * STEP < count {
                steps.push(number);
            }
        }
        Self { pieces, begins, steps, count }
    }

    /// The piece of a record, and its number there.
    #[inline]
    pub(crate) fn find(&self, number: u32) -> (&'a Piece, usize) {
        let (piece, record) = self.at(number);
        (&self.pieces[piece], record)
    }

    /// The number of the piece of a record, and its own there.
    #[inline]
    pub(super) fn at(&self, number: u32) -> (usize, usize) {
        let mut piece = self.steps[number as usize / STEP] as usize;
        while self.begins.get(piece + 1).is_some_and(|&next| next <= number) {
            piece += 1;
        }
        (piece, (number - self.begins[piece]) as usize)
    }

    /// Passes these records to `take`: the piece of each, its number there, and that among all. Its
    /// key and its bytes were asked for some time before.
    pub(crate) fn each(&self, order: &[u32], mut take: impl FnMut(&'a Piece, usize, u32)) {
        let found = ahead(order.iter().map(|&number| {
            let (piece, record) = self.find(number);
            prefetch(piece.ranges(), record);
            piece.keys.prefetch(record);
            (piece, record, number)
        }));
        let Some(Piece { bytes: Bytes::Of { text, .. }, .. }) = self.pieces.first() else {
            return found.for_each(|(piece, record, number)| take(piece, record, number));
        };
        let places = found.map(|found| (found.0.range(found.1)[0], found));
        touch(&text.bytes, self.length(), places, |(piece, record, number)| take(piece, record, number));
    }

    /// About how many bytes a record has.
    pub(crate) fn length(&self) -> usize {
        let all = self.pieces.iter().map(|piece| piece.length(0, piece.records())).sum::<usize>();
        all / self.count.max(1) + 1
    }
}

/// What columns of the inputs are, found by reading ahead when first needed.
pub(crate) struct Ahead<'a> {
    inputs: &'a [Input],
    how: &'a InputSpec,
    found: Mutex<Option<Box<Known>>>,
    /// What is known of the keys, in one of several processes, where nobody can read ahead.
    shared: Option<Vec<csv::Settled>>,
}

impl<'a> Ahead<'a> {
    pub(crate) fn new(inputs: &'a [Input], how: &'a InputSpec) -> Self {
        Self { inputs, how, found: Mutex::new(None), shared: None }
    }

    /// The same in one of several processes, which know this of the keys: nothing at first.
    #[cfg(feature = "distributed")]
    pub(crate) fn shared(self, settled: Vec<csv::Settled>) -> Self {
        Self { shared: Some(settled), ..self }
    }

    /// What several processes know of a key, if there are several.
    fn settled(&self, key: usize) -> Option<csv::Settled> {
        self.shared.as_ref().map(|settled| settled.get(key).copied().unwrap_or_default())
    }

    /// Whether it is settled what −0 is.
    fn is_settled(&self) -> bool {
        self.shared.as_ref().is_some_and(|settled| !settled.is_empty())
    }

    /// The inputs.
    pub(crate) fn inputs(&self) -> &'a [Input] {
        self.inputs
    }

    /// Whether a key has decimals: reads all inputs from the beginning, up to the first error.
    pub(super) fn decimals(&self, key: usize) -> Result<bool, Error> {
        if let Some(settled) = self.settled(key) {
            return Ok(settled.is_float);
        }
        if let Some(stdin) = self.inputs.iter().find(|input| !input.can_be_read_again()) {
            let problem = "-0 equals 0 among integers but not among decimals, and this input cannot be read twice \
                           to find out which it has";
            let error = Error::input(stdin.name(), problem);
            // A type would not say that they are sizes.
            let is_size = self.how.by.order.reading == Reading::Sizes;
            return Err(if is_size { error } else { error.hinting(Hint::Type) });
        }
        Ok(self.is(key, Inference::is_float))
    }

    /// Whether a key is text, if that can be found.
    pub(super) fn is_text(&self, key: usize) -> bool {
        if let Some(settled) = self.settled(key) {
            return settled.is_text;
        }
        self.inputs.iter().all(Input::can_be_read_again) && self.is(key, Inference::is_text)
    }

    fn is(&self, key: usize, what: fn(&Inference<(u64, Spot)>) -> bool) -> bool {
        let mut found = lock(&self.found);
        let known = found.get_or_insert_with(|| {
            let budget = Budget::unlimited();
            let mut batches = Batches::new(self.inputs, self.how, &budget, Stretches::default());
            while batches
                .next(batches.stretches.most, &|_| Ok(false), None)
                .is_ok_and(|batch| batch.is_some())
            {}
            Box::new(batches.known)
        });
        known.columns.get(key).is_some_and(what)
    }
}

/// Reads inputs one after another.
pub(super) struct Batches<'a> {
    how: &'a InputSpec,
    chunks: Chunks<'a>,
    pub(super) stretches: Stretches,
    pub(super) known: Known,
    /// What comes before the records, if it was not taken.
    pub(super) head: Vec<u8>,
    pub(super) counts: Counts,
    wrong: Option<Error>,
    /// Whether an input cannot be read twice.
    is_read_once: bool,
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
    pub(super) fn new(
        inputs: &'a [Input],
        how: &'a InputSpec,
        budget: &'a Budget,
        stretches: Stretches,
    ) -> Self {
        let chunks = Chunks::new(inputs, how.kind.divided(), &how.by, budget);
        let (known, head, counts) = (Known::default(), Vec::new(), Counts::default());
        Self {
            how,
            chunks,
            stretches,
            known,
            head,
            counts,
            wrong: None,
            is_read_once: inputs.iter().any(|input| !input.can_be_read_again()),
            fetched: None,
            last: None,
            shut: false,
            has_ranges: false,
        }
    }

    /// The next records, of about so many bytes; `None` at the end. `decimals` says whether a key
    /// has decimals, if there is an integer −0, and `texts` whether one of nothing but empty
    /// fields, nan and inf is text; without it that stays open.
    ///
    /// # Errors
    ///
    /// What is wrong with the next record.
    pub(super) fn next(
        &mut self,
        most: usize,
        decimals: &dyn Fn(usize) -> Result<bool, Error>,
        texts: Option<&dyn Fn(usize) -> bool>,
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
        let (text, read) = self.read(text, decimals, texts)?;
        self.counts.add_all(&read.counts);
        self.head.extend_from_slice(&read.head);
        self.wrong = read.wrong;
        // Where records are merged, they are needed longer.
        self.last = (!self.has_ranges).then_some(text);
        let compared = |piece: Piece| Piece { keys: piece.keys.by_records(), ..piece };
        Ok(Some(parallel::map_parts(read.pieces, compared)))
    }

    /// Reads a text, and more of what cannot be read twice as long as there is nothing in a key but
    /// empty fields, nan and inf: whether these are text is told by what comes after them, however
    /// late it comes.
    fn read(
        &mut self,
        mut text: Text,
        decimals: &dyn Fn(usize) -> Result<bool, Error>,
        texts: Option<&dyn Fn(usize) -> bool>,
    ) -> Result<(Arc<Text>, csv::Batch), Error> {
        let (divided, by, piece) = (self.how.kind.divided(), &self.how.by, self.stretches.piece);
        loop {
            let waits =
                self.is_read_once && !self.chunks.is_over() && text.size() < self.stretches.most as u64;
            let before = waits.then(|| self.known.clone());
            let is_open = Cell::new(false);
            let told = |key: usize| {
                is_open.set(true);
                texts.is_some_and(|texts| texts(key))
            };
            let later = Later {
                decimals: Some(decimals),
                texts: texts.map(|_| &told as &dyn Fn(usize) -> bool),
                nulls_are_open: false,
                is_last: self.chunks.is_over() && !self.has_ranges,
            };
            let all = Arc::new(text);
            let read = csv::read_batch(&all, divided, by, &mut self.known, piece, self.has_ranges, later)?;
            let Some(before) = before.filter(|_| is_open.get() && read.wrong.is_none()) else {
                return Ok((all, read));
            };
            let next = self.chunks.some(self.stretches.most, self.shut)?.unwrap_or_default();
            text = all.followed_by(next);
            self.known = before;
        }
    }

    /// Has the text of the next records in memory. Whether it is nothing but blank lines, so that
    /// nobody knows of what columns.
    pub(super) fn fetch(&mut self, most: usize) -> Result<bool, Error> {
        if self.fetched.is_none() {
            self.fetched = self.chunks.some(most, self.shut)?;
        }
        let has_blank_lines = !self.how.kind.divided().0.fields.keep_blank_lines();
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

    /// Whether all is read, without an error to return.
    pub(super) fn is_over(&self) -> bool {
        self.wrong.is_none() && self.fetched.is_none() && self.chunks.is_over()
    }

    /// A record in messages, as [`shown`] has it.
    pub(super) fn shown(
        &self,
        piece: &Piece,
        record: usize,
        key: Option<usize>,
    ) -> Result<(String, Vec<String>), Error> {
        shown(piece, record, (self.how, &self.known), key)
    }
}

/// A record in messages: its place, with the column of `key` if there are several, and the token of
/// each key.
pub(crate) fn shown(
    piece: &Piece,
    record: usize,
    (how, known): (&InputSpec, &Known),
    key: Option<usize>,
) -> Result<(String, Vec<String>), Error> {
    let Bytes::Of { text, start, until, ranges, .. } = &piece.bytes else {
        let mut token = Vec::new();
        piece.push(record, &mut token);
        let token = String::from_utf8_lossy(token.trim_ascii_end()).into_owned();
        return Ok((String::new(), vec![token]));
    };
    let row = ranges.get(record).map_or_else(
        || csv::place_of_token(&text.bytes, *start..*until, record, record + 1 == piece.len()),
        |range| start + range.begin(),
    );
    let (place, tokens) = csv::shown(text, how.kind.divided().0.fields, &how.by, known, row, key)?;
    let of_token =
        |(key, token): (usize, &Vec<u8>)| shown_field(how.by.order, token, piece.keys.is_null(record, key));
    Ok((place, tokens.iter().enumerate().map(of_token).collect()))
}

/// The field of a key in messages.
fn shown_field(order: KeyOrder, field: &[u8], is_null: bool) -> String {
    let is_nan = !order.leading
        && order.reading != Reading::Times
        && matches!(field, [b'+' | b'-', nan @ ..] | nan if nan.eq_ignore_ascii_case(b"nan"));
    match field {
        [] if is_null => "an empty field".to_owned(),
        field if is_null && !is_nan => format!("{} (invalid)", quoted(field)),
        field => quoted(field),
    }
}
