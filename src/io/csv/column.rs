//! The fields of a column as numbers of one type, and those as digits that order rows.
//!
//! Cores read parts of a column on their own, as integers up to the first decimal and as floats from there on; what type
//! the column is of is known when all have been read. Then each field becomes a *digit*, a number from 0 on: first the classes
//! that stand before the numbers, then the numbers, from the least that there is, then the classes behind them.

use std::cmp::Reverse;

use crate::io::number::{Spelled, has_fraction, integer, is_exactly, spelled};
use crate::io::text::integers::{holds, two_complement};
use crate::key::{ElementType, KeyMap, Word};
use crate::order::{Class, KeyOrder, Place};
use crate::parallel::map_parts;

/// Fields of a column, one after another.
pub(super) struct Column {
    /// The type asked for.
    asked: Option<ElementType>,
    /// Integers in two's complement, or the bits of floats; anything for what is no number.
    values: Vec<u64>,
    /// Whether they are floats: the type asked for, or f64.
    floats: bool,
    /// What is no number, by row.
    classes: Vec<(u32, Class)>,
    /// The least integer and its row, if it is negative, else 0.
    least: (i64, u32),
    /// The greatest integer and its row, if it is positive, else 0.
    greatest: (u64, u32),
    /// Rows with an integer zero that has a minus, which only floats make something of.
    minus_zeros: Vec<u32>,
    /// Whether there is a decimal, inf or nan.
    decimals: bool,
    /// The first row with an integer that f64 does not hold exactly.
    inexact: Option<u32>,
    /// The first row with an integer that no 64-bit type holds.
    too_large: Option<u32>,
    /// Whether no integer type holds all integers, though there is one for each.
    apart: bool,
}

/// Why a field cannot be in its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The rules make its class an error.
    Class(Class),
    /// The type does not hold it.
    Type(ElementType),
}

impl Column {
    pub(super) fn new(asked: Option<ElementType>, rows: usize) -> Self {
        Self {
            asked,
            values: Vec::with_capacity(rows),
            floats: asked.is_some_and(ElementType::is_float),
            classes: Vec::new(),
            least: (0, 0),
            greatest: (0, 0),
            minus_zeros: Vec::new(),
            decimals: false,
            inexact: None,
            too_large: None,
            apart: false,
        }
    }

    /// What is no number, class by class.
    pub(super) fn classes(&self) -> impl Iterator<Item = Class> {
        self.classes.iter().map(|&(_, class)| class)
    }

    /// Adds the next row's field, without quotes and blanks around it.
    #[inline]
    pub(super) fn push(&mut self, field: &[u8], rules: KeyOrder) -> Result<(), Refused> {
        let row = self.values.len() as u32;
        if field.is_empty() {
            return self.push_class(row, Class::Empty, rules);
        }
        if self.floats {
            return self.push_float(row, field, rules);
        }
        if let Some((value, negative)) = integer(field).and_then(two_complement) {
            if let Some(element) = self.asked.filter(|&element| !holds(element, value, negative)) {
                return Err(Refused::Type(element));
            }
            if negative && value.cast_signed() < self.least.0 {
                self.least = (value.cast_signed(), row);
            } else if !negative && value > self.greatest.0 {
                self.greatest = (value, row);
            } else if value == 0 && field[0] == b'-' {
                self.minus_zeros.push(row);
            }
            if are_apart(self.least.0, self.greatest.0) {
                // They are different floats still, if there turn out to be decimals.
                self.apart = true;
                self.turn_to_floats();
                return self.push_float(row, field, rules);
            }
            self.values.push(value);
            return Ok(());
        }
        match (spelled(field), self.asked) {
            (None, _) => self.push_class(row, Class::Invalid, rules),
            (Some(_), Some(element)) => Err(Refused::Type(element)),
            (Some(Spelled::Nan), None) => {
                self.decimals = true;
                self.push_class(row, Class::Nan, rules)
            }
            (Some(_), None) => {
                self.turn_to_floats();
                self.push_float(row, field, rules)
            }
        }
    }

