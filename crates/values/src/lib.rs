//! Values in text, and keys that compare as the values do.
//!
//! A key is a word and further bytes: keys compare by the word, and keys with equal words by the
//! bytes. Most values need no further bytes.
//!
//! An internal part of `gpusort`: any release may change all of it.

pub mod number;
