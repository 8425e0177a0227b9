//! Text into keys: one type for the whole input, and the spelling kept where it matters.
//!
//! Text is cut at line ends into pieces that all cores read at once. The first reading takes every
//! token for an integer, which is the common case and the fast one: 32 bits a token, or 64 where they are not
//! enough, and the extremes tell the type. Any token that is something else ends it, and the second reading takes all tokens
//! for floats.

use std::ops::Range;

use rayon::prelude::*;

use super::number::{Integer, Spelled, Tokens, integer, is_exactly, printable, spelled};
use super::records::{Records, Spelling, Start, Starts};
use super::source::Text;
use crate::error::Error;
use crate::key::{ElementType, Keys, Order, Word};

/// Bytes that one core reads at a time: few enough for all cores to end together, many enough for what becomes
/// of them to be in large pages.
const PIECE: Range<usize> = 1 << 18..8 << 20;

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
            Some(pieces) => Integers::into_records(pieces, text, element, descending),
            None => floats(text, None, descending),
        },
    }
}

/// The text in pieces of whole lines.
fn pieces(text: &Text) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let size = match text.bytes.len() {
        // Asking how many threads there are would start them.
        few if few <= PIECE.start => PIECE.start,
        many => (many / rayon::current_num_threads() / 4).clamp(PIECE.start, PIECE.end),
    };
    for part in text.parts() {
        let mut start = part.range.start;
        while start < part.range.end {
            let earliest = (start + size).min(part.range.end);
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

/// Puts what is of all pieces together: `fill` puts one piece's in its place, on all cores if there are several.
fn join<P: Send, T: Default + Copy + Send>(
    pieces: Vec<P>,
    length: impl Fn(&P) -> usize,
    fill: impl Fn(P, &mut [T]) + Sync + Send,
) -> Vec<T> {
    let mut all = vec![T::default(); pieces.iter().map(&length).sum()];
    let mut rest = &mut all[..];
    let mut places = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (place, after) = std::mem::take(&mut rest).split_at_mut(length(&piece));
        places.push((piece, place));
        rest = after;
    }
    if places.len() < 2 {
        places.into_iter().for_each(|(piece, place)| fill(piece, place));
    } else {
        places.into_par_iter().for_each(|(piece, place)| fill(piece, place));
    }
    all
}

/// The tokens of a piece as integers, and what is known of them.
struct Integers {
    values: Values,
    /// The least negative value and where it stands; 0 if there is none.
    least: (i64, usize),
    /// The greatest value and where it stands; 0 if there is none.
    greatest: (u64, usize),
    /// Whether every token is spelled as its value would be printed.
    canonical: bool,
}

/// Integers in two's complement.
enum Values {
    /// Modulo 2^32; either u32 or i32 holds them all.
    Narrow(Vec<u32>),
    /// Modulo 2^64.
    Wide(Vec<u64>),
}

/// Why a reading as integers ended.
enum NotIntegers {
    /// No type was asked for, and this is no integer or one that no 64-bit type holds: only a reading
    /// as floats can tell what to make of it.
    Other,
    /// The token at this byte is not what was asked for.
    Refused(usize, ElementType),
    /// Neither u32 nor i32 holds all values of the piece.
    Wide,
}

/// All tokens as integers, by pieces; `None` if no type was asked for and they are not all integers of 64 bits.
fn integers(text: &Text, element: Option<ElementType>) -> Result<Option<Vec<Integers>>, Error> {
    let pieces: Result<Vec<Integers>, NotIntegers> = each_piece(text, |piece| {
        match integers_in(text, piece.clone(), element, |value| value as u32, Values::Narrow) {
            Err(NotIntegers::Wide) => integers_in(text, piece, element, |value| value, Values::Wide),
            narrow => narrow,
        }
    })
    .into_iter()
    .collect();
    match pieces {
        Ok(pieces) => Ok(Some(pieces)),
        Err(NotIntegers::Refused(place, element)) => Err(text.token_error(place, expected(element))),
        Err(NotIntegers::Other | NotIntegers::Wide) => Ok(None),
    }
}

/// The piece's integers, cut to what `values` holds.
fn integers_in<T>(
    text: &Text,
    piece: Range<usize>,
    element: Option<ElementType>,
    cut: impl Fn(u64) -> T,
    values: impl Fn(Vec<T>) -> Values,
) -> Result<Integers, NotIntegers> {
    let narrow = size_of::<T>() == size_of::<u32>();
    // A guess that is right for numbers of seven digits, so that most pieces grow once or never.
    let mut cuts = Vec::with_capacity(piece.len() / 8);
    let mut integers =
        Integers { values: Values::Wide(Vec::new()), least: (0, 0), greatest: (0, 0), canonical: true };
    let mut tokens = Tokens::new(&text.bytes[piece.clone()]);
    while let Some((start, integer)) = tokens.next_integer() {
        let place = piece.start + start;
        let value = integer.and_then(|integer| {
            integers.canonical &= integer.canonical;
            two_complement(integer)
        });
        let Some((value, negative)) =
            value.filter(|&(value, negative)| element.is_none_or(|element| holds(element, value, negative)))
        else {
            return Err(element.map_or(NotIntegers::Other, |element| NotIntegers::Refused(place, element)));
        };
        let is_extreme =
            if negative { value.cast_signed() < integers.least.0 } else { value > integers.greatest.0 };
        if is_extreme {
            match negative {
                true => integers.least = (value.cast_signed(), place),
                false => integers.greatest = (value, place),
            }
            if narrow && ![ElementType::U32, ElementType::I32].into_iter().any(|it| integers.fit(it)) {
                return Err(NotIntegers::Wide);
            }
        }
        cuts.push(cut(value));
    }
    integers.values = values(cuts);
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
    fn len(&self) -> usize {
        match &self.values {
            Values::Narrow(values) => values.len(),
            Values::Wide(values) => values.len(),
        }
    }

    /// Whether the type holds all values.
    fn fit(&self, element: ElementType) -> bool {
        let least = self.least.0 == 0 || holds(element, self.least.0.cast_unsigned(), true);
        least && holds(element, self.greatest.0, false)
    }

    /// What is known of all pieces, without their values.
    fn summary(pieces: &[Self]) -> Self {
        let least = pieces.iter().map(|piece| piece.least).min_by_key(|least| least.0);
        // The first of several, as a person would look for it.
        let greatest = pieces.iter().rev().map(|piece| piece.greatest).max_by_key(|greatest| greatest.0);
        Self {
            values: Values::Narrow(Vec::new()),
            least: least.unwrap_or_default(),
            greatest: greatest.unwrap_or_default(),
            canonical: pieces.iter().all(|piece| piece.canonical),
        }
    }

    /// The first integer type that holds every value.
    fn element(&self, text: &Text) -> Result<ElementType, Error> {
        [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64]
            .into_iter()
            .find(|&element| self.fit(element))
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

    /// The keys of the values; `cut` takes what the word holds of them.
    fn keys<W: Word>(pieces: Vec<Self>, order: Order, cut: impl Fn(u64) -> W + Sync + Send) -> Vec<W> {
        join(pieces, Self::len, |piece, keys| match piece.values {
            Values::Narrow(values) => {
                // Of a type that has negative values, or of one that has none.
                let signed = piece.least.0 < 0;
                for (key, value) in keys.iter_mut().zip(values) {
                    let wide =
                        if signed { i64::from(value.cast_signed()).cast_unsigned() } else { value.into() };
                    *key = cut(wide).key(order);
                }
            }
            Values::Wide(values) => {
                keys.iter_mut().zip(values).for_each(|(key, value)| *key = cut(value).key(order));
            }
        })
    }

    fn into_records(
        pieces: Vec<Self>,
        text: Text,
        element: Option<ElementType>,
        descending: bool,
    ) -> Result<Records, Error> {
        let summary = Self::summary(&pieces);
        let element = element.map_or_else(|| summary.element(&text), Ok)?;
        let order = Order { element, descending };
        let keys = if element.bytes() == 4 {
            // The values fit, so the low half is the value in two's complement of 32 bits.
            Keys::One(Self::keys(pieces, order, |value| value as u32))
        } else {
            Keys::Two(Self::keys(pieces, order, |value| value))
        };
        let spelling = if summary.canonical { None } else { Some(spelling(text)) };
        Ok(Records { order, keys, spelling })
    }
}

/// Where every token begins.
fn spelling(text: Text) -> Spelling {
    fn starts<S: Start>(text: &Text) -> Vec<S> {
        let pieces = each_piece(text, |piece| {
            let starts = Tokens::new(&text.bytes[piece.clone()]).map(|(start, _)| S::of(piece.start + start));
            starts.collect::<Vec<S>>()
        });
        join(pieces, Vec::len, |piece, starts| starts.copy_from_slice(&piece))
    }
    let starts =
        if u32::holds_all(&text) { Starts::Short(starts(&text)) } else { Starts::Long(starts(&text)) };
    Spelling { text, starts }
}

/// A float type's keys, read from tokens.
trait Float: Word {
    /// The key of the number that the token spells, and the number as f64; NaN is one key.
    fn read(token: &[u8], order: Order) -> Option<(Self, f64)>;
}

impl Float for u32 {
    fn read(token: &[u8], order: Order) -> Option<(Self, f64)> {
        let value: f32 = fast_float2::parse(token).ok()?;
        let value = if value.is_nan() { f32::NAN } else { value };
        Some((value.to_bits().key(order), value.into()))
    }
}

impl Float for u64 {
    fn read(token: &[u8], order: Order) -> Option<(Self, f64)> {
        let value: f64 = fast_float2::parse(token).ok()?;
        let value = if value.is_nan() { f64::NAN } else { value };
        Some((value.to_bits().key(order), value))
    }
}

/// The tokens of a piece as floats.
struct Floats<W, S> {
    keys: Vec<W>,
    starts: Vec<S>,
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
    let (keys, starts) = match (element, u32::holds_all(&text)) {
        (ElementType::F32, true) => {
            let (keys, starts) = floats_of::<u32, u32>(&text, order, asked)?;
            (Keys::One(keys), Starts::Short(starts))
        }
        (ElementType::F32, false) => {
            let (keys, starts) = floats_of::<u32, u64>(&text, order, asked)?;
            (Keys::One(keys), Starts::Long(starts))
        }
        (_, true) => {
            let (keys, starts) = floats_of::<u64, u32>(&text, order, asked)?;
            (Keys::Two(keys), Starts::Short(starts))
        }
        (_, false) => {
            let (keys, starts) = floats_of::<u64, u64>(&text, order, asked)?;
            (Keys::Two(keys), Starts::Long(starts))
        }
    };
    Ok(Records { order, keys, spelling: Some(Spelling { text, starts }) })
}

fn floats_of<W: Float, S: Start>(
    text: &Text,
    order: Order,
    asked: Option<ElementType>,
) -> Result<(Vec<W>, Vec<S>), Error> {
    let exact = asked.is_none();
    let pieces: Vec<Floats<W, S>> = each_piece(text, |piece| floats_in(text, piece, order, exact))
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
    let keys = join(keys, Vec::len, |piece, keys| keys.copy_from_slice(&piece));
    let starts = join(starts, Vec::len, |piece, starts| starts.copy_from_slice(&piece));
    Ok((keys, starts))
}

fn floats_in<W: Float, S: Start>(
    text: &Text,
    piece: Range<usize>,
    order: Order,
    exact: bool,
) -> Result<Floats<W, S>, Error> {
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
        floats.starts.push(S::of(place));
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
