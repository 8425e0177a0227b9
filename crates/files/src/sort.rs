//! Sorting files.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::dataset::{Answer, OutputSpec};
use super::job::{Job, To};
use super::options::{Options, has_options};
use super::progress::{Progress, Tell, Watch};
use super::report::Report;
use gpusort_base::error::{Error, Hint};
use gpusort_base::format::Format;
use gpusort_base::human;
use gpusort_engine::sorter::Sorter;
use gpusort_external::Folders;
use gpusort_formats::budget::Budget;
use gpusort_formats::fields::{Key, KeySpec, ResolvedKey};
use gpusort_formats::{Compression, Extension, Input, InputSpec, Output, ParquetLayout};
use gpusort_order::{Class, ElementType, KeyOrder, Method, Nulls, Reading, Selection, TextOrder};

/// A sort of files, readers or bytes into a file or a writer.
///
/// ```no_run
/// use gpusort::files::{Key, Sort};
///
/// let report = Sort::new()
///     .input("a.csv")
///     .input("b.csv.gz")
///     .key(Key::column("price").descending())
///     .memory(2 << 30)
///     .progress(|progress| eprintln!("{progress:?}"))
///     .output("sorted.csv")?;
/// println!("{} rows, {} without a price", report.records, report.counts.empty);
/// # Ok::<(), gpusort::Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct Sort<'a> {
    pub(super) options: Options,
    to: Option<Format>,
    first: Option<u64>,
    positions: bool,
    /// At most one, which [`Sort::resolve`] checks.
    answers: Vec<Answer>,
    per: Option<Key>,
    shuffle: Option<u64>,
    bgzf: bool,
    parquet: Option<String>,
    layout: ParquetLayout,
    method: Method,
    sorter: Option<&'a Sorter>,
    pub(super) folders: Vec<PathBuf>,
    tell: Option<Box<Tell<'a>>>,
}

