//! Ctrl-C and its kin: leave nothing behind, exit 130.

use anyhow::Context;

/// From here on SIGINT, SIGTERM and SIGHUP remove the output under way and end the process.
pub(super) fn install() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        gpusort::io::output::remove_temporary();
        std::process::exit(130);
    })
    .context("cannot handle interrupts")
}
