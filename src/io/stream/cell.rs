//! Numbers as they come, before it is known what type all of them are of.
//!
//! Integers are compared as integers and decimals as floats, which is what the type of all would make of them, with two
//! exceptions. An integer that f64 does not hold exactly is an error once there are decimals, as in a sort. And −0 is 0 among integers but
//! less than it among decimals: where one comes first, somebody has to look ahead.

use std::cmp::Ordering;

use crate::error::{Error, ErrorKind};
use crate::human::quoted;
use crate::io::counts::Counts;
use crate::io::number::{Spelled, integer, is_exactly, no_number, spelled};
use crate::io::text::integers::{holds, two_complement};
use crate::io::text::{NO_NAN, NOTHING_THERE, expected};
use crate::key::ElementType;
use crate::order::{Class, KeyOrder, Place};

/// What a record is ordered by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::io) struct Cell {
    /// 0 for numbers, less for classes that stand before them, more for those behind.
    rank: i8,
    value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Integer(i128),
    Float(f64),
    /// A key, which has the direction in it.
    Key(u64),
}

impl Cell {
    /// Of an element of a binary file.
    pub(in crate::io) fn of_key(key: u64) -> Self {
        Self { rank: 0, value: Value::Key(key) }
    }

    /// The key that it was made of.
    pub(in crate::io) fn key(self) -> Option<u64> {
        if let Value::Key(key) = self.value { Some(key) } else { None }
    }

    /// How a person would write it, by these rules.
    pub(in crate::io) fn shown(self, rules: KeyOrder) -> String {
        if self.rank != 0 {
            return match self.class(rules) {
                Some(Class::Empty) => "an empty field".to_owned(),
                Some(Class::Nan) => "NaN".to_owned(),
                _ => "what is no number".to_owned(),
            };
        }
        match self.value {
            Value::Integer(integer) => integer.to_string(),
            Value::Float(float) => {
                let shown = format!("{float:?}");
                shown.strip_suffix(".0").unwrap_or(&shown).to_owned()
            }
            Value::Key(key) => key.to_string(),
        }
    }

    /// The class of what is no number, by these rules.
    fn class(self, rules: KeyOrder) -> Option<Class> {
        let stands = |class: &Class| matches!(rules.place(*class), Place::First | Place::Last);
        Class::ALL.into_iter().filter(stands).find(|&class| Self::of_class(class, rules).rank == self.rank)
    }

    fn of_class(class: Class, rules: KeyOrder) -> Self {
        let rank = rules.rank(class) as i8;
        let (before, _) = rules.beside_numbers();
        let rank = if rules.place(class) == Place::First { rank - before as i8 } else { rank + 1 };
        Self { rank, value: Value::Integer(0) }
    }

    fn number(value: Value) -> Self {
        Self { rank: 0, value }
    }

    /// Whether it is exactly the integer that this token spells.
    fn is_exactly(self, token: &[u8]) -> bool {
        matches!(self.value, Value::Float(value) if is_exactly(token, value))
    }

    /// Which of two stands first; only numbers have a direction.
    pub(in crate::io) fn compare(&self, other: &Self, descending: bool) -> Ordering {
        let float = |integer: i128| integer as f64;
        let numbers = || {
            let order = match (self.value, other.value) {
                (Value::Key(a), Value::Key(b)) => return a.cmp(&b),
                (Value::Integer(a), Value::Integer(b)) => a.cmp(&b),
                (Value::Integer(a), Value::Float(b)) => float(a).total_cmp(&b),
                (Value::Float(a), Value::Integer(b)) => a.total_cmp(&float(b)),
                (Value::Float(a), Value::Float(b)) => a.total_cmp(&b),
                (Value::Key(_), _) | (_, Value::Key(_)) => unreachable!("an input is all keys or none"),
            };
            if descending { order.reverse() } else { order }
        };
        self.rank.cmp(&other.rank).then_with(|| if self.rank == 0 { numbers() } else { Ordering::Equal })
    }
}

