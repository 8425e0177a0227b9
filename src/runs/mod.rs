//! Sorted runs: sequences of records that are each in order, in memory or in temporary files, and
//! their merge into one.

#[cfg(feature = "files")]
mod budget;
mod merge;
#[cfg(feature = "files")]
mod spill;
#[cfg(feature = "gpu")]
mod windows;

#[cfg(feature = "files")]
pub use self::budget::Budget;
#[cfg(feature = "files")]
pub(crate) use self::budget::RECORDS;
pub(crate) use self::merge::merge;
#[cfg(feature = "files")]
pub(crate) use self::merge::merge_by;
#[cfg(feature = "files")]
pub use self::spill::Folders;
#[cfg(feature = "files")]
pub(crate) use self::spill::{Spill, Spilled};
#[cfg(feature = "gpu")]
pub(crate) use self::windows::windows;
