//! The passes as JSON: one object, on one line.

use std::io::{self, Write};

use serde::Serialize;

use super::{Layer, Pass, Played, Trace};
use crate::report::timing::Device;

#[derive(Serialize)]
struct Whole<'a> {
    n: u32,
    #[serde(rename = "type")]
    element: &'a str,
    algo: &'a str,
    variant: &'a str,
    positions: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    top: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tile: Option<u64>,
    planned_for: For,
    dispatches: u64,
    bytes_moved: u64,
    steps: u64,
    comparisons: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    swaps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<Device>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<Times>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy_bytes_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Vec<&'a str>>,
    passes: Vec<Listed<'a>>,
}

/// What the passes keep to.
#[derive(Serialize)]
struct For {
    workgroup_bytes: u64,
    invocations: u32,
    subgroup: Option<u32>,
}

/// Milliseconds of the whole sort, of its passes together, and those that were subtracted from each
/// pass for its timestamp.
#[derive(Serialize)]
struct Times {
    sort: f64,
    passes: f64,
    timestamp: f64,
}

/// A pass, with all that it does where there are few elements.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    pass: Pass,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    does: Vec<Does>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Vec<&'a str>>,
}

/// What is done at once. Of a pair the smaller element goes to the first place.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Does {
    Compares {
        step: String,
        pairs: Vec<(usize, usize)>,
        swapped: Vec<(usize, usize)>,
    },
    /// For each place the one that its element comes from.
    Moves(Vec<Option<usize>>),
    Counts(Vec<u32>),
    /// How often a digit is lower than each value.
    Sums(Vec<u32>),
}

/// Writes one line. `labels` are the elements in order, as they are printed, where what each pass
/// does is to be listed.
///
/// # Errors
///
/// Errors of `out`.
pub fn write(trace: &Trace, played: Option<(&Played, &[String])>, out: &mut impl Write) -> io::Result<()> {
    let played = played.filter(|(played, _)| played.input.len() <= super::FEW);
    let printed = |ranks: &[u32]| -> Vec<&str> {
        let label = |&rank: &u32| played?.1.get(rank as usize).map(String::as_str);
        // What only fills a place is printed as nothing.
        ranks.iter().map(|rank| label(rank).unwrap_or_default()).collect()
    };
    let passes = (0..).zip(trace.passes()).map(|(number, pass)| {
        let moment = played.and_then(|(played, _)| played.moments.get(number));
        let does = moment.map(|moment| moment.layers.iter().map(does).collect()).unwrap_or_default();
        Listed { pass, does, after: moment.map(|moment| printed(&moment.after)) }
    });
    let (steps, comparisons) = trace.work();
    let measured = trace.measured.as_ref();
    let whole = Whole {
        n: trace.plan.n(),
        element: trace.element.name(),
        algo: trace.algorithm.name(),
        variant: trace.variant.name(),
        positions: trace.plan.shape().payload,
        top: trace.first,
        tile: trace.tile,
        planned_for: For {
            workgroup_bytes: trace.limits.workgroup_bytes,
            invocations: trace.limits.invocations,
            subgroup: trace.limits.subgroups.map(|subgroups| subgroups.smallest),
        },
        dispatches: trace.plan.dispatch_count(),
        bytes_moved: trace.plan.bytes_moved(),
        steps,
        comparisons,
        swaps: played.map(|(played, _)| played.swaps()),
        device: measured.map(|measured| Device {
            name: measured.device.name.clone(),
            backend: measured.device.backend,
            kind: measured.device.kind.name(),
        }),
        ms: measured.map(|measured| Times {
            sort: measured.sort,
            passes: measured.all_passes(),
            timestamp: measured.timestamp,
        }),
        copy_bytes_per_s: measured.map(|measured| measured.copy.round()),
        runs: measured.map(|measured| measured.runs),
        input: played.map(|(played, _)| printed(&played.input)),
        passes: passes.collect(),
    };
    serde_json::to_writer(&mut *out, &whole)?;
    writeln!(out)
}

fn does(layer: &Layer) -> Does {
    match layer {
        Layer::Compare(step, pairs) => Does::Compares {
            step: super::words::of_step(*step),
            pairs: pairs.iter().map(|pair| (pair.low, pair.high)).collect(),
            swapped: pairs.iter().filter(|pair| pair.swapped).map(|pair| (pair.low, pair.high)).collect(),
        },
        Layer::Move(sources) => Does::Moves(sources.clone()),
        Layer::Count(counts) => Does::Counts(counts.clone()),
        Layer::Sum(sums) => Does::Sums(sums.clone()),
    }
}
