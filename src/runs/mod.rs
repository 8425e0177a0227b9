//! Sorted runs: sequences of records that are each in order, in memory or in temporary files, and their merge into one.

mod budget;
mod merge;
mod spill;
mod windows;

pub use self::budget::Budget;
pub(crate) use self::budget::RECORDS;
pub(crate) use self::merge::{merge, merge_by};
pub use self::spill::Folders;
pub(crate) use self::spill::{Spill, Spilled};
pub(crate) use self::windows::windows;
