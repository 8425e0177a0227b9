//! The colours of the heat map: a row for every dispatch, or for every few of many, and a column
//! for every position, or for a bin of many.
//!
//! A bin has the colour of its mean rank. A bin whose elements come from everywhere is mixed with
//! grey, since its mean says little. An ordered part of the array is coloured at this scale, other
//! parts are grey.

use gpusort_planner::plan::Plan;

use super::FILLER;

/// The most columns.
const COLUMNS: usize = 128;

/// The most rows beside the input's.
const ROWS: u64 = 128;

/// Colours from the lowest rank to the highest.
pub(super) const LEVELS: usize = 24;

/// Steps from a pure colour to grey.
pub(super) const MIXED: usize = 4;

/// The rows of a plan on an input.
pub(super) struct Heat {
    /// Elements, and places that the arrays have.
    n: usize,
    room: usize,
    pub(super) columns: usize,
    /// Dispatches between rows; the last dispatch has a row, too.
    pub(super) every: u64,
    last: u64,
    /// The input's first.
    pub(super) rows: Vec<Row>,
}

/// A row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The number of dispatches done.
    pub(super) after: u64,
    /// The colour of each bin; `None` for a bin without an element of the result.
    pub(super) cells: Vec<Option<Shade>>,
}

/// A colour: how high, and how grey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shade {
    /// Below `LEVELS`.
    pub(super) level: usize,
    /// Below `MIXED`; 0 is pure.
    pub(super) mixed: usize,
}

impl Shade {
    /// The pure colour of a rank among `n`.
    pub(super) fn of_rank(rank: f64, n: usize) -> Self {
        let part = rank / (n.max(2) - 1) as f64;
        Self { level: (part * (LEVELS - 1) as f64).round() as usize, mixed: 0 }
    }
}

impl Heat {
    /// The input's row.
    pub(super) fn new(plan: &Plan, input: &[u32]) -> Self {
        let (n, last) = (input.len(), plan.dispatch_count());
        let room = n.max(plan.room() as usize);
        let columns = room.min(COLUMNS);
        let mut heat = Self { n, room, columns, every: last.div_ceil(ROWS).max(1), last, rows: Vec::new() };
        heat.take(0, input);
        heat
    }

    /// Returns true if this dispatch has a row.
    pub(super) fn wants(&self, done: u64) -> bool {
        done.is_multiple_of(self.every) || done == self.last
    }

    /// Elements in a bin, about.
    pub(super) fn bin(&self) -> usize {
        self.room.div_ceil(self.columns.max(1))
    }

    /// Adds the row of this dispatch, if the map has one for it.
    pub(super) fn take(&mut self, done: u64, ranks: &[u32]) {
        if self.wants(done) {
            self.rows.push(Row { after: done, cells: self.cells(ranks) });
        }
    }

    /// Repeats the last row for dispatches that were left out because the elements were in order.
    pub(super) fn end(&mut self) {
        let Some(Row { after, cells }) = self.rows.last().cloned() else { return };
        let left = (after + 1..=self.last).filter(|&after| self.wants(after)).collect::<Vec<_>>();
        self.rows.extend(left.into_iter().map(|after| Row { after, cells: cells.clone() }));
    }

    fn cells(&self, ranks: &[u32]) -> Vec<Option<Shade>> {
        let edge = |column: usize| (column * self.room / self.columns).min(ranks.len());
        (0..self.columns).map(|column| self.shade(&ranks[edge(column)..edge(column + 1)])).collect()
    }

    /// The colour of elements together.
    fn shade(&self, ranks: &[u32]) -> Option<Shade> {
        let there = || ranks.iter().filter(|&&rank| rank != FILLER).map(|&rank| f64::from(rank));
        let count = there().count() as f64;
        if count == 0.0 {
            return None;
        }
        let mean = there().sum::<f64>() / count;
        let variance = there().map(|rank| (rank - mean).powi(2)).sum::<f64>() / count;
        // Relative to ranks that lie evenly everywhere.
        let spread = (variance * 12.0).sqrt() / self.n.max(1) as f64;
        let mixed = [0.15, 0.5, 0.85].iter().filter(|&&bound| spread > bound).count();
        Some(Shade { mixed, ..Shade::of_rank(mean, self.n) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpusort_order::Limits;
    use gpusort_order::Shape;
    use gpusort_order::key::KeyWords;
    use gpusort_order::{Algorithm, Variant};

    #[test]
    fn a_bin_is_grey_where_its_elements_are_from_everywhere() {
        let shape = Shape { key: KeyWords::One, payload: false };
        let plan = Plan::new(Algorithm::Bitonic, Variant::Naive, 1024, shape, &Limits::TYPICAL).unwrap();
        let sorted: Vec<u32> = (0..1024).collect();
        let heat = Heat::new(&plan, &sorted);
        let cells = heat.cells(&sorted);
        assert_eq!(cells.len(), COLUMNS);
        assert!(cells.iter().all(|cell| cell.unwrap().mixed == 0));
        assert!(cells.is_sorted() && cells[0].unwrap().level == 0 && cells[127].unwrap().level == LEVELS - 1);
        // Every bin has ranks from all parts.
        let mixed: Vec<u32> = (0..1024).map(|at| (at % 8) * 128 + at / 8).collect();
        let cells = heat.cells(&mixed);
        assert!(cells.iter().all(|cell| cell.unwrap().mixed == MIXED - 1), "{cells:?}");
        assert_eq!(heat.shade(&[FILLER, FILLER]), None);
        assert_eq!(heat.shade(&[FILLER, 0]).unwrap(), Shade { level: 0, mixed: 0 });
    }
}
