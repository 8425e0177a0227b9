//! Resolves the options against each other. Of inputs only the first line is read, where that decides what they are.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure};
use gpusort::Method;
use gpusort::unstable::human;
use gpusort::unstable::io::binary::Source;
use gpusort::unstable::io::csv::{By, Dialect, Fields, SortKey};
use gpusort::unstable::io::output::stdout_is_open;
use gpusort::unstable::io::{Compression, Extension, Format, Input, LineEnd, PerLine};
use gpusort::unstable::io::{How, Kind};
use gpusort::unstable::key::ElementType;
use gpusort::unstable::order::{KeyOrder, Reading, Selection};
use gpusort::unstable::pipeline::Ask;
use gpusort::unstable::runs::{Budget, Folders};

use crate::cli::args::{self, OrderArgs, SortArgs, TimingArg, TypeArg};
use crate::cli::device::{Devices, Wanted};
use crate::cli::format;

use super::plain::{self, Plain};

/// The inputs to be sorted, merged or checked, and their order.
pub(in crate::cli) struct InputOptions {
    pub(in crate::cli) inputs: Vec<Input>,
    pub(in crate::cli) format: Format,
    /// How many numbers a line of text may have.
    per_line: PerLine,
    /// What decided between text and lines, if nobody said which it is; and what to note about that.
    pub(super) why: Option<String>,
    pub(in crate::cli) note: Option<&'static str>,
    /// Whether the type is the one assumed for `.bin`.
    pub(in crate::cli) type_assumed: bool,
    /// The form of a table.
    pub(in crate::cli) dialect: Dialect,
    /// The order, and the type as requested or implied by the extension.
    pub(in crate::cli) by: By,
    /// Whether only the first record of each key is wanted.
    pub(in crate::cli) unique: bool,
}

