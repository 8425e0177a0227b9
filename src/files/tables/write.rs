//! Writes rows of tables in their new order: columns are gathered and encoded on all cores.

use std::io::Write;
use std::mem;
use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::SchemaRef;
use arrow_select::take::take;

use super::super::job::Job;
use super::Tables;
use super::keys::TableKey;
use crate::error::Error;
use crate::format::Format;
use crate::io::Output;
use crate::io::arrow::text::TextForm;
use crate::io::arrow::{Table, failed, ipc, joined, parquet};
use crate::order::Nulls;
use crate::parallel::{self, map_parts};

/// Rows that are gathered together where they are written in batches.
const ROWS: usize = 1 << 16;

/// A row group may take so many bytes in any case: encoders take some before they have any rows.
const LEAST: usize = 8 << 20;

/// Where rows are written.
pub(super) struct Sink<'o, 'w> {
    to: Target<'o, 'w>,
    /// The schema of no rows.
    schema: SchemaRef,
    is_begun: bool,
    /// The row group that is being encoded, and its rows.
    open: Option<(Vec<parquet::Encoder>, usize)>,
    /// About the most bytes of that.
    most: usize,
    groups: usize,
}

enum Target<'o, 'w> {
    Parquet(Box<Pending<'o, 'w>>),
    Arrow(ipc::Writer<'o, 'w>),
    Text(&'o mut Output<'w>, TextForm),
}

/// A Parquet file that begins once the types of its columns in memory are known.
enum Pending<'o, 'w> {
    Begins(&'o mut Output<'w>, parquet::Form),
    Open(parquet::Writer<&'o mut Output<'w>>, usize),
    None,
}

impl<'o, 'w> Sink<'o, 'w> {
    /// What writes rows of these tables; encoded, a row group takes about so many bytes at most.
    pub(super) fn new(
        tables: &Tables,
        keys: Option<&[TableKey]>,
        job: &Job,
        output: &'o mut Output<'w>,
        most: Option<usize>,
    ) -> Result<Self, Error> {
        let first = tables.all.first();
        let format = job.format();
        let to = if format == Format::Parquet {
            // Of text nobody knows which columns these are.
            let order: Option<Vec<(usize, bool, bool)>> =
                keys.filter(|keys| !keys.is_empty()).and_then(|keys| {
                    keys.iter()
                        .map(|key| {
                            let nulls_first = key.order.empty == Nulls::First;
                            key.is_plain().then_some((key.column(), key.order.descending, nulls_first))
                        })
                        .collect()
                });
            let like = if let Some(Table::Parquet(file)) = first { Some(file) } else { None };
            let form = parquet::Form::new(like, &tables.schema, job.parquet, order.as_deref())?;
            Target::Parquet(Box::new(Pending::Begins(output, form)))
        } else if format.is_table() {
            Target::Text(output, TextForm { format })
        } else {
            let compression = if let Some(Table::Arrow(file)) = first { file.compression } else { None };
            Target::Arrow(ipc::Writer::new(output, &tables.schema, compression, most.is_none())?)
        };
        let most = most.map_or(usize::MAX, |most| most.max(LEAST));
        Ok(Self { to, schema: tables.schema.clone(), is_begun: false, open: None, most, groups: 0 })
    }

