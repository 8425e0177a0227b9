//! Reading inputs in parts that fit a budget: the first part is all, mostly.

use std::time::Duration;

use super::{Ask, Content, Dataset, Phase, Reading, Watch, count, element_of};
use crate::clock::Instant;
use crate::error::Error;
use crate::io::chunks::{Chunks, Form};
use crate::io::infer::Spot;
use crate::io::ordered::type_among;
use crate::io::records::Records;
use crate::io::stream::{How, Kind, Model};
use crate::io::{Input, LineEnd, PerLine, Text, binary, csv, text};
use crate::key::ElementType;
use crate::order::{KeyOrder, Reading as Numbers};
use crate::runs::Budget;
use crate::words::Words;

/// Inputs that are read in parts.
pub struct Parts<'a> {
    inputs: &'a [Input],
    how: &'a How,
    budget: &'a Budget,
    watch: &'a dyn Watch,
    source: Source<'a>,
    /// How many parts were read.
    read: usize,
    /// The next part, if it was read ahead.
    ahead: Option<Result<Dataset<'static>, Error>>,
}

/// How they are read, and what is known of the types so far.
enum Source<'a> {
    Bits {
        reader: binary::Reader<'a>,
        is_over: bool,
    },
    Text {
        straight: Option<text::IntegerFiles>,
        chunks: Chunks<'a>,
        known: Box<text::Known>,
        passed: u64,
        per_line: PerLine,
        direction: KeyOrder,
    },
    Table {
        chunks: Chunks<'a>,
        dialect: csv::Dialect,
        known: csv::Known,
    },
}

impl<'a> Parts<'a> {
    /// The inputs from the beginning.
    #[must_use]
    pub fn new(inputs: &'a [Input], how: &'a How, budget: &'a Budget, watch: &'a dyn Watch) -> Self {
        let by = &how.by;
        let source = match &how.kind {
            Kind::Bits(sources) => {
                let piece = budget.piece(element_of(sources), count(how));
                Source::Bits {
                    reader: binary::Reader::new(sources, by.order).in_pieces_of(piece),
                    is_over: false,
                }
            }
            &Kind::Text(per_line) => {
                let chunks = Chunks::new(inputs, Form::Tokens, 1, budget);
                Self::text(chunks, per_line, by.element, by.order)
            }
            &Kind::Table(dialect) => {
                let chunks = Chunks::new(inputs, Form::Rows(dialect), by.columns.len(), budget);
                // Lines that are numbers and nothing else are sorted as these, as long as there are no others.
                match dialect.first_number(by) {
                    Some(direction) => Self::text(chunks, PerLine::Whole, by.element, direction),
                    None => Source::Table { chunks, dialect, known: csv::Known::default() },
                }
            }
        };
        Self { inputs, how, budget, watch, source, read: 0, ahead: None }
    }

