//! Numbers as text spells them, and columns of them.

use std::cmp::Ordering;

use gpusort_order::{Invalid, KeyOrder, Nulls, Reading};
use gpusort_planner::key::ElementType;

use super::{kinds, version};
use crate::asked::Spelling;

/// How the fields of a column are read and ordered.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The type asked for.
    pub element: Option<ElementType>,
    pub order: KeyOrder,
    pub spelling: Spelling,
}

/// What a record is ordered by.
#[derive(Clone, Debug)]
pub enum Key {
    Integer(i128),
    Float(f64),
    /// A size where f64 has no fractions, and whether it is one further from 0 than this, and less
    /// than the next.
    Size(i128, i128),
    /// Text that is compared by its bytes, as a version, or as digits of a number in base 16.
    Text(Vec<u8>),
    Version(Vec<u8>),
    Hex(Vec<u8>),
    Nan,
    Empty,
    Invalid,
}

/// What a token spells.
#[derive(Clone, Debug, PartialEq)]
pub enum Spelled {
    /// Whether there is a minus, and the digits without zeros before them.
    Integer(bool, String),
    Decimal,
    Infinity,
    Nan,
    Nothing,
}

/// Why a column cannot be sorted: the record that is at fault, if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// The first record that is refused, where it is one alone.
    pub record: Option<usize>,
    /// Whether it would be refused whatever the others are.
    pub alone: bool,
}

/// `[+-]`, digits with an optional point (a digit on at least one side), an optional exponent; or
/// one of three words.
pub fn spelled(token: &[u8]) -> Spelled {
    let Ok(token) = std::str::from_utf8(token) else { return Spelled::Nothing };
    let (minus, number) = match token.chars().next() {
        Some('-') => (true, &token[1..]),
        Some('+') => (false, &token[1..]),
        _ => (false, token),
    };
    match number.to_lowercase().as_str() {
        // Some capital letters that are not ASCII have small ones that are.
        "inf" | "infinity" if number.is_ascii() => return Spelled::Infinity,
        "nan" if number.is_ascii() => return Spelled::Nan,
        _ => {}
    }
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if digits(number) && !number.is_empty() {
        let significant = number.trim_start_matches('0');
        return Spelled::Integer(minus, if significant.is_empty() { "0" } else { significant }.to_owned());
    }
    let (mantissa, exponent) = match number.find(['e', 'E']) {
        Some(at) => (&number[..at], Some(&number[at + 1..])),
        None => (number, None),
    };
    if let Some(exponent) = exponent {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if exponent.is_empty() || !digits(exponent) {
            return Spelled::Nothing;
        }
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()) {
        return Spelled::Decimal;
    }
    Spelled::Nothing
}

/// The integer, if 128 bits hold it with room to spare.
fn integer(minus: bool, digits: &str) -> Option<i128> {
    let magnitude: i128 = if digits.len() <= 37 { digits.parse().ok()? } else { return None };
    Some(if minus { -magnitude } else { magnitude })
}

/// Whether a float is exactly the integer of these digits: its own are found by doubling them one
/// by one.
fn is_exactly(float: f64, digits: &str) -> bool {
    if digits.len() <= 15 {
        return true;
    }
    let bits = float.abs().to_bits();
    // An integer of sixteen digits or more is no subnormal number.
    let (exponent, mut mantissa) = ((bits >> 52) as i32 - 1075, bits & ((1 << 52) - 1) | 1 << 52);
    let mut doublings = exponent;
    while doublings < 0 {
        if mantissa % 2 == 1 {
            return false;
        }
        (mantissa, doublings) = (mantissa / 2, doublings + 1);
    }
    let mut decimal: Vec<u8> = mantissa.to_string().bytes().rev().map(|digit| digit - b'0').collect();
    for _ in 0..doublings {
        let mut carry = 0;
        for digit in &mut decimal {
            let doubled = *digit * 2 + carry;
            (*digit, carry) = (doubled % 10, doubled / 10);
        }
        if carry > 0 {
            decimal.push(carry);
        }
    }
    decimal.iter().rev().map(|digit| digit + b'0').eq(digits.bytes())
}

fn float(token: &[u8], element: ElementType) -> f64 {
    let token = std::str::from_utf8(token).expect("it was read as a number");
    let number = "the standard library reads all numbers";
    match element {
        ElementType::F32 => token.parse::<f32>().expect(number).into(),
        _ => token.parse::<f64>().expect(number),
    }
}

