//! The steps of sorting networks: which positions are compared with which.
//!
//! ```text
//! network   a sequence of stages     bitonic: blocks of 2, 4, 8, … elements become sorted
//! stage     a sequence of steps      one step for each stride, the largest first
//! step      comparisons of pairs     no two of which share a position, so that all can be made at once
//! ```
//!
//! Except in alternating steps, every comparison is ascending: the smaller element goes to the
//! lower position. Positions from n on therefore count as +∞, and comparisons with them are left
//! out; that is why only the alternating network pads its input.

use std::ops::Range;

/// Two positions that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// Where the smaller element goes.
    pub low: u64,
    /// Where the larger element goes.
    pub high: u64,
}

/// Comparisons that do not touch each other's positions, and so can be made at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// i with i ^ (block − 1), in blocks of 2^`block_log2`: the first step of a bitonic stage, in
    /// the mirrored form that merges two ascending halves.
    Mirror {
        /// Size of a block, as a power of two; at least 1.
        block_log2: u32,
    },
    /// i with i ^ 2^`stride_log2`: the other steps of a bitonic stage.
    Stride {
        /// Distance between the compared positions, as a power of two.
        stride_log2: u32,
    },
    /// i with i ^ 2^`stride_log2`, ascending where bit `block_log2` of i is 0 and descending
    /// elsewhere: a step of a bitonic stage in its classic form.
    Alternating {
        /// Distance between the compared positions, as a power of two.
        stride_log2: u32,
        /// Size of the blocks that end up sorted, up and down in turn, as a power of two.
        block_log2: u32,
    },
    /// i with i + 1, for i of this parity: a phase of odd-even sort.
    Phase {
        /// Whether i is odd.
        odd: bool,
    },
}

impl Step {
    /// The pair that comparison number `c` compares. Comparisons are numbered so that neighbours
    /// touch neighbouring memory; the kernels use the same numbers.
    pub fn pair(self, c: u64) -> Pair {
        match self {
            Self::Mirror { block_log2 } => {
                let half = 1 << (block_log2 - 1);
                let (block, offset) = (c / half, c % half);
                let start = block * 2 * half;
                Pair { low: start + offset, high: start + 2 * half - 1 - offset }
            }
            Self::Stride { stride_log2 } => {
                let stride = 1 << stride_log2;
                let low = c / stride * 2 * stride + c % stride;
                Pair { low, high: low + stride }
            }
            Self::Alternating { stride_log2, block_log2 } => {
                let pair = Self::Stride { stride_log2 }.pair(c);
                let descending = pair.low >> block_log2 & 1 == 1;
                if descending { Pair { low: pair.high, high: pair.low } } else { pair }
            }
            Self::Phase { odd } => {
                let low = 2 * c + u64::from(odd);
                Pair { low, high: low + 1 }
            }
        }
    }

    /// The count of comparison numbers that covers every pair inside n positions.
    pub fn comparisons(self, n: u64) -> u64 {
        match self {
            // Of an incomplete block, the last comparisons are those with both positions inside.
            Self::Mirror { .. } => self.pairs(n).next_multiple_of(self.half_block()),
            _ => self.pairs(n),
        }
    }

    /// The number of pairs inside n positions.
    pub fn pairs(self, n: u64) -> u64 {
        let n = match self {
            Self::Phase { odd } => n.saturating_sub(u64::from(odd)),
            _ => n,
        };
        let half = self.half_block();
        n / (2 * half) * half + (n % (2 * half)).saturating_sub(half)
    }

    /// Compares and exchanges elements as this step says, on one core.
    pub fn perform<T: Ord + Copy>(self, elements: &mut [T]) {
        match self {
            Self::Mirror { block_log2 } => {
                halves(elements, 1 << (block_log2 - 1)).for_each(|(low, high)| compare_mirrored(low, high));
            }
            Self::Stride { stride_log2: 0 } => compare_neighbours(elements),
            Self::Stride { stride_log2 } => {
                halves(elements, 1 << stride_log2).for_each(|(low, high)| compare(low, high));
            }
            // Only comparison plans have such steps: pair by pair is fast enough.
            Self::Alternating { .. } => {
                let n = elements.len() as u64;
                for pair in (0..self.comparisons(n)).map(|c| self.pair(c)) {
                    let (low, high) = (pair.low as usize, pair.high as usize);
                    if low.max(high) < elements.len() && elements[high] < elements[low] {
                        elements.swap(low, high);
                    }
                }
            }
            Self::Phase { odd } => {
                compare_neighbours(elements.get_mut(usize::from(odd)..).unwrap_or_default());
            }
        }
    }

    /// Pairs in each block of positions that are compared among themselves.
    fn half_block(self) -> u64 {
        match self {
            Self::Mirror { block_log2 } => 1 << (block_log2 - 1),
            Self::Stride { stride_log2 } | Self::Alternating { stride_log2, .. } => 1 << stride_log2,
            Self::Phase { .. } => 1,
        }
    }
}

/// The number of bitonic stages that sort `n` elements.
pub fn stages(n: u32) -> u32 {
    u64::from(n).next_power_of_two().trailing_zeros()
}

/// The steps of the mirrored bitonic stage that makes sorted blocks of 2^`block_log2`, at least 2,
/// from their sorted halves.
pub fn stage(block_log2: u32) -> impl Iterator<Item = Step> {
    std::iter::once(Step::Mirror { block_log2 }).chain(strides(0..block_log2 - 1))
}

/// The steps of these strides, as powers of two, the largest first.
pub fn strides(log2: Range<u32>) -> impl Iterator<Item = Step> {
    log2.rev().map(|stride_log2| Step::Stride { stride_log2 })
}

/// The steps of strides 2^(`steps`−1) … 1 in the classic stage that sorts blocks of 2^`block_log2`,
/// up and down in turn.
pub fn alternating(steps: u32, block_log2: u32) -> impl Iterator<Item = Step> {
    (0..steps).rev().map(move |stride_log2| Step::Alternating { stride_log2, block_log2 })
}

/// The halves of every block of 2 × `half` elements that has a second one, or a part of it.
pub fn halves<T>(elements: &mut [T], half: usize) -> impl Iterator<Item = (&mut [T], &mut [T])> {
    let blocks = elements.chunks_mut(2 * half).filter(move |block| block.len() > half);
    blocks.map(move |block| block.split_at_mut(half))
}

/// Compares the end of `low` with the beginning of `high`, from the middle outwards.
pub fn compare_mirrored<T: Ord + Copy>(low: &mut [T], high: &mut [T]) {
    low.iter_mut().rev().zip(high).for_each(|(low, high)| compare_exchange(low, high));
}

/// Compares each of `low` with the one at the same place of `high`.
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

/// Branch-free, so that the compiler vectorizes it.
#[inline]
fn compare_exchange<T: Ord + Copy>(low: &mut T, high: &mut T) {
    let (a, b) = (*low, *high);
    *low = a.min(b);
    *high = a.max(b);
}
