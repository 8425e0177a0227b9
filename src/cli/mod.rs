//! The commands: what a person types, and what is told in return. The only folder that knows clap,
//! anyhow and indicatif.

mod args;
mod devices;
mod interrupt;
mod progress;
mod sort;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

/// Runs the command that the arguments name.
///
/// Exit codes: 0 done, or the reader of the output went away; 2 any error (clap's own too); 130
/// interrupted.
pub(crate) fn main() -> ExitCode {
    skip_mesa_device_select();
    let cli = args::Cli::parse();
    let result = interrupt::install().and_then(|()| match cli.command {
        args::Command::Sort(args) => sort::run(args),
        args::Command::Devices => devices::run(),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Where even this cannot be written, there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "gpusort: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Mesa's device-select layer asks the display server which GPU it prefers, which takes a fifth of a
/// second and complains on stderr where there is none. gpusort orders the devices itself.
fn skip_mesa_device_select() {
    if cfg!(target_os = "linux") {
        // SAFETY: this is the first thing the process does, so no other thread reads the environment.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<gpusort::Error>().is_some_and(gpusort::Error::is_broken_pipe)
            || cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
