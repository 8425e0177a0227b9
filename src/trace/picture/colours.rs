//! The colours: a ramp for ranks, and the rest for light and dark pages.

use std::fmt::Write;

use crate::trace::heat::{LEVELS, MIXED, Shade};

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

/// What colours of bins with elements from everywhere are mixed with.
const GREY: [u8; 3] = [0x9a, 0x9a, 0x9a];

/// How much of that is in each step.
const GREYNESS: [f64; MIXED] = [0.0, 0.35, 0.65, 0.9];

/// A shade as `#rrggbb`.
pub(super) fn hex(shade: Shade) -> String {
    let place = shade.level.min(LEVELS - 1) as f64 / (LEVELS - 1) as f64 * (RAMP.len() - 1) as f64;
    let (from, part) =
        ((place as usize).min(RAMP.len() - 2), place - place.floor().min((RAMP.len() - 2) as f64));
    let grey = GREYNESS[shade.mixed.min(MIXED - 1)];
    (0..3).fold("#".to_owned(), |mut text, channel| {
        let [low, high, grey_of] =
            [RAMP[from], RAMP[from + 1], GREY].map(|colour| f64::from(colour[channel]));
        let pure = low + (high - low) * part;
        let _ = write!(text, "{:02x}", (pure + (grey_of - pure) * grey).round() as u8);
        text
    })
}

/// The pure colour of a rank among `n`.
fn shade_of(rank: u32, n: usize) -> Shade {
    let part = f64::from(rank) / (n.max(2) - 1) as f64;
    Shade { level: (part * (LEVELS - 1) as f64).round() as usize, mixed: 0 }
}

/// The colour of a dot for a rank among `n`.
pub(super) fn of_rank(rank: u32, n: usize) -> String {
    hex(shade_of(rank, n))
}

/// The colour of a line for a rank among `n`.
pub(super) fn line_of_rank(rank: u32, n: usize) -> String {
    of_line(shade_of(rank, n))
}

/// The colour of a thin line: of the middle of the ramp, since the ends are lost on dark and on
/// light pages.
pub(super) fn of_line(shade: Shade) -> String {
    let most = (LEVELS - 1) as f64;
    hex(Shade { level: (most * 0.28 + shade.level as f64 * 0.58).round() as usize, ..shade })
}

/// Names of colours, and what they are on light and on dark pages.
const COLOURS: [(&str, &str, &str); 12] = [
    ("page", "#ffffff", "#0d1117"),
    ("ink", "#14181d", "#f0f3f6"),
    ("soft", "#4d565f", "#a9b3be"),
    ("wire", "#aeb6bf", "#4b535d"),
    // Comparisons that change nothing.
    ("keep", "#77818c", "#87919c"),
    ("pass", "#f1f3f5", "#1a2029"),
    ("edge", "#d5dae0", "#343c47"),
    ("t0", "#cfe2fa", "#1d3a63"),
    ("t1", "#fbe0bd", "#573c14"),
    ("t2", "#d3ebcf", "#1e472b"),
    ("t3", "#e6d5f3", "#432c5a"),
    ("bar", "#5b6b7c", "#93a4b6"),
];

/// How many tints tiles have in turn.
pub(super) const TINTS: u64 = 4;

/// The style sheet, but for what moves.
pub(super) fn style() -> String {
    let set = |dark: bool| {
        let value = |(name, on_light, on_dark): &(&str, &str, &str)| {
            format!("--{name}:{}", if dark { on_dark } else { on_light })
        };
        COLOURS.iter().map(value).collect::<Vec<_>>().join(";")
    };
    let mut style = format!(
        "svg{{{};color-scheme:light dark}}@media(prefers-color-scheme:dark){{svg{{{}}}}}",
        set(false),
        set(true)
    );
    style += "svg{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}text{fill:var(--ink)}\
              .h{font-size:16px;font-weight:600}.q{fill:var(--soft)}.n{font-variant-numeric:tabular-nums}\
              .r{text-anchor:end}.m{text-anchor:middle}\
              .v{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}\
              .page{fill:var(--page)}.pass{fill:var(--pass);stroke:var(--edge)}\
              .wire,.keep,.swap,.move,.cells{fill:none}.wire{stroke:var(--wire)}\
              .keep{stroke:var(--keep);stroke-width:1.1}.swap{stroke:var(--ink);stroke-width:1.7}\
              .keep-dot{fill:var(--keep)}.swap-dot,.up{fill:var(--ink)}\
              .move{stroke-width:1.5}.bars{fill:var(--bar)}.sums{fill:none;stroke:var(--bar);stroke-width:1.6}\
              ";
    for tint in 0..TINTS {
        let _ = write!(style, ".t{tint}{{fill:var(--t{tint})}}");
    }
    style
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
        let (_, on_light, on_dark) = COLOURS.iter().find(|(own, ..)| *own == name).unwrap();
        if dark { on_dark } else { on_light }
    }

    #[test]
    fn the_ramp_rises_in_lightness_so_that_it_reads_without_colour() {
        let levels: Vec<f64> = (0..LEVELS).map(|level| luminance(&hex(Shade { level, mixed: 0 }))).collect();
        assert!(levels.is_sorted_by(|a, b| a < b), "{levels:?}");
        assert_eq!((of_rank(0, 5), of_rank(4, 5)), ("#440154".to_owned(), "#fde725".to_owned()));
        assert_eq!(of_rank(0, 1), "#440154");
    }

    #[test]
    fn words_and_swaps_are_legible_on_all_that_they_lie_on() {
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
}
