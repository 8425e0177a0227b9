//! The container of keys, and of words that stand for records: words of one width, in blocks.
//!
//! Keys are words of 32 or 64 bits; the width is known only when the program runs. Several cores read keys
//! block by block, and blocks of results are borrowed from a device, so a container is a list of blocks,
//! owned or borrowed. Code that depends on the width is generic over [`KeyWidth`]; [`by_width`] selects the
//! width.

use std::borrow::Cow;

use gpusort_order::key::{KeyWords, Word};

use gpusort_base::parallel;
use gpusort_cpu as cpu;

/// Consecutive words.
pub type Block<'a, W> = Cow<'a, [W]>;

/// Words of one width in blocks, in order.
#[derive(Clone, Debug)]
pub enum KeyBuf<'a> {
    /// Words of 32 bits.
    Narrow(Vec<Block<'a, u32>>),
    /// Words of 64 bits.
    Wide(Vec<Block<'a, u64>>),
}

/// Evaluates the same expression for blocks of either width.
#[macro_export]
macro_rules! by_width {
    ($words:expr, $blocks:ident => $value:expr) => {
        match $words {
            $crate::key_buf::KeyBuf::Narrow($blocks) => $value,
            $crate::key_buf::KeyBuf::Wide($blocks) => $value,
        }
    };
}
pub use by_width;

/// A possible word of a [`KeyBuf`].
pub trait KeyWidth: Word {
    /// The width of a key in this word.
    const WIDTH: KeyWords;
    /// Returns the words in these blocks.
    fn words(blocks: Vec<Block<'_, Self>>) -> KeyBuf<'_>;
    /// Returns the blocks of these words; `None` for words of the other width.
    fn blocks(words: KeyBuf<'_>) -> Option<Vec<Block<'_, Self>>>;
}

macro_rules! width {
    ($word:ty, $width:ident, $words:ident) => {
        impl KeyWidth for $word {
            const WIDTH: KeyWords = KeyWords::$width;

            fn words(blocks: Vec<Block<'_, Self>>) -> KeyBuf<'_> {
                KeyBuf::$words(blocks)
            }

            fn blocks(words: KeyBuf<'_>) -> Option<Vec<Block<'_, Self>>> {
                if let KeyBuf::$words(blocks) = words { Some(blocks) } else { None }
            }
        }
    };
}

width!(u32, One, Narrow);
width!(u64, Two, Wide);

impl<W: KeyWidth> From<Vec<W>> for KeyBuf<'_> {
    fn from(words: Vec<W>) -> Self {
        W::words(vec![words.into()])
    }
}

impl<'a, W: KeyWidth> From<&'a [W]> for KeyBuf<'a> {
    fn from(words: &'a [W]) -> Self {
        W::words(vec![words.into()])
    }
}

impl<W: KeyWidth> From<Vec<Vec<W>>> for KeyBuf<'_> {
    fn from(blocks: Vec<Vec<W>>) -> Self {
        W::words(blocks.into_iter().map(Cow::Owned).collect())
    }
}

/// Compares words as sequences, regardless of blocks.
impl PartialEq for KeyBuf<'_> {
    fn eq(&self, other: &Self) -> bool {
        let [words, others] = [self, other].map(|words| words.borrowed().joined());
        words.width() == others.width() && words.bytes() == others.bytes()
    }
}

impl KeyBuf<'_> {
    /// Returns an empty container for words of this width.
    pub fn new(width: KeyWords) -> Self {
        match width {
            KeyWords::One => Self::Narrow(Vec::new()),
            KeyWords::Two => Self::Wide(Vec::new()),
        }
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        by_width!(self, blocks => blocks.iter().map(|block| block.len()).sum())
    }

    /// Returns true for a container without words.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the width of the words.
    pub fn width(&self) -> KeyWords {
        match self {
            Self::Narrow(_) => KeyWords::One,
            Self::Wide(_) => KeyWords::Two,
        }
    }

    /// Returns the first and the last word, if neither the first nor the last block is empty.
    pub fn ends(&self) -> Option<[u64; 2]> {
        by_width!(self, blocks => {
            Some([*blocks.first()?.first()?, *blocks.last()?.last()?].map(u64::from))
        })
    }

    /// Appends the blocks of `more`.
    ///
    /// # Panics
    ///
    /// Panics if `more` has the other width.
    pub fn append(&mut self, more: Self) {
        by_width!(self, blocks => {
            blocks.extend(KeyWidth::blocks(more).expect("the keys of one input are of one width"));
        });
    }

    /// Returns the number of words in each block.
    pub fn lengths(&self) -> Vec<usize> {
        by_width!(self, blocks => blocks.iter().map(|block| block.len()).collect())
    }

    /// Returns each block as bytes.
    pub fn bytes(&self) -> Vec<&[u8]> {
        by_width!(self, blocks => blocks.iter().map(|block| bytemuck::cast_slice(block)).collect())
    }

    /// Returns each block as writable bytes.
    pub fn bytes_mut(&mut self) -> Vec<&mut [u8]> {
        by_width!(self, blocks => {
            blocks.iter_mut().map(|block| bytemuck::cast_slice_mut(block.to_mut().as_mut_slice())).collect()
        })
    }

    /// Returns all words in one vector, if they are words like `W`.
    pub fn into_vec<W: KeyWidth>(self) -> Option<Vec<W>> {
        W::blocks(self).map(join)
    }

    /// Returns all words in one block.
    pub fn joined(self) -> KeyBuf<'static> {
        by_width!(self, blocks => join(blocks).into())
    }

    /// Returns at most `count` words from the start, or all words without a count.
    #[must_use]
    pub fn truncated(self, count: Option<usize>) -> Self {
        let Some(count) = count else { return self };
        by_width!(self, blocks => {
            let mut words = join(blocks);
            words.truncate(count);
            words.into()
        })
    }

    /// Returns the words, borrowed.
    pub fn borrowed(&self) -> KeyBuf<'_> {
        by_width!(self, blocks => {
            KeyWidth::words(blocks.iter().map(|block| Cow::Borrowed(&**block)).collect())
        })
    }

    /// Returns the words of a range, borrowed.
    pub fn range(&self, range: std::ops::Range<usize>) -> KeyBuf<'_> {
        by_width!(self, blocks => {
            let mut before = 0;
            let of_block = |block| {
                let block: &[_] = block;
                let within = |place: usize| place.saturating_sub(before).min(block.len());
                let part = &block[within(range.start)..within(range.end)];
                before += block.len();
                (!part.is_empty()).then_some(Cow::Borrowed(part))
            };
            KeyWidth::words(blocks.iter().map(|block| &**block).filter_map(of_block).collect())
        })
    }

    /// Returns the words at these positions.
    pub fn gathered(self, positions: &[u32]) -> KeyBuf<'static> {
        by_width!(self, blocks => {
            let words = in_one(blocks);
            parallel::map(positions, |&position| words[position as usize]).into()
        })
    }
}

/// Joins all blocks into one; a single block costs nothing.
pub fn in_one<W: KeyWidth>(mut blocks: Vec<Block<'_, W>>) -> Block<'_, W> {
    if blocks.len() == 1 { blocks.swap_remove(0) } else { cpu::join(&blocks).into() }
}

fn join<W: KeyWidth>(blocks: Vec<Block<'_, W>>) -> Vec<W> {
    in_one(blocks).into_owned()
}
