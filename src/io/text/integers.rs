//! Tokens as integers: 32 bits each, or 64 where those are not enough, and the extremes tell the type.

use super::expected;
use crate::error::Error;
use crate::human::quoted;
use crate::io::number::{Integer, Tokens, integer};
use crate::io::source::Text;
use crate::key::{ElementType, KeyMap, Word};
use crate::parallel::map_parts;
use crate::words::Words;

/// The tokens of a piece of text as integers, and what is known of them.
pub(super) struct Integers {
    values: Values,
    /// The type asked for.
    element: Option<ElementType>,
    /// The least value, if it is negative, else 0.
    least: i64,
    /// The greatest value, if it is positive, else 0.
    greatest: u64,
    /// Whether every token is spelled as its value would be printed.
    pub(super) canonical: bool,
}

/// Integers in two's complement.
enum Values {
    /// Modulo 2^32; either u32 or i32 holds them all.
    Narrow(Vec<u32>),
    /// Modulo 2^64.
    Wide(Vec<u64>),
}

/// Why a reading as integers ended.
#[derive(Debug)]
pub(super) enum NotIntegers {
    /// No type was asked for, and this is no integer or one that no 64-bit type holds: only a reading
    /// as floats can tell what to make of it.
    Other,
    /// The token at this byte is not of the type that was asked for.
    Refused(usize, ElementType),
}

impl Integers {
    /// None yet; about so many are expected.
    pub(super) fn new(element: Option<ElementType>, expected: usize) -> Self {
        let values = Values::Narrow(Vec::with_capacity(expected));
        Self { values, element, least: 0, greatest: 0, canonical: true }
    }

    /// Reads tokens of whole lines, whose first byte is at this place in the text.
    pub(super) fn read(&mut self, bytes: &[u8], place: usize) -> Result<(), NotIntegers> {
        let mut tokens = Tokens::new(bytes);
        loop {
            // Most are short and of 32 bits; one that is not is read at leisure.
            let next = match &mut self.values {
                Values::Narrow(values) => {
                    let mut values = std::mem::take(values);
                    let next =
                        self.read_short(&mut tokens, Extremes::is_narrow, |value| values.push(value as u32));
                    self.values = Values::Narrow(values);
                    next
                }
                Values::Wide(values) => {
                    let mut values = std::mem::take(values);
                    let next =
                        self.read_short(&mut tokens, |_| true, |value| values.push(value.cast_unsigned()));
                    self.values = Values::Wide(values);
                    next
                }
            };
            match next {
                Some(start) => self.read_one(&mut tokens, start, place)?,
                None => return Ok(()),
            }
        }
    }

    /// Reads tokens as long as they are short and in a range that will do; returns where one begins that is neither.
    #[inline]
    fn read_short(
        &mut self,
        tokens: &mut Tokens,
        will_do: impl Fn(Extremes) -> bool,
        mut keep: impl FnMut(i64),
    ) -> Option<usize> {
        let (lowest, highest) = self.element.map_or((i64::MIN, i64::MAX), range);
        // No short integer is so large that a signed one does not hold it, but others may be.
        let mut extremes = Extremes(self.least, i64::try_from(self.greatest).unwrap_or(i64::MAX));
        let mut canonical = self.canonical;
        let unread = loop {
            let Some(start) = tokens.find() else { break None };
            let Some(short) = tokens.short_integer() else { break Some(start) };
            let with = Extremes(extremes.0.min(short.value), extremes.1.max(short.value));
            if short.value < lowest || short.value > highest || !will_do(with) {
                break Some(start);
            }
            extremes = with;
            canonical &= short.canonical;
            keep(short.value);
            tokens.pass(short.length);
        };
        self.least = extremes.0;
        self.greatest = self.greatest.max(extremes.1.cast_unsigned());
        self.canonical = canonical;
        unread
    }

    /// Reads the token that begins here.
    fn read_one(&mut self, tokens: &mut Tokens, start: usize, place: usize) -> Result<(), NotIntegers> {
        let token = tokens.take_token();
        let integer = integer(token);
        let value = integer.and_then(two_complement);
        let element = self.element;
        let Some((value, negative)) =
            value.filter(|&(value, negative)| element.is_none_or(|element| holds(element, value, negative)))
        else {
            let refused = |element| NotIntegers::Refused(place + start, element);
            return Err(element.map_or(NotIntegers::Other, refused));
        };
        self.canonical &= integer.is_some_and(|integer| integer.canonical);
        let signed = self.least < 0;
        if negative {
            self.least = self.least.min(value.cast_signed());
        } else {
            self.greatest = self.greatest.max(value);
        }
        let is_narrow = self.fit(ElementType::U32) || self.fit(ElementType::I32);
        match &mut self.values {
            Values::Narrow(values) if is_narrow => values.push(value as u32),
            Values::Narrow(values) => {
                let mut wide = widened(std::mem::take(values), signed);
                wide.push(value);
                self.values = Values::Wide(wide);
            }
            Values::Wide(values) => values.push(value),
        }
        Ok(())
    }

