//! Options of a sort, check or merge: as requested, and as resolved for the inputs.

use std::sync::Arc;

use gpusort_values::marks::Marks;

use super::decide::{Asked, Decisions, decide};
use gpusort_base::cancel::Cancel;
use gpusort_base::error::{Error, Hint};
use gpusort_base::format::Format;
use gpusort_formats::binary::BinaryInput;
use gpusort_formats::fields::{Key, KeySpec, Kind};
use gpusort_formats::spelling::Spelling;
use gpusort_formats::{Compression, Extension, Input, InputKind, InputSpec, LineEnd, PerLine, Stretches};
use gpusort_order::{ElementType, Invalid, KeyOrder, Nulls, Reading};

/// Inputs and their order: the options that sorts, checks and merges share.
///
/// Defaults are those of the command: formats follow from names or first lines, the type of numbers
/// from the numbers, and the smallest key comes first.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Options {
    pub(super) inputs: Vec<Input>,
    pub(super) format: Option<Format>,
    pub(super) keys: Vec<Key>,
    pub(super) element: Option<ElementType>,
    kind: Option<Kind>,
    /// The order of keys, except the places of empty and invalid fields.
    order: KeyOrder,
    na: Vec<String>,
    decimal: Option<char>,
    thousands: Option<char>,
    time_format: Option<String>,
    empty: Option<Nulls>,
    invalid: Option<Invalid>,
    header: Option<usize>,
    pub(super) comments: bool,
    pub(super) delimiter: Option<u8>,
    pub(super) zero_terminated: bool,
    pub(super) unique: bool,
    pub(super) memory: Option<u64>,
    pub(super) cancel: Cancel,
    numeric: bool,
    of_numbers: bool,
    pub(super) one_of_many: bool,
    pub(super) in_place: bool,
    /// The sizes of reads of a check.
    pub(super) stretches: Stretches,
}

