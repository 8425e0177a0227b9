//! Formats and files: bytes into keys and records, and these back into bytes.

pub(crate) mod batch;
pub mod binary;
pub(crate) mod chunks;
pub mod compression;
mod counts;
pub mod csv;
#[cfg_attr(not(test), expect(dead_code, reason = "kinds of keys are not wired yet"))]
mod duration;
pub mod extension;
pub mod first_line;
pub(crate) mod frames;
#[cfg_attr(not(test), expect(dead_code, reason = "kinds of keys are not wired yet"))]
mod hex;
pub(crate) mod infer;
pub(crate) mod keys;
#[cfg_attr(not(test), expect(dead_code, reason = "kinds of keys are not wired yet"))]
mod marks;
pub mod npy;
mod number;
pub mod ordered;
pub mod output;
mod packing;
pub(crate) mod piece;
pub(crate) mod print;
pub mod records;
mod size;
pub mod source;
pub mod text;
mod texts;
mod time;
#[cfg_attr(not(test), expect(dead_code, reason = "kinds of keys are not wired yet"))]
mod time_format;
#[cfg_attr(not(test), expect(dead_code, reason = "kinds of keys are not wired yet"))]
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
