//! Checks the order of tables, and reads from their statistics which parts may hold the first rows.

use std::slice;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::Tables;
use super::keys::{KeyArrays, TableKey, columns_of, ranks};
use crate::columns::argsort;
use crate::error::{Error, Hint};
use crate::io::arrow::{Part, Table};
use crate::io::fields::{Key, KeySpec};
use crate::io::ordered::Disorder;
use crate::order::Nulls;
use crate::parallel::{self, map_parts};

/// Finds the first row out of order: by the keys, or without keys by the sorting columns that each row
/// group declares.
pub(super) fn check(tables: &Tables) -> Result<Option<Disorder>, Error> {
    let by = &tables.job.decisions.how.by;
    // Arrow declares no order, so a table of several columns needs a key.
    if !by.keys.is_empty() || matches!(tables.all[0], Table::Arrow(_)) {
        return rows_in_order(tables, &tables.parts, &tables.keys()?, false);
    }
    for (number, table) in tables.all.iter().enumerate() {
        let Table::Parquet(file) = table else { panic!("all inputs have one format") };
        let claims = file.claims();
        let Some(Some(first)) = claims.first() else {
            let problem = "has no sorting_columns to check; name the columns with a key";
            return Err(Error::input(table.name(), problem).hinting(Hint::Column("1".into())));
        };
        let is_same = |claim: &Option<Vec<(usize, _)>>| claim.as_ref() == Some(first);
        if let Some(group) = claims.iter().position(|claim| !is_same(claim)) {
            let problem = format!("the sorting_columns of row group {group} differ from those of the first");
            return Err(Error::input(table.name(), problem));
        }
        let key = |(column, claim): &(usize, parquet::file::metadata::SortingColumn)| {
            let key = Key::number(column + 1);
            if claim.descending { key.descending() } else { key.ascending() }
        };
        let spec = KeySpec { keys: first.iter().map(key).collect(), ..by.clone() };
        let mut keys = super::keys::find(&spec, &tables.schema, table.name())?;
        for (key, (_, claim)) in keys.iter_mut().zip(first) {
            key.order.empty = if claim.nulls_first { Nulls::First } else { Nulls::Last };
        }
        let parts: Vec<Part> = tables.parts.iter().filter(|part| part.table == number).copied().collect();
        if let Some(disorder) = rows_in_order(tables, &parts, &keys, true)? {
            return Ok(Some(disorder));
        }
    }
    Ok(None)
}

/// Finds the first row out of order in these parts, as one table or `by_parts`.
fn rows_in_order(
    tables: &Tables,
    parts: &[Part],
    keys: &[TableKey],
    by_parts: bool,
) -> Result<Option<Disorder>, Error> {
    /// The rows of a batch.
    const ROWS: usize = 1 << 17;
    let (job, columns) = (tables.job, columns_of(keys));
    let unique = job.ask.selection.unique;
    let (mut done, mut first_rows, mut passed) = (0, Vec::new(), vec![0; tables.all.len()]);
    for part in parts {
        first_rows.push(passed[part.table]);
        passed[part.table] += part.rows;
    }
    let mut last: Option<KeyArrays> = None;
    let all: Vec<(Part, u64)> = parts.iter().copied().zip(first_rows).collect();
    for wave in all.chunks(parallel::threads()) {
        job.cancel.check().map_err(|error| Error::io("the input", "read", error))?;
        // Checks each part by itself, and keeps the keys of its first and last row.
        let looked = map_parts(wave, |(part, first)| {
            let table = &tables.all[part.table];
            let (mut check, mut begin) = (InOrder::new(table.name(), *first), None);
            for batch in table.read(part.number, Some(&columns), ROWS, true)? {
                let batch = batch?;
                if batch.num_rows() == 0 {
                    continue;
                }
                let arrays = KeyArrays::of(keys, &batch, Some(&columns));
                if begin.is_none() {
                    begin = Some(arrays.slice(0, 1).detached()?);
                }
                let disorder = check.follow(&arrays, keys, unique)?;
                if disorder.is_some() {
                    return Ok((begin, None, disorder));
                }
            }
            Ok::<_, Error>((begin, check.last, None))
        });
        for ((part, first), looked) in wave.iter().zip(looked) {
            let (begin, end, disorder) = looked?;
            if let (Some(begin), false) = (&begin, by_parts) {
                let name = tables.all[part.table].name();
                let mut check = InOrder { last: last.take(), ..InOrder::new(name, *first) };
                if let Some(disorder) = check.follow(begin, keys, unique)? {
                    return Ok(Some(disorder));
                }
            }
            if disorder.is_some() {
                return Ok(disorder);
            }
            if end.is_some() {
                last = end;
            }
            done += part.rows;
            job.watch.set(done);
        }
    }
    Ok(None)
}

