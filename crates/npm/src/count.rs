//! Formulas for numbers of workgroups and words; `npm/src/plan.ts` computes them.

use serde::Serialize;
use serde_json::{Value, json};

/// The capacity of a plan, the number `n` of its elements, and the number `k` of elements to select.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) capacity: u32,
    pub(crate) n: u32,
    pub(crate) k: u32,
}

impl Size {
    /// A full plan that selects nothing.
    pub(crate) fn all(n: u32) -> Self {
        Self { capacity: n, n, k: 0 }
    }
}

/// Constants of a sort that its formulas use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Elements in a tile of the radix sort.
    pub(crate) tile: u32,
    /// The most chunks of such tiles.
    pub(crate) chunks: u32,
    /// Elements in the longest segment that shares a tile.
    pub(crate) longest: u32,
}

/// The unit that a formula counts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "of", content = "size", rename_all = "lowercase")]
pub(crate) enum Base {
    One,
    Tiles,
    Chunks,
    /// Segments sorted by radix, and their tiles.
    Long,
    #[serde(rename = "long tiles")]
    LongTiles,
    /// Blocks of this many elements, or of selected elements.
    Blocks([u32; 1]),
    Selected([u32; 1]),
    /// Equal parts of whole units: the unit, and the most parts.
    Parts([u32; 2]),
    /// Tiles for classes of segments: elements in the shortest one of each, and rows in a tile.
    Listed(Vec<u32>),
}

/// `times` the units, and `plus`, but no more than `most`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Count {
    pub(crate) of: Base,
    pub(crate) times: u64,
    pub(crate) plus: u64,
    pub(crate) most: u64,
}

impl Count {
    pub(crate) fn of(of: Base) -> Self {
        Self { of, times: 1, plus: 0, most: u64::MAX }
    }

    /// The number that npm/src/plan.ts computes.
    pub(crate) fn value(&self, sizes: Sizes, Size { capacity, n, k }: Size) -> u64 {
        let Sizes { tile, chunks, longest } = sizes;
        let long = n / (longest + 1);
        let base = match self.of {
            Base::One => 1,
            Base::Tiles => n.div_ceil(tile),
            Base::Chunks => n.div_ceil(tile).div_ceil(capacity.div_ceil(tile).div_ceil(chunks)),
            Base::Long => long,
            Base::LongTiles => n.div_ceil(tile) + long,
            Base::Blocks([size]) => n.div_ceil(size),
            Base::Selected([size]) => k.div_ceil(size),
            Base::Parts([unit, most]) => n.div_ceil(n.div_ceil(unit).div_ceil(most).max(1) * unit),
            Base::Listed(ref all) => all.chunks(2).map(|class| (n / class[0]).div_ceil(class[1])).sum(),
        };
        (self.times * u64::from(base) + self.plus).min(self.most)
    }

    pub(crate) fn json(&self) -> Value {
        let mut whole = json!(self.of);
        let numbers = [("times", self.times, 1), ("plus", self.plus, 0), ("most", self.most, u64::MAX)];
        for (name, value, _) in numbers.into_iter().filter(|(_, value, usual)| value != usual) {
            whole[name] = value.into();
        }
        whole
    }
}

/// The first candidate that gives the number of each case, once rounded.
///
/// # Panics
///
/// When none is.
pub(crate) fn fitting(
    what: &str,
    sizes: Sizes,
    candidates: impl IntoIterator<Item = Count>,
    cases: &[(Size, u64)],
    rounded: impl Fn(u64) -> u64,
) -> Count {
    let fits =
        |count: &Count| cases.iter().all(|&(size, number)| rounded(count.value(sizes, size)) == number);
    candidates.into_iter().find(fits).unwrap_or_else(|| {
        panic!("{what} depends on something else: write what, here and in npm/src/plan.ts")
    })
}

/// The largest number up to 2^29 with the value of 1.
pub(crate) fn block(number: impl Fn(u32) -> u64) -> u32 {
    let (mut low, mut high) = (1, 1 << 29);
    let least = number(low);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if number(middle) == least { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_found() {
        let sizes = Sizes { tile: 100, chunks: 4, longest: 32 };
        let size = |n| Size { capacity: 1000, n, k: n / 2 };
        let cases = [(size(1), 1), (size(100), 1), (size(101), 2), (size(1000), 10)];
        let of = |of| Count::of(of);
        let fit = |candidates: &[Base]| {
            fitting("it", sizes, candidates.iter().cloned().map(of), &cases, |number| number).of
        };
        assert_eq!(fit(&[Base::One, Base::Chunks, Base::Blocks([101]), Base::Tiles]), Base::Tiles);
        assert!(std::panic::catch_unwind(|| fit(&[Base::One, Base::Blocks([101])])).is_err());
        // Chunks of three tiles.
        assert_eq!(of(Base::Chunks).value(sizes, size(301)), 2);
        assert_eq!(of(Base::Parts([10, 4])).value(sizes, size(101)), 4);
        // Two of two to eight elements, and one of nine to sixteen, in tiles of 32.
        assert_eq!(of(Base::Listed(vec![2, 4, 9, 2])).value(sizes, size(18)), 3 + 1);
        assert_eq!(block(|n| u64::from(n.div_ceil(77))), 77);
    }
}
