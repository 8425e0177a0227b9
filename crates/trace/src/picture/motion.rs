//! Animation by CSS alone: elements move along their wires from left to right, and each row of the
//! heat map appears when its pass is done. The picture then rests, and begins again.
//!
//! Without the animation the whole picture shows: attributes hide the elements and the cover of the
//! map. The same holds in renderers without CSS, and for readers who prefer reduced motion.

use std::fmt::{Display, Write};

use super::colours;
use super::svg::{Px, Svg};
use super::wires::Wires;
use crate::Played;
use crate::heat::{Row, Shade};

/// The share of the time with movement.
const MOVING: f64 = 0.88;

/// Half of the pixels that elements advance while they swap.
pub(super) const SWAP: f64 = 1.6;

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

    /// Covers the rows of passes to come; each row has this height.
    pub(super) fn rows(&mut self, svg: &mut Svg, place: [f64; 4], height: f64, rows: &[Row]) {
        let (panel, seconds) = (self.panels, self.seconds);
        let passes = rows.last().map_or(0, |row| row.after).max(1);
        let mut frames = String::new();
        for (number, row) in (1..).zip(rows) {
            let known = row.after.checked_sub(1).and_then(|pass| self.ends.get(pass as usize));
            let done = 100.0 * MOVING * known.copied().unwrap_or(row.after as f64 / passes as f64);
            let shown = Px(f64::from(number) * height);
            let _ = write!(frames, "{done:.2}%{{transform:translateY({shown}px)}}");
        }
        let _ = write!(
            self.style,
            "@keyframes c{panel}{{0%,100%{{opacity:1}}{frames}}}\
             .c{panel}{{animation:c{panel} {seconds:.1}s step-end infinite}}"
        );
        let id = format!("rows{panel}");
        svg.open("clipPath", &[("id", &id)]);
        svg.rect(place, &[]);
        svg.close("clipPath");
        svg.open("g", &[("clip-path", &format_args!("url(#{id})"))]);
        let class = format!("cover c{panel}");
        svg.rect(place, &[("class", &class)]);
        svg.close("g");
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
            let (mut times, mut y) = (String::new(), begin);
            for &(from, to, next) in &way.turns {
                let [leaves, arrives] = [from, to].map(|x| Px(share(x)));
                let _ = write!(frames, "{times}{leaves}%{{translate:0 {}px}}", Px(y - begin));
                times = format!("{arrives}%,");
                y = next;
            }
            let name = format!("e{panel}-{number}");
            let _ = write!(
                self.style,
                "@keyframes {name}{{{frames}{times}to{{translate:0 {}px}}}}",
                Px(y - begin),
            );
            let circle: [(&str, &dyn Display); 5] = [
                ("cx", &Px(from)),
                ("cy", &Px(begin)),
                ("r", &Px((pitch / 2.6).min(6.0))),
                ("fill", &colours::hex(Shade::of_rank(way.rank.into(), paths.ways.len()))),
                ("style", &format_args!("animation-name:{name}")),
            ];
            svg.leaf("circle", &circle);
        }
        svg.close("g");
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
    /// Turns to other wires: the places where each begins and ends, and the other wire's height.
    turns: Vec<(f64, f64, f64)>,
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

    /// Moves elements: each of these places takes the element of its source, if any.
    pub(super) fn take(&mut self, sources: &[(usize, Option<usize>)], (from, to): (f64, f64)) {
        let before = self.at.clone();
        for &(place, source) in sources {
            self.at[place] = source.and_then(|source| before[source]);
            if let Some(element) = self.at[place] {
                self.ways[element].turns.push((from, to, self.wires.y(place)));
            }
        }
    }
}
