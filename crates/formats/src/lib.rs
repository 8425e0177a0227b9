//! Formats and files: bytes into keys and records, and these back into bytes.
//!
//! ```text
//! input, opened, compression      inputs
//! text, chunks, budget            their text, in chunks that fit a budget
//! fields, json, numbers           the formats of text
//! binary, npy, arrow              the other formats
//! keys, packing                   keys, and the words that a sort takes
//! piece, places, batch            records with their keys
//! output                          output files
//! ```
//!
//! An internal part of `gpusort`: any release may change all of it.

// Values that nobody uses are noticed where all callers are known.
#![allow(clippy::return_self_not_must_use, clippy::len_without_is_empty)]

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod batch;
pub mod binary;
pub mod blanks;
pub mod budget;
pub mod chunks;
pub mod compression;
pub mod counts;
pub mod extension;
pub mod fields;
pub mod file;
pub mod input;
pub mod json;
pub mod keys;
pub mod npy;
pub mod number;
pub mod numbers;
pub mod output;
pub mod packing;
pub mod piece;
pub mod places;
pub mod records;
pub mod text;

pub use batch::Stretches;
pub use compression::Compression;
pub use counts::{Counts, Respelled};
pub use extension::Extension;
pub use fields::{InputKind, InputSpec};
use gpusort_base::{cancel, clock, error, format, human, memory, parallel};
use gpusort_cpu as cpu;
use gpusort_engine::key_buf;
use gpusort_order as order;
pub use gpusort_values::survey::spelling;
pub use input::Input;
pub use number::PerLine;
pub use output::{Output, ParquetLayout};
pub use packing::{Ties, Words};
pub use records::Print;
pub use text::{LineEnd, Text};
