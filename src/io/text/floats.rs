//! Tokens as floats, each with its place.

use std::ops::Range;

use super::integers::two_complement;
use super::{NO_NAN, each_piece, expected};
use crate::error::Error;
use crate::io::number::{Spelled, Tokens, has_fraction, integer, is_exactly, no_number, spelled};
use crate::io::records::{Records, Spelling};
use crate::io::source::Text;
use crate::key::{ElementType, KeyMap, Word};
use crate::order::{KeyOrder, Nulls};
use crate::words::{Width, Words};

/// A float type's keys, read from tokens.
trait Float: Width {
    /// The number that is spelled at the beginning of these bytes: its key, the number as f64, and how many
    /// bytes spell it. NaN is one key.
    fn read(bytes: &[u8], order: KeyMap) -> Option<(Self, f64, usize)>;
}

impl Float for u32 {
    #[inline]
    fn read(bytes: &[u8], order: KeyMap) -> Option<(Self, f64, usize)> {
        let (value, length): (f32, usize) = fast_float2::parse_partial(bytes).ok()?;
        let value = if value.is_nan() { f32::NAN } else { value };
        Some((value.to_bits().key(order), value.into(), length))
    }
}

impl Float for u64 {
    #[inline]
    fn read(bytes: &[u8], order: KeyMap) -> Option<(Self, f64, usize)> {
        let (value, length): (f64, usize) = fast_float2::parse_partial(bytes).ok()?;
        let value = if value.is_nan() { f64::NAN } else { value };
        Some((value.to_bits().key(order), value, length))
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

/// Reads `text` as numbers of this float type, or as f64 where that changes nothing.
pub(super) fn parse(text: Text, asked: Option<ElementType>, direction: KeyOrder) -> Result<Records, Error> {
    let element = asked.unwrap_or(ElementType::F64);
    let order = direction.map(element);
    let read = match (element, u32::holds(text.bytes.len())) {
        (ElementType::F32, true) => floats_of::<u32, u32>,
        (ElementType::F32, false) => floats_of::<u32, u64>,
        (_, true) => floats_of::<u64, u32>,
        (_, false) => floats_of::<u64, u64>,
    };
    let (keys, starts) = read(&text, order, asked, direction)?;
    Ok(Records { order, keys, spelling: Some(Spelling { text, starts }) })
}

fn floats_of<W: Float, S: Width>(
    text: &Text,
    order: KeyMap,
    asked: Option<ElementType>,
    direction: KeyOrder,
) -> Result<(Words<'static>, Words<'static>), Error> {
    let exact = asked.is_none();
    let nan = direction.nan != Nulls::Error;
    let pieces: Vec<Floats<W, S>> = each_piece(text, |piece| floats_in(text, piece, order, exact, nan))
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
    Ok((keys.into(), starts.into()))
}

fn floats_in<W: Float, S: Width>(
    text: &Text,
    piece: Range<usize>,
    order: KeyMap,
    exact: bool,
    nan: bool,
) -> Result<Floats<W, S>, Error> {
    let guess = piece.len() / 16;
    let mut floats = Floats {
        keys: Vec::with_capacity(guess),
        starts: Vec::with_capacity(guess),
        decimals: false,
        inexact: None,
        too_large: None,
    };
    let bytes = &text.bytes[piece.clone()];
    let mut tokens = Tokens::new(bytes);
    while let Some(start) = tokens.find() {
        let place = piece.start + start;
        let read = W::read(&bytes[start..], order);
        // What has a fraction is spelled with a point or an exponent; others take a closer look.
        let key = match read.filter(|&(_, value, _)| has_fraction(value)) {
            Some((key, _, length)) if tokens.pass(length) => {
                floats.decimals = true;
                key
            }
            _ => {
                let token = tokens.take_token();
                let spelled = spelled(token).ok_or_else(|| text.token_error(place, no_number(token)))?;
                let refused = || text.token_error(place, expected(order.element));
                let (key, value, _) = read.ok_or_else(refused)?;
                match spelled {
                    Spelled::Integer | Spelled::Decimal if value.is_infinite() => return Err(refused()),
                    Spelled::Integer if exact => floats.note_integer(token, value, place),
                    Spelled::Integer => {}
                    Spelled::Nan if !nan => return Err(text.token_error(place, NO_NAN)),
                    Spelled::Decimal | Spelled::Infinity | Spelled::Nan => floats.decimals = true,
                }
                key
            }
        };
        floats.keys.push(key);
        floats.starts.push(S::of_usize(place));
    }
    Ok(floats)
}

impl<W, S> Floats<W, S> {
    /// Takes note of what an integer beside decimals must not be.
    fn note_integer(&mut self, token: &[u8], value: f64, place: usize) {
        if self.inexact.is_none() && !is_exactly(token, value) {
            self.inexact = Some(place);
        }
        if self.too_large.is_none() && integer(token).and_then(two_complement).is_none() {
            self.too_large = Some(place);
        }
    }
}
