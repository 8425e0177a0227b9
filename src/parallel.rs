//! Work on all cores, where there is enough of it: few elements are done sooner than other threads are woken.
//!
//! This is the only module that starts threads or names rayon, whose global pool does the work. A system may refuse threads
//! (`ulimit -u`, a limit on address space): then there are as many as it gives, down to the one that is there
//! anyway. So the pool is not left to start with its first use, for rayon gives up for good when a thread
//! is refused: threads are started first, and those that did start become the pool.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, mpsc};
use std::{io, panic, thread};

use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};

pub(crate) use rayon::iter::{IndexedParallelIterator, ParallelIterator};

/// Fewer elements than this are one core's.
const FEW: usize = 1 << 14;

/// Address space for each thread, its stack and what it allocates, where that is limited.
const SPACE: u64 = 24 << 20;

/// Whether the system gave no thread. Then all work is that of the thread that has asked for one, and no other is
/// started later: it would wait for a pool that has none.
static ALONE: AtomicBool = AtomicBool::new(false);

/// Starts the threads, once.
fn start() {
    static START: Once = Once::new();
    START.call_once(|| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let room = crate::memory::address_space_left().map_or(usize::MAX, |left| (left / SPACE) as usize);
        let mut started: Vec<mpsc::Sender<rayon::ThreadBuilder>> = Vec::new();
        for _ in 0..cores.min(room) {
            let (sender, receiver) = mpsc::channel::<rayon::ThreadBuilder>();
            let wait = move || receiver.recv().into_iter().for_each(rayon::ThreadBuilder::run);
            match thread::Builder::new().spawn(wait) {
                Ok(_) => started.push(sender),
                Err(_) => break,
            }
        }
        let built = if started.is_empty() {
            ALONE.store(true, Ordering::Relaxed);
            ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()
        } else {
            let pool = ThreadPoolBuilder::new().num_threads(started.len());
            let hand_over = move |thread| {
                let sent = started.pop().is_some_and(|sender| sender.send(thread).is_ok());
                if sent { Ok(()) } else { Err(io::Error::other("no thread is left")) }
            };
            pool.spawn_handler(hand_over).build_global()
        };
        // A program that has a pool keeps it.
        let _ = built;
    });
}

/// How many threads share the work.
pub(crate) fn threads() -> usize {
    start();
    rayon::current_num_threads()
}

/// These, on all cores.
pub(crate) fn iter<T: Sync>(items: &[T]) -> rayon::slice::Iter<'_, T> {
    start();
    items.par_iter()
}

/// These, to be changed, on all cores.
pub(crate) fn iter_mut<T: Send>(items: &mut [T]) -> rayon::slice::IterMut<'_, T> {
    start();
    items.par_iter_mut()
}

/// These, taken, on all cores.
pub(crate) fn take<T: Send>(items: Vec<T>) -> rayon::vec::IntoIter<T> {
    start();
    items.into_par_iter()
}

/// These numbers, on all cores.
pub(crate) fn range(range: Range<usize>) -> rayon::range::Iter<usize> {
    start();
    range.into_par_iter()
}

/// So many of these at a time, on all cores.
pub(crate) fn chunks<T: Sync>(items: &[T], size: usize) -> rayon::slice::Chunks<'_, T> {
    start();
    items.par_chunks(size)
}

/// So many of these at a time, to be changed, on all cores.
pub(crate) fn chunks_mut<T: Send>(items: &mut [T], size: usize) -> rayon::slice::ChunksMut<'_, T> {
    start();
    items.par_chunks_mut(size)
}

/// The same, counted from the end.
pub(crate) fn rchunks_mut<T: Send>(items: &mut [T], size: usize) -> rayon::slice::RChunksMut<'_, T> {
    start();
    items.par_rchunks_mut(size)
}

/// All runs of so many neighbours, on all cores.
pub(crate) fn windows<T: Sync>(items: &[T], size: usize) -> rayon::slice::Windows<'_, T> {
    start();
    items.par_windows(size)
}

/// The same on each core.
pub(crate) fn each_core(work: impl Fn() + Sync) {
    start();
    rayon::broadcast(|_| work());
}

/// The result of `map` for each element, in order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if items.len() < FEW { items.iter().map(map).collect() } else { iter(items).map(map).collect() }
}

/// The result of `map` for each of some parts that are large, in order.
pub(crate) fn map_parts<T: Send, R: Send>(parts: Vec<T>, map: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if parts.len() < 2 { parts.into_iter().map(map).collect() } else { take(parts).map(map).collect() }
}

/// Work that another thread does meanwhile.
pub struct Meanwhile<'scope, T>(Result<thread::ScopedJoinHandle<'scope, T>, T>);

impl<T> Meanwhile<'_, T> {
    /// Waits for the result; a panic goes on here.
    pub fn wait(self) -> T {
        let joined = self.0.map(|thread| thread.join().unwrap_or_else(|cause| panic::resume_unwind(cause)));
        joined.unwrap_or_else(|done| done)
    }
}

/// Has another thread do this work meanwhile; where the system gives none, it is done now.
pub fn meanwhile<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Meanwhile<'scope, T> {
    Meanwhile(spawn_or_run(work, |work| thread::Builder::new().spawn_scoped(scope, work)))
}

/// Has a thread of its own do this work; where the system gives none, it is done now and the error is its result.
///
/// # Errors
///
/// The result, of work that was done now.
pub fn background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<thread::JoinHandle<T>, T> {
    spawn_or_run(work, |work| thread::Builder::new().spawn(work))
}

fn spawn_or_run<'a, T, H>(
    work: impl FnOnce() -> T + Send + 'a,
    spawn: impl FnOnce(Box<dyn FnOnce() -> T + Send + 'a>) -> io::Result<H>,
) -> Result<H, T> {
    // Before another thread does: if there is to be none, the pool is the first thread that asks for it.
    start();
    // A thread that is refused takes its work along, so it is given only the place where that is.
    let place = Arc::new(Mutex::new(Some(work)));
    let take = |place: &Mutex<Option<_>>| place.lock().unwrap_or_else(PoisonError::into_inner).take();
    if !ALONE.load(Ordering::Relaxed) {
        let there = Arc::clone(&place);
        let run = move || take(&there).expect("taken here only, once there is a thread")();
        if let Ok(handle) = spawn(Box::new(run)) {
            return Ok(handle);
        }
    }
    Err(take(&place).expect("no thread has taken it")())
}
