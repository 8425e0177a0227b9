//! The steps of sorting networks: the pairs of positions that each step compares.
//!
//! ```text
//! network   a sequence of stages     bitonic: blocks of 2, 4, 8, … elements become sorted
//! stage     a sequence of steps      one step for each stride, the largest first
//! step      comparisons of pairs     no two pairs share a position, so all comparisons can run at once
//! ```
//!
//! Except in alternating steps, every comparison is ascending: the smaller element goes to the
//! lower position. Positions from n on therefore count as +∞, and comparisons with them are skipped.
//! For this reason, only the alternating network pads its input.

use std::ops::Range;

/// A comparison of the elements at two positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Comparison {
    /// The position of the smaller element.
    pub low: u64,
    /// The position of the larger element.
    pub high: u64,
}

/// Comparisons that share no positions and can therefore run at once. Every step pairs the two halves of equal
/// blocks of positions: [`Step::pairs`] relies on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Compares i with i ^ (block − 1), in blocks of 2^`block_log2`: the first step of a bitonic stage,
    /// in the mirrored form that merges two ascending halves.
    Mirror {
        /// Size of a block, as a power of two; at least 1.
        block_log2: u32,
    },
    /// Compares i with i ^ 2^`stride_log2`: the other steps of a bitonic stage.
    Stride {
        /// Distance between the compared positions, as a power of two.
        stride_log2: u32,
    },
    /// Compares i with i ^ 2^`stride_log2`, ascending where bit `block_log2` of i is 0 and descending
    /// elsewhere: a step of a bitonic stage in its classic form.
    Alternating {
        /// Distance between the compared positions, as a power of two.
        stride_log2: u32,
        /// Size of the resulting sorted blocks, alternately ascending and descending, as a power of two.
        block_log2: u32,
    },
    /// Compares i with i + 1, for i of this parity: a phase of odd-even sort.
    Phase {
        /// True if i is odd.
        odd: bool,
    },
}

impl Step {
    /// Returns comparison number `c`. Neighbouring numbers touch neighbouring memory; the
    /// kernels use the same numbers.
    pub fn comparison(self, c: u64) -> Comparison {
        match self {
            Self::Mirror { block_log2 } => {
                let half = 1 << (block_log2 - 1);
                let (block, offset) = (c / half, c % half);
                let start = block * 2 * half;
                Comparison { low: start + offset, high: start + 2 * half - 1 - offset }
            }
            Self::Stride { stride_log2 } => {
                let stride = 1 << stride_log2;
                let low = c / stride * 2 * stride + c % stride;
                Comparison { low, high: low + stride }
            }
            Self::Alternating { stride_log2, block_log2 } => {
                let comparison @ Comparison { low, high } = Self::Stride { stride_log2 }.comparison(c);
                let descending = low >> block_log2 & 1 == 1;
                if descending { Comparison { low: high, high: low } } else { comparison }
            }
            Self::Phase { odd } => {
                let low = 2 * c + u64::from(odd);
                Comparison { low, high: low + 1 }
            }
        }
    }

    /// Returns the count of comparison numbers that covers every pair inside n positions.
    pub fn comparisons(self, n: u64) -> u64 {
        match self {
            // In an incomplete block, the last comparisons have both positions inside n.
            Self::Mirror { .. } => self.pairs(n).next_multiple_of(self.half_block()),
            _ => self.pairs(n),
        }
    }

    /// Returns the pairs inside n positions, in the order of their numbers.
    pub fn within(self, n: u64) -> impl Iterator<Item = Comparison> {
        (0..self.comparisons(n))
            .map(move |c| self.comparison(c))
            .filter(move |pair| pair.low.max(pair.high) < n)
    }

    /// Returns the number of pairs inside n positions.
    pub fn pairs(self, n: u64) -> u64 {
        let n = match self {
            Self::Phase { odd } => n.saturating_sub(u64::from(odd)),
            _ => n,
        };
        let half = self.half_block();
        n / (2 * half) * half + (n % (2 * half)).saturating_sub(half)
    }

