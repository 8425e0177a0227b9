//! Which columns `--key` means, and what it says of them.

use gpusort::files::Kind;
use gpusort_order::{KeyOrder, Nulls, Reading, TextForm, TextOrder};

use crate::asked::{By, reading};

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

/// A column and the order of its fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// From 0; none is the whole line.
    pub column: Option<usize>,
    pub order: KeyOrder,
    /// Whether it is a key of `sort`, which has fields of its own.
    pub is_of_sort: bool,
}

/// No key is the number of a column after this one.
const MOST: usize = 1000;

/// What modifiers say.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    descending: Option<bool>,
    kind: Option<Kind>,
    nocase: bool,
}

/// The columns: a name of the header, else a number from 1, with modifiers after it. A column that
/// is named again as the same adds nothing.
pub fn resolve(by: &By, names: Option<&[Vec<u8>]>, width: usize) -> Result<Vec<Found>, NoColumn> {
    let only = ["1".to_owned()];
    let keys = match &by.columns[..] {
        [] if width == 1 => &only[..],
        [] => return Err(NoColumn::Unnamed),
        keys => keys,
    };
    let mut columns: Vec<Found> = Vec::new();
    for key in keys {
        // Without a key there is no name to look for.
        let names = names.filter(|_| !by.columns.is_empty());
        let found = one(key, by, names, width)?;
        let is_same = |other: &Found| {
            let what = |it: &Found| (it.column, it.is_of_sort, it.order.reading);
            what(other) == what(&found)
        };
        if !columns.iter().any(is_same) {
            columns.push(found);
        }
    }
    Ok(columns)
}

fn one(key: &str, by: &By, names: Option<&[Vec<u8>]>, width: usize) -> Result<Found, NoColumn> {
    // All of it may be a name that ends in `:r` itself, and that comes first.
    let mut readings = vec![(key, Said::default())];
    while let Some((stem, said)) = without_modifier(readings[readings.len() - 1]) {
        readings.push((stem, said));
    }
    for &(stem, said) in &readings {
        let mut named = Vec::new();
        for (column, name) in names.unwrap_or_default().iter().enumerate() {
            if name == stem.as_bytes() {
                named.push(column);
            }
        }
        match named[..] {
            [] => {}
            [column] => return Ok(of_column(Some(column), said, by)),
            _ => return Err(NoColumn::Ambiguous(stem.to_owned())),
        }
    }
    for &(stem, said) in &readings {
        let digits = stem.strip_prefix('+').unwrap_or(stem);
        let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
        if is_number && digits.chars().all(|digit| digit == '0') {
            return Ok(of_column(None, said, by));
        }
        let number = digits.trim_start_matches('0');
        if let Some(column) = (1..=width.min(MOST)).find(|column| is_number && number == column.to_string()) {
            return Ok(of_column(Some(column - 1), said, by));
        }
        match of_sort(stem) {
            Some(None) => return Err(NoColumn::OfSort(key.to_owned())),
            Some(Some((field, letters))) if !is_number && field <= width => {
                return Ok(of_field(field - 1, &letters, said, by));
            }
            _ => {}
        }
    }
    Err(NoColumn::Missing(key.to_owned()))
}

/// What is before the last modifier, and what is said then: of what is said twice the last counts.
fn without_modifier((key, mut said): (&str, Said)) -> Option<(&str, Said)> {
    let (stem, modifier) = key.rsplit_once(':')?;
    let kind = match modifier {
        "r" | "a" => {
            said.descending = said.descending.or(Some(modifier == "r"));
            return Some((stem, said));
        }
        "nocase" => {
            said.nocase = true;
            return Some((stem, said));
        }
        "number" => Kind::Number,
        "time" => Kind::Time,
        "size" => Kind::Size,
        "duration" => Kind::Duration,
        "text" => Kind::Text,
        "version" => Kind::Version,
        "hex" => Kind::Hex,
        _ => return None,
    };
    said.kind = said.kind.or(Some(kind));
    Some((stem, said))
}

fn is_text(reading: Reading) -> bool {
    matches!(reading, Reading::Text(_))
}

/// A column of which modifiers say this.
fn of_column(column: Option<usize>, said: Said, by: &By) -> Found {
    let nocase = said.nocase || by.order.nocase;
    let text = Reading::Text(TextForm { order: TextOrder::Bytes, nocase });
    let of_all = match by.order.reading {
        // The whole line is text.
        Reading::Any if column.is_none() => text,
        of_all => of_all,
    };
    let reading = match said.kind {
        Some(kind) => reading(kind, nocase),
        None if said.nocase => text,
        None => of_all,
    };
    let descending = said.descending.unwrap_or(by.order.descending);
    let leading = by.order.leading && !is_text(reading);
    Found { column, order: KeyOrder { descending, reading, leading, ..by.order }, is_of_sort: false }
}

/// A field of a key of `sort`: letters of its own make that no global one counts.
fn of_field(column: usize, letters: &str, said: Said, by: &By) -> Found {
    let has = |letter: char| letters.contains(letter);
    let nocase = said.nocase || has('f') || by.order.nocase && letters.is_empty();
    let text = Reading::Text(TextForm { order: TextOrder::Bytes, nocase });
    let reading = match said.kind {
        Some(kind) => reading(kind, nocase),
        None if said.nocase => text,
        None if has('n') || has('g') => Reading::Numbers,
        None if has('h') => Reading::Sizes,
        None if has('V') => reading(Kind::Version, nocase),
        None if letters.is_empty() && by.order.reading != Reading::Any => by.order.reading,
        None => text,
    };
    let descending = if letters.is_empty() { by.order.descending } else { has('r') };
    let descending = said.descending.unwrap_or(descending);
    let empty = match by.said.empty {
        false if is_text(reading) => {
            if descending {
                Nulls::Last
            } else {
                Nulls::First
            }
        }
        _ => by.order.empty,
    };
    let leading = by.order.leading && !is_text(reading);
    let order = KeyOrder { descending, reading, empty, leading, ..by.order };
    Found { column: Some(column), order, is_of_sort: true }
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
    let is_number = all.contains(['n', 'g', 'h']);
    let ends_there = match ends.get(1) {
        // Without an end it is all of the line from there, of which a number is the beginning.
        None => is_number || character.is_none() && all.is_empty(),
        Some(&(last, character)) => {
            (last == field || last > field && is_number) && character.is_none_or(|character| character == 0)
        }
    };
    let orders = ["n", "g", "h", "V"].into_iter().filter(|&order| all.contains(order)).count();
    let is_known = !all.contains(['d', 'i', 'M', 'R']) && orders < 2;
    let means_something = ends_there && is_known && character.is_none_or(|character| character == 1);
    Some(means_something.then_some((field, all)))
}
