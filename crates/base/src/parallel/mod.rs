//! Work on all cores, for large work only: one thread finishes small work before others wake.
//!
//! All loops over parts run in one function, [`each`], which calls the work by reference: rayon's parallel
//! iterators would be compiled anew for every type and every closure, which dominates the build time. Parts
//! are large, so a call by reference costs nothing. The work loops over the elements of a part itself.
//!
//! Only this module starts threads or names rayon, whose global pool does the work. A system may refuse
//! threads (`ulimit -u`, a limit on address space); the pool then has fewer threads, or only the calling
//! thread. The pool must not start lazily, because rayon gives up for good after one refused thread. This
//! module therefore starts the threads first and makes a pool of the successful ones.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, mpsc};
use std::{io, panic, thread};

use rayon_core::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

use crate::cancel::Cancel;

/// One core processes any smaller number of elements.
const FEW: usize = 1 << 14;

/// Elements that one core processes at a time.
const BLOCK: usize = 1 << 12;

/// Address space for each thread's stack and allocations, if the address space is limited.
const SPACE: u64 = 24 << 20;

/// True if the system refused every thread, or if this process was forked and lacks its parent's threads.
/// Every thread then does its own work, and no other is started later.
static ALONE: AtomicBool = AtomicBool::new(false);

/// The requested number of threads in the pool; 0 means one per core.
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of cores that threads may run on.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Sets the number of threads of the pool, at least one, unless the pool has started.
pub fn limit(threads: usize) {
    WANTED.store(threads.max(1), Ordering::Relaxed);
}

/// A pool with fewer threads than the global pool; `None` if the calling thread does its own work.
type Pool = Option<Arc<ThreadPool>>;

