//! Numbers as they come, before it is known what type all of them are of.
//!
//! Integers are compared as integers and decimals as floats, which is what the type of all would make of them, with two
//! exceptions. An integer that f64 does not hold exactly is an error once there are decimals, as in a sort. And −0 is 0 among integers but
//! less than it among decimals: where one comes first, somebody has to look ahead.

use std::cmp::Ordering;

use crate::error::{Error, ErrorKind};
use crate::io::number::{Spelled, integer, is_exactly, printable, spelled};
use crate::io::rules::{Class, Place, Rules};
use crate::io::text::integers::{holds, two_complement};
use crate::io::text::{NO_NAN, expected};
use crate::key::ElementType;

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

    fn of_class(class: Class, rules: Rules) -> Self {
        let rank = rules.rank(class) as i8;
        let (before, _) = rules.beside_numbers();
        let rank = if rules.place(class) == Place::First { rank - before as i8 } else { rank + 1 };
        Self { rank, value: Value::Integer(0) }
    }

    fn number(value: Value) -> Self {
        Self { rank: 0, value }
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
    rules: Rules,
    /// What is wrong if there are decimals.
    inexact: Option<ErrorKind>,
    /// What is wrong if there are none.
    too_large: Option<ErrorKind>,
    /// The least integer if it is negative, and the greatest, each with the places where they are.
    least: (i128, String),
    greatest: (i128, String),
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
    pub(in crate::io) fn new(asked: Option<ElementType>, rules: Rules) -> Self {
        let none = (0, String::new());
        Self {
            asked,
            kind: Kind::Unknown,
            rules,
            inexact: None,
            too_large: None,
            least: none.clone(),
            greatest: none,
        }
    }

    /// From here on it is known whether there are decimals.
    pub(in crate::io) fn decide(&mut self, decimals: bool) {
        self.kind = if decimals { Kind::Floats } else { Kind::Integers };
    }

    /// Whether there were decimals so far.
    pub(in crate::io) fn is_float(&self) -> bool {
        self.kind == Kind::Floats
    }

    /// The name of the type, as far as it is known.
    pub(in crate::io) fn name(&self) -> &'static str {
        let integers = [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64];
        let fits = |&element: &ElementType| {
            let (least, greatest) = (self.least.0 as i64, self.greatest.0 as u64);
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
        let error = |expected: String| ErrorKind::Token { place: place(), token: printable(token), expected };
        let refused = |expected: String| Err(NoCell::Error(Error::new(error(expected))));
        let class = |class: Class, expected: &str| match self.rules.place(class) {
            Place::Error => refused(expected.to_owned()),
            _ => Ok(Cell::of_class(class, self.rules)),
        };
        if token.is_empty() {
            return class(Class::Empty, "to be empty, by --empty error");
        }
        let Some(spelled) = spelled(token) else { return class(Class::Invalid, "a number") };
        match self.asked {
            None => {}
            Some(element) if element.is_float() => {
                if spelled == Spelled::Nan {
                    return class(Class::Nan, NO_NAN);
                }
                return match float(token, element) {
                    Some(value) if value.is_finite() || spelled == Spelled::Infinity => {
                        Ok(Cell::number(Value::Float(value)))
                    }
                    _ => refused(expected(element)),
                };
            }
            Some(element) => {
                let value = integer(token).and_then(two_complement);
                return match value.filter(|&(value, negative)| holds(element, value, negative)) {
                    Some((value, negative)) => Ok(Cell::number(Value::Integer(signed(value, negative)))),
                    None => refused(expected(element)),
                };
            }
        }
        if spelled != Spelled::Integer {
            if self.kind == Kind::Unknown {
                self.kind = Kind::Floats;
                if let Some(inexact) = self.inexact.take() {
                    return Err(NoCell::Error(Error::new(inexact)));
                }
            }
            if spelled == Spelled::Nan {
                return match self.rules.nan {
                    Place::Error => refused(NO_NAN.to_owned()),
                    _ => Ok(Cell::of_class(Class::Nan, self.rules)),
                };
            }
            return match float(token, ElementType::F64) {
                Some(value) if value.is_finite() || spelled == Spelled::Infinity => {
                    Ok(Cell::number(Value::Float(value)))
                }
                _ => refused(expected(ElementType::F64)),
            };
        }
        let value = float(token, ElementType::F64).unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            return refused(expected(ElementType::F64));
        }
        if !is_exactly(token, value) {
            let inexact = || {
                error(
                    "an integer that f64 holds exactly, as it must be beside decimals; --type f64 takes it rounded"
                        .to_owned(),
                )
            };
            if self.kind == Kind::Floats {
                return Err(NoCell::Error(Error::new(inexact())));
            }
            self.inexact.get_or_insert_with(inexact);
        }
        let Some((magnitude, negative)) = integer(token).and_then(two_complement) else {
            let expected = "an integer that a 64-bit type holds; --type f64 takes it rounded";
            self.too_large.get_or_insert_with(|| error(expected.to_owned()));
            return Ok(Cell::number(Value::Float(value)));
        };
        let integer = signed(magnitude, negative);
        if integer == 0 && token[0] == b'-' {
            return match self.kind {
                Kind::Unknown => Err(NoCell::Undecided),
                Kind::Integers => Ok(Cell::number(Value::Integer(0))),
                Kind::Floats => Ok(Cell::number(Value::Float(-0.0))),
            };
        }
        let shown = || format!("{} ({})", printable(token), place());
        if integer < self.least.0 {
            self.least = (integer, shown());
        } else if integer > self.greatest.0 {
            self.greatest = (integer, shown());
        }
        Ok(Cell::number(Value::Integer(integer)))
    }

    /// What is wrong, now that nothing more comes.
    pub(in crate::io) fn end(&mut self, name: &str) -> Result<(), Error> {
        if self.kind == Kind::Floats || self.asked.is_some() {
            return Ok(());
        }
        if let Some(too_large) = self.too_large.take() {
            return Err(Error::new(too_large));
        }
        let ((least, lower), (greatest, higher)) = (&self.least, &self.greatest);
        if *least < 0 && i64::try_from(*greatest).is_err() {
            let problem =
                format!("no integer type holds both {lower} and {higher}; --type f64 takes them rounded");
            return Err(Error::input(name, problem));
        }
        Ok(())
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
