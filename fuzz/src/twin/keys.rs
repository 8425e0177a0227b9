//! Which columns `--key` means.

/// Why there is no such column.
#[derive(Clone, Debug, PartialEq)]
pub enum NoColumn {
    /// None was named, and there are several.
    Unnamed,
    /// Nothing has this name or number.
    Missing(String),
    /// Several have this name.
    Ambiguous(String),
    /// It is a key of `sort` that means nothing here.
    OfSort(String),
}

/// No key is the number of a column after this one.
const MOST: usize = 1000;

/// The columns, from 0, and whether each is in descending order: a name of the header, else a
/// number from 1, either with `:r` or `:a` after it. A column that is named again adds nothing.
pub fn resolve(
    keys: &[String],
    descending: bool,
    names: Option<&[Vec<u8>]>,
    width: usize,
) -> Result<Vec<(usize, bool)>, NoColumn> {
    let mut columns: Vec<(usize, bool)> = Vec::new();
    if keys.is_empty() {
        return if width == 1 { Ok(vec![(0, descending)]) } else { Err(NoColumn::Unnamed) };
    }
    for key in keys {
        let (column, descending) = one(key, descending, names, width)?;
        if !columns.iter().any(|&(other, _)| other == column) {
            columns.push((column, descending));
        }
    }
    Ok(columns)
}

fn one(
    key: &str,
    descending: bool,
    names: Option<&[Vec<u8>]>,
    width: usize,
) -> Result<(usize, bool), NoColumn> {
    // All of it may be a name that ends in `:r` itself, and that comes first.
    let mut readings = vec![(key, descending)];
    if let Some(stem) = key.strip_suffix(":r") {
        readings.push((stem, true));
    } else if let Some(stem) = key.strip_suffix(":a") {
        readings.push((stem, false));
    }
    for &(stem, descending) in &readings {
        let mut named = Vec::new();
        for (column, name) in names.unwrap_or_default().iter().enumerate() {
            if name == stem.as_bytes() {
                named.push(column);
            }
        }
        match named[..] {
            [] => {}
            [column] => return Ok((column, descending)),
            _ => return Err(NoColumn::Ambiguous(stem.to_owned())),
        }
    }
    for &(stem, descending) in &readings {
        let digits = stem.strip_prefix('+').unwrap_or(stem);
        let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
        if let Some(column) = (1..=width.min(MOST))
            .find(|column| is_number && digits.trim_start_matches('0') == column.to_string())
        {
            return Ok((column - 1, descending));
        }
    }
    match of_sort(key) {
        Some(None) => return Err(NoColumn::OfSort(key.to_owned())),
        Some(Some((field, letters))) if field <= width => {
            return Ok((field - 1, if letters.is_empty() { descending } else { letters.contains('r') }));
        }
        _ => {}
    }
    Err(NoColumn::Missing(key.to_owned()))
}

/// A field and all letters of a key of `sort`, if it has the form of one, and if that means
/// something here.
fn of_sort(key: &str) -> Option<Option<(usize, String)>> {
    let mut all = String::new();
    let mut ends = Vec::new();
    for position in key.splitn(2, ',') {
        let letters = position.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let numbers = &position[..position.len() - letters.len()];
        let mut parts = numbers.split('.').map(|number| number.parse::<usize>().ok());
        let (field, character) = (parts.next()??, parts.next());
        if character == Some(None)
            || parts.next().is_some()
            || !letters.chars().all(|c| "bdfghiMnRrV".contains(c))
        {
            return None;
        }
        all += letters;
        ends.push((field, character.flatten()));
    }
    let (field, character) = ends[0];
    if field == 0 {
        return None;
    }
    let is_whole = character.is_none_or(|character| character == 1)
        && ends.get(1).is_none_or(|&(last, character)| {
            last >= field && character.is_none_or(|character| character == 0)
        });
    Some((is_whole && !all.chars().any(|c| "dfiMRV".contains(c))).then_some((field, all)))
}
