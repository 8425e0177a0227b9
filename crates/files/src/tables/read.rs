//! Reads the parts of tables, several at a time on all cores, in the order of the input.

use std::collections::{BTreeSet, BinaryHeap};
use std::hash::Hash;
use std::iter;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::Tables;
use super::keys::{KeyArrays, TableKey};
use super::merge::added_numbers;
use crate::parts::random_key;
use foldhash::HashMap;
use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_base::human::quoted;
use gpusort_base::parallel::{self, lock, map_parts, ranges};
use gpusort_formats::Counts;
use gpusort_formats::arrow::arrays::{self, converted, gathered, joined};
use gpusort_formats::arrow::parquet::stored_as;
use gpusort_formats::arrow::{Batches, Part, Table, failed};
use gpusort_formats::keys::Keys;
use gpusort_formats::piece::Piece;

/// The maximum number of rows of a batch.
pub(super) const ROWS: usize = 1 << 20;

/// Reads parts one after another.
pub(super) struct Reader<'a> {
    how: TableScan<'a>,
    /// The parts still to be read.
    parts: &'a [Part],
    /// The number of rows read.
    rows: u64,
    /// The remaining batches of the current parts.
    open: Batches<'a>,
}

/// The rows kept of each part, with the number of the part.
type Kept = Vec<(usize, RecordBatch)>;

/// The settings for reading parts.
#[derive(Clone)]
pub(super) struct TableScan<'a> {
    pub(super) tables: &'a Tables<'a>,
    pub(super) keys: &'a [TableKey],
    /// The columns to read.
    columns: Vec<usize>,
    /// True if texts are views.
    views: bool,
    /// The schema of the batches.
    pub(super) schema: SchemaRef,
    added: Option<Added>,
    /// With `--per`: the columns of the value, and how many rows of each value a batch keeps.
    firsts: Option<(&'a [TableKey], usize)>,
    /// The schema of the batches with the added column, which is the last one.
    pub(super) whole: SchemaRef,
}

/// A column of numbers that a sort adds.
#[derive(Clone, Copy)]
enum Added {
    /// The numbers of the rows.
    Positions,
    /// Random keys of this seed.
    Random(u64),
    /// For each row of a reduced batch, the number of rows that it stands for.
    Counts,
}

impl<'a> TableScan<'a> {
    pub(super) fn new(tables: &'a Tables<'a>, keys: &'a [TableKey]) -> Self {
        match tables.job.shuffle {
            Some(seed) => Self::of_all(tables, keys).adding("random", Added::Random(seed)),
            None if tables.ask.positions => Self::of_keys(tables, keys).adding("position", Added::Positions),
            None => Self::of_all(tables, keys),
        }
    }

    /// The settings for reading all columns.
    pub(super) fn of_all(tables: &'a Tables<'a>, keys: &'a [TableKey]) -> Self {
        Self::of_columns(tables, keys, (0..tables.schema.fields().len()).collect()).storable()
    }

    /// If the output is Parquet, changes the types of columns to the types that Parquet stores.
    fn storable(mut self) -> Self {
        if self.tables.job.format() == Format::Parquet {
            let stored = |field: &FieldRef| Field::clone(field).with_data_type(stored_as(field.data_type()));
            let fields: Vec<Field> = self.schema.fields().iter().map(stored).collect();
            self.schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
            self.whole = self.schema.clone();
        }
        self
    }

    /// The settings for reading the columns of keys. A row stands for all rows of its batch with the same keys.
    pub(super) fn of_counts(tables: &'a Tables<'a>, keys: &'a [TableKey]) -> Self {
        let reading = Self::of_keys(tables, keys).storable();
        if reading.needs_all_rows() { reading } else { reading.adding("count", Added::Counts) }
    }

    /// Reads only the rows that may be among the `most` first rows of a value, in the order of the keys.
    pub(super) fn of_first_rows(self, values: &'a [TableKey], most: usize) -> Self {
        let all = self.needs_all_rows() || self.tables.ask.selection.unique;
        Self { firsts: (!all).then_some((values, most)), ..self }
    }

    /// Returns true if an error may have to name a row by its number.
    fn needs_all_rows(&self) -> bool {
        self.keys.iter().any(TableKey::refuses_nulls)
    }

    /// Returns true if batches lack rows. Their nulls are counted while they are read.
    pub(super) fn is_reduced(&self) -> bool {
        matches!(self.added, Some(Added::Counts)) || self.firsts.is_some()
    }

