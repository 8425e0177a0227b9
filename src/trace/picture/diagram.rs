//! Knuth's diagram: a wire for each position, a bar for each comparison, a frame for each pass.
//!
//! Distances across are in units: the distance between bars of a step, as large as the width allows.

use std::collections::BTreeMap;

use gpusort_planner::kernels::{REGISTERS, WORKGROUP};
use gpusort_planner::plan::Dispatch;

use super::colours::{self, TINTS};
use super::motion::{Motion, Path};
use super::svg::{Attributes, Data, Px, Svg};
use super::wires::{Wires, label_width, pitch};
use super::{FEW, Panel};
use crate::human::wrapped;
use crate::trace::network::columns;
use crate::trace::played::{Compared, FILLER, Layer, Moment, Played};

/// Units from a pass's frame to its content, between steps, between frames, and of layers that
/// compare nothing.
const PAD: f64 = 0.9;
const STEP: f64 = 0.7;
const BETWEEN: f64 = 0.45;
const MOVE: f64 = 9.0;
const COUNT: f64 = 5.0;
const NOTHING: f64 = 1.0;

/// Pixels of a unit, at least and at most.
const LEAST_UNIT: f64 = 3.6;
const MOST_UNIT: f64 = 17.0;

/// A diagram with its measures.
pub(super) struct Diagram<'a> {
    panel: Panel<'a>,
    /// Pixels available.
    width: f64,
    unit: f64,
    /// Where wires begin and end.
    across: (f64, f64),
    /// The left end of each pass, and its width, in pixels.
    passes: Vec<(f64, f64)>,
}

fn units_of(layer: &Layer) -> f64 {
    match layer {
        Layer::Compare(_, pairs) => columns(pairs).len().saturating_sub(1) as f64,
        Layer::Move(_) => MOVE,
        Layer::Count(_) | Layer::Sum(_) => COUNT,
    }
}

fn units(moment: &Moment) -> f64 {
    let layers: f64 = moment.layers.iter().map(units_of).sum();
    let gaps = moment.layers.len().saturating_sub(1) as f64;
    2.0 * PAD + if moment.layers.is_empty() { NOTHING } else { layers + (STEP * gaps + gaps) }
}

fn all_units(panel: &Panel) -> f64 {
    let moments = &panel.1.moments;
    moments.iter().map(units).sum::<f64>() + BETWEEN * (moments.len() - 1) as f64
}

/// Whether every comparison is drawn.
fn is_drawn((_, played, _): &Panel) -> bool {
    played.input.len() <= FEW && !played.moments.is_empty()
}

/// The least width of a panel's diagram; 0 without one.
pub(super) fn least_width(panel: &Panel) -> f64 {
    if is_drawn(panel) { 2.0 * label_width(panel) + all_units(panel) * LEAST_UNIT } else { 0.0 }
}

impl<'a> Diagram<'a> {
    /// The measures of the diagram in this width; `None` where there are too many elements, or no
    /// passes.
    pub(super) fn new(panel: &Panel<'a>, width: f64) -> Option<Self> {
        if !is_drawn(panel) {
            return None;
        }
        let from = label_width(panel);
        let unit = ((width - 2.0 * from) / all_units(panel)).min(MOST_UNIT);
        let mut x = from;
        let mut passes = Vec::new();
        for moment in &panel.1.moments {
            let own = units(moment) * unit;
            passes.push((x, own));
            x += own + BETWEEN * unit;
        }
        Some(Self { panel: *panel, width, unit, across: (from, x - BETWEEN * unit), passes })
    }

    /// When each pass ends, as a share of the way from left to right.
    pub(super) fn ends(&self) -> Vec<f64> {
        let (from, to) = self.across;
        self.passes.iter().map(|(x, width)| (x + width - from) / (to - from)).collect()
    }

