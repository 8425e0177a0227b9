//! Answers about keys instead of a sort: how often each key occurs.
//!
//! ```text
//! records in order, with their numbers ──> Answers ──> a line for each key
//! ```

use std::io::{self, Write};

use gpusort_base::clock::Instant;
use gpusort_base::error::Error;
use gpusort_base::parallel;
use gpusort_external::{Folders, REPEATED};
use gpusort_formats::batch::Keyed;
use gpusort_formats::fields::{Fields, Head, InputSpec, Layout};
use gpusort_formats::piece::Piece;
use gpusort_formats::places::Places;
use gpusort_formats::{Output, Text};
use gpusort_order::Selection;

use super::dataset::{Answer, OutputSpec, order_records};
use super::job::{ChooseSorter, Job, LITTLE};
use super::parts::Parts;
use super::report::Report;
use super::runs::Runs;

/// Writes the answer from records in order, as `push_numbered` writes them.
struct Answers<'a, 'o, 'w> {
    answer: Answer,
    how: &'a InputSpec,
    layout: Layout<'a>,
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
        if self.answer == Answer::Counts {
            let is_divided = matches!(dialect.fields, Fields::Quoted(_));
            let of_others = if is_divided { &of_names[5..] } else { b"        " };
            head.prefix(dialect, &of_names, of_others);
            head.write(&mut self.lines)?;
        } else if let Some(names) = names.filter(|_| dialect.header > 0) {
            self.lines.extend_from_slice(&of_names);
            self.push_fields(&[names, dialect.fields.line_end().bytes()].concat());
        }
        Ok(())
    }

    /// Adds the next record, or a repetition of its key.
    fn add(&mut self, number: u64, record: Option<&[u8]>) -> io::Result<()> {
        self.records += number;
        match (record, &mut self.now) {
            (None, now) => now.as_mut().expect("a record comes before its repetitions").0 += number,
            (Some(record), _) => {
                self.end_key()?;
                let mut first = self.now.take().map_or_else(Vec::new, |(_, last)| last);
                first.clear();
                first.extend_from_slice(record);
                self.now = Some((number, first));
            }
        }
        Ok(())
    }

    /// Writes the line of the current key.
    fn end_key(&mut self) -> io::Result<()> {
        /// The number of bytes to write at once.
        const BLOCK: usize = 1 << 18;
        let Some((number, record)) = self.now.take() else { return Ok(()) };
        self.keys += 1;
        if self.keys <= self.most {
            match self.how.kind.dialect().fields {
                Fields::Json => write!(self.lines, "{{\"count\":{number},"),
                Fields::Quoted(byte) => write!(self.lines, "{number}{}", char::from(byte)),
                _ => write!(self.lines, "{number:>7} "),
            }?;
            match self.answer {
                Answer::Counts => self.push_record(&record),
                Answer::CountsOfKeys => self.push_fields(&record),
            }
        }
        if self.lines.len() > BLOCK {
            self.output.write_all(&self.lines)?;
            self.lines.clear();
        }
        self.now = Some((number, record));
        Ok(())
    }

    /// Appends a record.
    fn push_record(&mut self, record: &[u8]) {
        if self.how.kind.dialect().fields != Fields::Json {
            return self.lines.extend_from_slice(record);
        }
        let object = record.trim_ascii();
        self.lines.extend_from_slice(b"\"record\":");
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
        let are_whole = !self.how.has_key();
        let length = self.layout.each_field(record, |key, field| {
            let is_written = if are_whole { key + 1 == keys.len() } else { !keys[key].order.is_last_resort };
            if !is_written {
                return;
            }
            if key > 0 && !are_whole {
                lines.push(separator);
            }
            if fields == Fields::Json {
                push_name(&keys[key].name, lines);
            }
            let is_missing = fields == Fields::Json && field.is_empty();
            lines.extend_from_slice(if is_missing { b"null" } else { field });
        });
        if fields == Fields::Json {
            lines.push(b'}');
        }
        lines.extend_from_slice(&record[length..]);
    }

    /// Writes the last line. Returns the numbers of records, of keys, and of lines.
    fn end(mut self) -> Result<[u64; 3], Error> {
        let written = self.end_key().and_then(|()| self.output.write_all(&self.lines));
        written.map_err(|error| self.output.failed(error))?;
        Ok([self.records, self.keys, self.keys.min(self.most)])
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
            let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("numbers have eight bytes"));
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

