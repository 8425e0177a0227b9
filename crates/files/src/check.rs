//! Checks whether inputs are in order.

use super::job::Job;
use super::options::{Options, has_options};
use super::progress::{Phase, Progress};
use super::sort::Sort;
use gpusort_base::error::Error;
use gpusort_external::Disorder;
use gpusort_formats::{Input, Stretches};

/// A check of the order of inputs, which count as one.
///
/// ```
/// use gpusort::files::{Check, Input};
///
/// let found = Check::new().input(Input::bytes("numbers", b"1\n3\n2\n")).run()?;
/// let disorder = found.disorder().expect("2 is after 3");
/// assert_eq!(disorder.to_string(), "numbers:3: out of order: 2 after 3");
/// # Ok::<(), gpusort::Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct Check<'a>(Sort<'a>);

has_options!(Check<'_>, self => self.0.options);

impl<'a> Check<'a> {
    /// Calls `tell` as the work progresses.
    pub fn progress(self, tell: impl Fn(Progress) + Send + Sync + 'a) -> Self {
        Self(self.0.progress(tell))
    }

    /// Sets the bytes that all cores check together, and the bytes that one core checks.
    #[doc(hidden)]
    pub fn stretches(mut self, most: usize, piece: usize) -> Self {
        self.0.options.stretches = Stretches { most, piece: Some(piece) };
        self
    }

    /// Reads the inputs up to the first record out of order.
    ///
    /// # Errors
    ///
    /// An invalid option; an error of an input before that record.
    pub fn run(self) -> Result<Checked, Error> {
        self.0.resolve(None)?.check()
    }
}

impl Job<'_> {
    /// Checks the inputs instead of sorting them.
    ///
    /// # Errors
    ///
    /// See [`Check::run`].
    pub fn check(&self) -> Result<Checked, Error> {
        #[cfg(feature = "arrow")]
        if self.decisions.format.has_columns() {
            return self.check_tables().map(Checked);
        }
        let (inputs, unique) = (&self.inputs, self.ask.selection.unique);
        self.watch.phase(Phase::Read, inputs.iter().map(Input::size).sum());
        let progress = |done| self.watch.set(done);
        gpusort_external::check(inputs, &self.decisions.how, unique, self.stretches, progress).map(Checked)
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked(Option<Disorder>);

impl Checked {
    /// Returns true if all records are in order.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the first record out of order.
    #[must_use]
    pub fn disorder(&self) -> Option<&Disorder> {
        self.0.as_ref()
    }
}