    /// Returns, for each row of a batch, the number of rows that it stands for. Returns `None` if rows have no counts.
    pub(super) fn counts<'b>(&self, batch: &'b RecordBatch) -> Option<&'b [u64]> {
        matches!(self.added, Some(Added::Counts)).then(|| added_numbers(batch))
    }

    fn adding(self, name: &str, added: Added) -> Self {
        let added_field = Arc::new(Field::new(name, DataType::UInt64, false));
        let fields = self.schema.fields().iter().cloned().chain([added_field]).collect::<Fields>();
        let whole = Schema::new_with_metadata(fields, self.schema.metadata().clone());
        Self { added: Some(added), whole: Arc::new(whole), ..self }
    }

    /// Adds the column to batches, if any. Their first row has this number.
    pub(super) fn all_with_added(
        &self,
        batches: Vec<RecordBatch>,
        mut at: u64,
    ) -> Result<Vec<RecordBatch>, Error> {
        let number = |batch: RecordBatch| {
            let first = at;
            at += batch.num_rows() as u64;
            self.with_added(batch, first)
        };
        batches.into_iter().map(number).collect()
    }

    /// Adds the column to a batch, if any. The first row has this number.
    pub(super) fn with_added(&self, batch: RecordBatch, first: u64) -> Result<RecordBatch, Error> {
        let seed = match self.added {
            Some(Added::Positions) => None,
            Some(Added::Random(seed)) => Some(seed),
            None | Some(Added::Counts) => return Ok(batch),
        };
        let number = |row| seed.map_or(row, |seed| (random_key(row, seed) >> 64) as u64);
        let (_, mut columns, rows) = batch.into_parts();
        columns.push(Arc::new(UInt64Array::from_iter_values((first..first + rows as u64).map(number))));
        arrays::batch(&self.whole, columns, rows).map_err(failed)
    }

    /// Returns a batch of [`TableScan::all_with_added`] without the added column.
    pub(super) fn without_added(&self, batch: RecordBatch) -> Result<RecordBatch, Error> {
        let (_, mut columns, rows) = batch.into_parts();
        columns.truncate(self.schema.fields().len());
        arrays::batch(&self.schema, columns, rows).map_err(failed)
    }

    /// The settings for reading the columns of keys alone.
    pub(super) fn of_keys(tables: &'a Tables<'a>, keys: &'a [TableKey]) -> Self {
        // Each once, in their order in the table.
        let columns: BTreeSet<usize> = keys.iter().map(TableKey::column).collect();
        Self::of_columns(tables, keys, columns.into_iter().collect())
    }

    fn of_columns(tables: &'a Tables<'a>, keys: &'a [TableKey], columns: Vec<usize>) -> Self {
        let views = tables.job.ask.format != Format::Arrow;
        // A nullable column of any table is nullable in all tables.
        let types = tables.all[0].schema_as_read(views);
        let field =
            |(field, read): (&FieldRef, &FieldRef)| (**read).clone().with_nullable(field.is_nullable());
        let fields: Vec<Field> = tables.schema.fields().iter().zip(types.fields()).map(field).collect();
        let schema = Schema::new_with_metadata(fields, types.metadata().clone());
        let schema = Arc::new(schema.project(&columns).expect("the table has these columns"));
        Self { tables, keys, columns, views, whole: schema.clone(), schema, added: None, firsts: None }
    }

    /// Reads a part in batches of `rows` rows.
    pub(super) fn read(&self, part: Part, rows: usize) -> Result<Batches<'a>, Error> {
        self.tables.job.cancel.check().map_err(|error| Error::io("the input", "read", error))?;
        let table = &self.tables.all[part.table];
        let batches = table.read(part.number, &self.columns, rows, self.views);
        let how = self.clone();
        Ok(Box::new(batches.map(move |batch| {
            let (_, columns, rows) = batch?.into_parts();
            how.in_schema(table.name(), columns, rows)
        })))
    }

    /// Reads a part in batches of 1 to `rows` rows: a batch of Arrow in slices.
    pub(super) fn read_slices(&self, part: Part, rows: usize) -> Batches<'a> {
        let sliced = move |batch: Result<RecordBatch, Error>| -> Batches<'a> {
            match batch {
                Ok(batch) => Box::new(
                    ranges(batch.num_rows(), rows).map(move |part| Ok(batch.slice(part.start, part.len()))),
                ),
                error => Box::new(iter::once(error)),
            }
        };
        match self.read(part, rows) {
            Ok(batches) => Box::new(batches.flat_map(sliced)),
            Err(error) => Box::new(iter::once(Err(error))),
        }
    }

    /// Makes a batch, in the schema of all tables, of columns of an input.
    fn in_schema(&self, name: &str, mut columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, Error> {
        for ((column, field), &number) in columns.iter_mut().zip(self.schema.fields()).zip(&self.columns) {
            *column = self.tables.dictionaries.give(number, column, false).map_err(failed)?;
            *column = converted(column, field.data_type()).map_err(|error| {
                Error::input(
                    name,
                    format!(
                        "column '{}' has a value that Parquet cannot hold ({error}); cast it, or write Arrow",
                        quoted(field.name())
                    ),
                )
            })?;
        }
        let batch = arrays::batch(&self.schema, columns, rows);
        let wrong = |error| Error::input(name, format!("the columns differ from the schema: {error}"));
        let batch = batch.map_err(wrong)?;
        if self.is_reduced() { self.reduced(&batch) } else { Ok(batch) }
    }

    /// Returns the first rows of each key or value of a batch, with counts if they are added.
    fn reduced(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let mut nulls = Counts::default();
        let decoded = self.arrays(self.keys, batch).decoded(true)?;
        decoded.count(&mut nulls, |_| String::new())?;
        lock(&self.tables.nulls).add_all(&nulls);
        let mut keys = decoded.keys(batch.num_rows())?;
        let rows = 0..batch.num_rows();
        let (rows, counts) = match self.firsts {
            Some((values, most)) => {
                let mut values = self.arrays(values, batch).keys()?;
                let firsts = if let (Some(values), Some(keys)) = (values.single(), keys.single()) {
                    firsts(values.iter().copied().zip(keys.iter().copied()), most)
                } else {
                    let (value, key) = (comparable(&mut values), comparable(&mut keys));
                    firsts(rows.map(|row| (value(row), key(row))), most)
                };
                (firsts, Vec::new())
            }
            None => match keys.single() {
                Some(words) => counted(words.iter().copied()),
                None => counted(rows.map(comparable(&mut keys))),
            },
        };
        let batch = if rows.len() == batch.num_rows() { batch.clone() } else { taken(batch, &rows)? };
        let (_, mut columns, rows) = batch.into_parts();
        if self.firsts.is_none() {
            columns.push(Arc::new(UInt64Array::from(counts)));
        }
        arrays::batch(&self.whole, columns, rows).map_err(failed)
    }

    /// Gives a batch of a run the dictionaries of all inputs; the batch has their keys.
    pub(super) fn shared(&self, batch: RecordBatch) -> Result<RecordBatch, Error> {
        let (schema, mut columns, rows) = batch.into_parts();
        // In a run, the positions of rows follow these columns.
        for (column, &number) in columns.iter_mut().zip(&self.columns) {
            *column = self.tables.dictionaries.give(number, column, true).map_err(failed)?;
        }
        arrays::batch(&schema, columns, rows).map_err(failed)
    }

    /// Reads a part in batches, column by column on all cores.
    fn read_by_columns(&self, part: Part, rows: usize) -> Result<Batches<'a>, Error> {
        let table = &self.tables.all[part.table];
        // The columns of an Arrow batch are read together.
        if self.columns.is_empty() || matches!(table, Table::Arrow(_)) {
            return self.read(part, rows);
        }
        let reader = |&column| table.read(part.number, &[column], rows, self.views);
        let mut readers: Vec<_> = self.columns.iter().map(reader).collect();
        let how = self.clone();
        Ok(Box::new(iter::from_fn(move || {
            let read: Option<Vec<_>> = map_parts(&mut readers, Iterator::next).into_iter().collect();
            let read: Result<Vec<RecordBatch>, Error> = read?.into_iter().collect();
            Some(read.and_then(|read| {
                how.tables.job.cancel.check().map_err(|error| Error::io("the input", "read", error))?;
                let columns = read.iter().map(|batch| batch.column(0).clone()).collect();
                how.in_schema(table.name(), columns, read[0].num_rows())
            }))
        })))
    }

    /// Returns the arrays of keys in a batch.
    pub(super) fn arrays<'k>(&self, keys: &'k [TableKey], batch: &RecordBatch) -> KeyArrays<'k>
    where
        'a: 'k,
    {
        KeyArrays::of(keys, self.tables.all[0].name(), batch, &self.columns)
    }

    /// Returns the keys of all rows of some batches.
    pub(super) fn keys_of<'b>(
        &self,
        batches: impl IntoIterator<Item = &'b RecordBatch>,
    ) -> Result<KeyArrays<'a>, Error> {
        let of = |batch: &RecordBatch| self.arrays(self.keys, batch);
        let mut all: Vec<KeyArrays> = batches.into_iter().map(of).collect();
        if all.is_empty() {
            all.push(of(&RecordBatch::new_empty(self.whole.clone())));
        }
        let column = |number: usize| {
            let chunks: Vec<ArrayRef> = all.iter().map(|one| one.arrays[number].clone()).collect();
            joined(chunks[0].data_type(), &chunks).map_err(failed)
        };
        let arrays = (0..self.keys.len()).map(column).collect::<Result<_, _>>()?;
        Ok(KeyArrays { arrays, ..all[0] })
    }

    /// Returns rows that include the first `few` rows, in the order of the input. Skips parts that cannot
    /// have such rows according to their statistics, if available.
    pub(super) fn first(&self, few: usize, limit: u64) -> Result<Vec<RecordBatch>, Error> {
        let tables = self.tables;
        let mut parts: Vec<(usize, Part)> = tables.parts.iter().copied().enumerate().collect();
        let least = super::check::bounds_of_parts(tables, &self.keys[0], false);
        if let Some(least) = &least {
            parts.sort_by_key(|&(number, _)| (&least[number], number));
        }
        let mut kept = Kept::new();
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

    /// Returns the rows of a batch of this table with their keys; the first row is number `first`. Counts their nulls
    /// in `counts`.
    pub(super) fn piece(
        &self,
        batch: RecordBatch,
        first: u64,
        name: &str,
        counts: Option<&Mutex<Counts>>,
    ) -> Result<Piece, Error> {
        let decoded = KeyArrays::of(self.keys, name, &batch, &self.columns).decoded(true)?;
        if let Some(counts) = counts {
            let mut own = Counts::default();
            decoded.count(&mut own, |row| self.tables.place(first + row as u64))?;
            lock(counts).add_all(&own);
        }
        Ok(Piece::of_rows(decoded.keys(batch.num_rows())?, batch, first, self.tables.size_of_row() as usize))
    }

    /// Returns the least number of rows of a batch: the usual number, or less if rows are large.
    pub(super) fn least(&self, usual: usize) -> usize {
        const BYTES: u64 = 1 << 17;
        const FEW: usize = 8;
        usize::try_from(BYTES / self.row_bytes().max(1)).unwrap_or(usize::MAX).clamp(FEW, usual)
    }

    /// Returns the approximate bytes of a row in a merge, with its keys.
    pub(super) fn row_bytes(&self) -> u64 {
        /// The bytes of a single key held as a word.
        const WORD: u64 = 16;
        /// The bytes of any other key: in its column, and in a row of bytes.
        const KEY: u64 = 40;
        let row = self.tables.size_of_row();
        row + match self.keys {
            [key] if key.width() == 1 && !key.is_text() => WORD,
            // The texts of keys may be most of a row, and are copied into columns and into rows of bytes.
            keys if keys.iter().any(TableKey::is_text) => 2 * row + KEY * keys.len() as u64,
            keys => KEY * keys.len() as u64,
        }
    }

    /// Returns the place of a row, whose number counts all rows, with the column of a key (empty without a key),
    /// and the keys as messages show them, one for each column of words or texts.
    pub(super) fn show(&self, piece: &Piece, record: usize, key: Option<usize>) -> (String, Vec<String>) {
        let (batch, first) = piece.rows();
        let arrays = KeyArrays::of(self.keys, "", batch, &self.columns);
        let numbers = (0..).zip(self.keys).flat_map(|(number, key)| vec![number; key.width()]);
        let numbers: Vec<usize> = numbers.collect();
        let mut place = key.map_or_else(String::new, |_| self.tables.place(first + record as u64));
        if let Some(key) = key.filter(|_| self.keys.len() > 1) {
            place.push_str(&format!(", column '{}'", self.keys[numbers[key]].name));
        }
        (place, numbers.into_iter().map(|key| arrays.shown(key, record)).collect())
    }

    /// Returns the first `few` rows of these batches of some parts, and the keys of the last row.
    fn cut(&self, kept: Kept, few: usize) -> Result<(Kept, Option<Vec<u8>>), Error> {
        let all = self.keys_of(kept.iter().map(|(_, batch)| batch))?;
        let mut positions = all.order()?;
        positions.truncate(few);
        let worst = positions.last().map(|&last| all.key(last as usize)).transpose()?;
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
    pub(super) fn new(how: TableScan<'a>) -> Self {
        Self { parts: &how.tables.parts, how, rows: 0, open: Box::new(iter::empty()) }
    }

    /// Returns the next rows, about `bytes` bytes; `None` after the last row. Reports progress.
    pub(super) fn next(&mut self, bytes: u64) -> Result<Option<Vec<RecordBatch>>, Error> {
        let (mut batches, mut taken) = (Vec::new(), 0);
        // The batches of a sort in parts are short, since readers grow them by doubling.
        let most = if bytes == u64::MAX { ROWS } else { 1 << 16 };
        let rows = usize::try_from(bytes / 8 / self.how.tables.row_bytes())
            .unwrap_or(most)
            .clamp(self.how.least(1 << 8), most);
        while taken < bytes {
            self.how.tables.job.watch.set(self.rows);
            if let Some(batch) = self.open.next().transpose()? {
                taken += batch.get_array_memory_size() as u64;
                let rows = batch.num_rows() as u64;
                self.rows += self.how.counts(&batch).map_or(rows, |counts| counts.iter().sum());
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
            self.open = if count == 0 {
                self.how.read_by_columns(parts[0], rows)?
            } else {
                let read = map_parts(parts, |part| self.how.read(*part, rows)?.collect());
                let read: Vec<Vec<_>> = read.into_iter().collect::<Result<_, Error>>()?;
                Box::new(read.into_iter().flatten().map(Ok))
            };
            self.parts = others;
        }
        Ok((!batches.is_empty()).then_some(batches))
    }
}

/// A key as a word or as bytes.
type Comparable<'k> = (u64, &'k [u8]);

/// Returns the key of each row in a form that compares.
fn comparable<'k>(keys: &'k mut Keys) -> impl Fn(usize) -> Comparable<'k> {
    if keys.single().is_none() {
        keys.make_rows();
    }
    let keys = &*keys;
    move |row| keys.single().map_or_else(|| (0, keys.row(row)), |words| (words[row], &[]))
}

