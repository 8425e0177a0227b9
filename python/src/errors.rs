//! Errors of the library as exceptions of Python, with the argument that helps.

use gpusort::{Error, ErrorKind, Hint, Select};
use gpusort_base::human;
use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyValueError,
};
use pyo3::{PyErr, Python};

/// The exception for an error.
pub(crate) fn exception(error: &Error) -> PyErr {
    if let ErrorKind::Io { source, .. } = error.kind()
        && let Some(raised) = source.get_ref().and_then(|cause| cause.downcast_ref::<PyErr>())
    {
        // A file object raised it.
        return Python::attach(|py| raised.clone_ref(py));
    }
    let message = format!("{error}{}", remedy(error).unwrap_or_default());
    match error.kind() {
        ErrorKind::Io { name, source, .. } => match source.raw_os_error() {
            // So it becomes FileNotFoundError, PermissionError and so on.
            Some(number) => PyOSError::new_err((number, human::system(source), name.clone())),
            None => PyOSError::new_err(message),
        },
        ErrorKind::Output { .. } => PyOSError::new_err(message),
        ErrorKind::Memory { .. } | ErrorKind::NoMemory { .. } => PyMemoryError::new_err(message),
        ErrorKind::Plan(_) => PyOverflowError::new_err(message),
        ErrorKind::NoDevice { .. } | ErrorKind::Device(_) => PyRuntimeError::new_err(message),
        ErrorKind::Cancelled => PyKeyboardInterrupt::new_err(()),
        _ => PyValueError::new_err(message),
    }
}

/// The text after the message of an error, in terms of arguments.
fn remedy(error: &Error) -> Option<String> {
    if let ErrorKind::NoDevice { wanted, .. } = error.kind() {
        let other = if *wanted == Select::Hardware { "" } else { "device=0 or " };
        return Some(format!(" Use {other}device=\"cpu\"."));
    }
    let is_token = matches!(error.kind(), ErrorKind::Token { .. });
    let fixed = match error.hint()? {
        Hint::Rounding => "; use type=\"f64\" to round",
        Hint::Type => "; set the type with type=",
        Hint::Format(format) if format.is_table() => "; use from_=\"csv\" for tables",
        Hint::Format(format) => return Some(format!("; use from_=\"{}\"", format.name())),
        Hint::Nan if is_token => " by nan=\"error\"",
        Hint::Nan => ", not allowed by nan=\"error\"",
        Hint::Empty => ", not allowed by empty=\"error\"",
        Hint::FirstLine => "; use header=True if line 1 is a header, or invalid=\"last\"",
        Hint::Invalid => "; use invalid=\"last\", \"first\" or \"skip\" for such rows",
        Hint::Leading => "; use leading=True for the number that it begins with, or invalid=\"last\"",
        Hint::Thousands => "; use thousands=\",\" if the commas separate thousands",
        Hint::DecimalComma => "; use decimal=\",\" if it is a decimal comma",
        Hint::TimeFormat => "; use time_format= if it is a time, as in time_format=\"%d/%m/%Y\"",
        Hint::Comments => "; use comments=True for # lines at the top, or invalid=\"last\"",
        Hint::Marks => "; change delimiter=, decimal= or thousands=",
        Hint::Header => "; use header=True for names from the first line, or from_=\"csv\" for a table",
        Hint::Several => "; use from_=\"lines\" to sort lines, or from_=\"text\" to sort every number",
        Hint::Lines => "; use type=\"text\" to sort lines as text, or invalid=\"last\"",
        Hint::Sort => "; use sort_file to sort it",
        Hint::FormatOfAll | Hint::EachFile => "; name one format with from_=, or sort each file by itself",
        Hint::TypeOfAll => "; if both have one type, name it with type=",
        Hint::NumbersOfLines => "; use from_=\"text\" to sort every number in them",
        Hint::ToNumbers => "; use to=\"text\", \"bin\" or \"npy\"",
        Hint::ToBinary => "; use to=\"bin\"",
        Hint::Memory => "; raise memory=",
        Hint::Build => "; build it with the feature arrow",
        Hint::Path => "; paths are written as user.id, tags[0] or [\"a.b\"].c",
        other => return with_values(other),
    };
    Some(fixed.to_owned())
}

/// The same for remedies that depend on the input.
fn with_values(hint: &Hint) -> Option<String> {
    Some(match hint {
        Hint::Text(column) => {
            format!("; use key={:?} to sort the whole column as text", format!("{column}:text"))
        }
        Hint::Words(column) => {
            let key = format!("{column}:text");
            format!("; use key={key:?} to sort the whole column as text, or invalid=\"last\"")
        }
        Hint::Kind(column) => format!("; use key={column:?} instead of leading=True"),
        Hint::Column(example) => format!("; for example key={example:?}"),
        Hint::ColumnNumber(one, other) => format!("; use key=\"{one}\" or key=\"{other}\""),
        Hint::Na(word) => format!("; use na=[{word:?}] to count it as empty"),
        Hint::Delimiter(separator) => {
            format!("; if {separator:?} separates fields, use delimiter={separator:?}")
        }
        Hint::Keys(keys) => format!("; use key={keys:?}"),
        Hint::OtherType(asked) => format!(", but type is {asked}"),
        Hint::Promised { promised, element } => {
            format!("; use an output name that ends in .{element}, not .{promised}")
        }
        Hint::To(format) => format!("; write them as {}", format.name()),
        _ => return None,
    })
}
