//! Tables of columns: Parquet and Arrow. A sort reads the keys to order the numbers of rows, then gathers
//! the columns in this order and writes them, on all cores.
//!
//! Tables larger than the budget are sorted part by part into runs. The merge holds a window of rows of
//! each run, and orders the rows that no later row can precede.
//!
//! ```text
//! parts ── read ──> batches ── keys, order ──> numbers of rows ── gather, encode ──> the output, or a run
//!                                                                      runs ── windows, order ──> the output
//! ```

mod answers;
mod check;
mod convert;
mod copies;
mod folder;
mod keys;
mod merge;
mod read;
mod write;

use std::sync::Mutex;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use gpusort_order::{ElementType, KeyMap, Shape};

use self::keys::{KeyArrays, TableKey};
use self::merge::Merging;
use self::read::{Reader, TableScan};
use self::write::{Sink, order_of};
use super::dataset::{OutputSpec, write_keys};
use super::job::{ChooseSorter, Job, To};
use super::parts::position_type;
use super::progress::Phase;
use super::report::{ExplainedKey, Report};
use crate::columns::order_columns;
use gpusort_base::clock::{Instant, timed};
use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::sorter::Sorter;
use gpusort_external::Merged;
use gpusort_formats::arrow::dictionaries::Dictionaries;
use gpusort_formats::arrow::{Part, Table, common_schema};
use gpusort_formats::budget::Budget;
use gpusort_formats::fields::Axis;
use gpusort_formats::{Counts, Output};

/// The most memory of a sort, in multiples of the rows' size: the rows as read, joined, gathered and
/// encoded, not all at one time.
const TIMES: u64 = 3;

/// The most memory of a sort in parts, in multiples of a part, while it writes one part and reads the next.
const TIMES_OF_PARTS: u64 = 4;

/// The memory of the program and the allocator, beside the rows.
const MORE: u64 = 32 << 20;

/// The bytes that a sort adds to each row: its number, and the words that order it.
const BESIDE: u64 = 24;

/// Returns the shape of the sort, for a choice of device: words that order the rows, with the rows' numbers.
fn shape() -> Shape {
    Shape::of(ElementType::U64, true)
}

/// Returns the bytes of a budget that rows may take.
pub(super) fn room(budget: &Budget) -> u64 {
    let bytes = budget.bytes();
    bytes - MORE.min(bytes / 4)
}

/// Returns the limit for a row group of an output whose rows come batch by batch.
fn group_room(budget: &Budget) -> Option<usize> {
    usize::try_from(room(budget) / 4).ok()
}

/// Returns the selected rows in the order of these keys, and adds the rows to the report.
fn order(
    reading: &TableScan,
    arrays: &KeyArrays,
    sorter: &Sorter,
    report: &mut Report,
) -> Result<Vec<u32>, Error> {
    let (tables, first) = (reading.tables, report.records);
    let job = tables.job;
    report.records += arrays.rows() as u64;
    let decoded = arrays.decoded(false)?;
    if !reading.is_reduced() {
        decoded.count(&mut report.counts, |row| tables.place(first + row as u64))?;
    }
    let passes = &mut job.watch.passes();
    let (selection, method) = (tables.ask.selection, tables.ask.method);
    let done = order_columns(sorter, &decoded.columns(), selection, method, passes)?;
    report.sort = done.report.after(&report.sort);
    report.repeated += done.repeated as u64;
    report.cut += (arrays.rows() - done.repeated - done.words.len()) as u64;
    Ok(done.words.into_vec().expect("positions have 32 bits"))
}

