//! The foundation of every part of gpusort: errors with remedies, work on all cores, memory, the clock,
//! cancellation, reports, and safe printing of text.
//!
//! An internal part of `gpusort`: any release may change all of it.

pub mod cancel;
pub mod clock;
pub mod device;
pub mod error;
pub mod format;
pub mod human;
pub mod memory;
pub mod parallel;
pub mod report;
