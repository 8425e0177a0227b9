//! Where the elements of odd-even transposition sort are after any number of phases, without
//! performing them: of a million elements that would be half a trillion comparisons.
//!
//! Call elements from some rank on ones, and those below it zeros. How many ones lie right of a
//! cut between two places changes only when these two are compared, and then it is the least of
//! what its neighbours allow:
//!
//! ```text
//! places  … a │ b …      N(x) ones from place x on; a phase that compares a and b, on both sides of the cut x, leaves
//! cuts   x−1  x  x+1     N(x) = min(N(x−1), N(x+1) + 1)
//! ```
//!
//! All neighbours were compared one phase earlier, so that after k phases N(x) is the least, over
//! every cut y of the same parity no farther than k away, of what N(y) was, and one more for each
//! step that leads there from the right. The order of a few dozen ranks taken so gives how many
//! elements of each class of ranks lie in each bin.

use gpusort_order::network::Step;
use gpusort_planner::plan::{Kernel, Plan};

use super::heat::{Heat, Row, Strip};
use crate::parallel;

/// Classes of ranks.
const CLASSES: usize = 96;

/// Cuts of which the least value is kept.
const BLOCK: usize = 1 << 10;

/// Whether all that the plan does is phases.
pub(super) fn is_of_phases(plan: &Plan) -> bool {
    plan.distinct_dispatches().all(|it| matches!(it.kernel(), Kernel::Step(Step::Phase { .. })))
}

/// Adds the rows of a map whose first is the input's.
pub(super) fn add_rows(heat: &mut Heat, input: &[u32], phases: u64) {
    let after: Vec<u64> = (1..=phases).filter(|&done| heat.wants(done)).collect();
    let edges = heat.edges();
    let bounds: Vec<u32> = (0..=CLASSES).map(|class| (class * input.len() / CLASSES) as u32).collect();
    // For each rank that a class begins with: after each of these phases, the ones from each edge
    // on.
    let ones = parallel::map(&bounds, |&rank| {
        let cuts = Cuts::new(input, rank);
        let at = |&done: &u64| edges.iter().map(|&edge| cuts.ones(edge, done)).collect();
        after.iter().map(at).collect::<Vec<Vec<u32>>>()
    });
    for (row, &after) in after.iter().enumerate() {
        let cell = |column: usize| {
            let from = |class: usize| ones[class][row][column] - ones[class][row][column + 1];
            let classes = (0..CLASSES).map(|class| {
                let (low, high) = (f64::from(bounds[class]), f64::from(bounds[class + 1]));
                (f64::from(from(class) - from(class + 1)), f64::midpoint(low, high), high - low)
            });
            let count: f64 = classes.clone().map(|(count, ..)| count).sum();
            let mean = classes.clone().map(|(count, rank, _)| count * rank).sum::<f64>() / count;
            let square = |(count, rank, width): (f64, f64, f64)| {
                count * ((rank - mean).powi(2) + width * width / 12.0)
            };
            (count > 0.0).then(|| heat.shade_of(mean, classes.map(square).sum::<f64>() / count))
        };
        let cells = (0..edges.len() - 1).map(cell).collect();
        heat.rows.push(Row { after, strip: Strip::Ranks { cells, lines: Vec::new() } });
    }
}

/// The cuts between places, before the first phase.
struct Cuts {
    /// Twice the ones from each cut on, and the number of the cut: what grows evenly on the way
    /// there.
    heights: Vec<u32>,
    /// The least of each parity in each block.
    least: Vec<[u32; 2]>,
    total: u32,
}

impl Cuts {
    fn new(ranks: &[u32], from: u32) -> Self {
        let mut heights = vec![0; ranks.len() + 1];
        let mut ones = 0;
        heights[ranks.len()] = ranks.len() as u32;
        for (place, &rank) in ranks.iter().enumerate().rev() {
            ones += u32::from(rank >= from);
            heights[place] = 2 * ones + place as u32;
        }
        let least = |block: &[u32]| {
            // Blocks begin at even cuts.
            let of = |parity| block.iter().skip(parity).step_by(2).copied().min().unwrap_or(u32::MAX);
            [of(0), of(1)]
        };
        let least = heights.chunks(BLOCK).map(least).collect();
        Self { heights, least, total: ones }
    }

