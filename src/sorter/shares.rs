//! Sorts in shares: more keys than a GPU takes at once, and several GPUs.
//!
//! ```text
//! keys     ───────── share 0 ─┬─ share 1 ─┬─ share 2 ─┬─ share 3 ──
//! lanes                  GPU 0       GPU 1       GPU 1       GPU 0        each takes the next one when it is done
//! merged                 0 and 3 by GPU 0, 1 and 2 by GPU 1               where they have memory for that
//! result   ─────────────────────────────────────────────────────────      merged by all cores, where there are several
//! ```
//!
//! A GPU has two lanes, so that keys go up for one while the other sorts. Where it has not enough memory for both, one goes
//! on, with halves of its share if need be. A GPU that fails gives its shares back, and others do the rest.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use super::kept::{Gathered, Kept, Lost, Merging};
use super::on_gpu::OnGpu;
use super::{Give, Job, Method, Ordered, Place, Progress, number_of_records};
use crate::clock::{Clock, Elapsed, Instant};
use crate::cpu::{self, Pair};
use crate::error::{Error, ErrorKind};
use crate::key::KeyWords;
use crate::memory;
use crate::parallel;
use crate::plan::Shape;
use crate::report::{Form, Report};
use crate::runs;
use crate::words::{Block, Width, Words, by_width, in_one};

/// Lanes of each GPU.
const LANES: usize = 2;

/// The most elements of a share: several of them are under way at the same time.
const MOST: usize = 1 << 28;

/// Fewer are not worth a second share.
const LEAST: usize = 1 << 16;

/// Sorts on these GPUs, at least one.
pub(super) fn sort<'s>(gpus: &'s [OnGpu], job: Job, progress: Progress) -> Result<Ordered<'s>, Error> {
    let Job { keys, give, first, method } = job;
    let keys = keys.collect()?;
    let n = keys.len();
    let positions = !matches!(give, Give::Keys);
    if positions {
        number_of_records(n)?;
    }
    let shape = Shape { key: keys.width(), positions };
    let shares = shares(gpus, n, shape, method);
    // What several GPUs merge are not neighbouring shares, and only the order of these tells equal keys apart. Of each share's
    // first elements there are few.
    let stay = first.is_none() && (gpus.len() == 1 || !positions);
    let kept: Vec<Kept> = gpus.iter().map(|gpu| Kept::new(gpu, shape, stay)).collect();
    let sort = |number: usize, share: Range<usize>| {
        let gpu: &OnGpu = &gpus[number];
        kept[number].sort(share.clone(), || {
            let give = if positions { Give::Positions } else { Give::Keys };
            let job = Job { keys: keys.range(share.clone()).into(), give, first, method };
            let mut placed = gpu.place(&job)?;
            // A slower plan in place of memory that others stay in is no bargain.
            if let Some(lacked) = placed.lacked_memory().filter(|_| kept[number].stays()) {
                return Err(lacked);
            }
            // Where elements have positions, these are few enough.
            let begin = u32::try_from(share.start).ok();
            let ordered = gpu.sort_from(job, placed, begin, &mut |_, _| {})?;
            let report = ordered.report.clone();
            Ok((ordered, report))
        })
    };
    // What has no other part is merged when it is wanted.
    let merge = |number: usize, failed: Option<Error>| {
        if let Some(error) = failed {
            // What it holds now is not to be trusted.
            return Err(Box::new(kept[number].lose(error)));
        }
        let gathered = kept[number].gathered()?;
        if gpus.len() == 1 { Ok(gathered) } else { gathered.bring() }
    };
    let start = Instant::now();
    let Outcome { sorted, merged, sorting, failed } =
        sort_and_merge(gpus.len(), shares, &sort, &merge, progress)?;
    let stayed = sorted.iter().any(|(_, (brought, _))| brought.is_none());
    let mut place: Option<Merging> = None;
    let (mut results, mut reports): (Vec<(usize, Words)>, _) = (Vec::new(), Vec::new());
    for (begin, (brought, report)) in sorted {
        results.extend(brought.map(|words| (begin, words)));
        reports.push(report);
    }
    for Gathered { merging, brought } in merged {
        results.extend(brought);
        place = place.or(merging);
    }
    results.sort_unstable_by_key(|(begin, _)| *begin);
    // Whatever happened on the way, none is missing.
    let brought: usize = results.iter().map(|(_, words)| words.len()).sum();
    let stayed_there = place.as_ref().map_or(0, Merging::count);
    assert!(first.is_some() || brought + stayed_there == n, "a share is missing");
    assert!(place.is_none() || results.is_empty(), "what stays is all there is");
    // One GPU that had to bring them has not merged them.
    let there = place.is_some() || gpus.len() > 1 && stayed;

    let shares = reports.len();
    let together = |before: Report, report: Report| Report {
        // At the same time.
        prepare: before.prepare.max(report.prepare),
        ..report.after(&before)
    };
    let report = reports.into_iter().reduce(together);
    let place = match place {
        Some(merging) => {
            let records = if let Give::Records(records) = give { Some(records.joined()) } else { None };
            Place::Shares(Box::new(merging.giving(records)))
        }
        None if positions => Place::Memory(
            give.at(by_width!(keys, blocks => merged_positions(&in_one(blocks), results))).truncated(first),
        ),
        None => {
            drop(keys);
            let merged = match shape.key {
                KeyWords::One => merged_keys::<u32>(results),
                KeyWords::Two => merged_keys::<u64>(results),
            };
            Place::Memory(merged.truncated(first))
        }
    };
    let count = first.map_or(n, |first| first.min(n));
    let report = report.unwrap_or_else(|| Report::on_cpu(Form::InOrder, Duration::ZERO));
    let number = if gpus.len() > 1 { format!(" on {} GPUs", gpus.len()) } else { String::new() };
    let merged = if there { ", merged there" } else { "" };
    let cut = format!("in {shares} shares{number}{merged}");
    let why =
        report.why.clone().into_iter().chain([cut]).chain(failed).reduce(|why, more| why + "; " + &more);
    // Transfers and sorts of different shares go on at the same time.
    let sort = Elapsed { time: sorting, clock: Clock::Host };
    let (upload, download) = (Duration::ZERO, Duration::ZERO);
    let merge = start.elapsed().saturating_sub(sorting);
    let report = Report { upload, sort, download, merge, shares, why, ..report };
    Ok(Ordered { place, count, repeated: 0, report })
}

