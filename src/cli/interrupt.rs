//! Ctrl-C and its kin: leave nothing behind, exit 130.

use anyhow::Context;

/// From here on SIGINT, SIGTERM and SIGHUP remove the output under way and end the process.
pub(super) fn install() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        gpusort::io::output::remove_temporary();
        exit();
    })
    .context("cannot handle interrupts")
}

/// Ends the process at once: the exit handlers of a graphics driver must not run while other threads
/// are still in it.
fn exit() -> ! {
    #[cfg(unix)]
    // SAFETY: `_exit` takes any status and touches nothing of this process's memory.
    unsafe {
        libc::_exit(130)
    }
    #[cfg(not(unix))]
    std::process::exit(130)
}