/// The resolved options of `gpusort sort`.
pub(super) struct Options {
    pub(super) input: InputOptions,
    pub(super) ask: Ask,
    /// Whether more files are sorted after this one.
    pub(super) each: bool,
    pub(super) device: Wanted,
    /// The most memory to take, if it was named.
    pub(super) memory: Option<u64>,
    /// Folders for temporary files, if any were named.
    pub(super) folders: Vec<PathBuf>,
    /// `None` is standard output.
    pub(super) output: Option<PathBuf>,
    /// Whether that is an input, too.
    replaces_input: bool,
    /// The type implied by the output's extension.
    pub(super) output_element: Option<ElementType>,
    pub(super) timing: Option<TimingTo>,
    pub(super) form: TimingForm,
    pub(super) quiet: bool,
    pub(super) progress: args::Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimingForm {
    Brief,
    Full,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimingTo {
    Stdout,
    /// On standard output after text data, as a comment.
    StdoutComment,
    Stderr,
}

/// What bears on the inputs beside their own options.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cli) struct Surroundings {
    /// The most memory to take, if that was said.
    pub(in crate::cli) memory: Option<u64>,
    /// Whether what is neither a table nor binary is numbers, as many as there are.
    pub(in crate::cli) of_numbers: bool,
    /// Whether it is one of many files, of which each is sorted on its own; and whether in place.
    pub(in crate::cli) each: bool,
    pub(in crate::cli) in_place: bool,
}

impl InputOptions {
    pub(in crate::cli) fn new(args: OrderArgs, around: Surroundings) -> anyhow::Result<Self> {
        let input =
            |file: &PathBuf| if file.as_os_str() == "-" { Input::Stdin } else { Input::File(file.clone()) };
        let mut inputs: Vec<Input> = args.files.iter().map(input).collect();
        if inputs.is_empty() {
            inputs.push(Input::Stdin);
        }
        let known = args.from.map_or_else(|| format_by_names(&inputs), |format| Ok(Some(format)))?;
        let memory = around.memory;
        let mut inputs: Vec<Input> = inputs
            .into_iter()
            .map(|input| decompressed(input, known.unwrap_or(Format::Text), memory))
            .collect();
        let plain = match known {
            Some(format) => Plain::known(format),
            None => plain::decide(&args, &mut inputs, around)?,
        };
        let format = plain.format;
        let (mut asked, mut separator) = (None, None);
        // In tables and lines, times are found by themselves.
        let finds_times = format.is_table() && !args.leading;
        let mut reading = if finds_times { Reading::NumbersOrTimes } else { Reading::Numbers };
        match args.element {
            TypeArg::Auto => {}
            TypeArg::Separator(byte) => separator = Some(byte),
            TypeArg::Element(element) => (asked, reading) = (Some(element), Reading::Numbers),
            TypeArg::Reading(of_text) => reading = of_text,
        }
        let of_sizes = |key: &String| matches!(SortKey::parse(key), Some(Ok(SortKey { sizes: true, .. })));
        if args.sizes || args.key.iter().any(of_sizes) {
            ensure!(
                asked.is_none() && reading != Reading::Times,
                "-h reads sizes, and --type names something else"
            );
            reading = Reading::Sizes;
        }
        if format.is_bits() && reading != Reading::Numbers {
            bail!("times and sizes are in what is text; {} is {}", inputs[0].name(), format.name());
        }
        if args.leading && reading == Reading::Times {
            bail!("--leading is for numbers and sizes; a time is a whole field");
        }
        let separator = args.delimiter.or(separator);
        let (element, type_assumed) = match (asked, format) {
            (None, Format::Binary) => binary_element(&inputs)?,
            (Some(element), _) if !format.is_bits() && !ElementType::WIDE.contains(&element) => {
                bail!("--type {element} is for binary and .npy files; text is read as types of 4 and 8 bytes")
            }
            (element, _) => (element, false),
        };
        check_format(&args, format, &inputs[0])?;
        let order = KeyOrder {
            descending: args.reverse,
            nan: args.nan,
            empty: args.empty.unwrap_or_default(),
            invalid: args.invalid.unwrap_or_default(),
            leading: args.leading,
            reading,
        };
        let line_end = if args.zero_terminated { LineEnd::Nul } else { LineEnd::Lf };
        let fields = match (format, separator) {
            (Format::Text, _) => Fields::Tokens,
            (Format::Lines, None) => Fields::Blanks(line_end),
            (Format::Lines, Some(byte)) => Fields::Split(byte, line_end),
            (Format::Tsv, None) => Fields::Quoted(b'\t'),
            (_, None) => Fields::Quoted(b','),
            (_, Some(b'"' | b'\r')) => bail!("quotes and line ends mean something else in a table"),
            (_, Some(byte)) => Fields::Quoted(byte),
        };
        check_keys(&args)?;
        let mut columns = args.key;
        let header = if fields.are_of_lines() { args.header } else { !args.no_header };
        if fields.are_of_lines() && columns.is_empty() {
            columns.push("1".to_owned());
        }
        Ok(Self {
            inputs,
            format,
            per_line: plain.per_line,
            why: plain.why,
            note: plain.note,
            type_assumed,
            dialect: Dialect { fields, header, comments: args.comments },
            by: By { columns, element, order },
            unique: args.unique,
        })
    }

    /// Whether records come out as they are in any case, as rows, lines, and tokens that are no numbers do.
    pub(in crate::cli) fn has_rows(&self) -> bool {
        self.format.is_table() || self.by.order.reading != Reading::Numbers
    }

    /// The sources of binary inputs.
    fn sources(&self) -> anyhow::Result<Vec<Source>> {
        let source = |file: &Input| match self.format {
            Format::Npy => Source::npy(file.clone()),
            _ => Ok(Source::raw(file.clone(), self.by.element.unwrap_or(ElementType::U32))),
        };
        let sources = self.inputs.iter().map(source).collect::<Result<Vec<_>, _>>()?;
        for (source, file) in sources.iter().zip(&self.inputs) {
            let (element, first) = (source.element(), sources[0].element());
            if let Some(asked) = self.by.element.filter(|&asked| asked != element) {
                bail!("{}: holds {element}, and --type is {asked}", file.name());
            }
            if element != first {
                bail!("{} holds {first} and {} {element}", self.inputs[0].name(), file.name());
            }
        }
        Ok(sources)
    }

