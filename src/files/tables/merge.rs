//! Merges runs of rows: sorted parts in temporary files, or inputs in order.
//!
//! A window of the rows of each run is in memory. The least of the last rows of all windows is the bound:
//! the rows up to the bound in all windows precede the rows still to be read, and are ordered together and
//! written.

use std::collections::VecDeque;
use std::iter;
use std::mem;
use std::sync::Arc;
use std::thread;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use arrow_select::take::take;

use super::super::job::Job;
use super::check::InOrder;
use super::keys::{KeyArrays, ranks};
use super::read::{Reader, Reading, compact};
use super::write::{Sink, all_joined};
use super::{order, write_positions};
use crate::clock::Instant;
use crate::columns::arrow::numbers_of;
use crate::error::Error;
use crate::files::progress::Phase;
use crate::files::report::Report;
use crate::io::arrow::arrays::{self, gathered, joined};
use crate::io::arrow::{Batches, failed, unwritten};
use crate::io::ordered::{MergeSource, Merged, RunCursor, Step, merge_runs, not_sorted};
use crate::io::{Counts, Output};
use crate::parallel::{self, map_parts, ranges};
use crate::runs::{Folders, Spill, Spilled};
use crate::sorter::Sorter;

/// The maximum number of runs merged at once.
const FAN_IN: usize = 64;

/// The number of batches of a run in memory.
const WINDOW: usize = 4;

/// The rows of a run, batch by batch.
pub(super) enum RunSource {
    /// In a temporary file.
    Spilled(Spilled),
    /// In the input of this number.
    Input(usize),
}

/// A run being written.
struct Open {
    writer: StreamWriter<Spill>,
    /// The keys of its last row.
    last: KeyArrays,
}

/// Runs of the rows of tables.
pub(super) struct Merging<'a> {
    job: &'a Job<'a>,
    reading: Reading<'a>,
    /// The schema of the batches of runs.
    schema: SchemaRef,
    folders: Folders,
    pub(super) runs: Vec<RunSource>,
    open: Option<Open>,
}

impl<'a> Merging<'a> {
    pub(super) fn new(reading: Reading<'a>) -> Self {
        let job = reading.tables.job;
        let folders = Folders::new(job.folders.clone()).within(&job.budget).cancelled_by(&job.cancel);
        let mut schema = reading.schema.clone();
        if job.ask.positions {
            let position = Arc::new(Field::new("position", DataType::UInt64, false));
            let fields = schema.fields().iter().cloned().chain([position]).collect::<Fields>();
            schema = Arc::new(Schema::new(fields));
        }
        Self { job, reading, schema, folders, runs: Vec::new(), open: None }
    }

    /// Sorts the rows in parts of about `limit` bytes, and writes them into runs.
    pub(super) fn sort_parts(&mut self, sorter: &Sorter, limit: u64) -> Result<Report, Error> {
        let mut reader = Reader::new(self.reading.clone());
        let mut report = Report::new(self.job.ask.format);
        let runs = (self.reading.tables.bytes() / limit.max(1) + 2).min(FAN_IN as u64);
        let rows = (self.window(runs) / WINDOW).clamp(1 << 5, 1 << 15);
        let start = Instant::now();
        let mut part = reader.next(limit)?;
        report.phases.read = start.elapsed();
        while let Some(batches) = part {
            let arrays = self.reading.keys_of(&batches)?;
            let mut at = report.records;
            let batches = batches.into_iter().map(|batch| self.numbered(batch, &mut at));
            let batches = batches.collect::<Result<Vec<_>, _>>()?;
            let positions = order(&self.reading, &arrays, sorter, &mut report)?;
            self.job.watch.phase(Phase::Read, Some(self.reading.tables.rows()));
            // The next part is read while this part is written.
            part = thread::scope(|scope| {
                let coming = parallel::meanwhile(scope, || reader.next(limit));
                let start = Instant::now();
                let written = self.write_run(batches, &arrays, &positions, rows);
                let waiting = Instant::now();
                report.phases.write += waiting - start;
                let coming = coming.wait();
                report.phases.read += waiting.elapsed();
                written.and(coming)
            })?;
        }
        self.close()?;
        report.runs = self.runs.len();
        let bytes = |run: &RunSource| if let RunSource::Spilled(spilled) = run { spilled.bytes } else { 0 };
        report.spilled_bytes = self.runs.iter().map(bytes).sum();
        Ok(report)
    }

