//! Fuzz targets: the library beside twins of it that are slow and plain.
//!
//! Each module named like a target makes a case of a fuzzer's bytes, lets the library and the twin
//! work on it, and compares what they say: the same bytes, or a refusal by both. `run.sh` builds
//! and runs them.

pub mod asked;
pub mod choices;
#[cfg(feature = "columns")]
pub mod columns;
pub mod compressed;
pub mod costs;
pub mod csv;
pub mod json;
pub mod keys;
pub mod library;
pub mod npy;
#[path = "../../tests/support/pipeline.rs"]
pub mod pipeline;
pub mod slices;
pub mod streams;
pub mod text;
pub mod twin;

use library::Said;

/// Something that changes what the library said before it is compared: how a test sees that a
/// difference is noticed.
pub type Spoil<'a> = &'a mut dyn FnMut(&mut Said);

/// A target by its name, and what compares the library and the twin on a fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8], Spoil) -> Result<(), String>);

/// All targets.
pub const TARGETS: &[Target] = &[
    ("text", text::compare),
    ("csv", csv::compare),
    ("json", json::compare),
    #[cfg(feature = "columns")]
    ("columns", columns::compare),
    ("npy", npy::compare),
    ("keys", keys::compare),
    ("costs", costs::compare),
    ("slices", slices::compare),
    ("streams", streams::compare),
    ("compressed", compressed::compare),
];

/// Makes this thread the only one that the library has.
///
/// # Panics
///
/// When it has threads already.
pub fn one_thread() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("nobody has made a pool before");
}

/// Ends the process if the library and the twin differ on these bytes.
///
/// # Panics
///
/// Then.
pub fn run(compare: fn(&[u8], Spoil) -> Result<(), String>, bytes: &[u8]) {
    if let Err(difference) = compare(bytes, &mut |_| {}) {
        panic!("{difference}");
    }
}

/// That both said the same; `case` is what they were asked.
pub(crate) fn same<T: std::fmt::Debug>(
    case: &dyn std::fmt::Debug,
    library: &Said,
    twin: &Result<Vec<u8>, T>,
) -> Result<(), String> {
    match (library, twin) {
        (Ok(library), Ok(twin)) if library == twin => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        _ => Err(differ(case, &shown(library), &shown(twin))),
    }
}

pub(crate) fn differ(case: &dyn std::fmt::Debug, library: &str, twin: &str) -> String {
    format!("the library and its twin differ\n   case: {case:?}\nlibrary: {library}\n   twin: {twin}")
}

pub(crate) fn shown<T: std::fmt::Debug>(said: &Result<Vec<u8>, T>) -> String {
    match said {
        Ok(bytes) => format!("\"{}\"", bytes.escape_ascii()),
        Err(refusal) => format!("refuses: {refusal:?}"),
    }
}

/// Inputs as a message shows them.
pub(crate) struct Shown<'a>(pub(crate) &'a [&'a [u8]]);

impl std::fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for input in self.0 {
            write!(f, " \"{}\"", input.escape_ascii())?;
        }
        Ok(())
    }
}
