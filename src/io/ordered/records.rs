//! Merging tokens and rows: some records of each input are in memory, and all cores merge what is certain of them.
//!
//! ```text
//! input 0   ───────────|─ ─ ─ ▸
//! input 1   ──────|────── ─ ─ ▸     up to the least last key in memory, nothing unread comes first
//! input 2   ────────|─────── ▸
//! ```
//!
//! Pieces of inputs become keys and bytes of records on all cores, as in a check. What is odd is read record by
//! record, which finds what to say about it; it is said when all records before it are merged.

use std::io::Write;

use super::{Inputs, Last, Merged, not_sorted};
use crate::error::Error;
use crate::io::counts::Counts;
use crate::io::output::Output;
use crate::io::stream::{Batch, Expected, Stream, Stretches};
use crate::order::Selection;
use crate::parallel::{self, ParallelIterator};
use crate::runs;

/// Records read by themselves at once.
const FEW: usize = 256;

/// Bytes of records that are worth another core's while.
const PART: usize = 1 << 16;

/// An input, as far as it is read.
struct Run {
    stream: Stream,
    /// Its last record that was read.
    last: Last,
    /// Records in order, of which those before `at` are merged.
    batch: Batch,
    at: usize,
    /// What is wrong with the one after them.
    wrong: Option<Error>,
    is_over: bool,
}

impl Run {
    fn new(stream: Stream) -> Self {
        Self { stream, last: Last::default(), batch: Batch::default(), at: 0, wrong: None, is_over: false }
    }

    /// The number of records that are not merged.
    fn len(&self) -> usize {
        self.batch.ends.len() - self.at
    }

    /// Where the bytes of a record begin.
    fn start(&self, record: usize) -> usize {
        if record == 0 { 0 } else { self.batch.ends[record - 1] }
    }

    fn key(&self, record: usize, keys: usize) -> &[u128] {
        &self.batch.keys[record * keys..][..keys]
    }

    /// Whether more may come, of which nothing is known yet.
    fn is_open(&self) -> bool {
        !self.is_over || self.wrong.is_some()
    }

    /// Whether more should be read before the next merge, as far as that does not wait for others.
    fn is_low(&self, most: usize) -> bool {
        let rest = self.batch.bytes.len() - self.start(self.at);
        !self.is_over
            && self.wrong.is_none()
            && (self.len() == 0 || self.stream.is_ready() && rest < most / 2)
    }

    /// Leaves out what is merged.
    fn drop_merged(&mut self, keys: usize) {
        let begin = self.start(self.at);
        self.batch.bytes.drain(..begin);
        self.batch.keys.drain(..self.at * keys);
        self.batch.ends.drain(..self.at);
        self.batch.ends.iter_mut().for_each(|end| *end -= begin);
        self.at = 0;
    }
}