    /// Writes the rows at these positions, into the open run if they continue it.
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
                self.reading.order(&both)?[0] == 0 && !self.job.ask.selection.unique
            }
            None => false,
        };
        if !follows {
            self.close()?;
        }
        let arrays = all_joined(&self.schema, 0, &mut arrays::chunks(batches))?;
        let mut writer = if let Some(open) = self.open.take() { open.writer } else { self.begin_run()? };
        let parts: Vec<_> = ranges(positions.len(), rows).collect();
        for parts in parts.chunks(4 * parallel::threads()) {
            let batches = map_parts(parts, |part| {
                let rows = gathered(&self.schema, &arrays, &positions[part.clone()]);
                rows.and_then(|batch| compact(&batch))
            });
            batches.into_iter().try_for_each(|batch| writer.write(&batch?)).map_err(unspilled)?;
        }
        self.open = Some(Open { writer, last: last.detached()? });
        Ok(())
    }

    /// Returns the number of rows of each of `runs` runs in memory.
    fn window(&self, runs: u64) -> usize {
        /// The divisor of the budget for all windows. Their ordered rows exist several more times: joined,
        /// gathered, and waiting to be encoded.
        const PART: u64 = 8;
        let rows = super::room(&self.job.budget) / PART / runs.max(1) / self.reading.tables.row_bytes();
        usize::try_from(rows).unwrap_or(usize::MAX).clamp(1 << 7, 1 << 17)
    }

    /// Ends the open run.
    fn close(&mut self) -> Result<(), Error> {
        if let Some(open) = self.open.take() {
            self.runs.push(ended(open.writer)?);
        }
        Ok(())
    }

    /// Begins a run in a temporary file.
    fn begin_run(&mut self) -> Result<StreamWriter<Spill>, Error> {
        let spill = self.folders.create(self.job.budget.block())?;
        StreamWriter::try_new(spill, &self.schema).map_err(failed)
    }

    /// Merges all runs into the output.
    pub(super) fn write(&mut self, output: &mut Output) -> Result<Merged, Error> {
        let mut repeated = 0;
        // Very many runs are first merged into longer runs.
        while self.runs.len() > FAN_IN && !matches!(self.runs[0], RunSource::Input(_)) {
            let mut longer = Vec::new();
            let mut runs = mem::take(&mut self.runs).into_iter();
            while runs.len() > 0 {
                let some = runs.by_ref().take(FAN_IN).collect();
                let mut writer = self.begin_run()?;
                let merged = self.merge(some, &mut |batch| {
                    compact(&batch).and_then(|batch| writer.write(&batch)).map_err(unspilled)
                })?;
                repeated += merged.repeated;
                longer.push(ended(writer)?);
            }
            self.runs = longer;
        }
        let (tables, format) = (self.reading.tables, self.job.ask.format);
        self.job.watch.phase(Phase::Merge, Some(tables.rows()));
        let runs = mem::take(&mut self.runs);
        let mut merged;
        if self.job.ask.positions {
            let mut positions = Vec::new();
            merged = self.merge(runs, &mut |batch| {
                let last = batch.num_columns() - 1;
                positions.extend_from_slice(numbers_of::<u64>(batch.column(last)));
                Ok(())
            })?;
            write_positions(positions.into_iter(), tables.rows(), format, output)?;
        } else {
            let most = usize::try_from(super::room(&self.job.budget) / 4).ok();
            let mut sink = Sink::new(tables, self.schema.clone(), self.reading.keys, output, most)?;
            merged = self.merge(runs, &mut |batch| sink.write(batch))?;
            sink.finish()?;
        }
        merged.repeated += repeated;
        Ok(merged)
    }
}

/// Completes a run.
fn ended(mut writer: StreamWriter<Spill>) -> Result<RunSource, Error> {
    writer.finish().map_err(unspilled)?;
    let spill = writer.into_inner().map_err(unspilled)?;
    Ok(RunSource::Spilled(spill.finish()?))
}

/// Returns the error of writing a run.
fn unspilled(error: ArrowError) -> Error {
    unwritten("a temporary file", "write", error)
}

/// The rows of a run in memory, and the source of further rows.
struct Rows<'b> {
    reading: &'b Reading<'b>,
    /// The approximate bytes of a row.
    row_bytes: usize,
    /// Batches, and their keys.
    window: VecDeque<(RecordBatch, KeyArrays)>,
    batches: Batches<'b>,
    /// The check of an input.
    check: Option<InOrder>,
    counts: Counts,
}

impl MergeSource for Rows<'_> {
    fn held(&self) -> usize {
        self.count() * self.row_bytes
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn read(&mut self, most: usize, _: &mut Option<Error>) -> Result<bool, Error> {
        while self.held() < most {
            let Some(batch) = self.batches.next().transpose()? else { return Ok(false) };
            if batch.num_rows() == 0 {
                continue;
            }
            let keys = self.reading.keys_of([&batch])?;
            if let Some(check) = &mut self.check {
                let place = |row: usize| format!("{}: row {}", check.name, check.passed + row as u64);
                let decoded = keys.decoded(self.reading.keys, &check.name)?;
                decoded.count(self.reading.keys, &mut self.counts, place)?;
                if let Some(disorder) = check.follow(&keys, self.reading.keys, false)? {
                    return Err(not_sorted(disorder));
                }
            }
            self.window.push_back((batch, keys));
        }
        Ok(true)
    }
}

