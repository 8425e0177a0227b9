//! Keys in the user's syntax: a column, a kind and a direction.
//!
//! ```text
//! price          the column price
//! price:text:r   the column price:text:r; otherwise the column price:text, descending; otherwise
//!                the column price as text, descending
//! 2:r            the column 2:r; otherwise the column 2, descending; otherwise the second column, descending
//! 0              the whole line
//! -1             the last field
//! 2,2nr          a key of `sort`: the second field as a number, descending
//! hilbert(x,y)   the points of the columns x and y
//! ```

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use gpusort_order::key::ElementType;
use gpusort_values::names::Names;

use crate::error::Error;
use crate::human::{self, quoted};
use crate::order::{KeyOrder, Reading, TextOrder};
use crate::spelling::Spelling;

/// The kind of a key's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Numbers.
    Number,
    /// Times.
    Time,
    /// Sizes: numbers with units.
    Size,
    /// Durations: `12ms`, `1h2m3s`, `0:01:23`; a number without a unit is in seconds.
    Duration,
    /// Text, compared by its bytes.
    Text,
    /// Text with numbers inside, in the order of `sort -V`: `v1.9` before `v1.10`.
    Version,
    /// Hexadecimal numbers of any length, with or without `0x`.
    Hex,
    /// Names of months, short or long, in any case.
    Month,
    /// Names in the order of a list: see [`Key::list`].
    List,
}

impl Kind {
    /// The kinds with a name. [`Kind::List`] has no name of its own: its modifier names a file.
    pub const ALL: [(&'static str, Self); 8] = [
        ("number", Self::Number),
        ("time", Self::Time),
        ("size", Self::Size),
        ("duration", Self::Duration),
        ("text", Self::Text),
        ("version", Self::Version),
        ("hex", Self::Hex),
        ("month", Self::Month),
    ];

    /// The reading of fields of this kind.
    #[doc(hidden)]
    pub fn reading(self) -> Reading {
        match self {
            Self::Number => Reading::Numbers,
            Self::Time => Reading::Times,
            Self::Size => Reading::Sizes,
            Self::Duration => Reading::Durations,
            Self::Text => Reading::Text(TextOrder::Bytes),
            Self::Version => Reading::Text(TextOrder::Version),
            Self::Hex => Reading::Text(TextOrder::Hex),
            Self::Month => Reading::Text(TextOrder::Month),
            Self::List => Reading::Text(TextOrder::List),
        }
    }
}

/// A key of tables and lines: a column and its modifiers.
///
/// ```
/// use gpusort::files::{Key, Kind};
///
/// let keys = [Key::column("name").kind(Kind::Text), Key::column("price").descending(), Key::number(2)];
/// assert_eq!("price:r".parse(), Ok::<_, std::convert::Infallible>(Key::parse("price:r")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key as the user wrote it, for messages.
    pub(super) said: String,
    /// The possible meanings; the first one whose column exists applies.
    pub(super) readings: Vec<KeyMeaning>,
    /// The file with the names of [`Kind::List`], and these names once they are read.
    list: Option<PathBuf>,
    pub(super) names: Option<Arc<Names>>,
    /// True if the key stays although an earlier key has the same column.
    pub(super) is_apart: bool,
}

/// The axis of a column of points. The two columns of a key `hilbert(x,y)` follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The first column.
    First,
    /// The second column.
    Second,
}

/// A possible meaning of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyMeaning {
    pub(super) column: ColumnRef,
    pub(super) said: Modifiers,
}

/// The modifiers of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Modifiers {
    /// The key's own direction.
    pub(super) descending: Option<bool>,
    pub(super) kind: Option<Kind>,
    /// For points: the axis of this column.
    pub(super) axis: Option<Axis>,
    /// True if ASCII case is ignored.
    pub(super) nocase: bool,
    /// True for a key in the syntax of `sort`.
    pub(super) is_of_sort: bool,
    /// True if the key has letters of `sort`, so that global letters do not apply.
    pub(super) has_letters: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ColumnRef {
    Name(String),
    /// A number from 1; 0 is the whole line.
    Number(usize),
    /// The last field.
    Last,
    /// An invalid key, with the reason.
    Refused(String),
}