    fn push_class(&mut self, row: u32, class: Class, rules: KeyOrder) -> Result<(), Refused> {
        if rules.place(class) == Place::Error {
            return Err(Refused::Class(class));
        }
        self.classes.push((row, class));
        self.values.push(0);
        Ok(())
    }

    #[inline]
    fn push_float(&mut self, row: u32, field: &[u8], rules: KeyOrder) -> Result<(), Refused> {
        let single = self.asked == Some(ElementType::F32);
        let read = if single {
            fast_float2::parse_partial::<f32, _>(field)
                .map(|(value, length)| (f64::from(value), u64::from(value.to_bits()), length))
        } else {
            fast_float2::parse_partial::<f64, _>(field)
                .map(|(value, length)| (value, value.to_bits(), length))
        };
        let read = read.ok().filter(|&(.., length)| length == field.len());
        // What has a fraction is spelled with a point or an exponent; others take a closer look.
        if let Some((_, bits, _)) = read.filter(|&(value, ..)| has_fraction(value)) {
            self.decimals = true;
            self.values.push(bits);
            return Ok(());
        }
        let Some(spelled) = spelled(field) else { return self.push_class(row, Class::Invalid, rules) };
        let element = self.asked.unwrap_or(ElementType::F64);
        let (value, bits, _) = read.ok_or(Refused::Type(element))?;
        match spelled {
            Spelled::Nan => {
                self.decimals = true;
                return self.push_class(row, Class::Nan, rules);
            }
            Spelled::Integer | Spelled::Decimal if value.is_infinite() => {
                return Err(Refused::Type(element));
            }
            Spelled::Integer if self.asked.is_none() => self.note_integer(row, field, value),
            Spelled::Integer => {}
            Spelled::Decimal | Spelled::Infinity => self.decimals = true,
        }
        self.values.push(bits);
        Ok(())
    }

    /// Takes note of what an integer beside decimals must not be.
    fn note_integer(&mut self, row: u32, field: &[u8], value: f64) {
        if self.inexact.is_none() && !is_exactly(field, value) {
            self.inexact = Some(row);
        }
        if self.too_large.is_none() && integer(field).and_then(two_complement).is_none() {
            self.too_large = Some(row);
        }
    }

    /// Makes f64 of integers.
    fn turn_to_floats(&mut self) {
        if std::mem::replace(&mut self.floats, true) {
            return;
        }
        // Of the two that are apart, the later one is not among the values yet.
        let signed = self.least.0 < 0 && self.least.1 < self.values.len() as u32;
        for (row, value) in (0..).zip(&mut self.values) {
            let integer = if signed { i128::from(value.cast_signed()) } else { i128::from(*value) };
            let float = integer as f64;
            if self.inexact.is_none() && float as i128 != integer {
                self.inexact = Some(row);
            }
            *value = float.to_bits();
        }
        for &row in &self.minus_zeros {
            self.values[row as usize] = (-0.0_f64).to_bits();
        }
    }
}

/// What is wrong with a column as a whole, by the number of a part of it and the row there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoType {
    /// No 64-bit type holds this integer.
    TooLarge(usize, u32),
    /// f64, which decimals demand, does not hold this integer exactly.
    Inexact(usize, u32),
    /// No integer type holds both of these.
    Apart((usize, u32), (usize, u32)),
}

/// Numbers from 0 to `most`, one for each row, in parts: the smaller it is, the earlier its row.
#[derive(Debug)]
pub(super) struct Digits {
    pub(super) parts: Vec<Vec<u64>>,
    pub(super) most: u64,
}

/// Whether no integer type holds both.
fn are_apart(least: i64, greatest: u64) -> bool {
    least < 0 && i64::try_from(greatest).is_err()
}

