//! The algorithm and the variant that a caller requests.

use crate::algorithm::{Algorithm, Variant};

/// The requested algorithm and variant. A missing choice means the device's best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// The algorithm; `None` means the fast sort on the CPU, and the faster of bitonic and radix on a
    /// GPU. On the CPU, [`Algorithm::Radix`] is the fast sort, too.
    pub algorithm: Option<Algorithm>,
    /// The variant; `None` means the algorithm's default on the device. The CPU has no variants: it runs
    /// one form of each network.
    pub variant: Option<Variant>,
}
