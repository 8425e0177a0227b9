//! Numbers one at a time, before the common type is known.
//!
//! Integers are compared as integers and decimals as floats, which agrees with the eventual common type, with
//! two exceptions. An integer that is not exact in f64 is an error once there are decimals, as in a sort. And
//! −0 equals 0 among integers but is less among decimals: the caller may have to look ahead. Sizes are compared by their places.

use std::cmp::Ordering;

use crate::error::Error;
use crate::human::quoted;
use crate::io::counts::Counts;
use crate::io::infer::{Conflict, Inference, Number, Spot};
use crate::io::size;
use crate::key::ElementType;
use crate::order::{Class, KeyOrder, Nulls, Reading};

/// More than any 64-bit integer is from the nearest float.
const FAR: i128 = 1 << 32;

/// One sort key of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::io) struct Cell {
    /// 0 for numbers, negative for classes placed before them, positive for those after.
    rank: i8,
    value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Integer(i128),
    Float(f64),
    /// The place of a size.
    Size(u128),
    /// Nanoseconds from the beginning of 1970.
    Time(i128),
    Null(Class),
}

impl Cell {
    /// The cell of an integer.
    pub(in crate::io) fn of_integer(value: i128) -> Self {
        Self::number(Value::Integer(value))
    }

    /// The cell of a float.
    pub(in crate::io) fn of_float(value: f64) -> Self {
        Self::number(Value::Float(value))
    }

    /// The form in messages of a cell that was made of this.
    pub(in crate::io) fn shown(self, token: &[u8]) -> String {
        match self.value {
            Value::Null(Class::Empty) => "an empty field".to_owned(),
            Value::Null(Class::Invalid) => format!("{}, which is no number", quoted(token)),
            _ => quoted(token),
        }
    }

    fn of_class(class: Class, rules: KeyOrder) -> Self {
        let rank = rules.rank(class) as i8;
        let (before, _) = rules.beside_numbers();
        let rank = if rules.place(class) == Nulls::First { rank - before as i8 } else { rank + 1 };
        Self { rank, value: Value::Null(class) }
    }

    /// A word whose order is that of the cells: of numbers the nearest float, and how far they are from it.
    #[inline]
    pub(in crate::io) fn word(self, descending: bool) -> u128 {
        /// More than there are classes of nulls at one end; floats but NaN leave as many words.
        const CLASSES: u64 = 8;
        let word = |float: f64, rest: i128| {
            let bits = float.to_bits();
            let total = if float.is_sign_negative() { !bits } else { bits | 1 << 63 };
            let word = u128::from(total) << 64 | (rest + FAR) as u128;
            if descending { !word } else { word }
        };
        match self.value {
            Value::Integer(integer) | Value::Time(integer) => {
                let float = integer as f64;
                word(float, integer - float as i128)
            }
            Value::Float(float) => word(float, 0),
            Value::Size(place) if descending => !place,
            Value::Size(place) => place,
            Value::Null(_) if self.rank < 0 => {
                u128::from(CLASSES - u64::from(self.rank.unsigned_abs())) << 64
            }
            Value::Null(_) => u128::from(u64::MAX - CLASSES + u64::from(self.rank.unsigned_abs())) << 64,
        }
    }

    /// Whether a word is that of a null, or of a number that is a float, and no size: among such words the higher halves tell
    /// them apart.
    #[inline]
    pub(in crate::io) fn is_exact(word: u128) -> bool {
        [0, FAR as u64, !FAR as u64].contains(&(word as u64))
    }

    fn number(value: Value) -> Self {
        Self { rank: 0, value }
    }

    /// The order of two cells; the direction applies only to numbers.
    pub(in crate::io) fn compare(&self, other: &Self, descending: bool) -> Ordering {
        let float = |integer: i128| integer as f64;
        let numbers = || {
            let order = match (self.value, other.value) {
                (Value::Integer(a), Value::Integer(b)) | (Value::Time(a), Value::Time(b)) => a.cmp(&b),
                (Value::Integer(a), Value::Float(b)) => float(a).total_cmp(&b),
                (Value::Float(a), Value::Integer(b)) => a.total_cmp(&float(b)),
                (Value::Float(a), Value::Float(b)) => a.total_cmp(&b),
                (Value::Size(a), Value::Size(b)) => a.cmp(&b),
                // Numbers beside times are an error in the end, and beside sizes there are none.
                _ => return Ordering::Equal,
            };
            if descending { order.reverse() } else { order }
        };
        self.rank.cmp(&other.rank).then_with(numbers)
    }
}

/// The inference of the type of a column or a text.
#[derive(Debug)]
pub(in crate::io) struct Typing {
    rules: KeyOrder,
    /// Places include a number that increases from token to token, so that they are ordered.
    inference: Inference<(u64, Spot)>,
    /// That of the last token.
    seen: u64,
    /// Whether a look-ahead has found no decimals, so that −0 is 0.
    integers: bool,
    counts: Counts,
}

fn conflicting(conflict: Conflict<(u64, Spot)>) -> Error {
    conflict.into_error(|(_, spot)| spot)
}

