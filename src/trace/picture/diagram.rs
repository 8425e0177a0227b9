//! Knuth's diagram: a wire for each position, a bar for each comparison, a frame for each pass.
//!
//! Distances across are in units: the distance between bars of a step, as large as the width allows.

use std::collections::BTreeMap;

use gpusort_planner::kernels::{REGISTERS, WORKGROUP};
use gpusort_planner::plan::Dispatch;

use super::colours::{self, TINTS};
use super::motion::{Motion, Path};
use super::svg::{Data, Px, Svg};
use super::{FEW, Panel};
use crate::human::wrapped;
use crate::trace::network::columns;
use crate::trace::played::{Compared, FILLER, Layer, Moment};

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

/// The width of a character of an element.
const DIGIT: f64 = 6.1;

/// A diagram with its measures.
pub(super) struct Diagram<'a> {
    panel: Panel<'a>,
    /// Pixels available.
    width: f64,
    unit: f64,
    /// Where wires begin and end.
    from: f64,
    to: f64,
    /// The left end of each pass, and its width, in pixels.
    passes: Vec<(f64, f64)>,
    wires: usize,
    height: f64,
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
    let between =
        STEP * moment.layers.len().saturating_sub(1) as f64 + moment.layers.len().saturating_sub(1) as f64;
    2.0 * PAD + if moment.layers.is_empty() { NOTHING } else { layers + between }
}

fn all_units(panel: &Panel) -> f64 {
    let moments = &panel.1.moments;
    moments.iter().map(units).sum::<f64>() + BETWEEN * moments.len().saturating_sub(1) as f64
}

/// Whether every comparison is drawn.
fn is_drawn((_, played, _): &Panel) -> bool {
    played.input.len() <= FEW && !played.moments.is_empty()
}

