//! Formats and files: bytes into keys and records, and these back into bytes.

#[cfg(feature = "arrow")]
pub(crate) mod arrow;
pub(crate) mod batch;
pub mod binary;
pub(crate) mod chunks;
pub mod compression;
mod counts;
pub mod csv;
mod duration;
pub mod extension;
pub mod first_line;
pub(crate) mod frames;
mod hex;
pub(crate) mod infer;
pub(crate) mod keys;
pub(crate) mod marks;
pub mod npy;
mod number;
pub mod ordered;
pub mod output;
pub(crate) mod packing;
pub(crate) mod piece;
pub(crate) mod print;
pub mod records;
mod size;
pub mod source;
pub(crate) mod spelling;
pub mod text;
pub(crate) mod texts;
mod time;
pub(crate) mod time_format;
mod version;

pub use batch::{InputKind, InputSpec, Stretches};
pub use compression::Compression;
pub use counts::{Counts, Doubt};
pub use extension::Extension;
pub use first_line::{FirstLine, first_line};
pub use number::PerLine;
pub use output::Output;
pub(crate) use packing::Words;
pub use records::Print;
pub use source::{Input, LineEnd, Text};
pub(crate) use texts::ties::Ties;
