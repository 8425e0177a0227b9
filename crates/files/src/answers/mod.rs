//! Answers about keys instead of a sort: how often each key occurs, the first record of each key in the order of the
//! input, and the first records of each value of a column.
//!
//! ```text
//! records in order, with their numbers ──> Answers ──> a line for each key
//! ```

mod count;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use foldhash::HashMap;
use gpusort_base::error::{Error, Hint};
use gpusort_base::parallel;
use gpusort_external::{Numbered, REPEATED};
use gpusort_formats::batch::KeyedBatch;
use gpusort_formats::budget::Budget;
use gpusort_formats::fields::{Fields, Head, Layout, table_of};
use gpusort_formats::piece::Piece;
use gpusort_formats::places::Places;
use gpusort_formats::{InputSpec, Output, Text};
use gpusort_order::Selection;
use xxhash_rust::xxh3::xxh3_64;

pub use self::count::Count;
use super::dataset::{Answer, OutputSpec};
use super::job::{ChooseSorter, Job, LITTLE};
use super::parts::Parts;
use super::report::Report;

/// Finds the first records of each value of a column.
pub(crate) struct Firsts {
    /// The most records of a value.
    most: usize,
    /// The number of records so far of each value; one table for each core, by the hashes of the values.
    tables: Vec<HashMap<Vec<u8>, usize>>,
    /// The bytes left for values.
    left: AtomicU64,
    /// The most bytes of records whose values are copied at once.
    copied: usize,
}

/// The values of records, end to end, and the hash and the range of each.
type Values = (Vec<u8>, Vec<(u64, Range<usize>)>);

impl Firsts {
    pub(crate) fn new(budget: &Budget, most: usize) -> Self {
        let left = AtomicU64::new((budget.bytes() / 4).max(LITTLE));
        let copied = usize::try_from(budget.bytes() / 16).unwrap_or(usize::MAX);
        Self { most, tables: vec![HashMap::default(); parallel::threads()], left, copied }
    }

    /// Counts the next record, which has this value. Returns true for the first ones of the value.
    pub(crate) fn takes(&mut self, value: &[u8]) -> Result<bool, Error> {
        let table = table_of(xxh3_64(value), self.tables.len());
        let taken = count(&mut self.tables[table], value, &self.left).map(|count| count <= self.most);
        taken.ok_or_else(|| self.is_full())
    }

    /// Counts the next records. Returns the indices of the records among the first of their value.
    fn take(&mut self, values: &[Values]) -> Result<Vec<usize>, Error> {
        let (count_of_tables, most, left) = (self.tables.len(), self.most, &self.left);
        let of_table = |(number, table): (usize, &mut HashMap<Vec<u8>, usize>)| {
            let all = values.iter().flat_map(|(bytes, found)| found.iter().map(move |found| (bytes, found)));
            let mut taken = Vec::new();
            for (index, (bytes, (hash, range))) in all.enumerate() {
                if table_of(*hash, count_of_tables) == number
                    && count(table, &bytes[range.clone()], left)? <= most
                {
                    taken.push(index);
                }
            }
            Some(taken)
        };
        let taken: Option<Vec<_>> =
            parallel::map_parts(self.tables.iter_mut().enumerate(), of_table).into_iter().collect();
        let mut taken = taken.ok_or_else(|| self.is_full())?.concat();
        taken.sort_unstable();
        Ok(taken)
    }

    /// Returns the error for values that exceed the memory.
    fn is_full(&self) -> Error {
        let values: usize = self.tables.iter().map(HashMap::len).sum();
        let problem = format!("has at least {values} values, too many for the memory");
        Error::option("per", problem).hinting(Hint::Memory)
    }
}

/// Counts a record with this value. Returns the number of its records so far, or `None` without memory for a new value.
fn count(counts: &mut HashMap<Vec<u8>, usize>, value: &[u8], left: &AtomicU64) -> Option<usize> {
    /// The memory of a value beside its bytes.
    const BESIDE: u64 = 64;
    if let Some(count) = counts.get_mut(value) {
        *count += 1;
        return Some(*count);
    }
    let without = |left: u64| left.checked_sub(value.len() as u64 + BESIDE);
    left.fetch_update(Relaxed, Relaxed, without).ok()?;
    counts.insert(value.to_vec(), 1);
    Some(1)
}