thread_local! {
    /// The pool for the work of this thread and of the threads that it starts; `None` means the global pool.
    static POOL: RefCell<Option<Pool>> = const { RefCell::new(None) };
    /// The flag that ends the work of this thread, and of the threads that share it.
    static CANCEL: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

fn own_pool() -> Option<Pool> {
    POOL.with_borrow(Clone::clone)
}

/// Makes a thread use another pool until this value, which holds the previous pool, is dropped.
struct Using(Option<Pool>);

impl Using {
    fn pool(pool: Option<Pool>) -> Self {
        Self(POOL.replace(pool))
    }
}

impl Drop for Using {
    fn drop(&mut self) {
        POOL.set(self.0.take());
    }
}

/// Calls `work` with a pool of `threads` threads, at least one. Pools are kept for the next call.
///
/// # Errors
///
/// Fails if the system refuses these threads.
pub fn within<T>(threads: usize, work: impl FnOnce() -> T) -> io::Result<T> {
    static POOLS: Mutex<Vec<Arc<ThreadPool>>> = Mutex::new(Vec::new());
    let threads = threads.max(1);
    if ALONE.load(Ordering::Relaxed) {
        return Ok(work());
    }
    let mut pools = lock(&POOLS);
    let mut known = pools.iter().find(|pool| pool.current_num_threads() == threads).cloned();
    if known.is_none() {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
        known = Some(Arc::new(pool));
        pools.extend(known.clone());
    }
    drop(pools);
    let _using = Using::pool(Some(known));
    Ok(work())
}

/// Calls `work` on this thread alone, for steps shorter than waking another thread.
pub fn alone<T>(work: impl FnOnce() -> T) -> T {
    let _using = Using::pool(Some(None));
    work()
}

/// Calls `work`, which unwinds soon after the flag is set: at the next part of [`each`] on any thread.
pub fn until<T>(cancel: Option<Cancel>, work: impl FnOnce() -> T) -> T {
    /// Restores the flag from before.
    struct Before(Option<Cancel>);
    impl Drop for Before {
        fn drop(&mut self) {
            CANCEL.set(self.0.take());
        }
    }
    let _before = Before(CANCEL.replace(cancel));
    go_on();
    work()
}

/// Unwinds, without a message, if the work of this thread was cancelled.
fn go_on() {
    if CANCEL.with_borrow(|cancel| cancel.as_ref().is_some_and(Cancel::is_cancelled)) {
        panic::resume_unwind(Box::new("cancelled"));
    }
}

/// Must be called in a forked process, which lacks the threads of its parent's pools.
pub fn forked() {
    ALONE.store(true, Ordering::Relaxed);
    POOL.set(None);
}

/// Starts the pool, once.
fn start() {
    static START: Once = Once::new();
    // Threads of a pool need no other pool.
    if ALONE.load(Ordering::Relaxed) || rayon_core::current_thread_index().is_some() {
        return;
    }
    START.call_once(|| {
        let wanted = Some(WANTED.load(Ordering::Relaxed)).filter(|&wanted| wanted > 0);
        let cores = wanted.unwrap_or_else(cores);
        let room = crate::memory::address_space_left().map_or(usize::MAX, |left| (left / SPACE) as usize);
        let mut started: Vec<mpsc::Sender<ThreadBuilder>> = Vec::new();
        for _ in 0..cores.min(room) {
            let (sender, receiver) = mpsc::channel::<ThreadBuilder>();
            let wait = move || receiver.recv().into_iter().for_each(ThreadBuilder::run);
            match thread::Builder::new().spawn(wait) {
                Ok(_) => started.push(sender),
                Err(_) => break,
            }
        }
        if started.is_empty() {
            ALONE.store(true, Ordering::Relaxed);
            return;
        }
        let pool = ThreadPoolBuilder::new().num_threads(started.len());
        let hand_over = move |thread| {
            let sent = started.pop().is_some_and(|sender| sender.send(thread).is_ok());
            if sent { Ok(()) } else { Err(io::Error::other("the system refused a thread")) }
        };
        // Fails if the program has already started the global pool; the work then uses that pool.
        let _ = pool.spawn_handler(hand_over).build_global();
    });
}

/// Returns the number of threads in the pool.
pub fn threads() -> usize {
    if let Some(pool) = own_pool() {
        return pool.map_or(1, |pool| pool.current_num_threads());
    }
    start();
    if ALONE.load(Ordering::Relaxed) { 1 } else { rayon_core::current_num_threads() }
}

/// Calls `work` for each number of the range, in parallel. Each call should take longer than waking a thread.
pub fn each(range: Range<usize>, work: &(dyn Fn(usize) + Sync)) {
    /// This thread takes the first half, and another may take the second.
    fn halves(range: Range<usize>, work: &(dyn Fn(usize) + Sync)) {
        let Range { start, end } = range;
        match end.saturating_sub(start) {
            0 => {}
            1 => work(start),
            count => {
                let middle = start + count / 2;
                rayon_core::join(|| halves(start..middle, work), || halves(middle..end, work));
            }
        }
    }
    if range.len() < 2 {
        return range.for_each(work);
    }
    let cancel = CANCEL.with_borrow(Clone::clone);
    // A thread that waits for its half may work on the parts of another call in the meantime.
    let work = &|number| until(cancel.clone(), || work(number));
    match own_pool() {
        Some(Some(pool)) => return pool.install(|| halves(range, work)),
        Some(None) => return range.for_each(work),
        None => {}
    }
    start();
    if ALONE.load(Ordering::Relaxed) { range.for_each(work) } else { halves(range, work) }
}

/// Returns true if `holds` is true for all numbers of the range. Tests them in parallel; stops soon after a
/// false one.
pub fn all(range: Range<usize>, holds: &(dyn Fn(usize) -> bool + Sync)) -> bool {
    let is_lost = AtomicBool::new(false);
    each(range, &|number| {
        if !is_lost.load(Ordering::Relaxed) && !holds(number) {
            is_lost.store(true, Ordering::Relaxed);
        }
    });
    !is_lost.into_inner()
}

/// Maps each element, in parallel; the results are in order.
pub fn map<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if items.len() < FEW {
        // Captured values stay in registers here, because no other thread shares them.
        return items.iter().map(map).collect();
    }
    // SAFETY: from any `begin`, `items` has an item for each remaining place.
    unsafe { written(items.len(), |begin| items[begin..].iter().map(&map)) }
}

/// Maps each number below `count`, in parallel; the results are in order.
pub fn numbered<R: Send>(count: usize, of: impl Fn(usize) -> R + Sync) -> Vec<R> {
    // SAFETY: the range of numbers has no end.
    unsafe { written(count, |begin| (begin..).map(&of)) }
}

/// Returns an array of `count` results, written block by block, in parallel if there are many. `from` yields
/// the results from a number on.
///
/// # Safety
///
/// `from` makes at least the results up to `count`.
unsafe fn written<R: Send, I: Iterator<Item = R>>(count: usize, from: impl Fn(usize) -> I + Sync) -> Vec<R> {
    let write = |begin: usize, places: &mut [MaybeUninit<R>]| {
        places.iter_mut().zip(from(begin)).for_each(|(place, result)| _ = place.write(result));
    };
    let mut written = Vec::with_capacity(count);
    let places = &mut written.spare_capacity_mut()[..count];
    if count < FEW {
        write(0, places);
    } else {
        map_parts(places.chunks_mut(BLOCK).enumerate(), |(number, places)| write(number * BLOCK, places));
    }
    // SAFETY: by the caller's promise, each place got a result.
    unsafe { written.set_len(count) };
    written
}

/// Splits the numbers below `count` into ranges of `each` numbers; the last range may be shorter.
pub fn ranges(count: usize, each: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(each).map(move |begin| begin..count.min(begin + each))
}

