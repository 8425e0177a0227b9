//! The `gpusort` command: parse, run one command, exit code.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}

#[global_allocator]
static ALLOCATOR: cli::Counting = cli::Counting;
