//! The module `gpusort._gpusort`: the library for the Python package, which prepares arrays and
//! options in Python and calls this for all that takes time.
//!
//! ```text
//! arrays   NumPy's, by the buffer protocol: sorted in their memory, rows of the last axis on their own
//! caller   what a call brings: arrays, order, device, threads
//! arrow    arrays and tables of Arrow's C interface: keys, and rows at positions
//! device   the CPU, a GPU, or the faster of the two by estimate
//! files    sorts, checks and merges of files
//! distributed  one process's part in a sort of several
//! ```
//!
//! Long work runs without the interpreter's lock.

// Functions get what Python's side passes, one by one and as values.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]

mod arrays;
mod arrow;
mod caller;
mod device;
mod distributed;
mod errors;
mod files;

use pyo3::prelude::*;

/// The functions that the Python package is made of; for itself alone.
#[pymodule]
mod _gpusort {
    #[pymodule_export]
    use super::arrays::{argtop, is_sorted, lexsort, sort, top};
    #[pymodule_export]
    use super::arrow::{ArrowArray, ArrowTable};
    #[pymodule_export]
    use super::device::{Device, after_fork, devices};
    #[pymodule_export]
    use super::distributed::{Task, is_packed, unpacked};
    #[pymodule_export]
    use super::files::{check_file, sort_file};

    /// The number of bytes of the inputs that decide the format and the kinds of keys.
    #[pymodule_export]
    const LOOKED: usize = gpusort::files::distributed::LOOKED;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
