//! The type of numbers in text: one for all tokens of a text or a column, inferred from what they spell.
//!
//! ```text
//! token ── read ──► Number, or Refused
//!           │
//!           ▼
//!       Inference ── merge ──► Inference ── finish ──► ElementType, or Conflict
//! ```
//!
//! Integers alone have the first of u32, i32, u64 and i64 that holds them all. One token with a point or an exponent, inf or
//! nan makes f64 of it, and then every integer has to be exact in f64: rounding would change its place among the others.

use std::fmt;

use super::number::{Spelled, float, has_fraction, integer, is_exactly, spelled};
use super::rules::{Class, Place, Rules};
use crate::error::{Error, ErrorKind};
use crate::human::quoted;
use crate::key::ElementType;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer, where floats were not asked for.
    Integer(i128),
    /// An integer zero with a minus sign: 0 among integers, −0 among floats. Only where no type was asked for.
    MinusZero,
    /// A float of the type asked for, else of f64.
    Float(f64),
    /// No number, which the rules accept.
    Null(Class),
}

impl Number {
    /// The number as a float; NaN for a null.
    pub(super) fn to_float(self) -> f64 {
        match self {
            // Rounded once, to the nearest, as if the token were read as a float.
            Self::Integer(value) => i64::try_from(value).map_or_else(|_| value as u64 as f64, |value| value as f64),
            Self::MinusZero => -0.0,
            Self::Float(value) => value,
            Self::Null(_) => f64::NAN,
        }
    }
}

/// Why a token is an error whatever the others are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The rules make an error of its class.
    Class(Class),
    /// The type does not hold it.
    Type(ElementType),
}

/// Why tokens have no type in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict<P> {
    /// No 64-bit type holds this integer, the first such one.
    TooLarge(P),
    /// There are decimals, and this is the first integer that f64 does not hold exactly.
    Inexact(P),
    /// The first negative integer, and the first that only u64 holds.
    Apart(P, P),
}

/// The integer types of text, in the order in which they are preferred.
const INTEGERS: [ElementType; 4] = [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64];

/// The least and the greatest value of an integer type of text.
pub(super) fn limits(element: ElementType) -> (i128, i128) {
    match element {
        ElementType::U32 => (0, u32::MAX.into()),
        ElementType::I32 => (i32::MIN.into(), i32::MAX.into()),
        ElementType::U64 => (0, u64::MAX.into()),
        ElementType::I64 => (i64::MIN.into(), i64::MAX.into()),
        // Floats have none, and text is not read as narrower integers.
        _ => (0, 0),
    }
}

/// The least and the greatest of some integers and 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) least: i128,
    pub(super) greatest: i128,
}

impl Span {
    #[inline]
    pub(super) fn push(&mut self, value: i128) {
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    pub(super) fn merge(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest) }
    }

    /// Whether the type holds them all.
    pub(super) fn fits(self, element: ElementType) -> bool {
        let (least, greatest) = limits(element);
        least <= self.least && self.greatest <= greatest
    }

    /// The first integer type that holds them all.
    pub(super) fn element(self) -> Option<ElementType> {
        INTEGERS.into_iter().find(|&element| self.fits(element))
    }
}

/// What is known of the type of some tokens. Places are ordered as the tokens are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inference<P> {
    asked: Option<ElementType>,
    rules: Rules,
    /// Whether the tokens are floats: as asked for, or because of a decimal, inf or nan.
    floats: bool,
    /// The integers that 64 bits hold.
    span: Span,
    /// The first integer of each kind that may be in conflict with others.
    negative: Option<P>,
    large: Option<P>,
    inexact: Option<P>,
    too_large: Option<P>,
}

impl<P> Inference<P> {
    /// Of no tokens. With a type asked for, that is the type, and tokens that it does not hold are refused.
    pub(super) fn new(asked: Option<ElementType>, rules: Rules) -> Self {
        let floats = asked.is_some_and(ElementType::is_float);
        let span = Span::default();
        Self { asked, rules, floats, span, negative: None, large: None, inexact: None, too_large: None }
    }

    /// Whether the tokens are known to be floats.
    pub(super) fn is_float(&self) -> bool {
        self.floats
    }

    /// The integers so far.
    pub(super) fn span(&self) -> Span {
        self.span
    }

