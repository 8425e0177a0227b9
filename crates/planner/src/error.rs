//! Why something cannot be planned.

use std::fmt;
use std::ops::RangeInclusive;

use crate::algorithm::NoVariant;

/// Why there is no such plan, or none for a device with such limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// It takes more than there may be.
    TooLarge {
        /// What it takes.
        what: &'static str,
        /// How much of that it takes.
        needed: u64,
        /// The most there may be.
        limit: u64,
    },
    /// There is less than it takes.
    TooSmall {
        /// What there is.
        what: &'static str,
        /// How much of that there is.
        there: u64,
        /// The least there must be.
        least: u64,
    },
    /// The device has no such thing.
    Lacks {
        /// What that is.
        what: &'static str,
    },
    /// Parts that do not go together, whatever the device.
    Impossible {
        /// What is wrong with them.
        what: &'static str,
    },
    /// The algorithm has no such variant.
    NoVariant(NoVariant),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { what, needed, limit } => {
                write!(f, "too large: {needed} {what} needed, {limit} is the limit")
            }
            Self::TooSmall { what, there, least } => {
                write!(f, "too small: {there} {what} where {least} is the least")
            }
            Self::Lacks { what } => write!(f, "the device has no {what}"),
            Self::Impossible { what } => write!(f, "there is no such plan: {what}"),
            Self::NoVariant(none) => none.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<NoVariant> for Error {
    fn from(none: NoVariant) -> Self {
        Self::NoVariant(none)
    }
}

/// Checks that no amount exceeds its limit.
///
/// # Errors
///
/// The first of these that takes more than there may be.
pub fn at_most<const N: usize>(limits: [(&'static str, u64, u64); N]) -> Result<(), Error> {
    match limits.into_iter().find(|(_, needed, limit)| needed > limit) {
        Some((what, needed, limit)) => Err(Error::TooLarge { what, needed, limit }),
        None => Ok(()),
    }
}

/// Checks that there is enough of each.
///
/// # Errors
///
/// The first of these of which there is less than it takes.
pub(crate) fn at_least<const N: usize>(limits: [(&'static str, u64, u64); N]) -> Result<(), Error> {
    match limits.into_iter().find(|(_, there, least)| there < least) {
        Some((what, there, least)) => Err(Error::TooSmall { what, there, least }),
        None => Ok(()),
    }
}

/// Checks that a value is within a range.
///
/// # Errors
///
/// A value outside the range.
pub(crate) fn within(what: &'static str, value: u32, range: RangeInclusive<u32>) -> Result<(), Error> {
    at_least([(what, value.into(), (*range.start()).into())])?;
    at_most([(what, value.into(), (*range.end()).into())])
}

/// Refuses what does not go together.
///
/// # Errors
///
/// The first of these that is the case.
pub(crate) fn refuse_if<const N: usize>(cases: [(&'static str, bool); N]) -> Result<(), Error> {
    match cases.into_iter().find(|(_, is_so)| *is_so) {
        Some((what, _)) => Err(Error::Impossible { what }),
        None => Ok(()),
    }
}

/// Checks that all that is needed is there.
///
/// # Errors
///
/// The first of these that is needed and not there.
pub(crate) fn has<const N: usize>(features: [(&'static str, bool, bool); N]) -> Result<(), Error> {
    match features.into_iter().find(|(_, needed, there)| *needed && !there) {
        Some((what, ..)) => Err(Error::Lacks { what }),
        None => Ok(()),
    }
}
