//! Memory available to this process: what the machine, cgroups and limits of the process leave.

use std::alloc::Layout;

use bytemuck::Zeroable;

use crate::error::{Error, ErrorKind};

/// Bytes that this process can still use, where the system reports it: the minimum over the machine (with
/// swap space), the process's cgroup and those above it, and the limits of the process.
#[must_use]
pub fn available() -> Option<u64> {
    [untouched(), address_space_left()].into_iter().flatten().min()
}

/// Bytes of unused memory, where the system reports it: the minimum over the machine and the cgroups.
#[must_use]
pub fn untouched() -> Option<u64> {
    [machine(), cgroup::left()].into_iter().flatten().min()
}

/// Checks that enough memory is available for `what`.
///
/// # Errors
///
/// Fewer than `bytes` bytes are available.
pub fn ensure(what: &str, bytes: u64) -> Result<(), Error> {
    // Not worth a system call.
    const FEW: u64 = 32 << 20;
    if bytes >= FEW
        && let Some(available) = available().filter(|&available| available < bytes)
    {
        return Err(Error::new(ErrorKind::Memory { what: what.to_owned(), needed: bytes, available }));
    }
    Ok(())
}

/// Asks for what is at this place, which is read soon. It may lie beyond the items.
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

/// Room for `count` elements that are written all over it: in huge pages, where the system has them, since each small
/// page would cost a page fault and a TLB entry.
pub(crate) fn room<T>(count: usize) -> Vec<T> {
    #[cfg_attr(not(target_os = "linux"), allow(unused_mut, reason = "only there its pages are advised on"))]
    let mut room = Vec::with_capacity(count);
    #[cfg(target_os = "linux")]
    {
        /// Less is not worth a system call.
        const LARGE: usize = 2 << 20;
        let block: &mut [std::mem::MaybeUninit<T>] = room.spare_capacity_mut();
        let page = rustix::param::page_size();
        let begin = block.as_mut_ptr().cast::<u8>();
        let before = begin.align_offset(page);
        let size = size_of_val(block);
        if size >= LARGE {
            // SAFETY: these pages lie within the block, and the advice does not change what they hold.
            unsafe {
                libc::madvise(begin.add(before).cast(), (size - before) / page * page, libc::MADV_HUGEPAGE)
            };
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

/// Bytes of memory that the machine has.
#[must_use]
pub fn installed() -> Option<u64> {
    told(sysinfo::System::total_memory)
}

/// Bytes of memory and of swap space that are left on the machine.
fn machine() -> Option<u64> {
    told(|system| system.available_memory() + system.free_swap())
}

/// What the system tells of its memory; nothing where it tells 0.
fn told(of: impl Fn(&sysinfo::System) -> u64) -> Option<u64> {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    Some(of(&system)).filter(|&bytes| bytes > 0)
}

/// Bytes of address space that the limits of this process leave, if there are any.
#[cfg(target_os = "linux")]
#[must_use]
pub fn address_space_left() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};

    // Pages: all that is mapped, …, data and stack.
    let used = || {
        let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
        let mut pages = statm.split_ascii_whitespace().map(str::parse::<u64>);
        let page = rustix::param::page_size() as u64;
        Some([pages.next()?.ok()? * page, pages.nth(4)?.ok()? * page])
    };
    let limits = [Resource::As, Resource::Data].map(|resource| getrlimit(resource).current);
    if limits == [None, None] {
        return None;
    }
    let left = limits.into_iter().zip(used()?).filter_map(|(limit, used)| Some(limit?.saturating_sub(used)));
    left.min()
}

/// Bytes of address space that the limits of this process leave: none are known on this system.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn address_space_left() -> Option<u64> {
    None
}

/// Limits of control groups, which kill a process without notice when it exceeds them.
mod cgroup {
    use std::fs;
    use std::path::Path;

    /// The location and the file names of a cgroup version.
    struct Hierarchy {
        /// The text before the group's path in `/proc/self/cgroup`.
        controller: &'static str,
        mount: &'static str,
        limit: &'static str,
        usage: &'static str,
        /// Page cache, which the system reclaims when needed.
        cached: [&'static str; 2],
    }

    const HIERARCHIES: [Hierarchy; 2] = [
        Hierarchy {
            controller: "",
            mount: "/sys/fs/cgroup",
            limit: "memory.max",
            usage: "memory.current",
            cached: ["inactive_file", "active_file"],
        },
        Hierarchy {
            controller: "memory",
            mount: "/sys/fs/cgroup/memory",
            limit: "memory.limit_in_bytes",
            usage: "memory.usage_in_bytes",
            cached: ["total_inactive_file", "total_active_file"],
        },
    ];

    /// The memory left in the process's group and in those above it.
    pub(super) fn left() -> Option<u64> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        // Lines of `number:controllers:path`.
        let group_of = |line: &str| {
            let (_, line) = line.split_once(':')?;
            let (controllers, path) = line.split_once(':')?;
            let is_of =
                |hierarchy: &&Hierarchy| controllers.split(',').any(|name| name == hierarchy.controller);
            let hierarchy = HIERARCHIES.iter().find(is_of)?;
            let mount = Path::new(hierarchy.mount);
            let group = mount.join(path.trim_start_matches('/'));
            group
                .ancestors()
                .take_while(|group| group.starts_with(mount))
                .filter_map(|group| hierarchy.left(group))
                .min()
        };
        groups.lines().filter_map(group_of).min()
    }

    impl Hierarchy {
        fn left(&self, group: &Path) -> Option<u64> {
            let number = |file| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
            // Without a limit, the file is missing, is no number, or has one beyond any machine.
            let limit = number(self.limit).filter(|&limit| limit < 1 << 60)?;
            let usage = number(self.usage)?;
            let statistics = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
            let cached: u64 = statistics
                .lines()
                .filter_map(|line| line.split_once(' '))
                .filter(|(name, _)| self.cached.contains(name))
                .filter_map(|(_, bytes)| bytes.parse::<u64>().ok())
                .sum();
            Some(limit.saturating_sub(usage.saturating_sub(cached)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_with_the_numbers() {
        assert!(ensure("a little", 1 << 20).is_ok());
        let available = available().expect("this system tells");
        assert!(ensure("half of what is there", available / 2).is_ok());
        let refused = ensure("sorting x", 1 << 60).unwrap_err().to_string();
        assert!(refused.starts_with("not enough memory: sorting x takes 1048576 TiB"), "{refused}");
    }

    #[test]
    fn zeros_are_zeros() {
        assert_eq!(zeroed::<u32>(3), [0; 3]);
        assert!(zeroed::<u64>(0).is_empty());
    }
}
