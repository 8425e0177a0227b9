//! Tokens as floats, each with its offset.

use std::ops::Range;

use super::{Known, inference, pieces_of, spot};
use crate::error::Error;
use crate::io::infer::Inference;
use crate::io::number::{Tokens, float, has_fraction};
use crate::io::records::{Records, Spelling};
use crate::io::source::Text;
use crate::key::{ElementType, KeyMap};
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
    let read = match (element, u32::try_from(text.bytes.len()).is_ok()) {
        (ElementType::F32, true) => floats_of::<u32, u32>,
        (ElementType::F32, false) => floats_of::<u32, u64>,
        (_, true) => floats_of::<u64, u32>,
        (_, false) => floats_of::<u64, u64>,
    };
    let (keys, starts, inference) = read(&text, order, asked, direction)?;
    let known = known.merge(inference.at(|place| (passed + place as u64, spot(&text, place))));
    Ok((Records { order, keys, spelling: Some(Spelling { text, starts }) }, known))
}

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
