//! Keys as users name them: a column, a kind and a direction.
//!
//! ```text
//! price          the column of that name
//! price:text:r   ... of that name; if there is none, of the name price:text, descending; then
//!                the column price as text, descending
//! 2:r            ... if there is none of these, the second, descending
//! 0              the whole line
//! 2,2nr          a key of sort: the second, descending
//! ```

use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;

use gpusort_planner::key::ElementType;

use crate::io::spelling::Spelling;
use crate::order::{KeyOrder, Nulls, Reading, TextForm, TextOrder};

/// What the fields of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Numbers.
    Number,
    /// Times.
    Time,
    /// Sizes: numbers with units.
    Size,
    /// Times that something takes: `12ms`, `1h2m3s`, `0:01:23`; a number alone is seconds.
    Duration,
    /// Text, by its bytes.
    Text,
    /// Text with numbers in it, as `sort -V` orders it: `v1.9` before `v1.10`.
    Version,
    /// Hexadecimal numbers of any length, with or without `0x`.
    Hex,
}

impl Kind {
    /// All of them, by their names.
    pub const ALL: [(&'static str, Self); 7] = [
        ("number", Self::Number),
        ("time", Self::Time),
        ("size", Self::Size),
        ("duration", Self::Duration),
        ("text", Self::Text),
        ("version", Self::Version),
        ("hex", Self::Hex),
    ];

    /// What the fields are read as.
    pub(crate) fn reading(self, nocase: bool) -> Reading {
        match self {
            Self::Number => Reading::Numbers,
            Self::Time => Reading::Times,
            Self::Size => Reading::Sizes,
            Self::Duration => Reading::Durations,
            Self::Text => Reading::Text(TextForm { order: TextOrder::Bytes, nocase }),
            Self::Version => Reading::Text(TextForm { order: TextOrder::Version, nocase }),
            Self::Hex => Reading::Text(TextForm { order: TextOrder::Hex, nocase: false }),
        }
    }
}

/// A key of tables and lines: a column, and what is said of it.
///
/// ```
/// # #[cfg(feature = "files")] {
/// use gpusort::files::{Key, Kind};
///
/// let keys = [Key::column("name").kind(Kind::Text), Key::column("price").descending(), Key::number(2)];
/// assert_eq!("price:r".parse(), Ok::<_, std::convert::Infallible>(Key::parse("price:r")));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// As it was said, for messages.
    pub(super) said: String,
    /// What it may be, of which the first counts that a table has.
    pub(super) readings: Vec<KeyMeaning>,
}

/// What a key may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyMeaning {
    pub(super) column: ColumnRef,
    pub(super) said: Modifiers,
}

/// What is said of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Modifiers {
    /// Its own direction.
    pub(super) descending: Option<bool>,
    kind: Option<Kind>,
    nocase: bool,
    /// What it is as a key of `sort`.
    pub(super) of_sort: Option<SortKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ColumnRef {
    Name(String),
    /// From 1; 0 is the whole line.
    Number(usize),
    /// None, for this reason.
    Refused(String),
}

impl Modifiers {
    /// Adds one, by its name, to those after it.
    fn with(mut self, name: &str) -> Option<Self> {
        match name {
            "r" => self.descending = self.descending.or(Some(true)),
            "a" => self.descending = self.descending.or(Some(false)),
            "nocase" => self.nocase = true,
            name => {
                let (_, kind) = Kind::ALL.into_iter().find(|(other, _)| *other == name)?;
                self.kind = self.kind.or(Some(kind));
            }
        }
        Some(self)
    }

    /// Whether it is said what it is.
    pub(super) fn has_letters(self, by: &KeySpec) -> bool {
        let has_own = self.of_sort.is_some_and(|key| key.has_own);
        has_own || self.nocase || self.kind.is_some() || by.order.reading != Reading::Any || by.order.nocase
    }

