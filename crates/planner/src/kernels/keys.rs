//! The keys of a kernel: key words of our own, or a caller's elements, which the kernel maps to keys.
//!
//! Elements become keys as the first pass reads them, and elements again as the last pass writes them. The device finds
//! the first and the last pass, so every pass can do both. The maps are the maps of [`crate::key`], in WGSL. If a sort
//! goes by some bits of a key only, a rotation moves these bits to the lowest places.

use std::fmt::Write;

use gpusort_shaders::wgsl;

use super::radix::DIGIT_BITS;
use crate::key::{ElementType, Encoding};

/// The keys of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keys {
    /// Keys, in arrays of our own.
    Own,
    /// A caller's elements; each array begins where its binding begins.
    Elements(KeyTransform),
    /// A caller's elements, in slices that begin anywhere. Arguments are in a buffer.
    Slices(KeyTransform),
}

/// The order of a caller's elements. NaN come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyTransform {
    /// One of the types of four and eight bytes.
    pub element: ElementType,
    /// True if the largest element comes first.
    pub descending: bool,
    /// The lowest bit of a key that the sort compares.
    pub begin: u32,
    /// The number of bits that the sort compares, at least one.
    pub bits: u32,
}

impl KeyTransform {
    /// Returns the number of digits in the compared bits, in pairs, so that elements return to their original array.
    pub fn digits(self) -> u32 {
        self.bits.div_ceil(2 * DIGIT_BITS) * 2
    }

    /// Returns true if elements differ from their keys.
    pub(super) fn maps(self) -> bool {
        !matches!(self.element.layout().1, Encoding::Unsigned) || self.descending || self.begin > 0
    }

    /// Returns the maps between elements and keys in WGSL.
    pub(crate) fn text(self) -> String {
        let Self { element, descending, begin, bits } = self;
        let (width, encoding) = element.layout();
        let low_bits = |bits: u32| if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
        let mut text = super::constants(&[
            ("DESCENDING", descending.into()),
            ("KEY_BEGIN", begin),
            ("KEY_BITS", bits),
            ("LOW_BITS", low_bits(bits)),
            ("HIGH_BITS", low_bits(bits.saturating_sub(32))),
        ]);
        // A key in WGSL.
        let words = element.key_words().count();
        let constant = |low: u32, high: u32| match words {
            1 => format!("{low}u"),
            _ => format!("vec2({low}u, {high}u)"),
        };
        let counting = constant(low_bits(bits), low_bits(bits.saturating_sub(32)));
        let _ = writeln!(text, "const COUNTING: Key = {counting};");
        let map = match encoding {
            Encoding::Float { .. } => wgsl(&format!("callers/floats_{words}")),
            Encoding::Unsigned | Encoding::Signed => {
                let sign = if matches!(encoding, Encoding::Signed) { 1_u64 << (width - 1) } else { 0 };
                let flipped = if descending { !sign } else { sign };
                let flipped = constant(flipped as u32, (flipped >> 32) as u32);
                let _ = writeln!(text, "const FLIPPED: Key = {flipped};");
                wgsl("callers/integers")
            }
        };
        text += map;
        text += wgsl(&format!("callers/rotated_{words}"));
        text += wgsl("callers/elements");
        text
    }
}

impl Keys {
    /// Returns the map from elements to keys, if the kernel sorts elements.
    pub(super) fn transform(self) -> Option<KeyTransform> {
        match self {
            Self::Own => None,
            Self::Elements(transform) | Self::Slices(transform) => Some(transform),
        }
    }

    /// Returns true for elements in slices, with arguments on the device.
    pub fn are_slices(self) -> bool {
        matches!(self, Self::Slices(_))
    }

    /// Returns the text of this name in `callers/` for these keys: `access` reads keys and writes them to the other
    /// array, `access_payload` does so with the payload, and `places` finds elements of either array.
    pub(super) fn text_of(self, name: &str) -> &'static str {
        wgsl(&format!("callers/{name}{}", if self.are_slices() { "_slices" } else { "" }))
    }

    /// Returns the text of a module's arguments and maps.
    pub(super) fn text(self) -> String {
        let arguments = if self.are_slices() { "arguments_uniform" } else { "arguments_immediate" };
        let mut text = wgsl(arguments).to_owned();
        if self.are_slices() {
            text += wgsl("callers/slices");
        }
        match self.transform() {
            None => text + wgsl("callers/keys"),
            Some(transform) => text + &transform.text(),
        }
    }
}
