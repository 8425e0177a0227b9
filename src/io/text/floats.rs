//! Tokens as floats: decimals that all have as many digits after the point, or any, each with its offset.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Known, inference, pieces_of, refused, several, spot};
use crate::error::Error;
use crate::io::Counts;
use crate::io::infer::Inference;
use crate::io::number::{PerLine, Tokens, fixed, float, has_fraction};
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

/// Reads a text as numbers of this float type, or as f64, which the caller has to find out whether it loses nothing. Also
/// returns what is known of the type.
pub(super) fn parse(
    text: &mut Text,
    asked: Option<ElementType>,
    direction: KeyOrder,
    per_line: PerLine,
) -> Result<(Records, Known), Error> {
    let element = asked.unwrap_or(ElementType::F64);
    let order = direction.map(element);
    if let Some(records) = parse_fixed(text, per_line, order) {
        let mut known = inference(asked, direction);
        known.push_decimal();
        return Ok((records, known));
    }
    let read = match (element, u32::try_from(text.bytes.len()).is_ok()) {
        (ElementType::F32, true) => floats_of::<u32, u32>,
        (ElementType::F32, false) => floats_of::<u32, u64>,
        (_, true) => floats_of::<u64, u32>,
        (_, false) => floats_of::<u64, u64>,
    };
    let (keys, starts, inference, counts) = read(text, order, per_line, asked, direction)?;
    let known = inference.at(|place| (place as u64, spot(text, place)));
    let spelling = Spelling::AsRead { text: std::mem::take(text), starts };
    Ok((Records { order, keys, spelling, counts }, known))
}

/// The records of decimals that all have as many digits after the point, few enough to be printed again; `None` for other
/// text, and for a type that holds fewer digits.
pub(super) fn parse_fixed(text: &Text, per_line: PerLine, order: KeyMap) -> Option<Records> {
    let (keys, digits, comments) = decimals(text, per_line, order)?;
    let counts = Counts { comments, ..Counts::default() };
    Some(Records { order, keys, spelling: Spelling::Printed(Print::Fixed(digits)), counts })
}

/// The keys of decimals that all have as many digits after the point, few enough to be printed again, how many these are,
/// and the number of comments; `None` for other text, and for a type that holds fewer digits.
fn decimals(text: &Text, per_line: PerLine, order: KeyMap) -> Option<(Words<'static>, u8, u64)> {
    if order.element != ElementType::F64 {
        return None;
    }
    let map = u64::map(order);
    let is_other = AtomicBool::new(false);
    let read_piece = |(piece, begun): (Range<usize>, bool)| {
        let mut keys = Vec::with_capacity(piece.len() / 8);
        let mut digits = None;
        let bytes = &text.bytes[piece];
        let mut tokens = Tokens::per_line(bytes, per_line, begun);
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
        is_other.fetch_or(tokens.excess.is_some(), Ordering::Relaxed);
        (keys, digits, tokens.comments)
    };
    let pieces = map_parts(pieces_of(text), read_piece);
    let mut digits = pieces.iter().filter_map(|(_, digits, _)| *digits);
    let first = digits
        .next()
        .filter(|first| !is_other.load(Ordering::Relaxed) && digits.all(|other| other == *first))?;
    let comments = pieces.iter().map(|(.., comments)| comments).sum();
    let keys: Vec<Vec<u64>> = pieces.into_iter().map(|(keys, ..)| keys).collect();
    Some((keys.into(), first, comments))
}

/// After this many decimals a core looks whether others have found other numbers.
const FEW: usize = 1 << 10;

fn floats_of<W: Float, S: Width>(
    text: &Text,
    order: KeyMap,
    per_line: PerLine,
    asked: Option<ElementType>,
    direction: KeyOrder,
) -> Result<(Words<'static>, Words<'static>, Inference<usize>, Counts), Error> {
    let (none, map) = (inference(asked, direction), W::map(order));
    // The keys of a piece's tokens, their offsets, the inference of their type, and what is counted.
    let read_piece = |(piece, begun): (Range<usize>, bool)| {
        let (mut inference, mut counts) = (none.clone(), Counts::default());
        let guess = piece.len() / 16;
        let (mut keys, mut starts) = (Vec::with_capacity(guess), Vec::with_capacity(guess));
        let bytes = &text.bytes[piece.clone()];
        let mut tokens = Tokens::per_line(bytes, per_line, begun);
        while let Some(start) = tokens.find() {
            let place = piece.start + start;
            // Without looking for the end of the token, which is usually the end of the number.
            let read = float(&bytes[start..], W::ELEMENT);
            let value = match read.filter(|&(value, _)| has_fraction(value)) {
                Some((value, length)) if tokens.pass(length) => {
                    inference.push_decimal();
                    value
                }
                _ => {
                    let value = inference
                        .read_closely(tokens.take_token(), || read.map(|(value, _)| value), || place)
                        .map_err(|why| refused(text, place, per_line, |_| why))?
                        .to_float();
                    counts.nan += u64::from(value.is_nan());
                    value
                }
            };
            keys.push(W::of(value).key(map));
            starts.push(S::of_usize(place));
        }
        if let Some(excess) = tokens.excess {
            return Err(several(text.place(piece.start + excess)));
        }
        (counts.comments, counts.rounded) = (tokens.comments, inference.rounded);
        Ok::<_, Error>((keys, starts, inference, counts))
    };
    let (mut keys, mut starts, mut inference) = (Vec::new(), Vec::new(), none.clone());
    let mut counts = Counts::default();
    for piece in map_parts(pieces_of(text), read_piece) {
        let (piece_keys, piece_starts, piece_inference, piece_counts) = piece?;
        keys.push(piece_keys);
        starts.push(piece_starts);
        inference = inference.merge(piece_inference);
        counts = counts.and(piece_counts);
    }
    Ok((keys.into(), starts.into(), inference, counts))
}