    /// Compares and exchanges elements by this step, on one core.
    pub fn perform<T: Ord + Copy>(self, elements: &mut [T]) {
        match self {
            Self::Mirror { block_log2 } => {
                halves(elements, 1 << (block_log2 - 1)).for_each(|(low, high)| compare_mirrored(low, high));
            }
            Self::Stride { stride_log2: 0 } => compare_neighbours(elements),
            Self::Stride { stride_log2 } => {
                halves(elements, 1 << stride_log2).for_each(|(low, high)| compare(low, high));
            }
            // Only comparison plans have alternating steps: pair by pair is fast enough.
            Self::Alternating { .. } => {
                for pair in self.within(elements.len() as u64) {
                    let (low, high) = (pair.low as usize, pair.high as usize);
                    if elements[high] < elements[low] {
                        elements.swap(low, high);
                    }
                }
            }
            Self::Phase { odd } => {
                compare_neighbours(elements.get_mut(usize::from(odd)..).unwrap_or_default());
            }
        }
    }

    /// Returns the number of pairs in each independent block of positions.
    fn half_block(self) -> u64 {
        match self {
            Self::Mirror { block_log2 } => 1 << (block_log2 - 1),
            Self::Stride { stride_log2 } | Self::Alternating { stride_log2, .. } => 1 << stride_log2,
            Self::Phase { .. } => 1,
        }
    }
}

/// Returns the number of bitonic stages that sort `n` elements.
pub fn stages(n: u32) -> u32 {
    u64::from(n).next_power_of_two().trailing_zeros()
}

/// Returns the steps of the mirrored bitonic stage that merges sorted halves into blocks of
/// 2^`block_log2`; `block_log2` is at least 1.
pub fn stage(block_log2: u32) -> impl Iterator<Item = Step> {
    std::iter::once(Step::Mirror { block_log2 }).chain(strides(0..block_log2 - 1))
}

/// Returns the steps with these strides, given as powers of two, from the largest.
pub fn strides(log2: Range<u32>) -> impl Iterator<Item = Step> {
    log2.rev().map(|stride_log2| Step::Stride { stride_log2 })
}

/// Returns the steps with strides 2^(`steps`−1) … 1 of the classic stage that sorts blocks of
/// 2^`block_log2`, alternately ascending and descending.
pub fn alternating(steps: u32, block_log2: u32) -> impl Iterator<Item = Step> {
    (0..steps).rev().map(move |stride_log2| Step::Alternating { stride_log2, block_log2 })
}

/// Splits every block of 2 × `half` elements with more than `half` elements into its halves.
pub fn halves<T>(elements: &mut [T], half: usize) -> impl Iterator<Item = (&mut [T], &mut [T])> {
    let blocks = elements.chunks_mut(2 * half).filter(move |block| block.len() > half);
    blocks.map(move |block| block.split_at_mut(half))
}

/// Compares the end of `low` with the beginning of `high`, from the middle outwards.
pub fn compare_mirrored<T: Ord + Copy>(low: &mut [T], high: &mut [T]) {
    low.iter_mut().rev().zip(high).for_each(|(low, high)| compare_exchange(low, high));
}

/// Compares each element of `low` with the element of `high` at the same index.
pub fn compare<T: Ord + Copy>(low: &mut [T], high: &mut [T]) {
    low.iter_mut().zip(high).for_each(|(low, high)| compare_exchange(low, high));
}

/// Compares the elements of each pair of neighbours.
pub fn compare_neighbours<T: Ord + Copy>(elements: &mut [T]) {
    for pair in elements.chunks_exact_mut(2) {
        let (low, high) = pair.split_at_mut(1);
        compare_exchange(&mut low[0], &mut high[0]);
    }
}

/// Orders two elements without a branch, so that the compiler vectorizes loops over it.
#[inline]
fn compare_exchange<T: Ord + Copy>(low: &mut T, high: &mut T) {
    let (a, b) = (*low, *high);
    *low = a.min(b);
    *high = a.max(b);
}
