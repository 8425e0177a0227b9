//! The memory that the machine, cgroups and process limits leave.

use super::address_space_left;
use crate::error::{Error, ErrorKind};
use crate::human::size;

/// Returns the bytes that this process can still use, if the system reports them: the minimum over the
/// machine (with swap space), the process's cgroup and its ancestors, and the limits of the process.
pub fn available() -> Option<u64> {
    [untouched(), address_space_left()].into_iter().flatten().min()
}

/// Returns the bytes of unused memory, if the system reports them: the minimum over the machine and the
/// cgroups.
pub fn untouched() -> Option<u64> {
    let machine = told(|system| system.available_memory() + system.free_swap());
    [machine, cgroup::left()].into_iter().flatten().min()
}

/// Checks that enough memory is available for `what`.
///
/// # Errors
///
/// Fewer than `bytes` bytes are available.
pub fn ensure(what: &str, bytes: u64) -> Result<(), Error> {
    // Smaller amounts are not worth a system call.
    const FEW: u64 = 32 << 20;
    if bytes >= FEW
        && let Some(available) = available().filter(|&available| available < bytes)
    {
        return Err(Error::new(ErrorKind::Memory { what: what.to_owned(), needed: bytes, available }));
    }
    Ok(())
}

/// Parses a size of memory: bytes, with K, M, G or T for powers of 1024, or a percentage of the machine's
/// memory.
///
/// # Errors
///
/// Any other text.
pub fn parse(text: &str) -> Result<u64, String> {
    let refused = || "expected a size such as 500M or 4G, or a share of the memory such as 50%".to_owned();
    if let Some(part) = text.strip_suffix('%') {
        let part =
            part.parse::<f64>().ok().filter(|part| part.is_finite() && *part >= 0.0).ok_or_else(refused)?;
        let all = installed().ok_or("this machine's memory size is not known; give a size such as 4G")?;
        return Ok((all as f64 / 100.0 * part) as u64);
    }
    let upper = text.to_ascii_uppercase();
    size::parse(upper.strip_suffix('B').unwrap_or(&upper)).map_err(|_| refused())
}

/// Returns the bytes of memory installed in the machine.
pub fn installed() -> Option<u64> {
    told(sysinfo::System::total_memory)
}

/// Returns an amount that the system reports; `None` if the system reports 0.
fn told(of: impl Fn(&sysinfo::System) -> u64) -> Option<u64> {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    Some(of(&system)).filter(|&bytes| bytes > 0)
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

    /// Returns the memory left in the process's group and its ancestors.
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
            // Without a limit, the file is missing, holds no number, or holds a number beyond any machine.
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
        assert!(refused.starts_with("not enough memory: sorting x needs 1048576 TiB"), "{refused}");
    }
}
