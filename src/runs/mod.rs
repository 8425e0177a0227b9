//! Sorted runs: sequences of keys that are each in order, and their merge into one.

mod merge;

pub(crate) use self::merge::merge;
