//! Element types, and the order-preserving maps between numbers and unsigned keys.
//!
//! The modules below this one sort *keys*: unsigned words of 32 or 64 bits in the order of their
//! elements. The maps are bijections on bit patterns, so the inverse restores every bit of the
//! input. Only this module knows the format of floats.
//!
//! # The order of floats
//!
//! Ascending: −inf … −0, +0 … +inf, then NaN with positive sign by ascending bits, then NaN with
//! negative sign by descending bits. The usual total-order map (flip the sign bit of positive
//! numbers and every bit of negative ones) puts negative NaN first; subtracting their count,
//! wrapping, moves them to the end:
//!
//! ```text
//! total order   0 ─ −NaN ─┬─ −inf … +inf ─┬─ +NaN ─ MAX
//! minus count   0 ─ −inf … +inf ─┬─ +NaN ─┬─ −NaN ─ MAX
//! ```
//!
//! Descending reverses the numbers and keeps NaN last. Adding the number of NaN of both signs, wrapping,
//! places NaN before all numbers.
//!
//! Elements of one or two bytes have 32-bit keys and use the lowest bits.

use std::fmt;
use std::ops::{BitXor, Shl};

use crate::named;

/// One row per type: its documentation, name, number of bits, and their meaning.
macro_rules! types {
    ($($(#[$doc:meta])* $type:ident $name:literal $bits:literal $encoding:expr;)*) => {
        /// The type of the numbers being sorted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ElementType { $($(#[$doc])* $type,)* }

        named!(ElementType, "element type", { $($type => $name,)* });

        impl ElementType {
            /// Returns the number of bits of an element and their meaning. Sizes, ranges and the maps of
            /// floats follow from this layout.
            pub const fn layout(self) -> (u32, Encoding) {
                match self { $(Self::$type => ($bits, $encoding),)* }
            }
        }
    };
}

types! {
    /// Unsigned, 32 bits.
    U32 "u32" 32 Encoding::Unsigned;
    /// Signed, 32 bits.
    I32 "i32" 32 Encoding::Signed;
    /// IEEE 754 single precision.
    F32 "f32" 32 Encoding::Float { exponent: 8 };
    /// Unsigned, 64 bits.
    U64 "u64" 64 Encoding::Unsigned;
    /// Signed, 64 bits.
    I64 "i64" 64 Encoding::Signed;
    /// IEEE 754 double precision.
    F64 "f64" 64 Encoding::Float { exponent: 11 };
    /// Unsigned, 8 bits.
    U8 "u8" 8 Encoding::Unsigned;
    /// Signed, 8 bits.
    I8 "i8" 8 Encoding::Signed;
    /// Unsigned, 16 bits.
    U16 "u16" 16 Encoding::Unsigned;
    /// Signed, 16 bits.
    I16 "i16" 16 Encoding::Signed;
    /// IEEE 754 half precision.
    F16 "f16" 16 Encoding::Float { exponent: 5 };
}

impl ElementType {
    /// The types of four and eight bytes: text formats use these types, and their keys have equal width.
    pub const WIDE: [Self; 6] = [Self::U32, Self::I32, Self::F32, Self::U64, Self::I64, Self::F64];

    /// Returns the size of one element in bytes.
    pub fn bytes(self) -> usize {
        self.layout().0 as usize / 8
    }

    /// Returns the number of words in a key of this type.
    pub fn key_words(self) -> KeyWords {
        if self.bytes() > 4 { KeyWords::Two } else { KeyWords::One }
    }

    /// Returns true for a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self.layout().1, Encoding::Float { .. })
    }

    /// Returns the least and the greatest integer of an integer type.
    ///
    /// # Panics
    ///
    /// Panics for a float type.
    #[doc(hidden)]
    pub fn limits(self) -> (i128, i128) {
        match self.layout() {
            (bits, Encoding::Unsigned) => (0, (1 << bits) - 1),
            (bits, Encoding::Signed) => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
            (_, Encoding::Float { .. }) => panic!("floats have no range of integers"),
        }
    }
}

/// The meaning of an element's bits.
#[derive(Clone, Copy, Debug)]
pub enum Encoding {
    /// An unsigned integer.
    Unsigned,
    /// A signed integer in two's complement.
    Signed,
    /// An IEEE 754 float: the sign, the exponent, and the mantissa.
    Float {
        /// Bits of the exponent.
        exponent: u32,
    },
}

/// The number of 32-bit words in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyWords {
    /// A key of up to 32 bits.
    One,
    /// A key of 64 bits.
    Two,
}