    /// The format and order of the inputs, for reading record by record.
    pub(in crate::cli) fn how(&self) -> anyhow::Result<How> {
        let kind = match self.format {
            _ if self.has_rows() => Kind::Table(self.dialect),
            Format::Text => Kind::Text(self.per_line),
            _ => Kind::Bits(self.sources()?),
        };
        Ok(How { kind, by: self.by.clone() })
    }
}

impl Options {
    pub(super) fn new(args: SortArgs) -> anyhow::Result<Self> {
        let output = format::unless_stdout(args.output);
        let asked = format::of_output(args.to, output.as_deref());
        let to_bits = !args.argsort && asked.is_some_and(|(format, _)| format.is_bits());
        let memory = args.buffer_size.or(args.memory);
        let around = Surroundings { memory, of_numbers: to_bits, each: args.each, in_place: args.in_place };
        let input = InputOptions::new(args.order, around)?;
        let format = input.format;
        let is_input = |path: PathBuf| {
            let mut inputs = input.inputs.iter().filter_map(Input::path).filter_map(canonical);
            inputs.any(|input| input == path)
        };
        let replaces_input = output.as_ref().and_then(canonical).is_some_and(is_input);
        let method = Method { algorithm: args.algo, variant: args.variant };
        match (method.algorithm, method.variant) {
            (Some(algorithm), variant) => drop(algorithm.variant(variant)?),
            (None, Some(variant)) => bail!("--variant {variant} needs --algo, which it is a variant of"),
            (None, None) => {}
        }
        let first = args.top.map(|top| usize::try_from(top).unwrap_or(usize::MAX));

        let to_stdout = output.is_none();
        // Lines come out as lines, whatever a file is called, but never into one of binary.
        let is_named = args.to.is_some() || format != Format::Lines || args.argsort || to_bits;
        let (mut output_format, output_element) =
            output_format(format, input.has_rows(), args.argsort, asked.filter(|_| is_named))?;
        if to_stdout && io::stdout().is_terminal() && output_format.is_bits() {
            output_format = Format::Text;
        }

        // Where nobody asks for it, it goes where somebody looks.
        let is_asked = args.json || args.verbose;
        let stdout_is_seen = io::stdout().is_terminal();
        let timing = match args.timing {
            TimingArg::Off => None,
            _ if args.quiet && !is_asked && !args.timing_typed => None,
            // Nobody would read it.
            TimingArg::Auto if !to_stdout && !stdout_is_open() => None,
            // A default from the environment must not cause an error.
            TimingArg::Stdout if !args.timing_typed && to_stdout && output_format != Format::Text => {
                Some(TimingTo::Stderr)
            }
            TimingArg::Auto | TimingArg::Stdout if !to_stdout => Some(TimingTo::Stdout),
            TimingArg::Auto if stdout_is_seen && output_format == Format::Text && !args.json => {
                Some(TimingTo::StdoutComment)
            }
            // Tables and lines have no comments.
            TimingArg::Auto => (is_asked || io::stderr().is_terminal()).then_some(TimingTo::Stderr),
            TimingArg::Stdout if output_format == Format::Text => Some(TimingTo::StdoutComment),
            TimingArg::Stderr => Some(TimingTo::Stderr),
            TimingArg::Stdout => bail!(
                "--timing stdout would mix with the {} data there; write that to a file with -o",
                output_format.name()
            ),
        };
        Ok(Self {
            ask: Ask {
                selection: Selection { unique: input.unique, first },
                positions: args.argsort,
                method,
                format: output_format,
            },
            input,
            each: args.each,
            device: Wanted::named(&args.device)?,
            memory,
            folders: args.temp_dir,
            replaces_input,
            output,
            output_element,
            timing,
            form: match (args.json, args.verbose) {
                (true, _) => TimingForm::Json,
                (_, true) => TimingForm::Full,
                _ => TimingForm::Brief,
            },
            quiet: args.quiet,
            progress: if args.quiet && !args.progress_typed {
                args::Progress::Never
            } else {
                args.progress.progress
            },
        })
    }

    /// Where temporary files go.
    pub(super) fn folders(&self) -> Folders {
        Folders::new(self.folders.clone())
    }