impl Modifiers {
    /// Adds a modifier by its name. Later modifiers, already present, take precedence.
    fn with(mut self, name: &str) -> Option<Self> {
        match name {
            "r" => self.descending = self.descending.or(Some(true)),
            "a" => self.descending = self.descending.or(Some(false)),
            "nocase" => self.nocase = true,
            name => {
                let (_, kind) = Kind::ALL.into_iter().find(|(other, _)| *other == name)?;
                if self.kind.replace(kind).is_some() {
                    return None;
                }
            }
        }
        Some(self)
    }

    /// These modifiers, and further ones of `sort`.
    fn beside(self, of_sort: Self) -> Self {
        Self {
            descending: self.descending.or(of_sort.descending),
            kind: self.kind.or(of_sort.kind),
            nocase: self.nocase || of_sort.nocase,
            ..of_sort
        }
    }

    /// The order of a key with these modifiers and the global options. A key with letters of `sort`
    /// takes no global option.
    pub(super) fn order(self, by: &KeySpec) -> KeyOrder {
        let descending = self.descending.unwrap_or(by.order.descending);
        let nocase = self.nocase || by.order.nocase && !self.has_letters;
        let reading = match self.kind {
            Some(kind) => kind.reading(),
            None if self.has_letters => Reading::Any,
            None => by.order.reading,
        };
        KeyOrder { descending, reading, nocase, ..by.order }
    }
}

impl Key {
    fn new(said: String, columns: impl IntoIterator<Item = ColumnRef>) -> Self {
        let reading = |column| KeyMeaning { column, said: Modifiers::default() };
        let readings = columns.into_iter().map(reading).collect();
        Self { said, readings, list: None, names: None, is_apart: false }
    }

    /// The column with exactly this name. If the column is missing and the name is a number, the
    /// column with this number, from 1.
    pub fn column(name: impl Into<String>) -> Self {
        let name = name.into();
        let number = name.parse().ok().map(ColumnRef::Number);
        Self::new(name.clone(), [ColumnRef::Name(name)].into_iter().chain(number))
    }

    /// The column, or the field of lines, with this number, from 1. A sort by 0 is an error.
    pub fn number(number: usize) -> Self {
        let column = match number {
            0 => ColumnRef::Refused(
                "columns are numbered from 1; use Key::record() for the whole record".to_owned(),
            ),
            _ => ColumnRef::Number(number),
        };
        Self::new(number.to_string(), [column])
    }

    /// The whole record. Lines are text unless [`Key::kind`] sets another kind.
    pub fn record() -> Self {
        Self::new("0".to_owned(), [ColumnRef::Number(0)])
    }

    /// Sorts the largest first, regardless of the global direction.
    #[must_use]
    pub fn descending(self) -> Self {
        self.said(|said| said.descending = Some(true))
    }

    /// Sorts the smallest first, regardless of the global direction.
    #[must_use]
    pub fn ascending(self) -> Self {
        self.said(|said| said.descending = Some(false))
    }

    /// Sets the kind of the fields. By default fields are read as numbers, times or text, whichever fits.
    #[must_use]
    pub fn kind(self, kind: Kind) -> Self {
        self.said(|said| said.kind = Some(kind))
    }

    /// Reads the fields as text, and ignores ASCII case.
    #[must_use]
    pub fn ignore_case(self) -> Self {
        self.said(|said| said.nocase = true)
    }

    /// Orders the fields as the names in this file: the first field of each of its lines. Other fields come last, by
    /// their bytes.
    #[must_use]
    pub fn list(self, file: impl Into<PathBuf>) -> Self {
        Self { list: Some(file.into()), ..self.kind(Kind::List) }
    }

