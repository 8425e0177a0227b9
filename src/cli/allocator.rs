//! The command's allocator: huge pages for large blocks, and an exit with a message when memory
//! runs out.
//!
//! A system promises more memory than it has, and kills a process that uses what was promised; so
//! does a control group. Large blocks are therefore counted, and one that exceeds the available
//! memory ends the process before it is touched, as a refused one does: with a message, exit code
//! 2, and no temporary files.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with huge pages for large blocks: numbers are read and written at random
/// places all over them, and each small page would cost a page fault and a TLB entry.
pub(crate) struct Counting;

/// Smaller blocks are not counted. Querying the available memory allocates only such blocks.
const COUNTED: usize = 64 << 10;

/// Larger blocks are mappings of their own, which grow in place; no allocator's threshold is
/// higher.
const MAPPED: usize = 32 << 20;

/// Bytes in counted blocks.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// The limit of [`ALLOCATED`] before the available memory is queried again.
static ALLOWED: AtomicUsize = AtomicUsize::new(16 << 20);

/// Gives blocks of more than a few pages back to the system as soon as they are free, and never
/// keeps them for later: slower, but what is kept may be as much again as what is used. Smaller
/// ones are kept by each heap, so that there are few heaps: one for four cores.
pub(crate) fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let cores = gpusort::unstable::parallel::cores();
        // SAFETY: they change numbers, which other threads may be reading, and none but whole words
        // are.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
            libc::mallopt(libc::M_ARENA_MAX, (cores / 4).max(1) as libc::c_int);
        }
    }
}

/// Has all threads share one heap where the address space is limited: each heap of a thread
/// reserves 64 MiB of it, much more than the thread needs, and leaves too little for blocks that
/// there was room for before.
pub(crate) fn share_little_space() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use rustix::process::{Resource, getrlimit};
        if [Resource::As, Resource::Data].into_iter().any(|limited| getrlimit(limited).current.is_some()) {
            // SAFETY: it changes a number, and there is no other thread yet.
            unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
        }
    }
}

// SAFETY:
// - Every call is passed on to the system's allocator unchanged.
// - Counting and advice do not change what memory holds.
// - No call unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: the caller upholds the same contract.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), size);
        // SAFETY: as above.
        checked(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Records that a block of `before` bytes becomes one of `after`, and ends the process if it does
/// not fit.
#[inline]
fn count(before: usize, after: usize) {
    if before.max(after) < COUNTED {
        return;
    }
    let counted = |size: usize| if size < COUNTED { 0 } else { size };
    let (before, after) = (counted(before), counted(after));
    if after <= before {
        ALLOCATED.fetch_sub(before - after, Relaxed);
        return;
    }
    let more = after - before;
    let all = ALLOCATED.fetch_add(more, Relaxed).saturating_add(more);
    // A block without a mapping of its own is copied if it cannot grow.
    let copied = if before > MAPPED { 0 } else { before };
    if all.saturating_add(copied) > ALLOWED.load(Relaxed) {
        look(more, copied);
    }
}

/// Checks that `more` bytes are available, and sets the limit until the next check.
#[cold]
fn look(more: usize, copied: usize) {
    static LOOKING: AtomicBool = AtomicBool::new(false);
    while LOOKING.swap(true, Relaxed) {
        std::thread::yield_now();
    }
    if let Some(untouched) = gpusort::unstable::memory::untouched() {
        // Subtract page tables and uncounted blocks.
        let untouched = (untouched - untouched / 32).saturating_sub(4 << 20) as usize;
        let all = ALLOCATED.load(Relaxed);
        // Counted blocks use address space at once, but memory only when they are touched.
        let promised = (all - more.min(all)).saturating_sub(touched());
        let space = gpusort::unstable::memory::address_space_left().map_or(usize::MAX, |left| left as usize);
        let left = untouched.saturating_sub(promised).min(space);
        let needed = more.saturating_add(copied);
        if needed > left {
            end(more, Some(left.saturating_sub(copied)));
        }
        ALLOWED.store(all.saturating_add((left - needed) / 2), Relaxed);
    } else {
        ALLOWED.store(usize::MAX, Relaxed);
    }
    LOOKING.store(false, Relaxed);
}

/// Bytes of anonymous memory that this process has touched.
fn touched() -> usize {
    let [resident, swapped] = gpusort::unstable::memory::own(["RssAnon:", "VmSwap:"]);
    resident.map_or(ALLOCATED.load(Relaxed), |resident| (resident + swapped.unwrap_or(0)) as usize)
}

/// The block, with advice applied if it is large; ends the process if the allocation failed.
#[inline]
fn checked(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() {
        end(size, None);
    }
    // Less than a huge page is not worth a call.
    if size >= 2 << 20 {
        gpusort::unstable::memory::in_huge_pages(block, size);
    }
    block
}

/// Reports that `more` bytes are not available, and ends the process.
#[cold]
fn end(more: usize, left: Option<usize>) -> ! {
    // Formatted without allocating.
    let mut message = Cursor::new([0; 160]);
    let _ = match left {
        Some(left) => {
            writeln!(message, "gpusort: out of memory: {more} more bytes needed, {left} left")
        }
        None => writeln!(message, "gpusort: out of memory: the system refused {more} bytes"),
    };
    let length = message.position() as usize;
    super::end::failed(&message.get_ref()[..length])
}
