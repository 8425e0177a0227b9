//! Memory: allocations for elements, and the available amount.

#[cfg(feature = "available")]
mod available;

use std::alloc::Layout;
use std::cell::Cell;
use std::collections::TryReserveError;
use std::mem::MaybeUninit;
use std::slice;
use std::sync::Mutex;

use bytemuck::{Pod, Zeroable};

#[cfg(feature = "available")]
pub use self::available::{available, ensure, parse, untouched};

thread_local! {
    /// True while this thread handles a refused allocation.
    static HANDLES_REFUSAL: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if the caller of the allocator handles a refusal; otherwise the command's allocator ends the
/// process.
pub fn handles_refusal() -> bool {
    HANDLES_REFUSAL.get()
}

/// Reserves memory for `more` items, if the allocator has it.
///
/// # Errors
///
/// The allocator refuses.
pub fn try_reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), TryReserveError> {
    HANDLES_REFUSAL.set(true);
    let reserved = items.try_reserve_exact(more);
    HANDLES_REFUSAL.set(false);
    reserved
}

/// Prefetches the item at this place, for a read soon. The place may lie beyond the items.
#[inline]
pub fn prefetch<T>(items: &[T], place: usize) {
    let place = items.as_ptr().wrapping_add(place);
    #[cfg(target_arch = "x86_64")]
    // SAFETY:
    // - All processors of this architecture have the instruction.
    // - It accesses no memory that a program can observe.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}

/// Returns an empty vector with capacity for `count` elements, which will fill the vector. The vector uses
/// huge pages if the system has them.
pub fn room<T>(count: usize) -> Vec<T> {
    let mut room = Vec::<T>::with_capacity(count);
    in_huge_pages(room.as_mut_ptr().cast(), size_of_val(room.spare_capacity_mut()));
    room
}

/// The maximum number of bytes kept for the next use.
const KEPT: usize = 16 << 20;

/// The memory that the last [`Kept`] leaves to the next one.
static LEFT: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Scratch memory. A small block is kept for the next use, because touching fresh memory takes as long as
/// a sort of the elements that fit in it.
pub struct Kept(Vec<u64>);

impl Kept {
    /// Returns memory for `count` elements, with arbitrary content.
    pub fn new<T: Pod>(count: usize) -> Self {
        let words = (count * size_of::<T>()).div_ceil(size_of::<u64>());
        let left = LEFT.try_lock().map(|mut left| std::mem::take(&mut *left)).unwrap_or_default();
        Self(if left.capacity() < words { room(words) } else { left })
    }

    /// Returns places for `count` elements.
    ///
    /// # Panics
    ///
    /// Panics if the memory has fewer places.
    pub fn places<T: Pod>(&mut self, count: usize) -> &mut [MaybeUninit<T>] {
        const { assert!(align_of::<T>() <= align_of::<u64>()) };
        assert!(count * size_of::<T>() <= self.0.capacity() * size_of::<u64>(), "there is room for all");
        // SAFETY:
        // - The memory has `count` places, as asserted.
        // - The places are aligned, since a word's alignment is at least an element's.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.0.capacity() * size_of::<u64>() <= KEPT
            && let Ok(mut left) = LEFT.try_lock()
        {
            *left = std::mem::take(&mut self.0);
        }
    }
}

/// Requests huge pages for a block that will be filled: each small page would cost a page fault and a TLB
/// entry. The request covers all pages of the block. Otherwise the first page, which also holds the allocator's
/// header, would become a separate mapping and keep the block from growing in place.
#[cfg(target_os = "linux")]
pub fn in_huge_pages(block: *mut u8, bytes: usize) {
    // Less than a huge page is not worth a system call.
    if bytes >= 2 << 20 {
        // SAFETY:
        // - The advice does not change the content of pages.
        // - The system refuses the advice for unmapped pages.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let before = block.addr() % page;
            let pages = (before + bytes).next_multiple_of(page);
            libc::madvise(block.wrapping_sub(before).cast(), pages, libc::MADV_HUGEPAGE);
        }
    }
}

/// Does nothing: this system has no such request.
#[cfg(not(target_os = "linux"))]
pub fn in_huge_pages(_: *mut u8, _: usize) {}

/// Returns `count` zeros, in pages that the system provides at the first touch.
///
/// # Panics
///
/// Panics if no address space holds `count` elements.
pub fn zeroed<T: Zeroable>(count: usize) -> Vec<T> {
    bytemuck::allocation::try_zeroed_vec(count).unwrap_or_else(|()| {
        let layout = Layout::array::<T>(count).expect("more elements than an address space holds");
        std::alloc::handle_alloc_error(layout)
    })
}

/// Returns the numbers after these names in a file about this process; `None` on systems without such files.
fn numbers(file: &str, names: [&str; 2]) -> [Option<u64>; 2] {
    let lines = std::fs::read_to_string(file).unwrap_or_default();
    names.map(|name| {
        let line = lines.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    })
}

/// Returns this process's bytes of these kinds of memory, if the system reports them.
pub fn own(kinds: [&str; 2]) -> [Option<u64>; 2] {
    numbers("/proc/self/status", kinds).map(|kilobytes| Some(kilobytes? << 10))
}

/// Returns the bytes of address space left by this process's limits; `None` without limits.
pub fn address_space_left() -> Option<u64> {
    // Without a limit, the file says `unlimited` instead of a number.
    let limits = numbers("/proc/self/limits", ["Max address space", "Max data size"]);
    if limits == [None; 2] {
        return None;
    }
    let left = limits.into_iter().zip(own(["VmSize:", "VmData:"]));
    left.filter_map(|(limit, used)| Some(limit?.saturating_sub(used?))).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_zeros() {
        assert_eq!(zeroed::<u32>(3), [0; 3]);
        assert!(zeroed::<u64>(0).is_empty());
    }
}
