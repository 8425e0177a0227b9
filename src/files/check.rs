//! Whether inputs are in order.

use super::options::{Options, Resolved, has_options};
use super::plain::Taken;
use super::progress::{Phase, Progress, Tell, Watch};
use crate::error::Error;
use crate::io::ordered::{self, Disorder};
use crate::io::{Input, Stretches};

/// A check whether inputs, as one, are in order.
///
/// ```
/// use gpusort::files::{Check, Input};
///
/// let found = Check::new().input(Input::bytes("numbers", b"1\n3\n2\n")).run()?;
/// let disorder = found.disorder().expect("2 is after 3");
/// assert_eq!(disorder.to_string(), "numbers:3: disorder: 2 after 3");
/// # Ok::<(), gpusort::Error>(())
/// ```
#[derive(Default)]
pub struct Check<'a> {
    options: Options,
    stretches: Stretches,
    tell: Option<Box<Tell<'a>>>,
}

has_options!(Check<'_>, self => self.options);

impl<'a> Check<'a> {
    /// A check without any input yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls this as the work goes on.
    #[must_use]
    pub fn progress(self, tell: impl Fn(Progress) + Send + Sync + 'a) -> Self {
        Self { tell: Some(Box::new(tell)), ..self }
    }

    /// How much is looked at together, and how much of that by one core, in bytes.
    #[doc(hidden)]
    #[must_use]
    pub fn stretches(self, most: usize, piece: usize) -> Self {
        Self { stretches: Stretches { most, piece: Some(piece) }, ..self }
    }

    /// Reads the inputs up to the first record that is out of order.
    ///
    /// # Errors
    ///
    /// What is wrong with an option, or with an input before that record.
    pub fn run(self) -> Result<Checked, Error> {
        self.resolve()?.run()
    }

    /// Decides what the options leave open.
    ///
    /// # Errors
    ///
    /// What is wrong with an option; I/O errors of the first line, where that decides what an input is.
    #[doc(hidden)]
    pub fn resolve(self) -> Result<CheckJob<'a>, Error> {
        let Self { options, stretches, tell } = self;
        Ok(CheckJob { resolved: options.resolve(false)?, stretches, watch: Watch::new(tell) })
    }
}

/// A check, decided.
#[doc(hidden)]
pub struct CheckJob<'a> {
    resolved: Resolved,
    stretches: Stretches,
    watch: Watch<'a>,
}

impl CheckJob<'_> {
    /// What decided between text and lines, if nobody said which it is.
    #[must_use]
    pub fn taken(&self) -> Option<Taken> {
        self.resolved.taken
    }

    /// As [`Check::run`].
    ///
    /// # Errors
    ///
    /// As for that.
    pub fn run(&self) -> Result<Checked, Error> {
        let Resolved { inputs, how, unique, .. } = &self.resolved;
        self.watch.phase(Phase::Read, inputs.iter().map(Input::size).sum());
        ordered::check(inputs, how, *unique, self.stretches, |done| self.watch.set(done)).map(Checked)
    }
}

/// What a check has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked(Option<Disorder>);

impl Checked {
    /// Whether all records are in order.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        self.0.is_none()
    }

    /// The first record that is not.
    #[must_use]
    pub fn disorder(&self) -> Option<&Disorder> {
        self.0.as_ref()
    }
}
