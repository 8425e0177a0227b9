//! Checks the order of tables, and reads from their statistics which parts may hold the first rows.

use std::slice;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::Tables;
use super::keys::{KeyArrays, TableKey};
use super::read::Reading;
use crate::error::{Error, Hint};
use crate::io::arrow::{Part, Table};
use crate::io::fields::{Key, KeySpec};
use crate::io::ordered::{Disorder, Last};
use crate::io::piece::Piece;
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
    let how = Reading::of_keys(tables, keys);
    let unique = tables.job.ask.selection.unique.then_some(&[][..]);
    let show = |piece: &Piece, record, key| how.show(piece, record, key);
    let before = tables.parts.iter().take_while(|part| Some(*part) != parts.first());
    let (mut passed, mut done): (u64, _) = (before.map(|part| part.rows).sum(), 0);
    let mut all: Vec<(Part, u64)> = Vec::new();
    for part in parts {
        all.push((*part, passed));
        passed += part.rows;
    }
    let mut last = Last::default();
    for wave in all.chunks(parallel::threads()) {
        // Checks each part by itself, and keeps its first row and its last one.
        let looked = map_parts(wave, |&(part, mut row)| {
            let name = tables.all[part.table].name();
            let (mut first, mut last) = (None, Last::default());
            for batch in how.read(part, ROWS)? {
                let batch = batch?;
                if batch.num_rows() == 0 {
                    continue;
                }
                if first.is_none() {
                    first = Some(how.piece(batch.slice(0, 1), row, name)?);
                }
                let piece = how.piece(batch, row, name)?;
                row += piece.len() as u64;
                if let Some((.., disorder)) = last.follow(&show, slice::from_ref(&piece), unique) {
                    return Ok((first, last, Some(disorder)));
                }
            }
            Ok::<_, Error>((first, last, None))
        });
        for ((part, _), looked) in wave.iter().zip(looked) {
            let (first, end, disorder) = looked?;
            let Some(first) = first else { continue };
            let between = if by_parts { None } else { last.follow(&show, slice::from_ref(&first), unique) };
            if let Some(disorder) = between.map(|(.., disorder)| disorder).or(disorder) {
                return Ok(Some(disorder));
            }
            last = end;
            done += part.rows;
            tables.job.watch.set(done);
        }
    }
    Ok(None)
}

/// Reads the least value, in order, that each part of tables may have of a key, as bytes that compare; `None` for a
/// part that may have earlier rows: nulls or NaN. Returns `None` without statistics.
pub(super) fn least_of_parts(tables: &Tables, key: &TableKey) -> Option<Vec<Option<Vec<u8>>>> {
    if !key.is_plain() {
        return None;
    }
    let mut all = Vec::new();
    for table in &tables.all {
        let Table::Parquet(file) = table else { return None };
        let (least, nulls) = file.least(key.column(), key.order.descending)?;
        let floats = as_floats(&least);
        let is_nan_first = floats.is_some() && key.order.nan == Nulls::First;
        let values = KeyArrays::of_one(least.clone()).keys(slice::from_ref(key), "").ok()?;
        for part in 0..least.len() {
            let has_nulls = nulls.get(part).is_none_or(|nulls| *nulls != Some(0));
            // A least value of NaN tells nothing, and a zero may stand for either sign.
            let is_vague = floats.as_ref().is_some_and(|floats| floats[part].is_nan() || floats[part] == 0.0);
            let is_open = least.is_null(part)
                || is_vague
                || is_nan_first
                || has_nulls && key.order.empty == Nulls::First;
            all.push((!is_open).then(|| values.key(part)));
        }
    }
    Some(all)
}

/// Converts an array of floats; `None` for other types.
fn as_floats(array: &ArrayRef) -> Option<Vec<f64>> {
    let floats =
        if array.data_type().is_floating() { cast(array, &DataType::Float64).ok()? } else { return None };
    Some(floats.as_primitive::<Float64Type>().values().to_vec())
}
