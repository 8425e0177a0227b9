//! Element types, and the order-preserving maps between numbers and unsigned keys.
//!
//! Everything below this module sorts *keys*: unsigned words of 32 or 64 bits whose numeric order is
//! the order of the elements they stand for. The maps are bijections on bit patterns, so the way back
//! restores every bit of the input. This is the one place that knows what a float looks like.
//!
//! # The order of floats
//!
//! Ascending: −inf … −0, +0 … +inf, then NaN of positive sign by rising bits, then NaN of negative
//! sign by falling bits. The usual total-order map (flip the sign bit of positive numbers and every bit
//! of negative ones) puts negative NaN first; subtracting their count, wrapping, moves them to the end:
//!
//! ```text
//! total order   0 ─ −NaN ─┬─ −inf … +inf ─┬─ +NaN ─ MAX
//! minus count   0 ─ −inf … +inf ─┬─ +NaN ─┬─ −NaN ─ MAX
//! ```
//!
//! Descending reverses the numbers and leaves NaN where it is, last.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

use crate::error::{Error, UnknownName};

/// The type of the numbers being sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 32 bits.
    I32,
    /// IEEE 754 single precision.
    F32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 64 bits.
    I64,
    /// IEEE 754 double precision.
    F64,
}

impl ElementType {
    /// Every element type, in the order in which they are documented.
    pub const ALL: [Self; 6] = [Self::U32, Self::I32, Self::F32, Self::U64, Self::I64, Self::F64];

    /// The name used by flags, file extensions and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::F32 => "f32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
        }
    }

    /// Size of one element in bytes, which is also the size of its key.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Whether this is a floating-point type.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ElementType {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        UnknownName::unless_of(&Self::ALL, Self::name, "element type", name)
    }
}

/// An unsigned word that keys are made of: `u32` for the types of four bytes, `u64` for those of eight.
pub trait Word: Copy + Ord + Send + Sync + Default + Into<u64> + bytemuck::Pod + fmt::Debug {
    /// The key that sorts where the element with these bits belongs.
    #[must_use]
    fn key(self, order: Order) -> Self;
    /// The bits of the element that has this key: the inverse of [`Word::key`].
    #[must_use]
    fn bits(self, order: Order) -> Self;
    /// From the byte order of files to this machine's.
    #[must_use]
    fn from_le(word: Self) -> Self;
    /// From this machine's byte order to that of files.
    #[must_use]
    fn to_le(self) -> Self;
}

/// How elements are ordered: their type and the direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The type of the elements.
    pub element: ElementType,
    /// Largest first; NaN stays last.
    pub descending: bool,
}

impl Order {
    /// Smallest first, NaN last.
    #[must_use]
    pub fn ascending(element: ElementType) -> Self {
        Self { element, descending: false }
    }

    /// Whether each key has the bits of its element, as they are on the disk: nothing is to be mapped.
    pub(crate) fn is_bits(self) -> bool {
        let unsigned = matches!(self.element, ElementType::U32 | ElementType::U64);
        unsigned && !self.descending && cfg!(target_endian = "little")
    }
}

macro_rules! word {
    ($word:ty, $signed:ident, $float:ident, $primitive:ty) => {
        impl Word for $word {
            fn from_le(word: Self) -> Self {
                Self::from_le(word)
            }

            fn to_le(self) -> Self {
                self.to_le()
            }

            #[inline]
            fn key(self, order: Order) -> Self {
                let key = match order.element {
                    ElementType::$signed => self ^ Self::SIGN,
                    ElementType::$float => {
                        let flip = if self & Self::SIGN == 0 { Self::SIGN } else { Self::MAX };
                        (self ^ flip).wrapping_sub(Self::NEGATIVE_NANS)
                    }
                    _ => self,
                };
                if order.descending { key.reversed(order.element) } else { key }
            }

            #[inline]
            fn bits(self, order: Order) -> Self {
                let key = if order.descending { self.reversed(order.element) } else { self };
                match order.element {
                    ElementType::$signed => key ^ Self::SIGN,
                    ElementType::$float => {
                        let total = key.wrapping_add(Self::NEGATIVE_NANS);
                        total ^ if total & Self::SIGN == 0 { Self::MAX } else { Self::SIGN }
                    }
                    _ => key,
                }
            }
        }

        impl Constants for $word {
            const SIGN: Self = 1 << (Self::BITS - 1);
            const NEGATIVE_NANS: Self = Self::SIGN - 1 - <$primitive>::INFINITY.to_bits();
            const LAST_NUMBER: Self = (<$primitive>::INFINITY.to_bits() ^ Self::SIGN) - Self::NEGATIVE_NANS;

            #[inline]
            fn reversed(self, element: ElementType) -> Self {
                match element {
                    ElementType::$float if self <= Self::LAST_NUMBER => Self::LAST_NUMBER - self,
                    ElementType::$float => self,
                    _ => !self,
                }
            }
        }
    };
}

