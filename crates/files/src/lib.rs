//! Sorting, checking and merging of files, tables and lines within a budget of memory; and of rows in memory
//! by several columns.
//!
//! ```text
//! Input -> decisions -> batches of records and keys -> engine -> sorted runs -> merge -> Output
//! ```

mod answers;
mod check;
pub mod columns;
mod dataset;
mod decide;
#[cfg(feature = "distributed")]
pub mod distributed;
mod external;
mod job;
mod lines;
mod merge;
mod options;
mod parts;
mod progress;
mod report;
mod runs;
mod sort;
#[cfg(feature = "arrow")]
mod tables;
#[cfg(feature = "distributed")]
mod tally;

pub use self::answers::Count;
pub use self::check::{Check, Checked};
pub use self::decide::Note;
pub use self::external::{External, Records};
pub use self::merge::Merge;
pub use self::options::Options;
pub use self::progress::{Phase, Progress};
pub use self::report::{Explained, ExplainedKey, Phases, Report};
pub use self::sort::Sort;
pub use gpusort_base::cancel::Cancel;
pub use gpusort_base::format::Format;
pub use gpusort_external::Disorder;
pub use gpusort_formats::fields::{Key, Kind};
pub use gpusort_formats::{Counts, Input, Output, Respelled};
pub use gpusort_order::{Invalid, Nulls};

/// For [`by_element`].
#[cfg(feature = "arrow")]
#[doc(hidden)]
pub use {gpusort_order::key::ElementType, half};

// For the command, tests and fuzzing alone.
pub use self::dataset::write_keys;
// Hidden, so that the public interface of a sorter lacks the trait.
#[doc(hidden)]
pub use self::job::{ChooseSorter, Chosen, Expected, Job, Loaded, To};
pub use self::lines::order_lines;
pub use gpusort_formats::compression::Reader as Decompressor;
#[cfg(feature = "distributed")]
pub use gpusort_formats::compression::of_beginning as compression_of;
pub use gpusort_formats::npy::Header;
pub use gpusort_formats::output::{Exit, Temporary, end_process, remove_temporary, stdout_is_open};
pub use gpusort_formats::{Compression, Extension};

/// Returns a checksum of a whole file: the xxh3 of its bytes.
///
/// # Errors
///
/// I/O errors.
pub fn checksum(file: &std::path::Path) -> std::io::Result<u64> {
    let mut from = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(file)?);
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    std::io::copy(&mut from, &mut hash)?;
    Ok(hash.digest())
}

/// Returns true if a panic of this thread is caught and becomes the error of a damaged input.
#[must_use]
pub fn is_guarded() -> bool {
    #[cfg(feature = "arrow")]
    return gpusort_formats::arrow::is_guarded();
    #[cfg(not(feature = "arrow"))]
    false
}
