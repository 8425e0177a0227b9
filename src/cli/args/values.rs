//! The values of options, and their parsers.

use std::ffi::OsStr;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, ValueEnum};
use gpusort::files::Kind;
use gpusort::{Algorithm, ElementType, Format};
use gpusort_base::human::size;
use gpusort_base::memory;

/// The heading of options about messages, in help.
pub(crate) const MESSAGES: &str = "Messages";

/// The formats of numbers alone.
pub(super) const OF_NUMBERS: [Format; 3] = [Format::Text, Format::Binary, Format::Npy];

/// Parses a number of at least 1.
pub(super) fn at_least_one(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "expected a number of at least 1".to_owned())
}

/// Parses a time in seconds, above zero.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a number of seconds above 0, such as 0.5".to_owned())
}

/// Parses a size of memory; digits alone are KiB, as for `sort`.
pub(super) fn kibibytes(text: &str) -> Result<u64, String> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { memory::parse(&format!("{text}K")) } else { memory::parse(text) }
}

/// Parses the size of a tile.
pub(super) fn tile(text: &str) -> Result<u64, String> {
    let size = size::parse(text)?;
    if size.is_power_of_two() && size > 1 {
        Ok(size)
    } else {
        Err("use a power of two, 2 or more".to_owned())
    }
}

/// Parses a number of lines.
pub(super) fn lines(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a number of lines, such as 2".to_owned())
}

/// Parses a byte that can separate fields.
pub(super) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "\\t" || text == "tab" => Ok(b'\t'),
        b"\n" => Err("a line feed cannot separate fields".to_owned()),
        &[byte] if byte.is_ascii() => Ok(byte),
        _ => Err("expected one ASCII character, or tab".to_owned()),
    }
}

/// `--type`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TypeArg {
    #[default]
    Auto,
    Element(ElementType),
    /// A kind of field.
    Kind(Kind),
    /// A field separator, as `sort` takes it after `-t`.
    Separator(u8),
}

/// Parses `auto`, the name of a type, or a character.
#[derive(Clone)]
struct TypeParser<P>(P);

impl<P: TypedValueParser<Value = TypeArg>> TypedValueParser for TypeParser<P> {
    type Value = TypeArg;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<TypeArg, clap::Error> {
        match value.to_str().map(delimiter) {
            Some(Ok(byte)) => Ok(TypeArg::Separator(byte)),
            _ => self.0.parse_ref(command, argument, value).map_err(|mut error| {
                let tip = "a field separator is one ASCII character, or tab".into();
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
                error
            }),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

pub(super) fn type_or_separator() -> impl TypedValueParser<Value = TypeArg> {
    let elements = ElementType::ALL.map(|element| (element.name(), TypeArg::Element(element)));
    let kinds = Kind::ALL.into_iter().filter(|(_, kind)| *kind != Kind::Number);
    let kinds = kinds.map(|(name, kind)| (name, TypeArg::Kind(kind)));
    TypeParser(one_of([("auto", TypeArg::Auto)].into_iter().chain(elements).chain(kinds)))
}

/// A value, or `None` for `auto` or `all`. An alias hides the `Option` from clap, which would make the
/// argument optional.
pub(crate) type OrAuto<T> = Option<T>;

/// Parses the name of one of these values.
pub(super) fn named<T: Copy + Send + Sync + 'static>(
    all: impl IntoIterator<Item = T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    one_of(all.into_iter().map(move |value| (name(value), value)))
}

/// Parses a word that stands for no value, or the name of one of these values.
pub(super) fn named_or<T: Copy + Send + Sync + 'static>(
    none: &'static str,
    all: impl IntoIterator<Item = T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = OrAuto<T>> {
    let all = all.into_iter().map(move |value| (name(value), Some(value)));
    one_of([(none, None)].into_iter().chain(all))
}

/// Parses a name as the value beside it.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    // The name in textbooks, as well.
    let also = |name| (name == Algorithm::OddEven.name()).then_some("brick");
    let values: Vec<(PossibleValue, T)> = values
        .into_iter()
        .map(|(name, value)| (PossibleValue::new(name).aliases(also(name)), value))
        .collect();
    PossibleValuesParser::new(values.iter().map(|(name, _)| name.clone())).try_map(move |given| {
        let value = values.iter().find(|(name, _)| name.matches(&given, false)).map(|(_, value)| *value);
        value.ok_or("not one of the possible values")
    })
}

/// When to show progress.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ProgressArgs {
    /// Progress bar: auto (default), always or never
    ///
    /// The bar goes to standard error. auto shows the bar on a terminal, for work that takes more than half a
    /// second, unless a pipe takes the data.
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    #[arg(env = "GPUSORT_PROGRESS", hide_possible_values = true, help_heading = MESSAGES)]
    pub(crate) progress: Progress,
}

/// `--progress`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    Auto,
    Always,
    Never,
}
