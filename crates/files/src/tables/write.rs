//! Writes rows of tables in their new order: columns are gathered and encoded on all cores.

use std::collections::VecDeque;
use std::io::Write;
use std::mem;
use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::SchemaRef;
use arrow_select::take::take;

use super::Tables;
use super::folder::Files;
use super::keys::TableKey;
use super::merge::EmitRows;
use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_base::parallel::{self, map_parts, ranges};
use gpusort_formats::arrow::arrays::{self, deduplicated, gathered, joined};
use gpusort_formats::arrow::parquet::{self, SortedColumn};
use gpusort_formats::arrow::{Part, Table, failed, ipc, to_text};
use gpusort_formats::{Output, ParquetLayout};
use gpusort_order::Nulls;

/// The most rows encoded at once as Parquet.
const ROWS: usize = 1 << 13;

/// The most rows of a batch of Arrow, and of rows in order.
pub(super) const BATCH: usize = 1 << 16;

/// The approximate size in bytes of the rows encoded at once, and of a batch of Arrow.
const BYTES: u64 = 8 << 20;

/// The least number of rows to encode at once if the bytes of a row group are limited.
const FEW: usize = 16;

/// The least limit of a row group in bytes: encoders take memory before their first row.
const LEAST: usize = 8 << 20;

/// The approximate bytes that an encoder takes before its first row. Where the encoders of all columns would take more than
/// a row group may, a row group is written column by column.
const ENCODER: usize = 80 << 10;