/// Passes records in this order to the answers. An invalid field repeats no key, unless the fields are counted.
fn add_all(mut records: Keyed, order: &[u32], answers: &mut Answers) -> io::Result<()> {
    let (orders, merges_invalid) = (answers.how.orders(), answers.answer.merges_invalid());
    if records.pieces.iter().any(|piece| piece.keys.single().is_none()) {
        parallel::map_parts(&mut records.pieces, |piece| piece.keys.make_rows());
    }
    let (mut last, mut bytes, mut added) = (None::<(&Piece, usize)>, Vec::new(), Ok(()));
    Places::of(&records.pieces).each(order, |piece, record, _| {
        let keys = &piece.keys;
        let is_same = |(other, before): (&Piece, usize)| match (keys.single(), other.keys.single()) {
            (Some(words), Some(others)) => words[record] == others[before],
            _ => keys.row(record) == other.keys.row(before),
        };
        let is_repeated =
            last.is_some_and(is_same) && (merges_invalid || !keys.has_invalid(record, &orders));
        if added.is_ok() {
            bytes.clear();
            piece.push(record, &mut bytes);
            added = answers.add(piece.positions[record], (!is_repeated).then_some(&bytes));
        }
        last = Some((piece, record));
    });
    added
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
        let (is_whole, ask) = (parts.is_over(), OutputSpec { selection: Selection::ALL, ..self.ask });
        if !is_whole {
            devices.in_parts(budget.total());
        }
        let chosen = devices.choose(first.len() as u64, first.shape(&ask), 0)?;
        let (text, name) = (Text::default(), output.name());
        let failed = |error| Error::io(&name, "write", error);
        let most = self.ask.selection.first.map_or(u64::MAX, |first| first as u64);
        let mut answers = Answers {
            answer,
            how,
            layout: Layout::new(&text, how),
            output: &mut output,
            most,
            now: None,
            rest: Vec::new(),
            lines: Vec::new(),
            keys: 0,
            records: 0,
        };
        let mut report = if is_whole {
            let report = first.report(ask.format);
            let mut records = answer.numbered(first.content.into_records(how)?, how);
            answers.begin(std::mem::take(&mut records.head), parts.names()).map_err(failed)?;
            let passes = &mut self.watch.passes();
            let done = order_records(&records, records.words(false), chosen.sorter, &ask, passes)?;
            let order: Vec<u32> = done.words.into_vec().expect("positions have 32 bits");
            add_all(records, &order, &mut answers).map_err(failed)?;
            Report { sort: done.report, ..report }
        } else {
            let mut folders = Folders::new(self.folders.clone()).within(budget).cancelled_by(&self.cancel);
            let runs = || {
                let mut runs = Runs::of(first, &mut parts, ask, chosen.sorter, &mut folders)?;
                answers.begin(runs.take_head(), parts.names()).map_err(failed)?;
                runs.merge(&mut Output::writer(&mut answers, name.clone()), 0, &self.watch)
            };
            if budget.bytes() < LITTLE { parallel::alone(runs) } else { runs() }?
        };
        let [records, keys, written] = answers.end()?;
        let start = Instant::now();
        self.close(output)?;
        report.phases.write += start.elapsed();
        let (repeated, cut) = (records - keys, keys - written);
        let report = Report { records, repeated, cut, types: how.kinds(), ..report };
        Ok(if is_whole { chosen } else { chosen.with_budget(budget) }.reported(report))
    }
}