impl KeyWords {
    /// Returns the number of words.
    pub const fn count(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

mod sealed {
    /// Prevents other implementations of `Word`: pairs of words rely on the words' sizes.
    pub trait Sealed {}

    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// The unsigned word of a key: `u32` for types of up to four bytes, `u64` for types of eight.
pub trait Word:
    sealed::Sealed
    + Copy
    + Ord
    + Send
    + Sync
    + Default
    + From<u32>
    + Into<u64>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + bytemuck::Pod
    + fmt::Debug
{
    /// Returns the map for words of this width.
    ///
    /// # Panics
    ///
    /// Panics if the type is wider than this word.
    fn map(map: KeyMap) -> WordMap<Self>;
    /// Returns the key of the element with these bits.
    #[must_use]
    fn key(self, map: WordMap<Self>) -> Self;
    /// Returns the bits of the element with this key: the inverse of [`Word::key`].
    #[must_use]
    fn bits(self, map: WordMap<Self>) -> Self;
    /// Returns the key of the float with these bits.
    #[must_use]
    fn key_of_float(self, float: Float<Self>) -> Self;
    /// Returns the bits of the float with this key: the inverse of [`Word::key_of_float`].
    #[must_use]
    fn bits_of_float(self, float: Float<Self>) -> Self;
    /// Returns true if the element with this key is NaN.
    fn is_nan(self, map: WordMap<Self>) -> bool;
    /// Returns this key; for every NaN, returns the key of the NaN next to the numbers.
    #[must_use]
    fn with_one_nan(self, map: WordMap<Self>) -> Self;
    /// Returns a number as a word; the number must fit.
    fn of_u64(number: u64) -> Self;
    /// Converts a word from little-endian byte order.
    fn from_le(word: Self) -> Self;
    /// Converts a word from big-endian byte order.
    fn from_be(word: Self) -> Self;
}

/// The bijection between elements and keys: ascending or descending, with NaN last or first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyMap {
    /// The type of the elements.
    pub element: ElementType,
    /// True if the largest value comes first; the place of NaN is independent.
    pub descending: bool,
    /// True if NaN comes before all numbers instead of after them.
    pub nan_first: bool,
}

impl KeyMap {
    /// Returns the ascending map of a type, with NaN last.
    pub fn ascending(element: ElementType) -> Self {
        Self { element, descending: false, nan_first: false }
    }

    /// Returns true if keys equal the bits of their elements on disk and need no mapping.
    pub fn is_bits(self) -> bool {
        matches!(self.element.layout().1, Encoding::Unsigned)
            && !self.descending
            && cfg!(target_endian = "little")
    }
}

/// A [`KeyMap`] for words of one width, computed once, outside the loops over elements.
#[derive(Clone, Copy, Debug)]
pub struct WordMap<W> {
    /// The bits of an integer that differ in its key.
    pub flip: W,
    /// The map of a float; `None` for integers. Loops over many elements test this field before they
    /// begin, because compilers do not hoist the test out of loops.
    pub float: Option<Float<W>>,
}

/// The map of a float type.
#[derive(Clone, Copy, Debug)]
pub struct Float<W> {
    /// The sign bit.
    sign: W,
    /// The bits of an element.
    mask: W,
    /// The number of NaN per sign: the bit patterns between infinity and the sign bit.
    nans: W,
    /// The ascending key of +inf; all keys above +inf are NaN.
    last: W,
    /// The number of keys below the keys of numbers.
    before: W,
    descending: bool,
}

macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            fn map(map: KeyMap) -> WordMap<Self> {
                let (bits, encoding) = map.element.layout();
                assert!(bits <= Self::BITS, "{} is wider than its word", map.element);
                let sign: Self = 1 << (bits - 1);
                let direction = if map.descending { Self::MAX } else { 0 };
                let integer = |flip| WordMap { flip, float: None };
                let float = |exponent| {
                    let mask = sign | (sign - 1);
                    let nans = (sign >> exponent) - 1;
                    // Both signs have equal numbers of NaN.
                    let before = if map.nan_first { 2 * nans } else { 0 };
                    let last = mask - 2 * nans;
                    Float { sign, mask, nans, last, before, descending: map.descending }
                };
                match encoding {
                    Encoding::Unsigned => integer(direction),
                    Encoding::Signed => integer(direction ^ sign),
                    Encoding::Float { exponent } => WordMap { flip: 0, float: Some(float(exponent)) },
                }
            }

            #[inline]
            fn key(self, map: WordMap<Self>) -> Self {
                map.float.map_or(self ^ map.flip, |float| self.key_of_float(float))
            }

            #[inline]
            fn bits(self, map: WordMap<Self>) -> Self {
                map.float.map_or(self ^ map.flip, |float| self.bits_of_float(float))
            }

            #[inline]
            fn key_of_float(self, float: Float<Self>) -> Self {
                let flip = if self & float.sign == 0 { float.sign } else { float.mask };
                let key = (self ^ flip).wrapping_sub(float.nans) & float.mask;
                float.directed(key).wrapping_add(float.before) & float.mask
            }

            #[inline]
            fn bits_of_float(self, float: Float<Self>) -> Self {
                let key = float.directed(self.wrapping_sub(float.before) & float.mask);
                let total = key.wrapping_add(float.nans) & float.mask;
                total ^ if total & float.sign == 0 { float.mask } else { float.sign }
            }

            #[inline]
            fn is_nan(self, map: WordMap<Self>) -> bool {
                map.float.is_some_and(|Float { before, last, .. }| self < before || self > before + last)
            }

            #[inline]
            fn with_one_nan(self, map: WordMap<Self>) -> Self {
                map.float.map_or(self, |Float { before, last, .. }| {
                    self.clamp(before.saturating_sub(1), (before + last).saturating_add(1))
                })
            }

            #[inline]
            fn of_u64(number: u64) -> Self {
                number as Self
            }

            fn from_le(word: Self) -> Self {
                Self::from_le(word)
            }

            fn from_be(word: Self) -> Self {
                Self::from_be(word)
            }
        }