    /// Points with these coordinates, in the order of a Hilbert curve, so that points near each other come near each
    /// other. Both are columns of numbers, by name, or by number from 1. The key takes no kind.
    pub fn hilbert(x: &str, y: &str) -> Self {
        let column = |column: &str, axis| {
            let said = Modifiers { axis: Some(axis), kind: Some(Kind::Number), ..Modifiers::default() };
            let readings = Self::column(column).said(|own| *own = said).readings.into_iter();
            readings.filter(|reading| reading.column != ColumnRef::Number(0))
        };
        let readings = column(x, Axis::First).chain(column(y, Axis::Second)).collect();
        Self { readings, ..Self::new(format!("hilbert({x},{y})"), []) }
    }

    fn said(mut self, say: impl Fn(&mut Modifiers)) -> Self {
        self.readings.iter_mut().for_each(|reading| say(&mut reading.said));
        self
    }

    /// Parses a key in the syntax of `gpusort sort -k`. A name has precedence: the whole text, then
    /// the text without its last modifier (such as `:r`), without its last two, and so on.
    /// Otherwise the key is a number, or a key of `sort`, such as `2,2nr`.
    pub fn parse(said: &str) -> Self {
        let Some((column, list)) = said.split_once(":list=") else {
            let key = Self::parse_with(said, Modifiers::default());
            return key.points().unwrap_or(key);
        };
        // The modifiers behind the name of the file.
        let (mut file, mut modifiers) = (list, Modifiers { kind: Some(Kind::List), ..Modifiers::default() });
        while let Some((rest, name)) = file.rsplit_once(':')
            && let Some(more) = modifiers.with(name)
        {
            (file, modifiers) = (rest, more);
        }
        let mut key = Self::parse_with(column, modifiers);
        let column = ColumnRef::Name(said.to_owned());
        key.readings.insert(0, KeyMeaning { column, said: Modifiers::default() });
        Self { said: said.to_owned(), list: Some(file.into()), ..key }
    }

    /// Parses a key without a list. `beside` are the modifiers behind it.
    fn parse_with(said: &str, beside: Modifiers) -> Self {
        let mut parts = vec![(said, beside)];
        while let Some((rest, modifiers)) = parts.last()
            && let Some((rest, name)) = rest.rsplit_once(':')
            && let Some(modifiers) = modifiers.with(name)
        {
            parts.push((rest, modifiers));
        }
        if let Some((number, word)) = said.split_once(':')
            && number.parse::<i64>().is_ok()
            && !parts.iter().any(|(rest, _)| *rest == number)
        {
            let word = word.rsplit_once(':').map_or(word, |(_, last)| last);
            let problem = match direction(word) {
                Some(direction) => format!("unknown modifier '{word}'; use -k {number}{direction}"),
                None if Modifiers::default().with(word).is_some() => {
                    format!("a key takes one kind; leave out '{word}'")
                }
                None => {
                    format!("unknown modifier '{word}'; use r, a, nocase, or a kind such as number or text")
                }
            };
            return Self::new(said.to_owned(), [ColumnRef::Refused(problem)]);
        }
        let names = parts.iter().map(|&(rest, said)| (ColumnRef::Name(rest.to_owned()), said));
        let numbers = parts.iter().filter_map(|&(rest, said)| {
            let refused = |problem: &str| ColumnRef::Refused(problem.to_owned());
            let column = match rest.parse::<i64>() {
                Ok(-1) => ColumnRef::Last,
                Ok(0) if said.kind.is_some() => refused("the whole record is text and takes no kind"),
                Ok(number @ 0..) => ColumnRef::Number(number as usize),
                Ok(_) => refused("columns are numbered from 1; -1 is the last field"),
                Err(_) if rest.starts_with("-1") => {
                    let (_, key) = key_of_sort(&rest[1..])?.ok()?;
                    return Some((ColumnRef::Last, said.beside(key)));
                }
                Err(_) => match key_of_sort(rest)? {
                    Ok((field, key)) => return Some((ColumnRef::Number(field), said.beside(key))),
                    Err(problem) => ColumnRef::Refused(problem),
                },
            };
            Some((column, said))
        });
        let mut readings: Vec<KeyMeaning> =
            names.chain(numbers).map(|(column, said)| KeyMeaning { column, said }).collect();
        // The whole record has no name.
        let is_certain = |column: &ColumnRef| match column {
            ColumnRef::Number(0) => true,
            ColumnRef::Refused(_) => said.starts_with(['0', '-']),
            ColumnRef::Last | ColumnRef::Name(_) | ColumnRef::Number(_) => false,
        };
        if readings.iter().any(|reading| is_certain(&reading.column)) {
            readings.retain(|reading| is_certain(&reading.column));
        }
        Self { said: said.to_owned(), readings, list: None, names: None, is_apart: false }
    }

