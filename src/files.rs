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
//! Parquet or Arrow, recognised by their names or first lines unless [`format`](Sort::format) names the
//! format. Inputs larger than memory are sorted in temporary files. Nothing here parses arguments,
//! handles signals or ends the process. Results and output files are the same as from the command.

#[cfg(feature = "distributed")]
pub mod distributed {
    //! The tasks of a sort by several processes, on one machine or many. The caller starts the
    //! processes and moves bytes between them.
    //!
    //! ```text
    //! inputs ── sample ──> splitters ┐
    //! stretches of inputs ── map ──> runs, with one range for each part ┐
    //!                                    one range of every run ── reduce ──> a part of the output
    //! ```
    //!
    //! A splitter is a key and a location among the records with this key: the task that reads a
    //! record, and the approximate position in the task's input. So the parts, concatenated, equal the
    //! output of one process, and records with one key may be in several parts.

    pub use gpusort_files::distributed::{
        Before, LOOKED, Looked, Mapped, MappedRun, RunRange, Source, Splitter, Stretch, Tally, Task,
    };
}

pub use gpusort_files::{
    Cancel, Check, Checked, Count, Counts, Disorder, Explained, ExplainedKey, External, Format, Input,
    Invalid, Key, Kind, Merge, Note, Nulls, Options, Output, Phase, Phases, Progress, Records, Report,
    Respelled, Sort,
};
