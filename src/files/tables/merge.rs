//! Merges runs of rows: sorted parts in temporary files, or inputs that are in order.
//!
//! Of each run a window of rows is in memory. The least of the last rows of all windows is the
//! bound: what is not after it in any window precedes all that is still to be read, and is ordered
//! together and written.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::super::job::Job;
use super::read::{Reader, Reading, compact};
use super::write::{Sink, gathered, parts};
use super::{TIMES, Tables, order, types, write_positions};
use crate::clock::Instant;
use crate::error::{Error, Hint};
use crate::files::progress::Phase;
use crate::files::report::{Phases, Report};
use crate::io::arrow::keys::{KeyArrays, TableKey};
use crate::io::arrow::{Batches, failed, ipc, joined};
use crate::io::{Counts, Output};
use crate::parallel::map_parts;
use crate::report;
use crate::runs::{Folders, Spill, Spilled};
use crate::sorter::Sorter;

/// The most runs that are merged at once.
const FAN_IN: usize = 64;

/// The rows of a run, batch by batch.
pub(super) enum RunSource {
    /// In a temporary file.
    Spilled(Arc<Spilled>),
    /// An input: its parts, and what was read of one.
    Input(usize),
}

/// A run that is being written.
struct Open {
    writer: StreamWriter<Spill>,
    /// The keys of its last row.
    last: KeyArrays,
    rows: u64,
}

/// Runs of the rows of tables.
pub(super) struct Merging<'a, 'j> {
    tables: &'a Tables,
    reading: Reading<'a>,
    keys: &'a [TableKey],
    job: &'a Job<'j>,
    folders: Folders,
    runs: Vec<RunSource>,
    open: Option<Open>,
}

/// What was written.
#[derive(Default)]
pub(super) struct WrittenRows {
    pub(super) rows: u64,
    pub(super) repeated: u64,
    pub(super) counts: Counts,
}

impl<'a, 'j> Merging<'a, 'j> {
    pub(super) fn new(
        tables: &'a Tables,
        reading: Reading<'a>,
        keys: &'a [TableKey],
        job: &'a Job<'j>,
        folders: Folders,
    ) -> Self {
        Self { tables, reading, keys, job, folders, runs: Vec::new(), open: None }
    }

    /// The inputs are the runs.
    pub(super) fn add_inputs(&mut self) {
        self.runs = (0..self.tables.all.len()).map(RunSource::Input).collect();
    }

    /// Sorts what is read, so many bytes at a time, each into a run.
    pub(super) fn sort_parts(
        &mut self,
        reader: &mut Reader,
        sorter: &Sorter,
        limit: u64,
    ) -> Result<Report, Error> {
        let sort = report::Report::on_cpu(report::Form::InOrder, Duration::ZERO);
        let mut report = Report::new(self.job.ask.format, sort, String::new());
        let expected = (self.tables.bytes() / limit.max(1) + 2).min(FAN_IN as u64);
        // So many of all runs fit an eighth.
        let rows = limit * TIMES / 8 / expected / self.tables.row_bytes();
        let rows = usize::try_from(rows).unwrap_or(usize::MAX).clamp(1 << 6, 1 << 16);
        let mut phases = Phases::default();
        let mut start = Instant::now();
        while let Some(batches) = reader.next(limit)? {
            phases.read += start.elapsed();
            let before = report.records;
            let batches = if self.job.ask.positions { numbered(batches, before)? } else { batches };
            let keys_of = |batch| KeyArrays::of(self.keys, batch, self.reading.columns());
            let arrays: Vec<KeyArrays> = batches.iter().map(keys_of).collect();
            let arrays = KeyArrays::joined(&arrays)?;
            report.records += arrays.rows() as u64;
            let place = |row: usize| self.tables.place(before + row as u64);
            let done = order(&arrays, self.keys, self.job, sorter, &mut report.counts, place)?;
            report.sort = done.report.after(&report.sort);
            report.repeated += done.repeated;
            start = Instant::now();
            self.write_run(batches, &arrays, &done.positions, rows)?;
            phases.write += start.elapsed();
            self.job.watch.phase(Phase::Read, Some(self.tables.rows()));
            self.job.watch.set(report.records);
            start = Instant::now();
        }
        self.close()?;
        report.phases = phases;
        report.bytes = self.tables.size;
        report.types = types(self.keys);
        report.runs = self.runs.len();
        let bytes = |run: &RunSource| if let RunSource::Spilled(spilled) = run { spilled.bytes() } else { 0 };
        report.spilled_bytes = self.runs.iter().map(bytes).sum();
        Ok(report)
    }