    /// Returns the key of points if the name without modifiers is `hilbert(x,y)`; a column of that name has precedence.
    fn points(&self) -> Option<Self> {
        let (x, y) = self.bare_name().strip_prefix("hilbert(")?.strip_suffix(')')?.split_once(',')?;
        let Modifiers { descending, kind, .. } = self.readings.last()?.said;
        let mut key = Self::hilbert(x.trim_ascii(), y.trim_ascii());
        key = key.said(|own| (own.descending, own.kind) = (descending, kind.or(own.kind)));
        key.readings.splice(..0, self.readings.iter().cloned());
        Some(key)
    }
}

#[doc(hidden)]
impl Key {
    /// Makes a key of text that stays although an earlier key has the same column.
    pub fn apart(self) -> Self {
        Self { is_apart: true, ..self.kind(Kind::Text) }
    }

    /// Takes the kind of the column.
    pub fn of_any_kind(mut self) -> Self {
        self.readings.iter_mut().for_each(|reading| reading.said.kind = None);
        self
    }

    /// Returns a key for each column. Reads the list, if the key has one.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn by_column(&self) -> Result<Vec<Self>, Error> {
        let mut key = self.clone();
        if let Some(list) = &key.list {
            let text = fs::read(list).map_err(|error| Error::io(human::path(list), "read", error))?;
            key.names = Some(Arc::new(Names::of_list(&text)));
        }
        let axes = if self.is_axis() { &[Axis::First, Axis::Second][..] } else { &[Axis::First] };
        let of_axis = |axis: &Axis| {
            let mut key = key.clone();
            key.readings.retain(|reading| reading.said.axis.is_none_or(|own| own == *axis));
            key
        };
        Ok(axes.iter().map(of_axis).collect())
    }

    /// Returns the problem of a key that no input supports.
    pub fn problem(&self) -> Option<String> {
        if let Some(refused) = self.refused().filter(|_| self.readings.len() == 1) {
            return Some(refused);
        }
        let is_list = self.readings.iter().any(|reading| reading.said.kind == Some(Kind::List));
        let has_file = self.list.as_ref().is_some_and(|list| !list.as_os_str().is_empty());
        (is_list && !has_file)
            .then(|| format!("key '{}': a list needs a file; use list=FILE", quoted(&self.said)))
    }

    /// Returns the problem of a key that can only be the name of a column.
    pub fn refused(&self) -> Option<String> {
        self.readings.iter().find_map(|reading| match &reading.column {
            ColumnRef::Refused(problem) => Some(format!("key '{}': {problem}", quoted(&self.said))),
            _ => None,
        })
    }

    /// Returns the key without its modifiers, as a name.
    pub fn bare_name(&self) -> &str {
        let last = self.readings.iter().rev().find_map(|reading| match &reading.column {
            ColumnRef::Name(name) => Some(name),
            _ => None,
        });
        last.unwrap_or(&self.said)
    }

    /// Returns true for a column of points.
    pub fn is_axis(&self) -> bool {
        self.readings.last().is_some_and(|reading| reading.said.axis.is_some())
    }

    /// Returns true if the key can only be a name.
    pub fn is_name(&self) -> bool {
        self.readings.iter().all(|reading| matches!(reading.column, ColumnRef::Name(_)))
    }

    /// Returns true if this column is a possible meaning of the key.
    pub fn names(&self, column: &str) -> bool {
        let is_same = |name: &str| name.trim_ascii() == column.trim_ascii();
        self.readings.iter().any(|reading| matches!(&reading.column, ColumnRef::Name(name) if is_same(name)))
    }

    /// Returns true for the whole record.
    pub fn is_record(&self) -> bool {
        matches!(&self.readings[..], [KeyMeaning { column: ColumnRef::Number(0), .. }])
    }
}

