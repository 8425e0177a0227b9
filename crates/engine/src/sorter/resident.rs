//! Partitions that stay on their GPU, which merges them in a hundredth of the time of a download.
//!
//! ```text
//! partitions  ── sorted ──   ── sorted ──   ── sorted ──      on the GPU, each in memory of its own
//! windows     ─────────|──────────|─────────|──────────       the size of a partition
//! merged      gather, merge, download │ gather, merge, download │ …
//! ```
//!
//! If the GPU lacks memory for that, its resident partitions are downloaded, and the host merges them all.

use std::ops::Range;
use std::sync::Mutex;

use gpusort_planner::plan::{Plan, Shape};

use super::Remote;
use super::on_gpu::{OnDevice, OnGpu, given};
use crate::gpu::ResidentRun;
use crate::key_buf::KeyBuf;
use crate::report::Report;
use gpusort_base::error::Error;
use gpusort_base::parallel::{self, lock};
use gpusort_cpu::windows;

/// The partitions of one GPU.
pub(super) struct ResidentRuns<'a> {
    gpu: &'a OnGpu,
    shape: Shape,
    /// The resident partitions, each with its first position; `None` if no partition stays.
    runs: Mutex<Option<Vec<(usize, ResidentRun)>>>,
    /// The downloaded partitions.
    brought: Mutex<Vec<(usize, KeyBuf<'static>)>>,
}

impl<'a> ResidentRuns<'a> {
    /// Returns an empty set of partitions with elements of this shape.
    pub(super) fn new(gpu: &'a OnGpu, shape: Shape, stay: bool) -> Self {
        Self { gpu, shape, runs: Mutex::new(stay.then(Vec::new)), brought: Mutex::default() }
    }

    /// Returns true if partitions stay on the device.
    pub(super) fn stays(&self) -> bool {
        lock(&self.runs).is_some()
    }

    /// Sorts a partition by `sort`, which leaves it on the device. Returns the downloaded partition, or `None` if it
    /// stays.
    pub(super) fn sort(
        &self,
        partition: Range<usize>,
        sort: impl Fn() -> Result<(OnDevice<'a>, Report), Error>,
    ) -> Result<(Option<KeyBuf<'static>>, Report), Error> {
        let stays = self.stays();
        let room = || {
            stays.then(|| ResidentRun::new(self.gpu.gpu(), partition.len() as u32, self.shape)).transpose()
        };
        // Allocating the memory takes a quarter of the time of a partition's upload.
        let room_and_sort = || {
            std::thread::scope(|scope| {
                let room = parallel::meanwhile(scope, room);
                let sorted = sort()?;
                Ok::<_, Error>((room.wait()?, sorted))
            })
        };
        let (room, (result, report)) = match room_and_sort() {
            Err(error) if stays && error.is_no_memory() => {
                // Another worker may have downloaded the partitions; the device has memory then, too.
                self.bring_all()?;
                (None, sort()?)
            }
            done => done?,
        };
        let mut resident = lock(&self.runs);
        if let (Some(run), Some(runs)) = (room, resident.as_mut()) {
            result.stay(&run);
            runs.push((partition.start, run));
            return Ok((None, report));
        }
        drop(resident);
        Ok((Some(Box::new(result).bring()?), report))
    }

    /// Keeps a sorted partition that begins at this position.
    pub(super) fn add(&self, begin: usize, sorted: OnDevice) -> Result<(), Error> {
        let run = ResidentRun::new(self.gpu.gpu(), sorted.count as u32, self.shape)?;
        sorted.stay(&run);
        lock(&self.runs).get_or_insert_default().push((begin, run));
        Ok(())
    }

    /// Downloads all resident partitions; no later partition stays.
    fn bring_all(&self) -> Result<(), Error> {
        // The lock makes other workers wait for the memory.
        let mut resident = lock(&self.runs);
        let Some(runs) = resident.as_mut() else { return Ok(()) };
        while let Some((begin, run)) = runs.last() {
            let words = given(self.shape, run.count(), |to| run.download(self.gpu.gpu(), to))?;
            lock(&self.brought).push((*begin, words));
            runs.pop();
        }
        *resident = None;
        Ok(())
    }

    /// Returns the resident partitions, to be merged, and the downloaded partitions.
    ///
    /// # Errors
    ///
    /// Returns errors of the device, which lose the resident partitions.
    pub(super) fn gathered(&self) -> Result<Gathered<'a>, Error> {
        // After one download all other partitions follow: a merge on the device needs all partitions of the GPU.
        let is_whole = lock(&self.brought).is_empty();
        let prepared = match if is_whole { self.prepared() } else { self.bring_all().map(|()| None) } {
            Err(error) if is_whole && error.is_too_much() => self.bring_all().map(|()| None),
            prepared => prepared,
        };
        Ok(Gathered { merging: prepared?, brought: std::mem::take(&mut *lock(&self.brought)) })
    }

