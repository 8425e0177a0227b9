//! Progress of a sort.

use std::sync::Mutex;

use gpusort_base::parallel::lock;

/// The progress of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The phase.
    pub phase: Phase,
    /// The amount done, in the unit of the phase.
    pub done: u64,
    /// The total amount, if known.
    pub total: Option<u64>,
}

/// A phase of the work, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Reading: bytes.
    Read,
    /// Making keys of text: without a unit.
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

/// Reports phases one after another.
#[derive(Default)]
pub(crate) struct Watch<'a> {
    tell: Option<Box<Tell<'a>>>,
    now: Mutex<Option<Progress>>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(tell: Option<Box<Tell<'a>>>) -> Self {
        Self { tell, now: Mutex::new(None) }
    }

    /// Begins a phase with this total amount, if known.
    pub(crate) fn phase(&self, phase: Phase, total: Option<u64>) {
        if let Some(tell) = &self.tell {
            let progress = Progress { phase, done: 0, total };
            *lock(&self.now) = Some(progress);
            tell(progress);
        }
    }

    /// Begins the phase of ordering, and returns a function that receives passes done and in all.
    pub(crate) fn passes(&self) -> impl FnMut(u64, u64) {
        self.phase(Phase::Order, None);
        let mut total = None;
        move |done, passes| {
            if total.replace(passes) != Some(passes) {
                self.phase(Phase::Order, Some(passes));
            }
            self.set(done);
        }
    }

    /// Sets the amount done.
    pub(crate) fn set(&self, done: u64) {
        if let Some(tell) = &self.tell {
            let now = *lock(&self.now);
            now.into_iter().for_each(|now| tell(Progress { done, ..now }));
        }
    }
}
