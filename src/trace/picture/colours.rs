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
pub(super) fn of_rank(rank: u32, n: usize) -> Shade {
    let part = f64::from(rank) / (n.max(2) - 1) as f64;
    Shade { level: (part * (LEVELS - 1) as f64).round() as usize, mixed: 0 }
}

/// The colour of a thin line: of the middle of the ramp, since the ends are lost on dark and on
/// light pages.
pub(super) fn of_line(shade: Shade) -> String {
    let most = (LEVELS - 1) as f64;
    hex(Shade { level: (most * 0.28 + shade.level as f64 * 0.58).round() as usize, ..shade })
}

/// How many tints tiles have in turn.
pub(super) const TINTS: u64 = 4;

/// The style sheet, but for what moves. Its first lines are the colours of light and dark pages, of
/// which `keep` is that of comparisons that change nothing.
pub(super) fn style() -> String {
    include_str!("style.css").lines().collect()
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

    /// The value of a name on light or on dark pages.
    fn value(name: &str, dark: bool) -> &'static str {
        let style = include_str!("style.css").lines().nth(usize::from(dark)).unwrap();
        let (_, value) = style.split_once(&format!("--{name}:")).unwrap();
        &value[.."#rrggbb".len()]
    }

    #[test]
    fn the_ramp_rises_in_lightness_so_that_it_reads_without_colour() {
        let levels: Vec<f64> = (0..LEVELS).map(|level| luminance(&hex(Shade { level, mixed: 0 }))).collect();
        assert!(levels.is_sorted_by(|a, b| a < b), "{levels:?}");
        let ends = [of_rank(0, 5), of_rank(4, 5), of_rank(0, 1)].map(hex);
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
}
