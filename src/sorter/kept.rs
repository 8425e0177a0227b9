//! Shares that stay on their GPU until it merges them, which takes a hundredth of the time that bringing them takes.
//!
//! ```text
//! shares     ── sorted ──   ── sorted ──   ── sorted ──      on the GPU, each in memory of its own
//! windows    ─────────|──────────|─────────|──────────       as many elements as a share
//! merged     gathered, merged, brought │ gathered, merged, brought │ …
//! ```
//!
//! Where the GPU has no memory for that, what it has kept so far is brought to the host, which merges all.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::on_gpu::OnGpu;
use super::{Ordered, Place};
use crate::error::{Error, ErrorKind};
use crate::gpu::{Run, execute};
use crate::key::KeyWords;
use crate::memory;
use crate::parallel;
use crate::plan::{Plan, Shape};
use crate::runs::windows;
use crate::words::{Width, Words};

/// The shares of one GPU.
pub(super) struct Kept<'a> {
    gpu: &'a OnGpu,
    shape: Shape,
    /// With where each begins; `None` where nothing stays.
    runs: Mutex<Option<Vec<(usize, Run)>>>,
    /// What had to be brought.
    brought: Mutex<Vec<(usize, Words<'static>)>>,
}

impl<'a> Kept<'a> {
    /// None yet, of elements of this shape.
    pub(super) fn new(gpu: &'a OnGpu, shape: Shape, stay: bool) -> Self {
        Self { gpu, shape, runs: Mutex::new(stay.then(Vec::new)), brought: Mutex::default() }
    }

