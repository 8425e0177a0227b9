//! Sorts lines in memory, as a file of them would be sorted: for benchmarks.

use std::time::Duration;

use super::dataset::{OutputSpec, order_records};
use crate::clock::Instant;
use crate::error::Error;
use crate::format::Format;
use crate::io::batch::Keyed;
use crate::io::fields::{Dialect, Fields, KeySpec, Known, ResolvedKey};
use crate::io::{InputKind, InputSpec, LineEnd, Text};
use crate::order::Selection;
use crate::sorter::{Sorted, Sorter};
use gpusort_order::Method;

/// Sorts lines as text. Returns the order, as positions, and the time taken after the lines are read.
///
/// # Errors
///
/// See [`Sorter::run`].
pub(crate) fn order_lines(
    lines: Vec<u8>,
    sorter: &Sorter,
    method: Method,
) -> Result<(Duration, Sorted), Error> {
    let fields = Fields::Words(LineEnd::Lf);
    let kind = InputKind::Table(Dialect { fields, header: 0, comments: false });
    let by = KeySpec::default();
    let how = InputSpec { kind, keys: vec![ResolvedKey::record(&by)], by, columns: 1 };
    let text = Text::of_one("lines", lines, None, LineEnd::Lf);
    let mut records = Keyed::read(text, &how, &mut Known::default())?;
    let start = Instant::now();
    let words = records.take_words(false);
    let ask = OutputSpec { selection: Selection::ALL, positions: true, method, format: Format::Lines };
    let done = order_records(&records, words, sorter, &ask, &mut |_, _| {})?;
    Ok((start.elapsed(), done))
}
