//! Knuth's diagram: a wire for each position, a bar for each comparison. A frame is a pass with its
//! tiles or, of a network alone, a stage with its blocks.
//!
//! ```text
//! ┌──────────────┐
//! │┌──┐┌──┐┌────┐│   a box for each block that a stage sorts, and in it one for each block that no
//! ││  ││  ││    ││   comparison of a step leaves; phases of odd-even sort have none
//! │└──┘└──┘└────┘│
//! └──────────────┘
//! ```
//!
//! Distances across are in units: the distance between bars of a step, as large as the width allows.

use std::collections::{BTreeMap, BTreeSet};

use gpusort_order::network::Step;
use gpusort_planner::kernels::{REGISTERS, WORKGROUP};
use gpusort_planner::plan::Dispatch;

use super::Panel;
use super::colours::{self, TINTS};
use super::motion::{Motion, Path, SWAP};
use super::svg::{Attributes, Data, Px, Svg};
use super::wires::{Wires, label_width, pitch};
use crate::heat::Shade;
use crate::network::columns;
use crate::words::block_log2;
use crate::{Compared, FILLER, Layer, Moment, Played};

/// Units from a frame to its boxes, from boxes to comparators, between frames, of layers that compare
/// nothing, and of a frame at least.
const OUTER: f64 = 0.4;
const INNER: f64 = 0.55;
const BETWEEN: f64 = 0.5;
const MOVE: f64 = 9.0;
const COUNT: f64 = 5.0;
const LEAST: f64 = 2.0 * (OUTER + INNER);

/// Pixels of a unit, at least and at most.
const LEAST_UNIT: f64 = 3.6;
const MOST_UNIT: f64 = 15.0;

/// Pixels of bare wire at each end.
const END: f64 = 10.0;

/// A diagram with its measures.
pub(super) struct Diagram<'a> {
    panel: &'a Panel<'a>,
    /// Draws the network without passes.
    is_alone: bool,
    unit: f64,
    /// Where wires begin and end.
    across: (f64, f64),
    /// The left end of each frame, and its width, in pixels.
    frames: Vec<(f64, f64)>,
}

fn units_of(layer: &Layer) -> f64 {
    let inside = match layer {
        Layer::Compare(_, pairs) => columns(pairs).len().saturating_sub(1) as f64,
        Layer::Move(_) => MOVE,
        Layer::Count(_) | Layer::Sum(_) => COUNT,
    };
    2.0 * INNER + inside
}

fn units(moment: &Moment) -> f64 {
    let layers = moment.layers.iter().map(|layer| units_of(layer) + OUTER).sum::<f64>();
    (OUTER + layers).max(LEAST)
}

fn all_units(panel: &Panel) -> f64 {
    let moments = &panel.1.moments;
    moments.iter().map(units).sum::<f64>() + BETWEEN * (moments.len() as f64 - 1.0)
}

/// Pixels of a panel's diagram beside its frames.
fn ends(panel: &Panel) -> f64 {
    2.0 * (label_width(panel) + END)
}

/// The least width of a panel's diagram.
pub(super) fn least_width(panel: &Panel) -> f64 {
    ends(panel) + all_units(panel) * LEAST_UNIT
}

impl<'a> Diagram<'a> {
    /// The measures of the diagram in this width; `None` where there are too many elements, or no
    /// passes.
    pub(super) fn new(panel: &'a Panel<'a>, is_alone: bool, width: f64) -> Option<Self> {
        let moments = &panel.1.moments;
        let unit = ((width - ends(panel)) / all_units(panel)).min(MOST_UNIT);
        let from = label_width(panel);
        let mut x = from + END;
        let mut frames = Vec::new();
        for moment in moments {
            let own = units(moment) * unit;
            frames.push((x, own));
            x += own + BETWEEN * unit;
        }
        let to = x - BETWEEN * unit + END;
        (!moments.is_empty()).then_some(Self { panel, is_alone, unit, across: (from, to), frames })
    }

    /// Pixels across.
    pub(super) fn width(&self) -> f64 {
        self.across.1 + label_width(self.panel)
    }