    fn runs(&self) -> MutexGuard<'_, Option<Vec<(usize, Run)>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sorts a share by `sort`, which leaves it on the device; returns what of it was brought, or nothing if it stays.
    pub(super) fn sort<R>(
        &self,
        share: Range<usize>,
        sort: impl Fn() -> Result<(Ordered<'a>, R), Error>,
    ) -> Result<(Option<Words<'static>>, R), Error> {
        let room = || match *self.runs() {
            Some(_) => Run::new(self.gpu.gpu(), share.len(), self.shape).map(Some),
            None => Ok(None),
        };
        let room_and_sort = || Ok::<_, Error>((room()?, sort()?));
        let (room, (ordered, more)) = match room_and_sort() {
            Err(error) if matches!(error.kind(), ErrorKind::NoMemory { .. }) && self.bring_all()? => {
                (None, sort()?)
            }
            done => done?,
        };
        let brought = match (ordered.place, room, &mut *self.runs()) {
            (Place::Memory(words), ..) => Some(words),
            (Place::Gpu(result), Some(run), Some(runs)) => {
                result.stay(&run);
                runs.push((share.start, run));
                None
            }
            (Place::Gpu(result), ..) => Some(result.bring()?),
        };
        Ok((brought, more))
    }

    /// Brings all that stayed, and lets nothing stay any more; whether anything might have.
    fn bring_all(&self) -> Result<bool, Error> {
        // Others wait until there is memory for them.
        let mut kept = self.runs();
        let Some(runs) = kept.take() else { return Ok(false) };
        for (begin, run) in runs {
            let words = self.brought_words(&run)?;
            self.brought.lock().unwrap_or_else(PoisonError::into_inner).push((begin, words));
        }
        Ok(true)
    }

    fn brought_words(&self, run: &Run) -> Result<Words<'static>, Error> {
        fn keys<W: Width>(gpu: &OnGpu, run: &Run) -> Result<Words<'static>, Error> {
            let mut keys = memory::zeroed::<W>(run.count());
            run.download_keys(gpu.gpu(), bytemuck::cast_slice_mut(&mut keys))?;
            Ok(keys.into())
        }
        if self.shape.positions {
            let mut positions = memory::zeroed::<u32>(run.count());
            run.download_positions(self.gpu.gpu(), &mut positions)?;
            return Ok(positions.into());
        }
        match self.shape.key {
            KeyWords::One => keys::<u32>(self.gpu, run),
            KeyWords::Two => keys::<u64>(self.gpu, run),
        }
    }

    /// Merges what stayed, and gives it with what had to be brought, each with where its first share begins.
    ///
    /// # Errors
    ///
    /// Whatever the device reports, with the shares that are lost by it.
    pub(super) fn merged(&self) -> Result<Vec<(usize, Words<'static>)>, (Error, Vec<Range<usize>>)> {
        let merged = match self.merge() {
            Err(error) if matches!(error.kind(), ErrorKind::NoMemory { .. }) => {
                self.bring_all().map(|_| None).map_err(|_| error)
            }
            merged => merged,
        };
        match merged {
            Ok(merged) => {
                let brought =
                    std::mem::take(&mut *self.brought.lock().unwrap_or_else(PoisonError::into_inner));
                Ok(brought.into_iter().chain(merged).collect())
            }
            Err(error) => {
                let lost = self.runs().take().unwrap_or_default();
                Err((error, lost.into_iter().map(|(begin, run)| begin..begin + run.count()).collect()))
            }
        }
    }

    fn merge(&self) -> Result<Option<(usize, Words<'static>)>, Error> {
        let mut kept = self.runs();
        let Some(runs) = kept.as_mut().filter(|runs| !runs.is_empty()) else { return Ok(None) };
        runs.sort_unstable_by_key(|(begin, _)| *begin);
        let begin = runs[0].0;
        let of: Vec<&Run> = runs.iter().map(|(_, run)| run).collect();
        let words = match self.shape {
            Shape { positions: true, .. } => self.merge_to(&of, |buffers, positions: &mut [u32]| {
                buffers.download_positions(self.gpu.gpu(), positions)
            })?,
            Shape { key: KeyWords::One, .. } => self.merge_to(&of, |buffers, keys: &mut [u32]| {
                buffers.download_keys(self.gpu.gpu(), bytemuck::cast_slice_mut(keys))
            })?,
            Shape { key: KeyWords::Two, .. } => self.merge_to(&of, |buffers, keys: &mut [u64]| {
                buffers.download_keys(self.gpu.gpu(), bytemuck::cast_slice_mut(keys))
            })?,
        };
        runs.clear();
        Ok(Some((begin, words)))
    }

    /// Merges these runs window by window, each of which `download` brings.
    fn merge_to<W: Width>(
        &self,
        runs: &[&Run],
        download: impl Fn(&crate::gpu::Buffers, &mut [W]) -> Result<(), Error> + Sync,
    ) -> Result<Words<'static>, Error> {
        let gpu = self.gpu.gpu();
        let lengths: Vec<usize> = runs.iter().map(|run| run.count()).collect();
        let most = lengths.iter().copied().max().unwrap_or_default();
        let ends = windows(&lengths, most, &mut |places| Run::keys_at(gpu, runs, places))?;
        let mut all = memory::zeroed::<W>(lengths.iter().sum());

        let mut left = VecDeque::new();
        let (mut begin, mut rest) = (vec![0; runs.len()], &mut all[..]);
        for end in ends {
            let slices: Vec<(&Run, Range<usize>)> = runs
                .iter()
                .zip(begin.iter().zip(&end))
                .map(|(run, (&begin, &end))| (*run, begin..end))
                .collect();
            let count = slices.iter().map(|(_, slice)| slice.len()).sum();
            let (window, after) = std::mem::take(&mut rest).split_at_mut(count);
            left.push_back((slices, window));
            (begin, rest) = (end, after);
        }
        let left = Mutex::new(left);
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let lane = || {
            while let Some((slices, window)) = next() {
                let lengths: Vec<u32> = slices.iter().map(|(_, slice)| slice.len() as u32).collect();
                let plan = Plan::merge(&lengths, self.shape, &gpu.info().limits)?;
                let buffers = self.gpu.buffers(&plan)?;
                buffers.gather(gpu, &slices);
                execute(gpu, &plan, &buffers, |_| {})?;
                download(&buffers, window)?;
                self.gpu.keep(buffers);
            }
            Ok::<_, Error>(())
        };
        // While one window comes back, the next one is merged.
        std::thread::scope(|scope| {
            let other = parallel::meanwhile(scope, lane);
            let own = lane();
            own.and(other.wait())
        })?;
        Ok(all.into())
    }
}
