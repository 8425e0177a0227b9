//! Items that the CPU sorts: keys, alone or with a payload.

use bytemuck::{Pod, Zeroable};

use crate::key::Word;

/// A sortable element with a key. Elements compare by key first.
pub trait Item: Ord + Send + Sync + Pod {
    /// True if elements with equal keys are identical.
    const KEY_ONLY: bool;
    /// Returns the key, in the widest word. Sorts rely on equal answers from every call.
    fn key(self) -> u64;

    /// Returns the least and the greatest key; `(u64::MAX, 0)` without items.
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

    /// Compares words in their own width: vector instructions then compare more words at once.
    #[inline]
    fn extremes(mut items: impl Iterator<Item = Self>) -> (u64, u64) {
        let Some(first) = items.next() else { return (u64::MAX, 0) };
        let (least, greatest) =
            items.fold((first, first), |(least, greatest), item| (least.min(item), greatest.max(item)));
        (least.into(), greatest.into())
    }
}

/// A key and its payload: the position of its element, or another word that identifies its record.
/// Pairs compare as a whole. They are packed, without the gap that aligning an 8-byte key would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
pub struct Pair<W: Copy, R: Copy = u32> {
    /// The key.
    pub key: W,
    /// The payload, usually the position in the input.
    pub payload: R,
}

// SAFETY: both fields are words, which are zeroable, and a pair has nothing else.
unsafe impl<W: Word, R: Word> Zeroable for Pair<W, R> {}

// SAFETY:
// - Both fields are words, as above.
// - A pair has no gap between its fields or behind them: words have four or eight bytes, a multiple of
//   the alignment.
unsafe impl<W: Word, R: Word> Pod for Pair<W, R> {}

impl<W: Word, R: Word> Item for Pair<W, R> {
    const KEY_ONLY: bool = false;

    #[inline]
    fn key(self) -> u64 {
        { self.key }.into()
    }
}