/// Writes the answer from records in order, as `push_numbered` writes them.
struct Answers<'a, 'o, 'w> {
    answer: Answer,
    how: &'a InputSpec,
    layout: Layout<'a>,
    /// The layout of the column of values, and the values.
    per: Option<(Layout<'a>, Firsts)>,
    /// Records for the order of the input.
    numbered: Numbered<'a>,
    output: &'o mut Output<'w>,
    /// The most keys to write.
    most: u64,
    /// The number of the current key so far, and its first record with the line end.
    now: Option<(u64, Vec<u8>)>,
    /// The bytes of an incomplete record.
    rest: Vec<u8>,
    /// The lines to write.
    lines: Vec<u8>,
    keys: u64,
    records: u64,
}

impl Answers<'_, '_, '_> {
    /// Writes the lines on top. `names` is the row with the names of the columns.
    fn begin(&mut self, mut head: Head, names: Option<&[u8]>) -> io::Result<()> {
        let dialect = self.how.kind.dialect();
        let of_names = match dialect.fields {
            Fields::Quoted(delimiter) => vec![b'c', b'o', b'u', b'n', b't', delimiter],
            _ => b"  count ".to_vec(),
        };
        if self.answer != Answer::CountsOfKeys {
            if self.answer == Answer::Counts {
                head.prefix(dialect, &of_names);
            }
            head.write(&mut self.lines)?;
        } else if let Some(names) = names.filter(|_| dialect.header > 0) {
            self.lines.extend_from_slice(&of_names);
            self.push_fields(&[names, dialect.fields.line_end().bytes()].concat());
        }
        self.output.write_all(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    /// Adds the next record, or a repetition of its key.
    fn add(&mut self, number: u64, record: Option<&[u8]>) -> io::Result<()> {
        self.records += number;
        match record {
            Some(record) if !self.answer.is_counted() => self.take(number, record)?,
            Some(record) => {
                self.end_key()?;
                let mut first = self.now.take().map_or_else(Vec::new, |(_, last)| last);
                first.clear();
                first.extend_from_slice(record);
                self.now = Some((number, first));
            }
            None if !self.answer.is_counted() => {}
            None => self.now.as_mut().expect("a record comes before its repetitions").0 += number,
        }
        Ok(())
    }

    /// Takes an uncounted record.
    fn take(&mut self, number: u64, record: &[u8]) -> io::Result<()> {
        let Some((layout, firsts)) = &mut self.per else {
            return self.numbered.add(number, record).map_err(io::Error::other);
        };
        let mut takes = Ok(false);
        layout.each_field(record, |_, field| {
            takes = firsts.takes(&self.how.kind.dialect().fields.value(field));
        });
        if takes.map_err(io::Error::other)? {
            self.lines.extend_from_slice(record);
            self.keys += 1;
        }
        self.flush_lines()
    }

    /// Writes the lines, if they are many.
    fn flush_lines(&mut self) -> io::Result<()> {
        /// The number of bytes to write at once.
        const BLOCK: usize = 1 << 18;
        if self.lines.len() > BLOCK {
            self.output.write_all(&self.lines)?;
            self.lines.clear();
        }
        Ok(())
    }

    /// Writes the line of the current key.
    fn end_key(&mut self) -> io::Result<()> {
        let Some((number, record)) = self.now.take() else { return Ok(()) };
        self.keys += 1;
        if self.keys <= self.most || self.answer == Answer::CountsOfKeys {
            match self.how.kind.dialect().fields {
                Fields::Json => write!(self.lines, "{{\"count\":{number}"),
                Fields::Quoted(byte) => write!(self.lines, "{number}{}", char::from(byte)),
                _ => write!(self.lines, "{number:>7} "),
            }?;
            match self.answer {
                Answer::Counts => self.push_record(&record),
                _ => self.push_fields(&record),
            }
            if self.answer == Answer::CountsOfKeys {
                // The greatest numbers come first, and equal ones in the order of the keys.
                self.numbered.add(!number, &self.lines).map_err(io::Error::other)?;
                self.lines.clear();
            }
        }
        self.now = Some((number, record));
        self.flush_lines()
    }

    /// Appends a record.
    fn push_record(&mut self, record: &[u8]) {
        if self.how.kind.dialect().fields != Fields::Json {
            return self.lines.extend_from_slice(record);
        }
        let object = record.trim_ascii();
        self.lines.extend_from_slice(b",\"record\":");
        self.lines.extend_from_slice(if object.is_empty() { b"null" } else { object });
        self.lines.extend_from_slice(b"}\n");
    }

    /// Appends the fields of the keys of a record, and its line end.
    fn push_fields(&mut self, record: &[u8]) {
        let (fields, lines, keys) = (self.how.kind.dialect().fields, &mut self.lines, &self.how.keys);
        if fields.are_tokens() {
            return lines.extend_from_slice(record);
        }
        let separator = match fields {
            Fields::Quoted(byte) | Fields::Split(byte, _) => byte,
            Fields::Json => b',',
            _ => b' ',
        };
        // Without a key, the whole record is the last of the keys.
        let (are_whole, is_json) = (!self.how.has_key(), fields == Fields::Json);
        let length = self.layout.each_field(record, |key, field| {
            if keys[key].order.is_last_resort && !are_whole || are_whole && key + 1 < keys.len() {
                return;
            }
            if key > 0 && !are_whole || is_json {
                lines.push(separator);
            }
            if is_json {
                push_name(&keys[key].name, lines);
            }
            lines.extend_from_slice(if is_json && field.is_empty() { b"null" } else { field });
        });
        if is_json {
            lines.push(b'}');
        }
        lines.extend_from_slice(&record[length..]);
    }

    /// Writes the last lines. Returns the numbers of counted records, of keys, and of lines.
    fn end(mut self) -> Result<[u64; 3], Error> {
        let written = self.end_key().and_then(|()| self.output.write_all(&self.lines));
        written.map_err(|error| self.output.failed(error))?;
        let written = match self.answer {
            Answer::InputOrder | Answer::CountsOfKeys => {
                self.numbered.write(usize::try_from(self.most).ok(), self.output)?
            }
            Answer::Per => self.keys,
            Answer::Counts => self.keys.min(self.most),
        };
        Ok([self.records, self.keys, written])
    }
}

/// Appends a name of JSON and a colon.
fn push_name(name: &str, lines: &mut Vec<u8>) {
    lines.push(b'"');
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' => lines.extend_from_slice(&[b'\\', byte]),
            0..b' ' => lines.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => lines.push(byte),
        }
    }
    lines.extend_from_slice(b"\":");
}