    /// Writes these rows of all: into the open run, if they continue it.
    fn write_run(
        &mut self,
        batches: Vec<RecordBatch>,
        keys: &KeyArrays,
        positions: &[u32],
        rows: usize,
    ) -> Result<(), Error> {
        let (Some(&first), Some(&last)) = (positions.first(), positions.last()) else { return Ok(()) };
        let [first, last] = [first, last].map(|row| keys.slice(row as usize, 1));
        let follows = match &self.open {
            Some(open) => {
                let both = KeyArrays::joined(&[open.last.clone(), first])?;
                self.ranks(&both)?[0] == 0 && !self.job.ask.selection.unique
            }
            None => false,
        };
        if !follows {
            self.close()?;
        }
        let schema = batches[0].schema();
        let mut columns: Vec<Vec<ArrayRef>> = schema.fields().iter().map(|_| Vec::new()).collect();
        for batch in batches {
            let (_, arrays, _) = batch.into_parts();
            columns.iter_mut().zip(arrays).for_each(|(column, array)| column.push(array));
        }
        let arrays = columns.into_iter().zip(schema.fields()).map(|(chunks, field)| joined(field, &chunks));
        let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
        let mut open = match self.open.take() {
            Some(open) => open,
            None => {
                let spill = self.folders.create(self.job.budget.block())?;
                Open { writer: ipc::to_stream(spill, &schema)?, last: last.clone(), rows: 0 }
            }
        };
        for part in parts(positions.len(), rows) {
            let batch = compact(gathered(&schema, &arrays, &positions[part])?);
            open.writer.write(&batch).map_err(|error| self.spilled(error))?;
        }
        open.rows += positions.len() as u64;
        open.last = KeyArrays::joined(&[last])?.detached()?;
        self.open = Some(open);
        Ok(())
    }

    /// An error of a temporary file.
    fn spilled(&self, error: arrow_schema::ArrowError) -> Error {
        match error {
            arrow_schema::ArrowError::IoError(_, source) => Error::io("a temporary file", "write", source),
            error => failed(&error),
        }
    }

    /// Ends the open run.
    fn close(&mut self) -> Result<(), Error> {
        if let Some(mut open) = self.open.take() {
            open.writer.finish().map_err(|error| self.spilled(error))?;
            let spill = open.writer.into_inner().map_err(|error| self.spilled(error))?;
            self.runs.push(RunSource::Spilled(Arc::new(spill.finish()?)));
        }
        Ok(())
    }

