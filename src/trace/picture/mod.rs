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
//! Several plans make panels, next to each other where they fit. Any renderer of SVG 1.1 shows the
//! colours of a light page; a browser overrides them on a dark one, and plays the animation, unless
//! its user prefers reduced motion.

mod colours;
mod diagram;
mod map;
mod motion;
mod svg;
mod textbook;
mod wires;

pub use self::colours::Scheme;

use self::motion::Motion;
use self::svg::{Px, Svg};
use super::list::{cut, summary};
use super::{FEW, Played, Trace};
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
    /// The colours.
    pub scheme: Scheme,
}

/// The picture of these plans.
pub fn svg(panels: &[Panel], style: Style) -> String {
    let inner = WIDTH - 2.0 * MARGIN;
    let across = |count: usize| (inner - GAP * (count as f64 - 1.0)) / count as f64;
    let fits = |&count: &usize| {
        let width = across(count);
        count == 1 || width >= NARROWEST && panels.iter().all(|panel| diagram::least_width(panel) <= width)
    };
    let count = (1..=panels.len().max(1)).rev().find(fits).unwrap_or(1);
    let mut picture = Picture::new(style);
    let mut top = MARGIN;
    for row in panels.chunks(count) {
        let mut bottom = top;
        for (place, panel) in row.iter().enumerate() {
            let left = MARGIN + place as f64 * (across(count) + GAP);
            let height = picture.at(left, top, |body, motion| draw(panel, across(count), body, motion));
            bottom = bottom.max(top + height);
        }
        top = bottom + GAP;
    }
    let titles: Vec<String> = panels.iter().map(|(trace, ..)| trace.title()).collect();
    let described: Vec<String> = panels.iter().map(described).collect();
    picture.finish((WIDTH, top - GAP + MARGIN), &titles, &described)
}

/// The picture of these networks alone, below each other; several have their names above them.
/// Without elements to print, all comparators look alike.
pub fn network_svg(panels: &[Panel], style: Style) -> String {
    let most = WIDTH - 2.0 * MARGIN;
    let mut picture = Picture::new(style);
    let (mut top, mut width) = (MARGIN, 0.0_f64);
    let name = |panel: &Panel| panel.0.network_title();
    for panel in panels {
        let height = picture.at(MARGIN, top, |body, motion| {
            let has_name = panels.len() > 1;
            if has_name {
                body.text("h", (0.0, 13.0), &name(panel));
            }
            textbook::draw(panel, most, if has_name { 26.0 } else { 0.0 }, body, motion)
        });
        let named = if panels.len() > 1 { name(panel).chars().count() as f64 * 9.0 } else { 0.0 };
        width = width.max(textbook::measures(panel, most).0).max(named);
        top += height + GAP;
    }
    let described = |panel: &Panel| {
        let (steps, comparisons) = panel.0.work();
        let [steps, comparisons] =
            [counted(steps, "step", "steps"), counted(comparisons, "comparator", "comparators")];
        format!("{}: {comparisons} in {steps}.", name(panel))
    };
    let size = (width + 2.0 * MARGIN, top - GAP + MARGIN);
    let titles: Vec<String> = panels.iter().map(name).collect();
    let described: Vec<String> = panels.iter().map(described).collect();
    picture.finish(size, &titles, &described)
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
        picture.finish_with(self.body)
    }
}

/// The picture in words, for screen readers.
fn described((trace, played, _): &Panel) -> String {
    /// More passes are not described one by one.
    const MOST: u64 = 32;
    let mut text = format!("{}: {}. ", trace.title(), summary(trace, Some(played)).join(" "));
    if trace.plan.dispatch_count() <= MOST {
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
        for line in wrapped(&sentence, fits(11.0), 0) {
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
