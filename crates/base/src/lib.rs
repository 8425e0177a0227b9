//! What every part of gpusort needs: errors with remedies, work on all cores, memory, the clock,
//! cancellation, reports, and text that is safe to print.
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
