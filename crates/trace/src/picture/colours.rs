//! The colours: a ramp for ranks, and named colours for light and dark pages.
//!
//! Every colour is a literal in a presentation attribute, since few programs other than browsers
//! know CSS variables and media queries: they would draw everything in black. A style sheet has only
//! the colours of dark pages, and overrides the attributes in a browser.

use std::fmt::Write;

use crate::heat::{LEVELS, MIXED, Shade};

/// Viridis (S. van der Walt and N. Smith, 2015) at nine places. It rises evenly in lightness, so
/// that it reads in grey and with any colour vision.
const RAMP: [[u8; 3]; 9] = [
    [0x44, 0x01, 0x54],
    [0x47, 0x2d, 0x7b],
    [0x3b, 0x52, 0x8b],
    [0x2c, 0x72, 0x8e],
    [0x21, 0x91, 0x8c],
    [0x28, 0xae, 0x80],
    [0x5e, 0xc9, 0x62],
    [0xad, 0xdc, 0x30],
    [0xfd, 0xe7, 0x25],
];

/// The colour mixed into bins with elements from everywhere.
const GREY: [u8; 3] = [0x9a, 0x9a, 0x9a];

/// The share of grey at each step.
const GREYNESS: [f64; MIXED] = [0.0, 0.35, 0.65, 0.9];

/// A shade as `#rrggbb`.
pub(super) fn hex(shade: Shade) -> String {
    let place = shade.level.min(LEVELS - 1) as f64 / (LEVELS - 1) as f64 * (RAMP.len() - 1) as f64;
    let from = (place as usize).min(RAMP.len() - 2);
    let part = place - from as f64;
    let grey = GREYNESS[shade.mixed.min(MIXED - 1)];
    let [red, green, blue] = [0, 1, 2].map(|channel| {
        let [low, high, grey_of] =
            [RAMP[from], RAMP[from + 1], GREY].map(|colour| f64::from(colour[channel]));
        let pure = low + (high - low) * part;
        (pure + (grey_of - pure) * grey).round() as u8
    });
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The colour of a thin line: from the middle of the ramp, since its ends do not show on dark and on
/// light pages.
pub(super) fn of_line(shade: Shade) -> String {
    let most = (LEVELS - 1) as f64;
    hex(Shade { level: (most * 0.4 + shade.level as f64 * 0.46).round() as usize, ..shade })
}

/// The classes of tiles.
pub(super) const TINTS: [&str; 4] = ["t0", "t1", "t2", "t3"];

/// The page of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// A light page; a browser that prefers dark pages overrides the colours.
    #[default]
    Auto,
    /// A light page, whatever a browser prefers.
    Light,
    /// A dark page, whatever a browser prefers.
    Dark,
}

/// Colours by name, on light and on dark pages. `keep` is for comparisons without a swap.
const COLOURS: [(&str, [&str; 2]); 12] = [
    ("page", ["#ffffff", "#0d1117"]),
    ("ink", ["#14181d", "#f0f3f6"]),
    ("soft", ["#4d565f", "#a9b3be"]),
    ("wire", ["#aeb6bf", "#4b535d"]),
    ("keep", ["#77818c", "#87919c"]),
    ("pass", ["#f1f3f5", "#1a2029"]),
    ("edge", ["#d5dae0", "#343c47"]),
    ("bar", ["#5b6b7c", "#93a4b6"]),
    ("t0", ["#cfe2fa", "#1d3a63"]),
    ("t1", ["#fbe0bd", "#573c14"]),
    ("t2", ["#d3ebcf", "#1e472b"]),
    ("t3", ["#e6d5f3", "#432c5a"]),
];

const SANS: &str = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,'DejaVu Sans',sans-serif";
const MONO: &str = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace";