    /// Draws it from this height on; returns where it ends.
    pub(super) fn draw(&self, top: f64, svg: &mut Svg, motion: Option<&mut Motion>) -> f64 {
        let (trace, played, printed) = &self.panel;
        let wires = played.moments.iter().map(|moment| moment.before.len().max(moment.after.len()));
        let count = wires.max().unwrap_or_default();
        let (pitch, (from, to)) = (pitch(count), self.across);
        let wires = Wires { count, first: top + pitch, pitch, from, to };
        let frame = (top + 0.3 * pitch, wires.y(count - 1) + 0.7 * pitch);
        self.frames(svg, top, frame, &wires);

        let mut drawn = Drawn::new(played, wires, self.unit);
        for (moment, &(x, _)) in played.moments.iter().zip(&self.passes) {
            let mut x = x + PAD * self.unit;
            for layer in &moment.layers {
                match layer {
                    Layer::Compare(_, pairs) => drawn.compare(x, pairs),
                    Layer::Move(sources) => drawn.moves(sources, &moment.before, x, x + MOVE * self.unit),
                    Layer::Count(counts) => drawn.counts(counts, (x, COUNT * self.unit), frame),
                    Layer::Sum(sums) => drawn.sums(sums, (x, COUNT * self.unit), frame),
                }
                x += (units_of(layer) + STEP + 1.0) * self.unit;
            }
        }
        drawn.finish(svg, played, printed, motion);
        let mut end = frame.1;
        for line in wrapped(&self.words(trace), (self.width / super::CHARACTER) as usize, 0) {
            end += 16.0;
            svg.words("text", &[("class", &"q"), ("y", &Px(end))], &line);
        }
        end
    }

    /// The legend.
    fn words(&self, trace: &crate::trace::Trace) -> String {
        let mut words =
            "Each wire is a position, the first on top. Each frame is a pass over device memory.".to_owned();
        let layers = || self.panel.1.moments.iter().flat_map(|moment| &moment.layers);
        let has = |is_such: fn(&Layer) -> bool| layers().any(is_such);
        if has(|layer| matches!(layer, Layer::Compare(..))) {
            words += " A bar compares two positions and moves the smaller element up; bold bars swap.";
        }
        if has(|layer| matches!(layer, Layer::Compare(_, pairs) if pairs.iter().any(Compared::falls))) {
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
        let tiles = || trace.plan.distinct_dispatches().filter_map(|it| it.kernel().tiles());
        let held = |held| tiles().any(|tiles| tiles.held == held);
        let place = match (held(REGISTERS), held(WORKGROUP)) {
            (true, _) => REGISTERS,
            (false, true) => WORKGROUP,
            _ => return words,
        };
        words + &format!(" Each tint is a tile, which one workgroup holds in {place} during the pass.")
    }

    /// A frame for each pass, with its number, and the tiles in it.
    fn frames(&self, svg: &mut Svg, top: f64, (above, below): (f64, f64), wires: &Wires) {
        let mut used = f64::NEG_INFINITY;
        let dispatches = self.panel.0.plan.dispatches();
        for (number, (&(x, width), dispatch)) in (1..).zip(self.passes.iter().zip(dispatches)) {
            svg.rect([x, above, width, below - above], &[("class", &"pass"), ("rx", &3)]);
            for (tint, path) in tiles(dispatch, (x, width), wires).iter().enumerate() {
                svg.path(&format!("t{tint}"), path, &[]);
            }
            let own = number.to_string().len() as f64 * 6.5;
            let middle = x + width / 2.0;
            if middle - own / 2.0 > used + 4.0 {
                svg.text("q m", (middle, top), &number.to_string());
                used = middle + own / 2.0;
            }
        }
    }
}

/// The outlines of a pass's tiles, by tint.
fn tiles(dispatch: &Dispatch, (x, width): (f64, f64), wires: &Wires) -> [Data; TINTS as usize] {
    let mut tints = <[Data; TINTS as usize]>::default();
    let Some(tiles) = dispatch.kernel().tiles() else { return tints };
    let (first, count) = (dispatch.first() as usize, dispatch.count() as usize);
    let (inset, half) = (1.5, 0.5 * wires.pitch - 0.8);
    let mut begin = 0;
    while begin < count {
        let tile = tiles.of(begin as u64);
        let end = (begin..count).find(|&at| tiles.of(at as u64) != tile).unwrap_or(count);
        let [from, to] = [first + begin, first + end - 1].map(|wire| wires.y(wire));
        let outline = &mut tints[(tile % TINTS) as usize];
        outline.rectangle((x + inset, from - half), (x + width - inset, to + half));
        begin = end;
    }
    tints
}

/// The wires and the shapes over them.
pub(super) struct Drawn {
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
    pub(super) fn new(played: &Played, wires: Wires, unit: f64) -> Self {
        let (n, paths) = (played.input.len(), Path::of(&played.input, wires));
        Self { wires, unit, from: wires.from, n, paths, shapes: BTreeMap::new(), moves: BTreeMap::new() }
    }