/// What the maps need to know about the types that share a word.
trait Constants {
    const SIGN: Self;
    /// How many NaN have the sign bit set: the bit patterns between infinity and the sign bit.
    const NEGATIVE_NANS: Self;
    /// The ascending key of +inf; the keys above it are NaN.
    const LAST_NUMBER: Self;

    /// Maps an ascending key to the descending one, and back.
    fn reversed(self, element: ElementType) -> Self;
}

word!(u32, I32, F32, f32);
word!(u64, I64, F64, f64);

/// Turns element bits into keys, in place, on all cores.
pub fn to_keys<W: Word>(bits: &mut [W], order: Order) {
    map_in_place(bits, |word| word.key(order));
}

/// Turns keys back into element bits, in place, on all cores.
pub fn to_bits<W: Word>(keys: &mut [W], order: Order) {
    map_in_place(keys, |word| word.bits(order));
}

fn map_in_place<W: Word>(words: &mut [W], map: impl Fn(W) -> W + Sync) {
    // Small enough that waking other threads costs more than the work.
    const SERIAL: usize = 1 << 16;
    let each = |words: &mut [W]| words.iter_mut().for_each(|word| *word = map(*word));
    if words.len() <= SERIAL { each(words) } else { words.par_chunks_mut(SERIAL).for_each(each) }
}

/// The keys of one input, in the width of their element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Keys of `u32`, `i32` or `f32`.
    One(Vec<u32>),
    /// Keys of `u64`, `i64` or `f64`.
    Two(Vec<u64>),
}

impl Keys {
    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.borrowed().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory that they are in.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::One(keys) => bytemuck::cast_slice(keys),
            Self::Two(keys) => bytemuck::cast_slice(keys),
        }
    }

    /// The same memory, to be written to.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::One(keys) => bytemuck::cast_slice_mut(keys),
            Self::Two(keys) => bytemuck::cast_slice_mut(keys),
        }
    }

    /// Words of 32 bits in one key: 1 or 2.
    #[must_use]
    pub fn words(&self) -> u32 {
        match self {
            Self::One(_) => 1,
            Self::Two(_) => 2,
        }
    }

    /// The same, borrowed.
    #[must_use]
    pub fn borrowed(&self) -> KeysRef<'_> {
        match self {
            Self::One(keys) => KeysRef::One(keys),
            Self::Two(keys) => KeysRef::Two(keys),
        }
    }
}

/// Some keys, borrowed.
#[derive(Clone, Copy, Debug)]
pub enum KeysRef<'a> {
    /// Keys of `u32`, `i32` or `f32`.
    One(&'a [u32]),
    /// Keys of `u64`, `i64` or `f64`.
    Two(&'a [u64]),
}

/// The keys of one input in pieces, in order: as they were read, and not put together yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// Keys of `u32`, `i32` or `f32`.
    One(Vec<Vec<u32>>),
    /// Keys of `u64`, `i64` or `f64`.
    Two(Vec<Vec<u64>>),
}

impl KeysRef<'_> {
    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::One(keys) => keys.len(),
            Self::Two(keys) => keys.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Pieces {
    /// None yet, of the width of this type.
    #[must_use]
    pub fn new(element: ElementType) -> Self {
        match element.bytes() {
            4 => Self::One(Vec::new()),
            _ => Self::Two(Vec::new()),
        }
    }

    /// Adds a piece.
    ///
    /// # Panics
    ///
    /// When it is of another width.
    pub fn push(&mut self, piece: Keys) {
        match (self, piece) {
            (Self::One(pieces), Keys::One(piece)) => pieces.push(piece),
            (Self::Two(pieces), Keys::Two(piece)) => pieces.push(piece),
            _ => panic!("the keys of one input are of one width"),
        }
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::One(pieces) => pieces.iter().map(Vec::len).sum(),
            Self::Two(pieces) => pieces.iter().map(Vec::len).sum(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Words of 32 bits in one key: 1 or 2.
    #[must_use]
    pub fn words(&self) -> u32 {
        match self {
            Self::One(_) => 1,
            Self::Two(_) => 2,
        }
    }
}

impl Pieces {
    /// How many keys each piece has.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        match self {
            Self::One(pieces) => pieces.iter().map(Vec::len).collect(),
            Self::Two(pieces) => pieces.iter().map(Vec::len).collect(),
        }
    }
}