/// Maps each of a few large parts, in parallel; the results are in order.
pub fn map_parts<T: Send, R: Send>(
    parts: impl IntoIterator<Item = T>,
    map: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    /// Maps the parts; compiled once for all closures on these types.
    fn mapped<T: Send, R: Send>(mut parts: Vec<Option<T>>, map: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
        let mut mapped: Vec<Option<R>> = parts.iter().map(|_| None).collect();
        let (count, from, to) = (parts.len(), Places::of_all(&mut parts), Places::of_all(&mut mapped));
        each(0..count, &|number| {
            // SAFETY:
            // - Both arrays have an element of this number.
            // - The loop does this once for each number, and nothing is left in the place of the part.
            let part = unsafe {
                let part = from.read(number);
                from.write(number, None);
                part
            };
            let result = part.map(map);
            // SAFETY: the same; the place has nothing to drop.
            unsafe { to.write(number, result) };
        });
        mapped.into_iter().flatten().collect()
    }
    mapped(parts.into_iter().map(Some).collect(), &map)
}

/// An array that several threads access at disjoint places.
pub struct Places<T>(*mut T);

// SAFETY:
// - Elements may go from thread to thread, since they are `Send`.
// - Only one thread accesses an element at a time, as callers of `read` and `write` guarantee.
unsafe impl<T: Send> Sync for Places<T> {}

impl<T> Places<T> {
    /// Returns the places of uninitialised elements.
    pub fn of(room: &mut [MaybeUninit<T>]) -> Self {
        Self(room.as_mut_ptr().cast())
    }

    /// # Safety
    ///
    /// The place has an element, and no other access takes or replaces it.
    unsafe fn read(&self, place: usize) -> T {
        // SAFETY: guaranteed by the caller.
        unsafe { self.0.add(place).read() }
    }

    /// Returns the places of these elements.
    pub fn of_all(elements: &mut [T]) -> Self {
        Self(elements.as_mut_ptr())
    }

    /// Writes an item to a place.
    ///
    /// # Safety
    ///
    /// - The place is within the array.
    /// - The array is live, and only these places access it.
    /// - No other thread accesses the place.
    #[inline]
    pub unsafe fn write(&self, place: usize, item: T) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.0.add(place).write(item) };
    }
}

/// Locks a mutex, poisoned or not: no critical section leaves its data half changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work that runs on another thread.
pub struct Meanwhile<'scope, T>(Result<thread::ScopedJoinHandle<'scope, T>, T>);

impl<T> Meanwhile<'_, T> {
    /// Returns finished work with this result.
    pub fn done(result: T) -> Self {
        Self(Err(result))
    }

    /// Returns true if the work was done without another thread.
    pub fn is_done(&self) -> bool {
        self.0.is_err()
    }

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
    let spawn = |run| thread::Builder::new().spawn_scoped(scope, run);
    Meanwhile(started(work, |work| work(), spawn).map_err(|work| work()))
}

/// Runs `work` on a thread of its own, or at once on this thread if the system refuses a thread.
///
/// # Errors
///
/// Returns the result of `work` if it ran on this thread.
pub fn background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<thread::JoinHandle<T>, T> {
    started(work, |work| work(), |run| thread::Builder::new().spawn(run)).map_err(|work| work())
}

/// Calls `work` with `given` on a thread of its own.
///
/// # Errors
///
/// Returns `given` if the system refuses a thread.
pub fn on_a_thread<A: Send + 'static>(given: A, work: impl FnOnce(A) + Send + 'static) -> Result<(), A> {
    started(given, work, |run| thread::Builder::new().spawn(run)).map(drop)
}

/// Lets `spawn` start a thread that calls `work` with `given`, in the pool of this thread. Returns `given` if
/// the system refuses a thread, or if this thread belongs to a pool: it may wait for the new thread, whose
/// work may wait for the pool.
fn started<'a, A: Send + 'a, T: 'a, H>(
    given: A,
    work: impl FnOnce(A) -> T + Send + 'a,
    spawn: impl FnOnce(Box<dyn FnOnce() -> T + Send + 'a>) -> io::Result<H>,
) -> Result<H, A> {
    let pool = own_pool();
    // Starts the pool before the new thread can: if the system refuses all pool threads, the first thread that
    // asks for the pool becomes the pool.
    if pool.is_none() {
        start();
    }
    let is_alone = ALONE.load(Ordering::Relaxed) || matches!(pool, Some(None));
    if is_alone || rayon_core::current_thread_index().is_some() {
        return Err(given);
    }
    // The closure of a refused thread is dropped, so the value waits outside the closure.
    let place = Arc::new(Mutex::new(Some(given)));
    let take = |place: &Mutex<Option<A>>| lock(place).take().expect("one takes it");
    let waiting = place.clone();
    let run = move || {
        let _using = Using::pool(pool);
        work(take(&waiting))
    };
    spawn(Box::new(run)).map_err(|_| take(&place))
}

