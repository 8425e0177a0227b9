//! Errors of the library as exceptions of Python, with the argument that helps.

use gpusort::{Error, ErrorKind, Hint, Select};
use gpusort_base::human;
use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyValueError,
};
use pyo3::{PyErr, Python};

/// Converts an error to an exception.
pub(crate) fn exception(error: Error) -> PyErr {
    if let ErrorKind::Io { source, .. } = error.kind()
        && let Some(raised) = source.get_ref().and_then(|cause| cause.downcast_ref::<PyErr>())
    {
        // A file object raised it.
        return Python::attach(|py| raised.clone_ref(py));
    }
    let mut message = format!("{error}{}", remedy(&error).unwrap_or_default());
    if let ErrorKind::Options { option: Some(option), .. } = error.kind() {
        let name = if *option == "no-header" { "header=False".to_owned() } else { option.replace('-', "_") };
        message = message.replacen(option, &name, 1);
    }
    match error.kind() {
        ErrorKind::Io { name, source, .. } => match source.raw_os_error() {
            // Python picks the subclass by the number: FileNotFoundError, PermissionError and so on.
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

/// Returns the text after the message of an error, in terms of arguments.
fn remedy(error: &Error) -> Option<String> {
    if let ErrorKind::NoDevice { wanted, .. } = error.kind() {
        let other = if *wanted == Select::Hardware { "" } else { "device=0 or " };
        return Some(format!(" Use {other}device=\"cpu\"."));
    }
    Some(match error.hint()? {
        Hint::Nan => ", not allowed by nan=\"error\"".to_owned(),
        Hint::Empty => ", not allowed by empty=\"error\"".to_owned(),
        Hint::Sort => "; use sort_file to sort it".to_owned(),
        Hint::Keys(keys) => format!("; use key={keys:?}"),
        // One argument beside another.
        _ => format!("; {}", error.advice_by(&argument)?.replace("\" invalid=", "\" with invalid=")),
    })
}

/// Returns an argument as Python code.
fn argument(option: &str, value: &str) -> String {
    let name = match option {
        "kind" => "type",
        "from" => "from_",
        "numeric" => "numeric_sort",
        "output" => return "a path as the output".to_owned(),
        "no-header" => return "header=False".to_owned(),
        name => name,
    };
    // The advice quotes a delimiter; quotes in other values belong to the value.
    let value = if name == "delimiter" { value.trim_matches('\'') } else { value };
    match value {
        "" if matches!(name, "header" | "leading" | "numeric_sort") => format!("{name}=True"),
        "" => format!("{name}="),
        number if name == "key" && (number == "N" || number.parse::<usize>().is_ok()) => {
            format!("key={number}")
        }
        word if name == "na" => format!("na=[{word:?}]"),
        word => format!("{name}={word:?}"),
    }
}