/// Returns the sorting columns of these keys; empty if Parquet cannot express the order.
pub(super) fn order_of(keys: &[TableKey]) -> Vec<SortedColumn> {
    let order = |key: &TableKey| {
        let (descending, nulls_first) = (key.order.descending, key.order.empty == Nulls::First);
        key.is_plain().then_some(SortedColumn { column: key.column(), descending, nulls_first })
    };
    keys.iter().map(order).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The output of rows.
pub(super) enum Sink<'o, 'w> {
    Parquet(Box<Groups<'o, 'w>>),
    /// A writer, the rows of a batch, and the rows that wait for one.
    Arrow(ipc::Writer<'o, 'w>, usize, Waiting),
    /// Text in this format; true for columns that come from text.
    Text(&'o mut Output<'w>, Format, bool),
}

/// Row groups of a Parquet file.
pub(super) struct Groups<'o, 'w> {
    writer: parquet::Writer<&'o mut Output<'w>>,
    /// The approximate limit of the memory of an open group.
    most: usize,
    layout: ParquetLayout,
    /// The maximum number of rows to encode at once. Pages end after these rows, so the number is the same for any memory.
    full_step: usize,
    /// The number of rows to encode at once.
    step: usize,
    /// The encoders of the open group, and its number of rows.
    open: Option<(Vec<parquet::Encoder>, usize)>,
    waiting: Waiting,
    /// The files of a folder.
    files: Files,
}

/// Rows that wait until there are enough for a batch of a fixed size.
#[derive(Default)]
pub(super) struct Waiting {
    batches: VecDeque<RecordBatch>,
    rows: usize,
}

impl Waiting {
    fn push(&mut self, batch: RecordBatch) {
        self.rows += batch.num_rows();
        self.batches.push_back(batch);
    }

    /// Takes the first `rows` rows; no fewer rows may wait.
    fn take(&mut self, rows: usize) -> Result<RecordBatch, Error> {
        let mut taken: Vec<RecordBatch> = Vec::new();
        let mut left = rows;
        self.rows -= rows;
        while left > 0 {
            let batch = self.batches.pop_front().expect("the rows wait");
            let count = batch.num_rows().min(left);
            taken.push(batch.slice(0, count));
            left -= count;
            if count < batch.num_rows() {
                self.batches.push_front(batch.slice(count, batch.num_rows() - count));
            }
        }
        let schema = taken[0].schema();
        let columns = all_joined(&mut arrays::chunks(taken))?;
        arrays::batch(&schema, columns, rows).map_err(failed)
    }
}

impl<'o, 'w> Sink<'o, 'w> {
    /// Creates the output of rows of these tables, in batches of this schema and in this order. For rows that come
    /// batch by batch, `most` limits the bytes of a row group.
    pub(super) fn new(
        tables: &Tables,
        batches: SchemaRef,
        order: &[SortedColumn],
        output: &'o mut Output<'w>,
        most: Option<usize>,
    ) -> Result<Self, Error> {
        let (job, first) = (tables.job, tables.all.first());
        let rows = usize::try_from(BYTES / tables.size_of_row().max(1)).unwrap_or(usize::MAX).max(1);
        let format = job.format();
        if format.is_table() {
            let head = to_text::head(format, &batches)?;
            output.write_all(&head).map_err(|error| output.failed(error))?;
            return Ok(Self::Text(output, format, job.converted.is_some()));
        }
        if format == Format::Arrow {
            let compression = if let Some(Table::Arrow(file)) = first { file.compression } else { None };
            let writer = ipc::Writer::new(output, &tables.schema, compression)?;
            return Ok(Self::Arrow(writer, rows.min(BATCH), Waiting::default()));
        }
        let like = if let Some(Table::Parquet(file)) = first { Some(file) } else { None };
        let layout = job.layout;
        let files = Files::new(job, &batches, order);
        if layout.split.is_some() {
            output.begin_file(&files.next_name())?;
        }
        let writer =
            parquet::Writer::new(output, like, (&tables.schema, batches), (job.parquet, layout.rows), order)?;
        let most = most.map_or(usize::MAX, |most| most.max(LEAST));
        let (full_step, waiting) = (rows.min(ROWS), Waiting::default());
        let step = if layout.bytes.or(layout.split).is_some() { full_step.min(FEW) } else { full_step };
        Ok(Self::Parquet(Box::new(Groups {
            writer,
            most,
            layout,
            full_step,
            step,
            open: None,
            waiting,
            files,
        })))
    }

    /// Writes the rows at these positions of all batches.
    pub(super) fn write_all(&mut self, batches: Vec<RecordBatch>, positions: &[u32]) -> Result<(), Error> {
        if let Self::Parquet(groups) = self
            && groups.layout.bytes.or(groups.layout.split).is_none()
        {
            return groups.write_all(&mut arrays::chunks(batches), positions);
        }
        let rows = if let Self::Arrow(_, rows, _) = self { *rows } else { BATCH };
        each_gathered(batches, positions, rows, &mut |batch| self.write(batch))
    }

    /// Writes the next rows, which are in order.
    pub(super) fn write(&mut self, batch: RecordBatch) -> Result<(), Error> {
        match self {
            Self::Parquet(groups) => groups.write(batch),
            Self::Arrow(writer, rows, waiting) => {
                waiting.push(batch);
                while waiting.rows >= *rows {
                    write_batch(writer, &waiting.take(*rows)?)?;
                }
                Ok(())
            }
            Self::Text(output, format, is_own) => {
                let rows = batch.num_rows();
                let parts = ranges(rows, rows.div_ceil(parallel::threads()).max(1 << 10));
                let text = |part: Range<usize>| {
                    to_text::rows(*format, &batch.slice(part.start, part.len()), *is_own)
                };
                for text in map_parts(parts, text) {
                    output.write_all(&text?).map_err(|error| output.failed(error))?;
                }
                Ok(())
            }
        }
    }

    /// Returns true if a row group of Parquet can be copied: the output encodes columns alike, and the row group has
    /// half to all of the requested rows, and half to twice the requested bytes.
    pub(super) fn takes(&self, tables: &Tables, part: Part) -> bool {
        /// The least share of all rows, which limits the number of row groups.
        const SHARE: u64 = 1 << 12;
        let (Self::Parquet(groups), Table::Parquet(file)) = (self, &tables.all[part.table]) else {
            return false;
        };
        let (bytes, ParquetLayout { rows, bytes: size, split, .. }) =
            (file.bytes(part.number), groups.layout);
        rows.is_none_or(|rows| (rows / 2..=rows).contains(&part.rows))
            && size.is_none_or(|size| (size / 2..=size.saturating_mul(2)).contains(&bytes))
            && split.is_none_or(|split| bytes <= split)
            && part.rows >= tables.rows / SHARE
            && groups.writer.takes(file, part.number)
    }

    /// Copies a row group that the output takes.
    pub(super) fn copy(&mut self, tables: &Tables, part: Part) -> Result<(), Error> {
        let (Self::Parquet(groups), Table::Parquet(file)) = (self, &tables.all[part.table]) else {
            panic!("the output takes the row group")
        };
        groups.flush()?;
        groups.make_room(file.bytes(part.number))?;
        groups.writer.copy(file, part.number)
    }

    /// Ends the output.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self {
            Self::Parquet(mut groups) => {
                groups.flush()?;
                let (_, rows) = groups.writer.written();
                groups.files.finish(groups.writer.finish()?, rows)
            }
            Self::Arrow(mut writer, _, mut waiting) => {
                if waiting.rows > 0 {
                    write_batch(&mut writer, &waiting.take(waiting.rows)?)?;
                }
                writer.finish()
            }
            Self::Text(..) => Ok(()),
        }
    }
}

/// Passes the rows at these positions of all batches to `emit`, in batches of `rows` rows.
pub(super) fn each_gathered(
    batches: Vec<RecordBatch>,
    positions: &[u32],
    rows: usize,
    emit: EmitRows,
) -> Result<(), Error> {
    let Some(schema) = batches.first().map(RecordBatch::schema) else { return Ok(()) };
    let columns = all_joined(&mut arrays::chunks(batches))?;
    let parts: Vec<_> = ranges(positions.len(), rows).collect();
    for parts in parts.chunks(2 * parallel::threads()) {
        for batch in map_parts(parts, |part| gathered(&schema, &columns, &positions[part.clone()])) {
            emit(batch.map_err(failed)?)?;
        }
    }
    Ok(())
}

fn write_batch(writer: &mut ipc::Writer, batch: &RecordBatch) -> Result<(), Error> {
    let columns = map_parts(batch.columns(), deduplicated);
    writer.write(&arrays::batch(&batch.schema(), columns, batch.num_rows()).map_err(failed)?)
}

