//! Animation by CSS alone: elements move along their wires from left to right, and each row of the
//! heat map appears when its pass is done. The picture then rests, and begins again.
//!
//! Without the animation the whole picture shows: attributes hide the elements and the cover of the
//! map. The same holds in renderers without CSS, and for readers who prefer reduced motion.

use std::fmt::{Display, Write};

use super::colours;
use super::svg::{Px, Svg};
use super::wires::Wires;
use crate::trace::Played;
use crate::trace::heat::Row;

/// The share of the time with movement.
const MOVING: f64 = 0.88;

/// The largest distance in pixels between two swaps of one movement.
const NEAR: f64 = 20.0;

/// Percent of the time that a swap takes.
const SWAP: f64 = 0.5;

/// The animations so far.
#[derive(Default)]
pub(super) struct Motion {
    style: String,
    panels: usize,
    seconds: f64,
    /// When each pass ends, as a share of the movement; empty if all passes take the same time.
    ends: Vec<f64>,
}

impl Motion {
    /// Begins a panel; `ends` are the ends of the passes.
    pub(super) fn begin(&mut self, played: &Played, ends: Vec<f64>) {
        self.panels += 1;
        let layers: usize = played.moments.iter().map(|moment| moment.layers.len().max(1)).sum();
        let shown = if layers > 0 { 0.8 * layers as f64 } else { 0.25 * played.heat.rows.len() as f64 };
        self.seconds = shown.clamp(5.0, 24.0);
        self.ends = ends;
    }

    /// The style sheet's part.
    pub(super) fn style(&self) -> String {
        format!(
            "{}@media(prefers-reduced-motion:reduce){{.e,.cover,.e *{{animation:none!important}}}}",
            self.style
        )
    }

    /// Covers the rows of passes to come; `ends` is where each row ends.
    pub(super) fn rows(&mut self, svg: &mut Svg, place: [f64; 4], ends: &[f64], rows: &[Row]) {
        let (panel, seconds) = (self.panels, self.seconds);
        let passes = rows.last().map_or(0, |row| row.after).max(1);
        let mut frames = String::new();
        for (row, end) in rows.iter().zip(ends) {
            let known = row.after.checked_sub(1).and_then(|pass| self.ends.get(pass as usize));
            let done = known.copied().unwrap_or(row.after as f64 / passes as f64);
            let _ = write!(
                frames,
                "{:.2}%{{transform:translateY({}px)}}",
                100.0 * MOVING * done,
                Px(end - place[1])
            );
        }
        let _ = write!(
            self.style,
            "@keyframes c{panel}{{0%,100%{{opacity:1}}{frames}}}\
             .c{panel}{{animation:c{panel} {seconds:.1}s step-end infinite}}"
        );
        let id = format!("rows{panel}");
        svg.open("clipPath", &[("id", &id)]);
        svg.rect(place, &[]);
        svg.close();
        svg.open("g", &[("clip-path", &format_args!("url(#{id})"))]);
        let class = format!("cover c{panel}");
        svg.rect(place, &[("class", &class)]);
        svg.close();
    }

    /// The elements on their ways.
    pub(super) fn elements(&mut self, svg: &mut Svg, paths: &Path) {
        let (panel, seconds) = (self.panels, self.seconds);
        let Wires { from, to, pitch, .. } = paths.wires;
        let share = |x: f64| 100.0 * MOVING * (x - from) / (to - from);
        let _ = write!(
            self.style,
            "@keyframes x{panel}{{0%{{transform:none;opacity:1}}{:.2}%,100%{{transform:translateX({}px);opacity:1}}}}\
             .x{panel}{{animation:x{panel} {seconds:.1}s linear infinite}}.x{panel} circle{{animation:{seconds:.1}s linear infinite}}",
            100.0 * MOVING,
            Px(to - from),
        );
        svg.open("g", &[("class", &format_args!("e x{panel}"))]);
        for (number, way) in paths.ways.iter().enumerate() {
            let begin = way.begin;
            let mut frames = String::new();
            // An element keeps its place until it leaves: one place has several times.
            let mut times = String::new();
            let mut y = begin;
            for Line { leaves, arrives, to, .. } in way.lines(share) {
                let _ = write!(times, "{}%", Px(leaves.max(0.0)));
                let _ = write!(frames, "{times}{{translate:0 {}px}}", Px(y - begin));
                times = format!("{}%,", Px(arrives));
                y = to;
            }
            let name = format!("e{panel}-{number}");
            let _ = write!(
                self.style,
                "@keyframes {name}{{{frames}{times}to{{translate:0 {}px}}}}",
                Px(y - begin)
            );
            let circle: [(&str, &dyn Display); 5] = [
                ("cx", &Px(from)),
                ("cy", &Px(begin)),
                ("r", &Px((pitch / 2.6).min(6.0))),
                ("fill", &colours::hex(colours::of_rank(way.rank, paths.ways.len()))),
                ("style", &format_args!("animation-name:{name}")),
            ];
            svg.leaf("circle", &circle);
        }
        svg.close();
    }
}