impl Job<'_> {
    /// Sorts tables.
    pub(super) fn sort_tables(&self, devices: &mut dyn ChooseSorter, to: To) -> Result<Report, Error> {
        let tables = self.open_tables()?;
        let keys = tables.keys()?;
        devices.expect(None);
        let mut output = self.open(to)?;
        self.watch.phase(Phase::Read, Some(tables.rows));
        let reading = TableScan::new(&tables, &keys);
        let (fits, limit) = tables.limit();
        let few = self.ask.selection.first.filter(|&few| {
            let rows = few as u64;
            let is_few = rows <= tables.rows / 4 && rows.saturating_mul(tables.row_bytes()) <= limit / 2;
            // A refused null or NaN may be in any row.
            let is_plain = !self.ask.selection.unique && !self.ask.positions && self.shuffle.is_none();
            is_few && is_plain && !keys.iter().any(TableKey::refuses_nulls)
        });
        let mut report = if fits || few.is_some() {
            let (batches, positions, mut report) = self.order_in_memory(&reading, few, devices)?;
            let write = || self.write_rows(&reading, batches, positions, &mut output);
            timed(&mut report.phases.write, write)?;
            report
        } else {
            self.sort_in_parts(reading, devices, |merging| merging.write(&mut output))?
        };
        // The output may replace an input.
        report.bytes = self.known_size();
        self.close(output, &mut report.phases.write)?;
        if few.is_some() {
            report.cut += tables.rows - report.records;
            report.records = tables.rows;
        }
        report.types = types(&keys);
        Ok(report)
    }

    /// Reads all rows, or rows that include the first `few` rows, and orders them. Returns the batches, and the selected
    /// rows in order.
    fn order_in_memory(
        &self,
        reading: &TableScan,
        few: Option<usize>,
        devices: &mut dyn ChooseSorter,
    ) -> Result<(Vec<RecordBatch>, Vec<u32>, Report), Error> {
        let (tables, mut report) = (reading.tables, Report::new(self.ask.format));
        let batches = timed(&mut report.phases.read, || match few {
            Some(few) => reading.first(few, tables.limit().1),
            None => Ok(Reader::new(reading.clone()).next(u64::MAX)?.unwrap_or_default()),
        })?;
        let read = || batches.iter().map(|batch| batch.num_rows() as u64).sum();
        let chosen = devices.choose(if few.is_some() { read() } else { tables.rows }, shape(), 0)?;
        // Positions in memory need no column.
        let batches = if self.ask.positions { batches } else { reading.all_with_added(batches, 0)? };
        let positions = order(reading, &reading.keys_of(&batches)?, chosen.sorter, &mut report)?;
        Ok((batches, positions, chosen.reported(report)))
    }

    /// Writes the rows at these positions, or the positions themselves.
    fn write_rows(
        &self,
        reading: &TableScan,
        batches: Vec<RecordBatch>,
        positions: Vec<u32>,
        output: &mut Output,
    ) -> Result<(), Error> {
        self.watch.phase(Phase::Write, Some(positions.len() as u64));
        let (tables, order) = (reading.tables, order_of(reading.keys));
        if self.ask.positions {
            let positions = positions.into_iter().map(u64::from);
            return write_positions(positions, tables.rows, self.ask.format, output);
        }
        let mut sink = Sink::new(tables, reading.schema.clone(), &order, output, None)?;
        let batches = batches.into_iter().map(|batch| reading.without_added(batch));
        sink.write_all(batches.collect::<Result<_, _>>()?, &positions)?;
        sink.finish()
    }

    /// Sorts parts into runs, which `merge` merges.
    fn sort_in_parts(
        &self,
        reading: TableScan,
        devices: &mut dyn ChooseSorter,
        merge: impl FnOnce(&mut Merging) -> Result<Merged, Error>,
    ) -> Result<Report, Error> {
        let (_, limit) = reading.tables.limit();
        let chosen = devices.choose(limit / reading.tables.row_bytes(), shape(), 0)?;
        let mut merging = Merging::new(reading);
        let mut report = merging.sort_parts(chosen.sorter, limit)?;
        let written = timed(&mut report.phases.merge, || merge(&mut merging))?;
        report.repeated += written.repeated;
        report.cut = report.records - report.repeated - written.written;
        Ok(chosen.with_budget(&self.budget).reported(report))
    }

    /// Merges sorted tables.
    pub(super) fn merge_tables(&self, begin: Instant, to: To) -> Result<Report, Error> {
        let tables = self.open_tables()?;
        let keys = tables.keys()?;
        let mut output = self.open(to)?;
        self.watch.phase(Phase::Merge, Some(tables.rows));
        let mut merging = Merging::new(TableScan::new(&tables, &keys));
        let (merged, [copied_groups, copied_rows]) = merging.write_inputs(&mut output)?;
        output.finish_as(self.is_last)?;
        Ok(Report { copied_groups, copied_rows, ..self.merge_report(begin, types(&keys), merged) })
    }

    /// Returns the keys of tables, with their kinds.
    pub(super) fn explain_tables(&self) -> Result<Vec<ExplainedKey>, Error> {
        // A pipe cannot be opened again after a sort.
        if self.table_keys.get().is_none() && !self.decisions.how.by.keys.is_empty() {
            self.open_tables()?.keys()?;
        }
        Ok(self.table_keys.get().cloned().unwrap_or_default())
    }

    fn open_tables(&self) -> Result<Tables<'_>, Error> {
        let folder = self.temp_folder();
        let open = |input| Table::open(input, self.decisions.format, &folder);
        let all = self.inputs.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let schema = common_schema(&all)?;
        let tables = Tables::new(self, all, schema);
        // Dictionaries of Parquet are read as their values for all other outputs.
        let has_dictionaries =
            matches!(tables.all[..], [Table::Arrow(_), ..]) || self.format() == Format::Arrow;
        let of = || Dictionaries::of(&tables.all, &tables.schema);
        let dictionaries = if has_dictionaries { of()? } else { Dictionaries::default() };
        Ok(Tables { dictionaries, ..tables })
    }
}

