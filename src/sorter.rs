//! The facade: keys in, sorted keys or positions out, on whichever device was chosen.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cpu::{self, Item, network};
use crate::error::Error;
use crate::gpu::{Buffers, Clock, Elapsed, Gpu, execute};
use crate::key::{Incoming, Keys, KeysRef, Pieces, Word};
use crate::parallel;
use crate::plan::{Algorithm, Limits, Plan, Shape, Variant};

/// What to sort with. Left open, both are the device's best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// The algorithm; `None` is the CPU's fast sort there, and bitonic on a GPU.
    pub algorithm: Option<Algorithm>,
    /// Its variant; `None` is the algorithm's default. The CPU has none: a network is a network there.
    pub variant: Option<Variant>,
}

impl Method {
    /// What it means on a GPU.
    ///
    /// # Errors
    ///
    /// A variant that the algorithm lacks.
    pub fn on_gpu(self) -> Result<(Algorithm, Variant), Error> {
        let algorithm = self.algorithm.unwrap_or(Algorithm::Bitonic);
        Ok((algorithm, algorithm.variant(self.variant)?))
    }
}

/// How a sort went.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The algorithm that ran; `cpu` is the fast CPU sort.
    pub algorithm: &'static str,
    /// The variant that ran.
    pub variant: &'static str,
    /// Passes over the data.
    pub dispatches: u64,
    /// Bytes of memory that the passes read and wrote.
    pub bytes_moved: u64,
    /// The time of making the kernels ready, while the keys are on their way.
    pub prepare: Duration,
    /// The time of bringing the keys to the device, with the memory they need there.
    pub upload: Duration,
    /// The time of the sort itself, and the clock that measured it.
    pub sort: Elapsed,
    /// The time of bringing the result back.
    pub download: Duration,
}

impl Report {
    /// Of this sort and one before it, together.
    pub(crate) fn after(self, before: &Self) -> Self {
        Self {
            dispatches: before.dispatches + self.dispatches,
            bytes_moved: before.bytes_moved + self.bytes_moved,
            prepare: before.prepare + self.prepare,
            upload: before.upload + self.upload,
            sort: Elapsed { time: before.sort.time + self.sort.time, clock: self.sort.clock },
            download: before.download + self.download,
            ..self
        }
    }

    /// Of work on the CPU that has no passes.
    #[must_use]
    pub fn on_cpu(algorithm: &'static str, variant: &'static str, time: Duration) -> Self {
        Self {
            algorithm,
            variant,
            dispatches: 0,
            bytes_moved: 0,
            prepare: Duration::ZERO,
            upload: Duration::ZERO,
            sort: Elapsed { time, clock: Clock::Host },
            download: Duration::ZERO,
        }
    }
}

/// What a report says of elements of which only the first were wanted.
const TOP: &str = "top";

/// What is told of a sort under way: passes done, and passes in all.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Sorts on one device, as often as wanted.
pub struct Sorter(Device);

enum Device {
    Cpu,
    Gpu(Box<OnGpu>),
}

/// A GPU and the buffers of the last sort, which the next one uses if they are large enough.
struct OnGpu {
    gpu: Gpu,
    buffers: Mutex<Option<Buffers>>,
}

impl Sorter {
    /// Sorts on the CPU.
    #[must_use]
    pub fn cpu() -> Self {
        Self(Device::Cpu)
    }

    /// Sorts on a GPU.
    #[must_use]
    pub fn gpu(gpu: Gpu) -> Self {
        Self(Device::Gpu(Box::new(OnGpu { gpu, buffers: Mutex::new(None) })))
    }

    /// The GPU it sorts on, if it is one.
    #[must_use]
    pub fn device(&self) -> Option<&Gpu> {
        match &self.0 {
            Device::Cpu => None,
            Device::Gpu(on) => Some(&on.gpu),
        }
    }

