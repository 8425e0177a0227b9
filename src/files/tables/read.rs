//! Reads the parts of tables, several at a time on all cores, in the order of the input.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, FieldRef, Schema, SchemaRef};

use super::Tables;
use super::keys::{KeyArrays, TableKey, columns_of};
use crate::error::Error;
use crate::format::Format;
use crate::io::arrow::arrays::{self, gathered};
use crate::io::arrow::{Batches, Part, Table, failed};
use crate::io::piece::Piece;
use crate::parallel::{self, map_parts};

/// The maximum number of rows of a batch.
pub(super) const ROWS: usize = 1 << 20;

/// Reads parts one after another.
pub(super) struct Reader<'a> {
    how: Reading<'a>,
    /// The parts still to be read.
    parts: &'a [Part],
    /// The number of rows read.
    rows: u64,
    /// The remaining batches of the current parts.
    open: Batches<'static>,
}

/// The settings for reading parts.
#[derive(Clone)]
pub(super) struct Reading<'a> {
    pub(super) tables: &'a Tables<'a>,
    pub(super) keys: &'a [TableKey],
    /// The columns to read; `None` for all.
    pub(super) columns: Option<Vec<usize>>,
    /// True if texts are views.
    views: bool,
    /// The schema of the batches.
    pub(super) schema: SchemaRef,
}

impl<'a> Reading<'a> {
    pub(super) fn new(tables: &'a Tables<'a>, keys: &'a [TableKey]) -> Self {
        let columns = tables.job.ask.positions.then(|| columns_of(keys));
        Self::of_columns(tables, keys, columns)
    }

    /// The settings for reading the columns of keys alone.
    pub(super) fn of_keys(tables: &'a Tables<'a>, keys: &'a [TableKey]) -> Self {
        Self::of_columns(tables, keys, Some(columns_of(keys)))
    }

    fn of_columns(tables: &'a Tables<'a>, keys: &'a [TableKey], columns: Option<Vec<usize>>) -> Self {
        let job = tables.job;
        let views = job.ask.format != Format::Arrow;
        // A nullable column of any table is nullable in all tables.
        let types = tables.all[0].schema_as_read(views);
        let field =
            |(field, read): (&FieldRef, &FieldRef)| (**read).clone().with_nullable(field.is_nullable());
        let fields: Vec<Field> = tables.schema.fields().iter().zip(types.fields()).map(field).collect();
        let schema = Schema::new_with_metadata(fields, types.metadata().clone());
        let schema =
            if let Some(columns) = &columns { schema.project(columns).unwrap_or(schema) } else { schema };
        Self { tables, keys, columns, views, schema: Arc::new(schema) }
    }