        impl Float<$word> {
            /// Converts an ascending key to a key of the direction, or back.
            #[inline]
            fn directed(self, key: $word) -> $word {
                if self.descending && key <= self.last { self.last - key } else { key }
            }
        }
    };
}

word!(u32);
word!(u64);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn maps() -> impl Iterator<Item = KeyMap> {
        let maps = ElementType::ALL.map(|element| {
            [(false, false), (false, true), (true, false), (true, true)]
                .map(|(descending, nan_first)| KeyMap { element, descending, nan_first })
        });
        maps.into_iter().flatten()
    }

    fn key_f32(bits: u32, descending: bool) -> u32 {
        bits.key(u32::map(KeyMap { descending, ..KeyMap::ascending(ElementType::F32) }))
    }

    #[test]
    fn floats_are_ordered_as_documented() {
        let ascending = [
            0xFF80_0000, // -inf
            0xFF7F_FFFF, // the lowest finite
            0x8000_0001, // the largest negative denormal
            0x8000_0000, // -0
            0x0000_0000, // +0
            0x0000_0001,
            0x7F7F_FFFF,
            0x7F80_0000, // +inf
            0x7F80_0001, // NaN, positive, rising bits
            0x7FFF_FFFF,
            0xFFFF_FFFF, // NaN, negative, falling bits
            0xFF80_0001,
        ];
        let keys: Vec<u32> = ascending.iter().map(|&bits| key_f32(bits, false)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:08X?}");
        assert_eq!((keys[0], keys[11]), (0, u32::MAX), "the range is used whole");

        let mut descending: Vec<u32> = ascending[..8].iter().rev().copied().collect();
        descending.extend_from_slice(&ascending[8..]);
        let keys: Vec<u32> = descending.iter().map(|&bits| key_f32(bits, true)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:08X?}");
    }

    #[test]
    fn the_whole_of_f32_maps_back_sparsely() {
        // Steps by 251, a prime, so that all patterns of low bits occur.
        for descending in [false, true] {
            let map = u32::map(KeyMap { descending, ..KeyMap::ascending(ElementType::F32) });
            for bits in (0..=u32::MAX).step_by(251) {
                assert_eq!(bits.key(map).bits(map), bits);
            }
        }
    }

    proptest! {
        #[test]
        fn maps_are_bijections(bits: u64) {
            for map in maps() {
                let bits = bits >> (64 - 8 * map.element.bytes());
                let back = match map.element.key_words() {
                    KeyWords::One => (bits as u32).key(u32::map(map)).bits(u32::map(map)).into(),
                    KeyWords::Two => bits.key(u64::map(map)).bits(u64::map(map)),
                };
                prop_assert_eq!(back, bits, "{:?}", map);
            }
        }

        #[test]
        fn maps_keep_the_order_of_numbers(a: u64, b: u64) {
            let compare = |element, descending| {
                let map = u64::map(KeyMap { descending, ..KeyMap::ascending(element) });
                a.key(map).cmp(&b.key(map))
            };
            let (f, g) = (f64::from_bits(a), f64::from_bits(b));
            if !f.is_nan() && !g.is_nan() {
                prop_assert_eq!(compare(ElementType::F64, false), f.total_cmp(&g));
                prop_assert_eq!(compare(ElementType::F64, true), g.total_cmp(&f));
            }
            prop_assert_eq!(compare(ElementType::I64, false), (a as i64).cmp(&(b as i64)));
            prop_assert_eq!(compare(ElementType::I64, true), (b as i64).cmp(&(a as i64)));
            prop_assert_eq!(compare(ElementType::U64, true), b.cmp(&a));
        }
    }
}