/// A check of rows that come one after another.
pub(super) struct InOrder {
    pub(super) name: String,
    /// The number of the next row.
    pub(super) passed: u64,
    last: Option<KeyArrays>,
}

impl InOrder {
    pub(super) fn new(name: &str, first: u64) -> Self {
        Self { name: name.to_owned(), passed: first, last: None }
    }

    /// Finds the first of the next rows out of order.
    pub(super) fn follow(
        &mut self,
        rows: &KeyArrays,
        keys: &[TableKey],
        unique: bool,
    ) -> Result<Option<Disorder>, Error> {
        let before = self.last.take();
        let known = usize::from(before.is_some());
        let all: Vec<KeyArrays> = before.into_iter().chain([rows.clone()]).collect();
        let all = KeyArrays::joined(&all)?;
        let decoded = all.decoded(keys, &self.name)?;
        let order = argsort(&decoded.columns())?;
        let is_sorted = order.iter().zip(0..).all(|(&row, at)| row == at);
        let first_lower = || ranks(&order).windows(2).position(|pair| pair[1] < pair[0]);
        let mut broken = if is_sorted { None } else { first_lower() };
        if unique {
            let is_same = decoded.sameness();
            let most = broken.unwrap_or(order.len().saturating_sub(1));
            broken = (0..most).find(|&row| is_same(row, row + 1)).or(broken);
        }
        let Some(row) = broken else {
            self.passed += rows.rows() as u64;
            self.last = Some(rows.slice(rows.rows() - 1, 1).detached()?);
            return Ok(None);
        };
        let key = decoded.difference(row, row + 1);
        let number = self.passed + (row + 1 - known) as u64;
        let column = if keys.len() > 1 { format!(", column '{}'", keys[key].name) } else { String::new() };
        Ok(Some(Disorder {
            place: format!("{}: row {number}{column}", self.name),
            value: all.shown(key, row + 1),
            before: all.shown(key, row),
        }))
    }
}

/// The least value, in order, that each part of tables may have of a key.
pub(super) struct Least {
    key: TableKey,
    /// A row for each part.
    values: KeyArrays,
    /// True for a part that may have earlier rows: nulls or NaN, or any value without statistics.
    are_open: Vec<bool>,
    ranks: Vec<u32>,
}

/// Reads the least values of a key from the statistics of tables; `None` if these do not have them.
pub(super) fn least_of_parts(tables: &Tables, key: &TableKey) -> Option<Least> {
    if !key.is_plain() {
        return None;
    }
    let (mut values, mut are_open): (Vec<ArrayRef>, _) = (Vec::new(), Vec::new());
    for table in &tables.all {
        let Table::Parquet(file) = table else { return None };
        let (least, nulls) = file.least(key.column(), key.order.descending)?;
        let floats = as_floats(&least);
        let is_nan_first = floats.is_some() && key.order.nan == Nulls::First;
        for part in 0..least.len() {
            let has_nulls = nulls.get(part).is_none_or(|nulls| *nulls != Some(0));
            // A least value of NaN tells nothing, and a zero may stand for either sign.
            let is_vague = floats.as_ref().is_some_and(|floats| floats[part].is_nan() || floats[part] == 0.0);
            let is_open = least.is_null(part)
                || is_vague
                || is_nan_first
                || has_nulls && key.order.empty == Nulls::First;
            are_open.push(is_open);
        }
        values.push(least);
    }
    let values: Vec<KeyArrays> = values.into_iter().map(KeyArrays::of_one).collect();
    let values = KeyArrays::joined(&values).ok()?;
    let ranks = ranks(&values.order(slice::from_ref(key), "").ok()?);
    Some(Least { key: key.clone(), values, are_open, ranks })
}

/// Converts an array of floats; `None` for other types.
fn as_floats(array: &ArrayRef) -> Option<Vec<f64>> {
    let floats =
        if array.data_type().is_floating() { cast(array, &DataType::Float64).ok()? } else { return None };
    Some(floats.as_primitive::<Float64Type>().values().to_vec())
}

impl Least {
    /// Returns the rank of a part by its least value; `None` for a part that may have earlier rows.
    pub(super) fn rank(&self, part: usize) -> Option<u32> {
        (!self.are_open[part]).then_some(self.ranks[part])
    }

    /// Returns true if a part may have a row that does not come after a row with the keys `worst`.
    pub(super) fn may_precede(&self, part: usize, worst: &KeyArrays) -> bool {
        if self.are_open[part] {
            return true;
        }
        let both = KeyArrays::joined(&[self.values.slice(part, 1), worst.first_key()]);
        // The order is stable: of equal values the part's comes first.
        let order = both.and_then(|both| both.order(slice::from_ref(&self.key), ""));
        order.map_or(true, |order| order[0] == 0)
    }
}
