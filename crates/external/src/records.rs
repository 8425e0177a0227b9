//! Merges records of inputs or runs. Memory holds some records of each, and all cores merge the records
//! that no unread record can precede.
//!
//! ```text
//! input 0   ───────────|─ ─ ─ ▸
//! input 1   ──────|────── ─ ─ ▸     no unread record can precede the least last key in memory
//! input 2   ────────|─────── ▸
//! ```
//!
//! An error in an input is reported after the records before the error are merged.

use std::io::Write;

use gpusort_formats::batch::{Batches, shown};
use gpusort_formats::fields::{Head, InputSpec};
use gpusort_formats::keys;
use gpusort_formats::output::Output;
use gpusort_formats::piece::Piece;
use gpusort_formats::records::push_integer;
use gpusort_order::key::ElementType;

use super::disorder::{Last, not_sorted};
use super::steps::{self, MergeSource, Merged, Step, merge_runs, share};
use crate::error::{Error, Hint};
use crate::frames::{Frame, FramePayload, RunReader, SortedRun};
use crate::order::{KeyOrder, Selection};
use crate::parallel;

/// The number of bytes that justifies a parallel task.
const PART: usize = 1 << 16;

/// The approximate memory of a record in a merge, besides four times its bytes and its key; includes
/// its position.
pub const BESIDE_BYTES: u64 = 96;

/// The output of a merge.
#[derive(Clone, Copy)]
pub enum Emit {
    /// The bytes of records; numbers without records are written as text.
    Records,
    /// The numbers of records as elements; true if the keys are descending.
    Elements(ElementType, bool),
    /// The positions of records, as elements of this type or as text.
    Positions(Option<ElementType>),
    /// The number and the bytes of each record, as [`push_numbered`] writes them; of a repeated key the number alone.
    /// True if invalid fields repeat a key, too.
    Numbered(bool),
    /// A run of frames with this payload, of about this many bytes each.
    Frames(FramePayload, usize),
    /// The rows of batches.
    Rows,
}

/// The rows of an input or of a run, batch by batch. An error follows the rows before it.
pub type RowBatches<'a> = Box<dyn Iterator<Item = Result<Piece, Error>> + Send + 'a>;

/// The source of records.
enum Origin<'a> {
    Input(Box<Batches<'a>>),
    /// A run, with its name and the orders of its keys.
    Run(RunReader, String, &'a [KeyOrder]),
    Rows(RowBatches<'a>),
}

/// An input or a run of records.
struct RecordSource<'a> {
    from: Origin<'a>,
    /// The last record read.
    last: Last,
    /// The unmerged records, in order.
    pieces: Vec<Piece>,
}

type Run<'a> = steps::RunCursor<RecordSource<'a>>;

fn run_of(from: Origin, share: usize) -> Run {
    Run::new(RecordSource { from, last: Last::default(), pieces: Vec::new() }, share)
}

impl MergeSource for RecordSource<'_> {
    fn held(&self) -> usize {
        self.pieces.iter().map(Piece::rest).sum()
    }

    fn is_ready(&self) -> bool {
        if let Origin::Input(batches) = &self.from { batches.chunks.is_ready() } else { true }
    }

    fn read(&mut self, most: usize, wrong: &mut Option<Error>) -> Result<bool, Error> {
        let (pieces, more) = match &mut self.from {
            Origin::Run(reader, name, orders) => {
                let pieces = reader.next(most, orders).map_err(|error| Error::io(&*name, "read", error))?;
                let more = !pieces.is_empty();
                (pieces, more)
            }
            Origin::Input(batches) => {
                let Some(mut pieces) = batches.next(most)? else { return Ok(false) };
                let show = |piece: &Piece, record, key| shown(piece, record, batches.how, key);
                if let Some((piece, record, found)) = self.last.follow(&show, &pieces, None) {
                    pieces.truncate(piece + 1);
                    pieces[piece].keys.truncate(record);
                    *wrong = Some(not_sorted(found));
                }
                (pieces, !batches.is_over())
            }
            Origin::Rows(batches) => {
                let (mut pieces, mut bytes) = (Vec::new(), 0);
                while bytes < most && wrong.is_none() {
                    match batches.next() {
                        Some(Ok(piece)) => {
                            bytes += piece.rest();
                            pieces.push(piece);
                        }
                        Some(Err(error)) => *wrong = Some(error),
                        None => break,
                    }
                }
                (pieces, bytes >= most)
            }
        };
        self.pieces.extend(pieces.into_iter().filter(|piece| piece.len() > 0));
        Ok(more)
    }
}

