//! Sorted runs in temporary files, and the memory that a sort may take.

mod budget;
mod spill;

pub use self::budget::Budget;
pub(crate) use self::budget::RECORDS;
pub use self::spill::Folders;
pub(crate) use self::spill::{Spill, Spilled};
