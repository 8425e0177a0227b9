//! Errors, described so that users know what to do.

mod advice;
#[cfg(feature = "gpu")]
pub(crate) mod misuse;

use std::fmt;
use std::io;
use std::path::PathBuf;

use gpusort_planner::key::ElementType;
use gpusort_planner::{Error as PlanError, NoVariant};

use crate::device::{AdapterInfo, Select};
use crate::format::Format;
use crate::human;

/// An error of this library.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    /// The subject, where the kind does not include it.
    about: Option<String>,
    hint: Option<Hint>,
}

/// A remedy for an error. The message does not name it: [`Error::advice`] does in terms of this
/// library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// Reading the numbers as f64, rounded.
    Rounding,
    /// Specifying the type.
    Type,
    /// Reading the input in this format.
    Format(Format),
    /// Another place for NaN: the order makes it an error.
    Nan,
    /// Another place for empty fields: the order makes them an error.
    Empty,
    /// A place for invalid fields, or leaving them out: the order makes them an error.
    Invalid,
    /// The same, or saying that this column is text.
    Words(Box<str>),
    /// The same, or taking the first line, which it is in, for a header.
    FirstLine,
    /// Reading the number that a field begins with.
    Leading,
    /// Commas that separate thousands.
    Thousands,
    /// A decimal comma.
    DecimalComma,
    /// Counting fields of this word as empty.
    Na(Box<str>),
    /// Saying how times are written.
    TimeFormat,
    /// Saying that this column is text.
    Text(Box<str>),
    /// Ordering by this key, which says a kind, and not by the numbers that fields begin with.
    Kind(Box<str>),
    /// Keeping comments on top, or a place for them as for other invalid fields.
    Comments,
    /// Specifying a column, such as this one.
    Column(Box<str>),
    /// Specifying a column by its number: these have one name.
    ColumnNumber(usize, usize),
    /// Separating fields by this character.
    Delimiter(char),
    /// What separates fields, or what is in numbers, is to be another character.
    Marks,
    /// Taking the first line for a header.
    Header,
    /// Reading lines, and ordering them by one of their fields.
    Lines,
    /// Saying whether these are lines, or text with any numbers on a line.
    Several,
    /// Sorting the input instead of merging it.
    Sort,
    /// Having this command, in which FILE is the input, make text of it.
    Through(&'static str),
    /// Ordering by these keys.
    Keys(Box<[String]>),
    /// Writing paths to values of JSON as they are.
    Path,
    /// A build with the feature `arrow`.
    Build,
    /// There is no such column, nor one like it.
    NoColumn,
    /// Leaving out a blank line where the header should be.
    BlankHeader,
    /// Reading the input as a table, which this format is not.
    Table(Format),
    /// Saying which format all inputs have.
    FormatOfAll,
    /// Sorting each input by itself: no format is that of all.
    EachFile,
    /// Saying which type all inputs have.
    TypeOfAll,
    /// Reading as the type that is there, since this other one was asked for.
    OtherType(ElementType),
    /// Reading the type that the output's name promises, or writing another one there all the same.
    Promised {
        /// The type that the name promises.
        promised: ElementType,
        /// That of the data.
        element: ElementType,
    },
    /// Sorting the numbers in lines.
    NumbersOfLines,
    /// Writing text, binary or .npy.
    ToNumbers,
    /// Writing this format.
    To(Format),
    /// Writing binary.
    ToBinary,
    /// Replacing the output once all is complete.
    Replace,
    /// Allowing more memory.
    Memory,
    /// Starting the caller's device with this limit or feature, which the message names, since only
    /// a program can request it.
    StartWith(&'static str),
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
    /// A token of the input is not as expected.
    Token {
        /// `file:line:column`, both counted from 1, the column in bytes.
        place: String,
        /// The token, made printable and cut if it is long.
        token: String,
        /// The expected form.
        expected: String,
    },
    /// The input as a whole has no order in a single type, or not the expected form.
    Input {
        /// The file.
        name: String,
        /// A description of the problem.
        problem: String,
    },
    /// Options that do not go together, or not with the inputs.
    Options {
        /// The option, if it is one.
        option: Option<&'static str>,
        /// A description of the problem.
        problem: String,
    },
    /// The caller has ended the work.
    Cancelled,
    /// The work cannot be planned: it exceeds a limit, the device lacks or has too little of
    /// something, parts do not go together, or the algorithm has no such variant.
    Plan(PlanError),
    /// A sort of a caller's buffers was asked for in a way that cannot be.
    #[cfg(feature = "gpu")]
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
        /// The work.
        what: String,
        /// Bytes needed, at least.
        needed: u64,
        /// Bytes that are available.
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
    /// A sort was verified and is wrong.
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

impl Error {
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self { kind, about: None, hint: None }
    }

    /// The same error, preceded by its subject.
    pub(crate) fn about(self, what: String) -> Self {
        Self { about: Some(what), ..self }
    }

    /// The same error, with a remedy.
    pub(crate) fn hinting(self, hint: Hint) -> Self {
        Self { hint: Some(hint), ..self }
    }

    #[cfg(feature = "files")]
    pub(crate) fn io(name: impl Into<String>, action: &'static str, source: io::Error) -> Self {
        if source.get_ref().and_then(|cause| cause.downcast_ref::<crate::cancel::Cancelled>()).is_some() {
            return Self::new(ErrorKind::Cancelled);
        }
        Self::new(ErrorKind::Io { name: name.into(), action, source })
    }

    /// Whether it is that the work needs more than a device has, which is no failure.
    pub(crate) fn is_too_much(&self) -> bool {
        use PlanError::{Lacks, TooSmall};
        self.is_of_size() || matches!(self.kind, ErrorKind::Plan(Lacks { .. } | TooSmall { .. }))
    }

    /// Whether a device has too little memory.
    pub(crate) fn is_no_memory(&self) -> bool {
        matches!(self.kind, ErrorKind::NoMemory { .. })
    }

    /// Whether less work may be done where this is too much.
    pub(crate) fn is_of_size(&self) -> bool {
        matches!(self.kind, ErrorKind::Plan(PlanError::TooLarge { .. }) | ErrorKind::NoMemory { .. })
    }

    pub(crate) fn lacks(what: &'static str) -> Self {
        PlanError::Lacks { what }.into()
    }

    pub(crate) fn limit(what: &'static str, needed: u64, limit: u64) -> Self {
        PlanError::TooLarge { what, needed, limit }.into()
    }

    pub(crate) fn input(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input { name: name.into(), problem: problem.into() })
    }

    /// Options that do not go together.
    pub(crate) fn options(problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::Options { option: None, problem: problem.into() })
    }

    /// An option that does not go with the others, or not with the inputs.
    pub(crate) fn option(option: &'static str, problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::Options { option: Some(option), problem: problem.into() })
    }

    /// A failure of a device or its driver.
    #[must_use]
    pub fn device(problem: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Device(problem.to_string()))
    }

    /// The kind of this error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The remedy, where known.
    #[must_use]
    pub fn hint(&self) -> Option<&Hint> {
        self.hint.as_ref()
    }

    /// Whether the reader of our output has closed it, which is no failure.
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
            ErrorKind::Token { place, token, expected } => write!(f, "{place}: '{token}' is not {expected}"),
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
            #[cfg(feature = "gpu")]
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
                        "\nInstall your GPU's driver; on Linux also its Vulkan part and libvulkan1.",
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

// The message includes the cause, so there is no `source` to repeat it.
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