/// Merges inputs.
pub(crate) fn merge_inputs(
    inputs: Vec<Batches>,
    how: &InputSpec,
    selection: Selection,
    bytes: usize,
    to: &mut Output,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let of_input = inputs.into_iter().map(|batches| {
        let share = batches.stretches.most;
        run_of(Origin::Input(Box::new(batches)), share)
    });
    let mut runs: Vec<Run> = of_input.collect();
    let (mut header, mut head) = (None, Head::default());
    for run in &mut runs {
        if let Origin::Input(batches) = &mut run.source.from {
            batches.known.header = header.take();
        }
        run.read();
        if let Origin::Input(batches) = &mut run.source.from {
            header.clone_from(&batches.known.header);
            head.append(std::mem::take(&mut batches.head));
        }
        if run.source.pieces.is_empty() {
            run.wrong.take().map_or(Ok(()), Err)?;
        }
    }
    head.write(to).map_err(|error| to.failed(error))?;
    merge_all(runs, &MergeSpec { selection, emit: Emit::Records, bytes, orders: &how.orders() }, to, progress)
}

/// The parameters of a merge.
pub struct MergeSpec<'a> {
    /// The records to write.
    pub selection: Selection,
    /// The output.
    pub emit: Emit,
    /// The approximate limit of the records in memory, in bytes.
    pub bytes: usize,
    /// The order of each key.
    pub orders: &'a [KeyOrder],
}

impl MergeSpec<'_> {
    /// Returns the bytes that the runs share; the rest is for a run that limits the steps.
    fn shared(&self) -> u64 {
        self.bytes as u64 / 4 * 3
    }
}

/// Merges runs.
///
/// # Errors
///
/// I/O errors; a run that was changed.
pub fn merge_records(
    runs: Vec<SortedRun>,
    records: &MergeSpec,
    to: &mut Output,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let all = runs.iter().map(|run| run.records).sum();
    let run = |run: SortedRun| {
        let share = share(run.records, all, records.shared());
        let reader = RunReader::new(run.reader, run.form, run.records);
        run_of(Origin::Run(reader, run.name, records.orders), share)
    };
    merge_all(runs.into_iter().map(run).collect(), records, to, progress)
}

/// Merges the rows of batches; each source comes with its relative length. `gather` makes the output of merged rows, each
/// given by the number of its piece and its number in the piece. `write` writes the output.
///
/// # Errors
///
/// The first error of an input or a run, of `gather` or of `write`.
pub fn merge_rows<T: Send>(
    sources: Vec<(RowBatches, u64)>,
    records: &MergeSpec,
    gather: impl Fn(&[&Piece], Vec<(usize, usize)>) -> Result<T, Error>,
    write: impl FnMut(T) -> Result<(), Error> + Send,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let all = sources.iter().map(|(_, length)| length).sum();
    let run = |(pieces, length)| run_of(Origin::Rows(pieces), share(length, all, records.shared()));
    let mut runs: Vec<Run> = sources.into_iter().map(run).collect();
    let mut last = None;
    let gather = |pieces: &[&Piece], parts: Vec<MergedPart>| {
        gather(pieces, parts.into_iter().flat_map(|part| part.rows).collect())
    };
    let merge = |runs: &mut [Run], left| merge_step(runs, records, left, &mut last, gather);
    merge_runs(&mut runs, records.selection, merge, write, progress)
}

/// Merges sorted runs.
fn merge_all(
    mut runs: Vec<Run>,
    records: &MergeSpec,
    to: &mut Output,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let write = |parts: Vec<MergedPart>| {
        parts.iter().try_for_each(|part| to.write_all(&part.bytes)).map_err(|error| to.failed(error))
    };
    let mut last = None;
    let parts = |_: &[&Piece], parts| Ok(parts);
    let merge = |runs: &mut [Run], left| merge_step(runs, records, left, &mut last, parts);
    let mut merged = merge_runs(&mut runs, records.selection, merge, write, progress)?;
    for run in &runs {
        if let Origin::Input(batches) = &run.source.from {
            merged.counts.add_all(&batches.counts);
            if !batches.head.is_empty() {
                let problem = "has comments after its first record; a merge cannot move them to the top";
                return Err(Error::input(&batches.name, problem).hinting(Hint::Sort));
            }
        }
    }
    Ok(merged)
}

