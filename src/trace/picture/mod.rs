//! A plan as one self-contained SVG, without script.
//!
//! ```text
//! title, what all passes do together
//! ┌ heat map ─────────────────────────────────┐  a row for every pass: position across, colour is rank
//! └───────────────────────────────────────────┘
//! ┌ network ──┬───────────┬──────┬────────────┐  of few elements: a frame for every pass, tiles tinted,
//! │ 1         │ 2         │ 3    │ 4          │  every comparison, bold where it swapped
//! └───────────┴───────────┴──────┴────────────┘
//! ```
//!
//! Several plans make panels, beside each other where they fit. Colours follow the page, light or
//! dark; what moves does so by CSS alone, and stands still for whoever asked for less motion.

mod colours;
mod diagram;
mod map;
mod motion;
mod svg;

use self::motion::Motion;
use self::svg::{Px, Svg};
use super::list::{cut, summary, wrapped};
use super::{FEW, Played, Trace};

/// Pixels across: as wide as text in a README is.
const WIDTH: f64 = 880.0;
const MARGIN: f64 = 16.0;
const GAP: f64 = 28.0;

/// The narrowest panel.
const NARROWEST: f64 = 270.0;

/// About the width of a character at 11 pixels, rather more than less.
const CHARACTER: f64 = 5.9;

/// A plan with what it did to an input, and the elements in order, as they are printed.
pub type Panel<'a> = (&'a Trace, &'a Played, &'a [String]);

/// The picture of these plans, which plays if it is animated.
pub fn svg(panels: &[Panel], animated: bool) -> String {
    let inner = WIDTH - 2.0 * MARGIN;
    let across = |count: usize| (inner - GAP * (count as f64 - 1.0)) / count as f64;
    let fits = |&count: &usize| {
        let width = across(count);
        count == 1 || width >= NARROWEST && panels.iter().all(|panel| diagram::least_width(panel) <= width)
    };
    let count = (1..=panels.len().max(1)).rev().find(fits).unwrap_or(1);
    let mut body = Svg::default();
    let mut motion = animated.then(Motion::default);
    let mut top = MARGIN;
    for row in panels.chunks(count) {
        let mut bottom = top;
        for (place, panel) in row.iter().enumerate() {
            let left = MARGIN + place as f64 * (across(count) + GAP);
            body.open("g", &[("transform", &format_args!("translate({} {})", Px(left), Px(top)))]);
            let height = draw(panel, across(count), &mut body, motion.as_mut());
            body.close();
            bottom = bottom.max(top + height);
        }
        top = bottom + GAP;
    }
    let height = top - GAP + MARGIN;
    let mut picture = Svg::default();
    picture.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("width", &Px(WIDTH)),
            ("height", &Px(height)),
            ("viewBox", &format_args!("0 0 {} {}", Px(WIDTH), Px(height))),
            ("role", &"img"),
            ("aria-labelledby", &"title desc"),
        ],
    );
    let titles: Vec<String> = panels.iter().map(|(trace, ..)| trace.title()).collect();
    picture.words("title", &[("id", &"title")], &titles.join("; "));
    let told: Vec<String> = panels.iter().map(told).collect();
    picture.words("desc", &[("id", &"desc")], &told.join(" "));
    let moving = motion.as_ref().map(Motion::style).unwrap_or_default();
    picture.words("style", &[], &(colours::style() + &moving));
    picture.leaf("rect", &[("class", &"page"), ("width", &"100%"), ("height", &"100%"), ("rx", &6)]);
    picture.finish_with(body)
}

/// What is seen, for those who do not see it.
fn told((trace, played, _): &Panel) -> String {
    /// More passes are told by their number alone.
    const TOLD: u64 = 32;
    let mut text = format!("{}: {}. ", trace.title(), summary(trace, Some(played)).join(" "));
    if trace.plan.dispatch_count() <= TOLD {
        for pass in trace.passes() {
            text += &format!("Pass {}: {}. ", pass.number, pass.what);
        }
    }
    text.trim_end().to_owned()
}

/// Draws a panel from (0, 0) on; returns its height.
fn draw(panel: &Panel, width: f64, svg: &mut Svg, mut motion: Option<&mut Motion>) -> f64 {
    let (trace, played, _) = panel;
    let fits = |size: f64| (width / (CHARACTER * size / 11.0)) as usize;
    let mut y = 13.0;
    svg.words("text", &[("class", &"h"), ("y", &Px(y))], &cut(&trace.title(), fits(17.5)));
    for sentence in summary(trace, Some(played)) {
        for line in wrapped(&sentence, fits(11.0)) {
            y += 16.0;
            svg.words("text", &[("class", &"q"), ("y", &Px(y))], &line);
        }
    }
    y += 14.0;
    let network = diagram::Diagram::new(panel, width);
    if let Some(motion) = motion.as_deref_mut() {
        motion.begin(played, network.as_ref().map(diagram::Diagram::ends).unwrap_or_default());
    }
    y = map::draw(panel, width, y, svg, motion.as_deref_mut());
    if let Some(network) = network {
        y = network.draw(y + 22.0, svg, motion);
    } else if played.input.len() > FEW {
        y += 2.0;
    }
    y
}
