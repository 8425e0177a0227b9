//! Formats and files: bytes into keys and records, and these back into bytes.

#[cfg(feature = "arrow")]
pub(crate) mod arrow;
pub(crate) mod batch;
pub mod binary;
pub(crate) mod chunks;
pub mod compression;
mod counts;
pub mod csv;
pub(crate) mod decide;
pub mod extension;
pub(crate) mod frames;
pub(crate) mod keys;
pub mod npy;
mod number;
pub mod ordered;
pub mod output;
pub(crate) mod packing;
pub(crate) mod piece;
pub(crate) mod print;
pub mod records;
pub mod source;
pub(crate) mod spelling;
pub mod text;
pub(crate) mod texts;

pub use batch::{InputKind, InputSpec, Stretches};
pub use compression::Compression;
pub use counts::Counts;
pub use extension::Extension;
pub use number::PerLine;
pub use output::Output;
pub(crate) use packing::Words;
pub use records::Print;
pub use source::{Input, LineEnd, Text};
pub(crate) use texts::ties::Ties;
