//! The passes as JSON: one object, on one line.

use serde_json::{Value, json};

use super::{Layer, Played, Trace};
use gpusort_engine::report::timing::Device;

/// Returns one line. With the sorted elements, as they are printed, it lists the operations of each
/// pass.
pub fn line(trace: &Trace, played: Option<(&Played, &[String])>) -> String {
    let played = played.filter(|(played, _)| played.input.len() <= super::FEW);
    let printed = |ranks: &[u32]| -> Vec<&str> {
        let label = |&rank: &u32| played?.1.get(rank as usize).map(String::as_str);
        // Padding is an empty text.
        ranks.iter().map(|rank| label(rank).unwrap_or_default()).collect()
    };
    let passes = (0..).zip(trace.passes()).map(|(number, pass)| {
        let mut pass = without_nulls(json!(pass));
        if let Some(moment) = played.and_then(|(played, _)| played.moments.get(number)) {
            if !moment.layers.is_empty() {
                pass["does"] = moment.layers.iter().map(does).collect();
            }
            pass["after"] = printed(&moment.after).into();
        }
        pass
    });
    let (steps, comparisons) = super::work(&trace.plan);
    let measured = trace.measured.as_ref();
    let whole = without_nulls(json!({
        "n": trace.plan.n(),
        "type": trace.element.name(),
        "algo": trace.algorithm.name(),
        "variant": trace.variant.name(),
        "positions": trace.plan.shape().payload,
        "top": trace.first,
        "tile": trace.tile,
        // The limits of the passes.
        "planned_for": {
            "workgroup_bytes": trace.limits.workgroup_bytes,
            "invocations": trace.limits.invocations,
            "subgroup": trace.limits.subgroups.map(|subgroups| subgroups.smallest),
        },
        "dispatches": trace.plan.dispatch_count(),
        "bytes_moved": trace.plan.bytes_moved(),
        "steps": steps,
        "comparisons": comparisons,
        "swaps": played.map(|(played, _)| played.swaps()),
        "device": measured.map(|measured| Device::of(&measured.device)),
        // The times of the whole sort, of its passes together, and of a timestamp, which is subtracted
        // from each pass.
        "ms": measured.map(|measured| json!({
            "sort": measured.sort,
            "passes": measured.all_passes(),
            "timestamp": measured.timestamp,
        })),
        "copy_bytes_per_s": measured.map(|measured| measured.copy.round()),
        "runs": measured.map(|measured| measured.runs),
        "input": played.map(|(played, _)| printed(&played.input)),
        "passes": passes.collect::<Vec<_>>(),
    }));
    format!("{whole}\n")
}

/// Removes the null fields of an object.
pub fn without_nulls(mut object: Value) -> Value {
    object.as_object_mut().into_iter().for_each(|fields| fields.retain(|_, value| !value.is_null()));
    object
}

/// A layer. The smaller element of a pair goes to the first position. Moves list for each position
/// the one that its element comes from; sums, for each value of a digit, the number of lower ones.
fn does(layer: &Layer) -> Value {
    match layer {
        Layer::Compare(step, pairs) => {
            let swapped = pairs.iter().filter(|pair| pair.swapped);
            json!({ "compares": {
                "step": super::words::of_step(*step),
                "pairs": pairs.iter().map(|pair| (pair.low, pair.high)).collect::<Vec<_>>(),
                "swapped": swapped.map(|pair| (pair.low, pair.high)).collect::<Vec<_>>(),
            }})
        }
        Layer::Move(sources) => json!({ "moves": sources }),
        Layer::Count(counts) => json!({ "counts": counts }),
        Layer::Sum(sums) => json!({ "sums": sums }),
    }
}