    /// When each frame ends, as a share of the way from left to right.
    pub(super) fn ends(&self) -> Vec<f64> {
        let (from, to) = self.across;
        self.frames.iter().map(|(x, width)| (x + width - from) / (to - from)).collect()
    }

    /// Draws it from this height on; returns where it ends.
    pub(super) fn draw(&self, top: f64, svg: &mut Svg, motion: Option<&mut Motion>) -> f64 {
        let (trace, played, _) = self.panel;
        let count = played.wires();
        let (pitch, (from, to)) = (pitch(count), self.across);
        let wires = Wires { count, first: top + 0.7 * pitch, pitch, from, to };
        let tall = (top, wires.y(count - 1) + 0.7 * pitch);
        let mut drawn = Drawn::new(played, wires, self.unit);
        if !self.is_alone {
            self.numbers(svg, top - 0.3 * pitch);
            for (dispatch, &(x, width)) in trace.plan.dispatches().zip(&self.frames) {
                drawn.rectangle("pass", (x, x + width), tall);
                drawn.tiles(dispatch, (x + 1.5, x + width - 1.5));
            }
        }
        for (moment, &(x, width)) in played.moments.iter().zip(&self.frames) {
            if self.is_alone
                && let Some(Layer::Compare(step, _)) = moment.layers.first()
            {
                let pairs = moment.layers.iter().flat_map(Layer::pairs);
                drawn.blocks("pass", *step, pairs, (x, x + width), 0.43);
            }
            let mut x = x + OUTER * self.unit;
            for layer in &moment.layers {
                let (begin, own) = (x + INNER * self.unit, units_of(layer) * self.unit);
                match layer {
                    Layer::Compare(step, pairs) => {
                        if self.is_alone {
                            drawn.boxes(*step, pairs, (x, x + own));
                        }
                        drawn.compare(begin, pairs);
                    }
                    Layer::Move(sources) => {
                        drawn.moves(sources, &moment.before, begin, begin + MOVE * self.unit);
                    }
                    Layer::Count(counts) => drawn.counts(counts, (begin, COUNT * self.unit), tall),
                    Layer::Sum(sums) => drawn.sums(sums, (begin, COUNT * self.unit), tall),
                }
                x += own + OUTER * self.unit;
            }
        }
        drawn.finish(svg, self.panel, motion);
        tall.1
    }

    /// The legend.
    pub(super) fn words(&self) -> String {
        let mut words =
            "Each wire is a position, the first on top. Each frame is a pass over device memory.".to_owned();
        let layers = || self.panel.1.moments.iter().flat_map(|moment| &moment.layers);
        let has = |is_such: fn(&Layer) -> bool| layers().any(is_such);
        if has(|layer| matches!(layer, Layer::Compare(..))) {
            words += " A bar compares two positions and moves the smaller element up; bold bars swap.";
        }
        if has(|layer| layer.pairs().iter().any(Compared::falls)) {
            words += " An upward arrow moves the larger element up.";
        }
        if has(|layer| matches!(layer, Layer::Move(_))) {
            words += " Curves move elements to the other array; their colour is the rank.";
        }
        if has(|layer| matches!(layer, Layer::Count(_))) {
            words += " Grey bars count the 256 values of a digit, the lowest on top.";
        }
        if has(|layer| matches!(layer, Layer::Sum(_))) {
            words += " A grey line is the number of elements with lower values.";
        }
        let tiles = self.panel.0.plan.distinct_dispatches().filter_map(|it| it.kernel().tiles());
        let held: Vec<&str> = tiles.map(|tiles| tiles.held).collect();
        if let Some(place) = [REGISTERS, WORKGROUP].into_iter().find(|place| held.contains(place)) {
            words += &format!(" Each tint is a tile, which one workgroup holds in {place} during the pass.");
        }
        words
    }

    /// The number of each pass, as far as there is space.
    fn numbers(&self, svg: &mut Svg, base: f64) {
        let mut used = f64::NEG_INFINITY;
        for (number, &(x, width)) in (1..).zip(&self.frames) {
            let number: String = u64::to_string(&number);
            let (middle, half) = (x + width / 2.0, number.len() as f64 * 3.25);
            if middle - half > used + 4.0 {
                svg.text("q m", (middle, base), &number);
                used = middle + half;
            }
        }
    }
}