    /// The rank of each row.
    fn ranks(&self, arrays: &KeyArrays) -> Result<Vec<u32>, Error> {
        let order = self.positions(arrays)?;
        let mut ranks = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&row, rank)| ranks[row as usize] = rank);
        Ok(ranks)
    }

    fn positions(&self, arrays: &KeyArrays) -> Result<Vec<u32>, Error> {
        let decoded = arrays.decoded(self.keys, self.tables.all[0].name())?;
        Ok(Sorter::cpu().argsort_columns(&decoded.columns())?.0)
    }

    /// Merges all runs into the output.
    pub(super) fn write(&mut self, output: &mut Output) -> Result<WrittenRows, Error> {
        // Into longer ones first, if there are very many.
        while self.runs.len() > FAN_IN && !matches!(self.runs[0], RunSource::Input(_)) {
            let mut longer = Vec::new();
            let mut runs = std::mem::take(&mut self.runs).into_iter();
            loop {
                let some: Vec<RunSource> = runs.by_ref().take(FAN_IN).collect();
                if some.is_empty() {
                    break;
                }
                let mut writer = None;
                self.merge(some, &mut WrittenRows::default(), &mut |batch| {
                    if writer.is_none() {
                        let spill = self.folders_of_merge()?;
                        writer = Some(ipc::to_stream(spill, &batch.schema())?);
                    }
                    let to = writer.as_mut().expect("it was made");
                    to.write(&compact(batch)).map_err(|error| self.spilled(error))
                })?;
                if let Some(mut writer) = writer {
                    writer.finish().map_err(|error| self.spilled(error))?;
                    let spill = writer.into_inner().map_err(|error| self.spilled(error))?;
                    longer.push(RunSource::Spilled(Arc::new(spill.finish()?)));
                }
            }
            self.runs = longer;
        }
        self.job.watch.phase(Phase::Merge, Some(self.tables.rows()));
        let runs = std::mem::take(&mut self.runs);
        let mut written = WrittenRows::default();
        if self.job.ask.positions {
            let mut positions = Vec::new();
            self.merge(runs, &mut written, &mut |batch| {
                let last = batch.num_columns() - 1;
                positions.extend_from_slice(crate::columns::arrow::numbers_of::<u64>(batch.column(last)));
                Ok(())
            })?;
            write_positions(positions.into_iter(), self.tables.rows(), self.job.ask.format, output)?;
            return Ok(written);
        }
        let mut sink = Sink::new(self.tables, self.keys, self.job, output, usize::try_from(self.job.budget.bytes() / 4).ok())?;
        self.merge(runs, &mut written, &mut |batch| sink.write(batch))?;
        sink.finish()?;
        Ok(written)
    }
}

/// The batches with a column more: the positions of their rows.
fn numbered(batches: Vec<RecordBatch>, mut first: u64) -> Result<Vec<RecordBatch>, Error> {
    let with_numbers = |batch: RecordBatch| {
        let rows = batch.num_rows() as u64;
        let mut fields: Vec<Arc<Field>> = batch.schema().fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("position", DataType::UInt64, false)));
        let mut columns = batch.columns().to_vec();
        columns.push(Arc::new(UInt64Array::from_iter_values(first..first + rows)));
        first += rows;
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|error| failed(&error))
    };
    batches.into_iter().map(with_numbers).collect()
}

/// The rows of a run that are in memory, and what gives the next.
struct Run {
    window: RecordBatch,
    keys: KeyArrays,
    batches: Batches,
    /// Of an input: its name, and the rows before the window.
    checked: Option<(String, u64)>,
    last: Option<KeyArrays>,
    is_over: bool,
}

impl Merging<'_, '_> {
    /// A place for a longer run.
    fn folders_of_merge(&self) -> Result<Spill, Error> {
        let folders = Folders::new(self.job.folders.clone()).within(&self.job.budget).cancelled_by(&self.job.cancel);
        let mut folders = folders;
        folders.create(self.job.budget.block())
    }