    /// The most memory to take.
    pub(super) fn budget(&self) -> Budget {
        let budget = self.memory.map_or_else(Budget::default, Budget::of);
        // The other half is for what lies in folders in memory.
        let budget = if self.folders().are_in_memory() { budget.shared_by(2) } else { budget };
        if self.ask.positions { budget.with_positions() } else { budget }
    }

    /// What is to be told of the inputs before they are sorted.
    pub(super) fn note(&self) -> Option<&'static str> {
        self.input.note.filter(|_| !self.quiet)
    }

    /// What is to be told of comments that are in no output, where an input was replaced.
    pub(super) fn lost(&self, comments: u64) -> Option<String> {
        let are_lost = comments > 0 && self.replaces_input && !self.quiet;
        let comments = if comments == 1 {
            "1 comment was".to_owned()
        } else {
            format!("{} comments were", human::grouped(comments))
        };
        are_lost.then(|| format!("{comments} left out; --comments keeps those at the top of a file"))
    }

    pub(super) fn devices(&self) -> Devices {
        Devices::new(self.device.clone(), self.ask.method, self.ask.selection, !self.quiet)
    }
}

/// Reads the names of the inputs, where a file has them.
pub(in crate::cli) fn expand(order: &mut OrderArgs) -> anyhow::Result<()> {
    /// No system opens a longer path.
    const LONGEST: u64 = 1 << 17;
    let Some(list) = order.files0_from.take() else { return Ok(()) };
    let is_stdin = list.as_os_str() == "-";
    let shown = if is_stdin { Input::Stdin.name() } else { human::path(&list) };
    let failed = |error| anyhow!("{shown}: cannot read: {}", human::system(&error));
    let mut names: Box<dyn BufRead> = if is_stdin {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(&list).map_err(failed)?))
    };
    // What they come from may never end, and so each is checked once it is read.
    for number in 1.. {
        let mut name = Vec::new();
        if names.by_ref().take(LONGEST).read_until(0, &mut name).map_err(failed)? == 0 {
            ensure!(number > 1, "{shown}: no names of inputs are there");
            break;
        }
        ensure!(name.len() < LONGEST as usize, "{shown}: name {number} is longer than any path");
        name.pop_if(|last| *last == 0);
        ensure!(!name.is_empty(), "{shown}: name {number} is empty");
        ensure!(!is_stdin || name != b"-", "{shown}: has names, and so is no input");
        order.files.push(of_bytes(&name).ok_or_else(|| anyhow!("{shown}: name {number} is not UTF-8"))?);
    }
    Ok(())
}

/// The path of these bytes.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not all bytes are a path")]
fn of_bytes(name: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(name).into())
}

#[cfg(not(unix))]
fn of_bytes(name: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(name).ok().map(PathBuf::from)
}

/// Checks that options about fields and lines come with a format that has these.
fn check_format(args: &OrderArgs, format: Format, input: &Input) -> anyhow::Result<()> {
    let name = format.name();
    let of_tables = [
        (!args.key.is_empty(), "--key"),
        (args.header, "--header"),
        (args.comments, "--comments"),
        (args.no_header, "--no-header"),
        (args.delimiter.is_some(), "--delimiter"),
        (matches!(args.element, TypeArg::Separator(_)), "-t with a character, which separates fields,"),
        (args.leading, "--leading"),
        (args.empty.is_some(), "--empty"),
        (args.invalid.is_some(), "--invalid"),
    ];
    if let Some((_, option)) = of_tables.iter().find(|(is_given, _)| *is_given && !format.is_table()) {
        let remedy = match format {
            Format::Text => "--from csv reads it as one, and -k N sorts its lines by a field",
            _ => "--from csv reads it as one",
        };
        bail!("{option} is for tables and lines, and {} is {name}; {remedy}", input.name());
    }
    ensure!(
        format == Format::Lines || !args.zero_terminated,
        "--zero-terminated is for lines, and {} is {name}",
        input.name()
    );
    Ok(())
}