/// The wires and the shapes over them.
struct Drawn {
    wires: Wires,
    /// Pixels between the bars of a step.
    unit: f64,
    /// Where the present wires begin.
    from: f64,
    /// The number of elements.
    n: usize,
    paths: Path,
    /// By class.
    shapes: BTreeMap<&'static str, Data>,
    /// By rank, so that curves of one colour are one path.
    moves: BTreeMap<u32, Data>,
}

impl Drawn {
    /// Nothing yet, with the elements at the left ends of the wires.
    fn new(played: &Played, wires: Wires, unit: f64) -> Self {
        let (n, paths) = (played.input.len(), Path::of(&played.input, wires));
        Self { wires, unit, from: wires.from, n, paths, shapes: BTreeMap::new(), moves: BTreeMap::new() }
    }

    fn shape(&mut self, class: &'static str) -> &mut Data {
        self.shapes.entry(class).or_default()
    }

    fn rectangle(&mut self, class: &'static str, (left, right): (f64, f64), (top, bottom): (f64, f64)) {
        self.shape(class).polygon(&[(left, top), (right, top), (right, bottom), (left, bottom)]);
    }

    /// The rectangle around these wires and `half` pixels more at each side.
    fn around(&mut self, class: &'static str, across: (f64, f64), (first, last): (usize, usize), half: f64) {
        let (top, bottom) = (self.wires.y(first) - half, self.wires.y(last) + half);
        self.rectangle(class, across, (top, bottom));
    }

    /// The outlines of a pass's tiles.
    fn tiles(&mut self, dispatch: &Dispatch, across: (f64, f64)) {
        let Some(tiles) = dispatch.kernel().tiles() else { return };
        let places: Vec<usize> = (0..dispatch.count() as usize).collect();
        let (first, of) = (dispatch.first() as usize, |place: usize| tiles.of(place as u64));
        for run in places.chunk_by(|a, b| of(*a) == of(*b)) {
            let class = TINTS[of(run[0]) as usize % TINTS.len()];
            let half = 0.5 * self.wires.pitch - 0.8;
            self.around(class, across, (first + run[0], first + run[run.len() - 1]), half);
        }
    }

