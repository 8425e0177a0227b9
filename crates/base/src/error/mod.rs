//! Errors, with remedies.

mod advice;
pub mod misuse;

use std::any::Any;
use std::path::PathBuf;
use std::{fmt, io};

use gpusort_order::key::ElementType;
use gpusort_order::{Error as PlanError, NoVariant};

use crate::device::{AdapterInfo, Select};
use crate::format::Format;
use crate::human;

/// An error of this library.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    /// The subject, unless the kind includes it.
    about: Option<String>,
    hint: Option<Hint>,
}

/// Returns the message of a caught panic.
#[doc(hidden)]
pub fn of_panic(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied())
}

/// A remedy for an error. The message omits it; [`Error::advice`] words it with the calls of this library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// Use one of these remedies.
    Remedies(Box<[Remedy]>),
    /// Set another separator of fields.
    Separator,
    /// Name a key, or set the kind to number.
    NumbersOrKey,
    /// Correct the row.
    Ragged,
    /// Read the numbers as f64, which rounds them.
    Rounding,
    /// Read the input in this format.
    Format(Format),
    /// Choose a place for NaN: the order makes it an error.
    Nan,
    /// Choose a place for empty fields: the order makes them an error.
    Empty,
    /// Choose a place for invalid fields, or skip them: the order makes them an error.
    Invalid,
    /// Name a column by its number: these two have the same name.
    ColumnNumber(usize, usize),
    /// Separate fields by this character.
    Delimiter(char),
    /// Use another character as delimiter, decimal point or thousands separator.
    Marks,
    /// Take the first line as a header.
    Header,
    /// Choose between lines, and text with any number of numbers on a line.
    Several,
    /// Sort the input instead of merging it.
    Sort,
    /// Convert the input to text with this command, whose input is called FILE.
    Through(&'static str),
    /// Order by these keys.
    Keys(Box<[String]>),
    /// Write paths to JSON values in this syntax.
    Path,
    /// Build with the feature `arrow`.
    Build,
    /// The column is missing, and no column has a similar name.
    NoColumn,
    /// Remove the blank line before the header.
    BlankHeader,
    /// Read the input as a table; this format has no columns.
    Table(Format),
    /// Name one format for all inputs.
    FormatOfAll,
    /// Sort each input by itself: the formats differ.
    EachFile,
    /// Name one type for all inputs.
    TypeOfAll,
    /// Read the input with its own type, not with this requested one.
    OtherType(ElementType),
    /// Use an output name that promises the type of the data.
    Promised {
        /// The type that the name promises.
        promised: ElementType,
        /// The type of the data.
        element: ElementType,
    },
    /// Sort the numbers in the lines.
    NumbersOfLines,
    /// Write text, binary or .npy.
    ToNumbers,
    /// Write this format.
    To(Format),
    /// Write binary.
    ToBinary,
    /// Write to a file, which is replaced when the merge is complete.
    Replace,
    /// Allow more memory.
    Memory,
    /// Start the caller's device with this limit or feature. The message includes this remedy,
    /// because only a program can apply it.
    StartWith(&'static str),
}

/// A change of options that was tried on the input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// This key.
    Key(Box<str>),
    /// This key, with invalid fields last; if empty, the key as given.
    Invalid(Box<str>),
    /// Fields of this word count as empty.
    Na(Box<str>),
    /// The number at the beginning of a field counts.
    Leading,
    /// The first line is a header.
    Header,
    /// The first line is data, not a header.
    NoHeader,
    /// This decimal sign.
    Decimal(char),
    /// This separator of thousands.
    Thousands(char),
    /// The whole record as the key.
    Record,
}

