//! Reading numbers and writing them: bytes into keys, keys or the records they stand for into bytes.

pub mod binary;
mod number;
pub mod output;
mod parallel;
pub mod records;
pub mod source;
pub mod text;

pub use output::Output;
pub use records::{Records, Spelling, Start, Starts};
pub use source::{Input, Text};
