//! Which columns `--key` means, and in which direction: seen by how rows are ordered.
//!
//! Below the header stand all rows of as many bits as there are columns, in a fixed disorder, so
//! that each list of columns and directions makes an order of its own.

use gpusort::Hint;
use gpusort_order::{KeyOrder, Selection};

use crate::asked::{Asked, By, Dialect, Fields, Kind};
use crate::choices::{BETWEEN, Choices};
use crate::compressed::is_utf_16;
use crate::library::{self, Refusal, files};
use crate::twin::keys::NoColumn;
use crate::twin::table::{self, Refused};
use crate::{Spoil, differ, same, shown};

/// Bytes of options.
const OPTIONS: usize = 4;

/// Columns, at most: the rows are all combinations of their bits.
const MOST: usize = 5;

/// # Errors
///
/// How the library and its twin differ.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let delimiter = choices.of(b",,,;\t| x");
    let (has_header, descending, columns) =
        (choices.below(4) > 0, choices.below(2) == 1, choices.below(MOST) + 1);
    let mut parts = data.splitn(6, |&byte| byte == BETWEEN);
    let header = parts.next().unwrap_or_default();
    let keys: Vec<String> = parts.map(|key| String::from_utf8_lossy(key).into_owned()).collect();

    let header_rows = usize::from(has_header);
    let dialect = Dialect { fields: Fields::Quoted(delimiter), header: header_rows, comments: false };
    let mut table = Vec::new();
    let names = if has_header {
        table = [header, b"\n"].concat();
        // A header of one row, with nothing in it that is decided elsewhere.
        match table::read(&[&table], dialect).map(|table| (table.header, table.rows.len(), table.blank)) {
            Ok((Some(header), 0, 0)) if !header.rows[0].raw.contains(&b'\r') => Some(header.names().to_vec()),
            _ => return Ok(()),
        }
    } else {
        None
    };
    let columns = names.as_ref().map_or(columns, Vec::len);
    if columns > MOST || delimiter == b'1' || is_utf_16(&table) {
        return Ok(());
    }
    let count = 1 << columns;
    // Odd, so that each number comes once.
    let rows: Vec<usize> = (0..count).map(|number| (number * 13 + 5) % count).collect();
    for row in &rows {
        for column in 0..columns {
            if column > 0 {
                table.push(delimiter);
            }
            table.push(b'0' + (row >> column & 1) as u8);
        }
        table.push(b'\n');
    }

    let by = By { columns: keys, order: KeyOrder { descending, ..KeyOrder::default() }, ..By::default() };
    let asked = Asked { kind: Kind::Table(dialect), by: by.of_tables(), unique: false };
    let case = (&asked, String::from_utf8_lossy(header).into_owned());
    let mut library = library::argsort(asked.options(files(&[&table])));
    spoil(&mut library);
    let read = table::read(&[&table], dialect).map_err(|problem| format!("{problem:?}"));
    let twin = match read.map(|table| table::keyed(table, &asked.by, dialect.fields)) {
        Ok(Ok(keyed)) => {
            let positions = keyed.positions(Selection::ALL);
            Ok(positions.iter().map(|at| format!("{at}\n")).collect::<String>().into_bytes())
        }
        Ok(Err(refused)) => Err(refused),
        Err(problem) => return Err(differ(&case, &shown(&library), &problem)),
    };
    same(&case, &library, &twin)?;
    if let (Err(refusal), Err(Refused::Key(no_column))) = (&library, &twin)
        && !says(refusal, no_column)
    {
        return Err(differ(&case, &shown(&library), &shown(&twin)));
    }
    Ok(())
}

/// Whether the message and the hint are the right ones.
fn says(refusal: &Refusal, no_column: &NoColumn) -> bool {
    let said = &refusal.message;
    // Others are shown escaped or cut.
    let is_plain = |name: &str| name.len() < 20 && name.chars().all(|c| c.is_ascii_graphic() && c != '\\');
    let names = |name: &str| !is_plain(name) || said.contains(&format!("'{name}'"));
    match no_column {
        NoColumn::Unnamed => {
            said.contains("choose a key column") && matches!(refusal.hint, Some(Hint::Column(_)))
        }
        NoColumn::Missing(name) => {
            (said.contains("no column '") || said.contains("unknown modifier '")) && names(name)
        }
        NoColumn::OfSort(name) => said.contains("key '") && names(name),
        NoColumn::Ambiguous(name) => {
            let is_hinted = matches!(refusal.hint, Some(Hint::ColumnNumber(..)));
            said.contains("are both named '") && names(name) && is_hinted
        }
    }
}