    /// Whether no integer type holds all integers so far, though there is one for each.
    #[inline]
    pub(super) fn is_apart(&self) -> bool {
        self.negative.is_some() && self.large.is_some()
    }

    /// Takes note of a token with a point or an exponent, inf or nan.
    #[inline]
    pub(super) fn push_decimal(&mut self) {
        self.floats = true;
    }

    #[inline]
    fn push_integer(&mut self, value: i128, place: impl Fn() -> P) {
        self.span.push(value);
        if value < 0 {
            self.negative.get_or_insert_with(&place);
        } else if value > i64::MAX.into() {
            self.large.get_or_insert_with(&place);
        }
        if self.inexact.is_none() && !is_exact(value) {
            self.inexact = Some(place());
        }
    }

    /// Reads a token: of a text, or a field without quotes and blanks around it.
    #[inline]
    pub(super) fn read(&mut self, token: &[u8], place: impl Fn() -> P) -> Result<Number, Refused> {
        let element = self.asked.unwrap_or(ElementType::F64);
        let read = || float(token, element);
        if !self.floats {
            return self.read_closely(token, || read().map(|(value, _)| value), place);
        }
        match read() {
            // What has a fraction is spelled with a point or an exponent.
            Some((value, length)) if length == token.len() && has_fraction(value) => Ok(Number::Float(value)),
            read => self.read_closely(token, || read.map(|(value, _)| value), place),
        }
    }

    /// Reads a token that may be anything; `float` reads it as a float, or has done so.
    #[inline]
    pub(super) fn read_closely(
        &mut self,
        token: &[u8],
        float: impl FnOnce() -> Option<f64>,
        place: impl Fn() -> P,
    ) -> Result<Number, Refused> {
        let element = self.asked.unwrap_or(ElementType::F64);
        if self.asked.is_none() || !element.is_float() {
            match integer_of(token, self.asked) {
                Some(0) if self.asked.is_none() && token[0] == b'-' => return Ok(Number::MinusZero),
                Some(value) => {
                    if self.asked.is_none() {
                        self.push_integer(value, place);
                    }
                    return Ok(Number::Integer(value));
                }
                None => {}
            }
        }
        let spelled = match spelled(token) {
            None if token.is_empty() => return self.null(Class::Empty),
            None => return self.null(Class::Invalid),
            Some(_) if !element.is_float() => return Err(Refused::Type(element)),
            Some(spelled) => spelled,
        };
        if spelled != Spelled::Integer {
            self.push_decimal();
        }
        if spelled == Spelled::Nan {
            return self.null(Class::Nan);
        }
        let value = float().filter(|value| value.is_finite() || spelled == Spelled::Infinity);
        let value = value.ok_or(Refused::Type(element))?;
        if spelled == Spelled::Integer && self.asked.is_none() {
            self.too_large.get_or_insert_with(&place);
            if self.inexact.is_none() && !is_exactly(token, value) {
                self.inexact = Some(place());
            }
        }
        Ok(Number::Float(value))
    }

    fn null(&self, class: Class) -> Result<Number, Refused> {
        match self.rules.place(class) {
            Place::Error => Err(Refused::Class(class)),
            Place::First | Place::Last | Place::Skip => Ok(Number::Null(class)),
        }
    }
}

impl<P: Ord + Clone> Inference<P> {
    /// What is known of the tokens of both.
    pub(super) fn merge(self, other: Self) -> Self {
        let first = |a: Option<P>, b| a.into_iter().chain(b).min();
        Self {
            asked: self.asked,
            rules: self.rules,
            floats: self.floats || other.floats,
            span: self.span.merge(other.span),
            negative: first(self.negative, other.negative),
            large: first(self.large, other.large),
            inexact: first(self.inexact, other.inexact),
            too_large: first(self.too_large, other.too_large),
        }
    }

    /// The type, as if there were no other tokens.
    ///
    /// # Errors
    ///
    /// Why there is none. Of several conflicts, an integer that is too large comes before two that are apart.
    pub(super) fn finish(&self) -> Result<ElementType, Conflict<P>> {
        if let Some(asked) = self.asked {
            return Ok(asked);
        }
        if self.floats {
            return self.inexact.clone().map_or(Ok(ElementType::F64), |place| Err(Conflict::Inexact(place)));
        }
        if let Some(place) = &self.too_large {
            return Err(Conflict::TooLarge(place.clone()));
        }
        if let (Some(negative), Some(large)) = (&self.negative, &self.large) {
            return Err(Conflict::Apart(negative.clone(), large.clone()));
        }
        Ok(self.span.element().unwrap_or(ElementType::F64))
    }

