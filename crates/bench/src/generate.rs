//! Test data: pseudo-random and other sequences, the same on every machine.
//!
//! Element i of a sequence is a function of i, the count and the seed, computed with integers and
//! with float operations that IEEE 754 defines to the bit. Any part can be computed on its own, on
//! any core, and a sequence of any length takes no memory.

use std::ops::Range;

use gpusort_order::{ElementType, Encoding, KeyMap, KeyWords, Word, named};
use half::f16;

use gpusort_base::parallel;
use gpusort_engine::key_buf::KeyBuf;

/// How the elements of a sequence are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Evenly over the whole range of an integer type, or from −1 (included) to 1 (excluded) for
    /// floats.
    Uniform,
    /// Evenly ascending over that range.
    Sorted,
    /// Evenly descending over it.
    Reversed,
    /// Sorted, except that one element in a hundred comes from a random position.
    NearlySorted,
    /// All the same.
    Equal,
    /// Sixteen different elements, evenly distributed.
    FewDistinct,
    /// 1, 2, 3, … with probabilities in proportion to 1, 1/2, 1/3, … up to about the count (Zipf's
    /// law).
    Zipf,
    /// Element i of n is n − i·(1 + [3∣i] + [5∣i] + [7∣i] + [11∣i]), cut to the type's bits.
    Sycl,
}

named!(Distribution, "distribution", {
    Uniform => "uniform",
    Sorted => "sorted",
    Reversed => "reversed",
    NearlySorted => "nearly-sorted",
    Equal => "equal",
    FewDistinct => "few-distinct",
    Zipf => "zipf",
    Sycl => "sycl",
});

/// The type of a sequence's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Numbers of this type.
    Number(ElementType),
    /// Lines of text.
    Text,
}

impl Type {
    /// The name: `text`, or the name of the type of numbers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number(element) => element.name(),
            Self::Text => "text",
        }
    }

    /// The type of the numbers; texts are derived from u64.
    #[must_use]
    pub fn numbers(self) -> ElementType {
        match self {
            Self::Number(element) => element,
            Self::Text => ElementType::U64,
        }
    }

    /// Text, and these types of numbers.
    pub fn all(numbers: impl IntoIterator<Item = ElementType>) -> impl Iterator<Item = Self> {
        numbers.into_iter().map(Self::Number).chain([Self::Text])
    }
}

/// A sequence of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Element type.
    pub element: ElementType,
    /// Distribution of the elements.
    pub distribution: Distribution,
    /// Number of elements.
    pub count: u64,
    /// Selects one of the sequences of this kind.
    pub seed: u64,
}

/// An element of a distribution, before conversion to its type.
enum Value {
    /// Out of 2^64 steps from the lowest to the highest element of the type's range.
    Rank(u64),
    /// An integer.
    Number(i64),
}