/// Joins the chunks of columns, at least one each, and frees the chunks.
pub(super) fn all_joined(columns: &mut [Vec<ArrayRef>]) -> Result<Vec<ArrayRef>, Error> {
    let joined = map_parts(columns, |chunks| {
        let chunks = mem::take(chunks);
        joined(chunks[0].data_type(), &chunks).map_err(failed)
    });
    joined.into_iter().collect()
}

impl Groups<'_, '_> {
    /// Writes the rows at these positions of columns in chunks.
    fn write_all(&mut self, columns: &mut [Vec<ArrayRef>], positions: &[u32]) -> Result<(), Error> {
        let parts: Vec<_> = positions.chunks(self.writer.rows).collect();
        let mut encoded: Vec<Vec<parquet::Encoded>> = parts.iter().map(|_| Vec::new()).collect();
        // Several columns at a time if there are more cores than row groups.
        let together = parallel::threads().div_ceil(parts.len().max(1));
        for (some, chunks) in columns.chunks_mut(together).enumerate() {
            let arrays = all_joined(chunks)?;
            let mut tasks = Vec::with_capacity(parts.len() * arrays.len());
            for part in &parts {
                for (column, array) in (some * together..).zip(&arrays) {
                    tasks.push((part, array, self.writer.encoder(column)?));
                }
            }
            let done = map_parts(tasks, |(part, array, mut encode)| {
                for rows in part.chunks(self.step) {
                    encode.write(&take(array, &UInt32Array::from(rows.to_vec()), None).map_err(failed)?)?;
                }
                encode.finish()
            });
            for (task, done) in done.into_iter().enumerate() {
                encoded[task / arrays.len()].push(done?);
            }
        }
        encoded.into_iter().try_for_each(|group| self.writer.write(group))
    }

    /// Writes the next rows.
    fn write(&mut self, batch: RecordBatch) -> Result<(), Error> {
        self.waiting.push(batch);
        self.encode(false)
    }

    /// Encodes the rows that wait, the last ones if `are_all`. Groups have the same number of rows for batches of any
    /// size.
    fn encode(&mut self, are_all: bool) -> Result<(), Error> {
        loop {
            let left = self.writer.rows - self.open.as_ref().map_or(0, |(_, rows)| *rows);
            let whole = left.min(self.step);
            let count = whole.min(self.waiting.rows);
            if count == 0 || count < whole && !are_all {
                return Ok(());
            }
            let batch = self.waiting.take(count)?;
            if self.open.is_none() {
                // A file does not end with a small row group.
                self.make_room(self.layout.split.map_or(0, |split| split / 8))?;
            }
            if self.open.is_none() && batch.num_columns() * ENCODER > self.most {
                let rows: Vec<u32> = (0..count as u32).collect();
                self.write_all(&mut arrays::chunks(vec![batch]), &rows)?;
                continue;
            }
            let (encoders, done) = match &mut self.open {
                Some(open) => open,
                open => {
                    let encoders = (0..batch.num_columns()).map(|column| self.writer.encoder(column));
                    open.insert((encoders.collect::<Result<_, _>>()?, 0))
                }
            };
            let columns = encoders.iter_mut().zip(batch.columns());
            let written = map_parts(columns, |(encoder, column)| encoder.write(column));
            written.into_iter().collect::<Result<(), _>>()?;
            *done += count;
            let bytes: usize = encoders.iter().map(parquet::Encoder::bytes).sum();
            let encoded: usize = encoders.iter().map(parquet::Encoder::encoded_bytes).sum();
            let left = self.layout.split.map(|split| split.saturating_sub(self.writer.written().0));
            let limit = self.layout.bytes.into_iter().chain(left).min();
            let room = limit.map(|limit| limit.saturating_sub(encoded as u64));
            if let Some(room) = room {
                // Rows of the same size would fill the room; at most doubles the rows, whose size may change.
                let rows = room / (encoded / *done).max(1) as u64;
                self.step = (rows as usize).min(*done).clamp(FEW.min(self.full_step), self.full_step);
            }
            if *done == self.writer.rows || bytes > self.most || room == Some(0) {
                self.close()?;
            }
        }
    }

    /// Writes all rows that wait.
    fn flush(&mut self) -> Result<(), Error> {
        self.encode(true)?;
        self.close()
    }

    /// Begins the next file of a folder if the current file lacks room for a row group of this size.
    fn make_room(&mut self, bytes: u64) -> Result<(), Error> {
        let (written, rows) = self.writer.written();
        if rows == 0 || self.layout.split.is_none_or(|split| written + bytes <= split) {
            return Ok(());
        }
        let files = &mut self.files;
        self.writer.next(|output| {
            files.end(output, rows);
            output.begin_file(&files.next_name())
        })
    }

    /// Writes the open group.
    fn close(&mut self) -> Result<(), Error> {
        let Some((encoders, _)) = self.open.take() else { return Ok(()) };
        let encoded = map_parts(encoders, parquet::Encoder::finish);
        self.writer.write(encoded.into_iter().collect::<Result<Vec<_>, _>>()?)
    }
}
