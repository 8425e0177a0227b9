//! Sorts on the CPU: by the fast sort, or by a named network.

use gpusort_order::{Algorithm, Pair, is_few};

use super::{DeviceJob, Method, Ordered, Progress, ResultKind, Sorted, number_of_records};
use crate::key_buf::{KeyBuf, by_width};
use crate::report::{Form, Ran, Report};
use gpusort_base::clock::{Instant, timed};
use gpusort_base::error::Error;
use gpusort_cpu::{self as cpu, Piece};

/// Sorts the keys of a job on all cores: the first few, by a named network, or by the fast sort.
pub(super) fn sort(job: DeviceJob, progress: Progress) -> Result<Ordered<'static>, Error> {
    let DeviceJob { keys, result, first, method } = job;
    let keys = keys.collect()?;
    let n = keys.len();
    let few = first.map(|first| first.min(n)).filter(|&few| method.algorithm.is_none() && is_few(few, n));
    let (words, report) = match (result, few) {
        (result, Some(few)) => {
            let start = Instant::now();
            let words = if let ResultKind::Keys = result {
                by_width!(keys, blocks => cpu::top(&blocks, few, |key, _| key).into())
            } else {
                number_of_records(n)?;
                result.at(by_width!(keys, blocks => {
                    cpu::records(&cpu::top(&blocks, few, |key, payload| Pair { key, payload }))
                }))
            };
            (words, Report::on_cpu(Form::Top, start.elapsed()))
        }
        (ResultKind::Keys, None) => by_width!(keys, blocks => {
            let (keys, report) = sort_pieces(blocks, method, progress)?;
            (keys.into(), report)
        }),
        (ResultKind::Positions, None) => sort_positions(keys, number_of_records(n)?, method, progress)?,
        (ResultKind::Records(records), None) => sort_records(keys, records, method, progress)?,
    };
    Ok(Sorted { words: words.truncated(first), repeated: 0, report }.into())
}

/// Sorts the positions of `n` keys.
fn sort_positions(
    keys: KeyBuf,
    n: u32,
    method: Method,
    progress: Progress,
) -> Result<(KeyBuf<'static>, Report), Error> {
    let start = Instant::now();
    if network(method)?.is_none() {
        let (positions, form) = by_width!(&keys, blocks => cpu::positions(blocks));
        return Ok((positions.into(), fast(method, form, start)));
    }
    sort_records(keys, (0..n).collect::<Vec<u32>>().into(), method, progress)
}

/// Sorts records by their keys, one key for each record.
fn sort_records(
    keys: KeyBuf,
    records: KeyBuf,
    method: Method,
    progress: Progress,
) -> Result<(KeyBuf<'static>, Report), Error> {
    assert_eq!(keys.len(), records.len(), "each record has its key");
    let (keys, records) =
        if keys.lengths() == records.lengths() { (keys, records) } else { (keys.joined(), records.joined()) };
    by_width!(keys, keys => by_width!(records, records => {
        let pieces: Vec<_> = keys.into_iter().zip(records).collect();
        let (pairs, mut report) = sort_pieces(pieces, method, progress)?;
        let records = timed(&mut report.sort.time, || cpu::records(&pairs).into());
        Ok((records, report))
    }))
}

/// Sorts elements by a network, as a whole, or by the fast sort.
fn sort_pieces<P: Piece>(
    pieces: Vec<P>,
    method: Method,
    progress: Progress,
) -> Result<(Vec<P::Item>, Report), Error> {
    let start = Instant::now();
    let Some(algorithm) = network(method)? else {
        let (sorted, form) = cpu::sort(pieces);
        return Ok((sorted, fast(method, form, start)));
    };
    let mut elements = cpu::join(&pieces);
    drop(pieces);
    let passes = cpu::sort_by_network(algorithm, &mut elements, progress)?;
    let report = Report {
        ran: Ran { algorithm: Some(algorithm), form: Form::Network },
        dispatches: passes.count,
        bytes_moved: passes.bytes_moved,
        ..Report::on_cpu(Form::Network, start.elapsed())
    };
    Ok((elements, report))
}

/// Returns the requested algorithm; `None` unless the caller requested a network.
fn network(method: Method) -> Result<Option<Algorithm>, Error> {
    let Some(algorithm) = method.algorithm else { return Ok(None) };
    algorithm.variant(method.variant)?;
    Ok(Some(algorithm).filter(|algorithm| algorithm.is_network()))
}

/// Returns the report of the fast sort. For a caller who names the radix sort, the form is `radix` in any case.
fn fast(method: Method, form: Form, start: Instant) -> Report {
    let form = if method.algorithm.is_some() { Form::Radix } else { form };
    Report::on_cpu(form, start.elapsed())
}
