//! The algorithms and their variants, by name.

use std::fmt;
use std::str::FromStr;

use crate::names::UnknownName;

/// A sorting network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Batcher's bitonic sort, n·log²n comparisons in log₂n(log₂n+1)/2 steps.
    Bitonic,
    /// Odd-even transposition (brick) sort, n phases of n/2 comparisons between neighbours.
    OddEven,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::Bitonic, Self::OddEven];

    /// The name in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bitonic => "bitonic",
            Self::OddEven => "odd-even",
        }
    }

    /// The variants of this algorithm, the default first.
    #[must_use]
    pub fn variants(self) -> &'static [Variant] {
        match self {
            Self::Bitonic => &[Variant::Fused, Variant::LocalGlobal, Variant::Transpose, Variant::Naive],
            Self::OddEven => &[Variant::Block, Variant::Naive],
        }
    }

    /// The variant that runs on the CPU, whichever is requested: the steps are the same, and this cut suits caches.
    #[must_use]
    pub fn on_cpu(self) -> Variant {
        match self {
            Self::Bitonic => Variant::LocalGlobal,
            Self::OddEven => Variant::Naive,
        }
    }

    /// The requested variant, or the default.
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

impl FromStr for Algorithm {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        UnknownName::unless_of(&Self::ALL, Self::name, "algorithm", name)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How an algorithm's network is cut into dispatches. [`Algorithm::variants`] lists those of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
}

impl Variant {
    /// Every variant of any algorithm.
    pub const ALL: [Self; 5] = [Self::Fused, Self::LocalGlobal, Self::Transpose, Self::Block, Self::Naive];

    /// The name in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::LocalGlobal => "local-global",
            Self::Transpose => "transpose",
            Self::Block => "block",
            Self::Naive => "naive",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Variant {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        UnknownName::unless_of(&Self::ALL, Self::name, "variant", name)
    }
}

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
        write!(f, "{algorithm} has no variant '{variant}'; it has {}", names.join(", "))
    }
}

impl std::error::Error for NoVariant {}
