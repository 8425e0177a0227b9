//! Reads inputs in parts that fit a budget; usually the first part is the whole input.

use std::thread;
use std::time::Duration;

use gpusort_order::ElementType;

use super::dataset::{Content, Dataset, count};
use super::progress::{Phase, Watch};
use gpusort_base::clock::{Instant, timed};
use gpusort_base::error::Error;
use gpusort_base::parallel::{self, Meanwhile};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_formats::batch::KeyedBatch;
use gpusort_formats::budget::Budget;
use gpusort_formats::chunks::Chunks;
use gpusort_formats::fields::Groups;
use gpusort_formats::records::PrintedNumbers;
use gpusort_formats::text::BLOCK;
use gpusort_formats::{Counts, Input, InputKind, InputSpec, Print, binary, fields, numbers};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Inputs, read in parts.
pub(super) struct Parts<'a> {
    inputs: &'a [Input],
    pub(super) how: &'a InputSpec,
    /// The limit on memory.
    pub(super) budget: &'a Budget,
    watch: &'a Watch<'a>,
    source: PartSource<'a>,
    /// The number of parts read so far.
    read: usize,
    /// The seed of a permutation, and the number of records so far.
    shuffle: Option<(u64, u64)>,
}

/// The reader of the inputs, with its state.
enum PartSource<'a> {
    Bits(binary::Reader<'a>),
    Records { chunks: Box<Chunks<'a>>, known: Box<fields::Known>, by: ReadBy<'a> },
}

/// The way of reading records as text.
enum ReadBy<'a> {
    /// All of them; files of integers alone without their text.
    All(Option<numbers::IntegerFiles>),
    /// The first row of each group with equal key fields.
    Groups(Groups<'a>),
}

impl<'a> Parts<'a> {
    /// Reads the inputs from the beginning.
    pub(super) fn new(
        inputs: &'a [Input],
        how: &'a InputSpec,
        budget: &'a Budget,
        watch: &'a Watch<'a>,
    ) -> Self {
        let by = &how.by;
        let source = match &how.kind {
            InputKind::Bits(sources) => {
                let element = how.element().expect("there is an input");
                let piece = budget.piece(element, count(how));
                PartSource::Bits(binary::Reader::new(sources, by.order, piece))
            }
            _ => PartSource::Records {
                chunks: Box::new(Chunks::new(inputs, how, budget)),
                known: Box::default(),
                by: ReadBy::All(None),
            },
        };
        Self { inputs, how, budget, watch, source, read: 0, shuffle: None }
    }

    /// Sets the state of reading, for a process that reads a share of the inputs.
    #[cfg(feature = "distributed")]
    pub(super) fn shared(mut self, before: fields::Known) -> Self {
        if let PartSource::Records { known, .. } = &mut self.source {
            **known = before;
        }
        self
    }

    /// Replaces the keys by hashes of the seed and the number of the record, if there is a seed.
    pub(super) fn shuffled(self, seed: Option<u64>) -> Self {
        Self { shuffle: seed.map(|seed| (seed, 0)), ..self }
    }

    /// Groups rows by their key fields: a part has the first row of each group, with the number of its rows.
    pub(super) fn grouped(mut self) -> Self {
        if let (PartSource::Records { by, .. }, InputKind::Table(_)) = (&mut self.source, &self.how.kind) {
            *by = ReadBy::Groups(Groups::new(self.how));
        }
        self
    }

    /// Returns the row that names the columns, or `None` if the input has no such row or it was not read yet.
    pub(super) fn names(&self) -> Option<&[u8]> {
        let PartSource::Records { known, .. } = &self.source else { return None };
        known.names(self.how.kind.dialect())
    }

    /// Returns true if the last part was read.
    pub(super) fn is_over(&self) -> bool {
        match &self.source {
            PartSource::Bits(reader) => reader.is_over(),
            PartSource::Records { chunks, .. } => chunks.is_over(),
        }
    }

    /// Returns true if the next part can be read ahead: not beside the first part, which may take all
    /// memory.
    pub(super) fn reads_ahead(&self) -> bool {
        self.read > 1 && !self.is_over()
    }