    /// Sorts keys, ascending.
    ///
    /// # Errors
    ///
    /// More keys than the device takes in one sort, refused before anything is done; a variant that the
    /// algorithm lacks; a failure of the device.
    pub fn sort<'a>(
        &self,
        keys: impl Into<Incoming<'a>>,
        method: Method,
        progress: Progress,
    ) -> Result<(Keys, Report), Error> {
        let keys = keys.into();
        match &self.0 {
            Device::Cpu => keys_on_cpu(keys, method, progress),
            Device::Gpu(on) => {
                let (n, words) = (keys.n, keys.words);
                let (buffers, mut report) = on.sort(keys, false, None, method, progress)?;
                let mut keys = if words == 1 { Keys::One(vec![0; n]) } else { Keys::Two(vec![0; n]) };
                (report.download, ()) = timed(|| buffers.download_keys(&on.gpu, keys.as_bytes_mut()))?;
                on.keep(buffers);
                Ok((keys, report))
            }
        }
    }

    /// Sorts keys, ascending, and gives them to `take` in order, block by block: those that a GPU has sorted while
    /// later ones are still coming down.
    ///
    /// # Errors
    ///
    /// As for [`Sorter::sort`]; what `take` says, with which it ends.
    pub fn sort_to<'a, E: From<Error>>(
        &self,
        keys: impl Into<Incoming<'a>>,
        method: Method,
        progress: Progress,
        mut take: impl FnMut(KeysRef) -> Result<(), E>,
    ) -> Result<Report, E> {
        let keys = keys.into();
        match &self.0 {
            Device::Cpu => {
                let (keys, report) = keys_on_cpu(keys, method, progress)?;
                take(keys.borrowed())?;
                Ok(report)
            }
            Device::Gpu(on) => {
                let words = keys.words;
                let (buffers, mut report) = on.sort(keys, false, None, method, progress)?;
                let (start, mut taking) = (Instant::now(), Duration::ZERO);
                buffers.take_keys(&on.gpu, |block| {
                    let start = Instant::now();
                    let taken = match words {
                        1 => take(KeysRef::One(bytemuck::cast_slice(block))),
                        _ => take(KeysRef::Two(bytemuck::cast_slice(block))),
                    };
                    taking += start.elapsed();
                    taken
                })?;
                report.download = start.elapsed().saturating_sub(taking);
                on.keep(buffers);
                Ok(report)
            }
        }
    }

    /// The positions that the keys have in the input, in the ascending order of the keys; those of equal
    /// keys keep their order.
    ///
    /// # Errors
    ///
    /// As for [`Sorter::sort`].
    pub fn argsort(
        &self,
        keys: impl Into<Pieces>,
        method: Method,
        progress: Progress,
    ) -> Result<(Vec<u32>, Report), Error> {
        let keys = keys.into();
        match &self.0 {
            Device::Cpu => {
                let mut next = 0..number_of_records(keys.len())?;
                let positions = keys.lengths().into_iter().map(|length| next.by_ref().take(length).collect());
                let positions = positions.collect();
                self.sort_records(keys, positions, method, progress)
            }
            Device::Gpu(on) => {
                let n = keys.len();
                let (buffers, mut report) = on.sort(keys.into(), true, None, method, progress)?;
                let mut positions = vec![0; n];
                (report.download, ()) = timed(|| buffers.download_positions(&on.gpu, &mut positions))?;
                on.keep(buffers);
                Ok((positions, report))
            }
        }
    }

    /// The first `k` of the sorted keys, or all of them if there are no more, without sorting the others where few of
    /// many are wanted. A named algorithm sorts all, but for the `fused` variant of bitonic on a GPU.
    ///
    /// # Errors
    ///
    /// As for [`Sorter::sort`].
    pub fn top<'a>(
        &self,
        keys: impl Into<Incoming<'a>>,
        k: usize,
        method: Method,
        progress: Progress,
    ) -> Result<(Keys, Report), Error> {
        let keys = keys.into();
        let k = k.min(keys.n);
        match &self.0 {
            Device::Cpu if method.algorithm.is_none() && cpu::is_few(k, keys.n) => {
                let pieces = keys.collect()?;
                let (time, keys) = timed(|| {
                    Ok(match &pieces {
                        Pieces::One(pieces) => Keys::One(cpu::top(pieces, k)),
                        Pieces::Two(pieces) => Keys::Two(cpu::top(pieces, k)),
                    })
                })?;
                Ok((keys, Report::on_cpu("cpu", TOP, time)))
            }
            Device::Cpu => {
                let (mut keys, report) = keys_on_cpu(keys, method, progress)?;
                keys.truncate(k);
                Ok((keys, report))
            }
            Device::Gpu(on) => {
                let words = keys.words;
                let (buffers, mut report) = on.sort(keys, false, Some(k), method, progress)?;
                let mut keys = if words == 1 { Keys::One(vec![0; k]) } else { Keys::Two(vec![0; k]) };
                (report.download, ()) = timed(|| buffers.download_keys(&on.gpu, keys.as_bytes_mut()))?;
                on.keep(buffers);
                Ok((keys, report))
            }
        }
    }

    /// The first `k` of what [`Sorter::argsort`] gives, or all of it if there is no more, as [`Sorter::top`] does it.
    ///
    /// # Errors
    ///
    /// As for [`Sorter::sort`].
    pub fn top_positions(
        &self,
        keys: impl Into<Pieces>,
        k: usize,
        method: Method,
        progress: Progress,
    ) -> Result<(Vec<u32>, Report), Error> {
        let keys = keys.into();
        let (k, n) = (k.min(keys.len()), keys.len());
        match &self.0 {
            Device::Cpu if method.algorithm.is_none() && cpu::is_few(k, n) => {
                number_of_records(n)?;
                let (time, positions) = timed(|| {
                    Ok(match &keys {
                        Pieces::One(pieces) => cpu::records(&cpu::top::<_, cpu::Pair<_>>(pieces, k)),
                        Pieces::Two(pieces) => cpu::records(&cpu::top::<_, cpu::Pair<_>>(pieces, k)),
                    })
                })?;
                Ok((positions, Report::on_cpu("cpu", TOP, time)))
            }
            Device::Cpu => {
                let (mut positions, report) = self.argsort(keys, method, progress)?;
                positions.truncate(k);
                Ok((positions, report))
            }
            Device::Gpu(on) => {
                let (buffers, mut report) = on.sort(keys.into(), true, Some(k), method, progress)?;
                let mut positions = vec![0; k];
                (report.download, ()) = timed(|| buffers.download_positions(&on.gpu, &mut positions))?;
                on.keep(buffers);
                Ok((positions, report))
            }
        }
    }

    /// The records in the ascending order of their keys; those of equal keys keep their order. Records rise, like
    /// places in the input do, and are in pieces as the keys are.
    ///
    /// # Errors
    ///
    /// As for [`Sorter::sort`].
    ///
    /// # Panics
    ///
    /// When the pieces of records are not of the same lengths as those of keys.
    pub fn sort_records<R: Word>(
        &self,
        keys: impl Into<Pieces>,
        records: Vec<Vec<R>>,
        method: Method,
        progress: Progress,
    ) -> Result<(Vec<R>, Report), Error> {
        let keys = keys.into();
        assert!(keys.lengths().into_iter().eq(records.iter().map(Vec::len)), "each record has its key");
        match (&self.0, keys) {
            (Device::Cpu, Pieces::One(keys)) => records_on_cpu(keys, records, 1, method, progress),
            (Device::Cpu, Pieces::Two(keys)) => records_on_cpu(keys, records, 2, method, progress),
            (Device::Gpu(_), keys) => {
                let (positions, mut report) = self.argsort(keys, method, progress)?;
                let (find, records) = timed(|| {
                    let records = cpu::join(&records);
                    Ok(parallel::map(&positions, |&position| records[position as usize]))
                })?;
                report.download += find;
                Ok((records, report))
            }
        }
    }
}