/// Shares of about equal size, as many as the GPUs have lanes for, or more.
fn shares(gpus: &[OnGpu], n: usize, shape: Shape, method: Method) -> VecDeque<Range<usize>> {
    let most = gpus.iter().map(|gpu| gpu.most(n, shape, method)).min().unwrap_or(n).clamp(1, MOST);
    let count = n.div_ceil(most).next_multiple_of(LANES * gpus.len());
    let size = n.div_ceil(count).max(LEAST.min(most));
    (0..n).step_by(size).map(|begin| begin..n.min(begin + size)).collect()
}

/// The shares that are left, and who sorts.
struct State {
    left: VecDeque<Range<usize>>,
    /// Shares that are being sorted.
    busy: usize,
    /// How many lanes of each GPU are at work or wait for work.
    lanes: Vec<usize>,
    /// How each GPU failed, if it did.
    failed: Vec<Option<Error>>,
    /// What ends all.
    error: Option<Error>,
}

/// What came of all.
struct Outcome<R, M> {
    /// What each share became, with where it begins; in any order.
    sorted: Vec<(usize, R)>,
    /// What GPUs have merged.
    merged: Vec<M>,
    /// How long sorting took.
    sorting: Duration,
    /// What is to be said of GPUs that failed.
    failed: Option<String>,
}

