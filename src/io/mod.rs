//! Reading numbers and writing them: bytes into keys, keys or the records they stand for into bytes.

pub mod binary;
pub mod csv;
mod infer;
pub mod npy;
mod number;
pub mod ordered;
pub mod output;
mod print;
pub mod records;
pub mod rules;
pub mod source;
pub mod stream;
pub mod text;

pub use csv::Table;
pub use output::Output;
pub use records::{Records, Spelling, Start, Starts};
pub use rules::{Counts, Direction, Place, Rules};
pub use source::{Input, Memory, Text};