impl Write for Answers<'_, '_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(bytes);
        let mut left = &rest[..];
        while let Some((head, after)) = left.split_first_chunk::<16>() {
            let number =
                |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("numbers have eight bytes"));
            let (number, length) = (number(&head[..8]), number(&head[8..]));
            let is_repeated = length == REPEATED;
            let Some(record) = after.get(..if is_repeated { 0 } else { length as usize }) else { break };
            self.add(number, (!is_repeated).then_some(record))?;
            left = &after[record.len()..];
        }
        let read = rest.len() - left.len();
        rest.drain(..read);
        self.rest = rest;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the first records of each value, of records in this order.
fn add_firsts(records: &KeyedBatch, order: &[u32], answers: &mut Answers) -> io::Result<()> {
    /// The number of records that a core takes at once, and the most whose values are in memory at once.
    const PART: usize = 1 << 12;
    const BLOCK: usize = 32 * PART;
    let places = Places::of(&records.pieces);
    let copied = answers.per.as_ref().map_or(0, |(_, firsts)| firsts.copied);
    for order in order.chunks((copied / places.length()).clamp(1, BLOCK)) {
        let (layout, firsts) = answers.per.as_mut().expect("there is a column of values");
        let fields = answers.how.kind.dialect().fields;
        let values_of = |order: &[u32]| {
            let (mut record_bytes, mut values) = (Vec::new(), Values::default());
            places.each(order, |piece, record, _| {
                record_bytes.clear();
                piece.push(record, &mut record_bytes);
                layout.each_field(&record_bytes, |_, field| {
                    let (value, begin) = (fields.value(field), values.0.len());
                    values.0.extend_from_slice(&value);
                    values.1.push((xxh3_64(&value), begin..values.0.len()));
                });
            });
            values
        };
        let values = parallel::map_parts(order.chunks(PART), values_of);
        let taken = firsts.take(&values).map_err(io::Error::other)?;
        for index in &taken {
            let (piece, record) = places.find(order[*index]);
            piece.push(record, &mut answers.lines);
            answers.flush_lines()?;
        }
        answers.keys += taken.len() as u64;
        answers.records += order.len() as u64;
    }
    Ok(())
}