fn range(element: ElementType) -> (i128, i128) {
    match element {
        ElementType::U32 => (0, u32::MAX.into()),
        ElementType::I32 => (i32::MIN.into(), i32::MAX.into()),
        ElementType::U64 => (0, u64::MAX.into()),
        ElementType::I64 => (i64::MIN.into(), i64::MAX.into()),
        _ => unreachable!("no integer type of text"),
    }
}

/// The keys of a column: of tokens, or of fields without quotes and blanks around them.
///
/// Of several errors, the first field that is wrong by itself is reported; else an integer that no
/// type holds, else one that f64 does not hold exactly beside decimals.
pub fn column(fields: &[&[u8]], asked: &Asked) -> Result<Vec<Key>, Wrong> {
    match asked.order.reading {
        Reading::Sizes => {
            let plain: Vec<(Vec<u8>, bool)> =
                fields.iter().map(|field| plain_size(field, asked.order.leading)).collect();
            sizes(&plain, asked)
        }
        Reading::Times => times(fields, asked),
        Reading::NumbersOrTimes if fields.iter().any(|field| time(field).is_some()) => times(fields, asked),
        Reading::Durations => durations(fields, asked),
        _ => numbers(fields, asked),
    }
}

/// A time as it is known by itself.
pub fn time(field: &[u8]) -> Option<(i128, usize, bool)> {
    if field.starts_with(b"[") { kinds::time_of_log(field) } else { kinds::time(field) }
}

/// A time as it is asked for.
fn time_asked(field: &[u8], asked: &Asked) -> Option<(i128, usize, bool)> {
    match asked.spelling.times.filter(|_| asked.order.reading == Reading::Times) {
        Some("epoch") => kinds::time_of_epoch(field),
        Some(_) => kinds::time_of_log(field),
        None => time(field),
    }
}

fn durations(fields: &[&[u8]], asked: &Asked) -> Result<Vec<Key>, Wrong> {
    let key = |(record, field): (usize, &&[u8])| {
        let unless = |refused: bool, key| {
            if refused { Err(Wrong { record: Some(record), alone: true }) } else { Ok(key) }
        };
        match kinds::duration(field) {
            Some(duration) => Ok(Key::Integer(duration)),
            None if field.is_empty() => unless(asked.order.empty == Nulls::Error, Key::Empty),
            None => unless(asked.order.invalid == Invalid::Error, Key::Invalid),
        }
    };
    fields.iter().enumerate().map(key).collect()
}

/// A size as a number, and whether it is written in digits alone; what is none as it is, if that
/// may be a word, and as something that is invalid.
fn plain_size(field: &[u8], leading: bool) -> (Vec<u8>, bool) {
    match kinds::size(field, leading) {
        Ok(Some(plain)) => plain,
        _ if field.is_empty() => Default::default(),
        _ if !leading && matches!(spelled(field), Spelled::Infinity | Spelled::Nan) => {
            (field.to_vec(), false)
        }
        _ => (b"none".to_vec(), false),
    }
}

/// The keys of sizes: integers where f64 has no fractions, with what is between them, and floats.
fn sizes(fields: &[(Vec<u8>, bool)], asked: &Asked) -> Result<Vec<Key>, Wrong> {
    const MOST: u128 = (1 << 127) - (1 << 102);
    let has_decimals = fields.iter().any(|(field, _)| match spelled(field) {
        Spelled::Integer(_, digits) => digits.parse::<u128>().map_or(true, |size| size > MOST),
        other => other != Spelled::Nothing,
    });
    let key = |(record, (field, in_digits)): (usize, &(Vec<u8>, bool))| {
        let alone = Wrong { record: Some(record), alone: true };
        let unless = |refused: bool, key| if refused { Err(alone.clone()) } else { Ok(key) };
        let (minus, digits, fraction) = match spelled(field) {
            Spelled::Nothing if field.is_empty() => {
                return unless(asked.order.empty == Nulls::Error, Key::Empty);
            }
            Spelled::Nothing => return unless(asked.order.invalid == Invalid::Error, Key::Invalid),
            Spelled::Nan => return unless(asked.order.nan == Nulls::Error, Key::Nan),
            Spelled::Infinity => return Ok(Key::Float(float(field, ElementType::F64))),
            Spelled::Integer(minus, digits) => (minus, digits, false),
            Spelled::Decimal => {
                let text = String::from_utf8_lossy(field).into_owned();
                let whole = text.split('.').next().unwrap_or_default();
                (text.starts_with('-'), whole.trim_start_matches(['-', '+']).to_owned(), true)
            }
        };
        let size = digits.parse::<u128>().ok().filter(|size| *size <= MOST);
        let value = size.map(|size| if minus { -(size as i128) } else { size as i128 });
        match value {
            Some(0) if minus && !fraction && has_decimals => Ok(Key::Float(-0.0)),
            Some(value) if !fraction && value.unsigned_abs() < 1 << 52 => Ok(Key::Float(value as f64)),
            Some(value) if value.unsigned_abs() >= 1 << 52 => {
                let between = i128::from(fraction && value.unsigned_abs() < 1 << 100);
                Ok(Key::Size(value, between * value.signum()))
            }
            None if *in_digits => Err(alone),
            _ => {
                let value = float(field, ElementType::F64);
                if value.is_finite() { Ok(Key::Float(value)) } else { Err(alone) }
            }
        }
    };
    fields.iter().enumerate().map(key).collect()
}