    /// Whether the type holds all values.
    fn fit(&self, element: ElementType) -> bool {
        let least = self.least == 0 || holds(element, self.least.cast_unsigned(), true);
        least && holds(element, self.greatest, false)
    }

    /// What is known of all pieces, without their values.
    pub(super) fn summary(pieces: &[Self]) -> Self {
        Self {
            values: Values::Narrow(Vec::new()),
            element: pieces.first().and_then(|piece| piece.element),
            least: pieces.iter().map(|piece| piece.least).min().unwrap_or_default(),
            greatest: pieces.iter().map(|piece| piece.greatest).max().unwrap_or_default(),
            canonical: pieces.iter().all(|piece| piece.canonical),
        }
    }

    /// The type asked for, else the first that holds every value; `None` if there is none.
    pub(super) fn element(&self) -> Option<ElementType> {
        let all = [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64];
        self.element.or_else(|| all.into_iter().find(|&element| self.fit(element)))
    }

    /// That no type holds them all.
    pub(super) fn no_element(&self, text: &Text) -> Error {
        // The first of each, as a person would look for it.
        let place = |wanted: (u64, bool)| {
            let mut tokens = text.parts().iter().flat_map(|part| {
                Tokens::new(&text.bytes[part.range.clone()])
                    .map(move |(start, token)| (part.range.start + start, token))
            });
            let found = tokens.find(|(_, token)| integer(token).and_then(two_complement) == Some(wanted));
            found.map_or(0, |(place, _)| place)
        };
        let least = place((self.least.cast_unsigned(), true));
        let greatest = place((self.greatest, false));
        let shown = |place| quoted(text.token(place));
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
    }

    /// The keys of the values of each piece, which are of this order's type.
    pub(super) fn keys(pieces: Vec<Self>, order: KeyMap) -> Words<'static> {
        fn each<W: Word>(
            pieces: Vec<Integers>,
            keys: impl Fn(Integers) -> Vec<W> + Sync + Send,
        ) -> Vec<Vec<W>> {
            map_parts(pieces, keys)
        }
        let key = |values: &mut [u32]| values.iter_mut().for_each(|value| *value = value.key(order));
        if order.element.key_words() == 1 {
            // The values fit, so the low half is the value in two's complement of 32 bits.
            each(pieces, |piece| {
                let mut values = match piece.values {
                    Values::Narrow(values) => values,
                    Values::Wide(values) => values.into_iter().map(|value| value as u32).collect(),
                };
                key(&mut values);
                values
            })
            .into()
        } else {
            each(pieces, |piece| {
                let mut values = match piece.values {
                    Values::Narrow(values) => widened(values, piece.least < 0),
                    Values::Wide(values) => values,
                };
                values.iter_mut().for_each(|value| *value = value.key(order));
                values
            })
            .into()
        }
    }
}

impl NotIntegers {
    /// The error, if it is one and not a reason to read as floats.
    pub(super) fn into_error(self, text: &Text) -> Option<Error> {
        match self {
            Self::Other => None,
            Self::Refused(place, element) => Some(text.token_error(place, expected(element))),
        }
    }
}

/// The values in 64 bits, of a type that has negative values or of one that has none.
fn widened(values: Vec<u32>, signed: bool) -> Vec<u64> {
    let wide =
        |value: u32| if signed { i64::from(value.cast_signed()).cast_unsigned() } else { value.into() };
    values.into_iter().map(wide).collect()
}

/// The value modulo 2^64 and whether it is negative; `None` if neither u64 nor i64 holds it.
pub(in crate::io) fn two_complement(integer: Integer) -> Option<(u64, bool)> {
    let magnitude = integer.magnitude?;
    let fits = !integer.negative || magnitude <= i64::MIN.unsigned_abs();
    fits.then_some((if integer.negative { magnitude.wrapping_neg() } else { magnitude }, integer.negative))
}

/// The least and the greatest of some integers and 0.
#[derive(Clone, Copy)]
struct Extremes(i64, i64);

impl Extremes {
    /// Whether u32 or i32 holds them all.
    #[inline]
    fn is_narrow(self) -> bool {
        let most = if self.0 < 0 { i32::MAX.into() } else { u32::MAX.into() };
        self.0 >= i32::MIN.into() && self.1 <= most
    }
}

/// The values of the type that an i64 holds.
fn range(element: ElementType) -> (i64, i64) {
    match element {
        ElementType::U32 => (0, u32::MAX.into()),
        ElementType::I32 => (i32::MIN.into(), i32::MAX.into()),
        ElementType::U64 => (0, i64::MAX),
        ElementType::I64 => (i64::MIN, i64::MAX),
        // Floats have none that is read as an integer, and text is not read as smaller types.
        _ => (0, 0),
    }
}

pub(in crate::io) fn holds(element: ElementType, value: u64, negative: bool) -> bool {
    match element {
        ElementType::U32 => !negative && u32::try_from(value).is_ok(),
        ElementType::I32 if negative => i32::try_from(value.cast_signed()).is_ok(),
        ElementType::I32 => i32::try_from(value).is_ok(),
        ElementType::U64 => !negative,
        ElementType::I64 => negative || i64::try_from(value).is_ok(),
        _ => false,
    }
}
