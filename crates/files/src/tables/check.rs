//! Checks the order of tables, and reads from their statistics which parts may hold the first rows.

use std::slice;
use std::sync::Mutex;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_cast::cast;
use arrow_schema::DataType;

use super::Tables;
use super::keys::{KeyArrays, TableKey};
use super::read::{TableScan, taken};
use crate::job::Job;
use crate::progress::Phase;
use gpusort_base::error::Error;
use gpusort_base::parallel::{self, map_parts};
use gpusort_external::{Disorder, Last};
use gpusort_formats::Counts;
use gpusort_formats::arrow::parquet::SortedColumn;
use gpusort_formats::arrow::{Part, Table};
use gpusort_formats::fields::{Key, KeySpec};
use gpusort_formats::piece::Piece;
use gpusort_order::{KeyOrder, Nulls};

impl Job<'_> {
    /// Finds the first row out of order: by the keys, or without keys by the sorting columns that each row
    /// group declares.
    pub(crate) fn check_tables(&self) -> Result<Option<Disorder>, Error> {
        let (tables, by) = (&self.open_tables()?, &self.decisions.how.by);
        self.watch.phase(Phase::Read, Some(tables.rows));
        // Arrow declares no order, so a table of several columns needs a key.
        if !by.keys.is_empty() || matches!(tables.all[0], Table::Arrow(_)) {
            return rows_in_order(tables, &tables.parts, &tables.keys()?, false);
        }
        for (number, table) in tables.all.iter().enumerate() {
            let Table::Parquet(file) = table else { panic!("all inputs have one format") };
            let claims = file.claims();
            let Some(Some(first)) = claims.first() else {
                let problem = "has no sorting_columns to check; name its key columns";
                return Err(Error::input(table.name(), problem));
            };
            let is_same = |claim: &Option<Vec<_>>| claim.as_ref() == Some(first);
            if let Some(group) = claims.iter().position(|claim| !is_same(claim)) {
                let problem =
                    format!("the sorting_columns of row group {group} differ from those of the first");
                return Err(Error::input(table.name(), problem));
            }
            let key = |claim: &SortedColumn| {
                let key = Key::number(claim.column + 1);
                if claim.descending { key.descending() } else { key.ascending() }
            };
            let spec = KeySpec { keys: first.iter().map(key).collect(), ..by.clone() };
            let mut keys = super::keys::find(&spec, &tables.schema, table.name())?;
            for (key, claim) in keys.iter_mut().zip(first) {
                key.order.empty = if claim.nulls_first { Nulls::First } else { Nulls::Last };
            }
            let parts: Vec<Part> = tables.parts.iter().filter(|part| part.table == number).copied().collect();
            let Some(disorder) = rows_in_order(tables, &parts, &keys, true)? else { continue };
            // Sorting columns do not define the place of NaN.
            keys.iter_mut().for_each(|key| key.order.nan = Nulls::First);
            let is_float = |key: &TableKey| key.field.data_type().is_floating();
            if !keys.iter().any(is_float) || rows_in_order(tables, &parts, &keys, true)?.is_some() {
                return Ok(Some(disorder));
            }
        }
        Ok(None)
    }
}

/// The first row of a part, its last row, and its first row out of order.
pub(super) type Looked = (Option<Piece>, Last, Option<Disorder>);

/// Checks the order of a part by itself. Nulls are counted in `counts`.
pub(super) fn part_in_order(
    how: &TableScan,
    part: Part,
    unique: Option<&[KeyOrder]>,
    counts: Option<&Mutex<Counts>>,
) -> Result<Looked, Error> {
    /// The rows of a batch.
    const ROWS: usize = 1 << 14;
    let (name, mut row) = (how.tables.all[part.table].name(), part.first);
    let show = |piece: &Piece, record, key| how.show(piece, record, key);
    let (mut first, mut last) = (None, Last::default());
    for batch in how.read_slices(part, ROWS) {
        let batch = batch?;
        if first.is_none() {
            first = Some(how.piece(taken(&batch, &[0])?, row, name, None)?);
        }
        let piece = how.piece(batch, row, name, counts)?;
        row += piece.len() as u64;
        if let Some((.., disorder)) = last.follow(&show, slice::from_ref(&piece), unique) {
            return Ok((first, last, Some(disorder)));
        }
    }
    Ok((first, last, None))
}

/// Finds the first row out of order in these parts, as one table or `by_parts`.
fn rows_in_order(
    tables: &Tables,
    parts: &[Part],
    keys: &[TableKey],
    by_parts: bool,
) -> Result<Option<Disorder>, Error> {
    let how = TableScan::of_keys(tables, keys);
    let unique = tables.ask.selection.unique.then_some(&[][..]);
    let show = |piece: &Piece, record, key| how.show(piece, record, key);
    let (mut last, mut done) = (Last::default(), 0);
    for wave in parts.chunks(parallel::threads()) {
        let looked = map_parts(wave, |&part| part_in_order(&how, part, unique, None));
        for (part, looked) in wave.iter().zip(looked) {
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

/// Reads the first value, in order, that each part of tables may have of a key, or the last one, as comparable bytes;
/// `None` for a part that may have rows beyond: nulls or NaN. Returns `None` without statistics.
pub(super) fn bounds_of_parts(
    tables: &Tables,
    key: &TableKey,
    is_last: bool,
) -> Option<Vec<Option<Vec<u8>>>> {
    if !key.is_plain() {
        return None;
    }
    let is_beyond = |place: Nulls| (place == Nulls::First) != is_last;
    let mut all = Vec::new();
    for table in &tables.all {
        let Table::Parquet(file) = table else { return None };
        let (least, nulls) = file.least(key.column(), key.order.descending != is_last)?;
        let is_float = least.data_type().is_floating();
        let floats = if is_float { Some(cast(&least, &DataType::Float64).ok()?) } else { None };
        // A least value of NaN tells nothing, and a zero may stand for either sign.
        let is_vague = |part| {
            let float = floats.as_ref().map(|floats| floats.as_primitive::<Float64Type>().value(part));
            float.is_some_and(|float| float.is_nan() || float == 0.0)
        };
        let values =
            KeyArrays { keys: slice::from_ref(key), table: "", arrays: vec![least.clone()] }.keys().ok()?;
        for part in 0..least.len() {
            let has_nulls = nulls.get(part).is_none_or(|nulls| *nulls != Some(0));
            let is_open = least.is_null(part)
                || is_vague(part)
                || is_float && is_beyond(key.order.nan)
                || has_nulls && is_beyond(key.order.empty);
            all.push((!is_open).then(|| values.key(part)));
        }
    }
    Some(all)
}
