//! The algorithms and their variants, by name.

use std::fmt;

use crate::named;

/// A sorting algorithm with plans: a sorting network or the radix sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// Batcher's bitonic sort: n·log²n comparisons in log₂n(log₂n+1)/2 steps.
    Bitonic,
    /// Odd-even transposition (brick) sort: n phases of n/2 comparisons between neighbours. Not Batcher's
    /// odd-even merge sort, which is another network.
    OddEven,
    /// Least-significant-digit radix sort: one pass over the data per digit.
    Radix,
}

named!(Algorithm, "algorithm", {
    Bitonic => "bitonic",
    OddEven => "odd-even",
    Radix => "radix",
});

impl Algorithm {
    /// Returns the variants of this algorithm; the first is the default of most devices.
    pub fn variants(self) -> &'static [Variant] {
        match self {
            Self::Bitonic => &[Variant::Fused, Variant::LocalGlobal, Variant::Transpose, Variant::Naive],
            Self::OddEven => &[Variant::Block, Variant::Naive],
            Self::Radix => &[Variant::Onesweep, Variant::ReduceScan, Variant::Leading],
        }
    }

    /// Returns the variant of the network that runs on the CPU, regardless of the requested variant: all
    /// variants have equal steps, and this one suits caches. `None` means the CPU's own fast sort.
    pub fn on_cpu(self) -> Option<Variant> {
        match self {
            Self::Bitonic => Some(Variant::LocalGlobal),
            Self::OddEven => Some(Variant::Naive),
            Self::Radix => None,
        }
    }

    /// Returns true for a sorting network.
    pub fn is_network(self) -> bool {
        self.on_cpu().is_some()
    }

    /// Returns the requested variant, or the first if none is requested.
    ///
    /// # Errors
    ///
    /// Fails if the algorithm has no such variant.
    pub fn variant(self, asked: Option<Variant>) -> Result<Variant, NoVariant> {
        let variant = asked.unwrap_or(self.variants()[0]);
        if self.variants().contains(&variant) {
            Ok(variant)
        } else {
            Err(NoVariant { algorithm: self, variant })
        }
    }
}

/// A division of an algorithm into dispatches. [`Algorithm::variants`] lists the variants of each algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// Tiles in registers and workgroup memory, and several steps of larger strides per dispatch.
    Fused,
    /// Tiles in workgroup memory, and one dispatch per step whose stride exceeds a tile.
    LocalGlobal,
    /// Tiles in workgroup memory; larger strides run on the transposed array, also in workgroup memory.
    Transpose,
    /// Blocks merged alternately with their left and right neighbours.
    Block,
    /// One dispatch per step.
    Naive,
    /// One pass per digit distributes tiles to places found by look-back.
    Onesweep,
    /// Digits counted before each pass that distributes tiles.
    ReduceScan,
    /// `onesweep` passes over the leading digits only; workgroups then finish windows.
    Leading,
}

named!(Variant, "variant", {
    Fused => "fused",
    LocalGlobal => "local-global",
    Transpose => "transpose",
    Block => "block",
    Naive => "naive",
    Onesweep => "onesweep",
    ReduceScan => "reduce-scan",
    Leading => "leading",
});

/// The error that an algorithm has no such variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoVariant {
    /// The requested algorithm.
    pub algorithm: Algorithm,
    /// The requested variant.
    pub variant: Variant,
}

impl fmt::Display for NoVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, variant } = self;
        let names: Vec<&str> = algorithm.variants().iter().map(|variant| variant.name()).collect();
        write!(f, "{algorithm} has no variant '{variant}'; choose from {}", names.join(", "))
    }
}

impl std::error::Error for NoVariant {}
