//! Tokens as floats, each with its place.

use std::ops::Range;

use super::{each_piece, inference, spot};
use crate::error::Error;
use crate::io::infer::Inference;
use crate::io::number::{Tokens, float, has_fraction};
use crate::io::records::{Records, Spelling, Start, Starts};
use crate::io::rules::Direction;
use crate::io::source::Text;
use crate::key::{ElementType, Order, Pieces, Word};

/// The bits of a float type.
trait Float: Word {
    const ELEMENT: ElementType;

    /// Of a number that the type holds; NaN is one key.
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

/// Words in pieces.
type Pieced<T> = Vec<Vec<T>>;

/// The tokens of a piece as floats.
struct Floats<W, S> {
    keys: Vec<W>,
    starts: Vec<S>,
    inference: Inference<usize>,
}

/// Reads `text` as numbers of this float type, or as f64 where that changes nothing.
pub(super) fn parse(text: Text, asked: Option<ElementType>, direction: Direction) -> Result<Records, Error> {
    let element = asked.unwrap_or(ElementType::F64);
    let order = direction.of(element);
    let (keys, starts) = match (element, u32::holds_all(&text)) {
        (ElementType::F32, true) => {
            let (keys, starts) = floats_of::<u32, u32>(&text, order, asked, direction)?;
            (Pieces::One(keys), Starts::Short(starts))
        }
        (ElementType::F32, false) => {
            let (keys, starts) = floats_of::<u32, u64>(&text, order, asked, direction)?;
            (Pieces::One(keys), Starts::Long(starts))
        }
        (_, true) => {
            let (keys, starts) = floats_of::<u64, u32>(&text, order, asked, direction)?;
            (Pieces::Two(keys), Starts::Short(starts))
        }
        (_, false) => {
            let (keys, starts) = floats_of::<u64, u64>(&text, order, asked, direction)?;
            (Pieces::Two(keys), Starts::Long(starts))
        }
    };
    Ok(Records { order, keys, spelling: Some(Spelling { text, starts }) })
}

fn floats_of<W: Float, S: Start>(
    text: &Text,
    order: Order,
    asked: Option<ElementType>,
    direction: Direction,
) -> Result<(Pieced<W>, Pieced<S>), Error> {
    let none = inference(asked, direction);
    let pieces = each_piece(text, |piece| floats_in(text, piece, order, none.clone()));
    let pieces: Vec<Floats<W, S>> = pieces.into_iter().collect::<Result<_, _>>()?;
    let inference = pieces.iter().map(|piece| piece.inference.clone()).fold(none, Inference::merge);
    inference.finish().map_err(|conflict| conflict.into_error(|place| spot(text, place)))?;
    Ok(pieces.into_iter().map(|piece| (piece.keys, piece.starts)).unzip())
}

fn floats_in<W: Float, S: Start>(
    text: &Text,
    piece: Range<usize>,
    order: Order,
    mut inference: Inference<usize>,
) -> Result<Floats<W, S>, Error> {
    let guess = piece.len() / 16;
    let (mut keys, mut starts) = (Vec::with_capacity(guess), Vec::with_capacity(guess));
    let bytes = &text.bytes[piece.clone()];
    let mut tokens = Tokens::new(bytes);
    while let Some(start) = tokens.find() {
        let place = piece.start + start;
        // Not knowing where the token ends, which most often is where the number does.
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
        keys.push(W::of(value).key(order));
        starts.push(S::of(place));
    }
    Ok(Floats { keys, starts, inference })
}
