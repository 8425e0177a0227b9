//! Keys as users name them: a column and a direction.
//!
//! ```text
//! price        the column of that name
//! price:r      ... of that name; if there is none, of the name price, descending
//! 2:r          ... if there is none, either, the second, descending
//! 2,2nr        a key of sort: the second, descending
//! ```

use std::convert::Infallible;
use std::str::FromStr;

use gpusort_planner::key::ElementType;

use crate::order::KeyOrder;

/// A key of tables and lines: a column, and a direction if it has one of its own.
///
/// ```
/// # #[cfg(feature = "files")] {
/// use gpusort::files::Key;
///
/// let keys = [Key::column("price").descending(), Key::number(2)];
/// assert_eq!("price:r".parse(), Ok::<_, std::convert::Infallible>(Key::parse("price:r")));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// As it was said, for messages.
    pub(super) said: String,
    /// What it may be, of which the first counts that a table has.
    pub(super) readings: Vec<KeyMeaning>,
    /// What it is as a key of `sort`.
    of_sort: Option<SortKey>,
}

/// What a key may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyMeaning {
    pub(super) column: ColumnRef,
    /// Its own direction.
    pub(super) descending: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ColumnRef {
    Name(String),
    /// From 1.
    Number(usize),
    /// None, for this reason.
    Refused(String),
}

impl Key {
    fn new(said: String, columns: impl IntoIterator<Item = ColumnRef>) -> Self {
        let reading = |column| KeyMeaning { column, descending: None };
        Self { said, readings: columns.into_iter().map(reading).collect(), of_sort: None }
    }

    /// The column of this name; without such a name, if it is a number, the column of that number,
    /// counted from 1.
    pub fn column(name: impl Into<String>) -> Self {
        let name = name.into();
        let number = name.parse().ok().map(ColumnRef::Number);
        Self::new(name.clone(), [ColumnRef::Name(name)].into_iter().chain(number))
    }

    /// The column of this number, or the field of lines, counted from 1.
    pub fn number(number: usize) -> Self {
        Self::new(number.to_string(), [ColumnRef::Number(number)])
    }

    /// The same with the largest first, whatever the direction of the other keys.
    #[must_use]
    pub fn descending(self) -> Self {
        self.directed(true)
    }

    /// The same with the smallest first, whatever the direction of the other keys.
    #[must_use]
    pub fn ascending(self) -> Self {
        self.directed(false)
    }

    fn directed(mut self, descending: bool) -> Self {
        self.readings.iter_mut().for_each(|reading| reading.descending = Some(descending));
        self
    }

    /// The key that `gpusort sort -k` understands by this: all of it is a column's name; else what
    /// is before `:r` or `:a`, which say the direction; else it is a number, and then a key of
    /// `sort`, such as `2,2nr`.
    pub fn parse(said: &str) -> Self {
        let directed = |suffix: &str, descending| Some((said.strip_suffix(suffix)?, Some(descending)));
        let whole = Some((said, None));
        let directions = [whole, directed(":r", true), directed(":a", false)].into_iter().flatten();
        let names =
            directions.clone().map(|(name, descending)| (ColumnRef::Name(name.to_owned()), descending));
        let numbers = directions
            .filter_map(|(name, descending)| Some((ColumnRef::Number(name.parse().ok()?), descending)));
        let parsed = SortKey::parse(said);
        let of_sort = parsed.as_ref().map(|parsed| match parsed {
            Ok(key) => (ColumnRef::Number(key.field), key.has_own.then_some(key.reversed)),
            Err(problem) => (ColumnRef::Refused(problem.clone()), None),
        });
        let reading = |(column, descending)| KeyMeaning { column, descending };
        // What sort refuses is refused, if it is not a name.
        let is_refused = matches!(parsed, Some(Err(_)));
        let (before, after) = if is_refused { (of_sort, None) } else { (None, of_sort) };
        let readings = names.chain(before).chain(numbers).chain(after).map(reading).collect();
        Self { said: said.to_owned(), readings, of_sort: parsed.and_then(Result::ok) }
    }

    /// What it is as a key of `sort`.
    #[doc(hidden)]
    pub fn of_sort(&self) -> Option<SortKey> {
        self.of_sort
    }

    /// As it was said.
    #[doc(hidden)]
    pub fn said(&self) -> &str {
        &self.said
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
    fn from(name: &str) -> Self {
        Self::column(name)
    }
}

/// A key of `sort`: `2,2n`, `2nr`, `3n,3`. What orders by the number at the beginning of a field
/// means the same here. The rest is refused with what to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortKey {
    /// The number of the field where it begins, from 1.
    pub field: usize,
    /// Whether it orders by numbers: `n` or `g`.
    pub numeric: bool,
    /// Whether it orders by sizes: `h`.
    pub sizes: bool,
    /// Whether it is reversed.
    pub reversed: bool,
    /// Whether it has any letter, and so the global ones do not count for it.
    pub has_own: bool,
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
        if !matches!(character, None | Some(1)) {
            problem.get_or_insert_with(|| {
                format!("characters in a field are not counted here; {field} is the whole field")
            });
        }
        if let Some(end) = end {
            let (last, character) = key.position(end, &mut problem)?;
            if !matches!(character, None | Some(0)) {
                problem.get_or_insert_with(|| {
                    format!("characters in a field are not counted here; {field} is the whole field")
                });
            }
            if last < field {
                problem
                    .get_or_insert_with(|| format!("it ends before it begins; {field} is the whole field"));
            }
        }
        key.field = field;
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
                'n' | 'g' => self.numeric = true,
                'h' => self.sizes = true,
                'r' => self.reversed = true,
                'b' => {}
                'd' | 'f' | 'i' | 'M' | 'R' | 'V' => {
                    let said = || {
                        format!(
                            "{letter} is about text, and keys are numbers and times here; {field}n orders by numbers"
                        )
                    };
                    problem.get_or_insert_with(said);
                }
                _ => return None,
            }
            self.has_own = true;
        }
        Some((field, character))
    }
}

/// The sort key of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// The keys, most significant first. Empty means the only column.
    pub keys: Vec<Key>,
    /// The requested type.
    pub element: Option<ElementType>,
    /// The order of every column without a direction of its own.
    pub order: KeyOrder,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_order_by_numbers() {
        let n = SortKey { field: 2, numeric: true, has_own: true, ..SortKey::default() };
        for (text, expected) in [
            ("2", SortKey { field: 2, ..SortKey::default() }),
            ("2,2", SortKey { field: 2, ..SortKey::default() }),
            ("2n", n),
            ("2,2n", n),
            ("2n,2", n),
            ("2bg,4", n),
            ("2.1n,2.0", n),
            ("2nr", SortKey { reversed: true, ..n }),
            ("2rn,2", SortKey { reversed: true, ..n }),
            ("2h", SortKey { numeric: false, sizes: true, ..n }),
        ] {
            assert_eq!(SortKey::parse(text), Some(Ok(expected)), "{text}");
        }
    }

    #[test]
    fn other_keys_are_refused_with_what_to_write() {
        for (text, said) in [
            ("2.3n", "2 is the whole field"),
            ("2,2.5", "2 is the whole field"),
            ("3,2n", "3 is the whole field"),
            ("2V", "V is about text"),
            ("1,1f", "1n orders by numbers"),
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
