//! Merges runs of rows: sorted parts in temporary files, or inputs in order.
//!
//! The rows of a run are records whose keys are comparable bytes; merged rows are gathered from their batches.

use std::sync::Mutex;
use std::{mem, slice, thread};

use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};

use super::copies::{self, Copied};
use super::keys::KeyArrays;
use super::read::{Reader, TableScan, compact};
use super::write::{Sink, all_joined, order_of};
use super::{group_room, order, write_positions};
use crate::columns::arrow::numbers_of;
use crate::job::Job;
use crate::progress::Phase;
use crate::report::Report;
use gpusort_base::clock::timed;
use gpusort_base::error::Error;
use gpusort_base::parallel::{self, lock, map_parts, ranges};
use gpusort_engine::sorter::Sorter;
use gpusort_external::{
    Emit, Folders, Last, MergeSpec, Merged, RowBatches, Spill, Spilled, merge_down, merge_rows, not_sorted,
};
use gpusort_formats::arrow::arrays::{self, gathered, interleaved};
use gpusort_formats::arrow::{Part, failed, unwritten};
use gpusort_formats::piece::Piece;
use gpusort_formats::{Counts, Output};
use gpusort_order::Selection;

/// The maximum number of runs merged at once.
const FAN_IN: usize = 64;

/// The number of batches of a run in memory.
const WINDOW: usize = 4;

/// Takes rows in order, batch by batch.
pub(super) type EmitRows<'e> = &'e mut (dyn FnMut(RecordBatch) -> Result<(), Error> + Send);

/// The rows of a run, batch by batch.
pub(super) enum RunSource {
    /// In a temporary file.
    Spilled(Spilled),
    /// In these parts of an input.
    Input(Vec<Part>),
}

impl RunSource {
    /// Returns the length in relation to other runs: bytes in files, or 1.
    fn length(&self) -> u64 {
        if let Self::Spilled(spilled) = self { spilled.bytes } else { 1 }
    }
}

/// Runs of the rows of tables.
pub(super) struct Merging<'a> {
    job: &'a Job<'a>,
    reading: TableScan<'a>,
    folders: Folders,
    runs: Vec<RunSource>,
    /// The run being written, and the keys of its last row, as comparable bytes.
    open: Option<(StreamWriter<Spill>, Vec<u8>)>,
}

impl<'a> Merging<'a> {
    pub(super) fn new(reading: TableScan<'a>) -> Self {
        let job = reading.tables.job;
        Self { job, reading, folders: job.folders(), runs: Vec::new(), open: None }
    }

    /// Sorts the rows in parts of about `limit` bytes, and writes them into runs.
    pub(super) fn sort_parts(&mut self, sorter: &Sorter, limit: u64) -> Result<Report, Error> {
        let mut reader = Reader::new(self.reading.clone());
        let mut report = Report::new(self.job.ask.format);
        let runs = (self.reading.tables.bytes / limit.max(1) + 2).min(FAN_IN as u64);
        let rows = (self.window(runs) / WINDOW).clamp(self.reading.least(1 << 5), 1 << 15);
        let mut part = timed(&mut report.phases.read, || reader.next(limit))?;
        while let Some(batches) = part {
            let batches = self.reading.all_with_added(batches, report.records)?;
            let arrays = self.reading.keys_of(&batches)?;
            let positions = order(&self.reading, &arrays, sorter, &mut report)?;
            self.job.watch.phase(Phase::Read, Some(self.reading.tables.rows));
            // The next part is read while this part is written.
            part = thread::scope(|scope| {
                let coming = parallel::meanwhile(scope, || reader.next(limit));
                let write = || self.write_run(batches, &arrays, &positions, rows);
                let written = timed(&mut report.phases.write, write);
                let coming = timed(&mut report.phases.read, || coming.wait());
                written.and(coming)
            })?;
        }
        self.close()?;
        report.runs = self.runs.len();
        // All runs of a sort are in temporary files.
        report.spilled_bytes = self.runs.iter().map(RunSource::length).sum();
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
        let [first, last] = [first, last].map(|row| keys.key(row as usize));
        let (first, last) = (first?, last?);
        let is_unique = self.reading.tables.ask.selection.unique;
        if self.open.as_ref().is_some_and(|(_, last)| is_unique || *last > first) {
            self.close()?;
        }
        let arrays = all_joined(&mut arrays::chunks(batches))?;
        let mut writer = if let Some((writer, _)) = self.open.take() { writer } else { self.begin_run()? };
        let parts: Vec<_> = ranges(positions.len(), rows).collect();
        for parts in parts.chunks(4 * parallel::threads()) {
            let batches = map_parts(parts, |part| {
                let rows = gathered(&self.reading.whole, &arrays, &positions[part.clone()]);
                rows.and_then(|batch| compact(&batch))
            });
            batches.into_iter().try_for_each(|batch| writer.write(&batch?)).map_err(unspilled)?;
        }
        self.open = Some((writer, last));
        Ok(())
    }

