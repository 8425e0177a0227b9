//! The `gpusort` command: parse, run one command, exit code.

mod allocator;
mod cli;
#[cfg(unix)]
mod descriptors;
mod end;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;