has_options!(Sort<'_>, self => self.options);

impl<'a> Sort<'a> {
    /// Sets the format of the output. The default follows from the output's name, then from the input.
    pub fn to(self, format: Format) -> Self {
        Self { to: Some(format), ..self }
    }

    /// Writes only the first `first` records of the result.
    pub fn top(self, first: u64) -> Self {
        Self { first: Some(first), ..self }
    }

    /// Writes the positions of the records in the input, from 0, instead of the records: as text,
    /// or in binary as u32, or as u64 beyond 2^32 records.
    pub fn positions(self) -> Self {
        Self { positions: true, ..self }
    }

    /// Compresses the output to a writer with gzip, in blocks like `bgzip`. Files whose names end in
    /// `.gz` or `.bgz` are written so in any case; other names are refused.
    pub fn bgzf(self) -> Self {
        Self { bgzf: true, ..self }
    }

    /// Sets the compression of Parquet output: `zstd`, `snappy`, `lz4`, `gzip`, `brotli` or `none`; `zstd:9` has a
    /// level, as `gzip` and `brotli` may have. The default is the compression of the first input, then snappy.
    pub fn parquet_compression(self, name: impl Into<String>) -> Self {
        Self { parquet: Some(name.into()), ..self }
    }

    /// Keeps only the first record of each key, and writes the number of records with this key before it: for lines
    /// padded to seven characters, for tables in a column `count`, for JSON as `{"count":2,"record":{}}`.
    pub fn counts(mut self) -> Self {
        self.options.unique = true;
        self.answers.push(Answer::Counts);
        self
    }

    /// Keeps only the first record of each key, in the order of the input.
    pub fn keep_order(mut self) -> Self {
        self.options.unique = true;
        self.answers.push(Answer::InputOrder);
        self
    }

    /// Applies [`Sort::top`] to each value of this column. Values compare as text without quotes; all different values
    /// must fit in a quarter of the memory.
    pub fn per(mut self, column: impl Into<Key>) -> Self {
        self.per = Some(column.into().apart());
        self.answers.push(Answer::Per);
        self
    }

    /// Writes the records in a random order instead of the order of keys. Each order is equally likely. The order
    /// depends only on this seed and the number of records. With [`Sort::top`], the result is a sample.
    pub fn shuffle(self, seed: u64) -> Self {
        Self { shuffle: Some(seed), ..self }
    }

    /// Writes how often each key occurs, as [`Count`](crate::Count) does.
    #[doc(hidden)]
    pub fn counts_of_keys(mut self) -> Self {
        self.answers.push(Answer::CountsOfKeys);
        self
    }

    /// Sets the maximum number of rows of a row group of Parquet. The default is the number of the largest row group of
    /// the first input, from 122,880 to 2^20.
    pub fn row_group_rows(self, rows: u64) -> Self {
        Self { layout: ParquetLayout { rows: Some(rows), ..self.layout }, ..self }
    }

    /// Sets the approximate size of a row group of Parquet in encoded bytes.
    pub fn row_group_size(self, bytes: u64) -> Self {
        Self { layout: ParquetLayout { bytes: Some(bytes), ..self.layout }, ..self }
    }

    /// Writes files of Parquet of about `bytes` bytes, in order, into the output, which is a new or empty folder.
    /// The files are part-00000.parquet and so on; manifest.json lists them, and _SUCCESS is written last.
    pub fn split_size(self, bytes: u64) -> Self {
        Self { layout: ParquetLayout { split: Some(bytes), ..self.layout }, ..self }
    }

    /// Sorts with this sorter; the default sorts on the CPU.
    pub fn sorter(self, sorter: &'a Sorter) -> Self {
        Self { sorter: Some(sorter), ..self }
    }

    /// Sets the algorithm and its variant.
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Adds a folder for temporary files, which are spread over all these folders. The default is
    /// /var/tmp or the system's folder.
    pub fn temp_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Calls `tell`, from any thread, as the work progresses.
    pub fn progress(self, tell: impl Fn(Progress) + Send + Sync + 'a) -> Self {
        Self { tell: Some(Box::new(tell)), ..self }
    }

    /// Sorts into this file, compressed if its name ends in `.gz`, `.bgz` or `.zst`. The file is
    /// replaced once the result is complete, so it may be an input; an error leaves it unchanged.
    ///
    /// # Errors
    ///
    /// An invalid option; errors of an input, the output or the device.
    pub fn output(self, path: impl AsRef<Path>) -> Result<Report, Error> {
        let (path, sorter) = (path.as_ref(), self.sorter);
        self.resolve(Some(path))?.run(&mut sorter.unwrap_or(&Sorter::cpu()), To::File(path))
    }

    /// Sorts into this writer. After an error, the writer may hold a part of the result.
    ///
    /// # Errors
    ///
    /// See [`Sort::output`].
    pub fn write_to(self, writer: &mut (impl Write + Send)) -> Result<Report, Error> {
        let sorter = self.sorter;
        self.resolve(None)?.run(&mut sorter.unwrap_or(&Sorter::cpu()), To::Writer(writer))
    }

    /// Resolves the options, for an output with this name.
    ///
    /// # Errors
    ///
    /// An invalid option; I/O errors of the first line, if that decides the format of an input.
    #[doc(hidden)]
    pub fn resolve(self, output: Option<&Path>) -> Result<Job<'a>, Error> {
        let Self { options, to, first, positions, mut answers, per, .. } = self;
        let Self { shuffle, bgzf, parquet, layout, method, folders, tell, .. } = self;
        if let Some(algorithm) = method.algorithm {
            algorithm.variant(method.variant)?;
        }
        answers.dedup();
        if answers.len() > 1 {
            return Err(Error::options("only one of count, keep_order and per can be given"));
        }
        let answer = answers.pop();
        let asked = Extension::of_output(to, output);
        let to_bits = !positions && asked.is_some_and(|(format, _)| format.is_bits());
        if let Some(path) = output.filter(|_| !options.one_of_many && layout.split.is_none()) {
            Output::check(path)?;
        }
        // Lines stay lines, whatever the output's name is, unless the name means binary.
        let asked_of = |input: Format| {
            let is_named = to.is_some() || input != Format::Lines || positions || to_bits;
            asked.filter(|(format, _)| is_named || format.has_columns())
        };
        // Numbers alone have no keys and no other options of lines.
        let says_lines = options.says_lines();
        let written = |input| {
            output_format(input, positions, asked_of(input)).map_err(|error| match error.hint() {
                Some(Hint::NumbersOfLines) if says_lines => error.unhinted(),
                _ => error,
            })
        };
        if let Some(named) = options.format.filter(|format| format.is_table() || format.has_columns()) {
            written(named)?;
        }
        let to_table =
            asked.map(|(format, _)| format).filter(|to| !positions && (to.is_table() || to.has_columns()));
        let mut asked = options.clone();
        if let Some(per) = per {
            if first.is_none() || options.keys.is_empty() {
                let problem =
                    "takes the first K records of each value, in the order of a key; add --top K and -k KEY";
                return Err(Error::option("per", problem));
            }
            asked.keys.push(per);
        }
        // Binary numbers have no records, and are refused below.
        if shuffle.is_some() && !options.named_format()?.is_some_and(Format::is_bits) {
            asked.keys = vec![Key::record()];
        }
        let (inputs, mut decisions) = asked.resolve(to_bits, to_table)?;
        let per = answer.and_then(|answer| keys_of(answer, &mut decisions.how));
        // A replaced file keeps its compression.
        let replaced = inputs.first().filter(|_| options.in_place).and_then(Input::compression);
        let compression = if bgzf { Some(gzip_to(output, replaced)?) } else { replaced };
        let own = decisions.format;
        let (format, promised) = written(own)?;
        check_layout(layout, parquet.is_some(), format, output)?;
        let is_converted = own.is_table() && own != format && !positions && !format.is_bits();
        if answer.is_some_and(Answer::is_counted) && is_converted {
            let problem = format!(
                "counts of {0} are written as {0}; write them to a file, and convert it with gpusort sort",
                own.name()
            );
            return Err(Error::options(problem));
        }
        let named = output.filter(|_| to.is_none()).and_then(Path::extension);
        if own != format && named.is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            let problem =
                "ends in .json, which means one JSON value, but rows are written as JSON Lines (.jsonl)";
            return Err(Error::option("output", problem).hinting(Hint::To(Format::JsonLines)));
        }
        let (format, converted) = if is_converted { (own, Some(format)) } else { (format, None) };
        let is_apart = positions || own.is_bits() || to_bits;
        if is_apart && (answer.is_some() || shuffle.is_some()) {
            let problem = "counts, --per, --keep-order and shuffles take lines, tables or JSON Lines; convert \
                           numbers with --to text first";
            return Err(Error::options(problem));
        }
        let budget = options.memory.map_or_else(Budget::default, Budget::of);
        // The other half of the memory holds the files in these folders.
        let is_halved = Folders::new(folders.clone()).are_in_memory();
        let budget = if is_halved { budget.shared_by(2) } else { budget };
        // A random key takes about as much memory as a position.
        let budget = if positions || shuffle.is_some() { budget.with_positions() } else { budget };
        // Two other threads read the next file and write the previous one.
        let budget = if options.one_of_many { budget.shared_by(3) } else { budget };
        let first = first.map(|first| usize::try_from(first).unwrap_or(usize::MAX));
        let selection = Selection { unique: options.unique, first };
        Ok(Job {
            inputs,
            decisions,
            stretches: options.stretches,
            ask: OutputSpec { selection, positions, answer, method, format },
            promised,
            watch: Watch::new(tell),
            cancel: options.cancel,
            folders,
            budget,
            compression,
            is_last: false,
            converted,
            per,
            shuffle,
            layout,
            #[cfg(feature = "arrow")]
            parquet: parquet.as_deref().map(gpusort_formats::arrow::parquet::compression).transpose()?,
            #[cfg(feature = "arrow")]
            table_keys: std::sync::OnceLock::new(),
        })
    }
}

