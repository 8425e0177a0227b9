//! Answers about the keys of tables: counts, the first row of each key, and the first rows of each value of a column.
//!
//! ```text
//! rows in order ──> groups of equal keys ──> a row for each key, with its number of rows
//! ```

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::keys::TableKey;
use super::merge::{EmitRows, added_numbers};
use super::read::{Reader, TableScan, compact, taken};
use super::write::{BATCH, Sink, all_joined, each_gathered, order_of};
use super::{Tables, group_room, keys, room, types};
use crate::answers::Firsts;
use crate::dataset::{Answer, OutputSpec};
use crate::job::{ChooseSorter, Job, LITTLE, To};
use crate::progress::Phase;
use crate::report::Report;
use gpusort_base::error::{Error, Hint};
use gpusort_base::parallel::lock;
use gpusort_formats::Output;
use gpusort_formats::arrow::arrays::{self, gathered};
use gpusort_formats::arrow::failed;
use gpusort_formats::arrow::parquet::SortedColumn;
use gpusort_formats::fields::Key;
use gpusort_order::{KeyOrder, Selection};

impl Job<'_> {
    /// Writes an answer instead of all rows.
    pub(crate) fn answer_tables(
        &self,
        answer: Answer,
        devices: &mut dyn ChooseSorter,
        to: To,
    ) -> Result<Report, Error> {
        let selection = Selection { unique: self.ask.selection.unique && !answer.is_counted(), first: None };
        let ask = OutputSpec { selection, positions: answer == Answer::InputOrder, ..self.ask };
        let tables = Tables { ask, ..self.open_tables()? };
        let keys = tables.keys()?;
        devices.expect(None);
        let mut output = self.open(to)?;
        self.watch.phase(Phase::Read, Some(tables.rows));
        let most = self.ask.selection.first.unwrap_or(usize::MAX);
        let asked = Asked { tables: &tables, keys: &keys, most };
        let (mut report, written) = match answer {
            Answer::Per => asked.first_of_values(devices, &mut output)?,
            Answer::InputOrder => asked.first_of_keys(devices, &mut output)?,
            Answer::Counts => asked.counted_rows(devices, &mut output)?,
            Answer::CountsOfKeys => asked.counts_of_keys(devices, &mut output)?,
        };
        report.bytes = self.known_size();
        self.close(output, &mut report.phases.write)?;
        let cut = report.records - report.repeated - written;
        Ok(Report { cut, types: types(&keys), ..report })
    }

    /// Sorts the rows, and passes them to `emit` in order, batch by batch.
    fn each_in_order(
        &self,
        reading: &TableScan,
        devices: &mut dyn ChooseSorter,
        emit: EmitRows,
    ) -> Result<Report, Error> {
        let mut report = if reading.tables.limit().0 {
            let (batches, positions, report) = self.order_in_memory(reading, None, devices)?;
            each_gathered(batches, &positions, BATCH, emit)?;
            report
        } else {
            self.sort_in_parts(reading.clone(), devices, |merging| merging.each(emit))?
        };
        report.counts.add_all(&lock(&reading.tables.nulls));
        Ok(report)
    }
}

/// The tables and keys of an answer.
#[derive(Clone, Copy)]
struct Asked<'a> {
    tables: &'a Tables<'a>,
    keys: &'a [TableKey],
    /// The most keys or rows to write.
    most: usize,
}

/// The report of a sort, and the number of rows written.
type Answered = (Report, u64);

