//! Sorted runs in temporary files, and the memory that a sort may take.

mod spill;

pub use gpusort_formats::budget::Budget;

pub use self::spill::Folders;
pub(crate) use self::spill::Spill;
#[cfg(feature = "arrow")]
pub(crate) use self::spill::Spilled;
