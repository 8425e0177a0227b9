//! Describes a dispatch in a few words.

use std::fmt::Write;

use gpusort_order::network::Step;
use gpusort_planner::kernels::DIGIT_BITS;
use gpusort_planner::plan::{
    Dispatch, Fused, FusedWork, Kernel, Local, Radix, RadixWork, Scope, SelectWork, TransposeWork,
};

use gpusort_base::human::{grouped, power};

/// The digit that a dispatch handles, counted from the lowest; `None` if it handles none or all.
pub(super) fn digit(dispatch: &Dispatch) -> Option<u32> {
    let has_digit = match dispatch.kernel() {
        // The device chooses a leading digit.
        Kernel::Radix(Radix { scope: Scope::Leading(_), .. }) => false,
        Kernel::Radix(radix) => !matches!(radix.work, RadixWork::Clear | RadixWork::Histogram),
        Kernel::Select(select) => matches!(select.work, SelectWork::Histogram | SelectWork::Choose),
        _ => false,
    };
    has_digit.then(|| dispatch.digit())
}

/// Describes this dispatch.
pub(super) fn of(dispatch: &Dispatch) -> String {
    let kernel = dispatch.kernel();
    let all = super::steps(dispatch);
    let sorted = |tile_log2: u32| {
        let stages = match all.iter().map(|step| block_log2(*step)).max() {
            None | Some(0 | 1) => "pairs".to_owned(),
            Some(log2) => format!("stages 2 … {}", power(log2)),
        };
        format!("sort tiles of {}: {stages}", power(tile_log2))
    };
    match kernel {
        Kernel::Step(_) | Kernel::Fused(Fused { work: FusedWork::Strides { .. }, .. }) => of_steps(&all),
        Kernel::Local(Local { tile_log2, sorts: true }) => sorted(tile_log2),
        Kernel::Local(Local { tile_log2, .. }) => {
            format!("{} in tiles of {}", of_steps(&all), power(tile_log2))
        }
        Kernel::Fused(Fused { work: FusedWork::Sort, tile, .. }) => sorted(tile.log2()),
        Kernel::Fused(Fused { work: FusedWork::Halves, .. }) => {
            let shifted = if dispatch.first() == 0 { "" } else { ", shifted" };
            format!("merge halves of tiles{shifted}")
        }
        Kernel::Transpose(TransposeWork::Pad { from }) if from == dispatch.count() => {
            "pad: nothing to do".to_owned()
        }
        Kernel::Transpose(TransposeWork::Pad { .. }) => format!("pad to {}", grouped(dispatch.count())),
        Kernel::Transpose(TransposeWork::Sort { row_log2 }) => {
            format!("sort rows of {}, up and down", power(row_log2))
        }
        Kernel::Transpose(TransposeWork::Merge { .. }) => format!("{} in rows", of_steps(&all)),
        Kernel::Transpose(TransposeWork::Transpose { rows_log2, columns_log2 }) => {
            format!("transpose {} rows of {}", power(rows_log2), power(columns_log2))
        }
        Kernel::Top(top) => {
            let tile = power(top.tuning.tile_log2());
            format!("keep the first {} of each {tile}", grouped(top.k))
        }
        Kernel::Radix(radix) => {
            let bit = radix.digit * DIGIT_BITS;
            let digit = match radix.scope {
                Scope::Leading(_) => format!("leading digit {}, from the last", radix.digit + 1),
                Scope::All | Scope::Segments(_) => format!("bits {bit}–{}", bit + DIGIT_BITS - 1),
            };
            match radix.work {
                RadixWork::Clear => "clear the counts".to_owned(),
                RadixWork::Histogram if matches!(radix.scope, Scope::Leading(_)) => {
                    "count the leading digits".to_owned()
                }
                RadixWork::Histogram => format!("count all {} digits", radix.digits),
                RadixWork::Tile => "sort all elements in one workgroup".to_owned(),
                RadixWork::Sample => "look at some keys".to_owned(),
                RadixWork::Choose => "choose leading digits".to_owned(),
                RadixWork::Cut(_) => "cut windows between prefixes".to_owned(),
                RadixWork::Finish(_) => "sort windows".to_owned(),
                RadixWork::Runs(_) => "sort long runs".to_owned(),
                RadixWork::Sweep(_) => format!("scatter by {digit} (look-back)"),
                RadixWork::Count { .. } => format!("count {digit}"),
                RadixWork::Scan => format!("add up counts of {digit}"),
                RadixWork::Scatter => format!("scatter by {digit}"),
            }
        }
        Kernel::Select(select) => match select.work {
            SelectWork::Clear => "clear the counts".to_owned(),
            SelectWork::Histogram => format!("count digit {} of candidates", select.digit),
            SelectWork::Choose => format!("choose digit {} of the last key", select.digit),
            SelectWork::Count => "count keys up to the last one".to_owned(),
            SelectWork::Keep => format!("keep the first {}", grouped(select.k)),
            SelectWork::Return => format!("bring {} back", grouped(select.k)),
        },
        Kernel::Merge(_) => "merge two sorted runs".to_owned(),
        Kernel::Iota(_) => "number the positions".to_owned(),
        Kernel::Batch(_) => "sort rows".to_owned(),
    }
}

/// The size of the blocks that no comparison of a step leaves, as a power of two.
pub(super) fn block_log2(step: Step) -> u32 {
    match step {
        Step::Mirror { block_log2 } | Step::Alternating { block_log2, .. } => block_log2,
        Step::Stride { stride_log2 } => stride_log2 + 1,
        Step::Phase { .. } => 1,
    }
}

/// The name of a step.
pub fn of_step(step: Step) -> String {
    match step {
        Step::Mirror { block_log2 } => format!("mirror {}", power(block_log2)),
        Step::Stride { stride_log2 } | Step::Alternating { stride_log2, .. } => {
            format!("stride {}", power(stride_log2))
        }
        Step::Phase { odd: false } => "even phase".to_owned(),
        Step::Phase { odd: true } => "odd phase".to_owned(),
    }
}

/// Steps one after another: runs of falling strides are given by their ends.
fn of_steps(steps: &[Step]) -> String {
    let stride = |step: &Step| match *step {
        Step::Stride { stride_log2 } | Step::Alternating { stride_log2, .. } => Some(stride_log2),
        _ => None,
    };
    let falls = |a: &Step, b: &Step| stride(a).zip(stride(b)).is_some_and(|(a, b)| a == b + 1);
    let mut text = String::new();
    for run in steps.chunk_by(falls) {
        let (first, last) = (run[0], run[run.len() - 1]);
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = match (run.len(), stride(&first), stride(&last)) {
            (2.., Some(first), Some(last)) => {
                let [first, last] = [first, last].map(power);
                write!(text, "{comma}strides {first} … {last}")
            }
            _ => write!(text, "{comma}{}", of_step(first)),
        };
    }
    if text.is_empty() { "nothing to compare".to_owned() } else { text }
}