/// Merges the records of streams, which are in order, after `head`; each stretch of an input is as large as `stretches` says.
pub(super) fn merge(
    mut inputs: Inputs,
    streams: Vec<Stream>,
    head: &[u8],
    selection: Selection,
    stretches: &Stretches,
    to: &mut Output,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let expected = Expected { order: inputs.how.by.order, unique: false };
    let mut runs: Vec<Run> = streams.into_iter().map(Run::new).collect();
    let keys = runs.iter().map(|run| run.stream.keys()).max().unwrap_or(0);
    let top = selection.first.map_or(u64::MAX, |first| first as u64);
    let mut merged = Merged::default();
    let mut head = Some(head);
    let mut last: Option<Vec<u128>> = None;
    while top > merged.written {
        read_stretches(&mut runs, &mut inputs, expected, keys, stretches)?;
        for run in &mut runs {
            if run.len() == 0 {
                read_some(run, &mut inputs, expected)?;
            }
        }
        let limit = runs.iter().enumerate().filter(|(_, run)| run.is_open());
        let limit = limit.map(|(number, run)| (run.key(run.batch.ends.len() - 1, keys), number)).min();
        let certain = |(number, run): (usize, &Run)| {
            let is_certain =
                |record: usize| limit.is_none_or(|limit| (run.key(record, keys), number) <= limit);
            partition(run.at..run.batch.ends.len(), is_certain)
        };
        let ends: Vec<usize> = runs.iter().enumerate().map(certain).collect();
        if runs.iter().zip(&ends).all(|(run, &end)| run.at == end) {
            break;
        }
        let cuts = cut(&runs, &ends, keys);
        let part = |cuts: &[Vec<usize>]| {
            let bounds = [&cuts[0][..], &cuts[1][..]];
            match keys {
                1 => {
                    merge_part(&runs, bounds, selection, last.as_ref().map(|last| last[0]), |run, record| {
                        run.batch.keys[record]
                    })
                }
                _ => {
                    merge_part(&runs, bounds, selection, last.as_deref(), |run, record| run.key(record, keys))
                }
            }
        };
        let parts: Vec<Part> = parallel::windows(&cuts, 2).map(part).collect();
        let lasts = runs.iter().zip(&ends).filter(|(run, end)| run.at < **end);
        let lasts = lasts.map(|(run, end)| run.key(end - 1, keys)).max().map(<[u128]>::to_vec);
        for part in &parts {
            let left = usize::try_from(top - merged.written).unwrap_or(usize::MAX);
            let (bytes, written, repeated) = part.first(left);
            let mut write = |bytes| to.write_all(bytes).map_err(|error| to.failed(error));
            head.take().map_or(Ok(()), &mut write)?;
            write(bytes)?;
            merged.written += written as u64;
            merged.repeated += repeated as u64;
            if merged.written == top {
                break;
            }
        }
        last = lasts;
        for (run, end) in runs.iter_mut().zip(ends) {
            merged.read += (end - run.at) as u64;
            run.at = end;
        }
        progress(merged.read);
    }
    to.write_all(head.unwrap_or_default()).map_err(|error| to.failed(error))?;
    if selection.first.is_some() {
        // What else was read depends on the blocks.
        merged.read = merged.written + merged.repeated;
    }
    // The unread rest might have determined a type.
    if runs.iter().all(|run| run.is_over && run.len() == 0) {
        inputs.end()?;
    }
    merged.types = inputs.types();
    let left_out = runs.iter().map(|run| run.stream.left_out);
    let nulls = inputs.typings.iter().map(|typing| typing.counts);
    merged.counts = nulls.chain(left_out).fold(Counts::default(), Counts::and);
    Ok(merged)
}

/// Reads what is there of the inputs of which little is left, as far as that is in order.
fn read_stretches(
    runs: &mut [Run],
    inputs: &mut Inputs,
    expected: Expected,
    keys: usize,
    stretches: &Stretches,
) -> Result<(), Error> {
    let low: Vec<&mut Run> = runs.iter_mut().filter(|run| run.is_low(stretches.most)).collect();
    let typings = &inputs.typings;
    let read = |run: &mut Run| {
        run.drop_merged(keys);
        let Run { stream, last, batch, .. } = run;
        let mut typings = typings.iter().map(|typing| typing.fork(stream.passed())).collect();
        let read = stream.read_ordered(&mut typings, &mut last.0, expected, stretches, batch);
        run.wrong = read.err();
        typings
    };
    for typings in parallel::map_parts(low, read) {
        inputs.typings.iter_mut().zip(typings).try_for_each(|(typing, fork)| typing.absorb(fork))?;
    }
    Ok(())
}

/// Reads the next records of an input by themselves, or what is wrong with them. An error that is next is returned.
fn read_some(run: &mut Run, inputs: &mut Inputs, expected: Expected) -> Result<(), Error> {
    while !run.is_over && run.wrong.is_none() && run.len() < FEW {
        match inputs.advance(&mut run.stream) {
            Ok(true) => match run.last.follow(&run.stream, expected) {
                None => run.stream.keep(expected.order, &mut run.batch),
                Some(disorder) => {
                    run.wrong = Some(not_sorted(disorder.place, &disorder.value, &disorder.before))
                }
            },
            Ok(false) => run.is_over = true,
            Err(error) => run.wrong = Some(error),
        }
        // Reading may wait for the writer of a pipe.
        if !run.stream.has_record() {
            break;
        }
    }
    run.wrong.take_if(|_| run.batch.ends.len() == run.at).map_or(Ok(()), Err)
}

/// The first of the records in this range for which `is_certain` does not hold, as it does for those before it.
fn partition(records: std::ops::Range<usize>, is_certain: impl Fn(usize) -> bool) -> usize {
    let (mut begin, mut end) = (records.start, records.end);
    while begin < end {
        let middle = begin + (end - begin) / 2;
        if is_certain(middle) { begin = middle + 1 } else { end = middle }
    }
    begin
}