/// # Errors
///
/// More than positions of 32 bits tell apart.
pub(crate) fn number_of_records(n: usize) -> Result<u32, Error> {
    u32::try_from(n).map_err(|_| Error::limit("records in one sort", n as u64, u32::MAX.into()))
}

fn timed<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<(Duration, T), Error> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed(), result))
}

impl OnGpu {
    /// Uploads and sorts, or sorts as far as needed for the first `top` elements; what is wanted of the result is in
    /// the buffers.
    fn sort(
        &self,
        keys: Incoming,
        positions: bool,
        top: Option<usize>,
        method: Method,
        progress: Progress,
    ) -> Result<(Buffers, Report), Error> {
        let (algorithm, variant) = method.on_gpu()?;
        let shape = Shape::new(keys.words, positions)?;
        let limits = &self.gpu.info().limits;
        let plan = match (top, algorithm, variant) {
            (Some(k), Algorithm::Bitonic, Variant::Fused) => Plan::top(k, keys.n, shape, limits)?,
            _ => Plan::new(algorithm, variant, keys.n, shape, limits)?,
        };
        let planned = plan.dispatch_count();
        let ((upload, (buffers, in_order)), prepare) = std::thread::scope(|scope| {
            let preparing = parallel::meanwhile(scope, || timed(|| self.gpu.prepare(&plan)));
            let uploaded = self.upload(keys, &plan);
            Ok((uploaded?, preparing.wait()?.0))
        })?;
        // Whoever names an algorithm wants to see it at work.
        let skip = in_order && method.algorithm.is_none();
        let (sort, dispatches) = if skip {
            (Elapsed { time: Duration::ZERO, clock: Clock::Host }, 0)
        } else {
            execute(&self.gpu, &plan, &buffers, |done| progress(done, planned))?
        };
        let ran = if skip {
            cpu::IN_ORDER
        } else if plan.reduces() {
            TOP
        } else {
            variant.name()
        };
        let report = Report {
            algorithm: algorithm.name(),
            variant: ran,
            dispatches,
            bytes_moved: plan.bytes_moved_by(dispatches),
            prepare,
            upload,
            sort,
            download: Duration::ZERO,
        };
        Ok((buffers, report))
    }

