//! Work on all cores, where there is enough of it: few elements are done before other threads wake.
//!
//! Only this module starts threads or names rayon, whose global pool does the work. A system may refuse
//! threads (`ulimit -u`, a limit on address space); the pool then has as many as it could get, down to the
//! calling thread alone. The pool must not start lazily, since rayon gives up for good when one thread is
//! refused: threads are started first, and those that did start become the pool.

#[cfg(feature = "cli")]
mod write_behind;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, mpsc};
use std::{io, panic, thread};

use rayon::ThreadPoolBuilder;
use rayon::iter::IntoParallelIterator;
use rayon::slice::{ParallelSlice, ParallelSliceMut};

pub(crate) use rayon::iter::{IndexedParallelIterator, ParallelIterator};

#[cfg(feature = "cli")]
pub(crate) use self::write_behind::WriteBehind;

/// Fewer elements than this are processed by one core.
const FEW: usize = 1 << 14;

/// Address space for the stack and the allocations of each thread, where that is limited.
const SPACE: u64 = 24 << 20;

/// Whether the system refused every thread. All work then runs on the thread that first asked for the pool,
/// and no other is started later: it would wait for a pool without threads.
static ALONE: AtomicBool = AtomicBool::new(false);

/// How many threads the pool is to have; 0 is one for each core.
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// Makes the pool one of this many threads, at least one; of no effect once there is work for it.
pub fn limit(threads: usize) {
    WANTED.store(threads.max(1), Ordering::Relaxed);
}

/// Starts the pool, once.
fn start() {
    static START: Once = Once::new();
    START.call_once(|| {
        let wanted = Some(WANTED.load(Ordering::Relaxed)).filter(|&wanted| wanted > 0);
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let cores = wanted.unwrap_or_else(cores);
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
        // Fails if the program has a global pool already, which is then used.
        let _ = built;
    });
}

/// Number of threads in the pool.
pub(crate) fn threads() -> usize {
    start();
    rayon::current_num_threads()
}

/// Parallel iteration over `items`: a slice's, shared or mutable, a vector's or the numbers of a range.
pub(crate) fn iter<I: IntoParallelIterator>(items: I) -> I::Iter {
    start();
    items.into_par_iter()
}

/// Parallel iteration over chunks of `size` items.
pub(crate) fn chunks<T: Sync>(items: &[T], size: usize) -> rayon::slice::Chunks<'_, T> {
    start();
    items.par_chunks(size)
}

/// Parallel iteration over mutable chunks of `size` items.
pub(crate) fn chunks_mut<T: Send>(items: &mut [T], size: usize) -> rayon::slice::ChunksMut<'_, T> {
    start();
    items.par_chunks_mut(size)
}

/// As [`chunks_mut`], with chunks counted from the end.
pub(crate) fn rchunks_mut<T: Send>(items: &mut [T], size: usize) -> rayon::slice::RChunksMut<'_, T> {
    start();
    items.par_rchunks_mut(size)
}

/// Parallel iteration over all windows of `size` items.
pub(crate) fn windows<T: Sync>(items: &[T], size: usize) -> rayon::slice::Windows<'_, T> {
    start();
    items.par_windows(size)
}

/// Maps each element, in parallel; the results are in order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if items.len() < FEW { items.iter().map(map).collect() } else { iter(items).map(map).collect() }
}

/// Maps each of a few large parts, in parallel; the results are in order.
pub(crate) fn map_parts<T: Send, R: Send>(parts: Vec<T>, map: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if parts.len() < 2 { parts.into_iter().map(map).collect() } else { iter(parts).map(map).collect() }
}

/// Work that runs on another thread.
pub struct Meanwhile<'scope, T>(Result<thread::ScopedJoinHandle<'scope, T>, T>);

impl<T> Meanwhile<'_, T> {
    /// Waits for the result; propagates a panic.
    pub fn wait(self) -> T {
        let joined = self.0.map(|thread| thread.join().unwrap_or_else(|cause| panic::resume_unwind(cause)));
        joined.unwrap_or_else(|done| done)
    }
}

/// Runs `work` on another thread, or at once on this one if the system refuses a thread.
pub fn meanwhile<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Meanwhile<'scope, T> {
    Meanwhile(spawn_or_run(work, |work| thread::Builder::new().spawn_scoped(scope, work)))
}

/// Runs `work` on a thread of its own. If the system refuses a thread, it runs at once on this one.
///
/// # Errors
///
/// The result of `work`, if it ran at once.
pub fn background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<thread::JoinHandle<T>, T> {
    spawn_or_run(work, |work| thread::Builder::new().spawn(work))
}

/// Gives this to `work` on a thread of its own.
///
/// # Errors
///
/// What was to be given, if the system refuses a thread.
#[cfg(feature = "cli")]
pub(crate) fn on_a_thread<A: Send + 'static>(
    given: A,
    work: impl FnOnce(A) + Send + 'static,
) -> Result<(), A> {
    // A refused thread drops its closure, so what is given waits elsewhere.
    let (sender, receiver) = mpsc::channel();
    start();
    if ALONE.load(Ordering::Relaxed) {
        return Err(given);
    }
    match thread::Builder::new().spawn(move || receiver.recv().map(work)) {
        // It waits for it.
        Ok(_) => sender.send(given).map_err(|mpsc::SendError(given)| given),
        Err(_) => Err(given),
    }
}

fn spawn_or_run<'a, T, H>(
    work: impl FnOnce() -> T + Send + 'a,
    spawn: impl FnOnce(Box<dyn FnOnce() -> T + Send + 'a>) -> io::Result<H>,
) -> Result<H, T> {
    // Before the new thread does: where there are no others, the pool is the first thread that asks for it.
    start();
    // A refused thread drops its closure, so the closure holds only a reference to the work.
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
