//! Tokens as floats: decimals that all have as many digits after the point, or any, each with its offset.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Known, inference, pieces_of, spot};
use crate::error::Error;
use crate::io::infer::Inference;
use crate::io::number::{Tokens, fixed, float, has_fraction};
use crate::io::records::{Print, Records, Spelling};
use crate::io::source::Text;
use crate::key::{ElementType, KeyMap, Word};
use crate::order::KeyOrder;
use crate::parallel::map_parts;
use crate::words::{Width, Words};

/// The bits of a float type.
trait Float: Width {
    const ELEMENT: ElementType;

    /// The bits of a number that the type holds; every NaN has the same bits.
    fn of(value: f64) -> Self;
}

impl Float for u32 {
    const ELEMENT: ElementType = ElementType::F32;

    #[inline]
    fn of(value: f64) -> Self {
        if value.is_nan() { f32::NAN } else { value as f32 }.to_bits()
    }
}

impl Float for u64 {
    const ELEMENT: ElementType = ElementType::F64;

    #[inline]
    fn of(value: f64) -> Self {
        value.to_bits()
    }
}

/// Reads a text or a part of one as numbers of this float type, or as f64, which the caller has to find out whether it
/// loses nothing. Also returns what is known of the type with what was known before.
pub(super) fn parse(
    text: Text,
    asked: Option<ElementType>,
    direction: KeyOrder,
    known: Known,
    passed: u64,
) -> Result<(Records, Known), Error> {
    let element = asked.unwrap_or(ElementType::F64);
    let order = direction.map(element);
    if let Some((keys, digits)) = decimals(&text, order) {
        let mut inference = inference(asked, direction);
        inference.push_decimal();
        let spelling = Spelling::Printed(Print::Fixed(digits));
        return Ok((Records { order, keys, spelling }, known.merge(inference)));
    }
    let read = match (element, u32::try_from(text.bytes.len()).is_ok()) {
        (ElementType::F32, true) => floats_of::<u32, u32>,
        (ElementType::F32, false) => floats_of::<u32, u64>,
        (_, true) => floats_of::<u64, u32>,
        (_, false) => floats_of::<u64, u64>,
    };
    let (keys, starts, inference) = read(&text, order, asked, direction)?;
    let known = known.merge(inference.at(|place| (passed + place as u64, spot(&text, place))));
    Ok((Records { order, keys, spelling: Spelling::AsRead { text, starts } }, known))
}

/// The keys of decimals that all have as many digits after the point, few enough to be printed again, and how many these
/// are; `None` for other text, and for a type that holds fewer digits.
fn decimals(text: &Text, order: KeyMap) -> Option<(Words<'static>, u8)> {
    if order.element != ElementType::F64 {
        return None;
    }
    let map = u64::map(order);
    let is_other = AtomicBool::new(false);
    let read_piece = |piece: Range<usize>| {
        let mut keys = Vec::with_capacity(piece.len() / 8);
        let mut digits = None;
        let bytes = &text.bytes[piece];
        let mut tokens = Tokens::new(bytes);
        while let Some(start) = tokens.find() {
            let read = fixed(&bytes[start..]).filter(|&(_, of_this, length)| {
                *digits.get_or_insert(of_this) == of_this && tokens.pass(length)
            });
            let Some((value, ..)) = read else {
                is_other.store(true, Ordering::Relaxed);
                break;
            };
            keys.push(value.to_bits().key(map));
            if keys.len() % FEW == 0 && is_other.load(Ordering::Relaxed) {
                break;
            }
        }
        (keys, digits)
    };
    let pieces = map_parts(pieces_of(text), read_piece);
    let mut digits = pieces.iter().filter_map(|(_, digits)| *digits);
    let first = digits
        .next()
        .filter(|first| !is_other.load(Ordering::Relaxed) && digits.all(|other| other == *first))?;
    let keys: Vec<Vec<u64>> = pieces.into_iter().map(|(keys, _)| keys).collect();
    Some((keys.into(), first))
}

/// After this many decimals a core looks whether others have found other numbers.
const FEW: usize = 1 << 10;

fn floats_of<W: Float, S: Width>(
    text: &Text,
    order: KeyMap,
    asked: Option<ElementType>,
    direction: KeyOrder,
) -> Result<(Words<'static>, Words<'static>, Inference<usize>), Error> {
    let (none, map) = (inference(asked, direction), W::map(order));
    // The keys of a piece's tokens, their offsets, and the inference of their type.
    let read_piece = |piece: Range<usize>| {
        let mut inference = none.clone();
        let guess = piece.len() / 16;
        let (mut keys, mut starts) = (Vec::with_capacity(guess), Vec::with_capacity(guess));
        let bytes = &text.bytes[piece.clone()];
        let mut tokens = Tokens::new(bytes);
        while let Some(start) = tokens.find() {
            let place = piece.start + start;
            // Without looking for the end of the token, which is usually the end of the number.
            let read = float(&bytes[start..], W::ELEMENT);
            let value = match read.filter(|&(value, _)| has_fraction(value)) {
                Some((value, length)) if tokens.pass(length) => {
                    inference.push_decimal();
                    value
                }
                _ => inference
                    .read_closely(tokens.take_token(), || read.map(|(value, _)| value), || place)
                    .map_err(|refused| refused.into_error(spot(text, place)))?
                    .to_float(),
            };
            keys.push(W::of(value).key(map));
            starts.push(S::of_usize(place));
        }
        Ok::<_, Error>((keys, starts, inference))
    };
    let (mut keys, mut starts, mut inference) = (Vec::new(), Vec::new(), none.clone());
    for piece in map_parts(pieces_of(text), read_piece) {
        let (piece_keys, piece_starts, piece_inference) = piece?;
        keys.push(piece_keys);
        starts.push(piece_starts);
        inference = inference.merge(piece_inference);
    }
    Ok((keys.into(), starts.into(), inference))
}