    fn batches_of(&self, run: RunSource) -> Result<(Batches, Option<(String, u64)>), Error> {
        match run {
            RunSource::Spilled(spilled) => {
                let read = |error: arrow_schema::ArrowError| match error {
                    arrow_schema::ArrowError::IoError(_, source) => Error::io("a temporary file", "read", source),
                    error => failed(&error),
                };
                let reader = StreamReader::try_new(spilled.read(), None).map_err(read)?;
                Ok((Box::new(reader.map(move |batch| batch.map_err(read))), None))
            }
            RunSource::Input(number) => {
                let table = &self.tables.all[number];
                let rows = usize::try_from(self.job.budget.bytes() / 8 / self.tables.all.len() as u64 / self.tables.row_bytes());
                let rows = rows.unwrap_or(usize::MAX).clamp(1 << 10, 1 << 16);
                let parts = table.parts(number);
                let mut first: u64 = self.tables.parts.iter().filter(|part| part.table < number).map(|part| part.rows).sum();
                let mut batches = Vec::new();
                // What is opened is small: pages are read as batches are.
                for part in parts {
                    batches.push(self.reading.read(part, rows)?);
                }
                let all = batches.into_iter().flatten();
                let all: Batches = if self.job.ask.positions {
                    Box::new(all.map(move |batch| {
                        let batch = batch?;
                        let rows = batch.num_rows() as u64;
                        let numbered = numbered(vec![batch], first)?.remove(0);
                        first += rows;
                        Ok(numbered)
                    }))
                } else {
                    Box::new(all)
                };
                Ok((all, Some((table.name().to_owned(), 0))))
            }
        }
    }

    /// The next window of a run.
    fn load(&self, run: &mut Run, counts: &mut Counts) -> Result<(), Error> {
        loop {
            let Some(batch) = run.batches.next() else {
                run.is_over = true;
                return Ok(());
            };
            let batch = batch?;
            if batch.num_rows() == 0 {
                continue;
            }
            let keys = KeyArrays::of(self.keys, &batch, self.reading.columns());
            if let Some((name, passed)) = &mut run.checked {
                let place = |row: usize| format!("{name}: row {}", *passed + row as u64);
                let decoded = keys.decoded(self.keys, name)?;
                decoded.count(self.keys, counts, place)?;
                if let Some(disorder) = super::check::first_disorder(run.last.as_ref(), &keys, self.keys, name, *passed, false)? {
                    return Err(Error::input(disorder.place.clone(), format!("out of order: {} after {}", disorder.value, disorder.before)).hinting(Hint::Sort));
                }
                run.last = Some(keys.slice(keys.rows() - 1, 1).detached()?);
                *passed += batch.num_rows() as u64;
            }
            (run.window, run.keys) = (batch, keys);
            return Ok(());
        }
    }