/// Elements per block, and the maximum for one thread: waking others would cost more than the work.
const SERIAL: usize = 1 << 16;

/// Maps each element of `from` into `to`, of equal length, on all cores.
pub fn map_into<T: Sync, R: Send>(from: &[T], to: &mut [R], map: impl Fn(&T) -> R + Sync) {
    by_blocks(from, to, &|from, to| to.iter_mut().zip(from).for_each(|(to, from)| *to = map(from)));
}

/// Writes `to` from `from`, of equal length, block by block on all cores.
pub fn by_blocks<T: Sync, R: Send>(from: &[T], to: &mut [R], write: &(dyn Fn(&[T], &mut [R]) + Sync)) {
    if from.len() <= SERIAL {
        write(from, to);
    } else {
        map_parts(from.chunks(SERIAL).zip(to.chunks_mut(SERIAL)), |(from, to)| write(from, to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_worked_on_once_and_results_are_in_order() {
        for count in [0, 1, 2, 3, 100, 1001] {
            let done = Mutex::new(Vec::new());
            each(7..7 + count, &|number| done.lock().unwrap().push(number));
            let mut done = done.into_inner().unwrap();
            done.sort_unstable();
            assert!(done.into_iter().eq(7..7 + count));
            let parts: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            assert_eq!(map_parts(parts.clone(), |part| part), parts);
        }
        for count in [0, 1, FEW - 1, FEW, FEW + 1, 5 * FEW + BLOCK - 1] {
            let items: Vec<u32> = (0..count as u32).collect();
            let texts = map(&items, ToString::to_string);
            assert!(texts.iter().zip(&items).all(|(text, item)| *text == item.to_string()));
            assert_eq!(texts.len(), count);
        }
    }

    #[test]
    fn work_is_done_by_as_many_threads_as_were_asked_for() {
        let names = || {
            let names = Mutex::new(std::collections::HashSet::new());
            each(0..200, &|_| {
                lock(&names).insert(thread::current().id());
                thread::sleep(std::time::Duration::from_micros(50));
            });
            names.into_inner().unwrap()
        };
        for count in [1, 3, 1] {
            let (here, there) = within(count, || {
                assert_eq!(threads(), count);
                (names(), thread::scope(|scope| meanwhile(scope, names).wait()))
            })
            .unwrap();
            assert!(here.union(&there).count() <= count, "{count}");
        }
        assert_ne!(within(1, names).unwrap(), within(2, names).unwrap());
    }

    #[test]
    fn a_thread_that_is_alone_does_all_of_its_work_until_it_ends_or_panics() {
        let id = || thread::current().id();
        let all = || {
            let parts = map_parts(0..100, |_| id());
            let meanwhile = thread::scope(|scope| meanwhile(scope, id).wait());
            parts.into_iter().chain([meanwhile]).collect::<std::collections::HashSet<_>>()
        };
        assert_eq!(alone(all), [id()].into());
        assert_eq!(alone(threads), 1);
        panic::catch_unwind(|| alone(|| panic!("ended"))).unwrap_err();
        assert_ne!(all(), [id()].into());
    }

    #[test]
    fn cancelled_work_ends_on_all_threads_and_no_other_does() {
        let cancel = Cancel::new();
        let count = AtomicUsize::new(0);
        let nested = |_| {
            each(0..1000, &|_| {
                if count.fetch_add(1, Ordering::Relaxed) == 5000 {
                    cancel.cancel();
                }
            });
        };
        let ended = panic::catch_unwind(|| until(Some(cancel.clone()), || each(0..1000, &nested)));
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"cancelled"));
        assert!(count.load(Ordering::Relaxed) < 10_000);
        go_on();
        assert_eq!(numbered(FEW, |number| number).len(), FEW);
    }

    #[test]
    fn a_thread_of_a_pool_waits_for_no_other_thread() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let id = || thread::current().id();
        let (here, there) = pool.install(|| (id(), thread::scope(|scope| meanwhile(scope, id).wait())));
        assert_eq!(here, there);
        let (here, there) = (id(), thread::scope(|scope| meanwhile(scope, id).wait()));
        assert_ne!(here, there);
    }

    #[test]
    fn what_does_not_hold_once_does_not_hold() {
        for lost in 0..100 {
            assert!(!all(0..100, &|number| number != lost), "{lost}");
        }
        assert!(all(0..100, &|_| true) && all(0..0, &|_| false));
    }

    #[test]
    fn a_part_that_panics_ends_the_map() {
        let parts = (0..100).map(|number| number.to_string());
        let ended =
            panic::catch_unwind(|| map_parts(parts, |part| if part == "57" { panic!("57") } else { part }));
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"57"));
    }
}
