//! The fields of a column as numbers of one type, and as digits that order rows.
//!
//! Cores read parts of a column independently, as integers up to the first decimal and as floats after it;
//! the type is known when all have been read. Each field then becomes a *digit*, a number from 0: first the
//! null classes placed before the numbers, then the numbers from the least on, then the other null classes.

use crate::io::infer::{Inference, Number, Refused};
use crate::key::{ElementType, KeyMap, KeyWords, Word};
use crate::order::{Class, KeyOrder, Nulls};
use crate::parallel::map_parts;

/// The fields of a column, in order.
pub(super) struct Column {
    /// Integers in two's complement, the bits of floats, or times in units of their decimals; unspecified for a null.
    values: Vec<u64>,
    /// How many decimals the seconds of times have.
    decimals: u8,
    /// The float type of the values, if they are floats.
    floats: Option<ElementType>,
    /// Nulls, by row.
    pub(super) classes: Vec<(u32, Class)>,
    /// Rows with an integer −0, which differs from 0 among floats.
    minus_zeros: Vec<u32>,
    /// The inference of the type; places are row offsets.
    pub(super) inference: Inference<usize>,
}

impl Column {
    pub(super) fn new(asked: Option<ElementType>, rules: KeyOrder, rows: usize) -> Self {
        Self {
            values: Vec::with_capacity(rows),
            decimals: 0,
            floats: asked.filter(|element| element.is_float()),
            classes: Vec::new(),
            minus_zeros: Vec::new(),
            inference: Inference::new(asked, rules),
        }
    }

    /// Whether there is a −0 among integers.
    pub(super) fn has_minus_zeros(&self) -> bool {
        !self.minus_zeros.is_empty()
    }

    /// Adds the field of the row at offset `place`, without quotes and surrounding blanks.
    #[inline]
    pub(super) fn push(&mut self, field: &[u8], place: usize) -> Result<(), Refused> {
        let number = self.inference.read(field, || place)?;
        let row = self.values.len() as u32;
        if let Number::Time(time) = number {
            self.refine(time.decimals);
            let unit = 10_i128.pow(9 - u32::from(self.decimals));
            // If it does not fit, the inference of the type ends in an error.
            self.values.push((time.nanoseconds / unit) as u64);
            return Ok(());
        }
        if self.floats.is_none() {
            match number {
                // No 64-bit type holds both, but f64 may, if there are decimals.
                Number::Integer(value) if self.inference.is_apart() => self.turn_to_floats(value > 0),
                Number::Integer(value) => {
                    self.values.push(value as u64);
                    return Ok(());
                }
                Number::MinusZero => self.minus_zeros.push(row),
                Number::Float(_) => self.turn_to_floats(self.inference.span().least < 0),
                // Not here any more.
                Number::Time(_) | Number::Null(_) => {}
            }
        }
        if let Number::Null(class) = number {
            self.classes.push((row, class));
        }
        self.values.push(match self.floats {
            Some(ElementType::F32) => (number.to_float() as f32).to_bits().into(),
            Some(_) => number.to_float().to_bits(),
            None => 0,
        });
        Ok(())
    }

    /// Converts times to seconds with at least this many decimals.
    fn refine(&mut self, decimals: u8) {
        if let Some(more @ 1..) = decimals.checked_sub(self.decimals) {
            let times = 10_u64.pow(more.into());
            self.values.iter_mut().for_each(|value| *value = value.wrapping_mul(times));
            self.decimals = decimals;
        }
    }

    /// Converts integers to f64; `signed` if some are negative.
    fn turn_to_floats(&mut self, signed: bool) {
        self.floats = Some(ElementType::F64);
        for value in &mut self.values {
            *value = if signed { value.cast_signed() as f64 } else { *value as f64 }.to_bits();
        }
        for &row in &self.minus_zeros {
            self.values[row as usize] = (-0.0_f64).to_bits();
        }
    }
}

/// A digit from 0 to `most` for each row, in parts; rows are ordered by it.
#[derive(Debug)]
pub(super) struct Digits {
    pub(super) parts: Vec<Vec<u64>>,
    pub(super) most: u64,
}

/// The digits of a column of this type, of whose times these are the decimals, if there are any: one, or two (the more significant first) if numbers fill 64 bits.
pub(super) fn digits(
    mut parts: Vec<Column>,
    order: KeyMap,
    decimals: Option<u8>,
    rules: KeyOrder,
) -> Vec<Digits> {
    if let Some(decimals) = decimals {
        parts.iter_mut().for_each(|part| part.refine(decimals));
    } else if order.element == ElementType::F64 {
        parts = map_parts(parts, Column::in_floats);
    }
    let keys = map_parts(parts, |part| part.in_keys(order));
    let extremes = keys.iter().filter_map(|(_, extremes)| *extremes);
    let extremes = extremes.reduce(|(least, greatest), (a, b)| (least.min(a), greatest.max(b)));
    let parts: Vec<Column> = keys.into_iter().map(|(part, _)| part).collect();
    let (least, greatest) = extremes.unwrap_or_default();
    let span = greatest - least;
    let (before, after) =
        if parts.iter().all(|part| part.classes.is_empty()) { (0, 0) } else { rules.beside_numbers() };
    let class_digit = |class, span: u64| {
        let rank = rules.rank(class);
        if rules.place(class) == Nulls::First { rank } else { before + span + 1 + rank }
    };
    if let Some(most) = span.checked_add(before + after) {
        let parts = map_parts(parts, |mut part| {
            part.values.iter_mut().for_each(|key| *key = key.wrapping_sub(least).wrapping_add(before));
            part.classes
                .iter()
                .for_each(|&(row, class)| part.values[row as usize] = class_digit(class, span));
            part.values
        });
        return vec![Digits { parts, most }];
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
    vec![Digits { parts: classes, most: before + after }, Digits { parts: numbers, most: span }]
}

impl Column {
    /// Converts the values to floats.
    fn in_floats(mut self) -> Self {
        if self.floats.is_none() {
            self.turn_to_floats(self.inference.span().least < 0);
        }
        self
    }

    /// Converts the values to keys; also returns the range of those that are numbers.
    fn in_keys(mut self, order: KeyMap) -> (Self, Option<(u64, u64)>) {
        if order.element.key_words() == KeyWords::One {
            // The type holds the values, so the low half is their two's complement in 32 bits.
            let map = u32::map(order);
            self.values.iter_mut().for_each(|value| *value = (*value as u32).key(map).into());
        } else {
            let map = u64::map(order);
            self.values.iter_mut().for_each(|value| *value = value.key(map));
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