/// Merges at most `left` records in memory that no unread record can precede. `last` is the key of the
/// last merged record. `finish` makes the output of the parts.
fn merge_step<T>(
    runs: &mut [Run],
    records: &MergeSpec,
    left: u64,
    last: &mut Option<Vec<u8>>,
    finish: impl FnOnce(&[&Piece], Vec<MergedPart>) -> Result<T, Error>,
) -> Result<Option<Step<T>>, Error> {
    let mut all = runs.iter().flat_map(|run| &run.source.pieces);
    if all.any(|piece| piece.keys.single().is_none()) {
        let pieces = runs.iter_mut().flat_map(|run| &mut run.source.pieces);
        parallel::map_parts(pieces.filter(|piece| !piece.keys.has_rows()), |piece| piece.keys.make_rows());
    }
    let last_of = |run: &Run| run.source.pieces.last().map(|piece| piece.keys.key(piece.len() - 1));
    let open = runs.iter().enumerate().filter(|(_, run)| run.is_open());
    let limit = open.filter_map(|(number, run)| Some((last_of(run)?, number))).min();
    let pieces: Vec<(usize, &Piece)> = runs
        .iter()
        .enumerate()
        .flat_map(|(number, run)| run.source.pieces.iter().map(move |piece| (number, piece)))
        .collect();
    let certain = |&(number, piece): &(usize, &Piece)| {
        let is_certain = |record| {
            limit
                .as_ref()
                .is_none_or(|(limit, of)| piece.keys.compare(record, limit).then(number.cmp(of)).is_le())
        };
        partition(piece.at..piece.len(), is_certain)
    };
    let ends: Vec<usize> = pieces.iter().map(certain).collect();
    let (runs_of, pieces): (Vec<usize>, Vec<&Piece>) = pieces.into_iter().unzip();
    if pieces.iter().zip(&ends).all(|(piece, &end)| piece.at == end) {
        return Ok(None);
    }
    let cuts = cut(&pieces, &ends);
    let are_high = pieces[0].keys.single().is_some();
    let part = |cuts: &[Vec<usize>]| {
        let bounds = [&cuts[0][..], &cuts[1][..]];
        let last = last.as_deref();
        if are_high {
            // A `last` with another lower half differs from all of these keys.
            let high = |last: &[u8]| {
                let (high, low) = last.split_first_chunk()?;
                (low == keys::EXACT.to_be_bytes()).then_some(u64::from_be_bytes(*high))
            };
            merge_part(&pieces, &runs_of, bounds, records, last.and_then(high), |piece| {
                let words = piece.keys.single().expect("all pieces have one key");
                move |record: usize| words[record]
            })
        } else {
            merge_part(&pieces, &runs_of, bounds, records, last, |piece| {
                move |record: usize| piece.keys.row(record)
            })
        }
    };
    let mut merged: Vec<MergedPart> = parallel::map_parts(cuts.windows(2), part);
    let lasts = pieces.iter().zip(&ends).filter(|(piece, end)| piece.at < **end);
    *last = lasts.map(|(piece, end)| piece.keys.key(end - 1)).max();
    let (mut read, mut written, mut repeated) = (0, 0, 0);
    for part in &mut merged {
        part.truncate(usize::try_from(left - written).unwrap_or(usize::MAX));
        written += part.written as u64;
        repeated += part.repeated as u64;
    }
    let size = merged.iter().map(|part| part.bytes.len() + size_of_val(&part.rows[..])).sum();
    let merged = finish(&pieces, merged)?;
    let mut ends = ends.into_iter();
    let limit = limit.map(|(_, limit)| limit);
    let held_by_others = |runs: &[Run]| {
        let others = runs.iter().enumerate().filter(|(number, _)| Some(*number) != limit);
        others.map(|(_, run)| run.source.held()).sum::<usize>()
    };
    let before = held_by_others(runs);
    for run in &mut *runs {
        for (piece, end) in run.source.pieces.iter_mut().zip(ends.by_ref()) {
            read += (end - piece.at) as u64;
            piece.at = end;
        }
        run.source.pieces.retain(|piece| piece.at < piece.len());
        run.most = run.share;
    }
    // If the keys of other inputs come much later, this input alone determines the amount of each merge.
    let after = held_by_others(runs);
    if let Some(limit) = limit.filter(|_| after >= before / 4 * 3) {
        let share = runs[limit].share.max(1 << 13);
        runs[limit].most = records.bytes.saturating_sub(after).clamp(share, 8 << 20);
    }
    Ok(Some(Step { merged, read, written, repeated, bytes: size }))
}

