//! The command's allocator: huge pages for large blocks, and an exit with a message when memory
//! runs out.
//!
//! A system promises more memory than exists, and kills a process that uses too much; so does a control
//! group. Large blocks are therefore counted, and a block that exceeds the available memory is refused before
//! the first access. A refused block ends the process with a message, exit code 2, and no temporary files,
//! unless the caller handles the refusal.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Cursor, Write};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with huge pages for large blocks: sorts access them at random places, and each
/// small page would cost a page fault and a TLB entry.
pub(crate) struct Counting;

/// Smaller blocks are not counted. Querying the available memory allocates only such blocks.
const COUNTED: usize = 64 << 10;

/// Larger blocks are mappings of their own, which grow in place; no allocator has a higher threshold.
const MAPPED: usize = 32 << 20;

/// Bytes in counted blocks.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// The limit of [`ALLOCATED`] before the available memory is queried again.
static ALLOWED: AtomicUsize = AtomicUsize::new(16 << 20);

/// Below this budget, blocks kept by the allocator matter.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LITTLE: u64 = 1 << 30;

/// Limits the number of heaps: to one for four cores within a small budget, since each heap keeps free blocks, and to
/// one if the address space is limited, since each heap reserves 64 MiB of it. A thread stays with its heap, so the
/// limit affects only threads that start later.
#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), allow(unused_variables))]
pub(crate) fn have_few_heaps(budget: u64) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use rustix::process::{Resource, getrlimit};
        let is_limited = |resource| getrlimit(resource).current.is_some();
        let heaps = match [Resource::As, Resource::Data].into_iter().any(is_limited) {
            true => 1,
            false if budget < LITTLE => (gpusort_base::parallel::cores() / 4).max(1),
            false => return,
        };
        // SAFETY:
        // - The call changes a number that other threads may be reading.
        // - Threads read and write the number as a whole word.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, heaps as libc::c_int) };
    }
}

/// Within a small budget, returns blocks of more than a few pages to the system as soon as they are free: slower, but
/// blocks kept for later might double the memory.
pub(crate) fn keep_little(budget: u64) {
    have_few_heaps(budget);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if budget < LITTLE {
        // SAFETY: as above.
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10) };
    }
}

// SAFETY:
// - Every call is passed on to the system's allocator unchanged.
// - Counting and advice do not change what memory holds.
// - No call unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the same contract.
        counted(0, layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        counted(0, layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        counted(layout.size(), size, || unsafe { System.realloc(block, layout, size) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        release(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Changes a block of `before` bytes to `after` bytes, with advice for large blocks. Returns null if the
/// block is refused and the caller handles that; other refusals end the process.
#[inline]
fn counted(before: usize, after: usize, make: impl FnOnce() -> *mut u8) -> *mut u8 {
    let refused = if before.max(after) < COUNTED { None } else { count(before, after) };
    let block = if refused.is_none() { make() } else { ptr::null_mut() };
    if block.is_null() {
        // The old block stays.
        release(after, before);
        if !gpusort_base::memory::handles_refusal() {
            end(after - before.min(after), refused);
        }
    } else if after >= 2 << 20 {
        // A call costs more than it saves for less than a huge page.
        gpusort_base::memory::in_huge_pages(block, after);
    }
    block
}

/// The counted bytes of a block.
fn counted_bytes(size: usize) -> usize {
    if size < COUNTED { 0 } else { size }
}

/// Records that a block of `before` bytes becomes one of `after`.
#[inline]
fn release(before: usize, after: usize) {
    let (before, after) = (counted_bytes(before), counted_bytes(after));
    if before != after {
        // Atomic addition wraps, so adding the wrapped difference subtracts.
        ALLOCATED.fetch_add(after.wrapping_sub(before), Relaxed);
    }
}

/// Records that a block is about to change. Returns the bytes left if it does not fit.
fn count(before: usize, after: usize) -> Option<usize> {
    release(before, after);
    let more = counted_bytes(after).saturating_sub(counted_bytes(before));
    // A block without a mapping of its own is copied if it cannot grow.
    let copied = if before > MAPPED { 0 } else { counted_bytes(before) };
    let exceeds = ALLOCATED.load(Relaxed).saturating_add(copied) > ALLOWED.load(Relaxed);
    if more > 0 && exceeds { look(more, copied) } else { None }
}

/// Checks that `more` bytes are available, and sets the limit until the next check. Returns the bytes left if
/// there are too few. Several threads may check at once, each with the blocks of all threads.
#[cold]
fn look(more: usize, copied: usize) -> Option<usize> {
    let Some(untouched) = gpusort_base::memory::untouched() else {
        ALLOWED.store(usize::MAX, Relaxed);
        return None;
    };
    // Subtract page tables and uncounted blocks.
    let untouched = (untouched - untouched / 32).saturating_sub(4 << 20) as usize;
    let all = ALLOCATED.load(Relaxed);
    // Counted blocks use address space at once, but memory only when they are touched.
    let promised = (all - more.min(all)).saturating_sub(touched());
    let space = gpusort_base::memory::address_space_left().map_or(usize::MAX, |left| left as usize);
    let left = untouched.saturating_sub(promised).min(space);
    let needed = more.saturating_add(copied);
    if needed > left {
        return Some(left.saturating_sub(copied));
    }
    ALLOWED.store(all.saturating_add((left - needed) / 2), Relaxed);
    None
}

/// Bytes of anonymous memory that this process has touched.
fn touched() -> usize {
    let [resident, swapped] = gpusort_base::memory::own(["RssAnon:", "VmSwap:"]);
    resident.map_or(ALLOCATED.load(Relaxed), |resident| (resident + swapped.unwrap_or(0)) as usize)
}

/// Reports that `more` bytes are not available, and ends the process.
#[cold]
fn end(more: usize, left: Option<usize>) -> ! {
    // The message is formatted without allocating.
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