/// Passes records in this order to the answers. An invalid field repeats no key, unless the fields are counted.
fn add_all(mut records: KeyedBatch, order: &[u32], answers: &mut Answers) -> io::Result<()> {
    if answers.per.is_some() {
        return add_firsts(&records, order, answers);
    }
    let is_counted = answers.answer.is_counted();
    let repeated = if is_counted { repeated(&mut records, order, answers) } else { Vec::new() };
    let (mut bytes, mut added, mut at) = (Vec::new(), Ok(()), 0);
    Places::of(&records.pieces).each(order, |piece, record, number| {
        let is_repeated = repeated.get(at).is_some_and(|&is_repeated| is_repeated);
        at += 1;
        if added.is_ok() {
            bytes.clear();
            piece.push(record, &mut bytes);
            let number = piece.positions.get(record).copied().unwrap_or(number.into());
            added = answers.add(number, (!is_repeated).then_some(&bytes));
        }
    });
    added
}

/// Returns a flag for each record in this order: whether its key equals the key of the previous record.
fn repeated(records: &mut KeyedBatch, order: &[u32], answers: &Answers) -> Vec<bool> {
    /// The number of records that a core takes at once.
    const PART: usize = 1 << 14;
    let (orders, merges_invalid) = (answers.how.orders(), answers.answer.merges_invalid());
    let needs_rows = |piece: &Piece| piece.keys.single().is_none();
    if records.pieces.iter().any(needs_rows) {
        parallel::map_parts(&mut records.pieces, |piece| piece.keys.make_rows());
    }
    let places = Places::of(&records.pieces);
    let of_part = |part: Range<usize>| {
        let mut last = part.start.checked_sub(1).map(|before| places.find(order[before]));
        let mut found = Vec::with_capacity(part.len());
        places.each(&order[part], |piece, record, _| {
            let keys = &piece.keys;
            let is_same = |(other, before): (&Piece, usize)| match (keys.single(), other.keys.single()) {
                (Some(words), Some(others)) => words[record] == others[before],
                _ => keys.row(record) == other.keys.row(before),
            };
            found.push(last.is_some_and(is_same) && (merges_invalid || !keys.has_invalid(record, &orders)));
            last = Some((piece, record));
        });
        found
    };
    parallel::map_parts(parallel::ranges(order.len(), PART), of_part).concat()
}

impl Job<'_> {
    /// Writes an answer instead of all records.
    pub(super) fn answer(
        &self,
        answer: Answer,
        devices: &mut dyn ChooseSorter,
        mut output: Output,
    ) -> Result<Report, Error> {
        let (how, budget) = (&self.decisions.how, &self.budget);
        let mut parts = Parts::new(&self.inputs, how, budget, &self.watch);
        if answer == Answer::CountsOfKeys {
            parts = parts.grouped();
        }
        devices.expect(None);
        let first = parts.next().expect("the first part may be empty")?;
        let unique = self.ask.selection.unique && !answer.is_counted();
        let ask = OutputSpec { selection: Selection { unique, first: None }, ..self.ask };
        let (text, name) = (Text::default(), output.name());
        let failed = |error| Error::io(&name, "write", error);
        let most = self.ask.selection.first.unwrap_or(usize::MAX);
        let mut answers = Answers {
            answer,
            how,
            layout: Layout::new(&text, how),
            per: self.per.as_ref().map(|per| (Layout::new(&text, per), Firsts::new(budget, most))),
            numbered: Numbered::new(budget, self.folders()),
            output: &mut output,
            most: most as u64,
            now: None,
            rest: Vec::new(),
            lines: Vec::new(),
            keys: 0,
            records: 0,
        };
        let mut report = if parts.is_over() {
            let chosen = devices.choose(first.len() as u64, first.shape(&ask), 0)?;
            let passes = &mut self.watch.passes();
            let (mut records, order, report) = first.into_order(how, chosen.sorter, &ask, passes)?;
            answers.begin(std::mem::take(&mut records.head), parts.names()).map_err(failed)?;
            add_all(records, &order, &mut answers).map_err(failed)?;
            chosen.reported(report)
        } else {
            self.merge_parts(first, &mut parts, ask, devices, |mut runs, parts| {
                answers.begin(std::mem::take(&mut runs.head), parts.names()).map_err(failed)?;
                runs.merge(&mut Output::writer(&mut answers, name.clone()), 0, &self.watch)
            })?
        };
        let [records, keys, written] = answers.end()?;
        self.close(output, &mut report.phases.write)?;
        if answer.is_counted() {
            (report.records, report.repeated) = (records, records - keys);
        }
        Ok(Report { cut: report.records - report.repeated - written, types: how.kinds(), ..report })
    }
}