    /// Begins the output with batches of this schema.
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), Error> {
        if self.is_begun {
            return Ok(());
        }
        if let Target::Parquet(pending) = &mut self.to {
            **pending = match mem::replace(&mut **pending, Pending::None) {
                Pending::Begins(output, form) => {
                    let rows = form.rows;
                    Pending::Open(parquet::Writer::new(output, &form, schema.clone())?, rows)
                }
                open => open,
            };
        }
        if let Target::Text(output, form) = &mut self.to {
            let head = form.head(schema)?;
            output.write_all(&head).map_err(|error| output.failed(error))?;
        }
        self.is_begun = true;
        Ok(())
    }

    /// Writes these rows of all.
    pub(super) fn write_all(&mut self, batches: Vec<RecordBatch>, positions: &[u32]) -> Result<(), Error> {
        let Some(first) = batches.first() else { return Ok(()) };
        let schema = first.schema();
        self.begin(&schema)?;
        let count = schema.fields().len();
        let mut columns: Vec<Vec<ArrayRef>> = (0..count).map(|_| Vec::with_capacity(batches.len())).collect();
        for batch in batches {
            let (_, arrays, _) = batch.into_parts();
            columns.iter_mut().zip(arrays).for_each(|(column, array)| column.push(array));
        }
        let column =
            |number: usize, chunks: &mut Vec<ArrayRef>| joined(schema.field(number), &mem::take(chunks));
        match &mut self.to {
            Target::Parquet(pending) => {
                let Pending::Open(writer, rows) = &mut **pending else { return Ok(()) };
                let parts = parts(positions.len(), *rows);
                let mut encoded: Vec<Vec<parquet::Encoded>> = parts.iter().map(|_| Vec::new()).collect();
                let mut encoders = (0..parts.len())
                    .map(|group| Ok(writer.encoders(group)?.into_iter()))
                    .collect::<Result<Vec<_>, Error>>()?;
                // Several at a time where a column has fewer row groups than there are cores.
                let together = parallel::threads().div_ceil(parts.len().max(1)).max(1);
                for (first, chunks) in columns.chunks_mut(together).enumerate() {
                    let arrays = map_parts(chunks.iter_mut().enumerate(), |(at, chunks)| {
                        column(first * together + at, chunks)
                    });
                    let arrays = arrays.into_iter().collect::<Result<Vec<_>, _>>()?;
                    let mut tasks = Vec::new();
                    for (part, encoders) in parts.iter().zip(&mut encoders) {
                        tasks.extend(
                            arrays
                                .iter()
                                .zip(encoders.by_ref())
                                .map(|(array, encoder)| (array, part, encoder)),
                        );
                    }
                    let done = map_parts(tasks, |(array, part, mut encoder)| {
                        let rows = UInt32Array::from(positions[part.clone()].to_vec());
                        encoder.write(&take(array, &rows, None).map_err(|error| failed(&error))?)?;
                        encoder.finish()
                    });
                    for (place, done) in done.into_iter().enumerate() {
                        encoded[place / arrays.len()].push(done?);
                    }
                }
                for group in encoded {
                    writer.write(group)?;
                    self.groups += 1;
                }
                Ok(())
            }
            Target::Arrow(writer) => {
                let arrays = map_parts(columns.iter_mut().enumerate(), |(at, chunks)| column(at, chunks));
                let arrays = arrays.into_iter().collect::<Result<Vec<_>, _>>()?;
                for parts in parts(positions.len(), ROWS).chunks(2 * parallel::threads()) {
                    let gathered =
                        map_parts(parts, |part| gathered(&schema, &arrays, &positions[part.clone()]));
                    gathered.into_iter().try_for_each(|batch| writer.write(&batch?))?;
                }
                Ok(())
            }
            Target::Text(output, form) => {
                let arrays = map_parts(columns.iter_mut().enumerate(), |(at, chunks)| column(at, chunks));
                let arrays = arrays.into_iter().collect::<Result<Vec<_>, _>>()?;
                for parts in parts(positions.len(), ROWS / 4).chunks(4 * parallel::threads()) {
                    let texts = map_parts(parts, |part| {
                        form.rows(&gathered(&schema, &arrays, &positions[part.clone()])?)
                    });
                    for text in texts {
                        output.write_all(&text?).map_err(|error| output.failed(error))?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Writes the next rows, which are in order.
    pub(super) fn write(&mut self, batch: RecordBatch) -> Result<(), Error> {
        self.begin(&batch.schema())?;
        match &mut self.to {
            Target::Arrow(writer) => return writer.write(&batch),
            Target::Text(output, form) => {
                let parts =
                    parts(batch.num_rows(), batch.num_rows().div_ceil(parallel::threads()).max(1 << 10));
                for text in map_parts(parts, |part| form.rows(&batch.slice(part.start, part.len()))) {
                    output.write_all(&text?).map_err(|error| output.failed(error))?;
                }
            }
            Target::Parquet(pending) => {
                let Pending::Open(writer, most) = &mut **pending else { return Ok(()) };
                let (most, mut batch) = (*most, batch);
                while batch.num_rows() > 0 {
                    if self.open.is_none() {
                        self.open = Some((writer.encoders(self.groups)?, 0));
                        self.groups += 1;
                    }
                    let Some((encoders, rows)) = &mut self.open else { return Ok(()) };
                    // Groups have as many rows whatever comes together.
                    let count = batch.num_rows().min(most - *rows);
                    let part = batch.slice(0, count);
                    let written = map_parts(encoders.iter_mut().zip(part.columns()), |(encoder, column)| {
                        encoder.write(column)
                    });
                    written.into_iter().collect::<Result<(), _>>()?;
                    *rows += count;
                    batch = batch.slice(count, batch.num_rows() - count);
                    if *rows == most
                        || encoders.iter().map(parquet::Encoder::bytes).sum::<usize>() > self.most
                    {
                        close(writer, &mut self.open)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the output.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.begin(&self.schema.clone())?;
        match self.to {
            Target::Parquet(pending) => {
                let Pending::Open(mut writer, _) = *pending else { return Ok(()) };
                close(&mut writer, &mut self.open)?;
                writer.finish()
            }
            Target::Arrow(writer) => writer.finish(),
            Target::Text(..) => Ok(()),
        }
    }
}

/// Writes the row group that is being encoded.
fn close<W: Write + Send>(
    writer: &mut parquet::Writer<W>,
    open: &mut Option<(Vec<parquet::Encoder>, usize)>,
) -> Result<(), Error> {
    let Some((encoders, _)) = open.take() else { return Ok(()) };
    let encoded = map_parts(encoders, parquet::Encoder::finish);
    writer.write(encoded.into_iter().collect::<Result<Vec<_>, _>>()?)
}

/// Ranges of so many rows.
pub(super) fn parts(rows: usize, each: usize) -> Vec<Range<usize>> {
    (0..rows).step_by(each.max(1)).map(|begin| begin..rows.min(begin + each)).collect()
}

/// These rows of columns.
pub(super) fn gathered(schema: &SchemaRef, columns: &[ArrayRef], rows: &[u32]) -> Result<RecordBatch, Error> {
    let positions = UInt32Array::from(rows.to_vec());
    let columns = columns.iter().map(|column| take(column, &positions, None));
    let columns = columns.collect::<Result<Vec<_>, _>>().map_err(|error| failed(&error))?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(|error| failed(&error))
}
