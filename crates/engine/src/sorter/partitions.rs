//! Sorts in partitions: more keys than a GPU takes at once, and several GPUs.
//!
//! ```text
//! keys        partition 0 ─┬─ partition 1 ─┬─ partition 2 ─┬─ partition 3
//! workers        GPU 0           GPU 1           GPU 1           GPU 0        each takes one partition after another
//! merged                  0 and 3 by GPU 0, 1 and 2 by GPU 1                  where they have memory for that
//! result      ────────────────────────────────────────────────────────        merged by all cores, where there are several
//! ```
//!
//! A GPU has two workers: one uploads while the other sorts. If memory does not suffice for both, one
//! worker goes on, with halves of its partition if necessary. A failed GPU gives its partitions back, and
//! other GPUs sort them.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

use gpusort_order::{Item, KeyWords, Pair, Shape};

use super::on_gpu::OnGpu;
use super::planned::Task;
use super::resident::{Gathered, Merging, ResidentRuns};
use super::{DeviceJob, Method, Ordered, Place, Progress, number_of_records};
use crate::key_buf::{KeyBuf, KeyWidth, by_width, in_one};
use crate::report::{Form, Report};
use gpusort_base::clock::{Clock, Elapsed, Instant};
use gpusort_base::error::{Error, ErrorKind};
use gpusort_base::memory;
use gpusort_base::parallel::{self, lock};
use gpusort_cpu as cpu;

/// Workers of each GPU.
const WORKERS: usize = 2;

/// The maximum number of elements in a partition: several partitions are under way at the same time.
pub(super) const MOST: usize = 1 << 28;

/// Fewer elements are not worth a second partition.
const LEAST: usize = 1 << 16;

/// Sorts on these GPUs, at least one.
pub(super) fn sort<'s>(gpus: &'s [OnGpu], job: DeviceJob, progress: Progress) -> Result<Ordered<'s>, Error> {
    let shape = job.shape();
    let DeviceJob { keys, result, first, method } = job;
    let keys = keys.collect()?;
    let (n, positions) = (keys.len(), shape.payload);
    if positions {
        number_of_records(n)?;
    }
    let partitions = partitions(gpus, n, shape, method);
    // With several GPUs, the partitions that one GPU merges are not neighbours, and only the order of partitions
    // tells equal keys apart. With `first`, few elements of each partition remain.
    let stay = first.is_none() && (gpus.len() == 1 || !positions);
    let resident: Vec<ResidentRuns> = gpus.iter().map(|gpu| ResidentRuns::new(gpu, shape, stay)).collect();
    let sort = |number: usize, partition: Range<usize>| {
        let gpu: &OnGpu = &gpus[number];
        resident[number].sort(partition.clone(), || {
            let mut placed = gpu.place(Task { n: partition.len(), first, shape, method })?;
            // Bringing resident partitions costs less than a slower plan.
            if let Some(lacked) = placed.lacked.take_if(|it| it.is_no_memory() && resident[number].stays()) {
                return Err(lacked);
            }
            // If elements have positions, the positions fit 32 bits.
            let begin = u32::try_from(partition.start).ok();
            gpu.sort_from(keys.range(partition.clone()).into(), placed, begin, &mut |_, _| {})
        })
    };
    // A single GPU merges its partitions when the caller wants the result.
    let merge = |number: usize| {
        let gathered = resident[number].gathered()?;
        if gpus.len() == 1 { Ok(gathered) } else { gathered.bring() }
    };
    let start = Instant::now();
    let Outcome { sorted, merged, sorting, failed } =
        sort_and_merge(gpus.len(), partitions, &sort, &merge, progress)?;
    let stayed = sorted.iter().any(|(.., (brought, _))| brought.is_none());
    let mut place: Option<Merging> = None;
    let (mut results, mut reports): (Vec<(usize, KeyBuf)>, _) = (Vec::new(), Vec::new());
    for (_, partition, (brought, report)) in sorted {
        results.extend(brought.map(|words| (partition.start, words)));
        reports.push(report);
    }
    for Gathered { merging, brought } in merged {
        results.extend(brought);
        place = place.or(merging);
    }
    results.sort_unstable_by_key(|(begin, _)| *begin);
    // All partitions are present, whatever failed on the way.
    let brought: usize = results.iter().map(|(_, words)| words.len()).sum();
    let stayed_there = place.as_ref().map_or(0, Merging::count);
    assert!(first.is_some() || brought + stayed_there == n, "a share is missing");
    assert!(place.is_none() || results.is_empty(), "what stays is all there is");
    // A single GPU that had to download its partitions has not merged them.
    let there = place.is_some() || gpus.len() > 1 && stayed;

    let partitions = reports.len();
    let together = |before: Report, report: Report| Report {
        // The partitions prepare at the same time.
        prepare: before.prepare.max(report.prepare),
        ..report.after(&before)
    };
    let report = reports.into_iter().reduce(together);
    let place = match place {
        Some(merging) => Place::Device(Box::new(merging), result.records(n)),
        None if positions => Place::Memory(
            result.at(by_width!(keys, blocks => merged_positions(&in_one(blocks), results))).truncated(first),
        ),
        None => {
            drop(keys);
            let is_narrow = shape.key == KeyWords::One;
            let merged = if is_narrow { merged_keys::<u32>(results) } else { merged_keys::<u64>(results) };
            Place::Memory(merged.truncated(first))
        }
    };
    let count = first.map_or(n, |first| first.min(n));
    let report = report.unwrap_or_else(|| Report::on_cpu(Form::InOrder, Duration::ZERO));
    let number = if gpus.len() > 1 { format!(" on {} GPUs", gpus.len()) } else { String::new() };
    let merged = if there { ", merged there" } else { "" };
    let cut = format!("in {partitions} shares{number}{merged}");
    let why =
        report.why.clone().into_iter().chain([cut]).chain(failed).reduce(|why, more| why + "; " + &more);
    // Transfers and sorts of different partitions go on at the same time.
    let sort = Elapsed { time: sorting, clock: Clock::Host };
    let (upload, download) = (Duration::ZERO, Duration::ZERO);
    let merge = start.elapsed().saturating_sub(sorting);
    let report = Report { upload, sort, download, merge, shares: partitions, why, ..report };
    Ok(Ordered { place, count, repeated: 0, report })
}