/// The presentation attributes of each class; a value may be the name of a colour.
const CLASSES: [(&str, &[(&str, &str)]); 24] = [
    ("ink", &[("fill", "ink"), ("font-family", SANS), ("font-size", "11")]),
    ("h", &[("font-size", "16"), ("font-weight", "600")]),
    ("q", &[("fill", "soft")]),
    ("r", &[("text-anchor", "end")]),
    ("m", &[("text-anchor", "middle")]),
    ("v", &[("font-family", MONO)]),
    ("page", &[("fill", "page")]),
    ("pass", &[("fill", "pass"), ("stroke", "edge")]),
    ("wire", &[("fill", "none"), ("stroke", "wire")]),
    ("keep", &[("fill", "none"), ("stroke", "keep"), ("stroke-width", "1.1")]),
    ("swap", &[("fill", "none"), ("stroke", "ink"), ("stroke-width", "1.7")]),
    ("keep-dot", &[("fill", "none"), ("stroke", "keep"), ("stroke-linecap", "round")]),
    ("swap-dot", &[("fill", "none"), ("stroke", "ink"), ("stroke-linecap", "round")]),
    ("up", &[("fill", "ink")]),
    ("move", &[("fill", "none"), ("stroke-width", "1.5")]),
    ("cells", &[("fill", "none")]),
    ("bars", &[("fill", "bar")]),
    ("sums", &[("fill", "none"), ("stroke", "bar"), ("stroke-width", "1.6")]),
    ("t0", &[("fill", "t0")]),
    ("t1", &[("fill", "t1")]),
    ("t2", &[("fill", "t2")]),
    ("t3", &[("fill", "t3")]),
    // Hidden without an animation. Inkscape ignores `visibility`.
    ("e", &[("opacity", "0"), ("stroke", "ink")]),
    ("cover", &[("fill", "page"), ("opacity", "0")]),
];

fn colour(name: &str, dark: bool) -> Option<&'static str> {
    COLOURS.iter().find(|(own, _)| *own == name).map(|(_, schemes)| schemes[usize::from(dark)])
}

/// The presentation attributes of these classes: any renderer of SVG 1.1 understands them, and any
/// rule of a style sheet overrides them.
pub(super) fn attributes(classes: &str, dark: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_class = |class| CLASSES.iter().filter(move |(own, _)| *own == class).flat_map(|(_, all)| *all);
    let all = classes.split(' ').flat_map(of_class);
    all.map(move |&(name, value)| (name, colour(value, dark).unwrap_or(value)))
}

/// The style sheet without animations: the colours of dark pages, unless the page is given.
pub(super) fn style(scheme: Scheme) -> String {
    if scheme != Scheme::Auto {
        return String::new();
    }
    let mut style =
        ".ink{color-scheme:light dark;font-variant-numeric:tabular-nums}@media(prefers-color-scheme:dark){"
            .to_owned();
    for (class, all) in CLASSES {
        let dark: Vec<String> =
            all.iter().filter_map(|(name, value)| Some(format!("{name}:{}", colour(value, true)?))).collect();
        if !dark.is_empty() {
            let _ = write!(style, ".{class}{{{}}}", dark.join(";"));
        }
    }
    style + "}"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as the Web Content Accessibility Guidelines have it.
    fn luminance(hex: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }

    fn value(name: &str, dark: bool) -> &'static str {
        colour(name, dark).unwrap()
    }

    #[test]
    fn the_ramp_rises_in_lightness_so_that_it_reads_without_colour() {
        let levels: Vec<f64> = (0..LEVELS).map(|level| luminance(&hex(Shade { level, mixed: 0 }))).collect();
        assert!(levels.is_sorted_by(|a, b| a < b), "{levels:?}");
        let ends = [(0.0, 5), (4.0, 5), (0.0, 1)].map(|(rank, n)| hex(Shade::of_rank(rank, n)));
        assert_eq!(ends, ["#440154", "#fde725", "#440154"]);
    }

    #[test]
    fn words_and_swaps_are_legible_on_all_that_they_lie_on() {
        assert_eq!((value("page", false), value("page", true)), ("#ffffff", "#0d1117"));
        for dark in [false, true] {
            for ground in ["page", "pass", "t0", "t1", "t2", "t3"] {
                let ground = value(ground, dark);
                assert!(contrast(value("ink", dark), ground) >= 7.0);
                assert!(contrast(value("keep", dark), ground) >= 2.5, "{dark} {ground}");
            }
            assert!(contrast(value("soft", dark), value("page", dark)) >= 4.5);
            // The check must be able to fail.
            assert!(contrast(value("edge", dark), value("page", dark)) < 2.5);
        }
    }

    #[test]
    fn dark_pages_override_each_colour_and_nothing_else() {
        let style = style(Scheme::Auto);
        let (_, rules) = style.split_once(":dark){").unwrap();
        for (class, all) in CLASSES {
            for (name, value) in all {
                let light = attributes(class, false).find(|(own, _)| own == name).unwrap().1;
                let rule = || rules.split_once(&format!(".{class}{{")).unwrap().1.split('}').next().unwrap();
                match colour(value, true) {
                    Some(dark) => {
                        assert!(light.starts_with('#') && light != dark);
                        assert!(rule().contains(&format!("{name}:{dark}")), "{class}");
                    }
                    None => assert_eq!(light, *value),
                }
            }
        }
        assert!(!style.contains("var("));
        assert_eq!([Scheme::Light, Scheme::Dark].map(super::style), ["", ""]);
    }
}
