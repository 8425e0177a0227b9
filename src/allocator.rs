//! Memory of the command: large blocks in large pages.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which asks for large pages where a block is large: numbers are read and written at
/// random places all over it, and each small page would be made and looked up on its own.
pub(crate) struct LargePages;

/// Smaller blocks are not worth a system call.
const LARGE: usize = 2 << 20;

// SAFETY: all memory is the system allocator's, and what is asked of it is passed on as it is; advice does not
// change what memory holds.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the one that is asked for.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The block, with the advice given if it is large.
fn advised(block: *mut u8, size: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if size >= LARGE && !block.is_null() {
        // The whole pages of it; a page is at least this large.
        const PAGE: usize = 4096;
        let skipped = block.align_offset(PAGE);
        // SAFETY: these are bytes of the block that was just made. Whether the advice is taken makes no difference
        // to what they hold.
        unsafe {
            libc::madvise(block.add(skipped).cast(), (size - skipped) & !(PAGE - 1), libc::MADV_HUGEPAGE)
        };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = size >= LARGE;
    block
}
