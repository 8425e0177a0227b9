//! What is sorted on the CPU: keys, alone or with a payload.

use bytemuck::{Pod, Zeroable};

use crate::key::Word;

/// A sortable element: something with a key, by which it is ordered first of all.
pub trait Item: Ord + Send + Sync + Pod {
    /// Whether elements with equal keys are identical.
    const KEY_ONLY: bool;
    /// The key, in the widest word. Sorts rely on the same answer every time.
    fn key(self) -> u64;

    /// The least and the greatest key.
    fn extremes(items: impl Iterator<Item = Self>) -> (u64, u64) {
        items.fold((u64::MAX, 0), |(least, greatest), item| (least.min(item.key()), greatest.max(item.key())))
    }
}

impl<W: Word> Item for W {
    const KEY_ONLY: bool = true;

    #[inline]
    fn key(self) -> u64 {
        self.into()
    }

    /// In their own width, in which more are compared at once.
    #[inline]
    fn extremes(mut items: impl Iterator<Item = Self>) -> (u64, u64) {
        let Some(first) = items.next() else { return (u64::MAX, 0) };
        let (least, greatest) =
            items.fold((first, first), |(least, greatest), item| (least.min(item), greatest.max(item)));
        (least.into(), greatest.into())
    }
}

/// A key and its payload: the position it came from, or another word that identifies its record.
/// Ordered as a whole. Packed, without the gap that aligning an 8-byte key would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
pub struct Pair<W: Copy, R: Copy = u32> {
    /// The key.
    pub key: W,
    /// Its position in the input.
    pub position: R,
}

// SAFETY: both fields are words, which are zeroable, and a pair has nothing else.
unsafe impl<W: Word, R: Word> Zeroable for Pair<W, R> {}

// SAFETY:
// - Both fields are words, as above.
// - There is no gap between them or behind: words are of four or eight bytes, a multiple of the
//   alignment.
unsafe impl<W: Word, R: Word> Pod for Pair<W, R> {}

impl<W: Word, R: Word> Item for Pair<W, R> {
    const KEY_ONLY: bool = false;

    #[inline]
    fn key(self) -> u64 {
        { self.key }.into()
    }
}