impl Rows<'_> {
    /// Returns the number of rows in memory.
    fn count(&self) -> usize {
        self.window.iter().map(|(batch, _)| batch.num_rows()).sum()
    }

    /// Returns the keys of the first and of the last row in memory.
    fn ends(&self) -> Option<[KeyArrays; 2]> {
        let ((_, first), (_, last)) = (self.window.front()?, self.window.back()?);
        Some([first.slice(0, 1), last.slice(last.rows() - 1, 1)])
    }

    /// Takes the first `count` rows out of the window.
    fn take(&mut self, mut count: usize) -> Vec<RecordBatch> {
        let mut taken = Vec::new();
        while count > 0
            && let Some((batch, keys)) = self.window.pop_front()
        {
            let rows = batch.num_rows();
            if rows > count {
                let left = rows - count;
                self.window.push_front((batch.slice(count, left), keys.slice(count, left)));
            }
            taken.push(batch.slice(0, rows.min(count)));
            count -= rows.min(count);
        }
        taken
    }
}

impl Merging<'_> {
    /// Returns a batch of a run. If requested, adds a column of the positions of its rows, which begin
    /// with `at`.
    fn numbered(&self, batch: RecordBatch, at: &mut u64) -> Result<RecordBatch, Error> {
        if !self.job.ask.positions {
            return Ok(batch);
        }
        let (_, mut columns, rows) = batch.into_parts();
        let first = *at;
        *at += rows as u64;
        columns.push(Arc::new(UInt64Array::from_iter_values(first..*at)));
        arrays::batch(&self.schema, columns, rows).map_err(failed)
    }

    /// Opens a run with a window of about `window` rows. The order of inputs is checked.
    fn rows_of(&self, run: RunSource, window: usize) -> Result<Rows<'_>, Error> {
        let reading = &self.reading;
        let (batches, check): (Batches, _) = match run {
            RunSource::Spilled(run) => {
                let failed = |error| unwritten("a temporary file", "read", error);
                let reader = StreamReader::try_new(run, None).map_err(failed)?;
                (Box::new(reader.map(move |batch| batch.map_err(failed))), None)
            }
            RunSource::Input(number) => {
                let table = &reading.tables.all[number];
                let rows = (window / WINDOW).max(1 << 10);
                let before = reading.tables.parts.iter().filter(|part| part.table < number);
                let mut at: u64 = before.map(|part| part.rows).sum();
                let read = move |part| {
                    let batches = reading.read(part, rows);
                    batches.unwrap_or_else(|error| Box::new(iter::once(Err(error))))
                };
                let batches = table.parts(number).into_iter().flat_map(read);
                let numbered = batches.map(move |batch| self.numbered(batch?, &mut at));
                (Box::new(numbered), Some(InOrder::new(table.name(), 0)))
            }
        };
        let row_bytes = reading.tables.row_bytes() as usize;
        Ok(Rows { reading, row_bytes, window: VecDeque::new(), batches, check, counts: Counts::default() })
    }

    fn merge(
        &self,
        sources: Vec<RunSource>,
        emit: &mut (dyn FnMut(RecordBatch) -> Result<(), Error> + Send),
    ) -> Result<Merged, Error> {
        let window = self.window(sources.len() as u64);
        let run = |source| {
            let rows = self.rows_of(source, window)?;
            let most = window * rows.row_bytes;
            Ok(RunCursor::new(rows, most))
        };
        let mut runs = sources.into_iter().map(run).collect::<Result<Vec<_>, Error>>()?;
        let mut last = None;
        let merge = |runs: &mut [RunCursor<Rows>], left| self.merge_some(runs, left, &mut last);
        let write = |batch: RecordBatch| if batch.num_rows() > 0 { emit(batch) } else { Ok(()) };
        let progress = &mut |read| self.job.watch.set(read);
        let mut merged = merge_runs(&mut runs, self.job.ask.selection, merge, write, progress)?;
        runs.iter().for_each(|run| merged.counts.add_all(&run.source.counts));
        Ok(merged)
    }

    /// Merges at most `left` rows in memory that no unread row can precede. `last` holds the keys of the last
    /// row before them.
    fn merge_some(
        &self,
        runs: &mut [RunCursor<Rows>],
        left: u64,
        last: &mut Option<KeyArrays>,
    ) -> Result<Option<Step<RecordBatch>>, Error> {
        let unique = self.job.ask.selection.unique;
        let mut runs: Vec<_> = runs.iter_mut().filter(|run| !run.source.window.is_empty()).collect();
        if runs.is_empty() {
            return Ok(None);
        }
        let (bound, taking) = self.bound(&runs)?;
        let windows = taking.iter().flat_map(|&run| &runs[run].source.window);
        let all = KeyArrays::joined(&windows.map(|(_, keys)| keys.clone()).collect::<Vec<_>>())?;
        let mut positions = if let [_] = &taking[..] {
            (0..all.rows() as u32).collect()
        } else {
            self.reading.order(&all)?
        };
        // Takes the rows up to the last row of the run that ends first: the first rows of each run.
        let ends: Vec<usize> = sums(taking.iter().map(|&run| runs[run].source.count())).collect();
        let end = taking.iter().position(|&run| run == bound).map_or(0, |place| ends[place] as u32 - 1);
        let length = positions.iter().position(|&row| row == end).map_or(positions.len(), |at| at + 1);
        positions.truncate(length);
        let run_of = |row: u32| ends.partition_point(|&end| end <= row as usize);
        let mut counts = vec![0; taking.len()];
        positions.iter().for_each(|&row| counts[run_of(row)] += 1);
        let mut repeated = 0;
        if unique {
            let with_last: Vec<KeyArrays> = [all.clone()].into_iter().chain(last.clone()).collect();
            let with_last = KeyArrays::joined(&with_last)?;
            let decoded = with_last.decoded(self.reading.keys, self.reading.tables.all[0].name())?;
            let is_same = decoded.sameness();
            // The last row written, if any, comes behind all rows.
            let (mut kept, mut before) = (0, last.is_some().then_some(all.rows()));
            positions.retain(|&row| {
                let row = row as usize;
                let repeats = before.replace(row).is_some_and(|before| is_same(before, row));
                // Repetitions behind the last row that is written do not count.
                if kept < left {
                    kept += u64::from(!repeats);
                    repeated += u64::from(repeats);
                }
                !repeats
            });
        }
        positions.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        if let Some(&row) = positions.last().filter(|_| unique) {
            *last = Some(all.slice(row as usize, 1).detached()?);
        }
        let (read, written) = (counts.iter().sum::<usize>() as u64, positions.len() as u64);
        // The rows are numbered without the rows that stay in the windows before them.
        let staying = sums(taking.iter().zip(&counts).map(|(&run, &count)| runs[run].source.count() - count));
        let staying: Vec<usize> = [0].into_iter().chain(staying).collect();
        positions.iter_mut().for_each(|row| *row -= staying[run_of(*row)] as u32);
        let taken_of = |(&run, &count): (&usize, &usize)| runs[run].source.take(count);
        let batches: Vec<RecordBatch> = taking.iter().zip(&counts).flat_map(taken_of).collect();
        let merged = taken(&self.schema, batches, &positions).map_err(failed)?;
        let bytes = positions.len() * runs[bound].source.row_bytes;
        Ok(Some(Step { merged, read, written, repeated, bytes }))
    }

    /// Returns the run whose window ends first in order, and the runs with rows before that end.
    fn bound(&self, runs: &[&mut RunCursor<Rows>]) -> Result<(usize, Vec<usize>), Error> {
        let ends: Vec<KeyArrays> = runs.iter().filter_map(|run| run.source.ends()).flatten().collect();
        let ranks = ranks(&self.reading.order(&KeyArrays::joined(&ends)?)?);
        // Runs entirely in memory set no bound, unless every run is in memory.
        let is_open = |run: &usize| runs[*run].is_open();
        let all = 0..runs.len();
        let bound = all.clone().filter(is_open).min_by_key(|run| ranks[2 * run + 1]);
        let bound = bound.or_else(|| all.clone().max_by_key(|run| ranks[2 * run + 1])).unwrap_or(0);
        let taking = all.filter(|&run| run == bound || ranks[2 * run] < ranks[2 * bound + 1]).collect();
        Ok((bound, taking))
    }
}

/// Returns the running sums.
fn sums(all: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
    all.scan(0, |sum, one| {
        *sum += one;
        Some(*sum)
    })
}

/// Returns these rows of some batches, numbered across the batches.
fn taken(schema: &SchemaRef, batches: Vec<RecordBatch>, rows: &[u32]) -> Result<RecordBatch, ArrowError> {
    let is_all = rows.iter().zip(0..).all(|(&row, at)| row == at);
    if let ([one], true) = (&batches[..], is_all) {
        return Ok(one.slice(0, rows.len()));
    }
    let numbers = UInt32Array::from(rows.to_vec());
    let column = |chunks: Vec<ArrayRef>| take(&joined(chunks[0].data_type(), &chunks)?, &numbers, None);
    let columns = map_parts(arrays::chunks(batches), column).into_iter().collect::<Result<_, _>>()?;
    arrays::batch(schema, columns, rows.len())
}