    /// Returns the number of rows of each of `runs` runs in memory.
    fn window(&self, runs: u64) -> usize {
        /// The divisor of the budget for all windows. Their ordered rows exist several more times: joined,
        /// gathered, and waiting to be encoded.
        const PART: u64 = 6;
        let rows = super::room(&self.job.budget) / PART / runs.max(1) / self.reading.row_bytes();
        usize::try_from(rows).unwrap_or(usize::MAX).clamp(self.reading.least(1 << 7), 1 << 17)
    }

    /// Ends the open run.
    fn close(&mut self) -> Result<(), Error> {
        if let Some((writer, _)) = self.open.take() {
            self.runs.push(ended(writer)?);
        }
        Ok(())
    }

    /// Begins a run in a temporary file.
    fn begin_run(&mut self) -> Result<StreamWriter<Spill>, Error> {
        let spill = self.folders.create(self.job.budget.block())?;
        StreamWriter::try_new(spill, &self.reading.whole).map_err(failed)
    }

    /// Merges all runs, and passes the rows to `emit` in order, batch by batch.
    pub(super) fn each(&mut self, emit: EmitRows) -> Result<Merged, Error> {
        let mut repeated = 0;
        let runs = mem::take(&mut self.runs);
        let runs = merge_down(runs, FAN_IN, |some| {
            let mut writer = self.begin_run()?;
            let merged = self.merge(some, Segment::default(), &mut |batch| {
                compact(&batch).and_then(|batch| writer.write(&batch)).map_err(unspilled)
            })?;
            repeated += merged.repeated;
            ended(writer)
        })?;
        self.job.watch.phase(Phase::Merge, Some(self.reading.tables.rows));
        let mut merged = self.merge(runs, Segment::default(), emit)?;
        merged.repeated += repeated;
        Ok(merged)
    }

    /// Merges all runs into the output.
    pub(super) fn write(&mut self, output: &mut Output) -> Result<Merged, Error> {
        let (tables, reading) = (self.reading.tables, self.reading.clone());
        if tables.ask.positions {
            let mut positions = Vec::new();
            let merged = self.each(&mut |batch| {
                positions.extend_from_slice(added_numbers(&batch));
                Ok(())
            })?;
            write_positions(positions.into_iter(), tables.rows, self.job.ask.format, output)?;
            return Ok(merged);
        }
        let mut sink = self.sink(output)?;
        let merged = self.each(&mut |batch| sink.write(reading.without_added(batch)?))?;
        sink.finish()?;
        Ok(merged)
    }

    fn sink<'o, 'w>(&self, output: &'o mut Output<'w>) -> Result<Sink<'o, 'w>, Error> {
        let most = group_room(&self.job.budget);
        Sink::new(
            self.reading.tables,
            self.reading.schema.clone(),
            &order_of(self.reading.keys),
            output,
            most,
        )
    }

    /// Merges the inputs into the output, and copies row groups that overlap with no other. Returns the number of copied
    /// row groups, too, and of their rows.
    pub(super) fn write_inputs(&mut self, output: &mut Output) -> Result<(Merged, [u64; 2]), Error> {
        let (tables, mut sink, counts) = (self.reading.tables, self.sink(output)?, Mutex::default());
        let are_all = tables.ask.selection == Selection::ALL;
        let takes = |part: Part| are_all && sink.takes(tables, part);
        let steps = copies::steps(&self.reading, takes, &counts)?;
        let mut merged = Merged { counts: mem::take(&mut lock(&counts)), ..Merged::default() };
        let (mut after, mut groups, mut rows) = (None, 0, 0);
        for (parts, copied) in &steps {
            let before = copied.as_ref().map(|copied| &copied.first);
            let segment = Segment { done: merged.read, after, before };
            let runs = parts.chunk_by(|one, next| one.table == next.table);
            let runs: Vec<_> = runs.map(|parts| RunSource::Input(parts.to_vec())).collect();
            if !runs.is_empty() {
                merged.add(&self.merge(runs, segment, &mut |batch| sink.write(batch))?);
            }
            if let Some(Copied { part, first, last }) = copied {
                segment.check(tables.all[part.table].name(), first, first)?;
                sink.copy(tables, *part)?;
                merged.add(&Merged { read: part.rows, written: part.rows, ..Merged::default() });
                (groups, rows) = (groups + 1, rows + part.rows);
                after = Some(last);
            }
        }
        sink.finish()?;
        Ok((merged, [groups, rows]))
    }
}

/// A part of the output: the number of earlier rows, and the keys of the copied rows before and after it, with the
/// numbers of their tables.
#[derive(Clone, Copy, Default)]
struct Segment<'s> {
    done: u64,
    after: Option<&'s (Vec<u8>, usize)>,
    before: Option<&'s (Vec<u8>, usize)>,
}

impl Segment<'_> {
    /// Checks that rows of an input lie between the copied rows, as the statistics say.
    fn check(&self, name: &str, first: &(Vec<u8>, usize), last: &(Vec<u8>, usize)) -> Result<(), Error> {
        if self.after.is_some_and(|after| first < after) || self.before.is_some_and(|before| last > before) {
            let problem = "the statistics of a row group contradict its rows; write the file again";
            return Err(Error::input(name, problem));
        }
        Ok(())
    }
}

