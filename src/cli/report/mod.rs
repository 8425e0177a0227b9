//! What the command tells while it works, and afterwards.

pub(super) mod explain;
pub(super) mod progress;
pub(super) mod timing;
