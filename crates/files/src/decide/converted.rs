//! Decides the types of columns for a conversion into another format.

use super::look::Look;
use gpusort_base::error::{Error, Hint};
use gpusort_base::format::Format;
use gpusort_formats::arrow::from_text::TextColumns;
use gpusort_formats::fields::{Dialect, Header};
use gpusort_formats::spelling::Spelling;

/// Decides the types of all columns by the sample, for a conversion from one format to another.
///
/// # Errors
///
/// I/O errors; a name or a value that no column can have.
pub(super) fn columns(
    look: &Look,
    (dialect, header): (Dialect, &Header),
    spelling: &Spelling,
    (from, to): (Format, Format),
) -> Result<TextColumns, Error> {
    let name = || look.first().map_or_else(String::new, |text| text.parts[0].name.clone());
    let columns = TextColumns::new(dialect, spelling, to, header);
    let mut columns = columns.map_err(|problem| Error::input(name(), problem))?;
    look.for_each(dialect, &mut |text, bodies, base, is_tail| {
        for (body, _) in bodies {
            let before = is_tail.then(|| columns.clone());
            match (columns.add(&text.bytes[body.start..=body.end]), before) {
                (Ok(()), _) => {}
                // Quotes may mislead about the beginning of a row in the middle of a file.
                (Err(_), Some(before)) => columns = before,
                (Err((row, problem)), None) => {
                    let place = look.place(base + (body.start + row) as u64)?;
                    return Err(Error::input(place, problem).hinting(Hint::To(from)));
                }
            }
        }
        Ok(())
    })?;
    columns.settle();
    Ok(columns)
}