/// Keys that come piece by piece, and how many they will be.
pub struct Incoming<'a> {
    /// Their number.
    pub(crate) n: usize,
    /// Words of 32 bits in a key.
    pub(crate) words: u32,
    pub(crate) pieces: Box<dyn Iterator<Item = Result<Keys, Error>> + Send + 'a>,
}

impl<'a> Incoming<'a> {
    /// How many they will be.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Words of 32 bits in a key: 1 or 2.
    #[must_use]
    pub fn words(&self) -> u32 {
        self.words
    }

    /// `n` keys of so many words, 1 or 2, which come while they are being taken to a device already.
    #[must_use]
    pub fn new(n: usize, words: u32, pieces: impl Iterator<Item = Result<Keys, Error>> + Send + 'a) -> Self {
        Self { n, words, pieces: Box::new(pieces) }
    }

    /// All of them.
    ///
    /// # Errors
    ///
    /// Whatever kept them from coming.
    pub fn collect(self) -> Result<Pieces, Error> {
        let mut all = match self.words {
            1 => Pieces::One(Vec::new()),
            _ => Pieces::Two(Vec::new()),
        };
        for piece in self.pieces {
            all.push(piece?);
        }
        Ok(all)
    }
}

impl From<Pieces> for Incoming<'_> {
    fn from(pieces: Pieces) -> Self {
        let (n, words) = (pieces.len(), pieces.words());
        match pieces {
            Pieces::One(pieces) => Self::new(n, words, pieces.into_iter().map(|piece| Ok(Keys::One(piece)))),
            Pieces::Two(pieces) => Self::new(n, words, pieces.into_iter().map(|piece| Ok(Keys::Two(piece)))),
        }
    }
}

impl From<Keys> for Incoming<'_> {
    fn from(keys: Keys) -> Self {
        Pieces::from(keys).into()
    }
}

impl From<Keys> for Pieces {
    fn from(keys: Keys) -> Self {
        match keys {
            Keys::One(keys) => Self::One(vec![keys]),
            Keys::Two(keys) => Self::Two(vec![keys]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn orders() -> impl Iterator<Item = Order> {
        ElementType::ALL
            .into_iter()
            .flat_map(|element| [false, true].map(|descending| Order { element, descending }))
    }

    fn key_f32(bits: u32, descending: bool) -> u32 {
        bits.key(Order { element: ElementType::F32, descending })
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
        // Every 251st bit pattern, a prime, so that no pattern of low bits is left out.
        for descending in [false, true] {
            let order = Order { element: ElementType::F32, descending };
            for bits in (0..=u32::MAX).step_by(251) {
                assert_eq!(bits.key(order).bits(order), bits);
            }
        }
    }

    proptest! {
        #[test]
        fn maps_are_bijections(a: u64) {
            for order in orders() {
                prop_assert_eq!(a.key(order).bits(order), a);
                let a = a as u32;
                prop_assert_eq!(a.key(order).bits(order), a);
            }
        }

        #[test]
        fn maps_keep_the_order_of_numbers(a: u64, b: u64) {
            let (f, g) = (f64::from_bits(a), f64::from_bits(b));
            let ascending = Order::ascending(ElementType::F64);
            if !f.is_nan() && !g.is_nan() {
                prop_assert_eq!(a.key(ascending).cmp(&b.key(ascending)), f.total_cmp(&g));
                let descending = Order { descending: true, ..ascending };
                prop_assert_eq!(a.key(descending).cmp(&b.key(descending)), g.total_cmp(&f));
            }
            let signed = Order::ascending(ElementType::I64);
            prop_assert_eq!(a.key(signed).cmp(&b.key(signed)), (a as i64).cmp(&(b as i64)));
            let signed = Order { descending: true, ..signed };
            prop_assert_eq!(a.key(signed).cmp(&b.key(signed)), (b as i64).cmp(&(a as i64)));
            let unsigned = Order { element: ElementType::U64, descending: true };
            prop_assert_eq!(a.key(unsigned).cmp(&b.key(unsigned)), b.cmp(&a));
        }
    }
}