impl FromStr for Key {
    type Err = Infallible;

    /// See [`Key::parse`].
    fn from_str(said: &str) -> Result<Self, Infallible> {
        Ok(Self::parse(said))
    }
}

impl From<&str> for Key {
    /// See [`Key::parse`].
    fn from(said: &str) -> Self {
        Self::parse(said)
    }
}

/// Parses a key of `sort` with a comma or a letter: `2,2`, `2,2n`, `3n`. Numbers, sizes and whole fields
/// have the meaning of `sort`. Returns the number of the field and the modifiers; `None` for text of
/// another form.
///
/// # Errors
///
/// The unsupported part, with a replacement.
fn key_of_sort(text: &str) -> Option<Result<(usize, Modifiers), String>> {
    let (begin, end) = text.split_once(',').map_or((text, None), |(begin, end)| (begin, Some(end)));
    let begin = position(begin)?;
    let end = if let Some(end) = end { Some(position(end)?) } else { None };
    (begin.0 > 0).then(|| between(begin, end))
}

/// The begin or the end of a key of `sort`: a field, a character in it, and letters.
type Position<'a> = (usize, Option<usize>, &'a str);

fn position(text: &str) -> Option<Position<'_>> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (field, mut letters) = text.split_at(digits(text));
    let mut character = None;
    if let Some(after) = letters.strip_prefix('.') {
        let number;
        (number, letters) = after.split_at(digits(after));
        character = Some(number.parse().ok()?);
    }
    let are_known = letters.chars().all(|letter| "nghVfrbdiMR".contains(letter));
    Some((field.parse().ok().filter(|_| are_known)?, character, letters))
}

/// Returns the field and the modifiers of a key of `sort` from `begin` to `end`.
fn between(begin: Position, end: Option<Position>) -> Result<(usize, Modifiers), String> {
    let (field, character, letters) = begin;
    let all = [letters, end.map_or("", |(_, _, letters)| letters)].concat();
    let unsupported = all.chars().find_map(|letter| match letter {
        'd' | 'i' => Some(format!("{letter} is not supported: every byte of text counts; leave it out")),
        'R' => Some("R is not supported; use 'gpusort shuffle'".to_owned()),
        _ => None,
    });
    unsupported.map_or(Ok(()), Err)?;
    let is_whole = match end {
        Some((_, end, _)) => matches!((character, end), (None | Some(1), None | Some(0))),
        None => character.is_none(),
    };
    if !is_whole {
        return Err(format!(
            "positions within a field are not supported; use {field},{field}{letters} for the whole field"
        ));
    }
    let kinds = [
        ('n', Kind::Number),
        ('g', Kind::Number),
        ('h', Kind::Size),
        ('V', Kind::Version),
        ('M', Kind::Month),
    ];
    let mut kinds = kinds.into_iter().filter(|&(letter, _)| all.contains(letter)).map(|(_, kind)| kind);
    let kind = kinds.next();
    if kinds.next().is_some() {
        return Err("n, g, h, V and M cannot be combined in one key".to_owned());
    }
    let last = end.map_or(field, |(field, ..)| field);
    if last < field {
        return Err(format!("it ends before it begins; use {field},{field} for the whole field"));
    }
    // A number begins at the key's beginning, so the key's end does not matter.
    if last > field && !matches!(kind, Some(Kind::Number | Kind::Size)) {
        let each: Vec<String> = (field..=last).take(3).map(|one| format!("-k {one},{one}")).collect();
        let each = each.join(" ");
        return Err(format!("a key of several fields is not supported; use a key for each: {each}"));
    }
    let has_letters = !all.is_empty();
    let (descending, nocase) = (has_letters.then(|| all.contains('r')), all.contains('f'));
    let said = Modifiers { descending, kind, nocase, ..Modifiers::default() };
    Ok((field, Modifiers { is_of_sort: true, has_letters, ..said }))
}