/// What is known of the type of a column, or of all of a text.
#[derive(Debug)]
pub(in crate::io) struct Typing {
    asked: Option<ElementType>,
    kind: Kind,
    rules: KeyOrder,
    /// What is wrong if there are decimals.
    inexact: Option<ErrorKind>,
    /// What is wrong if there are none.
    too_large: Option<ErrorKind>,
    /// The least integer, if it is negative, and the greatest, if it is positive.
    least: i128,
    greatest: i128,
    /// The first negative integer, and the first above i64, each with its place.
    negative: Option<String>,
    large: Option<String>,
    /// How many were of no number.
    counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Integers so far.
    Unknown,
    /// Integers, as a look ahead has told.
    Integers,
    /// There are decimals.
    Floats,
}

/// Why a number has no cell yet.
pub(in crate::io) enum NoCell {
    Error(Error),
    /// It is −0, and whether that is less than 0 depends on what else there is.
    Undecided,
}

impl From<Error> for NoCell {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Typing {
    pub(in crate::io) fn new(asked: Option<ElementType>, rules: KeyOrder) -> Self {
        Self {
            asked,
            kind: Kind::Unknown,
            rules,
            inexact: None,
            too_large: None,
            least: 0,
            greatest: 0,
            negative: None,
            large: None,
            counts: Counts::default(),
        }
    }

    /// From here on it is known whether there are decimals.
    ///
    /// # Errors
    ///
    /// What is wrong if there are.
    pub(in crate::io) fn decide(&mut self, decimals: bool) -> Result<(), Error> {
        self.kind = if decimals { Kind::Floats } else { Kind::Integers };
        match self.inexact.take_if(|_| decimals) {
            Some(inexact) => Err(Error::new(inexact)),
            None => Ok(()),
        }
    }

    /// Whether there were decimals so far.
    pub(in crate::io) fn is_float(&self) -> bool {
        self.kind == Kind::Floats
    }

    /// The name of the type, as far as it is known.
    pub(in crate::io) fn name(&self) -> &'static str {
        let integers = [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64];
        let fits = |&element: &ElementType| {
            let (least, greatest) = (self.least as i64, self.greatest as u64);
            (least == 0 || holds(element, least.cast_unsigned(), true)) && holds(element, greatest, false)
        };
        match (self.asked, self.kind) {
            (Some(asked), _) => asked.name(),
            (None, Kind::Floats) => ElementType::F64.name(),
            (None, _) => integers.into_iter().find(fits).unwrap_or(ElementType::F64).name(),
        }
    }

    /// What a token, or a field without quotes and blanks around it, is ordered by. `place` is where it is.
    pub(in crate::io) fn cell(&mut self, token: &[u8], place: impl Fn() -> String) -> Result<Cell, NoCell> {
        if token.is_empty() {
            return self.class(Class::Empty, token, place);
        }
        match self.asked {
            None => self.cell_of_any(token, place),
            Some(element) if element.is_float() => match spelled(token) {
                None => self.class(Class::Invalid, token, place),
                Some(Spelled::Nan) => self.class(Class::Nan, token, place),
                Some(spelled) => float_cell(token, spelled, element, place),
            },
            Some(element) => {
                let value = integer(token).and_then(two_complement);
                match value.filter(|&(value, negative)| holds(element, value, negative)) {
                    Some((value, negative)) => Ok(Cell::number(Value::Integer(signed(value, negative)))),
                    None if spelled(token).is_none() => self.class(Class::Invalid, token, place),
                    None => Err(refused(token, place, expected(element))),
                }
            }
        }
    }

    fn class(&mut self, class: Class, token: &[u8], place: impl Fn() -> String) -> Result<Cell, NoCell> {
        if self.rules.place(class) == Place::Error {
            let expected = match class {
                Class::Empty => return Err(Error::input(place(), NOTHING_THERE).into()),
                Class::Nan => NO_NAN.to_owned(),
                Class::Invalid => no_number(token),
            };
            return Err(refused(token, place, expected));
        }
        self.counts.add(class);
        Ok(Cell::of_class(class, self.rules))
    }