    /// Reads the next part.
    ///
    /// # Errors
    ///
    /// I/O errors; input that the format, the type or the order rejects.
    fn read(&mut self) -> Result<Dataset<'static>, Error> {
        let is_first = self.read == 0;
        self.budget.check()?;
        self.read += 1;
        if is_first {
            self.watch.phase(Phase::Read, self.inputs.iter().map(Input::size).sum());
        }
        let start = Instant::now();
        let watch = self.watch;
        let progress = |done| watch.set(done);
        let mut parsing = Duration::ZERO;
        let (content, bytes, reading) = match &mut self.source {
            PartSource::Bits(reader) => {
                let element = self.how.element().expect("there is an input");
                let map = self.how.by.order.map(element);
                let mut keys = KeyBuf::new(element.key_words());
                let before = reader.bytes;
                // Leaves room for the next part, which may be read while this part is sorted.
                let with_next = |n: u64| if is_first { n } else { n + n / 2 };
                while self.budget.fits_elements(with_next(keys.len() as u64), element.key_words()) {
                    let Some(more) = reader.read()? else { break };
                    progress(reader.bytes);
                    keys.append(more);
                }
                let content = Content::Numbers { keys: keys.into(), map, print: Print::Shortest };
                (content, reader.bytes - before, start.elapsed())
            }
            PartSource::Records { chunks, known, by: ReadBy::Groups(groups) } => {
                let (before, mut reading) = (chunks.bytes, Duration::ZERO);
                // Two texts are in memory.
                let most = |chunks: &Chunks| (self.budget.step(chunks.bytes) / 2).min(BLOCK);
                let read = |chunks: &mut Chunks| chunks.next_available(most(chunks), false);
                // The first rows are copied when they are taken.
                let is_full = |chunks: &Chunks, [rows, bytes]: [u64; 2]| chunks.is_full(6 * bytes, 4 * rows);
                let mut next = timed(&mut reading, || read(chunks))?;
                while let Some(text) = next {
                    // While there is room for all rows of this text and of the next one, that one is read meanwhile.
                    let [rows, bytes] = groups.size();
                    let longer = bytes + 2 * text.size().max(most(chunks) as u64);
                    let more = u128::from(rows) * u128::from(longer) / u128::from(bytes.max(1));
                    let has_room = !is_full(chunks, [u64::try_from(more).unwrap_or(u64::MAX), longer]);
                    next = thread::scope(|scope| {
                        let coming = has_room.then(|| parallel::meanwhile(scope, || read(chunks)));
                        groups.add(&text, known)?;
                        timed(&mut reading, || coming.map_or(Ok(None), Meanwhile::wait))
                    })?;
                    chunks.spare = text.bytes;
                    if !has_room && !is_full(chunks, groups.size()) {
                        next = timed(&mut reading, || read(chunks))?;
                    }
                    progress(chunks.bytes);
                }
                let (text, numbers) = groups.take();
                let mut records = KeyedBatch::read(text, self.how, known)?.with_counts(Some(&numbers));
                let kept = records.pieces.iter().flat_map(|piece| &piece.positions).sum::<u64>();
                records.counts.skipped = numbers.iter().sum::<u64>() - kept;
                parsing = start.elapsed().saturating_sub(reading);
                (Content::Records { records, words: None }, chunks.bytes - before, reading)
            }
            PartSource::Records { chunks, known, by: ReadBy::All(straight) } => {
                if is_first {
                    *straight = numbers::IntegerFiles::open(self.inputs, self.how, self.budget)?;
                }
                let integers = match straight {
                    Some(files) => files.next(self.budget, progress)?,
                    None => None,
                };
                if let Some(numbers::FromFiles { records, bytes, reading }) = integers {
                    known.passed += bytes;
                    if straight.take_if(|files| files.is_over()).is_some() {
                        chunks.end();
                    }
                    parsing = start.elapsed().saturating_sub(reading);
                    (content_of_numbers(records), bytes, reading)
                } else {
                    if let Some(files) = straight.take() {
                        let (inputs, open) = files.rest()?;
                        chunks.begin_with(inputs, open, known.passed);
                    }
                    let text = chunks.next(progress)?.unwrap_or_default();
                    let (bytes, reading) = (text.size(), start.elapsed());
                    // While more parts follow, progress shows the bytes read.
                    if chunks.is_over() {
                        watch.phase(Phase::Parse, None);
                    }
                    let begin = Instant::now();
                    let mut content = if let Some(records) = numbers::parse_printed(&text, self.how) {
                        known.passed += text.size();
                        content_of_numbers(records)
                    } else {
                        Content::Records { records: KeyedBatch::read(text, self.how, known)?, words: None }
                    };
                    if let (Some((seed, passed)), Content::Records { records, .. }) =
                        (&mut self.shuffle, &mut content)
                    {
                        let first = *passed;
                        *passed += records.len() as u64;
                        records.order_by(|number| random_key(first + number, *seed).to_be_bytes());
                    }
                    parsing = begin.elapsed();
                    (content, bytes, reading)
                }
            }
        };
        Ok(Dataset { content, counts: Counts::default(), bytes, reading: Meanwhile::done(reading), parsing })
    }
}

impl Iterator for Parts<'_> {
    type Item = Result<Dataset<'static>, Error>;

    /// Reads the next part. The first part is empty if the inputs have no records.
    fn next(&mut self) -> Option<Self::Item> {
        (self.read == 0 || !self.is_over()).then(|| self.read())
    }
}

/// Returns the random key of the record with this number.
pub(super) fn random_key(record: u64, seed: u64) -> u128 {
    xxh3_128_with_seed(&record.to_le_bytes(), seed)
}

fn content_of_numbers<'a>(PrintedNumbers { order: map, keys, print }: PrintedNumbers) -> Content<'a> {
    Content::Numbers { keys: keys.into(), map, print }
}

/// Returns the type of positions among this many records.
pub(super) fn position_type(records: u64) -> ElementType {
    if records > 1 << 32 { ElementType::U64 } else { ElementType::U32 }
}
