//! Values in text, and keys that compare as the values do.
//!
//! Each kind of value has a module, which reads a field and makes the key of its value. A key is a
//! 128-bit word, or bytes:
//!
//! | kind | key |
//! |---|---|
//! | number, size | a word; a tail decides between equal words |
//! | time, duration | a word: nanoseconds, attoseconds |
//! | version, hex, month, list, text | bytes |
//!
//! An internal part of `gpusort`: any release may change all of it.

mod decimal;
pub mod digit_words;
mod digits;
pub mod duration;
pub mod hex;
pub mod hilbert;
pub mod json;
pub mod marks;
pub mod names;
pub mod number;
pub mod size;
pub mod survey;
pub mod text_kind;
pub mod time;
pub mod version;
