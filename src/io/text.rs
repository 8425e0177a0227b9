//! Text into keys: one type for the whole input, and the spelling kept where it matters.
//!
//! Text is cut at line ends into pieces that all cores read at once. The first reading takes every
//! token for an integer, which is the common case and the fast one: 64 bits a token and the extremes
//! tell the type. Any token that is something else ends it, and the second reading takes all tokens
//! for floats.

use std::ops::Range;

use rayon::prelude::*;

use super::number::{Integer, Spelled, Tokens, integer, is_exactly, printable, spelled};
use super::records::{Records, Spelling};
use super::source::Text;
use crate::error::Error;
use crate::key::{ElementType, Keys, Order, Word};

/// Bytes that one core reads at a time.
const PIECE: usize = 1 << 18;

/// Reads `text` as numbers of this type, or of the first of u32, i32, u64, i64 and f64 that holds them
/// all.
///
/// # Errors
///
/// A token that is no number or that the type does not hold; integers and decimals that no one type
/// holds without changing their order.
pub fn parse(text: Text, element: Option<ElementType>, descending: bool) -> Result<Records, Error> {
    match element {
        Some(element) if element.is_float() => floats(text, Some(element), descending),
        _ => match integers(&text, element)? {
            Some(integers) => integers.into_records(text, element, descending),
            None => floats(text, None, descending),
        },
    }
}

/// The text in pieces of whole lines.
fn pieces(text: &Text) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    for part in text.parts() {
        let mut start = part.range.start;
        while start < part.range.end {
            let earliest = (start + PIECE).min(part.range.end);
            let newline = memchr::memchr(b'\n', &text.bytes[earliest..part.range.end]);
            let end = newline.map_or(part.range.end, |newline| earliest + newline + 1);
            pieces.push(start..end);
            start = end;
        }
    }
    pieces
}

/// Reads every piece, on all cores if there are several; the results are in order.
fn each_piece<T: Send>(text: &Text, read: impl Fn(Range<usize>) -> T + Send + Sync) -> Vec<T> {
    let pieces = pieces(text);
    if pieces.len() < 2 {
        pieces.into_iter().map(read).collect()
    } else {
        pieces.into_par_iter().map(read).collect()
    }
}

/// Puts the vectors of all pieces together.
fn concatenate<T: Copy>(mut pieces: Vec<Vec<T>>) -> Vec<T> {
    if pieces.len() == 1 { pieces.swap_remove(0) } else { pieces.concat() }
}

/// All tokens as integers, and what is known of them.
struct Integers {
    /// In two's complement, modulo 2^64.
    values: Vec<u64>,
    /// The least negative value and where it stands; 0 if there is none.
    least: (i64, usize),
    /// The greatest value and where it stands; 0 if there is none.
    greatest: (u64, usize),
    /// Whether every token is spelled as its value would be printed.
    canonical: bool,
}

/// Why a reading as integers ended.
enum NotIntegers {
    /// No type was asked for, and this is no integer or one that no 64-bit type holds: only a reading
    /// as floats can tell what to make of it.
    Other,
    /// The token at this byte is not what was asked for.
    Refused(usize, ElementType),
}

/// All tokens as integers; `None` if no type was asked for and they are not all integers of 64 bits.
fn integers(text: &Text, element: Option<ElementType>) -> Result<Option<Integers>, Error> {
    let pieces: Result<Vec<Integers>, NotIntegers> =
        each_piece(text, |piece| integers_in(text, piece, element)).into_iter().collect();
    match pieces {
        Ok(pieces) => Ok(Some(Integers::concatenate(pieces))),
        Err(NotIntegers::Other) => Ok(None),
        Err(NotIntegers::Refused(place, element)) => Err(text.token_error(place, expected(element))),
    }
}

fn integers_in(
    text: &Text,
    piece: Range<usize>,
    element: Option<ElementType>,
) -> Result<Integers, NotIntegers> {
    // A guess that is right for numbers of seven digits, so that most pieces grow once or never.
    let values = Vec::with_capacity(piece.len() / 8);
    let mut integers = Integers { values, least: (0, 0), greatest: (0, 0), canonical: true };
    for (start, token) in Tokens::new(&text.bytes[piece.clone()]) {
        let place = piece.start + start;
        let value = integer(token).and_then(|integer| {
            integers.canonical &= integer.canonical;
            two_complement(integer)
        });
        match (value, element) {
            (Some((value, negative)), element)
                if element.is_none_or(|element| holds(element, value, negative)) =>
            {
                if negative && value.cast_signed() < integers.least.0 {
                    integers.least = (value.cast_signed(), place);
                } else if !negative && value > integers.greatest.0 {
                    integers.greatest = (value, place);
                }
                integers.values.push(value);
            }
            (_, None) => return Err(NotIntegers::Other),
            (_, Some(element)) => return Err(NotIntegers::Refused(place, element)),
        }
    }
    Ok(integers)
}

