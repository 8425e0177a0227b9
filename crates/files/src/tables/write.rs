//! Writes rows of tables in their new order: columns are gathered and encoded on all cores.

use std::io::Write;
use std::mem;
use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::SchemaRef;
use arrow_select::take::take;

use super::Tables;
use super::keys::TableKey;
use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_base::parallel::{self, map_parts, ranges};
use gpusort_formats::Output;
use gpusort_formats::arrow::arrays::{self, gathered, joined};
use gpusort_formats::arrow::{Table, failed, ipc, parquet, to_text};
use gpusort_order::Nulls;

/// The number of rows gathered at once for batches.
const ROWS: usize = 1 << 16;

/// The least limit of a row group in bytes: encoders take memory before their first row.
const LEAST: usize = 8 << 20;

/// Returns the order by these keys as Parquet tells it; empty if it cannot.
pub(super) fn order_of(keys: &[TableKey]) -> Vec<(usize, bool, bool)> {
    let order = |key: &TableKey| {
        let nulls_first = key.order.empty == Nulls::First;
        key.is_plain().then_some((key.column(), key.order.descending, nulls_first))
    };
    keys.iter().map(order).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The output of rows.
pub(super) enum Sink<'o, 'w> {
    Parquet(Box<Groups<'o, 'w>>),
    Arrow(ipc::Writer<'o, 'w>),
    /// Text in this format; true for columns that come from text.
    Text(&'o mut Output<'w>, Format, bool),
}

/// Row groups of a Parquet file.
pub(super) struct Groups<'o, 'w> {
    writer: parquet::Writer<&'o mut Output<'w>>,
    /// The number of groups begun.
    count: usize,
    /// The approximate limit of an encoded group in bytes.
    most: usize,
    /// The encoders of the open group, and its number of rows.
    open: Option<(Vec<parquet::Encoder>, usize)>,
}

impl<'o, 'w> Sink<'o, 'w> {
    /// Creates the output of rows of these tables, in batches of this schema, in this order, which has the column
    /// of each key, true if it descends, and true for nulls first. For rows that come batch by batch, `most` limits the bytes of a row group.
    pub(super) fn new(
        tables: &Tables,
        batches: SchemaRef,
        order: &[(usize, bool, bool)],
        output: &'o mut Output<'w>,
        most: Option<usize>,
    ) -> Result<Self, Error> {
        let (job, first) = (tables.job, tables.all.first());
        let format = job.format();
        if format.is_table() {
            let head = to_text::head(format, &batches)?;
            output.write_all(&head).map_err(|error| output.failed(error))?;
            return Ok(Self::Text(output, format, first.is_none()));
        }
        if format == Format::Arrow {
            let compression = if let Some(Table::Arrow(file)) = first { file.compression } else { None };
            let folder = most.map(|_| job.temp_folder());
            let writer = ipc::Writer::new(output, &tables.schema, compression, folder.as_deref())?;
            return Ok(Self::Arrow(writer));
        }
        let like = if let Some(Table::Parquet(file)) = first { Some(file) } else { None };
        let writer = parquet::Writer::new(output, like, (&tables.schema, batches), job.parquet, order)?;
        let most = most.map_or(usize::MAX, |most| most.max(LEAST));
        Ok(Self::Parquet(Box::new(Groups { writer, count: 0, most, open: None })))
    }

    /// Writes the rows at these positions of all batches.
    pub(super) fn write_all(&mut self, batches: Vec<RecordBatch>, positions: &[u32]) -> Result<(), Error> {
        let Some(schema) = batches.first().map(RecordBatch::schema) else { return Ok(()) };
        let mut columns = arrays::chunks(batches);
        if let Self::Parquet(groups) = self {
            return groups.write_all(&mut columns, positions);
        }
        let columns = all_joined(&mut columns)?;
        let parts: Vec<_> = ranges(positions.len(), ROWS).collect();
        for parts in parts.chunks(2 * parallel::threads()) {
            for batch in map_parts(parts, |part| gathered(&schema, &columns, &positions[part.clone()])) {
                self.write(batch.map_err(failed)?)?;
            }
        }
        Ok(())
    }

    /// Writes the next rows, which are in order.
    pub(super) fn write(&mut self, batch: RecordBatch) -> Result<(), Error> {
        match self {
            Self::Parquet(groups) => groups.write(batch),
            Self::Arrow(writer) => writer.write(&batch),
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

    /// Ends the output.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self {
            Self::Parquet(mut groups) => {
                groups.close()?;
                groups.writer.finish()
            }
            Self::Arrow(writer) => writer.finish(),
            Self::Text(..) => Ok(()),
        }
    }
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
        let encoders = (0..parts.len()).map(|group| self.writer.encoders(group));
        let mut encoders = encoders.map(|all| Ok(all?.into_iter())).collect::<Result<Vec<_>, Error>>()?;
        let mut encoded: Vec<Vec<parquet::Encoded>> = parts.iter().map(|_| Vec::new()).collect();
        // Several columns at a time if there are more cores than row groups.
        let together = parallel::threads().div_ceil(parts.len().max(1));
        for chunks in columns.chunks_mut(together) {
            let arrays = all_joined(chunks)?;
            let of_group = |(part, encoders)| arrays.iter().zip(encoders).map(move |of| (part, of));
            let tasks = parts.iter().zip(encoders.iter_mut().map(Iterator::by_ref)).flat_map(of_group);
            let done = map_parts(tasks, |(part, (array, mut encoder))| {
                let rows = UInt32Array::from(part.to_vec());
                encoder.write(&take(array, &rows, None).map_err(failed)?)?;
                encoder.finish()
            });
            for (task, done) in done.into_iter().enumerate() {
                encoded[task / arrays.len()].push(done?);
            }
        }
        self.count = parts.len();
        encoded.into_iter().try_for_each(|group| self.writer.write(group))
    }

    /// Writes the next rows.
    fn write(&mut self, mut batch: RecordBatch) -> Result<(), Error> {
        while batch.num_rows() > 0 {
            let (encoders, rows) = match &mut self.open {
                Some(open) => open,
                open => {
                    self.count += 1;
                    open.insert((self.writer.encoders(self.count - 1)?, 0))
                }
            };
            // Groups have the same number of rows for batches of any size.
            let count = batch.num_rows().min(self.writer.rows - *rows);
            let part = batch.slice(0, count);
            let columns = encoders.iter_mut().zip(part.columns());
            let written = map_parts(columns, |(encoder, column)| encoder.write(column));
            written.into_iter().collect::<Result<(), _>>()?;
            *rows += count;
            batch = batch.slice(count, batch.num_rows() - count);
            let bytes: usize = encoders.iter().map(parquet::Encoder::bytes).sum();
            if *rows == self.writer.rows || bytes > self.most {
                self.close()?;
            }
        }
        Ok(())
    }

    /// Writes the open group.
    fn close(&mut self) -> Result<(), Error> {
        let Some((encoders, _)) = self.open.take() else { return Ok(()) };
        let encoded = map_parts(encoders, parquet::Encoder::finish);
        self.writer.write(encoded.into_iter().collect::<Result<Vec<_>, _>>()?)
    }
}
