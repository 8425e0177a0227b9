//! Sorts lines in memory, as a file of them would be sorted: for benchmarks.

use std::time::Duration;

use super::dataset::{OutputSpec, order_records};
use gpusort_base::clock::Instant;
use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_engine::sorter::{Sorted, Sorter};
use gpusort_formats::batch::KeyedBatch;
use gpusort_formats::fields::{Dialect, Fields, KeySpec, Known, ResolvedKey};
use gpusort_formats::{InputKind, InputSpec, LineEnd, Text};
use gpusort_order::{Method, Selection};

/// Sorts lines as text. Returns the order, as positions, and the time taken after the lines are read.
///
/// # Errors
///
/// See [`Sorter::run`].
pub fn order_lines(lines: Vec<u8>, sorter: &Sorter, method: Method) -> Result<(Duration, Sorted), Error> {
    let fields = Fields::Words(LineEnd::Lf);
    let kind = InputKind::Table(Dialect { fields, header: 0, comments: false });
    let by = KeySpec::default();
    let how = InputSpec { kind, keys: vec![ResolvedKey::record(&by)], by, columns: 1 };
    let text = Text::of_one("lines", lines, None, LineEnd::Lf);
    let mut records = KeyedBatch::read(text, &how, &mut Known::default())?;
    let start = Instant::now();
    let words = records.take_words(false);
    let ask = OutputSpec {
        selection: Selection::ALL,
        positions: true,
        answer: None,
        method,
        format: Format::Lines,
    };
    let done = order_records(&records, words, sorter, &ask, &mut |_, _| {})?;
    Ok((start.elapsed(), done))
}
