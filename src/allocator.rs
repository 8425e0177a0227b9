//! Memory of the command: large blocks in large pages, and an end with a message where there is no more.
//!
//! A system promises more memory than it has, and kills a process that takes the promise at its word; a control
//! group does the same. So large blocks are counted here, and one that would not fit what there is ends the process before it is
//! touched, as one does that the system refuses: with a message, exit code 2, and nothing left behind.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The system's allocator, which asks for large pages where a block is large: numbers are read and written at
/// random places all over it, and each small page would be made and looked up on its own.
pub(crate) struct Counting;

/// Smaller blocks are not worth a system call.
const LARGE: usize = 2 << 20;

/// Smaller blocks are not counted. Looking at what memory there is takes none that are.
const COUNTED: usize = 64 << 10;

/// Larger blocks are mappings of their own, which grow in place; no allocator has them smaller.
const MAPPED: usize = 32 << 20;

/// Bytes in blocks that are counted.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// How many there may be before another look at what memory there is.
static ALLOWED: AtomicUsize = AtomicUsize::new(16 << 20);

// SAFETY: all memory is the system allocator's, and what is asked of it is passed on as it is; counting and advice do
// not change what memory holds. No call unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: the caller's promise is the one that is asked for.
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

/// Takes note that a block of `before` bytes becomes one of `after`, and ends the process if it would not fit.
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
    // A block that is no mapping of its own is copied where it cannot grow.
    let copied = if before > MAPPED { 0 } else { before };
    if all.saturating_add(copied) > ALLOWED.load(Relaxed) {
        look(more, copied);
    }
}

/// Looks whether there are so many bytes more, and how many others there may be before the next look.
#[cold]
fn look(more: usize, copied: usize) {
    static LOOKING: AtomicBool = AtomicBool::new(false);
    while LOOKING.swap(true, Relaxed) {
        std::thread::yield_now();
    }
    if let Some(untouched) = gpusort::unstable::memory::untouched() {
        // What pages take to be managed, and what is not counted.
        let untouched = (untouched - untouched / 32).saturating_sub(4 << 20) as usize;
        let all = ALLOCATED.load(Relaxed);
        // Blocks count when they are made, but take memory when they are touched; address space they take at once.
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

/// Bytes that this process has touched of memory that is no file's.
#[cfg(target_os = "linux")]
fn touched() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = |line: &str| {
        let (name, size) = line.split_once(':')?;
        let size = size.trim().strip_suffix(" kB")?.parse::<usize>().ok();
        size.filter(|_| ["RssAnon", "VmSwap"].contains(&name))
    };
    status.lines().filter_map(kilobytes).sum::<usize>() << 10
}

#[cfg(not(target_os = "linux"))]
fn touched() -> usize {
    ALLOCATED.load(Relaxed)
}

/// The block, with the advice given if it is large; ends the process if there is none.
#[inline]
fn checked(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() {
        end(size, None);
    }
    #[cfg(target_os = "linux")]
    if size >= LARGE {
        // All pages of it, the first one too, where the system's allocator has its own few bytes: were these another
        // mapping than the rest, the block could not be made larger without being copied.
        let page = rustix::param::page_size();
        let before = block.addr() % page;
        // SAFETY: the pages are there, since the block that was just made is in each. Whether the advice is taken makes no
        // difference to what they hold.
        unsafe {
            let pages = (before + size).next_multiple_of(page);
            libc::madvise(block.sub(before).cast(), pages, libc::MADV_HUGEPAGE)
        };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = size >= LARGE;
    block
}

/// Says that there is no memory for so many bytes, and ends the process.
#[cold]
fn end(more: usize, left: Option<usize>) -> ! {
    // Without memory of its own.
    let mut message = Cursor::new([0; 160]);
    let _ = match left {
        Some(left) => {
            writeln!(message, "gpusort: out of memory: {more} bytes more are needed, and {left} are left")
        }
        None => writeln!(message, "gpusort: out of memory: the system refuses {more} bytes"),
    };
    let length = message.position() as usize;
    crate::end::failed(&message.get_ref()[..length])
}