impl Typing {
    pub(in crate::io) fn new(asked: Option<ElementType>, rules: KeyOrder) -> Self {
        let inference = Inference::new(asked, rules);
        Self { rules, inference, seen: 0, integers: false, counts: Counts::default() }
    }

    /// Sets whether there are decimals, as found by a look-ahead.
    ///
    /// # Errors
    ///
    /// A conflict with the integers so far.
    pub(in crate::io) fn decide(&mut self, decimals: bool) -> Result<(), Error> {
        self.integers = !decimals;
        if decimals {
            self.inference.push_decimal();
        }
        self.inference.settled().map_err(conflicting)
    }

    /// Whether there were decimals so far.
    pub(in crate::io) fn is_float(&self) -> bool {
        self.inference.is_float()
    }

    /// The state for tokens before which `before` others come, to be joined with the state after those.
    pub(in crate::io) fn fork(&self, before: u64) -> Self {
        let (mut inference, seen) = (self.inference.clone(), self.seen + before);
        inference.rounded = 0;
        Self { rules: self.rules, inference, seen, integers: self.integers, counts: Counts::default() }
    }

    /// The state after the tokens of a fork, too.
    ///
    /// # Errors
    ///
    /// A conflict that other tokens cannot resolve.
    pub(in crate::io) fn join(&self, fork: Self) -> Result<Self, Error> {
        let inference = self.inference.clone().merge(fork.inference);
        inference.settled().map_err(conflicting)?;
        Ok(Self { inference, seen: self.seen.max(fork.seen), counts: self.counts.and(fork.counts), ..fork })
    }

    /// The requested type.
    pub(in crate::io) fn asked(&self) -> Option<ElementType> {
        self.inference.asked()
    }

    /// Whether there is a negative integer, or it would make no difference.
    pub(in crate::io) fn has_negative(&self) -> bool {
        self.asked().is_some() || self.inference.span().least < 0
    }

    /// Adds this many integers between these two, which are exact in f64, and of which none is the first negative one.
    pub(in crate::io) fn push_short(&mut self, span: [i64; 2], count: u64) {
        self.seen += count;
        self.inference.push_exact(span);
    }

    /// Adds an integer that a requested type holds.
    #[inline]
    pub(in crate::io) fn push_integer(&mut self, value: i128, spot: impl Fn() -> Spot) {
        self.seen += 1;
        if self.asked().is_none() {
            self.inference.push_integer(value, || (self.seen, spot()));
        }
        self.push_number(spot);
    }

    /// Adds that there is a number, where there may be times, too.
    #[inline]
    pub(in crate::io) fn push_number(&mut self, spot: impl Fn() -> Spot) {
        self.inference.push_number(|| (self.seen, spot()));
    }

    /// The name of the type, as far as it is known.
    pub(in crate::io) fn name(&self) -> &'static str {
        self.inference.finish().unwrap_or(ElementType::F64).name()
    }

    /// The cell of a token, or of the content of a field. `place` returns its place and column. `None` for −0 while it
    /// is unknown whether there are decimals, among which it is less than 0.
    pub(in crate::io) fn cell(
        &mut self,
        token: &[u8],
        place: impl Fn() -> (String, Option<String>),
    ) -> Result<Option<Cell>, Error> {
        let spot = || {
            let (place, column) = place();
            Spot { place, column, token: token.to_vec() }
        };
        self.seen += 1;
        let number = self.inference.read(token, || (self.seen, spot()));
        let number = number.map_err(|refused| refused.into_error(spot()))?;
        self.inference.settled().map_err(conflicting)?;
        let number = match number {
            Number::MinusZero if self.is_float() => Number::Float(-0.0),
            Number::MinusZero if self.integers => Number::Integer(0),
            number => number,
        };
        let is_size = self.rules.reading == Reading::Sizes;
        Ok(Some(match number {
            Number::Integer(value) if is_size => Cell::number(Value::Size(size::place(value))),
            Number::Cut(value) => Cell::number(Value::Size(size::place_of_cut(value))),
            Number::Float(value) if is_size => Cell::number(Value::Size(size::place_of_float(value))),
            Number::Integer(value) => Cell::of_integer(value),
            Number::Float(value) => Cell::of_float(value),
            Number::Time(time) => Cell::number(Value::Time(time.nanoseconds)),
            Number::MinusZero => return Ok(None),
            Number::Null(class) => {
                self.counts.add(class);
                Cell::of_class(class, self.rules)
            }
        }))
    }

    /// Nulls, and integers that were rounded.
    pub(in crate::io) fn counts(&self) -> Counts {
        Counts { rounded: self.inference.rounded, ..self.counts }
    }

    /// Uncounts a cell that will be made again.
    pub(in crate::io) fn uncount(&mut self, cell: Cell) {
        if let Value::Null(class) = cell.value {
            self.counts.remove(class);
        }
    }

    /// Any conflict that remains at the end of the input.
    pub(in crate::io) fn end(&self) -> Result<(), Error> {
        self.inference.finish().map(|_| ()).map_err(conflicting)
    }
}