    /// The order of a key of which this is said, beside what is said of all.
    pub(super) fn order(self, by: &KeySpec) -> KeyOrder {
        let of_sort = self.of_sort.unwrap_or_default();
        let own = of_sort.has_own.then_some(of_sort.reversed);
        let descending = self.descending.or(own).unwrap_or(by.order.descending);
        let nocase = self.nocase || of_sort.nocase || by.order.nocase && !of_sort.has_own;
        let text = Reading::Text(TextForm { order: TextOrder::Bytes, nocase });
        let kind = self.kind.or(of_sort.kind.filter(|_| !self.nocase));
        let reading = match (kind, self.of_sort) {
            (Some(kind), _) => kind.reading(nocase),
            _ if self.nocase || of_sort.has_own => text,
            // A global letter says what it is, if there is one.
            (None, Some(_)) if by.order.reading == Reading::Any => text,
            (None, _) => by.order.reading,
        };
        let is_text = matches!(reading, Reading::Text(_));
        // For `sort` nothing is the least text.
        let is_least = is_text && self.of_sort.is_some() && !by.places_empty;
        let empty = match is_least {
            true if descending => Nulls::Last,
            true => Nulls::First,
            false => by.order.empty,
        };
        KeyOrder { descending, reading, empty, leading: by.order.leading && !is_text, ..by.order }
    }
}

impl Key {
    fn new(said: String, columns: impl IntoIterator<Item = ColumnRef>) -> Self {
        let reading = |column| KeyMeaning { column, said: Modifiers::default() };
        Self { said, readings: columns.into_iter().map(reading).collect() }
    }

    /// The column of exactly this name. A number without such a column counts columns from 1.
    pub fn column(name: impl Into<String>) -> Self {
        let name = name.into();
        let number = name.parse().ok().map(ColumnRef::Number);
        Self::new(name.clone(), [ColumnRef::Name(name)].into_iter().chain(number))
    }

    /// The column of this number, or the field of lines, counted from 1. A sort by 0 is an error.
    pub fn number(number: usize) -> Self {
        let column = match number {
            0 => ColumnRef::Refused(
                "columns are numbered from 1; use Key::record() for the whole record".to_owned(),
            ),
            _ => ColumnRef::Number(number),
        };
        Self::new(number.to_string(), [column])
    }

    /// The whole record: of lines the line, as text unless [`Key::kind`] says otherwise.
    pub fn record() -> Self {
        Self::new("0".to_owned(), [ColumnRef::Number(0)])
    }

    /// The same with the largest first, whatever the direction of the other keys.
    #[must_use]
    pub fn descending(self) -> Self {
        self.said(|said| said.descending = Some(true))
    }

    /// The same with the smallest first, whatever the direction of the other keys.
    #[must_use]
    pub fn ascending(self) -> Self {
        self.said(|said| said.descending = Some(false))
    }

    /// The same with fields of this kind. Without it they are what they look like: numbers, times,
    /// or text.
    #[must_use]
    pub fn kind(self, kind: Kind) -> Self {
        self.said(|said| said.kind = Some(kind))
    }

    /// The same as text of which small letters of ASCII count as capital ones.
    #[must_use]
    pub fn ignore_case(self) -> Self {
        self.said(|said| said.nocase = true)
    }

    fn said(mut self, say: impl Fn(&mut Modifiers)) -> Self {
        self.readings.iter_mut().for_each(|reading| say(&mut reading.said));
        self
    }

    /// The key that `gpusort sort -k` understands by this: all of it is a column's name; else what
    /// is before `:r` and other modifiers, as few as it takes; else it is a number, or a key of
    /// `sort`, such as `2,2nr`.
    pub fn parse(said: &str) -> Self {
        let mut parts = vec![(said, Modifiers::default())];
        while let Some((rest, modifiers)) = parts.last()
            && let Some((rest, name)) = rest.rsplit_once(':')
            && let Some(modifiers) = modifiers.with(name)
        {
            parts.push((rest, modifiers));
        }
        let names = parts.iter().map(|&(rest, said)| (ColumnRef::Name(rest.to_owned()), said));
        let numbers = parts.iter().filter_map(|&(rest, said)| {
            if let Ok(number) = rest.parse() {
                return Some((ColumnRef::Number(number), said));
            }
            Some(match SortKey::parse(rest)? {
                Ok(key) => (ColumnRef::Number(key.field), Modifiers { of_sort: Some(key), ..said }),
                Err(problem) => (ColumnRef::Refused(problem), said),
            })
        });
        let readings = names.chain(numbers).map(|(column, said)| KeyMeaning { column, said }).collect();
        Self { said: said.to_owned(), readings }
    }