/// The value modulo 2^64 and whether it is negative; `None` if neither u64 nor i64 holds it.
fn two_complement(integer: Integer) -> Option<(u64, bool)> {
    let magnitude = integer.magnitude?;
    let fits = !integer.negative || magnitude <= i64::MIN.unsigned_abs();
    fits.then_some((if integer.negative { magnitude.wrapping_neg() } else { magnitude }, integer.negative))
}

fn holds(element: ElementType, value: u64, negative: bool) -> bool {
    match element {
        ElementType::U32 => !negative && u32::try_from(value).is_ok(),
        ElementType::I32 if negative => i32::try_from(value.cast_signed()).is_ok(),
        ElementType::I32 => i32::try_from(value).is_ok(),
        ElementType::U64 => !negative,
        ElementType::I64 => negative || i64::try_from(value).is_ok(),
        ElementType::F32 | ElementType::F64 => false,
    }
}

impl Integers {
    fn concatenate(pieces: Vec<Self>) -> Self {
        let extreme = |pieces: &[Self]| {
            let least = pieces.iter().map(|piece| piece.least).min_by_key(|least| least.0);
            // The first of several, as a person would look for it.
            let greatest = pieces.iter().rev().map(|piece| piece.greatest).max_by_key(|greatest| greatest.0);
            (least.unwrap_or_default(), greatest.unwrap_or_default())
        };
        let (least, greatest) = extreme(&pieces);
        let canonical = pieces.iter().all(|piece| piece.canonical);
        Self {
            values: concatenate(pieces.into_iter().map(|piece| piece.values).collect()),
            least,
            greatest,
            canonical,
        }
    }

    /// The first integer type that holds every value.
    fn element(&self, text: &Text) -> Result<ElementType, Error> {
        [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64]
            .into_iter()
            .find(|&element| {
                let least = self.least.0 == 0 || holds(element, self.least.0.cast_unsigned(), true);
                least && holds(element, self.greatest.0, false)
            })
            .ok_or_else(|| {
                let (least, greatest) = (self.least.1, self.greatest.1);
                let shown = |place| printable(text.token(place));
                Error::input(
                    text.place(least.max(greatest)),
                    format!(
                        "no integer type holds both {} ({}) and {} ({}); --type f64 sorts them, rounded",
                        shown(least),
                        text.place(least),
                        shown(greatest),
                        text.place(greatest)
                    ),
                )
            })
    }

    fn into_records(
        self,
        text: Text,
        element: Option<ElementType>,
        descending: bool,
    ) -> Result<Records, Error> {
        let element = element.map_or_else(|| self.element(&text), Ok)?;
        let order = Order { element, descending };
        let keys = if element.bytes() == 4 {
            // The values fit, so the low half is the value in two's complement of 32 bits.
            Keys::One(map(&self.values, |value| (value as u32).key(order)))
        } else {
            let mut keys = self.values;
            crate::key::to_keys(&mut keys, order);
            Keys::Two(keys)
        };
        let spelling = if self.canonical { None } else { Some(spelling(text)) };
        Ok(Records { order, keys, spelling })
    }
}

fn map<T: Copy + Sync, U: Send>(values: &[T], map: impl Fn(T) -> U + Sync + Send) -> Vec<U> {
    if values.len() < PIECE {
        values.iter().map(|&value| map(value)).collect()
    } else {
        values.par_iter().map(|&value| map(value)).collect()
    }
}

/// Where every token begins.
fn spelling(text: Text) -> Spelling {
    let starts = each_piece(&text, |piece| {
        let starts = Tokens::new(&text.bytes[piece.clone()]).map(|(start, _)| (piece.start + start) as u64);
        starts.collect::<Vec<u64>>()
    });
    Spelling { starts: concatenate(starts), text }
}

/// A float type's keys, read from tokens.
trait Float: Word {
    /// The key of the number that the token spells, and the number as f64; NaN is one key.
    fn read(token: &[u8], order: Order) -> Option<(Self, f64)>;
}

impl Float for u32 {
    fn read(token: &[u8], order: Order) -> Option<(Self, f64)> {
        let value: f32 = std::str::from_utf8(token).ok()?.parse().ok()?;
        let value = if value.is_nan() { f32::NAN } else { value };
        Some((value.to_bits().key(order), value.into()))
    }
}