/// Returns the first row of each of these keys, and the number of its rows. If most of the first rows differ, returns all
/// rows.
fn counted<K: Eq + Hash>(keys: impl ExactSizeIterator<Item = K>) -> (Vec<u32>, Vec<u64>) {
    /// The number of the first rows.
    const SAMPLE: usize = 1 << 12;
    let (mut groups, all) = (HashMap::default(), keys.len());
    let (mut firsts, mut counts) = (Vec::new(), Vec::new());
    for (row, key) in (0..).zip(keys) {
        if row as usize == SAMPLE && firsts.len() > SAMPLE / 4 * 3 {
            return ((0..all as u32).collect(), vec![1; all]);
        }
        let group = *groups.entry(key).or_insert(firsts.len());
        if group == firsts.len() {
            firsts.push(row);
            counts.push(0);
        }
        counts[group] += 1;
    }
    (firsts, counts)
}

/// Returns the numbers of the `most` first rows of each value, in the order of their keys; the rows ascend.
fn firsts<V: Eq + Hash, K: Ord>(rows: impl Iterator<Item = (V, K)>, most: usize) -> Vec<u32> {
    let mut groups: HashMap<V, BinaryHeap<(K, u32)>> = HashMap::default();
    for (row, (value, key)) in (0..).zip(rows) {
        let group = groups.entry(value).or_default();
        let row = (key, row);
        if group.len() < most {
            group.push(row);
        } else if let Some(mut last) = group.peek_mut().filter(|last| row < **last) {
            *last = row;
        }
    }
    let mut rows: Vec<u32> = groups.into_values().flatten().map(|(_, row)| row).collect();
    rows.sort_unstable();
    rows
}

/// Returns these rows of a batch, without the texts of other rows.
pub(super) fn taken(batch: &RecordBatch, rows: &[u32]) -> Result<RecordBatch, Error> {
    gathered(batch.schema_ref(), batch.columns(), rows).and_then(|taken| compact(&taken)).map_err(failed)
}

/// Returns the batch without texts that only other batches view.
pub(super) fn compact(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(arrays::compact).collect();
    arrays::batch(batch.schema_ref(), columns, batch.num_rows())
}
