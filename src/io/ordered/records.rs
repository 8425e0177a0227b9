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
use std::thread;

use super::{Inputs, LITTLE, Last, Merged, PositionReader, Positions, not_sorted, write_positions};
use crate::error::Error;
use crate::io::counts::Counts;
use crate::io::output::Output;
use crate::io::stream::cell::{Cell, Typing};
use crate::io::stream::{Batch, Expected, Stream, Stretches};
use crate::order::{KeyOrder, Reading, Selection};
use crate::parallel::{self, WriteBehind};
use crate::runs;

/// Records read by themselves at once.
const FEW: usize = 256;

/// Bytes of records that are worth another core's while.
const PART: usize = 1 << 16;

/// About how much memory a record takes beside four times its bytes and its key, with its position and others of its kind.
pub(super) const BESIDE_BYTES: u64 = 96;

/// An input, as far as it is read.
struct Run {
    stream: Stream,
    /// The positions of its records, if they are merged with them.
    positions: Option<PositionReader>,
    /// Its last record that was read.
    last: Last,
    /// Records in order that are not merged.
    pieces: Vec<Piece>,
    /// The most bytes to read at once.
    most: usize,
    /// What is wrong with the record after them.
    wrong: Option<Error>,
    is_over: bool,
}

/// Records in order, of which those before `at` are merged.
struct Piece {
    batch: Batch,
    at: usize,
    /// The positions of its records, if they are merged with them.
    positions: Vec<u64>,
    /// Whether the higher halves of its keys tell them apart.
    is_exact: bool,
}

impl Run {
    fn new(stream: Stream, positions: Option<PositionReader>, most: usize) -> Self {
        let (last, pieces) = (Last::default(), Vec::new());
        Self { stream, positions, last, pieces, most, wrong: None, is_over: false }
    }

    /// Adds the next records.
    fn push(&mut self, batch: Batch, order: KeyOrder) -> Result<(), Error> {
        let count = batch.ends.len();
        let positions = self.positions.as_mut().map(|positions| positions.take(count)).transpose()?;
        let is_exact = order.reading != Reading::Sizes && batch.keys.iter().all(|&key| Cell::is_exact(key));
        self.pieces.push(Piece { batch, at: 0, positions: positions.unwrap_or_default(), is_exact });
        Ok(())
    }

    /// Whether more may come, of which nothing is known yet.
    fn is_open(&self) -> bool {
        !self.is_over || self.wrong.is_some()
    }

    /// Whether more should be read before the next merge, as far as that does not wait for others.
    fn is_low(&self) -> bool {
        let rest: usize = self.pieces.iter().map(Piece::bytes).sum();
        !self.is_over
            && self.wrong.is_none()
            && (self.pieces.is_empty() || self.stream.is_ready() && rest < self.most / 2)
    }
}

impl Piece {
    fn len(&self) -> usize {
        self.batch.ends.len()
    }

    /// Bytes that are not merged.
    fn bytes(&self) -> usize {
        self.batch.bytes.len() - self.start(self.at)
    }

    /// Where the bytes of a record begin.
    fn start(&self, record: usize) -> usize {
        if record == 0 { 0 } else { self.batch.ends[record - 1] }
    }

    fn key(&self, record: usize, keys: usize) -> &[u128] {
        &self.batch.keys[record * keys..][..keys]
    }
}

