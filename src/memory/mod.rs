//! Memory: allocations for elements, and how much there is.

#[cfg(feature = "files")]
mod available;

use std::alloc::Layout;

use bytemuck::Zeroable;

#[cfg(feature = "files")]
pub use self::available::{available, ensure, installed, untouched};

/// Asks for what is at this place, which is read soon. It may lie beyond the items.
#[cfg(feature = "files")]
#[inline]
pub(crate) fn prefetch<T>(items: &[T], place: usize) {
    let place = items.as_ptr().wrapping_add(place);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is there on every such processor, and accesses nothing.
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

/// Room for `count` elements that are written all over it: in huge pages, where the system has
/// them, since each small page would cost a page fault and a TLB entry.
pub(crate) fn room<T>(count: usize) -> Vec<T> {
    #[cfg_attr(not(target_os = "linux"), allow(unused_mut, reason = "only there its pages are advised on"))]
    let mut room = Vec::with_capacity(count);
    #[cfg(target_os = "linux")]
    {
        /// A huge page on most systems; less than one is not worth a system call. It is a multiple
        /// of every small page.
        const HUGE: usize = 2 << 20;
        let block: &mut [std::mem::MaybeUninit<T>] = room.spare_capacity_mut();
        let begin = block.as_mut_ptr().cast::<u8>();
        let before = begin.align_offset(HUGE);
        let pages = size_of_val(block).saturating_sub(before) / HUGE;
        if pages > 0 {
            // SAFETY:
            // - These pages lie within the block.
            // - The advice does not change what they hold.
            unsafe { libc::madvise(begin.add(before).cast(), pages * HUGE, libc::MADV_HUGEPAGE) };
        }
    }
    room
}

/// `count` zeros, in pages that the system provides when they are first touched.
pub(crate) fn zeroed<T: Zeroable>(count: usize) -> Vec<T> {
    bytemuck::allocation::try_zeroed_vec(count).unwrap_or_else(|()| {
        let layout = Layout::array::<T>(count).expect("more elements than an address space holds");
        std::alloc::handle_alloc_error(layout)
    })
}

/// Bytes of address space that the limits of this process leave, if there are any.
#[cfg(target_os = "linux")]
#[must_use]
pub fn address_space_left() -> Option<u64> {
    /// The number in the line that begins with this name.
    fn number(lines: &str, name: &str) -> Option<u64> {
        let line = lines.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    }

    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    // Where there is no limit, it is `unlimited`.
    let limits = ["Max address space", "Max data size"].map(|name| number(&limits, name));
    if limits == [None, None] {
        return None;
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let used = ["VmSize:", "VmData:"].map(|name| number(&status, name).map(|kilobytes| kilobytes << 10));
    let left = limits.into_iter().zip(used).filter_map(|(limit, used)| Some(limit?.saturating_sub(used?)));
    left.min()
}

/// Bytes of address space that the limits of this process leave: none are known on this system.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn address_space_left() -> Option<u64> {
    None
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