    fn shape(&mut self, class: &'static str) -> &mut Data {
        self.shapes.entry(class).or_default()
    }

    /// The comparisons of a step, in columns from `x` on.
    pub(super) fn compare(&mut self, x: f64, pairs: &[Compared]) {
        for (number, column) in columns(pairs).iter().enumerate() {
            let x = x + number as f64 * self.unit;
            column.iter().for_each(|pair| self.bar(x, pair));
        }
    }

    fn bar(&mut self, x: f64, pair: &Compared) {
        if pair.swapped {
            self.paths.swap(pair.low, pair.high, x);
        }
        // The ends of bars are lines without a length, which have round ends.
        let (bars, dots) = if pair.swapped { ("swap", "swap-dot") } else { ("keep", "keep-dot") };
        let (low, high) = (self.wires.y(pair.low), self.wires.y(pair.high));
        let half = (0.47 * self.unit).clamp(1.8, 5.6);
        self.shape(bars).go(x, low);
        self.shape(bars).down(if pair.falls() { high + 0.2 * half } else { high });
        self.shape(dots).dot(x, low);
        if pair.falls() {
            // An arrow in place of the dot.
            let arrows = self.shape("up");
            arrows.go(x, high - half);
            arrows.line(x + half, high + 0.8 * half);
            arrows.across(x - half);
            arrows.close();
        } else {
            self.shape(dots).dot(x, high);
        }
    }

    fn moves(&mut self, sources: &[Option<usize>], before: &[u32], from: f64, to: f64) {
        self.wires_until(from);
        self.from = to;
        self.paths.take(sources, (from, to));
        let middle = f64::midpoint(from, to);
        for (place, source) in sources.iter().enumerate() {
            let Some(source) = *source else { continue };
            let rank = before[source];
            if rank != FILLER {
                let path = self.moves.entry(rank).or_default();
                let (begin, end) = (self.wires.y(source), self.wires.y(place));
                path.go(from, begin);
                path.curve([(middle, begin), (middle, end), (to, end)]);
            }
        }
    }

    fn wires_until(&mut self, to: f64) {
        for wire in 0..self.wires.count {
            let (from, y) = (self.from, self.wires.y(wire));
            self.shape("wire").go(from, y);
            self.shape("wire").across(to);
        }
    }

    fn counts(&mut self, counts: &[u32], (x, width): (f64, f64), (above, below): (f64, f64)) {
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let each = (below - above - 8.0) / counts.len().max(1) as f64;
        for (value, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let length = width * f64::from(count) / f64::from(most);
            let y = above + 4.0 + value as f64 * each;
            self.shape("bars").rectangle((x, y), (x + length, y + each.max(1.6)));
        }
    }

    fn sums(&mut self, sums: &[u32], (x, width): (f64, f64), (above, below): (f64, f64)) {
        let each = (below - above - 8.0) / sums.len().max(1) as f64;
        let n = self.n.max(1) as f64;
        let line = self.shape("sums");
        let mut value = 0;
        for run in sums.chunk_by(|a, b| a == b) {
            let at = x + width * f64::from(run[0]) / n;
            if value == 0 {
                line.go(at, above + 4.0);
            } else {
                line.across(at);
            }
            value += run.len();
            line.down(above + 4.0 + value as f64 * each);
        }
    }

    /// Writes all of it, with the elements at both ends, as `printed` has them in order.
    pub(super) fn finish(
        mut self,
        svg: &mut Svg,
        played: &Played,
        printed: &[String],
        motion: Option<&mut Motion>,
    ) {
        self.wires_until(self.wires.to);
        for class in ["wire", "bars", "sums"] {
            svg.path(class, self.shape(class), &[]);
        }
        svg.curves(self.moves.iter().map(|(&rank, path)| (colours::of_rank(rank, self.n), path)));
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
