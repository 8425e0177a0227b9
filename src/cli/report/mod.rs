//! Reports of the command during its work and after it.

pub(super) mod explain;
pub(super) mod progress;
pub(super) mod timing;
