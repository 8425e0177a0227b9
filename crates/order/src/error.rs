//! Errors of plans.

use std::fmt;
use std::ops::RangeInclusive;

use crate::algorithm::NoVariant;

/// The reason why a sort has no plan, in general or for these limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The plan needs more than the limit.
    TooLarge {
        /// The counted quantity.
        what: &'static str,
        /// The amount that the plan needs.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// The available amount is less than the plan needs.
    TooSmall {
        /// The counted quantity.
        what: &'static str,
        /// The available amount.
        there: u64,
        /// The least sufficient amount.
        least: u64,
    },
    /// The device lacks a feature.
    Lacks {
        /// The feature.
        what: &'static str,
    },
    /// The plan is invalid on every device.
    Impossible {
        /// The rule that it breaks.
        what: &'static str,
    },
    /// The algorithm has no such variant.
    NoVariant(NoVariant),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { what, needed, limit } => {
                write!(f, "more than {limit} {what} ({needed} needed)")
            }
            Self::TooSmall { what, there, least } => write!(f, "fewer than {least} {what} ({there} given)"),
            Self::Lacks { what } => write!(f, "the device has no {what}"),
            Self::Impossible { what } => write!(f, "the plan is invalid: {what}"),
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
/// The first amount above its limit.
pub fn at_most<const N: usize>(limits: [(&'static str, u64, u64); N]) -> Result<(), Error> {
    let above = limits.into_iter().find(|(_, needed, limit)| needed > limit);
    above.map_or(Ok(()), |(what, needed, limit)| Err(Error::TooLarge { what, needed, limit }))
}

/// Checks that no amount is below its least.
///
/// # Errors
///
/// The first amount below its least.
pub fn at_least<const N: usize>(limits: [(&'static str, u64, u64); N]) -> Result<(), Error> {
    let below = limits.into_iter().find(|(_, there, least)| there < least);
    below.map_or(Ok(()), |(what, there, least)| Err(Error::TooSmall { what, there, least }))
}

/// Checks that a value is within a range.
///
/// # Errors
///
/// A value outside the range.
pub fn in_range(what: &'static str, value: u32, range: RangeInclusive<u32>) -> Result<(), Error> {
    at_least([(what, value.into(), (*range.start()).into())])?;
    at_most([(what, value.into(), (*range.end()).into())])
}

/// Checks that no rule is broken.
///
/// # Errors
///
/// The first broken rule.
pub fn refuse_if<const N: usize>(cases: [(&'static str, bool); N]) -> Result<(), Error> {
    let broken = cases.into_iter().find(|(_, is_broken)| *is_broken);
    broken.map_or(Ok(()), |(what, _)| Err(Error::Impossible { what }))
}

/// Checks that the device has every needed feature.
///
/// # Errors
///
/// The first missing feature.
pub fn has<const N: usize>(features: [(&'static str, bool, bool); N]) -> Result<(), Error> {
    let missing = features.into_iter().find(|(_, needed, there)| *needed && !there);
    missing.map_or(Ok(()), |(what, ..)| Err(Error::Lacks { what }))
}