    /// A box for each block of a step with these pairs; it reaches `beyond` its wires, in parts of
    /// their distance.
    fn blocks<'a>(
        &mut self,
        class: &'static str,
        step: Step,
        pairs: impl Iterator<Item = &'a Compared>,
        across: (f64, f64),
        beyond: f64,
    ) {
        if matches!(step, Step::Phase { .. }) {
            return;
        }
        let log2 = block_log2(step);
        for block in pairs.map(|pair| pair.low >> log2).collect::<BTreeSet<_>>() {
            let last = ((block + 1) << log2).min(self.wires.count) - 1;
            self.around(class, across, (block << log2, last), beyond * self.wires.pitch);
        }
    }

    /// The boxes of a step, by the direction of its pairs.
    fn boxes(&mut self, step: Step, pairs: &[Compared], across: (f64, f64)) {
        let (class, inner) = match step {
            Step::Mirror { .. } => ("t1", step),
            // The blocks that no comparison leaves.
            Step::Alternating { stride_log2, .. } => ("t0", Step::Stride { stride_log2 }),
            _ => ("t0", step),
        };
        for (class, falls) in [(class, false), ("t2", true)] {
            let such = pairs.iter().filter(|pair| pair.falls() == falls);
            self.blocks(class, inner, such, across, 0.35);
        }
    }

    /// The comparisons of a step, in columns from `x` on.
    fn compare(&mut self, x: f64, pairs: &[Compared]) {
        for (number, column) in columns(pairs).iter().enumerate() {
            let x = x + number as f64 * self.unit;
            column.iter().for_each(|pair| self.bar(x, pair));
        }
    }

    fn bar(&mut self, x: f64, pair: &Compared) {
        if pair.swapped {
            let both = [(pair.low, Some(pair.high)), (pair.high, Some(pair.low))];
            self.paths.take(&both, (x - SWAP, x + SWAP));
        }
        // The ends of bars are lines without a length, which have round ends.
        let (bars, dots) = if pair.swapped { ("swap", "swap-dot") } else { ("keep", "keep-dot") };
        let (low, high) = (self.wires.y(pair.low), self.wires.y(pair.high));
        let half = (0.47 * self.unit).clamp(1.8, 5.6);
        let end = if pair.falls() { high + 0.2 * half } else { high };
        self.shape(bars).lines(&[(x, low), (x, end)]);
        self.shape(dots).lines(&[(x, low); 2]);
        if pair.falls() {
            // An arrow in place of the dot.
            let base = high + 0.8 * half;
            self.shape("up").polygon(&[(x, high - half), (x + half, base), (x - half, base)]);
        } else {
            self.shape(dots).lines(&[(x, high); 2]);
        }
    }

    fn moves(&mut self, sources: &[Option<usize>], before: &[u32], from: f64, to: f64) {
        self.wires_until(from);
        self.from = to;
        let all = (0..self.wires.count).map(|place| (place, sources.get(place).copied().flatten()));
        self.paths.take(&all.collect::<Vec<_>>(), (from, to));
        let middle = f64::midpoint(from, to);
        for (place, source) in sources.iter().enumerate() {
            let Some(source) = *source else { continue };
            let rank = before[source];
            if rank != FILLER {
                let (begin, end) = (self.wires.y(source), self.wires.y(place));
                let places = [(from, begin), (middle, begin), (middle, end), (to, end)];
                self.moves.entry(rank).or_default().curve(places);
            }
        }
    }

    fn wires_until(&mut self, to: f64) {
        for wire in 0..self.wires.count {
            let (from, y) = (self.from, self.wires.y(wire));
            self.shape("wire").lines(&[(from, y), (to, y)]);
        }
    }

    fn counts(&mut self, counts: &[u32], (x, width): (f64, f64), (above, below): (f64, f64)) {
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let each = (below - above - 8.0) / counts.len().max(1) as f64;
        for (value, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let length = width * f64::from(count) / f64::from(most);
            let y = above + 4.0 + value as f64 * each;
            self.rectangle("bars", (x, x + length), (y, y + each.max(1.6)));
        }
    }

    fn sums(&mut self, sums: &[u32], (x, width): (f64, f64), (above, below): (f64, f64)) {
        let each = (below - above - 8.0) / sums.len().max(1) as f64;
        let n = self.n.max(1) as f64;
        let (mut value, mut places) = (0, Vec::new());
        for run in sums.chunk_by(|a, b| a == b) {
            let ends = [value, value + run.len()];
            let end = |value: usize| (x + width * f64::from(run[0]) / n, above + 4.0 + value as f64 * each);
            places.extend(ends.map(end));
            value += run.len();
        }
        self.shape("sums").lines(&places);
    }

    /// Writes all of it, with the printed elements at both ends.
    fn finish(mut self, svg: &mut Svg, (_, played, printed): &Panel, motion: Option<&mut Motion>) {
        self.wires_until(self.wires.to);
        for class in ["pass"].iter().chain(&TINTS).chain(&["wire", "bars", "sums"]) {
            svg.path(class, self.shape(class), &[]);
        }
        for (&rank, path) in &self.moves {
            let colour = colours::of_line(Shade::of_rank(rank.into(), self.n));
            svg.path("move", path, &[("stroke", &colour)]);
        }
        // Not markers, which renderers draw at different places and in different sizes.
        let dots = Px((0.56 * self.unit).clamp(2.6, 6.6));
        for class in ["keep", "swap", "keep-dot", "swap-dot", "up"] {
            let width: Attributes = &[("stroke-width", &dots)];
            svg.path(class, self.shape(class), if class.ends_with("-dot") { width } else { &[] });
        }
        self.wires.label(svg, "v r", self.wires.from - 9.0, printed, &played.input);
        self.wires.label(svg, "v", self.wires.to + 9.0, printed, played.last());
        if let Some(motion) = motion {
            motion.elements(svg, &self.paths);
        }
    }
}
