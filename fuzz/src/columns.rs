//! Parquet and Arrow, damaged or not: an error, or the same rows in all memory and in little.

use gpusort::Format;
use gpusort::files::{Input, Key, Options};

use crate::choices::Choices;
use crate::library;
use crate::pipeline::{self, Ask};
use crate::{Shown, Spoil, same};

/// Bytes of options.
const OPTIONS: usize = 2;

/// # Errors
///
/// The difference between the two sorts.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let format = if data.starts_with(b"PAR1") { Format::Parquet } else { Format::Arrow };
    let (key, descending) = (choices.below(4) + 1, choices.below(2) == 1);
    let options = || {
        let key = if descending { Key::number(key).descending() } else { Key::number(key) };
        Options::new().input(Input::bytes("i0", data)).format(format).key(key)
    };
    // JSON shows the values of every type.
    let ask = Ask { to: Some(Format::JsonLines), ..Ask::default() };
    let mut whole = library::sort(options(), ask).map(|sorted| sorted.bytes);
    let parts = pipeline::sort_in_parts(options(), ask, 1).map(|(sorted, _)| sorted.bytes);
    spoil(&mut whole);
    same(&(format, key, descending, Shown(&[data])), &whole, &parts)
}
