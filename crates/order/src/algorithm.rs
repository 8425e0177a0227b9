//! The algorithms and their variants, by name.

use std::fmt;

use crate::named;

/// A way to sort that has plans: a sorting network, or the radix sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// Batcher's bitonic sort, n·log²n comparisons in log₂n(log₂n+1)/2 steps.
    Bitonic,
    /// Odd-even transposition (brick) sort, n phases of n/2 comparisons between neighbours.
    OddEven,
    /// Least significant digit first radix sort, a pass over the data for each digit.
    Radix,
}

named!(Algorithm, "algorithm", {
    Bitonic => "bitonic",
    OddEven => "odd-even",
    Radix => "radix",
});

impl Algorithm {
    /// The variants of this algorithm, first the default of most devices.
    pub fn variants(self) -> &'static [Variant] {
        match self {
            Self::Bitonic => &[Variant::Fused, Variant::LocalGlobal, Variant::Transpose, Variant::Naive],
            Self::OddEven => &[Variant::Block, Variant::Naive],
            Self::Radix => &[Variant::Onesweep, Variant::ReduceScan, Variant::Leading],
        }
    }

    /// The variant of the network that runs on the CPU, whichever is requested: the steps are the
    /// same, and this cut suits caches. `None` is the CPU's own fast sort.
    pub fn on_cpu(self) -> Option<Variant> {
        match self {
            Self::Bitonic => Some(Variant::LocalGlobal),
            Self::OddEven => Some(Variant::Naive),
            Self::Radix => None,
        }
    }

    /// Whether it is a sorting network.
    pub fn is_network(self) -> bool {
        self.on_cpu().is_some()
    }

    /// The requested variant, or the first.
    ///
    /// # Errors
    ///
    /// The algorithm has no such variant.
    pub fn variant(self, asked: Option<Variant>) -> Result<Variant, NoVariant> {
        let variant = asked.unwrap_or(self.variants()[0]);
        if self.variants().contains(&variant) {
            Ok(variant)
        } else {
            Err(NoVariant { algorithm: self, variant })
        }
    }
}

/// How an algorithm is cut into dispatches. [`Algorithm::variants`] lists those of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// Tiles in registers and workgroup memory, and several steps of larger strides per dispatch.
    Fused,
    /// Tiles in workgroup memory, and one dispatch per step whose stride exceeds a tile.
    LocalGlobal,
    /// Tiles in workgroup memory, and for larger strides the same on the transposed array.
    Transpose,
    /// Blocks merged with their left and right neighbour in turn.
    Block,
    /// One dispatch per step.
    Naive,
    /// Tiles distributed in one pass per digit, each to places found by look-back.
    Onesweep,
    /// Digits counted before each pass that distributes tiles.
    ReduceScan,
    /// Passes as those of `onesweep` for the leading digits alone, and windows finished in workgroups.
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