/// Whether a field is not invalid.
pub fn is_valid(field: &[u8], asked: &Asked) -> bool {
    let is_time = || time_asked(field, asked).is_some();
    match asked.order.reading {
        Reading::Times => is_time(),
        Reading::Sizes => spelled(&plain_size(field, asked.order.leading).0) != Spelled::Nothing,
        Reading::Durations => kinds::duration(field).is_some(),
        Reading::NumbersOrTimes => is_time() || spelled(field) != Spelled::Nothing,
        _ => spelled(field) != Spelled::Nothing,
    }
}

/// Times, beside which there are no numbers, and of which all have a zone or none.
fn times(fields: &[&[u8]], asked: &Asked) -> Result<Vec<Key>, Wrong> {
    let order = asked.order;
    let (mut keys, mut found, mut has_numbers) = (Vec::new(), Vec::new(), false);
    for (record, field) in fields.iter().enumerate() {
        let alone = Wrong { record: Some(record), alone: true };
        let unless = |refused: bool, key| if refused { Err(alone.clone()) } else { Ok(key) };
        let word = if order.reading == Reading::Times { Spelled::Nothing } else { spelled(field) };
        keys.push(match (time_asked(field, asked), word) {
            (Some(time), _) => {
                found.push(time);
                Key::Integer(time.0)
            }
            (None, Spelled::Nan) => unless(order.nan == Nulls::Error, Key::Nan)?,
            (None, Spelled::Nothing) if field.is_empty() => unless(order.empty == Nulls::Error, Key::Empty)?,
            (None, Spelled::Nothing) => unless(order.invalid == Invalid::Error, Key::Invalid)?,
            (None, word) => {
                let is_finite = || float(field, ElementType::F64).is_finite();
                if word != Spelled::Infinity && !is_finite() {
                    return Err(alone);
                }
                has_numbers = true;
                Key::Invalid
            }
        });
    }
    let decimals = found.iter().map(|&(_, decimals, _)| decimals).max().unwrap_or(0);
    let unit = 10_i128.pow(9 - decimals as u32);
    let fits = |&(at, ..): &(i128, usize, bool)| i64::try_from(at / unit).is_ok();
    let are_alike = found.windows(2).all(|pair| pair[0].2 == pair[1].2);
    if has_numbers || !are_alike || !found.iter().all(fits) {
        return Err(Wrong { record: None, alone: false });
    }
    Ok(keys)
}

