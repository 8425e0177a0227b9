//! The fields of a column as numbers of one type, and as the keys that stay.
//!
//! Cores read parts of a column independently, as integers up to the first decimal and as floats after it.

use crate::io::infer::{Inference, Number, Refused, limits};
use crate::io::keys::{self, MINUS_ZERO};
use crate::io::number::{Tokens, float, has_fraction};
use crate::io::size;
use crate::key::ElementType;
use crate::order::{Class, KeyOrder, Reading};

/// The fields of a column, in order.
pub(super) struct Column {
    /// Integers in two's complement, the keys of floats, or times in units of their decimals; unspecified for a null.
    values: Vec<u64>,
    /// The places of sizes instead, once neither integers nor floats hold them.
    wide: Option<Vec<u128>>,
    /// How many decimals the seconds of times have.
    decimals: u8,
    /// The type that floats were rounded to, if the values are floats.
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
            wide: None,
            decimals: 0,
            floats: asked.filter(|element| element.is_float()),
            classes: Vec::new(),
            minus_zeros: Vec::new(),
            inference: Inference::new(asked, rules),
        }
    }

    /// How many fields there are.
    pub(super) fn len(&self) -> usize {
        self.wide.as_ref().map_or(self.values.len(), Vec::len)
    }

    /// The first row with an integer −0.
    pub(super) fn minus_zero(&self) -> Option<usize> {
        self.minus_zeros.first().map(|&row| row as usize)
    }

    /// Adds the field of the row at offset `place`, without quotes and surrounding blanks.
    #[inline]
    pub(super) fn push(&mut self, field: &[u8], place: usize) -> Result<(), Refused> {
        let number = self.inference.read(field, || place)?;
        self.push_number(number);
        Ok(())
    }

    /// Adds a number or a null that was read.
    #[inline]
    fn push_number(&mut self, number: Number) {
        if self.wide.is_some() || self.inference.is_wide(false) {
            return self.push_wide(number);
        }
        let row = self.values.len() as u32;
        if let Number::Time(time) = number {
            self.refine(time.decimals);
            let unit = 10_i128.pow(9 - u32::from(self.decimals));
            // If it does not fit, the inference of the type ends in an error.
            return self.values.push((time.nanoseconds / unit) as u64);
        }
        if self.floats.is_none() {
            match number {
                // No 64-bit type holds both, but f64 may, if there are decimals.
                Number::Integer(value) if self.inference.is_apart() => self.turn_to_floats(value > 0),
                Number::Integer(value) => return self.values.push(value as u64),
                Number::MinusZero => self.minus_zeros.push(row),
                Number::Float(_) => self.turn_to_floats(self.inference.span().least < 0),
                // Not here any more.
                Number::Cut(_) | Number::Time(_) | Number::Null(_) => {}
            }
        }
        match number {
            Number::Null(class) => self.classes.push((row, class)),
            // Beside integers that no type holds.
            Number::MinusZero if self.floats.is_some() && !self.inference.is_float() => {
                self.minus_zeros.push(row);
            }
            _ => {}
        }
        let has_value = self.floats.is_some();
        self.values.push(if has_value { keys::high_of(number.to_float(), false) } else { 0 });
    }

    /// Adds the tokens of a piece of text, whose first byte is at `place` in all of it. Calls `keep`
    /// with where each begins and ends.
    ///
    /// # Errors
    ///
    /// The first token that is refused, or `None` where a line has more than it may have, and its place.
    pub(super) fn push_tokens(
        &mut self,
        tokens: &mut Tokens,
        bytes: &[u8],
        place: usize,
        mut keep: impl FnMut(usize, usize),
    ) -> Result<(), (usize, Option<Refused>)> {
        loop {
            self.push_short(tokens, &mut keep);
            let Some(start) = tokens.find() else { break };
            let read = match self.floats.filter(|_| self.inference.has_number()) {
                Some(element) => float(&bytes[start..], element),
                None => None,
            };
            // A number with a fraction always has a point or an exponent.
            if let Some((value, length)) = read.filter(|&(value, _)| has_fraction(value))
                && tokens.pass(length)
            {
                self.inference.push_decimal();
                self.values.push(keys::high_of(value, false));
                keep(start, start + length);
                continue;
            }
            let token = tokens.take_token();
            let at = || place + start;
            let number = match read {
                Some((value, length)) if length == token.len() => {
                    self.inference.read_closely(token, || Some(value), at)
                }
                _ => self.inference.read(token, at),
            };
            self.push_number(number.map_err(|refused| (at(), Some(refused)))?);
            keep(start, start + token.len());
        }
        tokens.excess.map_or(Ok(()), |excess| Err((place + excess, None)))
    }

    /// Adds short integers, as most are, as long as none of them decides anything about the type.
    #[inline]
    fn push_short(&mut self, tokens: &mut Tokens, mut keep: impl FnMut(usize, usize)) {
        // All of these are exact in f64.
        const EXACT: i64 = 1 << f64::MANTISSA_DIGITS;
        let asked = self.inference.asked();
        if self.floats.is_some() || self.wide.is_some() || !self.inference.has_number() {
            return;
        }
        // A first negative one is noted elsewhere.
        let least = if asked.is_some() || self.inference.span().least < 0 { -EXACT } else { 0 };
        let [least, greatest] = asked.map_or([least.into(), EXACT.into()], |asked| limits(asked).into());
        let [least, greatest] =
            [least, greatest].map(|limit: i128| limit.clamp((-EXACT).into(), EXACT.into()) as i64);
        let mut span = [0, 0];
        while let Some(start) = tokens.find_next() {
            let Some(short) = tokens.short_integer() else { break };
            let value = short.value;
            // −0 may be less than 0.
            if value < least || value > greatest || value == 0 && !short.canonical {
                break;
            }
            span = [span[0].min(value), span[1].max(value)];
            self.values.push(value as u64);
            keep(start, start + short.length);
            tokens.pass(short.length);
        }
        if asked.is_none() {
            self.inference.push_exact(span);
        }
    }

    /// The words of the keys that stay, if there are `decimals` in the column; `None` if nobody knows yet.
    pub(super) fn keys(mut self, descending: bool, decimals: Option<bool>, rules: KeyOrder) -> keys::Column {
        let is_size = rules.reading == Reading::Sizes;
        let asked = self.inference.asked();
        let signed = asked.map_or(self.inference.span().least < 0, |asked| limits(asked).0 < 0);
        let are_exact = asked.is_none() && self.inference.span().are_exact();
        let minus_zero =
            decimals.map_or(MINUS_ZERO, |decimals| keys::minus_zero(decimals, descending, rules));
        if is_size && self.wide.is_none() {
            self.widen(signed);
        }
        let minus_zeros = std::mem::take(&mut self.minus_zeros);
        let is_high = decimals.is_some() || minus_zeros.is_empty();
        let values = std::mem::take(&mut self.values);
        // What has as many bits as before is written where it was.
        let mut words = if let Some(places) = self.wide {
            keys::Column::Whole(places.into_iter().map(|place| keys::of_place(place, descending)).collect())
        } else if self.floats.is_some() {
            let mut high = values;
            if descending {
                high.iter_mut().for_each(|high| *high = !*high);
            }
            // Without decimals these are integers that no type holds.
            if is_high {
                keys::Column::High(high)
            } else {
                keys::Column::Whole(high.into_iter().map(keys::whole).collect())
            }
        } else if self.inference.decimals().is_some() {
            let unit = 10_i128.pow(9 - u32::from(self.decimals));
            let time = |value: u64| keys::of_integer(i128::from(value.cast_signed()) * unit, descending);
            keys::Column::Whole(values.into_iter().map(time).collect())
        } else if is_high && (are_exact || values.iter().all(|&value| is_exact(value, signed))) {
            let high = |value: f64| keys::high_of(value, descending);
            keys::Column::High(if signed {
                values.into_iter().map(|value| high(value.cast_signed() as f64)).collect()
            } else {
                values.into_iter().map(|value| high(value as f64)).collect()
            })
        } else {
            let integer = |value: u64| if signed { value.cast_signed().into() } else { value.into() };
            keys::Column::Whole(
                values.into_iter().map(|value| keys::of_integer(integer(value), descending)).collect(),
            )
        };
        for row in minus_zeros {
            words.set(row as usize, minus_zero);
        }
        for &(row, class) in &self.classes {
            words.set(row as usize, keys::whole(keys::of_null(class, rules)));
        }
        words
    }

    /// Adds a size that may be any.
    fn push_wide(&mut self, number: Number) {
        if self.wide.is_none() {
            // What came before an integer that is apart is unlike it.
            let signed = match number {
                Number::Integer(value) if self.inference.is_apart() => value > 0,
                _ => self.inference.span().least < 0,
            };
            self.widen(signed);
        }
        let Some(places) = &mut self.wide else { return };
        let row = places.len() as u32;
        places.push(match number {
            Number::Integer(value) => size::place(value),
            Number::Cut(value) => size::place_of_cut(value),
            Number::Float(value) => size::place_of_float(value),
            Number::MinusZero | Number::Time(_) | Number::Null(_) => size::place(0),
        });
        match number {
            Number::MinusZero => self.minus_zeros.push(row),
            Number::Null(class) => self.classes.push((row, class)),
            _ => {}
        }
    }

    /// Converts integers or floats to places of sizes; `signed` if some integers are negative.
    fn widen(&mut self, signed: bool) {
        let place = |value: u64| match self.floats {
            Some(_) => size::place_of_float(keys::float(value)),
            None if signed => size::place(value.cast_signed().into()),
            None => size::place(value.into()),
        };
        self.wide = Some(std::mem::take(&mut self.values).into_iter().map(place).collect());
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
            *value = keys::high_of(if signed { value.cast_signed() as f64 } else { *value as f64 }, false);
        }
        for &row in &self.minus_zeros {
            self.values[row as usize] = keys::high_of(-0.0, false);
        }
    }
}

/// Whether f64 holds an integer and all that are less.
fn is_exact(value: u64, signed: bool) -> bool {
    (if signed { value.cast_signed().unsigned_abs() } else { value }) <= 1 << f64::MANTISSA_DIGITS
}