/// The ways of all elements through a diagram.
pub(super) struct Path {
    wires: Wires,
    ways: Vec<Way>,
    /// The element at each place.
    at: Vec<Option<usize>>,
}

/// The way of one element.
struct Way {
    rank: u32,
    begin: f64,
    /// Turns to other wires: the place on this wire, the distance, and the other wire's height.
    turns: Vec<(f64, f64, f64)>,
}

/// A straight part of a way, in percent of the time and in pixels.
struct Line {
    leaves: f64,
    arrives: f64,
    to: f64,
    /// The distance down of each of its swaps, the place of the last swap, and the distance between swaps.
    hop: f64,
    last: f64,
    gap: Option<f64>,
}

impl Way {
    /// The parts of the way off its wires. Swaps at equal distances one after another, as in
    /// phases, become one line: a shorter text, and a calmer picture.
    fn lines(&self, share: impl Fn(f64) -> f64) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let mut y = self.begin;
        for &(x, duration, to) in &self.turns {
            let hop = to - y;
            y = to;
            let half = if duration > 0.0 { 0.0 } else { SWAP / 2.0 };
            let (leaves, arrives) = (share(x) - half, share(x + duration) + half);
            let goes_on = |line: &&mut Line| {
                let gap = x - line.last;
                let is_even = line.gap.is_none_or(|known| (known - gap).abs() < 0.5);
                half > 0.0 && gap < NEAR && is_even && (line.hop - hop).abs() < 0.5
            };
            match lines.last_mut().filter(goes_on) {
                Some(line) => {
                    (line.gap, line.last) = (Some(x - line.last), x);
                    (line.arrives, line.to) = (arrives, to);
                }
                None => lines.push(Line { leaves, arrives, to, hop, last: x, gap: None }),
            }
        }
        lines
    }
}

impl Path {
    /// Elements of these ranks where they begin.
    pub(super) fn of(ranks: &[u32], wires: Wires) -> Self {
        let way = |(place, &rank)| Way { rank, begin: wires.y(place), turns: Vec::new() };
        let ways = ranks.iter().enumerate().map(way).collect();
        Self {
            wires,
            ways,
            at: (0..wires.count).map(|place| (place < ranks.len()).then_some(place)).collect(),
        }
    }

    fn go(&mut self, element: Option<usize>, x: f64, duration: f64, place: usize) {
        if let Some(element) = element {
            self.ways[element].turns.push((x, duration, self.wires.y(place)));
        }
    }

    /// Two elements change places.
    pub(super) fn swap(&mut self, low: usize, high: usize, x: f64) {
        self.go(self.at[low], x, 0.0, high);
        self.go(self.at[high], x, 0.0, low);
        self.at.swap(low, high);
    }

    /// Elements go to other places.
    pub(super) fn take(&mut self, sources: &[Option<usize>], (from, to): (f64, f64)) {
        let after = sources.iter().map(|source| source.and_then(|source| self.at[source]));
        let mut after: Vec<Option<usize>> = after.collect();
        after.resize(self.wires.count, None);
        for (place, &element) in after.iter().enumerate() {
            self.go(element, from, to - from, place);
        }
        self.at = after;
    }
}
