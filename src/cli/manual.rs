//! `gpusort completions` and `gpusort man`: what clap knows of the commands, for shells and for man.

use std::io::{self, Write};

use anyhow::{Context, bail};
use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;

pub(super) fn completions(shell: Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gpusort", &mut script);
    print(&script)
}

/// The page of gpusort as a whole, or of one command.
pub(super) fn page(command: Option<&str>) -> anyhow::Result<()> {
    let mut all = Cli::command();
    all.build();
    let described = match command {
        None => all,
        Some(name) => match all.find_subcommand(name) {
            Some(command) => command.clone(),
            None => bail!("there is no command '{name}'; 'gpusort --help' lists them"),
        },
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(described).render(&mut page).context("the manual page")?;
    print(&page)
}

fn print(bytes: &[u8]) -> anyhow::Result<()> {
    io::stdout().write_all(bytes).context("standard output")
}
