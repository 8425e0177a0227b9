//! Progress, and ending work early.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How far a phase of the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The phase.
    pub phase: Phase,
    /// How much of it is done, in the unit of the phase.
    pub done: u64,
    /// How much there is in all, if that is known.
    pub total: Option<u64>,
}

/// A phase of the work, and what it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Reading: bytes.
    Read,
    /// Making keys of text: nothing is counted.
    Parse,
    /// Ordering: passes, once they are planned.
    Order,
    /// Writing: records.
    Write,
    /// Merging runs, or sorted inputs: records.
    Merge,
}

/// Receives progress from any thread.
pub(crate) type Tell<'a> = dyn Fn(Progress) + Send + Sync + 'a;

/// Tells of phases one after another.
#[derive(Default)]
pub(crate) struct Watch<'a> {
    tell: Option<Box<Tell<'a>>>,
    now: Mutex<Option<Progress>>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(tell: Option<Box<Tell<'a>>>) -> Self {
        Self { tell, now: Mutex::new(None) }
    }

    /// A phase begins, with this total of what it counts, if known.
    pub(crate) fn phase(&self, phase: Phase, total: Option<u64>) {
        if let Some(tell) = &self.tell {
            let progress = Progress { phase, done: 0, total };
            *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
            tell(progress);
        }
    }

    /// This much of the total is done.
    pub(crate) fn set(&self, done: u64) {
        if let Some(tell) = &self.tell {
            let now = *self.now.lock().unwrap_or_else(PoisonError::into_inner);
            now.into_iter().for_each(|now| tell(Progress { done, ..now }));
        }
    }
}

/// Ends work early: reads and writes that come after it fail with [`Cancelled`](crate::ErrorKind::Cancelled).
///
/// ```
/// let cancel = gpusort::files::Cancel::new();
/// cancel.cancel();
/// let cancelled = gpusort::files::Check::new().input("fixtures/sales.csv").cancel(&cancel).run();
/// assert!(matches!(cancelled.unwrap_err().kind(), gpusort::ErrorKind::Cancelled));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Of work that goes on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the work.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work is to end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    ///
    /// The work is to end.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.is_cancelled() { Err(io::Error::other(Cancelled)) } else { Ok(()) }
    }
}

/// Equal if they are the same.
impl PartialEq for Cancel {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cancel {}

/// Cancels by a flag that the caller has already.
impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

/// The cause of an I/O error that is none.
#[derive(Debug)]
pub(crate) struct Cancelled;

impl std::fmt::Display for Cancelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Cancelled {}