impl Sequence {
    /// The keys of `count` elements from number `first` on, mapped for ascending order.
    ///
    /// # Panics
    ///
    /// When there are fewer.
    pub fn keys(&self, first: u64, count: usize) -> KeyBuf<'static> {
        let order = KeyMap::ascending(self.element);
        let bits = |place: usize| self.bits(first + place as u64);
        match self.element.key_words() {
            KeyWords::One => {
                let map = u32::map(order);
                parallel::numbered(count, |place| (bits(place) as u32).key(map)).into()
            }
            KeyWords::Two => {
                let map = u64::map(order);
                parallel::numbered(count, |place| bits(place).key(map)).into()
            }
        }
    }

    /// The bits of element `i`, in the low bits for a smaller type.
    ///
    /// # Panics
    ///
    /// Panics if `i` is beyond the count.
    pub fn bits(&self, i: u64) -> u64 {
        assert!(i < self.count, "element {i} is beyond the count of {}", self.count);
        let value = self.value(i);
        // Only as many bits of a rank as a mantissa holds, so nothing is rounded.
        let float = |mantissa: u32, divided: fn(i64, f64) -> u64| match value {
            Value::Rank(rank) => {
                divided((rank >> (63 - mantissa)) as i64 - (1 << mantissa), (1_u64 << mantissa) as f64)
            }
            Value::Number(number) => divided(number, 1.0),
        };
        match (self.element, &value) {
            (ElementType::F16, _) => float(10, |n, by| f16::from_f64(n as f64 / by).to_bits().into()),
            (ElementType::F32, _) => float(23, |n, by| (n as f32 / by as f32).to_bits().into()),
            (ElementType::F64, _) => float(52, |n, by| (n as f64 / by).to_bits()),
            (element, Value::Rank(rank)) => {
                let sign = u64::from(matches!(element.layout().1, Encoding::Signed)) << 63;
                (rank ^ sign) >> (64 - element.layout().0)
            }
            (element, Value::Number(number)) => *number as u64 & (u64::MAX >> (64 - element.layout().0)),
        }
    }

    /// The texts of `count` elements from number `first` on, each with a line feed. A text has 12 to
    /// 40 lower-case letters, of which the first twelve ascend with the element. In a distribution of
    /// integers, each integer stands for a random text. The type of the elements is ignored.
    ///
    /// # Panics
    ///
    /// When there are fewer.
    pub fn lines(&self, first: u64, count: usize) -> Vec<u8> {
        /// Texts that one core makes at once.
        const PART: usize = 1 << 12;
        let part = |part: Range<usize>| {
            let mut lines = Vec::with_capacity(PART * 28);
            for i in part {
                self.push_text(first + i as u64, &mut lines);
                lines.push(b'\n');
            }
            lines
        };
        parallel::map_parts(parallel::ranges(count, PART), part).concat()
    }

    fn push_text(&self, i: u64, to: &mut Vec<u8>) {
        const LETTERS: u64 = 26;
        const LEADING: u32 = 12;
        const MOST: u64 = 40;
        assert!(i < self.count, "element {i} is beyond the count of {}", self.count);
        let rank = match self.value(i) {
            Value::Rank(rank) => rank,
            Value::Number(number) => mix(number as u64),
        };
        let leading = (u128::from(rank) * u128::from(LETTERS.pow(LEADING))) >> 64;
        let mut push = |digit: u64| to.push(b'a' + (digit % LETTERS) as u8);
        (0..LEADING).rev().for_each(|place| push(leading as u64 / LETTERS.pow(place)));
        let others = mix(rank) % (MOST - u64::from(LEADING) + 1);
        (0..others).for_each(|place| push(mix(rank.wrapping_add(mix(place)))));
    }

    fn value(&self, i: u64) -> Value {
        let n = self.count.max(1);
        let rising = |i: u64| Value::Rank((u128::from(i) * u128::from(u64::MAX) / u128::from(n)) as u64);
        match self.distribution {
            Distribution::Uniform => Value::Rank(self.random(i, 0)),
            Distribution::Sorted => rising(i),
            Distribution::Reversed => rising(n - 1 - i),
            Distribution::NearlySorted => {
                let random = self.random(i, 0);
                rising(if random.is_multiple_of(100) { random / 100 % n } else { i })
            }
            Distribution::Equal => Value::Rank(self.random(0, 0)),
            Distribution::FewDistinct => Value::Rank(self.random(i, 0) >> 60 << 60),
            Distribution::Zipf => Value::Number(self.zipf(i)),
            Distribution::Sycl => {
                let factor = 1 + [3, 5, 7, 11].into_iter().filter(|d| i.is_multiple_of(*d)).count() as u64;
                Value::Number(n.wrapping_sub(i.wrapping_mul(factor)) as i64)
            }
        }
    }

    /// Rejection sampling with a simple distribution that is nowhere smaller: a power of two with
    /// equal probability, then a uniform number from there to the next one. Each number is drawn
    /// with probability 1/power, times 1/powers; 1/number is at most that and at least half of it.
    fn zipf(&self, i: u64) -> i64 {
        // The largest number must fit the signed 32-bit type.
        let powers = (self.count.max(1).ilog2() + 1).min(31);
        let mut draw = 0;
        loop {
            let [which, inside, chance] = [0, 1, 2].map(|more| self.random(i, draw + more));
            let power = 1_u64 << ((u128::from(which) * u128::from(powers)) >> 64);
            let number = power | (inside & (power - 1));
            if u128::from(chance) * u128::from(number) < u128::from(power) << 64 {
                return number as i64;
            }
            draw += 3;
        }
    }

    /// Random numbers for element `i`: `SplitMix64` (G. L. Steele, D. Lea, C. H. Flood, "Fast
    /// splittable pseudorandom number generators", 2014), with a separate stream for each draw of
    /// an element.
    fn random(&self, i: u64, draw: u64) -> u64 {
        let state = mix(self.seed.wrapping_add(mix(draw)));
        mix(state.wrapping_add(i.wrapping_add(1).wrapping_mul(GAMMA)))
    }
}

/// The increment of `SplitMix64`.
pub(crate) const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of `SplitMix64`.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
