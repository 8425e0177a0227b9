//! The CPU: its fast sort, and networks as a whole.

use std::time::Instant;

use super::{Backend, Give, InMemory, Job, Method, Product, Progress, number_of_records};
use crate::cpu::{self, Item, Pair, Piece, network};
use crate::error::Error;
use crate::gpu::Gpu;
use crate::key::KeyWords;
use crate::order::is_few;
use crate::plan::{Limits, Plan, Shape};
use crate::report::{Form, Ran, Report};
use crate::words::{Block, Width, Words, by_width};

/// The CPU with all its cores.
pub(super) struct Cpu;

impl Backend for Cpu {
    fn sort<'s>(
        &'s self,
        job: Job<'_>,
        progress: Progress,
    ) -> Result<(Box<dyn Product + 's>, Report), Error> {
        let Job { keys, give, first, method } = job;
        let keys = keys.collect()?;
        let n = keys.len();
        let first = first.map(|first| first.min(n));
        let few = first.filter(|&first| method.algorithm.is_none() && is_few(first, n));
        let (words, report) = match (give, few) {
            (Give::Keys, Some(few)) => timed(|| by_width!(keys, blocks => top_keys(&blocks, few))),
            (Give::Keys, None) => by_width!(keys, blocks => sort_keys(blocks, method, progress))?,
            (Give::Positions, None) => {
                let positions = positions(&keys.lengths(), number_of_records(n)?);
                sort_records(keys, positions, method, progress)?
            }
            (Give::Records(records), None) => sort_records(keys, records, method, progress)?,
            (give, Some(few)) => {
                number_of_records(n)?;
                timed(|| {
                    let positions = by_width!(keys, blocks => top_positions(&blocks, few));
                    if let Give::Records(records) = give {
                        records.gathered(&positions)
                    } else {
                        positions.into()
                    }
                })
            }
        };
        let words = words.truncated(first);
        Ok((Box::new(InMemory(words)), report))
    }

    fn gpu(&self) -> Option<&Gpu> {
        None
    }
}

fn top_keys<W: Width>(blocks: &[Block<W>], first: usize) -> Words<'static> {
    cpu::top::<W, W>(blocks, first).into()
}

fn top_positions<W: Width>(blocks: &[Block<W>], first: usize) -> Vec<u32> {
    cpu::records(&cpu::top::<W, Pair<W>>(blocks, first))
}

/// A search for the first elements.
fn timed(search: impl FnOnce() -> Words<'static>) -> (Words<'static>, Report) {
    let start = Instant::now();
    let words = search();
    (words, Report::on_cpu(Form::Top, start.elapsed()))
}

fn sort_keys<W: Width>(
    blocks: Vec<Block<W>>,
    method: Method,
    progress: Progress,
) -> Result<(Words<'static>, Report), Error> {
    let (keys, report) = sort(blocks, W::WIDTH, method, progress)?;
    Ok((keys.into(), report))
}

/// The positions of `n` keys in blocks of these lengths.
fn positions(lengths: &[usize], n: u32) -> Words<'static> {
    let mut next = 0..n;
    let blocks: Vec<Vec<u32>> = lengths.iter().map(|&length| next.by_ref().take(length).collect()).collect();
    blocks.into()
}

/// Sorts records with their keys, which are as many.
fn sort_records(
    keys: Words,
    records: Words,
    method: Method,
    progress: Progress,
) -> Result<(Words<'static>, Report), Error> {
    fn pairs<W: Width, R: Width>(
        keys: Vec<Block<W>>,
        records: Vec<Block<R>>,
        method: Method,
        progress: Progress,
    ) -> Result<(Words<'static>, Report), Error> {
        let pieces: Vec<_> = keys.into_iter().zip(records).collect();
        let (pairs, mut report) = sort(pieces, W::WIDTH, method, progress)?;
        let start = Instant::now();
        let records = cpu::records(&pairs).into();
        report.sort.time += start.elapsed();
        Ok((records, report))
    }
    assert_eq!(keys.len(), records.len(), "each record has its key");
    let (keys, records) =
        if keys.lengths() == records.lengths() { (keys, records) } else { (keys.joined(), records.joined()) };
    by_width!(keys, keys => by_width!(records, records => pairs(keys, records, method, progress)))
}

/// Sorts elements by a network, as a whole, or by the fast sort.
fn sort<P: Piece>(
    pieces: Vec<P>,
    key: KeyWords,
    method: Method,
    progress: Progress,
) -> Result<(Vec<P::Item>, Report), Error> {
    let start = Instant::now();
    let Some(algorithm) = method.algorithm else {
        let (sorted, form) = cpu::sort(pieces);
        return Ok((sorted, Report::on_cpu(form, start.elapsed())));
    };
    algorithm.variant(method.variant)?;
    let positions = !P::Item::KEY_ONLY;
    let n = pieces.iter().map(P::count).sum();
    let plan = Plan::new(algorithm, algorithm.on_cpu(), n, Shape { key, positions }, &Limits::CPU)?;
    let dispatches = plan.dispatch_count();
    let mut elements = cpu::join(&pieces);
    drop(pieces);
    network::perform(&plan, &mut elements, |done| progress(done, dispatches));
    let report = Report {
        ran: Ran { algorithm: Some(algorithm), form: Form::Network },
        dispatches,
        bytes_moved: plan.bytes_moved(),
        ..Report::on_cpu(Form::Network, start.elapsed())
    };
    Ok((elements, report))
}
