//! The `gpusort` command: parse, run one command, exit code.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}

mod memory;

#[global_allocator]
static ALLOCATOR: memory::LargePages = memory::LargePages;