    /// Prepares the merge of the resident partitions, if any.
    fn prepared(&self) -> Result<Option<Merging<'a>>, Error> {
        let mut resident = lock(&self.runs);
        let Some(runs) = resident.as_mut().filter(|runs| !runs.is_empty()) else { return Ok(None) };
        runs.sort_unstable_by_key(|(begin, _)| *begin);
        let gpu = self.gpu.gpu();
        let of: Vec<&ResidentRun> = runs.iter().map(|(_, run)| run).collect();
        let lengths: Vec<usize> = of.iter().map(|run| run.count()).collect();
        let most = lengths.iter().copied().max().unwrap_or_default();
        let ends = windows(&lengths, most, &mut |places| ResidentRun::keys_at(gpu, &of, places))?;
        // Prepared now, while all partitions can still be downloaded.
        let halves = [most / 2, most - most / 2].map(|half| half as u32);
        let plan = Plan::merge(&halves, self.shape, &gpu.info().limits)?;
        gpu.prepare(&plan)?;
        gpu.prepare_download()?;
        let first = self.gpu.buffers(&plan)?;
        let second = match self.gpu.buffers(&plan) {
            Err(error) if error.is_no_memory() => None,
            second => Some(second?),
        };
        let two = second.is_some();
        [Some(first), second].into_iter().flatten().for_each(|buffers| self.gpu.keep(buffers));
        let (gpu, shape, runs) = (self.gpu, self.shape, std::mem::take(runs));
        Ok(Some(Merging { gpu, shape, runs, ends, two }))
    }
}

/// The partitions of one GPU.
pub(super) struct Gathered<'a> {
    /// The resident partitions.
    pub(super) merging: Option<Merging<'a>>,
    /// Downloaded and merged partitions, each with its first position.
    pub(super) brought: Vec<(usize, KeyBuf<'static>)>,
}

impl Gathered<'_> {
    /// Downloads the resident partitions.
    pub(super) fn bring(mut self) -> Result<Self, Error> {
        if let Some(merging) = self.merging.take() {
            self.brought.push((merging.runs[0].0, merging.all()?));
        }
        Ok(self)
    }
}

/// Resident partitions to merge: at least one.
pub(super) struct Merging<'a> {
    gpu: &'a OnGpu,
    shape: Shape,
    runs: Vec<(usize, ResidentRun)>,
    /// The end of each window in all runs.
    ends: Vec<Vec<usize>>,
    /// True if there is memory for two windows at a time.
    two: bool,
}

impl<'a> Merging<'a> {
    /// Returns the number of elements.
    pub(super) fn count(&self) -> usize {
        self.runs.iter().map(|(_, run)| run.count()).sum()
    }

    /// Merges one window after another. `take` gets a window during the merge of the next one.
    pub(super) fn each(&self, take: &mut dyn FnMut(OnDevice<'a>) -> Result<(), Error>) -> Result<(), Error> {
        let ends = &self.ends;
        let merge = |window: usize| {
            let begin = |run: usize| if window > 0 { ends[window - 1][run] } else { 0 };
            let slice = |(run, &end): (usize, &usize)| (&self.runs[run].1, begin(run)..end);
            let slices: Vec<(&ResidentRun, Range<usize>)> =
                ends[window].iter().enumerate().map(slice).collect();
            self.gpu.merge(&slices, self.shape)
        };
        let last = ends.len() - 1;
        let mut merged = merge(0)?;
        for next in 1..=last {
            merged = if self.two {
                std::thread::scope(|scope| {
                    let next = parallel::meanwhile(scope, || merge(next));
                    take(merged)?;
                    next.wait()
                })?
            } else {
                take(merged)?;
                merge(next)?
            };
        }
        take(merged)
    }

    /// Downloads all elements to memory in one block.
    fn all(&self) -> Result<KeyBuf<'static>, Error> {
        let each = if self.shape.payload { 4 } else { self.shape.key_bytes() as usize };
        given(self.shape, self.count(), |mut rest| {
            self.each(&mut |window| {
                let (place, after) = std::mem::take(&mut rest).split_at_mut(window.count * each);
                rest = after;
                window.bring_to(place)
            })
        })
    }
}

