//! The network alone, as textbooks draw it: wires, comparators, and a box for each stage.
//!
//! ```text
//! ┌──────────────┐
//! │┌──┐┌──┐┌────┐│   a box for each block that a stage sorts, and in it one for each block that no
//! ││  ││  ││    ││   comparison of a step leaves; phases of odd-even sort have none
//! │└──┘└──┘└────┘│
//! └──────────────┘
//! ```

use std::collections::BTreeMap;

use gpusort_order::network::Step;

use super::Panel;
use super::diagram::Drawn;
use super::motion::Motion;
use super::svg::{Data, Svg};
use super::wires::{Wires, label_width, pitch};
use crate::trace::network::columns;
use crate::trace::played::{Compared, Layer, Moment};
use crate::trace::words::block_log2;

/// Units from a stage's box to its inner boxes, from inner boxes to comparators, and between stages.
const OUTER: f64 = 0.35;
const INNER: f64 = 0.6;
const BETWEEN: f64 = 0.6;

/// Pixels of a unit, at most.
const MOST_UNIT: f64 = 14.0;

/// Pixels of bare wire at each end.
const END: f64 = 14.0;

fn units_of(layer: &Layer) -> f64 {
    match layer {
        Layer::Compare(_, pairs) => 2.0 * INNER + columns(pairs).len().saturating_sub(1) as f64,
        _ => 0.0,
    }
}

fn units(moment: &Moment) -> f64 {
    2.0 * OUTER + moment.layers.iter().map(|layer| units_of(layer) + OUTER).sum::<f64>() - OUTER
}

/// Pixels of the elements at one end; 0 without elements.
fn ends(panel: &Panel) -> f64 {
    if panel.2.is_empty() { 0.0 } else { label_width(panel) }
}

/// Pixels across, at most `most` of them, and those of a unit.
pub(super) fn measures(panel: &Panel, most: f64) -> (f64, f64) {
    let moments = &panel.1.moments;
    let all = moments.iter().map(units).sum::<f64>() + BETWEEN * (moments.len() as f64 - 1.0);
    let bare = 2.0 * (ends(panel) + END);
    let unit = ((most - bare) / all).min(MOST_UNIT);
    (bare + all * unit, unit)
}

/// Draws it from (0, `top`) on; returns where it ends.
pub(super) fn draw(
    panel: &Panel,
    most: f64,
    top: f64,
    svg: &mut Svg,
    mut motion: Option<&mut Motion>,
) -> f64 {
    let (_, played, printed) = panel;
    let (width, unit) = measures(panel, most);
    let (count, from) = (played.last().len(), ends(panel));
    let pitch = pitch(count);
    let wires = Wires { count, first: top + 0.6 * pitch, pitch, from, to: width - from };

    let (mut boxes, mut drawn) = (Boxes::default(), Drawn::new(played, wires, unit));
    let mut x = from + END;
    for moment in &played.moments {
        let end = x + units(moment) * unit;
        if let Some(Layer::Compare(step, _)) = moment.layers.first() {
            let all = moment.layers.iter().flat_map(pairs);
            boxes.add("pass", *step, all, (x, end), 0.43, &wires);
        }
        x += OUTER * unit;
        for layer in &moment.layers {
            let Layer::Compare(step, pairs) = layer else { continue };
            let own = units_of(layer) * unit;
            let tint = if matches!(step, Step::Mirror { .. }) { "t1" } else { "t0" };
            for (tint, falls) in [(tint, false), ("t2", true)] {
                let such = pairs.iter().filter(|pair| pair.falls() == falls);
                boxes.add(tint, inner(*step), such, (x, x + own), 0.35, &wires);
            }
            drawn.compare(x + INNER * unit, pairs);
            x += own + OUTER * unit;
        }
        x = end + BETWEEN * unit;
    }
    boxes.finish(svg);
    if let Some(motion) = motion.as_deref_mut() {
        motion.begin(played, Vec::new());
    }
    drawn.finish(svg, played, printed, motion);
    wires.y(count - 1) + 0.6 * pitch
}

fn pairs(layer: &Layer) -> &[Compared] {
    match layer {
        Layer::Compare(_, pairs) => pairs,
        _ => &[],
    }
}

/// The step whose blocks are those that no comparison of this one leaves.
fn inner(step: Step) -> Step {
    match step {
        Step::Alternating { stride_log2, .. } => Step::Stride { stride_log2 },
        other => other,
    }
}

/// Boxes by class, the outer ones first.
#[derive(Default)]
struct Boxes(BTreeMap<&'static str, Data>);

impl Boxes {
    /// Adds a box for each block of a step with these pairs; it reaches `beyond` its wires, in parts of their
    /// distance.
    fn add<'a>(
        &mut self,
        class: &'static str,
        step: Step,
        pairs: impl IntoIterator<Item = &'a Compared>,
        (left, right): (f64, f64),
        beyond: f64,
        wires: &Wires,
    ) {
        if matches!(step, Step::Phase { .. }) {
            return;
        }
        let log2 = block_log2(step);
        let mut blocks: Vec<usize> = pairs.into_iter().map(|pair| pair.low >> log2).collect();
        blocks.sort_unstable();
        blocks.dedup();
        for block in blocks {
            let last = ((block + 1) << log2).min(wires.count) - 1;
            let half = beyond * wires.pitch;
            let (top, bottom) = (wires.y(block << log2) - half, wires.y(last) + half);
            self.0.entry(class).or_default().rectangle((left, top), (right, bottom));
        }
    }

    fn finish(self, svg: &mut Svg) {
        self.0.iter().for_each(|(class, data)| svg.path(class, data, &[]));
    }
}