/// Sorts the shares by `sort`, and has each GPU `merge` what it sorted, unless it has failed; both get its number. Shares that are
/// lost when a GPU fails are sorted by others.
fn sort_and_merge<R: Send, M: Send>(
    gpus: usize,
    shares: VecDeque<Range<usize>>,
    sort: &(impl Fn(usize, Range<usize>) -> Result<R, Error> + Sync),
    merge: &(impl Fn(usize, Option<Error>) -> Result<M, Box<Lost>> + Sync),
    progress: Progress,
) -> Result<Outcome<R, M>, Error> {
    let mut working: Vec<usize> = (0..gpus).collect();
    let mut failures: Vec<Error> = Vec::new();
    let (mut sorted, mut merged, mut sorting) = (Vec::new(), Vec::new(), Duration::ZERO);
    let mut left = shares;
    loop {
        let start = Instant::now();
        let of_working = |number: usize, share| sort(working[number], share);
        let (more, failed) = sort_shares(working.len(), std::mem::take(&mut left), &of_working, progress)?;
        sorted.extend(more);
        sorting += start.elapsed();
        let results: Vec<_> = std::thread::scope(|scope| {
            let under_way: Vec<_> = working
                .iter()
                .zip(failed)
                .map(|(&gpu, failed)| (gpu, parallel::meanwhile(scope, move || merge(gpu, failed))))
                .collect();
            under_way.into_iter().map(|(gpu, merge)| (gpu, merge.wait())).collect()
        });
        for (gpu, result) in results {
            match result {
                Ok(of_gpu) => merged.push(of_gpu),
                Err(lost) => {
                    left.extend(lost.shares);
                    failures.push(lost.error);
                    working.retain(|&other| other != gpu);
                }
            }
        }
        if left.is_empty() {
            break;
        }
        if working.is_empty() {
            // Who works no more has failed.
            let last = failures.pop();
            return Err(last.unwrap_or_else(|| Error::device("no GPU is at work")));
        }
    }
    let say = |error: Error| format!("a GPU failed and others did its part: {error}");
    let failed = failures.into_iter().map(say).reduce(|all, more| all + "; " + &more);
    Ok(Outcome { sorted, merged, sorting, failed })
}

/// What came of shares: each result with where its share begins, in any order, and how each GPU failed, if it did.
type Results<R> = (Vec<(usize, R)>, Vec<Option<Error>>);

/// Sorts the shares by `sort`, which gets the number of a GPU.
fn sort_shares<R: Send>(
    gpus: usize,
    shares: VecDeque<Range<usize>>,
    sort: &(impl Fn(usize, Range<usize>) -> Result<R, Error> + Sync),
    progress: Progress,
) -> Result<Results<R>, Error> {
    let all: usize = shares.iter().map(Range::len).sum();
    let lanes = vec![LANES; gpus];
    let state = Mutex::new(State {
        left: shares,
        busy: 0,
        lanes,
        failed: (0..gpus).map(|_| None).collect(),
        error: None,
    });
    let changed = Condvar::new();
    let mut results = Vec::new();
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let (state, changed) = (&state, &changed);
        for number in 0..gpus * LANES {
            let gpu = number % gpus;
            let send = send.clone();
            parallel::meanwhile(scope, move || {
                let give = |share: Range<usize>, sorted| {
                    // If nobody receives it, all has ended.
                    let _ = send.send((share, sorted));
                };
                lane(state, changed, gpu, |share| sort(gpu, share), give);
            });
        }
        drop(send);
        let mut done = 0;
        for (share, sorted) in receive {
            done += share.len();
            progress(done as u64, all as u64);
            results.push((share.start, sorted));
        }
    });
    let State { left, mut failed, error, .. } = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = error {
        return Err(error);
    }
    if !left.is_empty()
        && let Some(error) = failed.iter_mut().find_map(Option::take)
    {
        return Err(error);
    }
    Ok((results, failed))
}

/// Sorts one share after another on a GPU, until none is left and none may come back.
fn lane<R>(
    state: &Mutex<State>,
    changed: &Condvar,
    gpu: usize,
    sort: impl Fn(Range<usize>) -> Result<R, Error>,
    give: impl Fn(Range<usize>, R),
) {
    let locked = || -> MutexGuard<State> { state.lock().unwrap_or_else(PoisonError::into_inner) };
    loop {
        let mut now = locked();
        let share = loop {
            if now.lanes[gpu] == 0 || now.error.is_some() {
                return;
            }
            if let Some(share) = now.left.pop_front() {
                break share;
            }
            if now.busy == 0 {
                return;
            }
            now = changed.wait(now).unwrap_or_else(PoisonError::into_inner);
        };
        now.busy += 1;
        drop(now);
        let sorted = sort(share.clone());
        let mut now = locked();
        now.busy -= 1;
        let is_alive = match sorted {
            Ok(sorted) => {
                give(share, sorted);
                true
            }
            Err(error) => now.take_back(gpu, share, error),
        };
        changed.notify_all();
        if !is_alive {
            return;
        }
    }
}

