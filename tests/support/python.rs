//! The oracles in Python: `tests/contract` for the command, `tests/tables` for Parquet and Arrow.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use super::command::BINARY;
use super::{requirements, tier};

/// Runs a script in `tests/`, which must succeed.
pub fn python(script: &str, args: &[&str]) {
    ensure();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = root.join("tests").join(script).into_os_string().into_string().unwrap();
    let output = execute(&[&["-B", script.as_str()], args].concat()).unwrap();
    assert!(output.status.success(), "{script} {args:?}: {}", said(&output));
}

/// Runs a script that compares generated cases of the command, `all` of them or in the quick tier `quick`.
pub fn generated(script: &str, all: usize, quick: usize) {
    let (cases, seed) = (tier::count(all, quick).to_string(), tier::seed().to_string());
    python(script, &[BINARY, "--cases", &cases, "--seed", &seed]);
}

/// Fails, with the remedy, where there is no Python with what its requirements name.
pub fn ensure() {
    static LACKS: OnceLock<Option<String>> = OnceLock::new();
    let lacks = LACKS.get_or_init(|| match execute(&["-c", "import duckdb, polars, pyarrow"]) {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(said(&output).trim().lines().last().unwrap_or("it failed").to_owned()),
        Err(error) => Some(error.to_string()),
    });
    if let Some(why) = lacks {
        let why = format!("{}: {why}", interpreter().display());
        requirements::lacks(
            "Python with what tests/tables/requirements.txt names",
            &why,
            "GPUSORT_PYTHON names a Python that has it",
        );
    }
}

fn interpreter() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/oracle/bin/python");
    std::env::var_os("GPUSORT_PYTHON").map_or(own, PathBuf::from)
}

fn execute(args: &[&str]) -> std::io::Result<Output> {
    Command::new(interpreter()).args(args).stdin(Stdio::null()).output()
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said).into_owned()).concat()
}
