//! Sorting, checking and merging files, tables and lines: what the command does, as calls.
//!
//! ```
//! use gpusort::files::{Check, Key, Sort};
//!
//! # fn main() -> Result<(), gpusort::Error> {
//! let mut sorted = Vec::new();
//! let report = Sort::new()
//!     .input("fixtures/sales.csv")
//!     .key(Key::column("price").descending())
//!     .key("id")
//!     .write_to(&mut sorted)?;
//! assert_eq!((report.records, report.counts.empty), (8, 1));
//! assert!(sorted.starts_with(b"id,item,price\n2,desk,249\n"));
//!
//! let found = Check::new().input("fixtures/elevations.txt").run()?;
//! println!("{}", found.disorder().expect("they are not in order"));
//! # Ok(())
//! # }
//! ```
//!
//! Inputs are files, readers, or bytes in memory: text, lines, CSV, TSV, JSON Lines, `.npy`, raw binary,
//! Parquet or Arrow, recognized by their names or first lines unless [`format`](Sort::format) names the
//! format. Inputs larger than memory are sorted in temporary files. Nothing here parses arguments,
//! handles signals or ends the process. Results and output files are the same as from the command.

mod check;
mod dataset;
mod decide;
#[cfg(feature = "distributed")]
pub mod distributed;
mod external;
mod job;
#[cfg(feature = "cli")]
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

pub use self::check::{Check, Checked};
pub use self::decide::Note;
pub use self::external::{External, Records};
#[cfg(feature = "cli")]
pub(crate) use self::lines::order_lines;
pub use self::merge::Merge;
pub use self::options::Options;
pub use self::progress::{Phase, Progress};
pub use self::report::{Explained, ExplainedKey, Phases, Report};
pub use self::sort::Sort;
pub use crate::cancel::Cancel;
pub use crate::external::Disorder;
pub use crate::format::Format;
pub use crate::io::fields::{Key, Kind};
pub use crate::io::{Counts, Input, Output, Respelled};
pub use crate::order::{Invalid, Nulls};

/// Further items for the command, tests and fuzzing. Any release may change them.
#[doc(hidden)]
pub mod internal {
    pub use super::dataset::write_keys;
    pub use super::job::{ChooseSorter, Chosen, Expected, Job, Loaded, To};
    pub use crate::io::compression::Reader as Decompressor;
    #[cfg(feature = "distributed")]
    pub use crate::io::compression::of_beginning as compression_of;
    pub use crate::io::npy::Header;
    pub use crate::io::output::{Exit, end_process, remove_temporary, stdout_is_open};
    pub use crate::io::{Compression, Extension};

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
        return crate::io::arrow::is_guarded();
        #[cfg(not(feature = "arrow"))]
        false
    }
}
