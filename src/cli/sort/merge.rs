//! `gpusort sort --merge`: merges inputs that are sorted already.

use std::io::Write;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use gpusort::unstable::io::Kind;
use gpusort::unstable::io::binary::Source;
use gpusort::unstable::io::ordered::{self, Merged, Written};
use gpusort::unstable::io::{Format, Input, Output, Print, npy};
use gpusort::unstable::timing::{LeftOut, Timing, milliseconds};
use gpusort::{Form, Report, Sorter};

use super::options::Options;
use super::tell;
use crate::cli::progress::{Progress, Unit};

pub(super) fn run(options: &Options) -> anyhow::Result<()> {
    let begin = Instant::now();
    let (input, ask) = (&options.input, options.ask);
    let how = input.how()?;
    let is_text = ask.format == Format::Text;
    ensure!(
        input.format == ask.format || input.format.is_bits(),
        "--merge reads no more of an input than it writes, so {0} stays {0}",
        input.format.name()
    );
    let progress = Progress::new(options.progress);
    options.note().into_iter().for_each(|note| progress.note(note));
    let mut output = options.output.as_deref().map_or_else(Output::stdout, Output::file)?;
    if let Some(input) = input.inputs.iter().find(|input| output.feeds(input)) {
        bail!(
            "{}: is an input and the output, and would never end; -o replaces it when all is merged",
            input.name()
        );
    }
    if let Kind::Bits(sources) = &how.kind {
        let element = sources[0].element();
        if let Some(promised) = options.output_element.filter(|&promised| promised != element) {
            bail!("the data is {element}, not {promised}; --to bin writes {element} there");
        }
        if ask.format == Format::Npy {
            let size: Option<u64> = sources.iter().map(Source::size).sum();
            let size = size.filter(|_| !ask.selection.unique);
            let n = size.context(
                "a .npy file begins with how many elements it has, which only the end tells here; --to bin",
            )? / element.bytes() as u64;
            let n = n.min(ask.selection.first.map_or(u64::MAX, |top| top as u64));
            output.write_all(&npy::Header::of(element, n)).map_err(|error| output.failed(error))?;
        }
    }
    progress.phase("merge", Unit::Records, None);
    let written = if is_text { Written::InText(Print::Shortest) } else { Written::AsRead };
    let Merged { read, written, repeated, types, counts } =
        ordered::merge(&input.inputs, &how, ask.selection, written, &mut output, |read| progress.set(read))?;
    output.finish_last()?;
    options.lost(counts.comments).into_iter().for_each(|note| progress.note(&note));
    drop(progress);
    if options.timing.is_none() {
        return Ok(());
    }
    let report = Report::on_cpu(Form::Merge, begin.elapsed());
    // With --top the rest of the input is not read.
    let n = if ask.selection.first.is_some() { written + repeated } else { read };
    let why = options.why("--merge takes inputs as they come".to_owned());
    let mut timing = Timing::new(n as usize, types, &Sorter::cpu(), &report, why);
    timing.bytes = input.inputs.iter().filter_map(Input::size).sum();
    timing.left_out = LeftOut { repeated, counts, ..LeftOut::default() };
    timing.ms.total = milliseconds(begin.elapsed());
    tell(&timing, options)
}
