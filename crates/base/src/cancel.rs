//! A flag that lets a caller end work early.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, ErrorKind};

/// Ends work early: later reads and writes fail with [`Cancelled`](ErrorKind::Cancelled).
///
/// ```
/// # std::env::set_current_dir("../..").unwrap();
/// let cancel = gpusort::files::Cancel::new();
/// cancel.cancel();
/// let cancelled = gpusort::files::Check::new().input("fixtures/sales.csv").cancel(&cancel).run();
/// assert!(matches!(cancelled.unwrap_err().kind(), gpusort::ErrorKind::Cancelled));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Returns a flag for work that goes on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the work.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the work is to end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Checks that the work may go on.
    ///
    /// # Errors
    ///
    /// Fails if the work is to end.
    #[doc(hidden)]
    pub fn check(&self) -> io::Result<()> {
        if self.is_cancelled() { Err(io::Error::other(Error::new(ErrorKind::Cancelled))) } else { Ok(()) }
    }
}

/// Cancels by an existing flag of the caller.
impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}