    /// Reads a part in batches of `rows` rows.
    pub(super) fn read(&self, part: Part, rows: usize) -> Result<Batches<'static>, Error> {
        self.tables.job.cancel.check().map_err(|error| Error::io("the input", "read", error))?;
        let table = &self.tables.all[part.table];
        let as_said = self.as_said(table.name());
        let batches = table.read(part.number, self.columns.as_deref(), rows, self.views)?;
        Ok(Box::new(batches.map(move |batch| {
            let (_, columns, rows) = batch?.into_parts();
            as_said(columns, rows)
        })))
    }

    /// Returns a function that makes batches, in the schema of all tables, of this table's columns.
    fn as_said(&self, name: &str) -> impl Fn(Vec<ArrayRef>, usize) -> Result<RecordBatch, Error> + use<> {
        let (schema, name) = (self.schema.clone(), name.to_owned());
        move |columns, rows| {
            let batch = arrays::batch(&schema, columns, rows);
            batch.map_err(|error| Error::input(&name, format!("the columns differ from the schema: {error}")))
        }
    }

    /// Reads these parts on all cores.
    fn read_parts(&self, parts: &[Part]) -> Result<Vec<RecordBatch>, Error> {
        let read = map_parts(parts, |part| self.read(*part, ROWS)?.collect::<Result<Vec<_>, _>>());
        Ok(read.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Reads a part in batches, column by column on all cores.
    fn read_by_columns(&self, part: Part, rows: usize) -> Result<Batches<'static>, Error> {
        let table = &self.tables.all[part.table];
        let all: Vec<usize> = match self.columns.as_deref() {
            Some(columns) => columns.to_vec(),
            None => (0..self.tables.schema.fields().len()).collect(),
        };
        // The columns of an Arrow batch are read together.
        if all.is_empty() || matches!(table, Table::Arrow(_)) {
            return self.read(part, rows);
        }
        let reader = |column| table.read(part.number, Some(&[column]), rows, self.views);
        let mut readers = all.into_iter().map(reader).collect::<Result<Vec<_>, _>>()?;
        let (as_said, cancel) = (self.as_said(table.name()), self.tables.job.cancel.clone());
        Ok(Box::new(std::iter::from_fn(move || {
            let read: Option<Vec<_>> = map_parts(&mut readers, Iterator::next).into_iter().collect();
            let read: Result<Vec<RecordBatch>, Error> = read?.into_iter().collect();
            Some(read.and_then(|read| {
                cancel.check().map_err(|error| Error::io("the input", "read", error))?;
                as_said(read.iter().map(|batch| batch.column(0).clone()).collect(), read[0].num_rows())
            }))
        })))
    }

    /// Returns the keys of all rows of some batches.
    pub(super) fn keys_of<'b>(
        &self,
        batches: impl IntoIterator<Item = &'b RecordBatch>,
    ) -> Result<KeyArrays, Error> {
        let of = |batch: &RecordBatch| KeyArrays::of(self.keys, batch, self.columns.as_deref());
        let mut all: Vec<KeyArrays> = batches.into_iter().map(of).collect();
        if all.is_empty() {
            all.push(of(&RecordBatch::new_empty(self.schema.clone())));
        }
        KeyArrays::joined(&all)
    }

    /// Returns rows that include the first `few` rows, in the order of the input. Skips parts that cannot
    /// have such rows according to their statistics, if available.
    pub(super) fn first(&self, few: usize, limit: u64) -> Result<Vec<RecordBatch>, Error> {
        let tables = self.tables;
        let mut parts: Vec<(usize, Part)> = tables.parts.iter().copied().enumerate().collect();
        let least = super::check::least_of_parts(tables, &self.keys[0]);
        if let Some(least) = &least {
            parts.sort_by_key(|&(number, _)| (&least[number], number));
        }
        // The rows kept of each part, with the number of the part.
        let mut kept: Vec<(usize, RecordBatch)> = Vec::new();
        let mut worst: Option<Vec<u8>> = None;
        for wave in parts.chunks(parallel::threads()) {
            let wanted = wave.iter().filter(|(number, _)| match (&least, &worst) {
                (Some(least), Some(worst)) => least[*number].as_ref() <= Some(worst),
                _ => true,
            });
            let read = map_parts(wanted, |(number, part)| {
                let batches = self.read(*part, ROWS)?.map(|batch| Ok((*number, batch?)));
                self.cut(batches.collect::<Result<Vec<_>, Error>>()?, few)
            });
            for part in read {
                kept.append(&mut part?.0);
            }
            let waiting: usize = kept.iter().map(|(_, batch)| batch.get_array_memory_size()).sum();
            let rows: usize = kept.iter().map(|(_, batch)| batch.num_rows()).sum();
            if rows >= few && (waiting as u64 > limit / 4 || least.is_some()) {
                kept.sort_by_key(|(number, _)| *number);
                (kept, worst) = self.cut(kept, few)?;
            }
        }
        kept.sort_by_key(|(number, _)| *number);
        Ok(kept.into_iter().map(|(_, batch)| batch).collect())
    }

    /// Returns the rows of a batch of this table with their keys; the first row is number `first`.
    pub(super) fn piece(&self, batch: RecordBatch, first: u64, name: &str) -> Result<Piece, Error> {
        let arrays = KeyArrays::of(self.keys, &batch, self.columns.as_deref());
        Ok(Piece::of_rows(arrays.keys(self.keys, name)?, batch, first, self.row_bytes()))
    }

    /// Returns the approximate bytes of a row in memory with its keys.
    pub(super) fn row_bytes(&self) -> usize {
        /// The bytes of a key of numbers: in a column and in a row of bytes, with the end of the row.
        const KEY: usize = 40;
        self.tables.row_bytes() as usize + KEY * self.keys.len()
    }

    /// Returns the place of a row, whose number counts all rows, with the column of a key, and the keys as messages
    /// show them, one for each column of words or texts.
    pub(super) fn show(&self, piece: &Piece, record: usize, key: Option<usize>) -> (String, Vec<String>) {
        let (batch, first) = piece.rows();
        let arrays = KeyArrays::of(self.keys, batch, self.columns.as_deref());
        let numbers = (0..).zip(self.keys).flat_map(|(number, key)| vec![number; key.width()]);
        let numbers: Vec<usize> = numbers.collect();
        let mut place = self.tables.place(first + record as u64);
        if let Some(key) = key.filter(|_| self.keys.len() > 1) {
            place.push_str(&format!(", column '{}'", self.keys[numbers[key]].name));
        }
        (place, numbers.into_iter().map(|key| arrays.shown(key, record)).collect())
    }

    /// Returns the first `few` rows of these batches of some parts, and the first key of the last row.
    #[allow(clippy::type_complexity)]
    fn cut(
        &self,
        kept: Vec<(usize, RecordBatch)>,
        few: usize,
    ) -> Result<(Vec<(usize, RecordBatch)>, Option<Vec<u8>>), Error> {
        let all = self.keys_of(kept.iter().map(|(_, batch)| batch))?;
        let name = self.tables.all[0].name();
        let mut positions = all.order(self.keys, name)?;
        positions.truncate(few);
        let worst =
            positions.last().map(|&last| all.key(last as usize, &self.keys[..1], name)).transpose()?;
        positions.sort_unstable();
        let (mut begin, mut rest, mut result) = (0, &positions[..], Vec::new());
        for (number, batch) in kept {
            let end = begin + batch.num_rows() as u32;
            let (these, others) = rest.split_at(rest.partition_point(|&position| position < end));
            if !these.is_empty() {
                let rows: Vec<u32> = these.iter().map(|position| position - begin).collect();
                result.push((number, taken(&batch, &rows)?));
            }
            (begin, rest) = (end, others);
        }
        Ok((result, worst))
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(how: Reading<'a>) -> Self {
        Self { parts: &how.tables.parts, how, rows: 0, open: Box::new(std::iter::empty()) }
    }

    /// Returns the next rows, about `bytes` bytes; `None` after the last row. Reports progress.
    pub(super) fn next(&mut self, bytes: u64) -> Result<Option<Vec<RecordBatch>>, Error> {
        let (mut batches, mut taken) = (Vec::new(), 0);
        // Large parts are read in batches of this number of rows.
        let rows =
            usize::try_from(bytes / 8 / self.how.tables.row_bytes()).unwrap_or(ROWS).clamp(1 << 8, 1 << 16);
        while taken < bytes {
            self.how.tables.job.watch.set(self.rows);
            if let Some(batch) = self.open.next().transpose()? {
                taken += batch.get_array_memory_size() as u64;
                self.rows += batch.num_rows() as u64;
                batches.push(batch);
                continue;
            }
            if self.parts.is_empty() {
                break;
            }
            // Reads several parts on all cores, but only parts that fit together.
            let mut together = 0;
            let fitting = self.parts.iter().take(4 * parallel::threads()).take_while(|part| {
                together += part.bytes;
                together <= (bytes - taken) / 2
            });
            let count = fitting.count();
            let (parts, others) = self.parts.split_at(count.max(1));
            self.open = match count {
                0 => self.how.read_by_columns(parts[0], rows)?,
                _ => Box::new(self.how.read_parts(parts)?.into_iter().map(Ok)),
            };
            self.parts = others;
        }
        Ok((!batches.is_empty()).then_some(batches))
    }
}

/// Returns these rows of a batch, without the texts of other rows.
fn taken(batch: &RecordBatch, rows: &[u32]) -> Result<RecordBatch, Error> {
    gathered(batch.schema_ref(), batch.columns(), rows).and_then(|taken| compact(&taken)).map_err(failed)
}

/// Returns the batch without texts that only other batches view.
pub(super) fn compact(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(arrays::compact).collect();
    arrays::batch(batch.schema_ref(), columns, batch.num_rows())
}