/// Checks that keys of `sort` mean the same here: one that is not numeric beside others that are is about text there.
fn check_keys(args: &OrderArgs) -> anyhow::Result<()> {
    let keys = || args.key.iter().filter_map(|key| Some((key, SortKey::parse(key)?.ok()?)));
    let are_numeric = args.numeric_sort || args.general_numeric_sort || args.sizes;
    // Global letters do not count for a key that has its own.
    let is_numeric = |key: &SortKey| key.numeric || key.sizes || are_numeric && !key.has_own;
    if (are_numeric || keys().any(|(_, key)| is_numeric(&key)))
        && let Some((key, _)) = keys().find(|(_, key)| !is_numeric(key))
    {
        bail!(
            "--key {key}: beside a key with n, `sort` orders by its text; {key}n orders by its number, as here"
        );
    }
    Ok(())
}

/// The output format for this input, whose records may be rows, and the requested format; and the element type that is
/// implied.
fn output_format(
    input: Format,
    has_rows: bool,
    argsort: bool,
    asked: Option<(Format, Option<ElementType>)>,
) -> anyhow::Result<(Format, Option<ElementType>)> {
    let (format, element) = match asked {
        None if argsort && has_rows => (Format::Text, None),
        None => (input, None),
        // The table is a kind of text.
        Some((Format::Text, None)) if has_rows && !argsort => (input, None),
        Some(asked) => asked,
    };
    let [from, to] = [input, format].map(Format::name);
    if argsort {
        ensure!(!format.is_table(), "positions are no table; --to text, bin or npy writes them");
    } else if has_rows {
        ensure!(
            input != Format::Lines || !format.is_bits(),
            "lines are not written as {to}; --from text sorts all numbers in them"
        );
        let rows = if input.is_table() { "rows" } else { "times and sizes" };
        ensure!(
            format == input,
            "{rows} come out as they are in the {from}, which is not {to}; --to {from} writes them so"
        );
    } else {
        ensure!(!format.is_table(), "numbers in {from} make no table; --to text, bin or npy writes them");
    }
    Ok((format, element))
}

/// The content of an input that may be compressed: of text, first bytes tell, and of binary, names.
fn decompressed(input: Input, format: Format, memory: Option<u64>) -> Input {
    if !format.is_bits() {
        return input.decompressed(None, memory);
    }
    let compression = input.path().and_then(Compression::of_name).map(|(compression, _)| compression);
    let is_bits = extension(&input).and_then(|extension| extension.format).is_some_and(Format::is_bits);
    match compression {
        Some(compression) if is_bits => input.decompressed(Some(compression), memory),
        _ => input,
    }
}

/// The format of all inputs by their extensions; none for what is text or lines.
fn format_by_names(inputs: &[Input]) -> anyhow::Result<Option<Format>> {
    let format = |input: &Input| {
        let format = extension(input).and_then(|extension| extension.format);
        format.filter(|&format| format != Format::Text)
    };
    let first = format(&inputs[0]);
    if let Some(other) = inputs.iter().find(|&input| format(input) != first) {
        let name = |input: &Input| format(input).map_or("text or lines", Format::name);
        let [one, two] = [&inputs[0], other].map(|input| format!("{} is {}", input.name(), name(input)));
        bail!("{one} and {two}; --from says which they all are");
    }
    Ok(first)
}

/// The type of binary files by their extensions, and whether it is only assumed.
fn binary_element(inputs: &[Input]) -> anyhow::Result<(Option<ElementType>, bool)> {
    let element = |input: &Input| extension(input).and_then(|extension| extension.element);
    let first = element(&inputs[0]);
    if let Some(other) = inputs.iter().find(|&input| element(input) != first) {
        let [one, two] = [&inputs[0], other].map(Input::name);
        bail!("{one} and {two} may be of different types; --type says which they all are");
    }
    Ok((first.or(Some(ElementType::U32)), first.is_none()))
}

/// The path without links, if it exists.
fn canonical(path: impl AsRef<Path>) -> Option<PathBuf> {
    path.as_ref().canonicalize().ok()
}

fn extension(input: &Input) -> Option<Extension> {
    input.path().map(Extension::of)
}