impl Asked<'_> {
    /// Writes the first rows of each value of a column, in order.
    fn first_of_values(self, devices: &mut dyn ChooseSorter, output: &mut Output) -> Result<Answered, Error> {
        let Self { tables, keys, most } = self;
        let job = tables.job;
        let mut column = job.per.as_ref().expect("the column of values is a key").by.clone();
        column.keys = column.keys.into_iter().map(Key::of_any_kind).collect();
        let reading = gpusort_order::Reading::Any;
        (column.order, column.element) = (KeyOrder { reading, ..KeyOrder::ASCENDING }, None);
        let values = keys::find(&column, &tables.schema, tables.all[0].name())?;
        let reading = TableScan::of_all(tables, keys).of_first_rows(&values, most);
        let limit = group_room(&job.budget);
        let mut sink = Sink::new(tables, reading.schema.clone(), &order_of(keys), output, limit)?;
        let (mut firsts, mut written) = (Firsts::new(&job.budget, most), 0);
        let report = job.each_in_order(&reading, devices, &mut |batch| {
            let rows = firsts_of(&mut firsts, &values, &reading, &batch)?;
            written += rows.len() as u64;
            if rows.is_empty() { Ok(()) } else { sink.write(taken(&batch, &rows)?) }
        })?;
        sink.finish()?;
        Ok((Report { records: tables.rows, ..report }, written))
    }

    /// Passes the rows at these ascending positions to `emit`.
    fn each_at(
        self,
        positions: &[u64],
        emit: &mut dyn FnMut(RecordBatch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut left, mut at) = (positions, 0);
        let mut reader = Reader::new(TableScan::of_all(self.tables, self.keys));
        let limit = room(&self.tables.job.budget) / 4;
        while !left.is_empty()
            && let Some(batches) = reader.next(limit)?
        {
            for batch in batches {
                let begin = at;
                at += batch.num_rows() as u64;
                let (these, later) = left.split_at(left.partition_point(|&position| position < at));
                left = later;
                let rows: Vec<u32> = these.iter().map(|position| (position - begin) as u32).collect();
                if !rows.is_empty() {
                    emit(taken(&batch, &rows)?)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the first row of each key, in the order of the input.
    fn first_of_keys(self, devices: &mut dyn ChooseSorter, output: &mut Output) -> Result<Answered, Error> {
        let Self { tables, keys, most } = self;
        let mut positions = Vec::new();
        let report = tables.job.each_in_order(&TableScan::new(tables, keys), devices, &mut |batch| {
            positions.extend_from_slice(added_numbers(&batch));
            Ok(())
        })?;
        positions.sort_unstable();
        positions.truncate(most);
        let schema = TableScan::of_all(tables, keys).schema;
        let mut sink = Sink::new(tables, schema, &[], output, group_room(&tables.job.budget))?;
        self.each_at(&positions, &mut |batch| sink.write(batch))?;
        sink.finish()?;
        Ok((report, positions.len() as u64))
    }

    /// Writes the first row of each key after the number of its rows, in the order of the keys.
    fn counted_rows(self, devices: &mut dyn ChooseSorter, output: &mut Output) -> Result<Answered, Error> {
        let Self { tables, keys, most } = self;
        let reading = TableScan::new(tables, keys);
        let [declared, schema] = [&tables.schema, &reading.schema].map(|schema| counted(schema.fields()));
        let &Tables { job, rows, bytes, .. } = tables;
        let out = Tables { rows, bytes, ..Tables::new(job, Vec::new(), declared) };
        let behind = |sorted: SortedColumn| SortedColumn { column: sorted.column + 1, ..sorted };
        let order: Vec<_> = order_of(keys).into_iter().map(behind).collect();
        let mut sink = Sink::new(&out, schema.clone(), &order, output, group_room(&job.budget))?;
        let (mut groups, mut written) = (Groups::default(), 0);
        let mut write = |batch: RecordBatch, counts: Vec<i64>| {
            let batch = with_counts(&schema, batch.columns().to_vec(), counts)?;
            let batch = batch.slice(0, batch.num_rows().min(most - written));
            written += batch.num_rows();
            if batch.num_rows() > 0 { sink.write(batch) } else { Ok(()) }
        };
        let report =
            job.each_in_order(&reading, devices, &mut |batch| groups.add(&reading, &batch, &mut write))?;
        groups.end(&mut write)?;
        sink.finish()?;
        Ok((groups.reported(report, tables), written as u64))
    }

    /// Writes the keys after the number of their rows, the greatest numbers first.
    fn counts_of_keys(self, devices: &mut dyn ChooseSorter, output: &mut Output) -> Result<Answered, Error> {
        let Self { tables, keys, most } = self;
        let reading = TableScan::of_counts(tables, keys);
        let declared =
            counted(&keys.iter().map(|key| Arc::new(key.column_in(&tables.schema))).collect::<Vec<_>>());
        let columns = reading.arrays(keys, &RecordBatch::new_empty(reading.schema.clone())).arrays;
        let fields = declared.fields().iter().skip(1).zip(columns);
        let fields =
            fields.map(|(field, array)| Field::clone(field).with_data_type(array.data_type().clone()));
        let schema = counted(&fields.map(Arc::new).collect::<Vec<_>>());
        let mut found =
            Found { schema: schema.clone(), most, batches: Vec::new(), counts: Vec::new(), bytes: 0 };
        let (mut groups, limit) = (Groups::default(), (room(&tables.job.budget) / 4).max(LITTLE));
        let mut keep = |batch: RecordBatch, counts: Vec<i64>| {
            let columns = reading.arrays(keys, &batch).arrays;
            found.add(columns, counts)?;
            if found.bytes <= limit {
                return Ok(());
            }
            found.prune()?;
            let problem = format!("has at least {} keys, too many for the memory", found.counts.len());
            let error = Error::input(tables.all[0].name(), problem).hinting(Hint::Memory);
            if found.bytes > limit / 2 { Err(error) } else { Ok(()) }
        };
        let report = tables
            .job
            .each_in_order(&reading, devices, &mut |batch| groups.add(&reading, &batch, &mut keep))?;
        groups.end(&mut keep)?;
        let positions = found.top();
        let (rows, bytes) = (positions.len() as u64, found.bytes);
        let out = Tables { rows, bytes, ..Tables::new(tables.job, Vec::new(), declared) };
        let mut sink = Sink::new(&out, schema, &[], output, None)?;
        sink.write_all(found.batches, &positions)?;
        sink.finish()?;
        Ok((groups.reported(report, tables), rows))
    }
}

/// Returns the numbers of rows, in the next batch, among the first rows of their values.
fn firsts_of(
    firsts: &mut Firsts,
    values: &[TableKey],
    reading: &TableScan,
    batch: &RecordBatch,
) -> Result<Vec<u32>, Error> {
    let mut keys = reading.arrays(values, batch).keys()?;
    keys.make_rows();
    let mut rows = Vec::new();
    for row in 0..batch.num_rows() {
        if firsts.takes(keys.row(row))? {
            rows.push(row as u32);
        }
    }
    Ok(rows)
}

/// Returns the schema of these fields after a column of counts.
fn counted(fields: &[Arc<Field>]) -> SchemaRef {
    let count = Arc::new(Field::new("count", DataType::Int64, false));
    Arc::new(Schema::new([&[count], fields].concat()))
}

/// Returns a batch of counts and these columns.
fn with_counts(schema: &SchemaRef, columns: Vec<ArrayRef>, counts: Vec<i64>) -> Result<RecordBatch, Error> {
    let rows = counts.len();
    let counts: ArrayRef = Arc::new(Int64Array::from(counts));
    arrays::batch(schema, [vec![counts], columns].concat(), rows).map_err(failed)
}

/// Takes the first rows of groups, with the numbers of their rows.
type TakeGroups<'t> = &'t mut dyn FnMut(RecordBatch, Vec<i64>) -> Result<(), Error>;

/// Groups rows with equal keys, which follow each other.
#[derive(Default)]
struct Groups {
    /// The first row of the group whose end is not known, its key, and its number of rows so far.
    open: Option<(RecordBatch, Vec<u8>, i64)>,
    keys: u64,
}

impl Groups {
    /// Adds the next rows, and passes complete groups to `take`.
    fn add(&mut self, reading: &TableScan, batch: &RecordBatch, take: TakeGroups) -> Result<(), Error> {
        let mut keys = reading.keys_of([batch])?.keys()?;
        keys.make_rows();
        let rows = batch.num_rows() as u32;
        let is_first = |&row: &u32| match row.checked_sub(1) {
            Some(before) => keys.row(before as usize) != keys.row(row as usize),
            None => self.open.as_ref().is_none_or(|(_, key, _)| key != keys.row(0)),
        };
        let firsts: Vec<u32> = (0..rows).filter(is_first).collect();
        let counts = reading.counts(batch);
        let count = |range: Range<u32>| match counts {
            Some(counts) => counts[range.start as usize..range.end as usize].iter().sum::<u64>() as i64,
            None => i64::from(range.end - range.start),
        };
        if let Some((.., open)) = &mut self.open {
            *open += count(0..firsts.first().copied().unwrap_or(rows));
        }
        let Some((&last, complete)) = firsts.split_last() else { return Ok(()) };
        self.end(take)?;
        if !complete.is_empty() {
            self.keys += complete.len() as u64;
            let counts = firsts.windows(2).map(|pair| count(pair[0]..pair[1])).collect();
            take(taken(batch, complete)?, counts)?;
        }
        self.open = Some((taken(batch, &[last])?, keys.key(last as usize), count(last..rows)));
        Ok(())
    }

    /// Returns the report with the numbers of all rows and of repetitions.
    fn reported(&self, report: Report, tables: &Tables) -> Report {
        Report { records: tables.rows, repeated: tables.rows - self.keys, ..report }
    }

    /// Passes the open group to `take`.
    fn end(&mut self, take: TakeGroups) -> Result<(), Error> {
        let Some((row, _, count)) = self.open.take() else { return Ok(()) };
        self.keys += 1;
        take(row, vec![count])
    }
}

/// Returns the approximate memory of keys with their counts, without dictionaries, which all batches share.
fn size_of(batch: &RecordBatch) -> u64 {
    /// The memory of a key beside its values: its count, and its place in the order.
    const BESIDE: usize = 16;
    let of_column = |column: &ArrayRef| match column.as_any_dictionary_opt() {
        Some(dictionary) => dictionary.keys().get_buffer_memory_size(),
        None => column.get_buffer_memory_size(),
    };
    (batch.columns().iter().map(of_column).sum::<usize>() + BESIDE * batch.num_rows()) as u64
}

/// Keys in order, with the numbers of their rows.
struct Found {
    schema: SchemaRef,
    /// The most keys to write.
    most: usize,
    batches: Vec<RecordBatch>,
    counts: Vec<i64>,
    bytes: u64,
}

impl Found {
    fn add(&mut self, columns: Vec<ArrayRef>, counts: Vec<i64>) -> Result<(), Error> {
        self.counts.extend_from_slice(&counts);
        let batch = with_counts(&self.schema, columns, counts)?;
        self.bytes += size_of(&batch);
        self.batches.push(batch);
        Ok(())
    }

    /// Keeps only the keys to write.
    fn prune(&mut self) -> Result<(), Error> {
        let mut kept = self.top();
        kept.sort_unstable();
        let columns = all_joined(&mut arrays::chunks(std::mem::take(&mut self.batches)))?;
        let batch =
            gathered(&self.schema, &columns, &kept).and_then(|batch| compact(&batch)).map_err(failed)?;
        self.counts = kept.iter().map(|&key| self.counts[key as usize]).collect();
        self.bytes = size_of(&batch);
        self.batches.push(batch);
        Ok(())
    }

    /// Returns the numbers of the keys to write, the greatest counts first.
    fn top(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.counts.len() as u32).collect();
        order.sort_by_key(|&key| Reverse(self.counts[key as usize]));
        order.truncate(self.most);
        order
    }
}