/// Pixels for the elements at one end.
pub(super) fn label_width((_, _, labels): &Panel) -> f64 {
    let widest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    widest.min(24) as f64 * DIGIT + 12.0
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
        let moments = &panel.1.moments;
        let from = label_width(panel);
        let unit = ((width - 2.0 * from) / all_units(panel)).min(MOST_UNIT);
        let mut x = from;
        let mut passes = Vec::new();
        for moment in moments {
            let own = units(moment) * unit;
            passes.push((x, own));
            x += own + BETWEEN * unit;
        }
        let to = x - BETWEEN * unit;
        let wires = moments.iter().map(|moment| moment.before.len().max(moment.after.len())).max()?;
        Some(Self { panel: *panel, width, unit, from, to, passes, wires, height: pitch(wires) })
    }

    /// When each pass ends, as a share of the way from left to right.
    pub(super) fn ends(&self) -> Vec<f64> {
        self.passes.iter().map(|(x, width)| (x + width - self.from) / (self.to - self.from)).collect()
    }

    /// Draws it from this height on; returns where it ends.
    pub(super) fn draw(&self, top: f64, svg: &mut Svg, motion: Option<&mut Motion>) -> f64 {
        let (trace, played, _) = &self.panel;
        let first = top + self.height;
        let y = |wire: usize| first + wire as f64 * self.height;
        let (above, below) = (top + 0.3 * self.height, y(self.wires - 1) + 0.7 * self.height);
        self.frames(svg, top, above, below, &y);

        let mut wires = Data::default();
        let mut at = self.from;
        let mut paths = Path::of(&played.input, &y, self.from, self.to);
        let mut drawn = Drawn { n: played.input.len(), ..Drawn::default() };
        for (moment, &(x, _)) in played.moments.iter().zip(&self.passes) {
            let mut x = x + PAD * self.unit;
            for layer in &moment.layers {
                match layer {
                    Layer::Compare(_, pairs) => {
                        for (number, column) in columns(pairs).into_iter().enumerate() {
                            let x = x + number as f64 * self.unit;
                            drawn.column(x, &column, &y, self.unit);
                            column.iter().filter(|it| it.swapped).for_each(|it| {
                                paths.swap(it.low, it.high, x, &y);
                            });
                        }
                    }
                    Layer::Move(sources) => {
                        let end = x + MOVE * self.unit;
                        self.wires(&mut wires, at, x, &y);
                        at = end;
                        drawn.moves(sources, &moment.before, (x, end), &y);
                        paths.take(sources, (x, end), &y);
                    }
                    Layer::Count(counts) => drawn.counts(counts, (x, COUNT * self.unit), above, below),
                    Layer::Sum(sums) => {
                        drawn.sums(sums, (x, COUNT * self.unit), above, below);
                    }
                }
                x += (units_of(layer) + STEP + 1.0) * self.unit;
            }
        }
        self.wires(&mut wires, at, self.to, &y);
        svg.path("wire", &wires);
        drawn.finish(svg, self.unit);
        let (printed, across) = (self.panel.2, (&y, self.height));
        labels(svg, (printed, &played.input), "v r", self.from - 9.0, across);
        labels(svg, (printed, played.last()), "v", self.to + 9.0, across);
        if let Some(motion) = motion {
            motion.elements(svg, &paths, played.input.len(), (self.height / 2.6).min(6.0));
        }
        let mut end = below;
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
        if layers().any(|layer| matches!(layer, Layer::Compare(..))) {
            words += " A bar compares two positions and moves the smaller element up; bold bars swap.";
        }
        let falls = |layer: &Layer| match layer {
            Layer::Compare(_, pairs) => pairs.iter().any(|pair| pair.low > pair.high),
            _ => false,
        };
        if layers().any(falls) {
            words += " An upward arrow moves the larger element up.";
        }
        if layers().any(|layer| matches!(layer, Layer::Move(_))) {
            words += " Curves move elements to the other array; their colour is the rank.";
        }
        if layers().any(|layer| matches!(layer, Layer::Count(_))) {
            words += " Grey bars count the 256 values of a digit, the lowest on top.";
        }
        if layers().any(|layer| matches!(layer, Layer::Sum(_))) {
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
    fn frames(&self, svg: &mut Svg, top: f64, above: f64, below: f64, y: &impl Fn(usize) -> f64) {
        let mut used = f64::NEG_INFINITY;
        let dispatches = self.panel.0.plan.dispatches();
        for (number, (&(x, width), dispatch)) in (1..).zip(self.passes.iter().zip(dispatches)) {
            svg.rect([x, above, width, below - above], &[("class", &"pass"), ("rx", &3)]);
            for (tint, path) in self.tiles(dispatch, (x, width), y).iter().enumerate() {
                svg.path(&format!("t{tint}"), path);
            }
            let own = number.to_string().len() as f64 * 6.5;
            let middle = x + width / 2.0;
            if middle - own / 2.0 > used + 4.0 {
                svg.text("q m", (middle, top), &number.to_string());
                used = middle + own / 2.0;
            }
        }
    }

    /// The outlines of a pass's tiles, by tint.
    fn tiles(&self, dispatch: &Dispatch, (x, width): (f64, f64), y: &impl Fn(usize) -> f64) -> Vec<Data> {
        let mut tints = vec![Data::default(); TINTS as usize];
        let Some(tiles) = dispatch.kernel().tiles() else { return tints };
        let (first, count) = (dispatch.first() as usize, dispatch.count() as usize);
        let mut begin = 0;
        while begin < count {
            let tile = tiles.of(begin as u64);
            let end = (begin..count).find(|&at| tiles.of(at as u64) != tile).unwrap_or(count);
            let [from, to] = [first + begin, first + end - 1].map(y);
            let (inset, half) = (1.5, 0.5 * self.height - 0.8);
            tints[(tile % TINTS) as usize]
                .rectangle((x + inset, from - half), (x + width - inset, to + half));
            begin = end;
        }
        tints
    }

    fn wires(&self, path: &mut Data, from: f64, to: f64, y: &impl Fn(usize) -> f64) {
        for wire in 0..self.wires {
            path.go(from, y(wire));
            path.across(to);
        }
    }
}

/// Pixels between wires.
pub(super) fn pitch(wires: usize) -> f64 {
    match wires {
        0..=16 => 20.0,
        17..=32 => 14.0,
        _ => 11.0,
    }
}

/// Writes elements at one end of wires that are `pitch` apart: `labels` are those in order.
pub(super) fn labels(
    svg: &mut Svg,
    (labels, ranks): (&[String], &[u32]),
    class: &str,
    x: f64,
    (y, pitch): (&impl Fn(usize) -> f64, f64),
) {
    let size = (pitch - 1.2).min(10.5);
    let place = format!("translate({} {})", Px(x), Px(0.36 * size));
    svg.open("g", &[("class", &class), ("transform", &place), ("font-size", &Px(size))]);
    for (wire, &rank) in ranks.iter().enumerate() {
        let Some(label) = labels.get(rank as usize).filter(|_| rank != FILLER) else { continue };
        svg.words("text", &[("y", &Px(y(wire)))], &super::cut(label, 24));
    }
    svg.close();
}

/// The shapes over the wires, by kind.
#[derive(Default)]
pub(super) struct Drawn {
    kept: Data,
    swapped: Data,
    /// The ends of bars: lines without a length, which have round ends.
    kept_dots: Data,
    swapped_dots: Data,
    arrows: Data,
    bars: Data,
    sums: Data,
    /// By rank, so that curves of one colour are one path.
    moves: BTreeMap<u32, Data>,
    /// How many elements there are.
    pub(super) n: usize,
}

impl Drawn {
    /// The comparisons of a column.
    pub(super) fn column(&mut self, x: f64, column: &[Compared], y: &impl Fn(usize) -> f64, unit: f64) {
        for pair in column {
            let (bars, dots) = if pair.swapped {
                (&mut self.swapped, &mut self.swapped_dots)
            } else {
                (&mut self.kept, &mut self.kept_dots)
            };
            let (low, high) = (y(pair.low), y(pair.high));
            bars.go(x, low);
            dots.go(x, low);
            dots.across(x);
            if pair.low < pair.high {
                bars.down(high);
                dots.go(x, high);
                dots.across(x);
            } else {
                // An arrow in place of the dot.
                let half = (0.47 * unit).clamp(1.8, 5.6);
                bars.down(high + 0.2 * half);
                self.arrows.go(x, high - half);
                self.arrows.line(x + half, high + 0.8 * half);
                self.arrows.across(x - half);
                self.arrows.close();
            }
        }
    }

    fn moves(
        &mut self,
        sources: &[Option<usize>],
        before: &[u32],
        (from, to): (f64, f64),
        y: &impl Fn(usize) -> f64,
    ) {
        let middle = f64::midpoint(from, to);
        for (place, source) in sources.iter().enumerate() {
            let Some(source) = *source else { continue };
            let rank = before[source];
            if rank == FILLER {
                continue;
            }
            let path = self.moves.entry(rank).or_default();
            path.go(from, y(source));
            path.curve([(middle, y(source)), (middle, y(place)), (to, y(place))]);
        }
    }

    fn counts(&mut self, counts: &[u32], (x, width): (f64, f64), above: f64, below: f64) {
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let each = (below - above - 8.0) / counts.len().max(1) as f64;
        for (value, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let length = width * f64::from(count) / f64::from(most);
            let y = above + 4.0 + value as f64 * each;
            self.bars.rectangle((x, y), (x + length, y + each.max(1.6)));
        }
    }

    fn sums(&mut self, sums: &[u32], (x, width): (f64, f64), above: f64, below: f64) {
        let each = (below - above - 8.0) / sums.len().max(1) as f64;
        let mut value = 0;
        for run in sums.chunk_by(|a, b| a == b) {
            let at = x + width * f64::from(run[0]) / self.n.max(1) as f64;
            if value == 0 {
                self.sums.go(at, above + 4.0);
            } else {
                self.sums.across(at);
            }
            value += run.len();
            self.sums.down(above + 4.0 + value as f64 * each);
        }
    }

    /// Writes all of it.
    pub(super) fn finish(self, svg: &mut Svg, unit: f64) {
        svg.path("bars", &self.bars);
        svg.path("sums", &self.sums);
        if !self.moves.is_empty() {
            svg.open("g", &[("class", &"move")]);
            for (&rank, path) in &self.moves {
                svg.leaf(
                    "path",
                    &[("stroke", &colours::of_line(colours::of_rank(rank, self.n))), ("d", path)],
                );
            }
            svg.close();
        }
        svg.path("keep", &self.kept);
        svg.path("swap", &self.swapped);
        // Not markers, which renderers draw at different places and in different sizes.
        let width = Px((0.56 * unit).clamp(2.6, 6.6));
        for (class, dots) in [("keep-dot", &self.kept_dots), ("swap-dot", &self.swapped_dots)] {
            if !dots.is_empty() {
                svg.leaf("path", &[("class", &class), ("d", dots), ("stroke-width", &width)]);
            }
        }
        svg.path("up", &self.arrows);
    }
}