/// Defines the setters of options, for `Options` and for types that contain `Options`.
macro_rules! setters {
    ($($(#[$attribute:meta])* $name:ident($($argument:ident: $type:ty)?) |$it:ident| $set:expr;)*) => {
        impl Options {
            $(
                $(#[$attribute])*
                pub fn $name(mut self $(, $argument: $type)?) -> Self {
                    let $it = &mut self;
                    $set;
                    self
                }
            )*
        }

        /// Adds these setters to a type that contains `Options`.
        macro_rules! has_options {
            ($of:ty, $self:ident => $options:expr) => {
                impl $of {
                    /// Creates it without inputs.
                    pub fn new() -> Self {
                        Self::default()
                    }

                    /// Replaces all options.
                    pub fn options(mut $self, options: Options) -> Self {
                        $options = options;
                        $self
                    }

                    $(
                        $(#[$attribute])*
                        pub fn $name(mut $self $(, $argument: $type)?) -> Self {
                            $options = std::mem::take(&mut $options).$name($($argument)?);
                            $self
                        }
                    )*
                }
            };
        }
    };
}

setters! {
    /// Adds an input: a path, or an [`Input`](crate::Input) made from a reader or bytes.
    input(input: impl Into<gpusort_formats::Input>) |it| it.inputs.push(input.into());
    /// Adds a key, which orders records whose earlier keys are equal. Keys have the syntax of the
    /// command's `-k`, for example `price` or `price:r`, or are of type [`Key`](crate::Key).
    key(key: impl Into<gpusort_formats::fields::Key>) |it| it.keys.push(key.into());
    /// Sets the format of all inputs.
    format(format: gpusort_base::format::Format) |it| it.format = Some(format);
    /// Sets the type of numbers. An integer type refuses numbers that it cannot represent; a float
    /// type rounds.
    element(element: gpusort_order::key::ElementType) |it| it.element = Some(element);
    /// Sets the kind of fields for keys without a kind. By default, fields of tables and lines are
    /// read as numbers, times or text, whichever fits.
    kind(kind: gpusort_formats::fields::Kind) |it| it.kind = Some(kind);
    /// Ignores ASCII case in text, for keys without a kind.
    ignore_case() |it| it.order.nocase = true;
    /// Sorts the largest first, for keys without a direction.
    descending() |it| it.order.descending = true;
    /// Sets the place of NaN; the default is last.
    nan(place: gpusort_order::Nulls) |it| it.order.nan = place;
    /// Sets the place of empty fields; the default is last.
    empty(place: gpusort_order::Nulls) |it| it.empty = Some(place);
    /// Sets the treatment of fields without a number; the default is an error.
    invalid(place: gpusort_order::Invalid) |it| it.invalid = Some(place);
    /// Reads only the number at the beginning of a field.
    leading() |it| it.order.leading = true;
    /// Sets whether the first row names the columns. By default it does in tables, and does not in lines.
    header(header: bool) |it| it.header = Some(header.into());
    /// Takes the first `rows` rows as a header; the last of them names the columns.
    header_rows(rows: usize) |it| it.header = Some(rows);
    /// Keeps all lines that begin with `#` on top.
    comments() |it| it.comments = true;
    /// Sets the delimiter of fields. In tables a quoted delimiter does not count; in lines every
    /// delimiter counts.
    delimiter(byte: u8) |it| it.delimiter = Some(byte);
    /// Ends lines with NUL.
    zero_terminated() |it| it.zero_terminated = true;
    /// Counts fields that equal this word as empty.
    na(word: impl Into<String>) |it| it.na.push(word.into());
    /// Sets the decimal sign of numbers; the default is a point.
    decimal(sign: char) |it| it.decimal = Some(sign);
    /// Sets the thousands separator of numbers.
    thousands(separator: char) |it| it.thousands = Some(separator);
    /// Sets the format of times: a strftime format, or `clf`, `syslog`, `rfc2822`, `epoch` or
    /// `epoch-ms`. Keys without a kind then read times.
    time_format(format: impl Into<String>) |it| it.time_format = Some(format.into());
    /// Keeps only the first record of each key. A check then reports repeated keys as disorder.
    unique() |it| it.unique = true;
    /// Limits memory to about `bytes`; the default is three quarters of the available memory.
    memory(bytes: u64) |it| it.memory = Some(bytes);
    /// Cancels the work when `cancel` is triggered.
    cancel(cancel: &gpusort_base::cancel::Cancel) |it| it.cancel = cancel.clone();
    /// Reads the fields of keys without a kind as numbers.
    #[doc(hidden)]
    numeric() |it| it.numeric = true;
    /// Reads inputs other than tables and binary as text, with any number of numbers on a line.
    #[doc(hidden)]
    of_numbers() |it| it.of_numbers = true;
    /// Marks one of several separately sorted files; with `in_place` each replaces itself.
    #[doc(hidden)]
    one_of_many(in_place: bool) |it| (it.one_of_many, it.in_place) = (true, in_place);
}
#[expect(clippy::single_component_path_imports, reason = "the macro has no other path")]
pub(super) use has_options;

impl Options {
    /// Options without inputs and keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Resolves the options, and decides by a sample of the inputs. `to` is the format for converted tables, if any.
    pub(super) fn resolve(
        &self,
        of_numbers: bool,
        to: Option<Format>,
    ) -> Result<(Vec<Input>, Decisions), Error> {
        if self.inputs.is_empty() {
            return Err(Error::options("no input"));
        }
        if let Some(problem) = self.keys.iter().find_map(Key::problem) {
            return Err(Error::options(problem));
        }
        if self.inputs.len() > 1 {
            self.inputs.iter().try_for_each(Input::check)?;
        }
        let known = self.named_format()?;
        let content = known.unwrap_or(Format::Text);
        let plain = self.inputs.iter().map(|input| input.clone().cancelled_by(&self.cancel));
        let mut inputs: Vec<Input> = plain.map(|input| decompressed(input, content, self.memory)).collect();
        let are_numbers = known.is_none() && (of_numbers || self.of_numbers) && !self.says_lines();
        let format = known.unwrap_or(if are_numbers { Format::Text } else { Format::Lines });
        let per_line = if are_numbers && of_numbers { PerLine::One } else { PerLine::default() };
        let of_kind = self.kind.map(Kind::reading);
        // A type of numbers is a kind, except in columns, which have types of their own.
        let is_numeric =
            self.numeric || !format.has_columns() && (!format.is_table() || self.element.is_some());
        let reading = of_kind.unwrap_or(if is_numeric { Reading::Numbers } else { Reading::Any });
        let name = inputs[0].name();
        if format.is_bits() && reading != Reading::Numbers {
            let problem = format!(
                "kinds such as size and time are for lines and tables, but {name} is {}; leave the kind out",
                format.name()
            );
            return Err(Error::options(problem));
        }
        if format == Format::Text && reading != Reading::Numbers {
            let problem = format!("is for lines and tables, but {name} is {}", format.name());
            return Err(Error::option("type", problem).hinting(Hint::Table(Format::Text)));
        }
        if format.has_columns() && !cfg!(feature = "arrow") {
            let problem = format!("this build does not read {}", format.name());
            return Err(Error::input(name, problem).hinting(Hint::Build));
        }
        let (element, type_assumed) = self.element_of(format, &inputs)?;
        if self.of_numbers && (format.is_table() || format.has_columns()) {
            let problem = "a table; trace reads plain numbers in text, binary or .npy";
            return Err(Error::input(name, problem));
        }
        let given = self.given();
        check_format(&given, format, &name)?;
        // Lines have names only with a header, which a name, an option or a comment makes.
        let has_names = self.header.is_some_and(|rows| rows > 0) || self.comments;
        if format == Format::Lines
            && !has_names
            && !self.keys.iter().any(Key::is_name)
            && let Some(problem) = self.keys.iter().find_map(Key::refused)
        {
            return Err(Error::options(problem));
        }
        let spelling = Arc::new(self.spelling()?);
        self.check_delimiter(format)?;
        let (empty, invalid) = (self.empty.unwrap_or_default(), self.invalid.unwrap_or_default());
        let order = KeyOrder { empty, invalid, reading, ..self.order };
        let line_end = if self.zero_terminated { LineEnd::Nul } else { LineEnd::Lf };
        let tells_spelling = self.unique && !self.keys.is_empty();
        let keys = self.keys.iter().map(Key::by_column).collect::<Result<Vec<_>, _>>()?.concat();
        let by = KeySpec { keys, element, order, spelling, tells_spelling };
        if self.in_place {
            inputs.iter().try_for_each(Input::check_replaceable)?;
        }
        let decisions = if format.is_bits() || format.has_columns() {
            let sources = if format.is_bits() { sources(&inputs, format, element)? } else { Vec::new() };
            let how = InputSpec { kind: InputKind::Bits(sources), by, keys: Vec::new(), columns: 0 };
            Decisions { type_assumed, ..Decisions::of(format, how, "named") }
        } else {
            let is_named = known.is_some();
            let (by, header, comments, delimiter) = (&by, self.header, self.comments, self.delimiter);
            let asked = Asked { format, is_named, by, header, comments, delimiter, line_end, per_line, to };
            let decisions = decide(&mut inputs, &asked)?;
            check_format(&given, decisions.format, &name)?;
            decisions
        };
        Ok((inputs, decisions))
    }

    /// Returns the type of numbers, and true for the default of `.bin`.
    fn element_of(&self, format: Format, inputs: &[Input]) -> Result<(Option<ElementType>, bool), Error> {
        match (self.element, format) {
            (None, Format::Binary) => binary_element(inputs),
            (Some(element), _) if !format.is_bits() && !ElementType::WIDE.contains(&element) => {
                let problem =
                    format!("{element} is for binary and .npy files; for text use a type of 32 or 64 bits");
                Err(Error::option("type", problem))
            }
            (element, _) => Ok((element, false)),
        }
    }

    /// Checks the delimiter.
    fn check_delimiter(&self, format: Format) -> Result<(), Error> {
        let Some(byte) = self.delimiter else { return Ok(()) };
        if format == Format::Lines && byte == if self.zero_terminated { 0 } else { b'\n' } {
            return Err(Error::options("the end of a line cannot separate its fields"));
        }
        if format != Format::Lines && matches!(byte, b'"' | b'\r' | b'\n') {
            return Err(Error::options("a quote or line end cannot separate the fields of a table"));
        }
        let marks = self.decimal.into_iter().chain(self.thousands);
        if let Some(mark) = marks.into_iter().find(|&mark| mark == char::from(byte)) {
            let problem = format!("{mark:?} cannot both separate fields and be part of numbers");
            return Err(Error::options(problem).hinting(Hint::Marks));
        }
        Ok(())
    }

    /// The spelling of fields.
    fn spelling(&self) -> Result<Spelling, Error> {
        let marks = (self.decimal.is_some() || self.thousands.is_some())
            .then(|| Marks::new(self.decimal.unwrap_or('.'), self.thousands))
            .transpose()
            .map_err(Error::options)?;
        let times = self.time_format.as_ref().map(|format| format.parse()).transpose();
        let times = times.map_err(|problem: String| Error::option("time-format", problem))?;
        let empty = self.na.iter().map(|word| word.clone().into_bytes()).collect();
        Ok(Spelling { empty, marks, times })
    }

    /// Returns the names of the options for fields and formats, true for a given option, and the formats
    /// of the option.
    fn given(&self) -> [GivenOption; 15] {
        const TO_RECORDS: Applies = ("tables and lines", |format| format.is_table() || format.has_columns());
        const TO_TEXT: Applies = ("CSV, TSV, JSON and lines", Format::is_table);
        const TO_FIELDS: Applies =
            ("CSV, TSV and lines", |format| format.is_table() && format != Format::JsonLines);
        const TO_LINES: Applies = ("lines", |format| format == Format::Lines);
        // Columns have their own types.
        const TO_UNTYPED: Applies = ("text and binary data", |format| !format.has_columns());
        [
            ("key", !self.keys.is_empty(), TO_RECORDS),
            ("header", self.header.is_some_and(|rows| rows > 0), TO_FIELDS),
            ("comments", self.comments, TO_TEXT),
            ("no-header", self.header == Some(0), TO_FIELDS),
            ("delimiter", self.delimiter.is_some(), TO_FIELDS),
            ("leading", self.order.leading, TO_TEXT),
            ("na", !self.na.is_empty(), TO_TEXT),
            ("decimal", self.decimal.is_some(), TO_FIELDS),
            ("thousands", self.thousands.is_some(), TO_FIELDS),
            ("time-format", self.time_format.is_some(), TO_TEXT),
            ("ignore-case", self.order.nocase, TO_RECORDS),
            ("empty", self.empty.is_some(), TO_RECORDS),
            ("invalid", self.invalid.is_some(), TO_TEXT),
            ("type", self.element.is_some(), TO_UNTYPED),
            ("zero-terminated", self.zero_terminated, TO_LINES),
        ]
    }

    /// Returns the format that the options or the names of the inputs say.
    pub(super) fn named_format(&self) -> Result<Option<Format>, Error> {
        self.format.map_or_else(|| format_by_names(&self.inputs), |format| Ok(Some(format)))
    }

    /// Returns true if an option concerns lines or their fields.
    pub(super) fn says_lines(&self) -> bool {
        let are_of_lines = |option| !matches!(option, "no-header" | "type");
        self.kind.is_some()
            || self.given().iter().any(|(option, is_given, _)| *is_given && are_of_lines(*option))
    }
}

/// Checks that each given option applies to the format.
fn check_format(given: &[GivenOption], format: Format, name: &str) -> Result<(), Error> {
    match given.iter().find(|(_, is_given, (_, applies))| *is_given && !applies(format)) {
        Some((option, _, (what, _))) => {
            let problem = format!("applies to {what}, but {name} is {}", format.name());
            Err(Error::option(option, problem).hinting(Hint::Table(format)))
        }
        None => Ok(()),
    }
}

/// The name of an option, true for a given option, and the formats that it applies to.
type GivenOption = (&'static str, bool, Applies);

/// A description of formats, and the formats.
type Applies = (&'static str, fn(Format) -> bool);

/// The sources of binary inputs.
fn sources(
    inputs: &[Input],
    format: Format,
    element: Option<ElementType>,
) -> Result<Vec<BinaryInput>, Error> {
    let source = |file: &Input| match format {
        Format::Npy => BinaryInput::npy(file.clone()),
        _ => Ok(BinaryInput::raw(file.clone(), element.expect("binary has a type"))),
    };
    let sources = inputs.iter().map(source).collect::<Result<Vec<_>, _>>()?;
    let first = sources[0].element;
    for (source, file) in sources.iter().zip(inputs) {
        let here = source.element;
        if let Some(asked) = element.filter(|&asked| asked != here) {
            return Err(Error::input(file.name(), format!("holds {here}")).hinting(Hint::OtherType(asked)));
        }
        if here != first {
            let names = (inputs[0].name(), file.name());
            return Err(Error::options(format!("{} holds {first}, but {} holds {here}", names.0, names.1)));
        }
    }
    Ok(sources)
}

/// Decompresses an input: text by its first bytes, binary data by its name.
fn decompressed(input: Input, format: Format, memory: Option<u64>) -> Input {
    let is_text = |format: Format| !format.is_bits() && !format.has_columns();
    if is_text(format) {
        return input.decompressed(None, memory);
    }
    let named = extension(&input).and_then(|extension| extension.format);
    match input.named().and_then(Compression::of_name) {
        Some((compression, _)) if named.is_some_and(|format| !is_text(format)) => {
            input.decompressed(Some(compression), memory)
        }
        _ => input,
    }
}

/// The format of all inputs, by their extensions; `None` for text or lines.
fn format_by_names(inputs: &[Input]) -> Result<Option<Format>, Error> {
    let format = |input: &Input| {
        let format = extension(input).and_then(|extension| extension.format);
        format.filter(|&format| format != Format::Text)
    };
    let first = inputs.first().and_then(format);
    let Some(other) = inputs.iter().find(|&input| format(input) != first) else { return Ok(first) };
    let name = |input: &Input| format(input).map_or("text or lines", Format::name);
    let [one, two] = [&inputs[0], other].map(|input| format!("{} is {}", input.name(), name(input)));
    // If either is binary data, no single format fits both.
    let are_known = |input: &Input| format(input).map(Format::is_bits);
    let is_hopeless = are_known(&inputs[0]).zip(are_known(other)).is_some_and(|(one, other)| one || other);
    let hint = if is_hopeless { Hint::EachFile } else { Hint::FormatOfAll };
    Err(Error::options(format!("{one}, but {two}")).hinting(hint))
}

/// Returns the type of binary files by their extensions; the flag marks the default type.
fn binary_element(inputs: &[Input]) -> Result<(Option<ElementType>, bool), Error> {
    let element = |input: &Input| extension(input).and_then(|extension| extension.element);
    let first = element(&inputs[0]);
    if let Some(other) = inputs.iter().find(|&input| element(input) != first) {
        let [one, two] = [&inputs[0], other].map(Input::name);
        let problem = format!("{one} and {two} may have different types");
        return Err(Error::options(problem).hinting(Hint::TypeOfAll));
    }
    Ok((first.or(Some(ElementType::U32)), first.is_none()))
}

fn extension(input: &Input) -> Option<Extension> {
    input.named().map(Extension::of)
}