    /// The error of a key that no input can have.
    pub(crate) fn problem(&self) -> Option<String> {
        match &self.readings[..] {
            [KeyMeaning { column: ColumnRef::Refused(problem), .. }] => {
                Some(format!("key '{}': {problem}", self.said))
            }
            _ => None,
        }
    }

    /// Whether it can only be a name.
    pub(crate) fn is_name(&self) -> bool {
        self.readings.iter().all(|reading| matches!(reading.column, ColumnRef::Name(_)))
    }

    /// Whether it says that it is this column.
    pub(super) fn names(&self, column: &str) -> bool {
        self.readings.iter().any(|reading| matches!(&reading.column, ColumnRef::Name(name) if name == column))
    }
}

impl FromStr for Key {
    type Err = Infallible;

    /// As [`Key::parse`].
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

/// A key of `sort` that has a comma or a letter: `2,2`, `2,2n`, `3n`. What is a number, a size or a
/// field as a whole means the same here. The rest is refused with what to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SortKey {
    /// The number of the field where it begins, from 1.
    pub(super) field: usize,
    /// What it orders by, if that is said: numbers (`n`, `g`), sizes (`h`) or versions (`V`).
    kind: Option<Kind>,
    /// Whether small letters count as capital ones: `f`.
    nocase: bool,
    /// Whether it is reversed.
    reversed: bool,
    /// Whether it has any letter, and so the global ones do not count for it.
    has_own: bool,
}

impl SortKey {
    /// The key that this text is, if it has the form of one.
    ///
    /// # Errors
    ///
    /// What of it has no meaning here, and what to write instead.
    fn parse(text: &str) -> Option<Result<Self, String>> {
        let mut key = Self::default();
        let mut problem = None;
        let (begin, end) = text.split_once(',').map_or((text, None), |(begin, end)| (begin, Some(end)));
        let (field, character) = key.position(begin, &mut problem)?;
        if field == 0 {
            return None;
        }
        let last = match end {
            Some(end) => Some(key.position(end, &mut problem)?),
            None => None,
        };
        key.field = field;
        let of_end = last.and_then(|(_, character)| character);
        if !matches!(character, None | Some(1)) || !matches!(of_end, None | Some(0)) {
            let letters = begin.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            let said = format!(
                "positions within a field are not supported; use {field},{field}{letters} for the whole field"
            );
            problem.get_or_insert(said);
        }
        let orders = ["n", "g", "h", "V"].into_iter().filter(|&order| text.contains(order));
        if orders.count() > 1 {
            problem.get_or_insert_with(|| "n, g, h and V cannot be combined in one key".to_owned());
        }
        // A number begins where the key does, wherever that ends.
        let is_number = matches!(key.kind, Some(Kind::Number | Kind::Size));
        match last {
            Some((last, _)) if last < field => {
                let said = format!("it ends before it begins; use {field},{field} for the whole field");
                problem.get_or_insert(said);
            }
            Some((last, _)) if last > field && !is_number => {
                let each = (field..=last).take(3).map(|one| format!("-k {one},{one}"));
                let each = each.collect::<Vec<_>>().join(" ");
                let said = format!("a key of several fields is not supported; use a key for each: {each}");
                problem.get_or_insert(said);
            }
            None if !is_number && (key.has_own || character.is_some()) => {
                let letters = begin.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
                let said = format!(
                    "a key to the end of the line is not supported; use {field},{field}{letters} for this field \
                     as text, or {field}n{letters} for its number"
                );
                problem.get_or_insert(said);
            }
            _ => {}
        }
        Some(problem.map_or(Ok(key), Err))
    }