/// Returns the first record of the range that fails `is_certain`; the condition must hold exactly for a
/// prefix.
pub fn partition(records: std::ops::Range<usize>, is_certain: impl Fn(usize) -> bool) -> usize {
    let (mut begin, mut end) = (records.start, records.end);
    while begin < end {
        let middle = begin + (end - begin) / 2;
        if is_certain(middle) { begin = middle + 1 } else { end = middle }
    }
    begin
}

/// Returns the bounds that divide the pieces, up to `ends`, into parts of about equal size, based on a
/// sample of the records. Equal keys are ordered by piece.
fn cut(pieces: &[&Piece], ends: &[usize]) -> Vec<Vec<usize>> {
    /// The number of samples per piece and part.
    const SAMPLES: usize = 4;
    let bytes: usize = pieces.iter().zip(ends).map(|(piece, &end)| piece.length(piece.at, end)).sum();
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
        samples.sort_by_cached_key(|&(piece, record)| (pieces[piece].keys.key(record), piece, record));
        let cut = |part: usize| {
            let (number, record) = samples[part * samples.len() / parts];
            let key = pieces[number].keys.key(record);
            let before = |(other, (piece, &end)): (usize, (&&Piece, &usize))| {
                partition(piece.at..end, |here| {
                    piece.keys.compare(here, &key).then((other, here).cmp(&(number, record))).is_lt()
                })
            };
            pieces.iter().zip(ends).enumerate().map(before).collect()
        };
        cuts.extend(parallel::map_parts(1..parts, cut));
    }
    cuts.push(ends.to_vec());
    cuts
}

/// Merged records.
#[derive(Default)]
struct MergedPart {
    bytes: Vec<u8>,
    /// The rows of batches, each by the number of its piece and its number in the piece.
    rows: Vec<(usize, usize)>,
    written: usize,
    repeated: usize,
    /// For each record, its end and the number of repetitions before it; kept only if the output is
    /// limited.
    ends: Vec<(usize, usize)>,
}

impl MergedPart {
    /// Keeps at most `most` records. If this reaches the limit, repetitions after the last kept record
    /// do not count.
    fn truncate(&mut self, most: usize) {
        if self.written >= most {
            let (end, repeated) = most.checked_sub(1).map_or((0, 0), |last| self.ends[last]);
            self.bytes.truncate(end);
            self.rows.truncate(most);
            (self.written, self.repeated) = (most, repeated);
        }
    }
}