/// Completes a run.
fn ended(mut writer: StreamWriter<Spill>) -> Result<RunSource, Error> {
    writer.finish().map_err(unspilled)?;
    let spill = writer.into_inner().map_err(unspilled)?;
    Ok(RunSource::Spilled(spill.finish()?))
}

/// Returns the added column of a batch.
pub(super) fn added_numbers(batch: &RecordBatch) -> &[u64] {
    numbers_of::<u64>(batch.column(batch.num_columns() - 1))
}

/// Returns the error of writing a run.
fn unspilled(error: ArrowError) -> Error {
    unwritten("a temporary file", "write", error)
}

impl Merging<'_> {
    /// Returns the rows of a run with their keys, in batches for a window of about `window` rows. The order of
    /// inputs is checked, and their nulls are counted.
    fn pieces<'b>(
        &'b self,
        run: RunSource,
        window: usize,
        counts: &'b Mutex<Counts>,
        segment: Segment<'b>,
    ) -> Result<RowBatches<'b>, Error> {
        let reading = &self.reading;
        let parts = match run {
            RunSource::Spilled(run) => {
                let name = "a temporary file";
                let failed = move |error| unwritten(name, "read", error);
                let reader = StreamReader::try_new(run, None).map_err(failed)?;
                let piece = move |batch: Result<RecordBatch, _>| {
                    reading.piece(reading.shared(batch.map_err(failed)?)?, 0, name, None)
                };
                return Ok(Box::new(reader.map(piece)));
            }
            RunSource::Input(parts) => parts,
        };
        let Part { table: number, first: mut at, .. } = parts[0];
        let table = &reading.tables.all[number];
        let rows = (window / WINDOW).max(reading.least(1 << 10));
        let mut last = Last::default();
        let show = |piece: &Piece, record, key| reading.show(piece, record, key);
        let piece = move |batch| {
            let first = at;
            let batch = reading.with_added(batch?, first)?;
            at += batch.num_rows() as u64;
            let piece = reading.piece(batch, first, table.name(), Some(counts))?;
            if let Some((.., disorder)) = last.follow(&show, slice::from_ref(&piece), None) {
                return Err(not_sorted(disorder));
            }
            let [first, last] = [0, piece.len() - 1].map(|row| (piece.keys.key(row), number));
            segment.check(table.name(), &first, &last)?;
            Ok(piece)
        };
        let batches = parts.into_iter().flat_map(move |part| reading.read_slices(part, rows));
        Ok(Box::new(batches.map(piece)))
    }

    fn merge(&self, sources: Vec<RunSource>, segment: Segment, emit: EmitRows) -> Result<Merged, Error> {
        let (window, counts) = (self.window(sources.len() as u64), Mutex::default());
        // Shares are three quarters of this: a window of each run.
        let bytes = sources.len() * window * self.reading.row_bytes() as usize / 3 * 4;
        let pieces = sources.into_iter().map(|source| {
            let length = source.length();
            Ok((self.pieces(source, window, &counts, segment)?, length))
        });
        let pieces = pieces.collect::<Result<Vec<_>, Error>>()?;
        let (selection, emits) = (self.reading.tables.ask.selection, Emit::Rows);
        let records = MergeSpec { selection, emit: emits, bytes, orders: &[] };
        let gather =
            |pieces: &[&Piece], rows| gathered_rows(&self.reading.whole, pieces, rows).map_err(failed);
        let progress = &mut |read| self.job.watch.set(segment.done + read);
        let mut merged = merge_rows(pieces, &records, gather, emit, progress)?;
        merged.counts.add_all(&lock(&counts));
        Ok(merged)
    }
}

/// Returns these rows of pieces, each by the numbers of its piece and of the row in the piece.
fn gathered_rows(
    schema: &SchemaRef,
    pieces: &[&Piece],
    mut rows: Vec<(usize, usize)>,
) -> Result<RecordBatch, ArrowError> {
    let Some(&(piece, first)) = rows.first() else { return Ok(RecordBatch::new_empty(schema.clone())) };
    if rows.iter().zip(first..).all(|(&place, row)| place == (piece, row)) {
        return Ok(pieces[piece].rows().0.slice(first, rows.len()));
    }
    // The batches with any of these rows.
    let (mut batches, mut numbers) = (Vec::new(), vec![None; pieces.len()]);
    for (piece, _) in &mut rows {
        let batch = pieces[*piece].rows().0;
        *piece = *numbers[*piece].get_or_insert_with(|| {
            batches.push(batch);
            batches.len() - 1
        });
    }
    let column = |column: usize| {
        let arrays: Vec<&dyn Array> = batches.iter().map(|batch| &**batch.column(column)).collect();
        interleaved(&arrays, &rows)
    };
    let columns = map_parts(0..schema.fields().len(), column).into_iter().collect::<Result<_, _>>()?;
    arrays::batch(schema, columns, rows.len())
}
