//! `gpusort gen`: writes test data while generating it.

use std::io::{self, IsTerminal, Write};

use anyhow::{bail, ensure};
use gpusort::Format;
use gpusort::files::Output;
use gpusort_base::human;
use gpusort_bench::generate::{Sequence, Type};
use gpusort_files::{Extension, write_keys};
use gpusort_order::key::{ElementType, KeyMap};

use super::args::{GenArgs, Progress as When};
use super::format;
use super::report::progress::{Progress, Unit};

/// Elements generated at once: few enough for a cache, enough for many cores.
const BLOCK: u64 = 1 << 20;

pub(super) fn run(args: GenArgs) -> anyhow::Result<()> {
    format::check_output(args.output.as_deref(), args.to, None)?;
    let path = format::unless_stdout(args.output);
    let (mut format, promised) =
        Extension::of_output(args.to, path.as_deref()).unwrap_or((Format::Text, None));
    // The type comes from the extension, whatever the format.
    let named = path.as_deref().and_then(|path| Extension::of(path).element);
    let to_terminal = path.is_none() && io::stdout().is_terminal();
    let made = args.made.unwrap_or(Type::Number(named.unwrap_or(ElementType::U32)));
    ensure!(
        made != Type::Text || format == Format::Text || to_terminal || promised.is_some(),
        "--type text makes lines, not {}; use --to text",
        format.name()
    );
    ensure!(!format.is_table() && !format.has_columns(), "gen writes no tables; use --to text, bin or npy");
    if let (Some(path), Some(promised)) = (&path, promised)
        && Type::Number(promised) != made
    {
        let remedy = if made == Type::Text { "--to text" } else { "--to bin" };
        bail!(
            "{}: the name says {promised}, but --type is {}; rename the file, or use {remedy}",
            human::path(path),
            made.name()
        );
    }
    if to_terminal {
        format = Format::Text;
    }
    let element = made.numbers();
    let sequence = Sequence { element, distribution: args.dist, count: args.count, seed: args.seed };
    let order = KeyMap::ascending(element);

    let progress = Progress::new(if args.quiet || to_terminal { When::Never } else { When::Auto });
    progress.phase("generate", Unit::Records, Some(args.count));
    let mut output = path.as_deref().map_or_else(Output::stdout, Output::file)?;
    if format == Format::Npy {
        output.write_header(element, args.count)?;
    }
    let mut done = 0;
    while done < args.count {
        let count = BLOCK.min(args.count - done);
        let written = match made {
            Type::Text => output.write_all(&sequence.lines(done, count as usize)),
            Type::Number(_) => {
                let keys = sequence.keys(done, count as usize);
                write_keys(&keys, order, format == Format::Text, &mut output)
            }
        };
        written.map_err(|error| output.failed(error))?;
        done += count;
        progress.set(done);
    }
    output.finish_as(true)?;
    Ok(())
}
