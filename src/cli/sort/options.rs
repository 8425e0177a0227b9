//! Converts arguments to the library's options, and words the command's notes on its input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::PathBuf;

use anyhow::{anyhow, bail, ensure};
use gpusort::files::{Input, Key, Kind, Note, Options, Sort};
use gpusort::{Format, Method};
use gpusort_base::human;
use gpusort_files::stdout_is_open;

use crate::cli::args::{OrderArgs, SortArgs, TimingArg, TypeArg};
use crate::cli::remedies;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimingTo {
    Stdout,
    /// On standard output after text data, as a comment.
    StdoutComment,
    Stderr,
}

type Set = fn(Options) -> Options;

/// Converts arguments to the library's options.
pub(in crate::cli) fn of(args: &OrderArgs) -> anyhow::Result<Options> {
    let mut options = Options::new().nan(args.nan);
    let are_numbers = args.numeric_sort || args.general_numeric_sort;
    let input = |file: &PathBuf| if file.as_os_str() == "-" { Input::Stdin } else { Input::from(file) };
    let stdin = args.files.is_empty().then_some(Input::Stdin);
    options = args.files.iter().map(input).chain(stdin).fold(options, Options::input);
    let orders = [are_numbers, args.sizes, args.version_sort];
    ensure!(
        orders.into_iter().filter(|&is_given| is_given).count() < 2,
        "-n, -h and -V cannot be combined; give each key its own order: -k 1,1V -k 2,2n"
    );
    let keys: Vec<Key> = args.key.iter().map(|key| Key::parse(key)).collect();
    let (mut delimiter, mut kind) = (args.delimiter, None);
    match args.element {
        TypeArg::Auto => {}
        TypeArg::Separator(byte) => delimiter = delimiter.or(Some(byte)),
        TypeArg::Element(element) => options = options.element(element),
        TypeArg::Kind(of_text) => kind = Some(of_text),
    }
    let letters =
        [(args.sizes, "-h", "size", Kind::Size), (args.version_sort, "-V", "version", Kind::Version)];
    for (_, letter, name, own) in letters.into_iter().filter(|(is_given, ..)| *is_given) {
        let is_other = matches!(args.element, TypeArg::Element(_)) || kind.is_some_and(|kind| kind != own);
        ensure!(!is_other, "{letter} and --type cannot be combined; {letter} already means --type {name}");
        kind = Some(own);
    }
    options = keys.into_iter().fold(options, Options::key);
    // Sets only the given options.
    options = args.from.into_iter().fold(options, Options::format);
    options = kind.into_iter().fold(options, Options::kind);
    options = args.na.iter().cloned().fold(options, Options::na);
    options = args.decimal.into_iter().fold(options, Options::decimal);
    options = args.thousands.into_iter().fold(options, Options::thousands);
    options = args.time_format.iter().cloned().fold(options, Options::time_format);
    options = delimiter.into_iter().fold(options, Options::delimiter);
    options = args.empty.into_iter().fold(options, Options::empty);
    options = args.invalid.into_iter().fold(options, Options::invalid);
    let header = args.header.or(args.no_header.then_some(0));
    options = header.into_iter().fold(options, Options::header_rows);
    let flags: [(bool, Set); 7] = [
        (are_numbers, Options::numeric),
        (args.ignore_case, Options::ignore_case),
        (args.reverse, Options::descending),
        (args.leading, Options::leading),
        (args.comments, Options::comments),
        (args.zero_terminated, Options::zero_terminated),
        (args.unique, Options::unique),
    ];
    Ok(flags.into_iter().filter(|(is_set, _)| *is_set).fold(options, |options, (_, set)| set(options)))
}

/// Returns the sort that these arguments describe, without its progress and its output.
pub(super) fn sort<'a>(args: &SortArgs) -> anyhow::Result<Sort<'a>> {
    let options = of(&args.order)?;
    let options = if args.each { options.one_of_many(args.in_place) } else { options };
    let options = args.buffer_size.or(args.memory).into_iter().fold(options, Options::memory);
    let method = Method { algorithm: args.algo, variant: args.variant };
    if let (None, Some(variant)) = (method.algorithm, method.variant) {
        bail!("--variant {variant} needs an algorithm; name it with --algo");
    }
    let mut sort = Sort::new().options(options).method(method);
    sort = args.to.into_iter().fold(sort, Sort::to);
    sort = args.top.into_iter().fold(sort, Sort::top);
    sort = args.parquet_compression.iter().fold(sort, Sort::parquet_compression);
    sort = if args.count { sort.counts() } else { sort };
    sort = if args.keep_order { sort.keep_order() } else { sort };
    sort = args.per.iter().map(|column| Key::parse(column)).fold(sort, Sort::per);
    sort = args.shuffle.into_iter().fold(sort, Sort::shuffle);
    sort = if args.counts_keys { sort.counts_of_keys() } else { sort };
    sort = args.row_group_rows.into_iter().fold(sort, Sort::row_group_rows);
    sort = args.row_group_size.into_iter().fold(sort, Sort::row_group_size);
    sort = args.split_size.into_iter().fold(sort, Sort::split_size);
    sort = if args.argsort { sort.positions() } else { sort };
    sort = if args.bgzf { sort.bgzf() } else { sort };
    // The library reads no environment variables.
    let named = std::env::var_os("TMPDIR").filter(|name| !name.is_empty()).map(PathBuf::from);
    let usual = if args.temp_dir.is_empty() { named } else { None };
    Ok(args.temp_dir.iter().cloned().chain(usual).fold(sort, Sort::temp_dir))
}