/// Checks that the options of Parquet apply to this format and output.
fn check_layout(
    layout: ParquetLayout,
    has_compression: bool,
    format: Format,
    output: Option<&Path>,
) -> Result<(), Error> {
    let given = [
        ("parquet-compression", has_compression),
        ("row-group-rows", layout.rows.is_some()),
        ("row-group-size", layout.bytes.is_some()),
        ("split-size", layout.split.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given && format != Format::Parquet) {
        let name = format.name();
        let problem = format!("applies to Parquet, but {name} is written; leave it out, or write Parquet");
        return Err(Error::option(option, problem));
    }
    if layout.split.is_some() && output.is_none() {
        return Err(Error::option("split-size", "writes several files; name a new folder with -o"));
    }
    Ok(())
}

/// Changes the keys for an answer. Takes the last key for [`Answer::Per`].
fn keys_of(answer: Answer, how: &mut InputSpec) -> Option<InputSpec> {
    if answer == Answer::Per {
        let (asked, found) = (how.by.keys.pop(), how.keys.pop());
        let by = KeySpec { keys: asked.into_iter().collect(), ..how.by.clone() };
        return Some(InputSpec { by, keys: found.into_iter().collect(), ..how.clone() });
    }
    if answer == Answer::CountsOfKeys {
        // Behind a key that may be invalid, its field as text: invalid fields are counted as they are spelled.
        let reading = Reading::Text(TextOrder::Bytes);
        let order = KeyOrder { reading, is_last_resort: true, ..KeyOrder::ASCENDING };
        let may_be_invalid =
            |key: &&ResolvedKey| !key.order.is_last_resort && key.order.place(Class::Invalid) != Nulls::Error;
        let keys = how.keys.iter().filter(may_be_invalid);
        let spelled: Vec<_> = keys.map(|key| ResolvedKey { order, ..key.clone() }).collect();
        how.keys.extend(spelled);
    }
    None
}

/// Gzip, if the output's name or the replaced file is gzip.
fn gzip_to(output: Option<&Path>, replaced: Option<Compression>) -> Result<Compression, Error> {
    let Some(path) = output else { return Ok(Compression::Gzip) };
    let named = Compression::of_name(path);
    if named.map(|(compression, _)| compression).or(replaced) == Some(Compression::Gzip) {
        return Ok(Compression::Gzip);
    }
    let plain = named.map(|(_, stem)| stem.as_os_str()).or(path.file_name());
    let mut meant = plain.unwrap_or_default().to_owned();
    meant.push(".gz");
    let [name, meant] = [path, &path.with_file_name(meant)].map(human::path);
    let is_columns = Extension::of(path).format.is_some_and(Format::has_columns);
    let remedy = if is_columns { "leave it out".to_owned() } else { format!("use -o {meant}") };
    Err(Error::option("bgzf", format!("writes gzip, but {name} names another format; {remedy}")))
}

/// The output format, from the input's format and the requested one, and the element type that the
/// requested format implies.
pub(super) fn output_format(
    input: Format,
    positions: bool,
    asked: Option<(Format, Option<ElementType>)>,
) -> Result<(Format, Option<ElementType>), Error> {
    let is_table = |format: Format| format.has_columns() || format.is_table();
    let has_rows = is_table(input);
    let (format, element) = match asked {
        None if positions && has_rows => (Format::Text, None),
        None => (input, None),
        // For rows, text means the input's own format.
        Some((Format::Text, None)) if input.is_table() && !positions => (input, None),
        Some(asked) => asked,
    };
    if positions || !has_rows {
        if !is_table(format) {
            return Ok((format, element));
        }
        let what = if positions { "positions" } else { "numbers" };
        let problem = format!("{what} cannot be written as a table");
        return Err(Error::options(problem).hinting(Hint::ToNumbers));
    }
    let are_tables = [input, format].iter().all(|&format| is_table(format) && format != Format::Lines);
    if format == input || are_tables && cfg!(feature = "arrow") {
        return Ok((format, None));
    }
    let [from, to] = [input, format].map(Format::name);
    if are_tables {
        let problem = format!("this build does not write {from} as {to}");
        return Err(Error::options(problem).hinting(Hint::Build));
    }
    let (rows, hint) = match input {
        Format::Lines if format.is_bits() => ("lines".to_owned(), Hint::NumbersOfLines),
        Format::Lines => ("lines".to_owned(), Hint::To(Format::Text)),
        _ => {
            let table = if input.has_columns() { Format::Csv } else { input };
            (format!("rows of {from}"), Hint::To(table))
        }
    };
    let to = element.map_or(to, ElementType::name);
    Err(Error::options(format!("{rows} cannot be written as {to}")).hinting(hint))
}