    /// A field, the character in it if there is one, and the letters after it, which are added;
    /// `None` for what is no such thing.
    fn position(&mut self, text: &str, problem: &mut Option<String>) -> Option<(usize, Option<usize>)> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (field, mut rest) = text.split_at(digits(text));
        let field = field.parse().ok()?;
        let mut character = None;
        if let Some(after) = rest.strip_prefix('.') {
            let number;
            (number, rest) = after.split_at(digits(after));
            character = Some(number.parse().ok()?);
        }
        for letter in rest.chars() {
            match letter {
                'n' | 'g' => self.kind = Some(Kind::Number),
                'h' => self.kind = Some(Kind::Size),
                'V' => self.kind = Some(Kind::Version),
                'f' => self.nocase = true,
                'r' => self.reversed = true,
                'b' => {}
                'd' | 'i' | 'M' | 'R' => {
                    let what = match letter {
                        'd' | 'i' => ": every byte of text counts",
                        'M' => "; use sort -M",
                        _ => "; use shuf",
                    };
                    problem.get_or_insert_with(|| format!("{letter} is not supported{what}"));
                }
                _ => return None,
            }
            self.has_own = true;
        }
        Some((field, character))
    }
}

/// The sort key of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeySpec {
    /// The keys, most significant first. Empty means the only column.
    pub keys: Vec<Key>,
    /// The requested type.
    pub element: Option<ElementType>,
    /// The order of every column, as far as its key says nothing else.
    pub order: KeyOrder,
    /// Whether anybody said where empty fields go.
    pub places_empty: bool,
    /// How fields are written.
    pub(crate) spelling: Arc<Spelling>,
}

impl KeySpec {
    /// Words that count as empty.
    #[cfg(feature = "arrow")]
    pub(crate) fn na(&self) -> &[Vec<u8>] {
        &self.spelling.empty
    }

    /// How many bytes the copies of keys may take for each byte of a record: those of texts that are
    /// not compared as they are written, and those of fields with quotes in quotes.
    pub(in crate::io) fn copies(&self) -> (u64, u64) {
        let orders = self.keys.iter().flat_map(|key| &key.readings).map(|reading| reading.said.order(self));
        let only = self.keys.is_empty().then_some(self.order);
        let form = |order: KeyOrder| match order.reading {
            Reading::Any => Some(TextForm { nocase: order.nocase, ..TextForm::default() }),
            reading => reading.text(),
        };
        let forms = orders.chain(only).filter_map(form);
        let compared = forms.clone().map(|form| match form {
            // A letter and a digit take three bytes.
            TextForm { order: TextOrder::Version, .. } => 2,
            form => u64::from(form != TextForm::default()),
        });
        (compared.sum(), forms.count() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_sort() {
        let plain = SortKey { field: 2, ..SortKey::default() };
        let n = SortKey { kind: Some(Kind::Number), has_own: true, ..plain };
        for (text, expected) in [
            ("2", plain),
            ("2,2", plain),
            ("2n", n),
            ("2,2n", n),
            ("2n,2", n),
            ("2bg,4", n),
            ("2.1n,2.0", n),
            ("2nr", SortKey { reversed: true, ..n }),
            ("2rn,2", SortKey { reversed: true, ..n }),
            ("2h", SortKey { kind: Some(Kind::Size), ..n }),
            ("2,2r", SortKey { reversed: true, has_own: true, ..plain }),
            ("2,2Vr", SortKey { kind: Some(Kind::Version), reversed: true, ..n }),
            ("2b,2fr", SortKey { nocase: true, reversed: true, has_own: true, ..plain }),
        ] {
            assert_eq!(SortKey::parse(text), Some(Ok(expected)), "{text}");
        }
    }

    #[test]
    fn other_keys_are_refused_with_what_to_write() {
        for (text, said) in [
            ("2.3n", "use 2,2n for the whole field"),
            ("2,2.5", "use 2,2 for the whole field"),
            ("3,2n", "use 3,3 for the whole field"),
            ("2,4", "-k 2,2 -k 3,3 -k 4,4"),
            ("2r", "use 2,2r for this field as text, or 2nr for its number"),
            ("2,2M", "M is not supported"),
            ("1,1d", "every byte"),
            ("2.1", "use 2,2 for this field as text"),
            ("2,2nV", "cannot be combined"),
            ("2g,2n", "cannot be combined"),
        ] {
            let problem = SortKey::parse(text).unwrap().unwrap_err();
            assert!(problem.contains(said), "{text}: {problem}");
        }
        for text in
            ["", "n", "price", "2x", "2:r", ",2", "2,", "2,n", "2n,x", "-1", "2.n", "99999999999999999999"]
        {
            assert_eq!(SortKey::parse(text), None, "{text}");
        }
    }
}