    /// The cell of a number whose type was not asked for.
    fn cell_of_any(&mut self, token: &[u8], place: impl Fn() -> String) -> Result<Cell, NoCell> {
        if let Some((magnitude, negative)) = integer(token).and_then(two_complement) {
            let integer = signed(magnitude, negative);
            if integer == 0 && token[0] == b'-' {
                return match self.kind {
                    Kind::Unknown => Err(NoCell::Undecided),
                    Kind::Integers => Ok(Cell::number(Value::Integer(0))),
                    Kind::Floats => Ok(Cell::number(Value::Float(-0.0))),
                };
            }
            if integer as f64 as i128 != integer {
                self.note_inexact(token, &place)?;
            }
            let shown = || format!("{} ({})", quoted(token), place());
            if negative {
                self.negative.get_or_insert_with(shown);
            } else if i64::try_from(magnitude).is_err() {
                self.large.get_or_insert_with(shown);
            }
            (self.least, self.greatest) = (self.least.min(integer), self.greatest.max(integer));
            return Ok(Cell::number(Value::Integer(integer)));
        }
        match spelled(token) {
            None => self.class(Class::Invalid, token, place),
            Some(Spelled::Integer) => {
                let cell = float_cell(token, Spelled::Integer, ElementType::F64, &place)?;
                if !cell.is_exactly(token) {
                    self.note_inexact(token, &place)?;
                }
                let expected = "an integer that a 64-bit type holds; --type f64 takes it rounded";
                self.too_large.get_or_insert_with(|| kind_of(token, &place, expected.to_owned()));
                Ok(cell)
            }
            Some(spelled) => {
                self.kind = Kind::Floats;
                if let Some(inexact) = self.inexact.take() {
                    return Err(Error::new(inexact).into());
                }
                match spelled {
                    Spelled::Nan => self.class(Class::Nan, token, place),
                    spelled => float_cell(token, spelled, ElementType::F64, place),
                }
            }
        }
    }

    /// Takes note of an integer that f64 does not hold exactly.
    fn note_inexact(&mut self, token: &[u8], place: impl Fn() -> String) -> Result<(), NoCell> {
        let expected =
            "an integer that f64 holds exactly, as it must be beside decimals; --type f64 takes it rounded";
        if self.kind == Kind::Floats {
            return Err(refused(token, place, expected.to_owned()));
        }
        self.inexact.get_or_insert_with(|| kind_of(token, place, expected.to_owned()));
        Ok(())
    }

    /// Does not count a cell, which will be made once more.
    pub(in crate::io) fn uncount(&mut self, cell: Cell) {
        if let Some(class) = cell.class(self.rules) {
            self.counts.remove(class);
        }
    }

    /// How many were of no number.
    pub(in crate::io) fn counts(&self) -> Counts {
        self.counts
    }

    /// What is wrong, now that nothing more comes.
    pub(in crate::io) fn end(&mut self, name: &str) -> Result<(), Error> {
        if self.asked.is_some() || self.kind == Kind::Floats {
            return Ok(());
        }
        if let Some(too_large) = self.too_large.take() {
            return Err(Error::new(too_large));
        }
        match (&self.negative, &self.large) {
            (Some(negative), Some(large)) => {
                let problem = format!(
                    "no integer type holds both {negative} and {large}; --type f64 takes them rounded"
                );
                Err(Error::input(name, problem))
            }
            _ => Ok(()),
        }
    }
}

fn kind_of(token: &[u8], place: impl Fn() -> String, expected: String) -> ErrorKind {
    ErrorKind::Token { place: place(), token: quoted(token), expected }
}

fn refused(token: &[u8], place: impl Fn() -> String, expected: String) -> NoCell {
    NoCell::Error(Error::new(kind_of(token, place, expected)))
}

/// The cell of a number as a float of this type.
fn float_cell(
    token: &[u8],
    spelled: Spelled,
    element: ElementType,
    place: impl Fn() -> String,
) -> Result<Cell, NoCell> {
    match float(token, element) {
        Some(value) if value.is_finite() || spelled == Spelled::Infinity => {
            Ok(Cell::number(Value::Float(value)))
        }
        _ => Err(refused(token, place, expected(element))),
    }
}

/// The value of two's complement.
fn signed(value: u64, negative: bool) -> i128 {
    if negative { value.cast_signed().into() } else { value.into() }
}

/// What the token is as a float of this type; `None` if it is none.
fn float(token: &[u8], element: ElementType) -> Option<f64> {
    match element {
        ElementType::F32 => fast_float2::parse::<f32, _>(token).ok().map(f64::from),
        _ => fast_float2::parse::<f64, _>(token).ok(),
    }
}