    fn merge(
        &self,
        sources: Vec<RunSource>,
        written: &mut WrittenRows,
        emit: &mut dyn FnMut(RecordBatch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let selection = self.job.ask.selection;
        let most = selection.first.map_or(u64::MAX, |first| first as u64);
        let empty = RecordBatch::new_empty(self.reading.schema.clone());
        let mut runs = Vec::new();
        for source in sources {
            let (batches, checked) = self.batches_of(source)?;
            let keys = self.reading.no_keys();
            runs.push(Run { window: empty.clone(), keys, batches, checked, last: None, is_over: false });
        }
        // The keys of the last row that was written.
        let mut last: Option<KeyArrays> = None;
        let mut done = 0;
        while written.rows < most {
            for run in &mut runs {
                if run.keys.rows() == 0 && !run.is_over {
                    self.load(run, &mut written.counts)?;
                }
            }
            runs.retain(|run| run.keys.rows() > 0);
            if runs.is_empty() {
                break;
            }
            let (bound, taking) = self.bound(&runs)?;
            let keys: Vec<KeyArrays> = taking.iter().map(|&run| runs[run].keys.clone()).collect();
            let joined_keys = KeyArrays::joined(&keys)?;
            let mut positions = if taking.len() == 1 {
                (0..joined_keys.rows() as u32).collect()
            } else {
                self.positions(&joined_keys)?
            };
            // Up to the last row of the run whose rows end first.
            let place = taking.iter().position(|&run| run == bound).unwrap_or(0);
            let ends: Vec<usize> = keys.iter().scan(0, |all, keys| { *all += keys.rows(); Some(*all) }).collect();
            let end = (ends[place] - 1) as u32;
            let length = positions.iter().position(|&row| row == end).map_or(positions.len(), |at| at + 1);
            positions.truncate(length);
            // Of each run these are its first rows.
            let mut counts = vec![0; taking.len()];
            for &row in &positions {
                counts[ends.partition_point(|&end| end <= row as usize)] += 1;
            }
            if selection.unique {
                let with_last: Vec<KeyArrays> = std::iter::once(joined_keys.clone()).chain(last.clone()).collect();
                let all = KeyArrays::joined(&with_last)?;
                let decoded = all.decoded(self.keys, self.tables.all[0].name())?;
                let is_same = decoded.sameness();
                let before = positions.len();
                positions.dedup_by(|later, first| is_same(*first as usize, *later as usize));
                if last.is_some() && is_same(joined_keys.rows(), positions[0] as usize) {
                    positions.remove(0);
                }
                written.repeated += (before - positions.len()) as u64;
            }
            positions.truncate(usize::try_from(most - written.rows).unwrap_or(usize::MAX));
            if let Some(&row) = positions.last().filter(|_| selection.unique) {
                last = Some(joined_keys.slice(row as usize, 1).detached()?);
            }
            written.rows += positions.len() as u64;
            if !positions.is_empty() {
                let starts: Vec<usize> = counts.iter().scan(0, |all, count| { let start = *all; *all += count; Some(start) }).collect();
                for row in &mut positions {
                    let run = ends.partition_point(|&end| end <= *row as usize);
                    let first = run.checked_sub(1).map_or(0, |before| ends[before]);
                    *row = (*row as usize - first + starts[run]) as u32;
                }
                let schema = runs[taking[0]].window.schema();
                let windows: Vec<RecordBatch> =
                    taking.iter().zip(&counts).map(|(&run, &count)| runs[run].window.slice(0, count)).collect();
                emit(taken(&schema, &windows, &positions)?)?;
            }
            for (&run, &count) in taking.iter().zip(&counts) {
                let run = &mut runs[run];
                let left = run.keys.rows() - count;
                run.window = run.window.slice(count, left);
                run.keys = run.keys.slice(count, left);
                done += count as u64;
            }
            self.job.watch.set(done);
        }
        Ok(())
    }

    /// The run whose window ends first in order, and those that have rows before that end.
    fn bound(&self, runs: &[Run]) -> Result<(usize, Vec<usize>), Error> {
        if runs.len() == 1 {
            return Ok((0, vec![0]));
        }
        let ends: Vec<KeyArrays> =
            runs.iter().flat_map(|run| [run.keys.slice(0, 1), run.keys.slice(run.keys.rows() - 1, 1)]).collect();
        let ranks = self.ranks(&KeyArrays::joined(&ends)?)?;
        let bound = (0..runs.len()).min_by_key(|run| ranks[2 * run + 1]).unwrap_or(0);
        let taking = (0..runs.len()).filter(|&run| run == bound || ranks[2 * run] < ranks[2 * bound + 1]).collect();
        Ok((bound, taking))
    }
}

/// These rows of some batches, one after another.
fn taken(schema: &SchemaRef, batches: &[RecordBatch], rows: &[u32]) -> Result<RecordBatch, Error> {
    let is_all = rows.iter().zip(0..).all(|(&row, at)| row == at);
    if let ([one], true) = (batches, is_all) {
        return Ok(one.slice(0, rows.len()));
    }
    let column = |number: usize| {
        let chunks: Vec<ArrayRef> = batches.iter().map(|batch| batch.column(number).clone()).collect();
        let all = joined(schema.field(number), &chunks)?;
        let rows = arrow_array::UInt32Array::from(rows.to_vec());
        arrow_select::take::take(&all, &rows, None).map_err(|error| failed(&error))
    };
    let columns = map_parts(0..schema.fields().len(), column).into_iter().collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(|error| failed(&error))
}
