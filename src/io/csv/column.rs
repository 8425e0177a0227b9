//! The fields of a column as numbers of one type, and as digits that order rows.
//!
//! Cores read parts of a column independently, as integers up to the first decimal and as floats after it;
//! the type is known when all have been read. Each field then becomes a *digit*, a number from 0: first the
//! null classes placed before the numbers, then the numbers from the least on, then the other null classes.

use crate::io::infer::{Inference, Number, Refused, limits};
use crate::io::keys::{self, Form, MINUS_ZERO};
use crate::io::number::{Tokens, float, has_fraction};
use crate::io::size;
use crate::key::{ElementType, KeyMap, KeyWords, Word};
use crate::order::{Class, KeyOrder, Nulls, Reading};
use crate::parallel::map_parts;

/// The fields of a column, in order.
pub(super) struct Column {
    /// Integers in two's complement, the bits of floats, or times in units of their decimals; unspecified for a null.
    values: Vec<u64>,
    /// The places of sizes instead, once neither integers nor floats hold them.
    wide: Option<Vec<u128>>,
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
        if self.wide.is_some() || self.inference.is_wide(false) {
            self.push_wide(number);
            return Ok(());
        }
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
        self.values.push(match self.floats {
            Some(ElementType::F32) => (number.to_float() as f32).to_bits().into(),
            Some(_) => number.to_float().to_bits(),
            None => 0,
        });
        Ok(())
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
            if let Some(element) = self.floats
                && let Some((value, length)) = float(&bytes[start..], element)
                && has_fraction(value)
                && self.inference.has_number()
                // A number with a fraction always has a point or an exponent.
                && tokens.pass(length)
            {
                self.inference.push_decimal();
                self.values.push(match element {
                    ElementType::F32 => (value as f32).to_bits().into(),
                    _ => value.to_bits(),
                });
                keep(start, start + length);
                continue;
            }
            let token = tokens.take_token();
            self.push(token, place + start).map_err(|refused| (place + start, Some(refused)))?;
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
    pub(super) fn keys(mut self, descending: bool, decimals: Option<bool>, rules: KeyOrder) -> Form {
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
            Form::Whole(places.into_iter().map(|place| keys::of_place(place, descending)).collect())
        } else if let Some(element) = self.floats {
            let float = |bits: u64| match element {
                ElementType::F32 => f32::from_bits(bits as u32).into(),
                _ => f64::from_bits(bits),
            };
            let high = values.into_iter().map(|bits| keys::high_of(float(bits), descending));
            // Without decimals these are integers that no type holds.
            if is_high { Form::High(high.collect()) } else { Form::Whole(high.map(keys::whole).collect()) }
        } else if self.inference.decimals().is_some() {
            let unit = 10_i128.pow(9 - u32::from(self.decimals));
            let time = |value: u64| keys::of_integer(i128::from(value.cast_signed()) * unit, descending);
            Form::Whole(values.into_iter().map(time).collect())
        } else if is_high && (are_exact || values.iter().all(|&value| is_exact(value, signed))) {
            let high = |value: f64| keys::high_of(value, descending);
            Form::High(if signed {
                values.into_iter().map(|value| high(value.cast_signed() as f64)).collect()
            } else {
                values.into_iter().map(|value| high(value as f64)).collect()
            })
        } else {
            let integer = |value: u64| if signed { value.cast_signed().into() } else { value.into() };
            Form::Whole(
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
            Some(_) => size::place_of_float(f64::from_bits(value)),
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
            *value = if signed { value.cast_signed() as f64 } else { *value as f64 }.to_bits();
        }
        for &row in &self.minus_zeros {
            self.values[row as usize] = (-0.0_f64).to_bits();
        }
    }
}

/// Whether f64 holds an integer and all that are less.
fn is_exact(value: u64, signed: bool) -> bool {
    (if signed { value.cast_signed().unsigned_abs() } else { value }) <= 1 << f64::MANTISSA_DIGITS
}

/// A digit from 0 to `most` for each row, in parts; rows are ordered by it.
#[derive(Debug)]
pub(super) struct Digits {
    pub(super) parts: Vec<Vec<u64>>,
    pub(super) most: u64,
}

/// The digits of a column of sizes that no type holds; `decimals` if there are any, among which −0 is less than 0.
pub(super) fn wide_digits(
    parts: Vec<Column>,
    descending: bool,
    decimals: bool,
    rules: KeyOrder,
) -> Vec<Digits> {
    let parts = map_parts(parts, |mut part| {
        if part.wide.is_none() {
            part.widen(part.inference.span().least < 0);
        }
        let mut places = part.wide.unwrap_or_default();
        for &row in part.minus_zeros.iter().filter(|_| decimals) {
            places[row as usize] = size::place_of_float(-0.0);
        }
        if descending {
            places.iter_mut().for_each(|place| *place = !*place);
        }
        (places, part.classes)
    });
    let ends = parts.iter().flat_map(|(places, _)| [places.iter().min(), places.iter().max()]).flatten();
    let ends = ends.fold(None, |ends, &place| {
        let (least, greatest) = ends.unwrap_or((place, place));
        Some((place.min(least), place.max(greatest)))
    });
    let (least, greatest) = ends.unwrap_or_default();
    let span = greatest - least;
    let (before, after) = rules.beside_numbers();
    let digits = map_parts(parts, |(places, nulls)| {
        let mut classes = vec![before; places.len()];
        let (mut high, mut low): (Vec<u64>, Vec<u64>) = places
            .iter()
            .map(|place| place - least)
            .map(|place| ((place >> 64) as u64, place as u64))
            .unzip();
        for (row, class) in nulls {
            let row = row as usize;
            classes[row] = class_digit(class, 0, rules);
            (high[row], low[row]) = (0, 0);
        }
        [classes, high, low]
    });
    let has_nulls = digits.iter().any(|[classes, ..]| classes.iter().any(|&class| class != before));
    let most = [
        if has_nulls { before + after } else { 0 },
        (span >> 64) as u64,
        u64::try_from(span).unwrap_or(u64::MAX),
    ];
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    for digits in digits {
        parts.iter_mut().zip(digits).for_each(|(parts, digits)| parts.push(digits));
    }
    parts.into_iter().zip(most).map(|(parts, most)| Digits { parts, most }).collect()
}

/// The digit of a class of nulls, beside numbers of which the greatest digit is `span` above the least.
fn class_digit(class: Class, span: u64, rules: KeyOrder) -> u64 {
    let (rank, (before, _)) = (rules.rank(class), rules.beside_numbers());
    if rules.place(class) == Nulls::First { rank } else { before + span + 1 + rank }
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
    if let Some(most) = span.checked_add(before + after) {
        let parts = map_parts(parts, |mut part| {
            part.values.iter_mut().for_each(|key| *key = key.wrapping_sub(least).wrapping_add(before));
            part.classes
                .iter()
                .for_each(|&(row, class)| part.values[row as usize] = class_digit(class, span, rules));
            part.values
        });
        return vec![Digits { parts, most }];
    }
    let both = map_parts(parts, |mut part| {
        let mut digits = vec![before; part.values.len()];
        part.values.iter_mut().for_each(|key| *key = key.wrapping_sub(least));
        for &(row, class) in &part.classes {
            digits[row as usize] = class_digit(class, 0, rules);
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