/// Merges the records of streams, which are in order, with about this many bytes of records in memory, and their positions
/// if there are any.
pub(super) fn merge(
    mut inputs: Inputs,
    streams: Vec<Stream>,
    selection: Selection,
    bytes: usize,
    mut to: Option<&mut Output>,
    positions: Option<Positions>,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let most = stretch_of(streams.len(), bytes);
    let (numbers, mut positions_to) = match positions {
        Some(Positions { runs, to, written, element }) => {
            (runs.into_iter().map(Some).collect(), Some((to, written, element)))
        }
        None => (streams.iter().map(|_| None).collect::<Vec<_>>(), None),
    };
    let pairs = streams.into_iter().zip(numbers);
    let mut runs: Vec<Run> = pairs.map(|(stream, numbers)| Run::new(stream, numbers, most)).collect();
    let write = move |parts: Vec<Part>| {
        for part in parts {
            if let Some(to) = &mut to {
                to.write_all(&part.bytes).map_err(|error| to.failed(error))?;
            }
            if let Some((to, written, element)) = &mut positions_to {
                write_positions(part.positions, *element, *written, to)?;
            }
        }
        Ok(())
    };
    let mut merged = thread::scope(|scope| {
        let mut writing = WriteBehind::new(scope, write);
        let mut give = |parts: Vec<Part>, at_once| {
            let bytes: usize = parts.iter().map(|part| part.bytes.len() + 8 * part.positions.len()).sum();
            writing.then(at_once || bytes < LITTLE, move |write| write(parts))
        };
        let merged = merge_to(&mut runs, &mut inputs, selection, bytes, &mut give, progress);
        // A failure to write comes first.
        writing.wait()?;
        merged
    })?;
    if selection.first.is_some() {
        // What else was read depends on the blocks.
        merged.read = merged.written + merged.repeated;
    }
    // The unread rest might have determined a type.
    if runs.iter().all(|run| run.is_over && run.pieces.is_empty()) {
        inputs.end()?;
    }
    merged.types = inputs.types();
    let left_out = runs.iter().map(|run| run.stream.left_out);
    let nulls = inputs.typings.iter().map(Typing::counts);
    merged.counts = nulls.chain(left_out).fold(Counts::default(), Counts::and);
    Ok(merged)
}

/// The most bytes that are read at once of each of this many inputs: half of all.
pub(super) fn stretch_of(inputs: usize, bytes: usize) -> usize {
    (bytes / 2 / inputs.max(1)).clamp(1 << 8, 8 << 20)
}

/// Gives the merged records to `give`, and whether they are to be written before more is read.
fn merge_to(
    runs: &mut [Run],
    inputs: &mut Inputs,
    selection: Selection,
    bytes: usize,
    give: &mut impl FnMut(Vec<Part>, bool) -> Result<(), Error>,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let expected = Expected { order: inputs.how.by.order, unique: false };
    let keys = runs.iter().map(|run| run.stream.keys()).max().unwrap_or(0);
    let top = selection.first.map_or(u64::MAX, |first| first as u64);
    let stretch = stretch_of(runs.len(), bytes);
    let mut merged = Merged::default();
    let mut last: Option<Vec<u128>> = None;
    while top > merged.written {
        read_stretches(runs, inputs, expected)?;
        for run in &mut *runs {
            if run.pieces.is_empty() {
                read_some(run, inputs, expected)?;
            }
        }
        let last_of = |run: &Run| run.pieces.last().map(|piece| piece.key(piece.len() - 1, keys).to_vec());
        let open = runs.iter().enumerate().filter(|(_, run)| run.is_open());
        let limit = open.filter_map(|(number, run)| Some((last_of(run)?, number))).min();
        let pieces: Vec<(usize, &Piece)> = runs
            .iter()
            .enumerate()
            .flat_map(|(number, run)| run.pieces.iter().map(move |piece| (number, piece)))
            .collect();
        let certain = |&(number, piece): &(usize, &Piece)| {
            let is_certain = |record| {
                limit
                    .as_ref()
                    .is_none_or(|limit| (piece.key(record, keys), number) <= (&limit.0[..], limit.1))
            };
            partition(piece.at..piece.len(), is_certain)
        };
        let ends: Vec<usize> = pieces.iter().map(certain).collect();
        let pieces: Vec<&Piece> = pieces.into_iter().map(|(_, piece)| piece).collect();
        if pieces.iter().zip(&ends).all(|(piece, &end)| piece.at == end) {
            // Numbers beside times have no order, so that some may seem to come after what is still to be read.
            let is_left = !pieces.is_empty();
            if let Some(wrong) = runs.iter_mut().find_map(|run| run.wrong.take()) {
                return Err(wrong);
            }
            if is_left {
                inputs.end()?;
                return Err(Error::input("the inputs", "have records without an order among them"));
            }
            break;
        }
        let cuts = cut(&pieces, &ends, keys);
        let part = |cuts: &[Vec<usize>]| {
            let bounds = [&cuts[0][..], &cuts[1][..]];
            match keys {
                1 if pieces.iter().all(|piece| piece.is_exact) => {
                    // What is not exact is none of these.
                    let last = last.as_ref().map(|last| last[0]).filter(|&last| Cell::is_exact(last));
                    let last = last.map(high);
                    merge_part(&pieces, bounds, selection, last, |piece, record| {
                        high(piece.batch.keys[record])
                    })
                }
                1 => merge_part(
                    &pieces,
                    bounds,
                    selection,
                    last.as_ref().map(|last| last[0]),
                    |piece, record| piece.batch.keys[record],
                ),
                _ => merge_part(&pieces, bounds, selection, last.as_deref(), |piece, record| {
                    piece.key(record, keys)
                }),
            }
        };
        let mut parts: Vec<Part> = parallel::map_parts(cuts.windows(2), part);
        let lasts = pieces.iter().zip(&ends).filter(|(piece, end)| piece.at < **end);
        last = lasts.map(|(piece, end)| piece.key(end - 1, keys)).max().map(<[u128]>::to_vec);
        for part in &mut parts {
            part.truncate(usize::try_from(top - merged.written).unwrap_or(usize::MAX));
            merged.written += part.written as u64;
            merged.repeated += part.repeated as u64;
        }
        // Who writes to a pipe may wait for what comes of it.
        give(parts, runs.iter().any(|run| !run.is_over && !run.stream.is_ready()))?;
        let mut ends = ends.into_iter();
        let held = |runs: &[Run]| runs.iter().flat_map(|run| &run.pieces).map(Piece::bytes).sum::<usize>();
        for (number, run) in runs.iter_mut().enumerate() {
            for (piece, end) in run.pieces.iter_mut().zip(ends.by_ref()) {
                merged.read += (end - piece.at) as u64;
                piece.at = end;
            }
            run.pieces.retain(|piece| piece.at < piece.len());
            let is_limit = limit.as_ref().is_some_and(|(_, limit)| *limit == number);
            run.most = stretch;
            if !is_limit {
                run.stream.keep_room(stretch)?;
            }
        }
        // Where keys of other inputs come much later, those of this one decide alone how much is merged at once.
        if let Some((_, limit)) = limit {
            runs[limit].most = bytes.saturating_sub(held(runs)).clamp(stretch, 8 << 20);
        }
        progress(merged.read);
    }
    Ok(merged)
}