/// Where to cut the runs, up to these ends, into parts of about equal size, by a sample of the records: equal keys are of
/// the earlier runs first.
fn cut(runs: &[Run], ends: &[usize], keys: usize) -> Vec<Vec<usize>> {
    /// Samples of each run for each part.
    const SAMPLES: usize = 4;
    let bytes: usize = runs.iter().zip(ends).map(|(run, &end)| run.start(end) - run.start(run.at)).sum();
    let first = runs.iter().map(|run| run.at).collect();
    let parts = (bytes / PART).clamp(1, 4 * parallel::threads());
    let mut cuts = vec![first];
    if parts > 1 {
        let of_run = |(number, (run, &end)): (usize, (&Run, &usize))| {
            let step = ((end - run.at) / (SAMPLES * parts)).max(1);
            (run.at..end).step_by(step).map(move |record| (number, record)).collect::<Vec<_>>()
        };
        let mut samples: Vec<(usize, usize)> = runs.iter().zip(ends).enumerate().flat_map(of_run).collect();
        samples.sort_by_key(|&(run, record)| (runs[run].key(record, keys), run, record));
        for part in 1..parts {
            let (number, record) = samples[part * samples.len() / parts];
            let key = runs[number].key(record, keys);
            let before = |(other, (run, &end)): (usize, (&Run, &usize))| {
                partition(run.at..end, |here| (run.key(here, keys), other, here) < (key, number, record))
            };
            cuts.push(runs.iter().zip(ends).enumerate().map(before).collect());
        }
    }
    cuts.push(ends.to_vec());
    cuts
}

/// Merged records.
struct Part {
    bytes: Vec<u8>,
    written: usize,
    repeated: usize,
    /// For each record where it ends and how many repeated ones were left out before it, if only some may be wanted.
    ends: Vec<(usize, usize)>,
}

impl Part {
    /// The bytes of at most this many records, how many these are, and how many were left out before the last of them.
    fn first(&self, most: usize) -> (&[u8], usize, usize) {
        if self.written <= most {
            return (&self.bytes, self.written, self.repeated);
        }
        let (end, repeated) = most.checked_sub(1).map_or((0, 0), |last| self.ends[last]);
        (&self.bytes[..end], most, repeated)
    }
}

/// A record of a run, and its key.
#[derive(Clone, Copy)]
struct Item<K> {
    key: K,
    run: u32,
    record: u32,
}

/// Merges the records of the runs between these bounds. With `unique` those are left out that repeat the one before, which for
/// the first may be `last` or one before the bounds.
fn merge_part<'a, K: Ord + Copy>(
    runs: &'a [Run],
    [from, to]: [&[usize]; 2],
    selection: Selection,
    last: Option<K>,
    key: impl Fn(&'a Run, usize) -> K,
) -> Part {
    let before = runs.iter().zip(from).filter(|(run, from)| run.at < **from);
    let before = before.map(|(run, from)| key(run, from - 1)).max();
    let mut last = before.or(last).filter(|_| selection.unique);
    let (mut items, mut ends, mut bytes) = (Vec::new(), vec![0], 0);
    for (number, (run, (&from, &to))) in
        runs.iter().zip(from.iter().zip(to)).enumerate().filter(|(_, (_, (from, to)))| from < to)
    {
        items.extend((from..to).map(|record| Item {
            key: key(run, record),
            run: number as u32,
            record: record as u32,
        }));
        ends.push(items.len());
        bytes += run.start(to) - run.start(from);
    }
    let sorted: Vec<&[Item<K>]> = ends.windows(2).map(|ends| &items[ends[0]..ends[1]]).collect();
    let mut merged = items.clone();
    runs::merge_by(&sorted, &mut merged, |a, b| a.key < b.key);
    let mut part = Part { bytes: Vec::with_capacity(bytes), written: 0, repeated: 0, ends: Vec::new() };
    for Item { key, run, record } in merged {
        let (run, record) = (&runs[run as usize], record as usize);
        if selection.unique && last.replace(key) == Some(key) {
            part.repeated += 1;
            continue;
        }
        part.bytes.extend_from_slice(&run.batch.bytes[run.start(record)..run.batch.ends[record]]);
        part.written += 1;
        if selection.first.is_some() {
            part.ends.push((part.bytes.len(), part.repeated));
        }
    }
    part
}