/// The kinds of [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing failed.
    Io {
        /// The file, or `standard input`, `standard output`.
        name: String,
        /// The action: `read`, `write`, …
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The input as a whole is invalid, or cannot be ordered by a single type.
    Input {
        /// The file.
        name: String,
        /// A description of the problem.
        problem: String,
    },
    /// Options contradict each other or the inputs.
    Options {
        /// The option that the message is about.
        option: Option<&'static str>,
        /// A description of the problem.
        problem: String,
    },
    /// The caller cancelled the work.
    Cancelled,
    /// The work cannot be planned: it exceeds a limit, the device lacks a feature, the parameters
    /// contradict each other, or the algorithm has no such variant.
    Plan(PlanError),
    /// A call used a caller's buffers or device wrongly.
    Misuse(misuse::Misuse),
    /// No device matches the request.
    NoDevice {
        /// The requested device.
        wanted: Select,
        /// The adapters found, by number; `None` if this build has no GPU support.
        adapters: Option<Vec<AdapterInfo>>,
    },
    /// The device or its driver failed.
    Device(String),
    /// The machine, a cgroup or a limit leaves too little memory for the work.
    Memory {
        /// A description of the work.
        what: String,
        /// A lower bound of the bytes needed.
        needed: u64,
        /// The available bytes.
        available: u64,
    },
    /// The device has too little memory left.
    NoMemory {
        /// The device.
        device: String,
        /// The purpose of the memory.
        what: String,
        /// Bytes requested.
        bytes: u64,
    },
    /// A verified sort gave a wrong result.
    WrongResult {
        /// The seed that reproduces the input.
        seed: u64,
        /// A description of the problem.
        problem: String,
    },
    /// The output cannot be written at its path.
    Output {
        /// The path.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
}

/// Constructors and tests for the parts of gpusort.
#[doc(hidden)]
impl Error {
    pub fn new(kind: ErrorKind) -> Self {
        Self { kind, about: None, hint: None }
    }

    /// Sets the subject, which precedes the message.
    #[must_use]
    pub fn about(self, what: String) -> Self {
        Self { about: Some(what), ..self }
    }

    /// Removes the remedy.
    #[must_use]
    pub fn unhinted(self) -> Self {
        Self { hint: None, ..self }
    }

    /// Names the input of the error, as `file:line`.
    #[must_use]
    pub fn at(mut self, place: String) -> Self {
        if let ErrorKind::Input { name, .. } = &mut self.kind {
            *name = place;
        }
        self
    }

    /// Sets the remedy.
    #[must_use]
    pub fn hinting(self, hint: Hint) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// Returns an error for an action that failed. An [`Error`] within `source`, such as a cancellation, is returned
    /// unchanged.
    pub fn io(name: impl Into<String>, action: &'static str, source: io::Error) -> Self {
        let wrapped = |source| Self::new(ErrorKind::Io { name: name.into(), action, source });
        source.downcast::<Self>().unwrap_or_else(wrapped)
    }

    /// Returns true if the work needs more than a device has; callers recover from this.
    pub fn is_too_much(&self) -> bool {
        use PlanError::{Lacks, TooSmall};
        self.is_of_size() || matches!(self.kind, ErrorKind::Plan(Lacks { .. } | TooSmall { .. }))
    }

    /// Returns true if a device has too little memory.
    pub fn is_no_memory(&self) -> bool {
        matches!(self.kind, ErrorKind::NoMemory { .. })
    }

    /// Returns true if a smaller sort may succeed.
    pub fn is_of_size(&self) -> bool {
        matches!(self.kind, ErrorKind::Plan(PlanError::TooLarge { .. }) | ErrorKind::NoMemory { .. })
    }

    pub fn lacks(what: &'static str) -> Self {
        PlanError::Lacks { what }.into()
    }

    pub fn limit(what: &'static str, needed: u64, limit: u64) -> Self {
        PlanError::TooLarge { what, needed, limit }.into()
    }

    pub fn input(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input { name: name.into(), problem: problem.into() })
    }

    /// Returns an error for options that contradict each other.
    pub fn options(problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::Options { option: None, problem: problem.into() })
    }

    /// Returns an error for an option that contradicts other options or the inputs.
    pub fn option(option: &'static str, problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::Options { option: Some(option), problem: problem.into() })
    }
}

impl Error {
    /// Returns an error for a failed device or driver.
    #[must_use]
    pub fn device(problem: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Device(problem.to_string()))
    }

    /// Returns the kind of this error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Returns the remedy, if known.
    #[must_use]
    pub fn hint(&self) -> Option<&Hint> {
        self.hint.as_ref()
    }

    /// Returns true if the reader closed our output. This is not a failure.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(&self.kind, ErrorKind::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(what) = &self.about {
            write!(f, "{what}: ")?;
        }
        match &self.kind {
            ErrorKind::Io { name, action, source } => {
                write!(f, "{name}: cannot {action}: {}", human::system(source))
            }
            ErrorKind::Input { name, problem } => write!(f, "{name}: {problem}"),
            ErrorKind::Options { option, problem } => {
                option.map_or(Ok(()), |option| write!(f, "{option} "))?;
                f.write_str(problem)
            }
            ErrorKind::Cancelled => f.write_str("cancelled"),
            ErrorKind::Memory { what, needed, available } => {
                let [needed, available] = [needed, available].map(|&size| human::bytes(size));
                write!(f, "not enough memory: {what} needs {needed}, {available} available")
            }
            ErrorKind::Misuse(misuse) => misuse.fmt(f),
            ErrorKind::Plan(error) => error.fmt(f),
            ErrorKind::NoDevice { wanted, adapters } => {
                match wanted {
                    Select::Hardware => f.write_str("no hardware GPU found"),
                    Select::Any => f.write_str("no GPU found"),
                    Select::Index(index) => write!(f, "no GPU has number {index}"),
                    Select::Name(name) => write!(f, "no GPU has '{}' in its name", human::quoted(name)),
                }?;
                match adapters.as_deref() {
                    None => f.write_str("\nThis build has no GPU support (feature 'gpu')."),
                    Some([]) => f.write_str(
                        "\nInstall your GPU's driver; on Linux also its Vulkan driver and libvulkan1.",
                    ),
                    Some(adapters) => {
                        let numbered = adapters.iter().enumerate();
                        let listed = numbered.map(|(n, it)| format!("{n} {}, {}", it.name, it.kind.name()));
                        write!(f, "\nAvailable: {}.", listed.collect::<Vec<_>>().join("; "))
                    }
                }
            }
            ErrorKind::Device(problem) => write!(f, "the device failed: {}", human::said(problem)),
            ErrorKind::NoMemory { device, what, bytes } => {
                write!(f, "{device}: out of memory: {bytes} bytes needed for {what}")
            }
            ErrorKind::WrongResult { seed, problem } => {
                write!(f, "WRONG RESULT with seed {seed}: {problem}")
            }
            ErrorKind::Output { path, problem } => write!(f, "{}: {problem}", human::path(path)),
        }?;
        match self.hint {
            Some(Hint::StartWith(needed)) => write!(f, "; start the device with {needed}"),
            _ => Ok(()),
        }
    }
}

// The message includes the cause, so `source` would repeat it.
impl std::error::Error for Error {}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        Self::new(ErrorKind::Plan(error))
    }
}

impl From<NoVariant> for Error {
    fn from(none: NoVariant) -> Self {
        PlanError::from(none).into()
    }
}