/// Returns the text of a note on records that were `did`, sorted or compared; `None` for notes that the
/// command does not print.
pub(super) fn note(note: &Note, did: &str) -> Option<String> {
    let of = |key: &Option<String>| {
        key.as_ref().map_or_else(|| "lines".to_owned(), |key| format!("key '{}'", human::quoted(key)))
    };
    let with = |key: &Option<String>, kind: &str| {
        let key = key.as_ref().map_or("1", |key| &key[..]);
        format!("-k {}", human::quoted(remedies::shell(&format!("{key}:{kind}"))))
    };
    Some(match note {
        Note::Header(name) => {
            format!("took the first row, '{name}', as the header; use --no-header if it is data")
        }
        Note::WholeLines(field, place) => {
            format!(
                "{did} whole lines as text: '{field}' ({place}) does not fit the other first fields; use -k 1 to sort by them"
            )
        }
        Note::Binary(place) => format!(
            "{did} lines that may be binary data, with a NUL ({place}); \
             use -f bin -t TYPE for raw numbers, or -z if NUL ends lines"
        ),
        Note::Separator(name, separator) => {
            let separator = if *separator == '\t' { "tab".to_owned() } else { format!("'{separator}'") };
            format!("took '{name}' as one column; use --delimiter {separator} to split it")
        }
        Note::DayMonth(key, patterns) => {
            let patterns = patterns.join("' and '");
            format!("{did} {} as text; all fields fit --time-format '{patterns}'", of(key))
        }
        Note::Commas(key, options) => {
            let options = options.iter().map(|option| format!("--{option} ,")).collect::<Vec<_>>();
            format!("{did} {} as text; use {} if they are numbers", of(key), options.join(" or "))
        }
        Note::Most(key, kind, misfit, place) => {
            let (name, _) = Kind::ALL.into_iter().find(|(_, other)| other == kind)?;
            let mut to_write = with(key, name);
            // A requested version takes any text.
            if *kind != Kind::Version {
                to_write += " --invalid last";
            }
            format!(
                "{did} {} as text, because of '{misfit}' ({place}); use {to_write} to sort {name}s",
                of(key)
            )
        }
        Note::Versions(key) => {
            format!("{did} {} as numbers; use {} if they are versions", of(key), with(key, "version"))
        }
        Note::NoYear(key) => {
            format!("the times of {} have no year, so January comes before December", of(key))
        }
        _ => return None,
    })
}

/// Returns the destination of the timing, beside data of this format on standard output or in a file.
pub(super) fn timing(
    args: &SortArgs,
    to_stdout: bool,
    output_format: Format,
) -> anyhow::Result<Option<TimingTo>> {
    // Timing that was not requested goes only where somebody sees it.
    let is_asked = args.json || args.verbose;
    let (is_seen, is_shown) = (io::stdout().is_terminal(), io::stderr().is_terminal());
    // Tables and lines have no comments.
    let has_comments = output_format == Format::Text;
    Ok(match args.timing {
        TimingArg::Off => None,
        _ if args.quiet && !is_asked && !args.is_typed("timing") => None,
        // Nobody would read the timing.
        TimingArg::Auto if !to_stdout && !stdout_is_open() => None,
        TimingArg::Auto if !to_stdout && (is_seen || is_asked) => Some(TimingTo::Stdout),
        TimingArg::Auto if has_comments && is_seen && !args.json => Some(TimingTo::StdoutComment),
        TimingArg::Auto if !is_asked && (!is_shown || args.feeds_a_pipe()) => None,
        TimingArg::Stdout if !to_stdout => Some(TimingTo::Stdout),
        TimingArg::Stdout if has_comments => Some(TimingTo::StdoutComment),
        // A default from the environment must not cause an error.
        TimingArg::Stdout if args.is_typed("timing") => bail!(
            "--timing stdout would mix with the {} data; write the data to a file with -o",
            output_format.name()
        ),
        TimingArg::Auto | TimingArg::Stdout | TimingArg::Stderr => Some(TimingTo::Stderr),
    })
}

/// Reads the names of the inputs from a file, if one lists them.
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
    // The list may never end, so each name is checked once read.
    for number in 1.. {
        let mut name = Vec::new();
        if names.by_ref().take(LONGEST).read_until(0, &mut name).map_err(failed)? == 0 {
            ensure!(number > 1, "{shown}: no file names");
            break;
        }
        ensure!(name.len() < LONGEST as usize, "{shown}: name {number} is too long for a path");
        name.pop_if(|last| *last == 0);
        ensure!(!name.is_empty(), "{shown}: name {number} is empty");
        ensure!(!is_stdin || name != b"-", "{shown}: holds the names, so it cannot be an input too");
        order.files.push(of_bytes(&name).ok_or_else(|| anyhow!("{shown}: name {number} is not UTF-8"))?);
    }
    Ok(())
}

/// Converts bytes to a path.
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
