//! Durations, and the clock that measured them.

use std::time::Duration;

/// The host's clock, which in a browser is not the standard library's.
#[cfg(not(target_arch = "wasm32"))]
pub use std::time::Instant;
#[cfg(target_arch = "wasm32")]
pub use web_time::Instant;

/// Does this work, and adds its time to a total.
pub fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    *total += start.elapsed();
    done
}

/// The source of a measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Timestamps that the device wrote before the first and after the last dispatch.
    Gpu,
    /// The host's clock, from before the first submit was recorded until the device reported the
    /// last one done.
    Host,
}

impl Clock {
    /// Returns the name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Host => "host",
        }
    }
}

/// A measured time and its clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// The time.
    pub time: Duration,
    /// The clock that measured the time.
    pub clock: Clock,
}
