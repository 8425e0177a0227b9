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
//! frames of stages in place of passes. Any renderer of SVG 1.1 shows the colours of a light page; a
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
use crate::human::{counted, wrapped};

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
    let mut picture = Picture::new(style);
    let (mut top, mut width) = (MARGIN, 0.0_f64);
    for row in panels.chunks(count) {
        let mut bottom = top;
        for (place, panel) in row.iter().enumerate() {
            let left = MARGIN + place as f64 * (across(count) + GAP);
            let [wide, tall] = picture.at(left, top, |body, motion| match style.network {
                true => draw_network(panel, across(count), panels.len() > 1, body, motion),
                false => draw(panel, across(count), body, motion),
            });
            (bottom, width) = (bottom.max(top + tall), width.max(left + wide));
        }
        top = bottom + GAP;
    }
    let titles: Vec<String> = match style.network {
        true => panels.iter().map(|(trace, ..)| trace.network_title()).collect(),
        false => panels.iter().map(|(trace, ..)| trace.title()).collect(),
    };
    let described =
        |(panel, title): (&Panel, &String)| format!("{title}: {}", described(panel, style.network));
    let described: Vec<String> = panels.iter().zip(&titles).map(described).collect();
    picture.finish((width + MARGIN, top - GAP + MARGIN), &titles, &described)
}

/// A picture under way.
struct Picture {
    style: Style,
    body: Svg,
    motion: Option<Motion>,
}

impl Picture {
    fn new(style: Style) -> Self {
        let motion = style.animated.then(Motion::default);
        Self { style, body: Svg::new(style.scheme == Scheme::Dark), motion }
    }

    /// Draws a part whose origin is here.
    fn at<T>(&mut self, left: f64, top: f64, draw: impl FnOnce(&mut Svg, Option<&mut Motion>) -> T) -> T {
        self.body.open("g", &[("transform", &format_args!("translate({} {})", Px(left), Px(top)))]);
        let drawn = draw(&mut self.body, self.motion.as_mut());
        self.body.close();
        drawn
    }

    /// The whole text: the page of this size, with all that was drawn.
    fn finish(self, (width, height): (f64, f64), titles: &[String], described: &[String]) -> String {
        let mut picture = Svg::new(self.style.scheme == Scheme::Dark);
        picture.open(
            "svg",
            &[
                ("xmlns", &"http://www.w3.org/2000/svg"),
                ("width", &Px(width)),
                ("height", &Px(height)),
                ("viewBox", &format_args!("0 0 {} {}", Px(width), Px(height))),
                ("class", &"ink"),
                ("role", &"img"),
                ("aria-labelledby", &"title desc"),
            ],
        );
        picture.words("title", &[("id", &"title")], &titles.join("; "));
        picture.words("desc", &[("id", &"desc")], &described.join(" "));
        let moving = self.motion.as_ref().map(Motion::style).unwrap_or_default();
        let style = colours::style(self.style.scheme) + &moving;
        if !style.is_empty() {
            picture.words("style", &[], &style);
        }
        picture.leaf("rect", &[("class", &"page"), ("width", &"100%"), ("height", &"100%"), ("rx", &6)]);
        picture.add(self.body);
        picture.finish()
    }
}

/// The picture in words, for screen readers.
fn described((trace, played, _): &Panel, is_network: bool) -> String {
    /// More passes are not described one by one.
    const MOST: u64 = 32;
    if is_network {
        let (steps, comparisons) = trace.work();
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
fn draw(panel: &Panel, width: f64, svg: &mut Svg, mut motion: Option<&mut Motion>) -> [f64; 2] {
    let (trace, played, _) = panel;
    let fits = |size: f64| (width / (CHARACTER * size / 11.0)) as usize;
    let mut y = 13.0;
    svg.words("text", &[("class", &"h"), ("y", &Px(y))], &cut(&trace.title(), fits(17.5)));
    for line in summary(trace, Some(played)).iter().flat_map(|sentence| wrapped(sentence, fits(11.0), 0)) {
        y += 16.0;
        svg.words("text", &[("class", &"q"), ("y", &Px(y))], &line);
    }
    let network = Diagram::new(panel, false, width);
    if let Some(motion) = motion.as_deref_mut() {
        motion.begin(played, network.as_ref().map(Diagram::ends).unwrap_or_default());
    }
    y = map::draw(panel, width, y + 14.0, svg, motion.as_deref_mut());
    if let Some(network) = network {
        y = network.draw(y + 28.0, svg, motion);
        y = network.legend(width, y, svg);
    }
    [width, y]
}

/// Draws a network from (0, 0) on, below its name if it has one; returns its width and height.
fn draw_network(
    panel: &Panel,
    most: f64,
    is_named: bool,
    svg: &mut Svg,
    mut motion: Option<&mut Motion>,
) -> [f64; 2] {
    let (trace, played, _) = panel;
    let (mut width, mut top) = (0.0, 0.0);
    if is_named {
        let name = trace.network_title();
        svg.text("h", (0.0, 13.0), &name);
        (width, top) = (name.chars().count() as f64 * 9.0, 26.0);
    }
    let Some(network) = Diagram::new(panel, true, most) else { return [width, top] };
    if let Some(motion) = motion.as_deref_mut() {
        motion.begin(played, network.ends());
    }
    [network.width().max(width), network.draw(top, svg, motion)]
}
