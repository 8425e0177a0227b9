//! The machine and the program of a benchmark.

use serde::Serialize;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use gpusort_base::human;

/// The machine that a benchmark ran on, and the build of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The operating system with its version.
    pub os: String,
    /// The processor's architecture.
    pub arch: &'static str,
    /// The processor's name.
    pub cpu: String,
    /// Instruction set of the CPU sort.
    pub instructions: &'static str,
    /// Cores available to threads.
    pub cores: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// gpusort's version.
    pub version: &'static str,
    /// The source revision, when built from a repository.
    pub revision: Option<&'static str>,
    /// The compiler that built it.
    pub compiler: &'static str,
}

/// The processor's name, also its name as a device.
pub(crate) fn cpu_name() -> String {
    let system = System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()));
    let brand = system.cpus().first().map(|cpu| cpu.brand().trim()).filter(|brand| !brand.is_empty());
    brand.unwrap_or("unknown CPU").to_owned()
}

impl Machine {
    /// The program and its system, as the first line of a report.
    pub(crate) fn headline(&self) -> String {
        let revision = self.revision.map(|revision| format!(" ({revision})")).unwrap_or_default();
        format!("gpusort {}{revision}, {}, {}", self.version, self.os, self.arch)
    }

    /// The CPU's cores and instructions, and the memory.
    pub fn details(&self) -> String {
        let cores = human::counted(self.cores as u64, "core", "cores");
        format!("{cores}, {}, {} of memory", self.instructions, human::bytes(self.memory_bytes))
    }

    /// This machine, with a program of this revision from this compiler.
    pub fn here(revision: Option<&'static str>, compiler: &'static str) -> Self {
        let mut system = System::new();
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        Self {
            os: System::long_os_version().unwrap_or_else(|| std::env::consts::OS.to_owned()),
            arch: std::env::consts::ARCH,
            cpu: cpu_name(),
            instructions: gpusort_cpu::instructions(),
            cores: gpusort_base::parallel::cores(),
            memory_bytes: system.total_memory(),
            version: env!("CARGO_PKG_VERSION"),
            revision,
            compiler,
        }
    }
}