/// Returns partitions of about equal size, at least one for each worker.
fn partitions(gpus: &[OnGpu], n: usize, shape: Shape, method: Method) -> VecDeque<Range<usize>> {
    let most = gpus.iter().map(|gpu| gpu.most(n, shape, method)).min().unwrap_or(n).clamp(1, MOST);
    let count = n.div_ceil(most).next_multiple_of(WORKERS * gpus.len());
    let size = n.div_ceil(count).max(LEAST.min(most));
    parallel::ranges(n, size).collect()
}

/// The remaining partitions and the workers.
struct State {
    left: VecDeque<Range<usize>>,
    /// The number of partitions that workers sort now.
    busy: usize,
    /// The number of workers of each GPU that sort or wait.
    workers: Vec<usize>,
    /// The error of each failed GPU.
    failed: Vec<Option<Error>>,
    /// An error that ends the whole sort.
    error: Option<Error>,
}

/// A sorted partition: the number of its GPU; its range; its words, `None` if they stay on the GPU; and a report.
type Done<R> = (usize, Range<usize>, (Option<KeyBuf<'static>>, R));

/// The results of all GPUs.
struct Outcome<R, M> {
    /// The partitions, in any order. Partitions that a failed GPU lost come again from another GPU.
    sorted: Vec<Done<R>>,
    /// The merged results of each GPU.
    merged: Vec<M>,
    /// The time of the sorts.
    sorting: Duration,
    /// A note about failed GPUs.
    failed: Option<String>,
}

/// Sorts the partitions by `sort`, and merges the results of each GPU by `merge`; both get the number of the
/// GPU. Other GPUs sort the partitions of a failed GPU.
fn sort_and_merge<R: Send, M: Send>(
    gpus: usize,
    partitions: VecDeque<Range<usize>>,
    sort: &(impl Fn(usize, Range<usize>) -> Result<(Option<KeyBuf<'static>>, R), Error> + Sync),
    merge: &(impl Fn(usize) -> Result<M, Error> + Sync),
    progress: Progress,
) -> Result<Outcome<R, M>, Error> {
    let mut working: Vec<usize> = (0..gpus).collect();
    let mut failures: Vec<Error> = Vec::new();
    let (mut sorted, mut merged, mut sorting) = (Vec::new(), Vec::new(), Duration::ZERO);
    let mut left = partitions;
    loop {
        let start = Instant::now();
        let (more, failed) = sort_partitions(&working, std::mem::take(&mut left), sort, progress)?;
        sorting += start.elapsed();
        let results: Vec<_> = std::thread::scope(|scope| {
            let under_way: Vec<_> = working
                .iter()
                .zip(failed)
                .map(|(&gpu, failed)| {
                    // The memory of a failed GPU may hold wrong elements.
                    let merge = move || failed.map_or_else(|| merge(gpu), Err);
                    (gpu, parallel::meanwhile(scope, merge))
                })
                .collect();
            under_way.into_iter().map(|(gpu, merge)| (gpu, merge.wait())).collect()
        });
        for (gpu, result) in results {
            match result {
                Ok(of_gpu) => merged.push(of_gpu),
                Err(error) => {
                    let lost = more.iter().filter(|(of, _, (brought, _))| *of == gpu && brought.is_none());
                    left.extend(lost.map(|(_, partition, _)| partition.clone()));
                    failures.push(error);
                    working.retain(|&other| other != gpu);
                }
            }
        }
        sorted.extend(more);
        if left.is_empty() {
            break;
        }
        if working.is_empty() {
            return Err(failures.pop().expect("every GPU that stopped working has failed"));
        }
    }
    let say = |error: Error| format!("a GPU failed, and others took over its work: {error}");
    let failed = failures.into_iter().map(say).reduce(|all, more| all + "; " + &more);
    Ok(Outcome { sorted, merged, sorting, failed })
}

/// The sorted partitions, in any order, and the error of each failed GPU.
type Results<R> = (Vec<Done<R>>, Vec<Option<Error>>);

/// Sorts the partitions by `sort`, which gets the number of a GPU.
fn sort_partitions<R: Send>(
    working: &[usize],
    partitions: VecDeque<Range<usize>>,
    sort: &(impl Fn(usize, Range<usize>) -> Result<(Option<KeyBuf<'static>>, R), Error> + Sync),
    progress: Progress,
) -> Result<Results<R>, Error> {
    let (gpus, all) = (working.len(), partitions.iter().map(Range::len).sum::<usize>());
    let (workers, failed) = (vec![WORKERS; gpus], (0..gpus).map(|_| None).collect());
    let state = Mutex::new(State { left: partitions, busy: 0, workers, failed, error: None });
    let changed = Condvar::new();
    let mut results = Vec::new();
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let (state, changed) = (&state, &changed);
        for number in 0..gpus * WORKERS {
            let gpu = number % gpus;
            let send = send.clone();
            let sort = move |partition: Range<usize>| {
                let sorted = sort(working[gpu], partition.clone())?;
                // Without a receiver, the sort has ended.
                let _ = send.send((working[gpu], partition, sorted));
                Ok(())
            };
            parallel::meanwhile(scope, move || worker(state, changed, gpu, sort));
        }
        drop(send);
        let mut done = 0;
        for sorted in receive {
            done += sorted.1.len();
            progress(done as u64, all as u64);
            results.push(sorted);
        }
    });
    let State { left, mut failed, error, .. } = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = error {
        return Err(error);
    }
    match failed.iter_mut().filter(|_| !left.is_empty()).find_map(Option::take) {
        Some(error) => Err(error),
        None => Ok((results, failed)),
    }
}

/// Sorts one partition after another on a GPU, until none is left and no failing GPU can return one.
fn worker(
    state: &Mutex<State>,
    changed: &Condvar,
    gpu: usize,
    sort: impl Fn(Range<usize>) -> Result<(), Error>,
) {
    loop {
        let goes_on = |now: &State| now.workers[gpu] > 0 && now.error.is_none();
        let may_come = |now: &mut State| goes_on(now) && now.left.is_empty() && now.busy > 0;
        let now = changed.wait_while(lock(state), may_come);
        let mut now = now.unwrap_or_else(PoisonError::into_inner);
        if !goes_on(&now) {
            return;
        }
        let Some(partition) = now.left.pop_front() else { return };
        now.busy += 1;
        drop(now);
        let sorted = sort(partition.clone());
        let mut now = lock(state);
        now.busy -= 1;
        let is_alive = match sorted {
            Ok(()) => true,
            Err(error) => now.take_back(gpu, partition, error),
        };
        changed.notify_all();
        if !is_alive {
            return;
        }
    }
}

impl State {
    /// Takes back a partition that this error kept unsorted. Returns true if the worker goes on.
    fn take_back(&mut self, gpu: usize, partition: Range<usize>, error: Error) -> bool {
        match error.kind() {
            // Tries again with all memory for one worker, and then with half a partition.
            ErrorKind::NoMemory { .. } if self.workers[gpu] > 1 => {
                self.workers[gpu] -= 1;
                self.left.push_front(partition);
                false
            }
            ErrorKind::NoMemory { .. } if partition.len() > LEAST => {
                let middle = partition.start + partition.len() / 2;
                self.left.push_front(middle..partition.end);
                self.left.push_front(partition.start..middle);
                true
            }
            _ if error.is_too_much() => {
                self.error.get_or_insert(error);
                false
            }
            _ => {
                self.left.push_front(partition);
                // The workers of a GPU fail together.
                if std::mem::take(&mut self.workers[gpu]) > 0 {
                    self.failed[gpu] = Some(error);
                }
                false
            }
        }
    }
}

/// Merges the sorted keys of partitions.
fn merged_keys<W: KeyWidth>(results: Vec<(usize, KeyBuf<'static>)>) -> KeyBuf<'static> {
    let blocks = results.into_iter().filter_map(|(_, words)| W::blocks(words));
    merged(blocks.map(in_one).collect()).into()
}

/// Merges the positions of partitions by their keys.
fn merged_positions<W: KeyWidth>(keys: &[W], results: Vec<(usize, KeyBuf<'static>)>) -> Vec<u32> {
    let pair = |&position: &u32| Pair { key: keys[position as usize], payload: position };
    let pairs = |(_, words): (usize, KeyBuf<'static>)| {
        parallel::map(&words.into_vec().expect("positions have 32 bits"), pair).into()
    };
    cpu::records(&merged(results.into_iter().map(pairs).collect()))
}

/// Merges sorted runs into one vector; a single run is taken as it is.
fn merged<T: Item>(mut runs: Vec<Cow<[T]>>) -> Vec<T> {
    if runs.len() == 1 {
        return runs.swap_remove(0).into_owned();
    }
    let mut all = memory::zeroed(runs.iter().map(|run| run.len()).sum());
    cpu::merge(&runs.iter().map(|run| &**run).collect::<Vec<_>>(), &mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts ten partitions of 4 × `LEAST` elements; `fails` returns the reason why a GPU does not sort a
    /// partition. Returns the sorted partitions in order, and any note about failed GPUs.
    fn shared(
        gpus: usize,
        fails: impl Fn(usize, &Range<usize>) -> Option<Error> + Sync,
    ) -> Result<(Vec<Range<usize>>, Option<String>), Error> {
        let size = 4 * LEAST;
        let partitions = (0..10).map(|partition| partition * size..(partition + 1) * size).collect();
        let sort =
            |gpu, partition: Range<usize>| fails(gpu, &partition).map_or(Ok((Some(brought()), ())), Err);
        let mut most = 0;
        let mut progress = |done, all| {
            assert!(done <= all);
            most = done;
        };
        let Outcome { sorted, merged, failed: said, .. } =
            sort_and_merge(gpus, partitions, &sort, &|_| Ok(()), &mut progress)?;
        assert!(merged.len() == gpus || merged.len() < gpus && said.is_some());
        let mut results: Vec<Range<usize>> = sorted.into_iter().map(|(_, partition, _)| partition).collect();
        results.sort_unstable_by_key(|partition| partition.start);
        assert!(results.windows(2).all(|pair| pair[0].end == pair[1].start), "{results:?}");
        assert_eq!(
            (results[0].start, results[results.len() - 1].end, most),
            (0, 10 * size, 10 * size as u64)
        );
        Ok((results, said))
    }

    /// The words of a partition that does not stay on its GPU.
    fn brought() -> KeyBuf<'static> {
        KeyBuf::new(KeyWords::One)
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
            let fails = |gpu, partition: &Range<usize>| {
                (gpu == broken && partition.start > 0).then(|| Error::device("it fell off the bus"))
            };
            let (results, said) = shared(3, fails).unwrap();
            assert_eq!(results.len(), 10);
            // The other GPUs may have sorted all partitions.
            let once = |said: String| {
                said.matches("others took over its work").count() == 1 && said.contains("off the bus")
            };
            assert!(said.is_none_or(once));
        }
        // Both workers of the first end before the second has begun.
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
        let partitions = || (0..10).map(|partition| partition * 5..(partition + 1) * 5).collect();
        for broken in 0..3 {
            let resident: [Mutex<Vec<Range<usize>>>; 3] = Default::default();
            // Every second partition does not stay, and is not lost.
            let keep = |gpu: usize, partition: Range<usize>| {
                let stays = partition.start.is_multiple_of(2);
                resident[gpu].lock().unwrap().extend(stays.then_some(partition));
                Ok(((!stays).then(brought), ()))
            };
            let merge = |gpu: usize| {
                let kept = std::mem::take(&mut *resident[gpu].lock().unwrap());
                if gpu == broken { Err(Error::device("it fell off the bus")) } else { Ok(kept) }
            };
            let outcome = sort_and_merge(3, partitions(), &keep, &merge, &mut |_, _| {}).unwrap();
            let there = outcome.sorted.into_iter().filter(|(.., (brought, ()))| brought.is_some());
            let mut merged = outcome.merged.concat();
            merged.extend(there.map(|(_, partition, _)| partition));
            merged.sort_unstable_by_key(|partition| partition.start);
            assert!(merged.into_iter().eq(partitions().into_iter()));
            // The broken GPU may have had no partition to lose.
            assert!(outcome.failed.is_none_or(|said| said.matches("off the bus").count() == 1));
            let alone = |_| Err(Error::device("broken"));
            let error = sort_and_merge(2, partitions(), &|_, _| Ok((None, ())), &alone, &mut |_, _| {})
                .map(|_: Outcome<(), ()>| ());
            assert!(error.unwrap_err().to_string().contains("broken"));
        }
    }

    #[test]
    fn what_has_no_room_is_halved() {
        let fails = |most: usize| move |_, partition: &Range<usize>| (partition.len() > most).then(no_memory);
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
