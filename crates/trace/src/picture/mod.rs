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
//! Several plans make panels, next to each other if they fit. A network alone has no heat map, and
//! its frames are stages. Any renderer of SVG 1.1 shows the colours of a light page; a
//! browser overrides them on a dark one, and plays the animation, unless its user prefers reduced
//! motion.

mod colours;
mod diagram;
mod map;
mod motion;
mod svg;
mod wires;

pub use self::colours::Scheme;

use self::diagram::Diagram;
use self::motion::Motion;
use self::svg::{Px, Svg};
use super::list::{cut, summary};
use super::{Played, Trace};
use gpusort_base::human::counted;

/// Pixels across: as wide as text in a README is.
const WIDTH: f64 = 880.0;
const MARGIN: f64 = 16.0;
const GAP: f64 = 28.0;

/// The narrowest panel.
const NARROWEST: f64 = 270.0;

/// About the width of a character at 11 pixels, rather more than less.
const CHARACTER: f64 = 5.9;

/// A plan, the plan performed on an input, and the printed elements in order.
pub type Panel<'a> = (&'a Trace, &'a Played, &'a [String]);

/// The style of a picture.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Draws an animation.
    pub animated: bool,
    /// Draws the networks alone, without passes; several have their names above them. Without
    /// elements to print, all comparators look alike.
    pub network: bool,
    /// The colours.
    pub scheme: Scheme,
}

/// The picture of these plans.
pub fn svg(panels: &[Panel], style: Style) -> String {
    let across = |count: usize| (WIDTH - 2.0 * MARGIN - GAP * (count as f64 - 1.0)) / count as f64;
    let fits = |&count: &usize| {
        let least = panels.iter().map(diagram::least_width).fold(NARROWEST, f64::max);
        count == 1 || !style.network && across(count) >= least
    };
    let count = (1..=panels.len().max(1)).rev().find(fits).unwrap_or(1);
    let is_dark = style.scheme == Scheme::Dark;
    let (mut body, mut motion) = (Svg::new(is_dark), style.animated.then(Motion::default));
    let (mut top, mut width) = (MARGIN, 0.0_f64);
    for row in panels.chunks(count) {
        let mut bottom = top;
        for (place, panel) in row.iter().enumerate() {
            let left = MARGIN + place as f64 * (across(count) + GAP);
            let kind = (style.network, panels.len() > 1);
            body.open("g", &[("transform", &format_args!("translate({} {})", Px(left), Px(top)))]);
            let [wide, tall] = draw(panel, across(count), kind, &mut body, motion.as_mut());
            body.close("g");
            (bottom, width) = (bottom.max(top + tall), width.max(left + wide));
        }
        top = bottom + GAP;
    }
    let (width, height) = (Px(width + MARGIN), Px(top - GAP + MARGIN));
    let mut picture = Svg::new(is_dark);
    picture.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("width", &width),
            ("height", &height),
            ("viewBox", &format_args!("0 0 {width} {height}")),
            ("class", &"ink"),
            ("role", &"img"),
            ("aria-labelledby", &"title desc"),
        ],
    );
    let title = |(trace, ..): &Panel| if style.network { trace.network_title() } else { trace.title() };
    let titles: Vec<String> = panels.iter().map(title).collect();
    let described = |panel: &Panel| format!("{}: {}", title(panel), described(panel, style.network));
    let described: Vec<String> = panels.iter().map(described).collect();
    picture.words("title", &[("id", &"title")], &titles.join("; "));
    picture.words("desc", &[("id", &"desc")], &described.join(" "));
    let sheet = colours::style(style.scheme) + &motion.map(|motion| motion.style()).unwrap_or_default();
    if !sheet.is_empty() {
        picture.words("style", &[], &sheet);
    }
    picture.leaf("rect", &[("class", &"page"), ("width", &"100%"), ("height", &"100%"), ("rx", &6)]);
    picture.text += &body.text;
    picture.close("svg");
    picture.text
}

/// The picture in words, for screen readers.
fn described((trace, played, _): &Panel, is_network: bool) -> String {
    /// More passes are not described one by one.
    const MOST: u64 = 32;
    if is_network {
        let (steps, comparisons) = super::work(&trace.plan);
        let comparisons = counted(comparisons, "comparator", "comparators");
        return format!("{comparisons} in {}.", counted(steps, "step", "steps"));
    }
    let mut sentences = vec![summary(trace, Some(played)).join(" ")];
    if trace.plan.dispatch_count() <= MOST {
        sentences.extend(trace.passes().map(|pass| format!("Pass {}: {}", pass.number, pass.what)));
    }
    sentences.join(". ") + "."
}

/// Draws a panel from (0, 0) on; returns its width and height.
fn draw(
    panel: &Panel,
    most: f64,
    (is_network, is_named): (bool, bool),
    svg: &mut Svg,
    mut motion: Option<&mut Motion>,
) -> [f64; 2] {
    let (trace, played, _) = panel;
    let diagram = Diagram::new(panel, is_network, most);
    if let Some(motion) = motion.as_deref_mut() {
        motion.begin(played, diagram.as_ref().map(Diagram::ends).unwrap_or_default());
    }
    let (mut width, mut y) = (most, 13.0);
    let fits = |size: f64| (most / (CHARACTER * size / 11.0)) as usize;
    if !is_network {
        svg.text("h", (0.0, y), &cut(&trace.title(), fits(17.5)));
        for sentence in summary(trace, Some(played)) {
            y = svg.lines((0.0, y), &sentence, fits(11.0), 16.0);
        }
        y = map::draw(panel, most, y + 14.0, svg, motion.as_deref_mut());
    } else if is_named {
        let name = trace.network_title();
        svg.text("h", (0.0, y), &name);
        (width, y) = (name.chars().count() as f64 * 9.0, 26.0);
    } else {
        (width, y) = (0.0, 0.0);
    }
    if let Some(diagram) = diagram {
        width = width.max(diagram.width());
        y = if is_network {
            diagram.draw(y, svg, motion)
        } else {
            let end = diagram.draw(y + 28.0, svg, motion);
            svg.lines((0.0, end), &diagram.words(), fits(11.0), 16.0)
        };
    }
    [width, y]
}
