//! Fuzz targets: properties that every result has, and slow references written from the contract.
//!
//! Each target makes a case from a fuzzer's bytes, calls the library, and compares its answer with
//! another one: the same bytes, or an error from both. `run.sh` builds and runs the targets.

pub mod asked;
pub mod binary;
pub mod bits;
pub mod choices;
#[cfg(feature = "columns")]
pub mod columns;
pub mod compressed;
pub mod costs;
pub mod library;
pub mod npy;
pub mod order;
#[path = "../../tests/support/pipeline.rs"]
pub mod pipeline;
pub mod properties;
pub mod records;
pub mod slices;
pub mod values;
pub mod version;

use library::Said;

/// Changes an answer of the library before the comparison; the self-test plants faults with it.
pub type Spoil<'a> = &'a mut dyn FnMut(&mut Said);

/// The name of a target, and its comparison for a fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8], Spoil) -> Result<(), String>);

/// All targets.
pub const TARGETS: &[Target] = &[
    ("text", properties::text),
    ("csv", properties::csv),
    ("json", properties::json),
    ("order", order::compare),
    ("binary", binary::compare),
    #[cfg(feature = "columns")]
    ("columns", columns::compare),
    ("npy", npy::compare),
    ("costs", costs::compare),
    ("slices", slices::compare),
    ("compressed", compressed::compare),
];

/// Makes this thread the only one that the library has.
///
/// # Panics
///
/// If the global thread pool exists already.
pub fn one_thread() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("nobody has made a pool before");
}

/// Compares the answers for these bytes.
///
/// # Panics
///
/// If they differ, which ends the process.
pub fn run(compare: fn(&[u8], Spoil) -> Result<(), String>, bytes: &[u8]) {
    if let Err(difference) = compare(bytes, &mut |_| {}) {
        panic!("{difference}");
    }
}

/// Compares the library's answer to a case with the reference's.
pub(crate) fn same<T: std::fmt::Debug>(
    case: &dyn std::fmt::Debug,
    library: &Said,
    right: &Result<Vec<u8>, T>,
) -> Result<(), String> {
    match (library, right) {
        (Ok(library), Ok(right)) if library == right => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        _ => Err(differ(case, &shown(library), &shown(right))),
    }
}

pub(crate) fn differ(case: &dyn std::fmt::Debug, library: &str, right: &str) -> String {
    format!("the library is wrong\n   case: {case:?}\nlibrary: {library}\n  right: {right}")
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