fn numbers(fields: &[&[u8]], asked: &Asked) -> Result<Vec<Key>, Wrong> {
    let spelled: Vec<Spelled> = fields.iter().map(|field| spelled(field)).collect();
    let decimals = |it: &Spelled| matches!(it, Spelled::Decimal | Spelled::Infinity | Spelled::Nan);
    let all_integers = !spelled.iter().any(decimals);
    let is_float = asked.element.is_some_and(ElementType::is_float);
    let element = asked.element.unwrap_or(ElementType::F64);
    let as_floats = is_float || asked.element.is_none() && !all_integers;

    let mut keys = Vec::new();
    for (record, (field, spelled)) in fields.iter().zip(&spelled).enumerate() {
        let alone = Wrong { record: Some(record), alone: true };
        let unless = |refused: bool, key| if refused { Err(alone.clone()) } else { Ok(key) };
        let key = match spelled {
            Spelled::Nothing if field.is_empty() => unless(asked.order.empty == Nulls::Error, Key::Empty)?,
            Spelled::Nothing => unless(asked.order.invalid == Invalid::Error, Key::Invalid)?,
            Spelled::Integer(minus, digits) if asked.element.is_some() && !is_float => {
                let (least, most) = range(element);
                match integer(*minus, digits) {
                    Some(value) if least <= value && value <= most => Key::Integer(value),
                    _ => return Err(alone),
                }
            }
            // No integer type has decimals, inf and nan.
            _ if asked.element.is_some() && !is_float => return Err(alone),
            Spelled::Nan => unless(asked.order.nan == Nulls::Error, Key::Nan)?,
            Spelled::Infinity => Key::Float(float(field, element)),
            Spelled::Decimal | Spelled::Integer(..) => {
                let value = float(field, element);
                if value.is_infinite() {
                    return Err(alone);
                }
                match spelled {
                    // One that is too large is refused below.
                    Spelled::Integer(minus, digits) if !as_floats => {
                        Key::Integer(integer(*minus, digits).unwrap_or_default())
                    }
                    _ => Key::Float(value),
                }
            }
        };
        keys.push(key);
    }
    if asked.element.is_some() {
        return Ok(keys);
    }
    let together = |record| Wrong { record, alone: false };
    let fits = |(minus, digits): (bool, &str)| {
        let value = integer(minus, digits)?;
        (i64::MIN.into()..=u64::MAX.into()).contains(&value).then_some(value)
    };
    let integers = || {
        spelled.iter().enumerate().filter_map(|(record, spelled)| match spelled {
            Spelled::Integer(minus, digits) => Some((record, *minus, digits.as_str())),
            _ => None,
        })
    };
    if all_integers {
        if let Some((record, ..)) = integers().find(|&(_, minus, digits)| fits((minus, digits)).is_none()) {
            return Err(together(Some(record)));
        }
        let values = || integers().filter_map(|(_, minus, digits)| integer(minus, digits));
        let (least, most) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        let holds = |element| range(element).0 <= least && most <= range(element).1;
        let types = [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64];
        return if types.into_iter().any(holds) { Ok(keys) } else { Err(together(None)) };
    }
    let inexact = integers().find(|&(record, _, digits)| !is_exactly(float(fields[record], element), digits));
    match inexact {
        Some((record, ..)) => Err(together(Some(record))),
        None => Ok(keys),
    }
}

/// The order of two records of a column: first whether they are numbers, then the numbers.
pub fn order(a: &Key, b: &Key, asked: &Asked) -> Ordering {
    let rank = |key: &Key| {
        let (away, is_first) = match key {
            Key::Integer(_) | Key::Float(_) | Key::Size(..) => (0, false),
            Key::Text(_) | Key::Version(_) | Key::Hex(_) => (0, false),
            Key::Nan => (1, asked.order.nan == Nulls::First),
            Key::Empty => (2, asked.order.empty == Nulls::First),
            Key::Invalid => (3, asked.order.invalid == Invalid::First),
        };
        if is_first { -away } else { away }
    };
    let numbers = match (a, b) {
        (Key::Integer(a), Key::Integer(b)) => a.cmp(b),
        // −0 comes before +0.
        (Key::Float(a), Key::Float(b)) => {
            let zeros = || b.is_sign_negative().cmp(&a.is_sign_negative());
            a.partial_cmp(b)
                .expect("NaN is no number")
                .then_with(|| if *a == 0.0 { zeros() } else { Ordering::Equal })
        }
        (Key::Size(a, after_a), Key::Size(b, after_b)) => (a, after_a).cmp(&(b, after_b)),
        // Those between which integers lie are floats as well.
        (Key::Size(a, _), Key::Float(b)) => (*a as f64).partial_cmp(b).expect("NaN is no number"),
        (Key::Float(a), Key::Size(b, _)) => a.partial_cmp(&(*b as f64)).expect("NaN is no number"),
        (Key::Text(a), Key::Text(b)) => a.cmp(b),
        (Key::Version(a), Key::Version(b)) => version::order(a, b),
        (Key::Hex(a), Key::Hex(b)) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        _ => Ordering::Equal,
    };
    rank(a).cmp(&rank(b)).then(if asked.order.descending { numbers.reverse() } else { numbers })
}

/// Whether this field is an integer zero with a minus, which only decimals beside it make less than
/// zero.
pub fn is_minus_zero_among(field: &[u8], order: KeyOrder) -> bool {
    match order.reading {
        Reading::Sizes => is_minus_zero(&plain_size(field, order.leading).0),
        _ => is_minus_zero(field),
    }
}

/// Whether this spells such a zero.
pub fn is_minus_zero(field: &[u8]) -> bool {
    spelled(field) == Spelled::Integer(true, "0".to_owned())
}