/// The type of a column that was read in these parts, where none was asked for.
pub(super) fn type_of(parts: &[Column]) -> Result<ElementType, NoType> {
    if parts.iter().any(|part| part.decimals) {
        return Ok(ElementType::F64);
    }
    let too_large = (0..).zip(parts).find_map(|(number, part)| Some((number, part.too_large?)));
    if let Some((part, row)) = too_large {
        return Err(NoType::TooLarge(part, row));
    }
    // Which part has it, for a message.
    let least = (0..).zip(parts).map(|(number, part)| (part.least.0, number, part.least.1)).min();
    let greatest =
        (0..).zip(parts).map(|(number, part)| (part.greatest.0, Reverse(number), part.greatest.1)).max();
    let (least, part, row) = least.unwrap_or_default();
    let (greatest, Reverse(other_part), other_row) = greatest.unwrap_or((0, Reverse(0), 0));
    let holds_all = |&element: &ElementType| {
        (least == 0 || holds(element, least.cast_unsigned(), true)) && holds(element, greatest, false)
    };
    let all = [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64];
    all.into_iter().find(holds_all).ok_or(NoType::Apart((part, row), (other_part, other_row)))
}

/// The digits of a column, one or, where the numbers alone take all of 64 bits, two, the more significant one first.
pub(super) fn digits(mut parts: Vec<Column>, order: KeyMap, rules: KeyOrder) -> Result<Vec<Digits>, NoType> {
    if order.element == ElementType::F64 {
        parts = map_parts(parts, Column::in_floats);
        // Where the type was asked for, none is noted.
        let inexact = (0..).zip(&parts).find_map(|(number, part)| Some((number, part.inexact?)));
        if let Some((part, row)) = inexact {
            return Err(NoType::Inexact(part, row));
        }
    }
    let keys = map_parts(parts, |part| part.in_keys(order));
    let extremes = keys.iter().filter_map(|(_, extremes)| *extremes);
    let extremes = extremes.reduce(|(least, greatest), (a, b)| (least.min(a), greatest.max(b)));
    let parts: Vec<Column> = keys.into_iter().map(|(part, _)| part).collect();
    let (least, greatest) = extremes.unwrap_or_default();
    let span = greatest - least;
    let (before, behind) =
        if parts.iter().all(|part| part.classes.is_empty()) { (0, 0) } else { rules.beside_numbers() };
    let class_digit = |class, span: u64| {
        let rank = rules.rank(class);
        if rules.place(class) == Place::First { rank } else { before + span + 1 + rank }
    };
    if let Some(most) = span.checked_add(before + behind) {
        let parts = map_parts(parts, |mut part| {
            part.values.iter_mut().for_each(|key| *key = key.wrapping_sub(least).wrapping_add(before));
            part.classes
                .iter()
                .for_each(|&(row, class)| part.values[row as usize] = class_digit(class, span));
            part.values
        });
        return Ok(vec![Digits { parts, most }]);
    }
    let both = map_parts(parts, |mut part| {
        let mut digits = vec![before; part.values.len()];
        part.values.iter_mut().for_each(|key| *key = key.wrapping_sub(least));
        for &(row, class) in &part.classes {
            digits[row as usize] = class_digit(class, 0);
            part.values[row as usize] = 0;
        }
        (digits, part.values)
    });
    let (classes, numbers) = both.into_iter().unzip();
    Ok(vec![Digits { parts: classes, most: before + behind }, Digits { parts: numbers, most: span }])
}

impl Column {
    /// With floats for values.
    fn in_floats(mut self) -> Self {
        self.turn_to_floats();
        self
    }

    /// With keys for values; and the least and the greatest of those that are numbers.
    fn in_keys(mut self, order: KeyMap) -> (Self, Option<(u64, u64)>) {
        if order.element.key_words() == 1 {
            // The type holds the values, so the low half is the value in two's complement of 32 bits.
            self.values.iter_mut().for_each(|value| *value = (*value as u32).key(order).into());
        } else {
            self.values.iter_mut().for_each(|value| *value = value.key(order));
        }
        let mut extremes: Option<(u64, u64)> = None;
        let mut start = 0;
        let ends = self.classes.iter().map(|&(row, _)| row as usize).chain([self.values.len()]);
        for end in ends {
            for &key in &self.values[start..end] {
                let (least, greatest) = extremes.unwrap_or((key, key));
                extremes = Some((least.min(key), greatest.max(key)));
            }
            start = end + 1;
        }
        (self, extremes)
    }
}