/// Appends the records of two runs, given as ranges of pieces, and returns their number. Selects the
/// next record without a branch, which processors would mispredict.
fn merge_two<'a, K: Ord, F: Fn(usize) -> K>(
    mut runs: [impl Iterator<Item = (&'a Piece, usize, usize)>; 2],
    keys_of: impl Fn(&'a Piece) -> F,
    to: &mut Vec<u8>,
) -> usize {
    let mut written = 0;
    let [first, second] = runs.each_mut().map(Iterator::next);
    let mut now = [first, second];
    while let [Some((a, mut i, end_of_a)), Some((b, mut j, end_of_b))] = now {
        let begin = i + j;
        let (key_of_a, key_of_b) = (keys_of(a), keys_of(b));
        while i < end_of_a && j < end_of_b {
            let takes_b = key_of_b(j) < key_of_a(i);
            [a, b][usize::from(takes_b)].push([i, j][usize::from(takes_b)], to);
            i += usize::from(!takes_b);
            j += usize::from(takes_b);
        }
        written += i + j - begin;
        now = [(a, i, end_of_a), (b, j, end_of_b)].map(Some);
        for (now, run) in now.iter_mut().zip(&mut runs) {
            if now.is_some_and(|(_, at, end)| at == end) {
                *now = run.next();
            }
        }
    }
    for (now, run) in now.into_iter().zip(runs) {
        for (piece, from, end) in now.into_iter().chain(run) {
            (from..end).for_each(|record| piece.push(record, to));
            written += end - from;
        }
    }
    written
}

/// The length of a record that repeats the key of the record before.
pub const REPEATED: u64 = u64::MAX;

/// Appends the number of a record, its length and its bytes, or [`REPEATED`] without bytes. Both numbers are
/// little-endian and have 64 bits.
pub fn push_numbered(number: u64, record: Option<(&Piece, usize)>, to: &mut Vec<u8>) {
    to.extend_from_slice(&number.to_le_bytes());
    let begin = to.len();
    to.extend_from_slice(&REPEATED.to_le_bytes());
    if let Some((piece, record)) = record {
        piece.push(record, to);
        let length = (to.len() - begin - size_of::<u64>()) as u64;
        to[begin..][..size_of::<u64>()].copy_from_slice(&length.to_le_bytes());
    }
}

/// Merges the records of the pieces between two bounds; `runs_of` has the run of each piece. With
/// `unique`, drops records that repeat the key before; the key before the first record is either `last`
/// or a key before the bounds.
fn merge_part<'a, K: Ord + Copy, F: Fn(usize) -> K>(
    pieces: &[&'a Piece],
    runs_of: &[usize],
    [from, to]: [&[usize]; 2],
    records: &MergeSpec,
    last: Option<K>,
    keys_of: impl Fn(&'a Piece) -> F,
) -> MergedPart {
    let selection = records.selection;
    let some: Vec<usize> = (0..pieces.len()).filter(|&piece| from[piece] < to[piece]).collect();
    let length = some.iter().map(|&piece| pieces[piece].length(from[piece], to[piece])).sum();
    if let (Emit::Records, Selection::ALL) = (records.emit, selection)
        && let [first, .., last] = some[..]
        && some.iter().all(|&piece| [runs_of[first], runs_of[last]].contains(&runs_of[piece]))
        && runs_of[first] != runs_of[last]
    {
        let of_run = |run| {
            some.iter()
                .filter(move |&&piece| runs_of[piece] == run)
                .map(|&piece| (pieces[piece], from[piece], to[piece]))
        };
        let mut part = MergedPart { bytes: Vec::with_capacity(length), ..MergedPart::default() };
        part.written = merge_two([of_run(runs_of[first]), of_run(runs_of[last])], keys_of, &mut part.bytes);
        return part;
    }
    let before = pieces.iter().zip(from).filter(|(piece, from)| piece.at < **from);
    let before = before.map(|(piece, from)| keys_of(piece)(from - 1)).max();
    let mut last = before.or(last).filter(|_| selection.unique);
    let (mut items, mut ends, mut run) = (Vec::new(), vec![0], None);
    for number in some {
        let (piece, from, to) = (pieces[number], from[number], to[number]);
        let key = keys_of(piece);
        items.extend((from..to).map(|record| (key(record), number as u32, record as u32)));
        // Adjacent pieces of one run are in order.
        if run.replace(runs_of[number]) == Some(runs_of[number]) {
            ends.pop();
        }
        ends.push(items.len());
    }
    let mut merged = items.clone();
    if ends.len() > 2 {
        let sorted: Vec<&[(K, u32, u32)]> = ends.windows(2).map(|ends| &items[ends[0]..ends[1]]).collect();
        gpusort_cpu::merge_by(&sorted, &mut merged, |a, b| a.0 < b.0);
    }
    drop(items);
    let (length, mut frame) = match records.emit {
        Emit::Frames(payload, most) => (length, Some(Frame::new(payload, most))),
        Emit::Rows => (0, None),
        _ => (length, None),
    };
    let mut part = MergedPart { bytes: Vec::with_capacity(length), ..MergedPart::default() };
    for (key, number, record) in merged {
        let (piece, record) = (pieces[number as usize], record as usize);
        let repeats = selection.unique && last.replace(key) == Some(key);
        let merges_invalid = matches!(records.emit, Emit::Numbered(true));
        if repeats && (merges_invalid || !piece.keys.has_invalid(record, records.orders)) {
            part.repeated += 1;
            if let Emit::Numbered(_) = records.emit {
                push_numbered(piece.positions[record], None, &mut part.bytes);
            }
            continue;
        }
        let to = &mut part.bytes;
        match records.emit {
            Emit::Records => piece.push(record, to),
            Emit::Elements(element, descending) => {
                keys::push_element(piece.keys.word(record, 0), descending, element, to);
            }
            Emit::Positions(None) => push_integer(piece.positions[record], to),
            Emit::Positions(Some(element)) => {
                to.extend_from_slice(&piece.positions[record].to_le_bytes()[..element.bytes()]);
            }
            Emit::Numbered(_) => push_numbered(piece.positions[record], Some((piece, record)), to),
            Emit::Frames(..) => {
                let position = piece.positions.get(record).copied().unwrap_or(0);
                frame.iter_mut().for_each(|frame| frame.push(piece, record, position, to));
            }
            Emit::Rows => part.rows.push((number as usize, record)),
        }
        part.written += 1;
        if selection.first.is_some() {
            if let Some(frame) = &mut frame {
                frame.end(&mut part.bytes);
            }
            part.ends.push((part.bytes.len(), part.repeated));
        }
    }
    frame.iter_mut().for_each(|frame| frame.end(&mut part.bytes));
    part
}
