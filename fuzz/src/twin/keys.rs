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
}

/// No key is the number of a column after this one.
const MOST: usize = 1000;

/// The columns, from 0, and whether each is in descending order: a name of the header, else a number from 1, either with
/// `:r` or `:a` after it. A column that is named again adds nothing.
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
    Err(NoColumn::Missing(key.to_owned()))
}