/// Returns the names of the types of keys.
fn types(keys: &[TableKey]) -> String {
    let keys = keys.iter().filter(|key| key.axis != Some(Axis::Second));
    keys.map(TableKey::kind).collect::<Vec<_>>().join(",")
}

/// Writes positions among `rows` rows.
fn write_positions(
    positions: impl Iterator<Item = u64>,
    rows: u64,
    format: Format,
    output: &mut Output,
) -> Result<(), Error> {
    let element = position_type(rows);
    let words: KeyBuf = match element {
        ElementType::U64 => positions.collect::<Vec<u64>>().into(),
        _ => positions.map(|position| position as u32).collect::<Vec<u32>>().into(),
    };
    let map = KeyMap { element, descending: false, nan_first: false };
    if format == Format::Npy {
        output.write_header(element, words.len() as u64)?;
    }
    write_keys(&words, map, !format.is_bits(), output).map_err(|error| output.failed(error))
}

/// The inputs of a sort.
struct Tables<'a> {
    job: &'a Job<'a>,
    /// The order, which for an answer differs from the job's.
    ask: OutputSpec,
    all: Vec<Table>,
    schema: SchemaRef,
    parts: Vec<Part>,
    /// The number of rows before each table.
    before: Vec<u64>,
    /// The number of all rows.
    rows: u64,
    /// Approximate bytes of the rows in memory.
    bytes: u64,
    dictionaries: Dictionaries,
    /// The numbers of nulls in batches that were reduced to different keys.
    nulls: Mutex<Counts>,
}

impl<'a> Tables<'a> {
    fn new(job: &'a Job<'a>, all: Vec<Table>, schema: SchemaRef) -> Self {
        let (mut parts, mut before, mut rows) = (Vec::new(), Vec::new(), 0);
        for (number, table) in all.iter().enumerate() {
            before.push(rows);
            let own = table.parts(number, rows);
            rows += own.iter().map(|part| part.rows).sum::<u64>();
            parts.extend(own);
        }
        let bytes = parts.iter().map(|part| part.bytes).sum();
        let (ask, dictionaries, nulls) = (job.ask, Dictionaries::default(), Mutex::default());
        Self { job, ask, all, schema, parts, before, rows, bytes, dictionaries, nulls }
    }

    /// Returns true if the rows fit in memory, and the approximate bytes of a part.
    fn limit(&self) -> (bool, u64) {
        let bytes = room(&self.job.budget);
        let fits = self.bytes.saturating_add(self.rows * BESIDE) <= bytes / TIMES;
        (fits, bytes / TIMES_OF_PARTS)
    }

    fn keys(&self) -> Result<Vec<TableKey>, Error> {
        if self.job.shuffle.is_some() {
            return Ok(vec![TableKey::random()]);
        }
        let keys = keys::find(&self.job.decisions.how.by, &self.schema, self.all[0].name())?;
        let by_code = keys.iter().find(|key| key.is_by_code());
        if let (table @ Table::Parquet(_), Some(key)) = (&self.all[0], by_code) {
            let problem = format!(
                "column '{}' is an ordered dictionary, whose order Parquet does not keep; sort by its strings with \
                 {0}:text, or write Arrow where the input is made",
                key.name
            );
            return Err(Error::input(table.name(), problem));
        }
        let differs = keys.iter().filter(|key| key.is_by_code());
        let mut differs = differs.filter_map(|key| Some((key, self.dictionaries.differs(&key.path)?)));
        if let Some((key, table)) = differs.next() {
            let problem = format!(
                "the ordered dictionary of column '{}' differs between inputs or batches; sort by its strings with \
                 {0}:text, or give all inputs the same dictionary",
                key.name
            );
            return Err(Error::input(self.all[table].name(), problem));
        }
        let explained = keys.iter().filter(|key| key.axis != Some(Axis::Second));
        let explained = explained.map(|key| ExplainedKey::of(&key.name, &key.kind(), key.order, false));
        self.job.table_keys.get_or_init(|| explained.collect());
        Ok(keys)
    }

    /// Returns the approximate bytes of a row in memory.
    fn size_of_row(&self) -> u64 {
        self.bytes / self.rows.max(1)
    }

    /// Returns the approximate bytes of a row, including the bytes that a sort adds.
    fn row_bytes(&self) -> u64 {
        self.size_of_row() + BESIDE
    }

    /// Returns the place of a row by its number among all rows.
    fn place(&self, row: u64) -> String {
        let table = self.before.partition_point(|&before| before <= row) - 1;
        format!("{}: row {}", self.all[table].name(), row - self.before[table])
    }
}
