//! Tables that are read and sorted: `gpusort sort -k`, with all that decides about their rows.

use gpusort::files;
use gpusort_order::Selection;

use crate::asked::{Asked, By, Dialect, Kind};
use crate::choices::{Choices, inputs};
use crate::library;
use crate::pipeline::Ask;
use crate::twin::kinds::are_long;
use crate::twin::table::{self, Counts};
use crate::{Shown, Spoil, differ, same};

/// Bytes of options.
const OPTIONS: usize = 16;

/// # Errors
///
/// How the library and its twin differ.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let (dialect, by, selection) = (choices.dialect(), choices.by(), choices.selection());
    if by.has_units() && are_long(data) {
        return Ok(());
    }
    let inputs = inputs(data, 3);
    let asked = Asked { kind: Kind::Table(dialect), by: by.of(dialect), unique: selection.unique };
    let (by, case) = (&asked.by, (&asked, selection, Shown(&inputs)));

    let options = || asked.options(library::files(&inputs));
    let ask = Ask { first: library::first(selection), ..Ask::default() };
    let sorted = library::sort(options(), ask);
    library::same_in_parts(&case, &options, inputs.len() > 1, ask, &sorted)?;
    let mut library = sorted.clone().map(|sorted| sorted.bytes);
    spoil(&mut library);
    let twin = sort(&inputs, dialect, by, selection);
    same(&case, &library, &twin.clone().map(|twin| twin.bytes))?;
    if let (Ok(sorted), Ok(twin)) = (sorted, twin) {
        let (counted, repeated) = (counts(sorted.counts), sorted.repeated as usize);
        // Repeated records are counted only for -u.
        let repeats = if selection.unique { twin.repeated } else { 0 };
        if (counted, repeated) != (twin.counts, repeats) {
            let [library, twin] = [(counted, repeated), (twin.counts, repeats)].map(|it| format!("{it:?}"));
            return Err(differ(&case, &library, &twin));
        }
    }
    Ok(())
}

/// The library's counts as the twin's.
pub fn counts(counts: files::Counts) -> Counts {
    let files::Counts { nan, empty, invalid, skipped, blank, comments, rounded: _, invalid_fields: _ } =
        counts;
    Counts { nan, empty, invalid, skipped, blank, comments }
}

/// What must come out.
#[derive(Clone, Debug)]
pub struct Sorted {
    pub bytes: Vec<u8>,
    pub counts: Counts,
    /// Rows that have the key of another row before them.
    pub repeated: usize,
}

/// What must come out.
///
/// # Errors
///
/// That it must be refused, and why.
pub fn sort(inputs: &[&[u8]], dialect: Dialect, by: &By, selection: Selection) -> Result<Sorted, String> {
    let table = table::read(inputs, dialect).map_err(|problem| format!("{problem:?}"))?;
    let keyed = table::keyed(table, by, dialect.fields).map_err(|problem| format!("{problem:?}"))?;
    let (bytes, repeated) = keyed.sorted(selection);
    Ok(Sorted { bytes, counts: keyed.counts, repeated })
}