    /// The ones from this cut on after so many phases.
    fn ones(&self, cut: usize, done: u64) -> u32 {
        let n = self.heights.len() - 1;
        if cut == 0 || cut == n {
            return if cut == 0 { self.total } else { 0 };
        }
        // Phase 1 compares places 0 and 1, on both sides of cut 1: the last phase was about this
        // cut, or the one before.
        let steps = if cut as u64 % 2 == done % 2 { done } else { done.saturating_sub(1) } as usize;
        let parity = (cut + steps) % 2;
        let least = self.least(cut.saturating_sub(steps).max(1), (cut + steps).min(n - 1), parity);
        let reached = (u64::from(least) + steps as u64).saturating_sub(cut as u64) / 2;
        // No more than there are, and no more than places.
        (reached as u32).min(self.total).min((n - cut) as u32)
    }

    /// The least height of the cuts of a parity from `first` to `last`.
    fn least(&self, first: usize, last: usize, parity: usize) -> u32 {
        let of = |cuts: std::ops::Range<usize>| {
            let skipped = usize::from(cuts.start % 2 != parity);
            self.heights[cuts].iter().skip(skipped).step_by(2).copied().min().unwrap_or(u32::MAX)
        };
        let end = last + 1;
        let (whole, whole_end) = (first.div_ceil(BLOCK), end / BLOCK);
        if whole >= whole_end {
            return of(first..end);
        }
        let blocks = self.least[whole..whole_end].iter().map(|least| least[parity]).min();
        of(first..whole * BLOCK).min(blocks.unwrap_or(u32::MAX)).min(of(whole_end * BLOCK..end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::mix;
    use gpusort_order::Limits;
    use gpusort_order::Shape;
    use gpusort_order::key::KeyWords;
    use gpusort_order::{Algorithm, Variant};
    use gpusort_planner::plan::interpreter;

    fn plan(n: usize) -> Plan {
        let shape = Shape { key: KeyWords::One, payload: false };
        Plan::new(Algorithm::OddEven, Variant::Naive, n, shape, &Limits::TYPICAL).unwrap()
    }

    fn ranks(n: usize) -> Vec<u32> {
        let mut ranks: Vec<u32> = (0..n as u32).collect();
        ranks.sort_by_key(|&rank| mix(rank.into()));
        ranks
    }

    #[test]
    fn the_ones_from_each_cut_on_are_those_that_phases_leave() {
        for n in [2, 3, 8, 31, 64, 3001] {
            let input = ranks(n);
            for from in [0, n as u32 / 3, n as u32 / 2, n as u32 - 1] {
                let cuts = Cuts::new(&input, from);
                let mut wrong = 0;
                let mut check = |done, after: &[u32]| {
                    if n > 100 && done % 97 != 3 {
                        return;
                    }
                    let mut ones = 0;
                    for cut in (0..n).rev() {
                        ones += u32::from(after[cut] >= from);
                        assert_eq!(cuts.ones(cut, done), ones, "n {n}, phase {done}, cut {cut}");
                        wrong += u32::from(cuts.ones(cut, done + 1) != ones);
                    }
                };
                check(0, &input);
                interpreter::watch(&plan(n), &mut input.clone(), u32::MAX, |done, _, after| {
                    check(done, after);
                });
                // The check must be able to fail: of another phase the numbers are others.
                assert!(n < 8 || from == 0 || wrong > 0);
            }
        }
    }

    #[test]
    fn rows_are_about_those_that_the_interpreter_leaves() {
        let n = 5000;
        let (plan, input) = (plan(n), ranks(n));
        let mut drawn = Heat::new(&plan, &input);
        add_rows(&mut drawn, &input, n as u64);
        let mut played = Heat::new(&plan, &input);
        interpreter::watch(&plan, &mut input.clone(), u32::MAX, |done, _, after| {
            played.take(done, after, None);
        });
        played.end(n as u64);
        assert_eq!(drawn.rows.len(), played.rows.len());
        for (one, other) in drawn.rows.iter().zip(&played.rows) {
            let (Strip::Ranks { cells: a, .. }, Strip::Ranks { cells: b, .. }) = (&one.strip, &other.strip)
            else {
                panic!("rows of counts")
            };
            assert_eq!((one.after, a.len()), (other.after, b.len()));
            for (a, b) in a.iter().zip(b) {
                let (a, b) = (a.unwrap(), b.unwrap());
                assert!(a.level.abs_diff(b.level) <= 1 && a.mixed.abs_diff(b.mixed) <= 1, "{a:?} {b:?}");
            }
        }
    }
}
