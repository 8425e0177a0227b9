//! What to sort with, as a caller asks for it.

use crate::algorithm::{Algorithm, Variant};

/// What to sort with. Left open, both are the device's best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// The algorithm; `None` is the CPU's fast sort there, and the faster of bitonic and radix on a
    /// GPU. [`Algorithm::Radix`] is the fast sort on the CPU, too.
    pub algorithm: Option<Algorithm>,
    /// Its variant; `None` is the algorithm's default on the device. The CPU has none: a network is
    /// a network there.
    pub variant: Option<Variant>,
}