/// The sort key of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeySpec {
    /// The keys, most significant first. Empty means the only column.
    pub keys: Vec<Key>,
    /// The requested type.
    pub element: Option<ElementType>,
    /// The order of all columns, unless a key overrides it.
    pub order: KeyOrder,
    /// The spelling of fields.
    pub spelling: Arc<Spelling>,
    /// True to note a record left out whose field is spelled differently from the field of the record kept.
    pub tells_spelling: bool,
}

/// Returns the modifier for a word from other programs; a word for numbers needs no modifier.
pub(super) fn direction(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "r" | "d" | "desc" | "descending" | "rev" | "reverse" | "down" | "nr" | "rn" | "-1" => ":r",
        "a" | "asc" | "ascending" | "up" => ":a",
        "n" | "g" | "num" | "number" | "numeric" | "int" | "float" => "",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_sort() {
        let plain = Modifiers { is_of_sort: true, ..Modifiers::default() };
        let own = Modifiers { has_letters: true, descending: Some(false), ..plain };
        let n = Modifiers { kind: Some(Kind::Number), ..own };
        let reversed = Some(true);
        for (text, expected) in [
            ("2", plain),
            ("2,2", plain),
            ("2n", n),
            ("2,2n", n),
            ("2n,2", n),
            ("2bg,4", n),
            ("2.1n,2.0", n),
            ("2nr", Modifiers { descending: reversed, ..n }),
            ("2rn,2", Modifiers { descending: reversed, ..n }),
            ("2h", Modifiers { kind: Some(Kind::Size), ..n }),
            ("2,2r", Modifiers { descending: reversed, ..own }),
            ("2r", Modifiers { descending: reversed, ..own }),
            ("2M", Modifiers { kind: Some(Kind::Month), ..n }),
            ("2,2Vr", Modifiers { kind: Some(Kind::Version), descending: reversed, ..n }),
            ("2b,2fr", Modifiers { nocase: true, descending: reversed, ..own }),
        ] {
            assert_eq!(key_of_sort(text), Some(Ok((2, expected))), "{text}");
        }
    }

    #[test]
    fn other_keys_are_refused_with_what_to_write() {
        for (text, said) in [
            ("2.3n", "use 2,2n for the whole field"),
            ("2,2.5", "use 2,2 for the whole field"),
            ("3,2n", "use 3,3 for the whole field"),
            ("2,4", "-k 2,2 -k 3,3 -k 4,4"),
            ("2,2nM", "cannot be combined"),
            ("1,1d", "every byte"),
            ("2.1", "use 2,2 for the whole field"),
            ("2,2nV", "cannot be combined"),
            ("2g,2n", "cannot be combined"),
        ] {
            let problem = key_of_sort(text).unwrap().unwrap_err();
            assert!(problem.contains(said), "{text}: {problem}");
        }
        for text in
            ["", "n", "price", "2x", "2:r", ",2", "2,", "2,n", "2n,x", "-1", "2.n", "99999999999999999999"]
        {
            assert_eq!(key_of_sort(text), None, "{text}");
        }
    }
}