    /// The conflict that no further token resolves, if there is one.
    #[inline]
    pub(super) fn settled(&self) -> Result<(), Conflict<P>> {
        if self.floats && self.inexact.is_some() { self.finish().map(|_| ()) } else { Ok(()) }
    }
}

/// The integer that the token spells, if the integer type asked for, else a 64-bit one, holds it.
#[inline]
pub(super) fn integer_of(token: &[u8], asked: Option<ElementType>) -> Option<i128> {
    let value = integer(token)?.value?;
    let (least, greatest) = asked.map_or((i64::MIN.into(), u64::MAX.into()), limits);
    (least <= value && value <= greatest).then_some(value)
}

/// Whether f64 holds this integer of 64 bits exactly.
#[inline]
fn is_exact(value: i128) -> bool {
    let magnitude = value.unsigned_abs() as u64;
    magnitude == 0 || magnitude >> magnitude.trailing_zeros() < 1 << f64::MANTISSA_DIGITS
}

/// A token and its place, for a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    /// `file:line`, in text that is in memory `file:line:column`, counted from 1, the column in bytes.
    pub(super) place: String,
    /// The column of a table.
    pub(super) column: Option<String>,
    pub(super) token: Vec<u8>,
}

/// The token, and where it is.
impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", quoted(&self.token), self.place)
    }
}

impl Spot {
    fn place(self) -> String {
        match self.column {
            Some(column) => format!("{}, column '{column}'", self.place),
            None => self.place,
        }
    }

    fn is_not(self, expected: impl Into<String>) -> Error {
        let token = quoted(&self.token);
        Error::new(ErrorKind::Token { place: self.place(), token, expected: expected.into() })
    }
}

impl Refused {
    /// What an integer type has against a token that it does not hold.
    pub(super) fn by_integers(token: &[u8], element: ElementType) -> Self {
        if spelled(token).is_some() { Self::Type(element) } else { Self::Class(Class::Invalid) }
    }

    /// The error about the token.
    pub(super) fn into_error(self, spot: Spot) -> Error {
        let expected = match self {
            Self::Class(Class::Empty) => {
                return Error::input(spot.place(), "nothing is there, and --empty is error");
            }
            Self::Class(Class::Nan) => "allowed by --nan error".to_owned(),
            Self::Class(Class::Invalid) if spot.column.is_some() => {
                "a number; --invalid puts such rows last or first, or skips them".to_owned()
            }
            Self::Class(Class::Invalid) => format!("a number{}", other_format(&spot.token)),
            Self::Type(ElementType::F32) => format!("a number up to {:e} (f32)", f32::MAX),
            Self::Type(ElementType::F64) => format!("a number up to {:e} (f64)", f64::MAX),
            Self::Type(element) => {
                let (least, greatest) = limits(element);
                format!("an integer from {least} to {greatest} ({element})")
            }
        };
        spot.is_not(expected)
    }
}

/// What may help where a token of text looks like another format.
fn other_format(token: &[u8]) -> &'static str {
    if token.starts_with(b"\x93NUMPY") {
        "; --from npy reads NumPy's files"
    } else if token.iter().any(|&byte| byte < b' ' || byte == 0x7F) {
        "; --from bin reads binary"
    } else if token.contains(&b',') || token.contains(&b';') {
        "; --from csv reads tables"
    } else {
        ""
    }
}

impl<P: Ord> Conflict<P> {
    /// The error about the tokens, of which `spot` says what and where they are.
    pub(super) fn into_error(self, spot: impl Fn(P) -> Spot) -> Error {
        match self {
            Self::TooLarge(place) => {
                spot(place).is_not("an integer that a 64-bit type holds; --type f64 sorts it, rounded")
            }
            Self::Inexact(place) => spot(place).is_not(
                "an integer that f64 holds exactly, as it must be beside decimals; --type f64 sorts it, rounded",
            ),
            Self::Apart(negative, large) => {
                let large_is_later = large > negative;
                let (negative, large) = (spot(negative), spot(large));
                let problem =
                    format!("no integer type holds both {negative} and {large}; --type f64 sorts them, rounded");
                Error::input(if large_is_later { large.place() } else { negative.place() }, problem)
            }
        }
    }
}
