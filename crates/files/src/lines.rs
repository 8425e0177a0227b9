//! Sorts lines in memory, as a file of them would be sorted: for benchmarks.

use std::time::Duration;

use super::columns::order_words;
use gpusort_base::clock::Instant;
use gpusort_base::error::Error;
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::sorter::{Sorted, Sorter};
use gpusort_formats::batch::KeyedBatch;
use gpusort_formats::fields::{Dialect, Fields, KeySpec, Known, ResolvedKey};
use gpusort_formats::{InputKind, InputSpec, LineEnd, Text, Ties};
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
    let settle =
        |ties: &Ties, order: &mut Vec<u32>, words: &[KeyBuf]| records.settle(ties, order, words, false);
    let done = order_words(words, settle, sorter, Selection::ALL, method, &mut |_, _| {})?;
    Ok((start.elapsed(), done))
}
