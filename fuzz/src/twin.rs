//! The twins: what the library must say, worked out from the contract (README, Rules) as plainly
//! and slowly as can be.
//!
//! Nothing in here is taken from the library but its names for types and rules. Where a twin and
//! the library differ, one of them does not do what the contract says.

pub mod bits;
pub mod column;
pub mod keys;
pub mod kinds;
pub mod number;
pub mod spelling;
pub mod table;
pub mod text;
pub mod version;

use gpusort_order::Selection;

/// What some programs put before text in UTF-8.
pub const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The first of these records, in input order, that is less than the one before it; with `unique`,
/// also one that equals it.
///
/// `None` where all are in order.
pub fn first_disorder<T>(
    records: &[T],
    unique: bool,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Option<usize> {
    (1..records.len()).find(|&at| {
        let order = order(&records[at], &records[at - 1]);
        order.is_lt() || unique && order.is_eq()
    })
}

/// The positions of these records in order; of equal ones the first comes first.
pub fn sorted<T>(
    records: &[T],
    selection: Selection,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..records.len()).collect();
    // Stable: equal ones keep their order.
    positions.sort_by(|&a, &b| order(&records[a], &records[b]));
    if selection.unique {
        positions.dedup_by(|later, earlier| order(&records[*later], &records[*earlier]).is_eq());
    }
    positions.truncate(selection.first.unwrap_or(usize::MAX));
    positions
}