    fn text(
        chunks: Chunks<'a>,
        per_line: PerLine,
        element: Option<ElementType>,
        direction: KeyOrder,
    ) -> Source<'a> {
        let known = Box::new(text::inference(element, direction));
        Source::Text { straight: None, chunks, known, passed: 0, per_line, direction }
    }

    /// Whether all was given.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.ahead.is_none() && self.is_read()
    }

    fn is_read(&self) -> bool {
        match &self.source {
            Source::Bits { is_over, .. } => *is_over,
            Source::Text { chunks, .. } | Source::Table { chunks, .. } => chunks.is_over(),
        }
    }

    /// Whether the next part can be read before it is asked for: not while the first one is there, which may take all memory.
    pub(super) fn reads_ahead(&self) -> bool {
        /// In less memory there is not enough to read that another thread is worth its while.
        const LEAST: u64 = 1 << 20;
        self.read > 1 && self.ahead.is_none() && !self.is_read() && self.budget.bytes() >= LEAST
    }

    /// Reads the next part before it is asked for.
    pub(super) fn read_ahead(&mut self) {
        self.ahead = Some(self.read());
    }

    /// Any error about the types, once all was read.
    fn end(&self) -> Result<(), Error> {
        match &self.source {
            Source::Bits { .. } => Ok(()),
            Source::Text { known, .. } => known.finish().map(|_| ()).map_err(text::conflicting),
            Source::Table { known, .. } => known.end(),
        }
    }

    /// The next part; the first one without any records if there are none at all.
    ///
    /// # Errors
    ///
    /// I/O errors; input that the format, the type or the order rejects; at the end, numbers without a common type.
    pub fn next_part(&mut self) -> Result<Dataset<'static>, Error> {
        let part = self.ahead.take().unwrap_or_else(|| self.read())?;
        if self.is_over() {
            self.end()?;
        }
        Ok(part)
    }

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
        let (element, order) = (self.how.by.element, self.how.by.order);
        let mut parsing = Duration::ZERO;
        let (content, bytes, reading) = match (&mut self.source, &self.how.kind) {
            (Source::Bits { reader, is_over }, kind) => {
                let element =
                    if let Kind::Bits(sources) = kind { element_of(sources) } else { ElementType::U32 };
                let map = order.map(element);
                let mut keys = Words::new(element.key_words());
                let before = reader.bytes;
                // There is room for those of one more part, which may be read while this one is sorted.
                let with_next = |n: u64| if is_first { n } else { n + n / 2 };
                while self.budget.fits_elements(with_next(keys.len() as u64), element.key_words()) {
                    let Some(more) = reader.read()? else {
                        *is_over = true;
                        break;
                    };
                    progress(reader.bytes);
                    keys.append(more);
                }
                (Content::of_elements(keys.into(), map), reader.bytes - before, start.elapsed())
            }
            (Source::Text { straight, chunks, known, passed, per_line, direction }, kind) => {
                let (per_line, direction) = (*per_line, *direction);
                if is_first {
                    *straight =
                        text::IntegerFiles::open(self.inputs, element, direction, per_line, self.budget)?;
                }
                let integers = match straight {
                    Some(files) => files.next(self.budget, known, *passed, progress)?,
                    None => None,
                };
                if let Some(text::FromFiles { records, bytes, reading }) = integers {
                    *passed += bytes;
                    if straight.take_if(|files| files.is_over()).is_some() {
                        chunks.end();
                    }
                    parsing = start.elapsed().saturating_sub(reading);
                    known.note_number(|| number_before_times(&records, order, per_line, self.inputs));
                    (of_records(records), bytes, reading)
                } else {
                    if let Some(files) = straight.take() {
                        let (inputs, open) = files.rest()?;
                        chunks.begin_with(inputs, open, *passed);
                    }
                    let (mut text, bytes, reading) = read_text(chunks, watch, start)?;
                    let begin = Instant::now();
                    let is_all = is_first && chunks.is_over();
                    let before = if is_all { None } else { Some((&**known, *passed)) };
                    let content =
                        match (text::parse_part(&mut text, element, direction, per_line, before), kind) {
                            (Ok((records, after)), _) => {
                                (**known, *passed) = (after, *passed + bytes);
                                known.note_number(|| {
                                    number_before_times(&records, order, per_line, self.inputs)
                                });
                                of_records(records)
                            }
                            // These are lines that are not only numbers.
                            (Err(_), &Kind::Table(dialect)) => {
                                let mut known =
                                    csv::Known::after_numbers(known, *passed, self.inputs[0].name());
                                let (table, words) = csv::read_part(text, dialect, &self.how.by, &mut known)?;
                                let nothing = Chunks::new(&[], Form::Tokens, 0, self.budget);
                                let chunks = std::mem::replace(chunks, nothing);
                                self.source = Source::Table { chunks, dialect, known };
                                Content::Rows { words, table: Box::new(table) }
                            }
                            (Err(error), _) => return Err(error),
                        };
                    parsing = begin.elapsed();
                    (content, bytes, reading)
                }
            }
            (Source::Table { chunks, dialect, known }, _) => {
                let (text, bytes, reading) = read_text(chunks, watch, start)?;
                let begin = Instant::now();
                let (table, words) = csv::read_part(text, *dialect, &self.how.by, known)?;
                parsing = begin.elapsed();
                (Content::Rows { words, table: Box::new(table) }, bytes, reading)
            }
        };
        Ok(Dataset { content, bytes, reading: Reading::Done(reading), parsing })
    }

    /// Records in a run, once the types are known; with positions, rows have only their key fields there.
    pub(super) fn again<'d>(&self, run: &str, bytes: Vec<u8>, positions: bool) -> Result<Dataset<'d>, Error> {
        let line_end = match &self.source {
            Source::Table { dialect, .. } => dialect.fields.line_end(),
            _ => LineEnd::Lf,
        };
        let mut text = Text::of_run(run, bytes, line_end);
        let content = match &self.source {
            Source::Table { dialect, known, .. } => {
                let (mut known, by) = self.keys_of(known, positions)?;
                let dialect = if positions { dialect.of_keys() } else { *dialect };
                let (table, words) = csv::read_part(text, dialect, &by, &mut known)?;
                Content::Rows { words, table: Box::new(table) }
            }
            Source::Text { known, direction, .. } => {
                let (element, known) = (self.how.by.element, Some((&**known, 0)));
                of_records(text::parse_part(&mut text, element, *direction, PerLine::Any, known)?.0)
            }
            Source::Bits { .. } => return Err(Error::input(run, "is not read again")),
        };
        let reading = Reading::Done(Duration::ZERO);
        Ok(Dataset { content, bytes: 0, reading, parsing: Duration::ZERO })
    }

    /// The columns of a table in runs; with positions, they have only the key fields.
    pub(super) fn model(&self, positions: bool) -> Result<Option<Model>, Error> {
        match &self.source {
            Source::Table { known, .. } => {
                let (known, by) = self.keys_of(known, positions)?;
                Model::of(&known, &by)
            }
            _ => Ok(None),
        }
    }

    /// How records in runs are read.
    pub(super) fn how_of_runs(&self, positions: bool) -> How {
        let mut how = self.how.clone();
        match (&self.source, &mut how.kind) {
            (Source::Text { direction, .. }, kind) => {
                (*kind, how.by.order) = (Kind::Text(PerLine::Any), *direction);
            }
            (_, Kind::Table(dialect)) if positions => *dialect = dialect.of_keys(),
            _ => {}
        }
        how
    }

    /// What is known of rows in runs, and their key.
    fn keys_of(&self, known: &csv::Known, positions: bool) -> Result<(csv::Known, csv::By), Error> {
        let by = &self.how.by;
        if positions { known.of_keys(by) } else { Ok((known.clone(), by.clone())) }
    }

    /// Whether each key is a float, for what is no binary.
    pub(super) fn are_floats(&self) -> Vec<bool> {
        match &self.source {
            Source::Bits { .. } => Vec::new(),
            Source::Text { known, .. } => vec![known.is_float()],
            Source::Table { known, .. } => known.are_floats().collect(),
        }
    }

    /// The type of the elements of binary inputs or of a text, once all was read.
    pub(super) fn element(&self) -> ElementType {
        match (&self.source, &self.how.kind) {
            (Source::Text { known, .. }, _) => known.finish().unwrap_or(ElementType::F64),
            (_, Kind::Bits(sources)) => element_of(sources),
            _ => ElementType::U32,
        }
    }

    /// The type of the elements to be written of this many records; `None` for rows.
    #[must_use]
    pub fn written(&self, ask: &Ask, records: u64) -> Option<ElementType> {
        let is_table = matches!(self.source, Source::Table { .. });
        if ask.positions { Some(type_among(records)) } else { (!is_table).then(|| self.element()) }
    }

    pub(super) fn how(&self) -> &'a How {
        self.how
    }

    /// The most memory to take.
    #[must_use]
    pub fn budget(&self) -> &'a Budget {
        self.budget
    }

    /// The names of the types, separated by commas.
    pub(super) fn types(&self) -> String {
        match &self.source {
            Source::Table { known, .. } => known.types(),
            _ => self.element().name().to_owned(),
        }
    }
}

/// The first number of lines that are numbers up to here, where times are an error later.
fn number_before_times(
    records: &Records,
    order: KeyOrder,
    per_line: PerLine,
    inputs: &[Input],
) -> Option<(u64, Spot)> {
    if per_line != PerLine::Whole || order.reading != Numbers::NumbersOrTimes {
        return None;
    }
    let input = inputs.iter().find(|input| input.size() != Some(0))?;
    Some((0, records.first_number(&input.name())?))
}

fn of_records<'a>(Records { order: map, keys, spelling, counts }: Records) -> Content<'a> {
    Content::Numbers { keys: keys.into(), map, spelling, counts }
}

/// The next text, its bytes, and the time since `start`.
fn read_text(chunks: &mut Chunks, watch: &dyn Watch, start: Instant) -> Result<(Text, u64, Duration), Error> {
    let text = chunks.next(|done| watch.set(done))?.unwrap_or_default();
    let (bytes, reading) = (text.size(), start.elapsed());
    // Of several parts the bytes read so far are what there is to see.
    if chunks.is_over() {
        watch.phase(Phase::Parse, None);
    }
    Ok((text, bytes, reading))
}