impl Remote for Merging<'_> {
    fn bring(self: Box<Self>) -> Result<KeyBuf<'static>, Error> {
        self.all()
    }

    fn take(self: Box<Self>, take: &mut dyn FnMut(KeyBuf) -> Result<(), Error>) -> Result<(), Error> {
        self.each(&mut |window| Box::new(window).take(take))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::gpu::Gpu;
    use crate::sorter::planned::Task;
    use gpusort_base::device::Select;
    use gpusort_base::error::ErrorKind;
    use gpusort_order::Method;
    use gpusort_order::key::KeyWords;

    /// Returns keys with many repetitions.
    fn keys() -> Vec<u32> {
        (0..3000_u32).map(|i| i.wrapping_mul(2_654_435_761) >> 24).collect()
    }

    fn sorted(
        gpu: &OnGpu,
        partition: Range<usize>,
        positions: bool,
    ) -> Result<(OnDevice<'_>, Report), Error> {
        let begin = partition.start as u32;
        let keys = KeyBuf::from(keys()[partition].to_vec());
        let shape = Shape { key: KeyWords::One, payload: positions };
        let placed = gpu.place(Task { n: keys.len(), first: None, shape, method: Method::default() })?;
        gpu.sort_from(keys.into(), placed, Some(begin), &mut |_, _| {})
    }

    fn expected(partition: Range<usize>, positions: bool) -> Vec<u32> {
        let keys = keys();
        let mut expected: Vec<u32> = partition.map(|place| place as u32).collect();
        expected.sort_by_key(|&place| keys[place as usize]);
        if !positions {
            expected.iter_mut().for_each(|place| *place = keys[*place as usize]);
        }
        expected
    }

    #[test]
    fn what_stays_is_merged_and_what_has_no_room_is_brought() {
        let gpu = Gpu::start(&Select::Index(0)).expect("a GPU, or the software one of Mesa's Vulkan drivers");
        let gpu = OnGpu::new(gpu);
        for positions in [false, true] {
            let shape = Shape { key: KeyWords::One, payload: positions };
            let vec = |words: KeyBuf<'static>| words.into_vec::<u32>().unwrap();
            let resident = ResidentRuns::new(&gpu, shape, true);
            for partition in [1000..3000, 0..1000] {
                assert!(
                    resident
                        .sort(partition.clone(), || sorted(&gpu, partition.clone(), positions))
                        .unwrap()
                        .0
                        .is_none()
                );
            }
            let Gathered { merging, brought } = resident.gathered().unwrap();
            let merging = merging.unwrap();
            assert!(brought.is_empty() && merging.count() == 3000);
            assert!(vec(merging.all().unwrap()) == expected(0..3000, positions));

            // If an error follows the first download, the resident partitions are not taken for all partitions.
            let resident = ResidentRuns::new(&gpu, shape, true);
            for partition in [0..500, 500..1000] {
                resident.sort(partition.clone(), || sorted(&gpu, partition.clone(), positions)).unwrap();
            }
            lock(&resident.brought).push((1000, KeyBuf::from(expected(1000..3000, positions))));
            let Gathered { merging, mut brought } = resident.gathered().unwrap();
            brought.sort_unstable_by_key(|(begin, _)| *begin);
            let begins: Vec<usize> = brought.iter().map(|(begin, _)| *begin).collect();
            assert!(merging.is_none() && begins == [0, 500, 1000]);
            assert!(vec(brought.swap_remove(1).1) == expected(500..1000, positions));

            // At first the device lacks memory for the second partition.
            let resident = ResidentRuns::new(&gpu, shape, true);
            resident.sort(0..1000, || sorted(&gpu, 0..1000, positions)).unwrap();
            let fails = Cell::new(true);
            let brought = resident.sort(1000..2000, || {
                if fails.take() {
                    let (device, what) = ("GPU".to_owned(), "keys".to_owned());
                    return Err(Error::new(ErrorKind::NoMemory { device, what, bytes: 5 }));
                }
                sorted(&gpu, 1000..2000, positions)
            });
            assert!(vec(brought.unwrap().0.unwrap()) == expected(1000..2000, positions));
            // No later partition stays.
            let third = resident.sort(2000..3000, || sorted(&gpu, 2000..3000, positions)).unwrap().0.unwrap();
            assert!(vec(third) == expected(2000..3000, positions));
            let Gathered { merging, mut brought } = resident.gathered().unwrap();
            assert!(merging.is_none() && brought.len() == 1);
            let (begin, words) = brought.remove(0);
            assert!(begin == 0 && vec(words) == expected(0..1000, positions));
        }
    }
}
