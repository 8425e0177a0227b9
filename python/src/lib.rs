//! The module `gpusort._gpusort`: the library's part of the Python package. The package prepares arrays
//! and options in Python, and calls this module for all work that takes time.
//!
//! ```text
//! arrays       NumPy arrays through the buffer protocol, sorted in their own memory, row by row
//! caller       the arguments of a call: arrays, order, device, threads
//! arrow        arrays and tables through Arrow's C interface: keys, and rows at positions
//! device       the CPU, a GPU, or the faster of both by estimate
//! files        sorts, checks and merges of files
//! distributed  one process's part in a sort by several processes
//! errors       errors as Python exceptions
//! ```
//!
//! Long work runs without the interpreter lock.

// Functions take the Python side's arguments one by one, as values.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]

mod arrays;
mod arrow;
mod caller;
mod device;
mod distributed;
mod errors;
mod files;

use pyo3::prelude::*;

/// The functions behind the Python package, for its use alone.
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
    use super::files::{check_file, checksum, sort_file};

    /// The number of bytes of the inputs that decide the format and the kinds of keys.
    #[pymodule_export]
    const LOOKED: usize = gpusort::files::distributed::LOOKED;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