/// Reads what is there of the inputs of which little is left, as far as that is in order.
fn read_stretches(runs: &mut [Run], inputs: &mut Inputs, expected: Expected) -> Result<(), Error> {
    let low: Vec<&mut Run> = runs.iter_mut().filter(|run| run.is_low()).collect();
    let typings = &inputs.typings;
    let read = |run: &mut Run| {
        let Run { stream, last, most, .. } = &mut *run;
        let mut typings = typings.iter().map(|typing| typing.fork(stream.passed())).collect();
        let read = stream.read_ordered(&mut typings, &mut last.0, expected, &Stretches::of(*most));
        let kept = read
            .and_then(|batches| batches.into_iter().try_for_each(|batch| run.push(batch, expected.order)));
        run.wrong = kept.err();
        typings
    };
    for typings in parallel::map_parts(low, read) {
        let joined = inputs.typings.iter().zip(typings).map(|(typing, fork)| typing.join(fork));
        inputs.typings = joined.collect::<Result<_, _>>()?;
    }
    Ok(())
}

/// Reads the next records of an input by themselves, or what is wrong with them. An error that is next is returned.
fn read_some(run: &mut Run, inputs: &mut Inputs, expected: Expected) -> Result<(), Error> {
    let mut batch = Batch::default();
    while !run.is_over && run.wrong.is_none() && batch.ends.len() < FEW {
        match inputs.advance(&mut run.stream) {
            Ok(true) => match run.last.follow(&run.stream, expected) {
                None => run.stream.keep(expected.order, &mut batch),
                Some(disorder) => {
                    run.wrong = Some(not_sorted(disorder.place, &disorder.value, &disorder.before));
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
    if batch.ends.is_empty() {
        return run.wrong.take().map_or(Ok(()), Err);
    }
    run.push(batch, expected.order)
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

/// The higher half of a key.
fn high(key: u128) -> u64 {
    (key >> 64) as u64
}

/// Where to cut the pieces, up to these ends, into parts of about equal size, by a sample of the records: equal keys are of
/// the earlier pieces first.
fn cut(pieces: &[&Piece], ends: &[usize], keys: usize) -> Vec<Vec<usize>> {
    /// Samples of each piece for each part.
    const SAMPLES: usize = 4;
    let bytes: usize =
        pieces.iter().zip(ends).map(|(piece, &end)| piece.start(end) - piece.start(piece.at)).sum();
    let parts = (bytes / PART).clamp(1, 4 * parallel::threads());
    let mut cuts = vec![pieces.iter().map(|piece| piece.at).collect()];
    if parts > 1 {
        let each = (SAMPLES * parts).div_ceil(pieces.len()).max(SAMPLES);
        let of_piece = |(number, (piece, &end)): (usize, (&&Piece, &usize))| {
            let step = ((end - piece.at) / each).max(1);
            (piece.at..end).step_by(step).map(move |record| (number, record)).collect::<Vec<_>>()
        };
        let mut samples: Vec<(usize, usize)> =
            pieces.iter().zip(ends).enumerate().flat_map(of_piece).collect();
        samples.sort_by_key(|&(piece, record)| (pieces[piece].key(record, keys), piece, record));
        for part in 1..parts {
            let (number, record) = samples[part * samples.len() / parts];
            let key = pieces[number].key(record, keys);
            let before = |(other, (piece, &end)): (usize, (&&Piece, &usize))| {
                partition(piece.at..end, |here| (piece.key(here, keys), other, here) < (key, number, record))
            };
            cuts.push(pieces.iter().zip(ends).enumerate().map(before).collect());
        }
    }
    cuts.push(ends.to_vec());
    cuts
}

/// Merged records.
#[derive(Default)]
struct Part {
    bytes: Vec<u8>,
    positions: Vec<u64>,
    written: usize,
    repeated: usize,
    /// For each record where it ends and how many repeated ones were left out before it, if only some may be wanted.
    ends: Vec<(usize, usize)>,
}

impl Part {
    /// Keeps at most this many records; of what was left out only what comes before the last of them, if there are as many.
    fn truncate(&mut self, most: usize) {
        if self.written >= most {
            let (end, repeated) = most.checked_sub(1).map_or((0, 0), |last| self.ends[last]);
            self.bytes.truncate(end);
            self.positions.truncate(most);
            (self.written, self.repeated) = (most, repeated);
        }
    }
}

/// A record of a piece, and its key.
#[derive(Clone, Copy)]
struct Item<K> {
    key: K,
    piece: u32,
    record: u32,
}

/// Merges the records of the pieces between these bounds. With `unique` those are left out that repeat the one before, which
/// for the first may be `last` or one before the bounds.
fn merge_part<'a, K: Ord + Copy>(
    pieces: &[&'a Piece],
    [from, to]: [&[usize]; 2],
    selection: Selection,
    last: Option<K>,
    key: impl Fn(&'a Piece, usize) -> K,
) -> Part {
    let some: Vec<usize> = (0..pieces.len()).filter(|&piece| from[piece] < to[piece]).collect();
    if let ([piece], true) = (&some[..], selection == Selection::ALL) {
        let (from, to) = (from[*piece], to[*piece]);
        let piece = pieces[*piece];
        let bytes = piece.batch.bytes[piece.start(from)..piece.start(to)].to_vec();
        let positions = piece.positions.get(from..to).unwrap_or_default().to_vec();
        return Part { bytes, positions, written: to - from, ..Part::default() };
    }
    let before = pieces.iter().zip(from).filter(|(piece, from)| piece.at < **from);
    let before = before.map(|(piece, from)| key(piece, from - 1)).max();
    let mut last = before.or(last).filter(|_| selection.unique);
    let (mut items, mut ends, mut bytes) = (Vec::new(), vec![0], 0);
    for number in some {
        let (piece, from, to) = (pieces[number], from[number], to[number]);
        let item = |record| Item { key: key(piece, record), piece: number as u32, record: record as u32 };
        items.extend((from..to).map(item));
        ends.push(items.len());
        bytes += piece.start(to) - piece.start(from);
    }
    let sorted: Vec<&[Item<K>]> = ends.windows(2).map(|ends| &items[ends[0]..ends[1]]).collect();
    let mut merged = items.clone();
    runs::merge_by(&sorted, &mut merged, |a, b| a.key < b.key);
    let mut part = Part { bytes: Vec::with_capacity(bytes), ..Part::default() };
    for Item { key, piece, record } in merged {
        let (piece, record) = (pieces[piece as usize], record as usize);
        if selection.unique && last.replace(key) == Some(key) {
            part.repeated += 1;
            continue;
        }
        part.bytes.extend_from_slice(&piece.batch.bytes[piece.start(record)..piece.batch.ends[record]]);
        part.positions.extend(piece.positions.get(record));
        part.written += 1;
        if selection.first.is_some() {
            part.ends.push((part.bytes.len(), part.repeated));
        }
    }
    part
}