    /// Brings the keys into buffers as they come; says how long that took without waiting for them, and whether they
    /// are in order already.
    fn upload(&self, keys: Incoming, plan: &Plan) -> Result<(Duration, (Buffers, bool)), Error> {
        let start = Instant::now();
        let kept = self.buffers.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut buffers = match kept.filter(|buffers| buffers.fit(plan)) {
            Some(buffers) => buffers,
            None => Buffers::new(&self.gpu, plan)?,
        };
        buffers.resize(plan);
        let mut upload = buffers.begin_upload(&self.gpu)?;
        let mut order = cpu::InOrder::default();
        let (mut n, mut waiting) = (0, Duration::ZERO);
        let mut pieces = keys.pieces;
        loop {
            let asked = Instant::now();
            let Some(piece) = pieces.next().transpose()? else { break };
            waiting += asked.elapsed();
            n += piece.len();
            if n > plan.n() as usize {
                break;
            }
            order.goes_on_with(&piece);
            upload.push(piece.as_bytes())?;
        }
        if n != plan.n() as usize {
            return Err(Error::input("input", "is not of the size that it had when it was opened"));
        }
        upload.finish()?;
        Ok((start.elapsed().saturating_sub(waiting), (buffers, order.holds())))
    }

    /// Keeps the buffers for the next sort.
    fn keep(&self, buffers: Buffers) {
        *self.buffers.lock().unwrap_or_else(PoisonError::into_inner) = Some(buffers);
    }
}

fn keys_on_cpu(keys: Incoming, method: Method, progress: Progress) -> Result<(Keys, Report), Error> {
    Ok(match keys.collect()? {
        Pieces::One(keys) => {
            let (keys, report) = on_cpu(keys, 1, method, progress)?;
            (Keys::One(keys), report)
        }
        Pieces::Two(keys) => {
            let (keys, report) = on_cpu(keys, 2, method, progress)?;
            (Keys::Two(keys), report)
        }
    })
}

/// Sorts elements by a network, as a whole, or by the fast sort.
fn on_cpu<P: cpu::Piece<Item: Ord>>(
    pieces: Vec<P>,
    key_words: u32,
    method: Method,
    progress: Progress,
) -> Result<(Vec<P::Item>, Report), Error> {
    let start = Instant::now();
    let (sorted, algorithm, variant, dispatches, bytes_moved) = match method.algorithm {
        None => {
            let (sorted, done) = cpu::sort(pieces);
            (sorted, "cpu", done.name(), 0, 0)
        }
        Some(algorithm) => {
            algorithm.variant(method.variant)?;
            // Whichever variant is asked for, the network is the same; this cut of it suits caches.
            let variant = match algorithm {
                Algorithm::Bitonic => Variant::LocalGlobal,
                Algorithm::OddEven => Variant::Naive,
            };
            let positions = !P::Item::KEY_ONLY;
            let n = pieces.iter().map(P::count).sum();
            let plan = Plan::new(algorithm, variant, n, Shape::new(key_words, positions)?, &Limits::CPU)?;
            let dispatches = plan.dispatch_count();
            let mut elements = cpu::join(&pieces);
            drop(pieces);
            network::perform(&plan, &mut elements, |done| progress(done, dispatches));
            (elements, algorithm.name(), "network", dispatches, plan.bytes_moved())
        }
    };
    let report = Report { dispatches, bytes_moved, ..Report::on_cpu(algorithm, variant, start.elapsed()) };
    Ok((sorted, report))
}

fn records_on_cpu<W: Word, R: Word>(
    keys: Vec<Vec<W>>,
    records: Vec<Vec<R>>,
    key_words: u32,
    method: Method,
    progress: Progress,
) -> Result<(Vec<R>, Report), Error> {
    let pieces: Vec<(Vec<W>, Vec<R>)> = keys.into_iter().zip(records).collect();
    let (pairs, mut report) = on_cpu(pieces, key_words, method, progress)?;
    let (extract, records) = timed(|| Ok(cpu::records(&pairs)))?;
    report.sort.time += extract;
    Ok((records, report))
}
