//! Parallel wires, a position of the array each, and the elements at their ends.

use super::Panel;
use super::svg::{Px, Svg};
use crate::FILLER;

/// The width of a character of an element.
const DIGIT: f64 = 6.1;

/// The most characters of an element.
const LONGEST: usize = 24;

/// Wires in pixels: the height of the first, the distance between two, and their ends.
#[derive(Clone, Copy)]
pub(super) struct Wires {
    pub(super) count: usize,
    pub(super) first: f64,
    pub(super) pitch: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Wires {
    /// The height of a wire.
    pub(super) fn y(&self, wire: usize) -> f64 {
        self.first + wire as f64 * self.pitch
    }

    /// Writes elements at one end; `labels` are the elements in order, as printed.
    pub(super) fn label(&self, svg: &mut Svg, class: &str, x: f64, labels: &[String], ranks: &[u32]) {
        let size = (self.pitch - 1.2).min(10.5);
        let place = format!("translate({} {})", Px(x), Px(0.36 * size));
        svg.open("g", &[("class", &class), ("transform", &place), ("font-size", &Px(size))]);
        for (wire, &rank) in ranks.iter().enumerate() {
            let Some(label) = labels.get(rank as usize).filter(|_| rank != FILLER) else { continue };
            svg.words("text", &[("y", &Px(self.y(wire)))], &super::cut(label, LONGEST));
        }
        svg.close("g");
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

/// Pixels for the elements at one end; 0 without elements.
pub(super) fn label_width((_, _, labels): &Panel) -> f64 {
    let widest = labels.iter().map(|label| label.chars().count()).max();
    widest.map_or(0.0, |widest| widest.min(LONGEST) as f64 * DIGIT + 12.0)
}