impl Float for u64 {
    fn read(token: &[u8], order: Order) -> Option<(Self, f64)> {
        let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
        let value = if value.is_nan() { f64::NAN } else { value };
        Some((value.to_bits().key(order), value))
    }
}

/// The tokens of a piece as floats.
struct Floats<W> {
    keys: Vec<W>,
    starts: Vec<u64>,
    /// Whether there is a token with a point or an exponent, inf or nan.
    decimals: bool,
    /// The first integer that f64 does not hold exactly.
    inexact: Option<usize>,
    /// The first integer that no 64-bit type holds.
    too_large: Option<usize>,
}

fn floats(text: Text, asked: Option<ElementType>, descending: bool) -> Result<Records, Error> {
    let element = asked.unwrap_or(ElementType::F64);
    let order = Order { element, descending };
    let (keys, starts) = if element == ElementType::F32 {
        let (keys, starts) = floats_of::<u32>(&text, order, asked)?;
        (Keys::One(keys), starts)
    } else {
        let (keys, starts) = floats_of::<u64>(&text, order, asked)?;
        (Keys::Two(keys), starts)
    };
    Ok(Records { order, keys, spelling: Some(Spelling { text, starts }) })
}

fn floats_of<W: Float>(
    text: &Text,
    order: Order,
    asked: Option<ElementType>,
) -> Result<(Vec<W>, Vec<u64>), Error> {
    let exact = asked.is_none();
    let pieces: Vec<Floats<W>> = each_piece(text, |piece| floats_in(text, piece, order, exact))
        .into_iter()
        .collect::<Result<_, _>>()?;
    if exact {
        if !pieces.iter().any(|piece| piece.decimals)
            && let Some(place) = pieces.iter().find_map(|piece| piece.too_large)
        {
            let expected = "an integer that a 64-bit type holds; --type f64 sorts it, rounded";
            return Err(text.token_error(place, expected));
        }
        if let Some(place) = pieces.iter().find_map(|piece| piece.inexact) {
            let expected = "an integer that f64 holds exactly, as it must be beside decimals; \
                            --type f64 sorts it, rounded";
            return Err(text.token_error(place, expected));
        }
    }
    let (keys, starts): (Vec<_>, Vec<_>) = pieces.into_iter().map(|piece| (piece.keys, piece.starts)).unzip();
    Ok((concatenate(keys), concatenate(starts)))
}

fn floats_in<W: Float>(
    text: &Text,
    piece: Range<usize>,
    order: Order,
    exact: bool,
) -> Result<Floats<W>, Error> {
    let guess = piece.len() / 16;
    let mut floats = Floats {
        keys: Vec::with_capacity(guess),
        starts: Vec::with_capacity(guess),
        decimals: false,
        inexact: None,
        too_large: None,
    };
    for (start, token) in Tokens::new(&text.bytes[piece.clone()]) {
        let place = piece.start + start;
        let refused = || text.token_error(place, expected(order.element));
        let spelled = spelled(token).ok_or_else(|| text.token_error(place, "a number"))?;
        let (key, value) = W::read(token, order).ok_or_else(refused)?;
        match spelled {
            Spelled::Integer | Spelled::Decimal if value.is_infinite() => return Err(refused()),
            Spelled::Integer if exact => {
                if floats.inexact.is_none() && !is_exactly(token, value) {
                    floats.inexact = Some(place);
                }
                if floats.too_large.is_none() && integer(token).and_then(two_complement).is_none() {
                    floats.too_large = Some(place);
                }
            }
            Spelled::Integer => {}
            Spelled::Decimal | Spelled::Infinity | Spelled::Nan => floats.decimals = true,
        }
        floats.keys.push(key);
        floats.starts.push(place as u64);
    }
    Ok(floats)
}

/// What is expected of a token of this type.
fn expected(element: ElementType) -> String {
    match element {
        ElementType::U32 => format!("an integer from 0 to {} (u32)", u32::MAX),
        ElementType::I32 => format!("an integer from {} to {} (i32)", i32::MIN, i32::MAX),
        ElementType::U64 => format!("an integer from 0 to {} (u64)", u64::MAX),
        ElementType::I64 => format!("an integer from {} to {} (i64)", i64::MIN, i64::MAX),
        ElementType::F32 => format!("a number up to {:e} (f32)", f32::MAX),
        ElementType::F64 => format!("a number up to {:e} (f64)", f64::MAX),
    }
}