impl State {
    /// Takes back a share that was not sorted for this reason; whether the lane goes on.
    fn take_back(&mut self, gpu: usize, share: Range<usize>, error: Error) -> bool {
        match error.kind() {
            // Once more with all memory for one lane, and then with less to do.
            ErrorKind::NoMemory { .. } if self.lanes[gpu] > 1 => {
                self.lanes[gpu] -= 1;
                self.left.push_front(share);
                false
            }
            ErrorKind::NoMemory { .. } if share.len() > LEAST => {
                let middle = share.start + share.len() / 2;
                self.left.push_front(middle..share.end);
                self.left.push_front(share.start..middle);
                true
            }
            _ if error.is_too_much() => {
                self.error.get_or_insert(error);
                false
            }
            _ => {
                self.left.push_front(share);
                // Its lanes fail together.
                if std::mem::take(&mut self.lanes[gpu]) > 0 {
                    self.failed[gpu] = Some(error);
                }
                false
            }
        }
    }
}

/// Merges the keys of shares.
fn merged_keys<W: Width>(results: Vec<(usize, Words<'static>)>) -> Words<'static> {
    let blocks = results.into_iter().filter_map(|(_, words)| W::blocks(words));
    let mut blocks: Vec<Block<W>> = blocks.map(in_one).collect();
    if blocks.len() == 1 {
        return W::words(blocks);
    }
    let mut all = memory::zeroed(blocks.iter().map(|block| block.len()).sum());
    let slices: Vec<&[W]> = blocks.iter().map(|block| &**block).collect();
    runs::merge(&slices, &mut all);
    blocks.clear();
    all.into()
}

/// Merges positions of shares, by the keys there.
fn merged_positions<W: Width>(keys: &[W], results: Vec<(usize, Words<'static>)>) -> Vec<u32> {
    let positions = |words: Words<'static>| u32::blocks(words).map(in_one).unwrap_or_default();
    let mut positions: Vec<Block<u32>> = results.into_iter().map(|(_, words)| positions(words)).collect();
    if positions.len() == 1 {
        return positions.swap_remove(0).into_owned();
    }
    let pair = |&position: &u32| Pair { key: keys[position as usize], position };
    let pairs: Vec<Vec<Pair<W>>> = positions.iter().map(|positions| parallel::map(positions, pair)).collect();
    let mut all = memory::zeroed(pairs.iter().map(Vec::len).sum());
    runs::merge(&pairs.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut all);
    cpu::records(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts 1000 elements in ten shares; `fails` says why a GPU does not sort a share. Where the results begin and end.
    fn shared(
        gpus: usize,
        fails: impl Fn(usize, &Range<usize>) -> Option<Error> + Sync,
    ) -> Result<(Vec<Range<usize>>, Option<String>), Error> {
        let size = 4 * LEAST;
        let shares = (0..10).map(|share| share * size..(share + 1) * size).collect();
        let sort = |gpu, share: Range<usize>| fails(gpu, &share).map_or(Ok(share), Err);
        let mut most = 0;
        let mut progress = |done, all| {
            assert!(done <= all);
            most = done;
        };
        let lose = |error| Err(Box::new(Lost { error, shares: Vec::new() }));
        let merge = |_, failed: Option<Error>| failed.map_or(Ok(()), lose);
        let Outcome { sorted: mut results, merged, failed: said, .. } =
            sort_and_merge(gpus, shares, &sort, &merge, &mut progress)?;
        assert!(merged.len() == gpus || merged.len() < gpus && said.is_some());
        results.sort_unstable_by_key(|(begin, _)| *begin);
        assert!(results.iter().all(|(begin, share)| *begin == share.start));
        let results: Vec<Range<usize>> = results.into_iter().map(|(_, share)| share).collect();
        assert!(results.windows(2).all(|pair| pair[0].end == pair[1].start), "{results:?}");
        assert_eq!(
            (results[0].start, results[results.len() - 1].end, most),
            (0, 10 * size, 10 * size as u64)
        );
        Ok((results, said))
    }

    fn no_memory() -> Error {
        Error::new(ErrorKind::NoMemory { device: "GPU".to_owned(), what: "keys".to_owned(), bytes: 5 })
    }

    #[test]
    fn every_share_is_sorted_once() {
        for gpus in 1..4 {
            let (results, said) = shared(gpus, |_, _| None).unwrap();
            assert_eq!((results.len(), said), (10, None));
        }
    }

    #[test]
    fn a_gpu_that_fails_hands_its_share_back() {
        for broken in 0..3 {
            let fails = |gpu, share: &Range<usize>| {
                (gpu == broken && share.start > 0).then(|| Error::device("it fell off the bus"))
            };
            let (results, said) = shared(3, fails).unwrap();
            assert_eq!(results.len(), 10);
            // Others may have taken all of it.
            let once = |said: String| {
                said.matches("others did its part").count() == 1 && said.contains("off the bus")
            };
            assert!(said.is_none_or(once));
        }
        // Both lanes of the first end before the second has begun.
        let slow = |gpu, _: &Range<usize>| {
            if gpu == 0 {
                return Some(Error::device("broken"));
            }
            std::thread::sleep(Duration::from_millis(1));
            None
        };
        assert!(shared(2, slow).is_ok());
        let error = shared(2, |_, _| Some(Error::device("broken"))).unwrap_err();
        assert!(error.to_string().contains("broken"), "{error}");
    }

    #[test]
    fn shares_that_are_lost_when_a_gpu_merges_are_sorted_by_others() {
        let shares = || (0..10).map(|share| share * 5..(share + 1) * 5).collect();
        for broken in 0..3 {
            let kept: [Mutex<Vec<Range<usize>>>; 3] = Default::default();
            let keep = |gpu: usize, share| {
                kept[gpu].lock().unwrap().push(share);
                Ok(())
            };
            let merge = |gpu: usize, _: Option<Error>| {
                let kept = std::mem::take(&mut *kept[gpu].lock().unwrap());
                if gpu == broken {
                    Err(Box::new(Lost { error: Error::device("it fell off the bus"), shares: kept }))
                } else {
                    Ok(kept)
                }
            };
            let outcome = sort_and_merge(3, shares(), &keep, &merge, &mut |_, _| {}).unwrap();
            let mut merged = outcome.merged.concat();
            merged.sort_unstable_by_key(|share| share.start);
            assert!(merged.into_iter().eq(shares().into_iter()));
            // It may have had none to lose.
            assert!(outcome.failed.is_none_or(|said| said.matches("off the bus").count() == 1));
            let alone =
                |_, _| Err(Box::new(Lost { error: Error::device("broken"), shares: vec![0..2, 2..5] }));
            let error = sort_and_merge(2, shares(), &|_, _| Ok(()), &alone, &mut |_, _| {})
                .map(|_: Outcome<(), ()>| ());
            assert!(error.unwrap_err().to_string().contains("broken"));
        }
    }

    #[test]
    fn what_has_no_room_is_halved() {
        let fails = |most: usize| move |_, share: &Range<usize>| (share.len() > most).then(no_memory);
        for gpus in 1..3 {
            assert_eq!(shared(gpus, fails(4 * LEAST)).unwrap().0.len(), 10);
            assert_eq!(shared(gpus, fails(LEAST)).unwrap().0.len(), 40);
            assert!(matches!(shared(gpus, fails(LEAST / 4)).unwrap_err().kind(), ErrorKind::NoMemory { .. }));
        }
    }

    #[test]
    fn what_no_device_can_do_is_an_error() {
        let error = shared(2, |_, _| Some(Error::lacks("subgroups"))).unwrap_err();
        assert!(error.to_string().contains("subgroups"), "{error}");
    }
}
