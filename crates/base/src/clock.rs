//! Durations, and the clock that measured them.

use std::time::Duration;

/// The host's clock, which in a browser is not the standard library's.
#[cfg(not(target_arch = "wasm32"))]
pub use std::time::Instant;
#[cfg(target_arch = "wasm32")]
pub use web_time::Instant;

/// Where a time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Timestamps that the device wrote before the first and after the last dispatch.
    Gpu,
    /// The host's clock, from before the first submit was recorded until the device reported the
    /// last one done.
    Host,
}

impl Clock {
    /// The name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Host => "host",
        }
    }
}

/// How long something took, and by which clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// The time.
    pub time: Duration,
    /// Where it comes from.
    pub clock: Clock,
}
