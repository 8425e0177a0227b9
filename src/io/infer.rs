//! Type inference for numbers in text: one type for all tokens of a text or a column.
//!
//! ```text
//! token ── read ──► Number, or Refused
//!           │
//!           ▼
//!       Inference ── merge ──► Inference ── finish ──► ElementType, or Conflict
//! ```
//!
//! Integers alone have the first of u32, i32, u64 and i64 that holds them all. A single decimal
//! (with a point or an exponent), inf or nan makes the type f64; every integer must then be exact,
//! to keep its place in the order. A size is the number that it comes to. Times are of a type of
//! their own, which no number is beside: as keys they are i64, at the resolution of their decimals.

use std::cmp::Ordering;

use gpusort_order::key::{ElementType, Form};

use super::duration::duration;
use super::keys;
use super::number::{Integer, Spelled, float, has_fraction, integer, is_exactly, leading, spelled};
use super::size::{self, Size};
use super::source::Spot;
use super::time::{self, Time};
use crate::error::{Error, Hint};
use crate::format::Format;
use crate::human::quoted;
use crate::io::texts::ComparedText;
use crate::order::{Class, KeyOrder, Nulls, Reading, TextForm};

/// A classified token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer, unless floats were requested: of 64 bits, or a size.
    Integer(i128),
    /// The integer part of a large size.
    Cut(i128),
    /// An integer zero with a minus sign: 0 among integers, −0 among floats. Only if no type was
    /// requested.
    MinusZero,
    /// A float of the requested type, else of f64.
    Float(f64),
    /// A time.
    Time(Time),
    /// A duration, in nanoseconds.
    Duration(i128),
    /// A null that the rules accept.
    Null(Class),
}

impl Number {
    /// The word of its key by these rules; for an integer −0 that of 0.
    #[inline]
    pub(super) fn word(self, rules: KeyOrder) -> u128 {
        let descending = rules.descending;
        let is_size = rules.reading == Reading::Sizes;
        match self {
            Self::Null(class) => keys::whole(keys::of_null(class, rules)),
            Self::Integer(value) if is_size => keys::of_place(size::place(value, false), descending),
            Self::Cut(value) => keys::of_place(size::place(value, true), descending),
            Self::Float(value) if is_size => keys::of_place(size::place_of_float(value), descending),
            Self::MinusZero => keys::minus_zero(false, rules),
            Self::Integer(value) => keys::of_integer(value, descending),
            Self::Float(value) => keys::of_float(value, descending),
            Self::Time(time) => keys::of_integer(time.nanoseconds, descending),
            Self::Duration(nanoseconds) => keys::of_integer(nanoseconds, descending),
        }
    }
}

/// Why a token is an error regardless of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The rules reject its class.
    Class(Class),
    /// It is invalid among what is read here, and the rules reject that.
    NoSuch(Reading),
    /// It is a number, but written in another way than is asked for.
    Spelling,
    /// The type does not hold it.
    Type(ElementType),
    /// No number of bits that there are holds this size.
    Size,
    /// It is an object or an array, or its line is damaged.
    Json,
}

/// Why tokens have no common type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict<P> {
    /// No 64-bit type holds this integer, the first such one.
    TooLarge(P),
    /// There are decimals, and this is the first integer not exact in f64.
    Inexact(P),
    /// The first negative integer, and the first that only u64 holds.
    Apart(P, P),
    /// The first number, and the first time.
    Mixed(P, P),
    /// The first time with a zone, and the first without one.
    Zones(P, P),
    /// No 64 bits hold these times at the resolution of this one.
    TooFine(P),
    /// The first number or time, whether it is a time, and the first word, where none is expected in
    /// particular.
    Words(P, bool, P),
    /// The first number and the first with another unit, where only numbers count; and whether both
    /// are durations.
    Units(P, P, bool),
}

/// The integer types of text, in order of preference.
const INTEGERS: [ElementType; 4] = [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64];

/// The range of an integer type; floats have no such range.
pub(super) fn limits(element: ElementType) -> (i128, i128) {
    match element.layout() {
        (bits, Form::Unsigned) => (0, (1 << bits) - 1),
        (bits, Form::Signed) => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
        (_, Form::Float { .. }) => (0, 0),
    }
}

fn holds(element: ElementType, value: i128) -> bool {
    let (least, greatest) = limits(element);
    least <= value && value <= greatest
}

/// The range of some integers and 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "distributed", derive(serde::Deserialize, serde::Serialize))]
pub(crate) struct Span {
    pub(super) least: i128,
    pub(super) greatest: i128,
}

impl Span {
    #[inline]
    pub(super) fn push(&mut self, value: i128) {
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    pub(super) fn merge(mut self, other: Self) -> Self {
        self.push(other.least);
        self.push(other.greatest);
        self
    }

    /// Whether the type holds them all.
    pub(super) fn fits(self, element: ElementType) -> bool {
        holds(element, self.least) && holds(element, self.greatest)
    }

    /// The first integer type that holds them all.
    pub(super) fn element(self) -> Option<ElementType> {
        INTEGERS.into_iter().find(|&element| self.fits(element))
    }
}

/// The state of the inference for some tokens. Places are ordered like the tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "distributed", derive(serde::Deserialize, serde::Serialize))]
pub(crate) struct Inference<P> {
    /// The requested type.
    #[cfg_attr(feature = "distributed", serde(skip))]
    pub(super) asked: Option<ElementType>,
    #[cfg_attr(feature = "distributed", serde(skip))]
    rules: KeyOrder,
    /// Whether the tokens are floats: by request, or because of a decimal, inf or nan.
    floats: bool,
    /// The range of the integers that 64 bits hold.
    pub(super) span: Span,
    /// The first token of each kind, by [`First`].
    first: [Option<P>; 9],
    /// How many integers the requested type of floats does not hold exactly.
    pub(super) rounded: u64,
    times: Option<Box<Times<P>>>,
    /// Whether later tokens are words, as is known.
    expects_text: bool,
    /// The units after numbers, where only these count: of durations, and of sizes.
    units: [Units<P>; 2],
}

/// The units of one kind that follow numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "distributed", derive(serde::Deserialize, serde::Serialize))]
struct Units<P> {
    /// The first, in nanoseconds or bytes, and where it is.
    first: Option<(i128, P)>,
    /// Where there is another one for the first time.
    other: Option<P>,
}

impl<P> Units<P> {
    const NONE: Self = Self { first: None, other: None };

    fn push(&mut self, unit: i128, place: impl FnOnce() -> P) {
        match &self.first {
            None => self.first = Some((unit, place())),
            Some((first, _)) if *first != unit => drop(self.other.get_or_insert_with(place)),
            Some(_) => {}
        }
    }

    fn map<Q>(self, place: impl Fn(P) -> Q) -> Units<Q> {
        Units { first: self.first.map(|(unit, at)| (unit, place(at))), other: self.other.map(&place) }
    }

    /// Those of both, of which those of this one come first.
    fn merge(self, other: Self) -> Self {
        let differing = match (&self.first, other.first) {
            (Some((one, _)), Some((unit, place))) if *one != unit => Some(place),
            (Some(_), _) => other.other,
            (None, first) => return Self { first, other: other.other },
        };
        Self { first: self.first, other: self.other.or(differing) }
    }
}

/// The unit that follows a number, if that is one: of durations in nanoseconds, of sizes in bytes.
fn units_of(rest: &[u8]) -> [Option<i128>; 2] {
    if rest.is_empty() || !rest.iter().all(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii()) {
        return [None; 2];
    }
    let number = [b"1", rest].concat();
    let size = size::size(&number).filter(|&(_, length)| length == number.len());
    let size = size.and_then(|(size, _)| if let Size::Integer(bytes) = size { Some(bytes) } else { None });
    [duration(&number), size]
}

/// Kinds of tokens that may conflict with others.
#[derive(Clone, Copy)]
enum First {
    /// Negative integers.
    Negative,
    /// Integers that only u64 holds.
    Large,
    /// Integers that f64 does not hold.
    Inexact,
    /// Integers that no 64-bit type holds.
    TooLarge,
    /// Numbers, where there may be times, too.
    Number,
    /// Those that have a digit, which words like inf have not.
    Digit,
    /// What is no number and no time, where there may be words.
    Word,
    /// Times with a zone, and without one.
    Zoned,
    Unzoned,
}

/// The times of some tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "distributed", derive(serde::Deserialize, serde::Serialize))]
struct Times<P> {
    /// Their range, in nanoseconds, with the beginning of 1970.
    span: Span,
    /// The decimals that they need.
    decimals: u8,
    /// The first that needs so many.
    finest: P,
}

impl<P> Times<P> {
    /// Whether 64 bits hold them all, at the resolution of the finest.
    fn fit(&self) -> bool {
        let unit = 10_i128.pow(9 - u32::from(self.decimals));
        [self.span.least, self.span.greatest].iter().all(|ends| holds(ElementType::I64, ends / unit))
    }
}

impl<P: Ord> Times<P> {
    fn merge(self, other: Self) -> Self {
        let finest = match self.decimals.cmp(&other.decimals) {
            Ordering::Less => other.finest,
            Ordering::Equal => self.finest.min(other.finest),
            Ordering::Greater => self.finest,
        };
        Self { span: self.span.merge(other.span), decimals: self.decimals.max(other.decimals), finest }
    }
}

impl<P> Inference<P> {
    /// The state before any token. A requested type is final, and tokens that it does not hold are
    /// rejected.
    pub(super) fn new(asked: Option<ElementType>, rules: KeyOrder) -> Self {
        let floats = asked.is_some_and(ElementType::is_float);
        let (span, first) = (Span::default(), Default::default());
        Self {
            asked,
            rules,
            floats,
            span,
            first,
            rounded: 0,
            times: None,
            expects_text: false,
            units: [Units::NONE, Units::NONE],
        }
    }

    /// The state before any token, of what these are read as.
    #[cfg(feature = "distributed")]
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.asked, self.rules)
    }

    /// The first token of this kind.
    #[inline]
    fn first(&self, kind: First) -> Option<&P> {
        self.first[kind as usize].as_ref()
    }

    /// Notes where a token of this kind is, if it is the first.
    #[inline]
    fn note(&mut self, kind: First, place: impl FnOnce() -> P) {
        self.first[kind as usize].get_or_insert_with(place);
    }

    /// Whether the tokens are known to be floats; a NaN beside times is no reason.
    pub(crate) fn is_float(&self) -> bool {
        self.floats && self.times.is_none() && !self.is_text()
    }

    /// Whether the tokens are text, as far as is known.
    #[inline]
    pub(crate) fn is_text(&self) -> bool {
        self.expects_text || self.first(First::Word).is_some() || self.rules.reading.text().is_some()
    }

    /// Whether the tokens are neither known to be text nor to be anything else.
    pub(super) fn may_be_text(&self) -> bool {
        self.rules.reading == Reading::Any && !self.is_text() && !self.has_others_than_words()
    }

    /// Whether there is a nan or an inf, where nothing else tells what the tokens are.
    pub(super) fn has_nan_or_infinity(&self) -> bool {
        self.floats
    }

    /// Whether there is a number with a digit, or a time.
    #[inline]
    pub(super) fn has_others_than_words(&self) -> bool {
        self.first(First::Digit).is_some() || self.times.is_some()
    }

    /// Notes that later tokens are words.
    pub(super) fn expect_text(&mut self) {
        self.expects_text = true;
    }

    /// Notes that if it is so of these.
    pub(super) fn expect_as(&mut self, other: &Self) {
        self.expects_text |= other.expects_text;
    }

    /// The first word.
    pub(super) fn word(&self) -> Option<&P> {
        self.first(First::Word)
    }

    /// Notes a word.
    #[inline]
    pub(super) fn push_word(&mut self, place: impl FnOnce() -> P) {
        self.note(First::Word, place);
    }

    /// The order of the tokens, now that it is known what they are.
    pub(super) fn order(&self) -> KeyOrder {
        match self.rules.reading {
            Reading::Any if self.is_text() => {
                let form = TextForm { nocase: self.rules.nocase, ..TextForm::default() };
                KeyOrder { reading: Reading::Text(form), ..self.rules }
            }
            _ => self.rules,
        }
    }

    /// The type of floats that the tokens so far are, as far as is known.
    #[inline]
    pub(super) fn float(&self) -> Option<ElementType> {
        self.floats.then(|| self.asked.unwrap_or(ElementType::F64))
    }

    /// Of what the keys are multiples, if all are integers: of times nanoseconds.
    pub(crate) fn unit(&self) -> Option<i128> {
        match (&self.times, self.rules.reading) {
            (Some(times), _) => Some(10_i128.pow(9 - u32::from(times.decimals))),
            (None, Reading::Sizes) => None,
            // Most have no more decimals than milliseconds.
            (None, Reading::Durations) => Some(1),
            (None, _) => (!self.floats).then_some(1),
        }
    }

    /// The name of the type, if that is no type of elements.
    pub(crate) fn name(&self) -> Option<&'static str> {
        let asked = match self.rules.reading {
            Reading::Times => Some("time"),
            Reading::Sizes => Some("size"),
            Reading::Durations => Some("duration"),
            Reading::Text(form) => Some(form.name()),
            Reading::Any if self.is_text() => Some(TextForm::default().name()),
            Reading::Numbers | Reading::NumbersOrTimes | Reading::Any => None,
        };
        asked.or_else(|| self.times.as_ref().map(|_| "time"))
    }

    /// Whether there are sizes that neither a 64-bit integer type nor f64 holds together.
    fn is_wide(&self) -> bool {
        self.rules.reading == Reading::Sizes
            && (self.first(First::TooLarge).is_some()
                || self.is_apart()
                || self.floats && self.first(First::Inexact).is_some())
    }

    /// Whether no integer type holds all integers so far, though each has one.
    fn is_apart(&self) -> bool {
        self.first(First::Negative).is_some() && self.first(First::Large).is_some()
    }

    /// Records a token with a point or an exponent, inf or nan.
    #[inline]
    pub(super) fn push_decimal(&mut self) {
        self.floats = true;
    }

    /// Whether further numbers tell nothing that is asked beside times.
    #[inline]
    pub(super) fn has_number(&self) -> bool {
        self.rules.reading == Reading::Numbers && !self.rules.leading
            || self.rules.reading.finds_times() && self.first(First::Digit).is_some()
    }

    /// The same where times are not looked for here, but may be later.
    pub(crate) fn note_number(&mut self, place: impl FnOnce() -> Option<P>)
    where
        P: Clone,
    {
        if self.first(First::Digit).is_none() {
            let place = place();
            self.first[First::Number as usize] = self.first(First::Number).cloned().or(place.clone());
            self.first[First::Digit as usize] = place;
        }
    }

    /// Records integers between these two, which are exact in f64, and of which none is the first
    /// negative one.
    pub(super) fn push_exact(&mut self, span: [i64; 2]) {
        span.into_iter().for_each(|value| self.span.push(value.into()));
    }

    /// Records an integer, where no type was requested.
    #[inline]
    pub(super) fn push_integer(&mut self, value: i128, place: impl Fn() -> P) {
        // Few tokens can change these: the first negative is a new minimum, the first large one a
        // new maximum.
        if value < self.span.least {
            self.span.least = value;
            self.note(First::Negative, &place);
        } else if value > self.span.greatest {
            self.span.greatest = value;
            if value > i64::MAX.into() {
                self.note(First::Large, &place);
            }
        }
        if self.first(First::Inexact).is_none() && !is_exact(value) {
            self.note(First::Inexact, place);
        }
    }

    /// Reads a token of a text, or a field without quotes and surrounding blanks.
    #[inline]
    pub(super) fn read(&mut self, token: &[u8], place: impl Fn() -> P) -> Result<Number, Refused> {
        match self.rules.reading {
            Reading::Numbers if !self.rules.leading => {}
            Reading::NumbersOrTimes | Reading::Any => {
                // No number has a hyphen there, but for an exponent.
                let time = match token {
                    [b'[', ..] => time::clf(token),
                    [_, _, _, _, b'-', ..] => time::time(token),
                    _ => None,
                };
                if let Some(time) = time {
                    return Ok(self.push_time(time, place));
                }
                if self.first(First::Digit).is_none()
                    && let Some(spelled) = spelled(token)
                    && spelled != Spelled::Nan
                {
                    self.note(First::Number, &place);
                    if spelled != Spelled::Infinity {
                        self.note(First::Digit, &place);
                    }
                }
            }
            _ => return self.read_other(token, place),
        }
        let element = self.asked.unwrap_or(ElementType::F64);
        let read = || float(token, element);
        if !self.floats {
            return self.read_closely(token, || read().map(|(value, _)| value), place);
        }
        match read() {
            // A number with a fraction always has a point or an exponent.
            Some((value, length)) if length == token.len() && has_fraction(value) => Ok(Number::Float(value)),
            read => self.read_closely(token, || read.map(|(value, _)| value), place),
        }
    }

    /// Reads a size, a time, or what a token begins with.
    fn read_other(&mut self, token: &[u8], place: impl Fn() -> P) -> Result<Number, Refused> {
        if token.is_empty() {
            return self.null(Class::Empty);
        }
        match self.rules.reading {
            Reading::Times => {
                let time = if token[0] == b'[' { time::clf(token) } else { time::time(token) };
                self.push_time_or_null(time, place)
            }
            Reading::Sizes => {
                let Some((size, length)) = size::size(token) else {
                    if self.rules.leading {
                        return self.null(Class::Invalid);
                    }
                    // It may be inf or nan.
                    let float = || float(token, ElementType::F64).map(|(value, _)| value);
                    return self.read_closely(token, float, place);
                };
                if length < token.len() && !self.rules.leading {
                    return self.null(Class::Invalid);
                }
                match size {
                    Size::Integer(0) if token[0] == b'-' => Ok(Number::MinusZero),
                    Size::Integer(value) => Ok(self.push_size(value, place)),
                    Size::Cut(value) => {
                        self.push_decimal();
                        self.note(First::TooLarge, place);
                        Ok(Number::Cut(value))
                    }
                    Size::Float(value) if !value.is_finite() => Err(Refused::Type(ElementType::F64)),
                    Size::Float(value) => {
                        self.push_decimal();
                        Ok(Number::Float(value))
                    }
                    Size::TooLarge => Err(Refused::Size),
                }
            }
            Reading::Durations => match duration(token) {
                Some(duration) => Ok(Number::Duration(duration)),
                None => self.null(Class::Invalid),
            },
            // Texts are not read here.
            Reading::Text(_) => self.null(Class::Invalid),
            Reading::Numbers | Reading::NumbersOrTimes | Reading::Any => match leading(token) {
                Some(number) => {
                    self.push_unit(&token[number.len()..], &place);
                    let element = self.asked.unwrap_or(ElementType::F64);
                    self.read_closely(number, || float(number, element).map(|(value, _)| value), place)
                }
                None => self.null(Class::Invalid),
            },
        }
    }

    fn push_size(&mut self, value: i128, place: impl Fn() -> P) -> Number {
        if (i64::MIN.into()..=u64::MAX.into()).contains(&value) {
            self.push_integer(value, place);
        } else {
            self.note(First::TooLarge, place);
        }
        Number::Integer(value)
    }

    /// Notes the unit of a number.
    fn push_unit(&mut self, rest: &[u8], place: impl Fn() -> P) {
        for (units, unit) in self.units.iter_mut().zip(units_of(rest)) {
            unit.into_iter().for_each(|unit| units.push(unit, &place));
        }
    }

    /// Reads a time, if there is one.
    pub(super) fn push_time_or_null(
        &mut self,
        time: Option<Time>,
        place: impl Fn() -> P,
    ) -> Result<Number, Refused> {
        match time {
            Some(time) => Ok(self.push_time(time, place)),
            None => self.null(Class::Invalid),
        }
    }

    fn push_time(&mut self, time: Time, place: impl Fn() -> P) -> Number {
        let times = self
            .times
            .get_or_insert_with(|| Box::new(Times { span: Span::default(), decimals: 0, finest: place() }));
        times.span.push(time.nanoseconds);
        if time.decimals > times.decimals {
            (times.decimals, times.finest) = (time.decimals, place());
        }
        self.note(if time.has_zone { First::Zoned } else { First::Unzoned }, place);
        Number::Time(time)
    }

    /// Reads any token; `float` parses it as a float, or returns an earlier result.
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
                Some((0, _)) if self.asked.is_none() && token[0] == b'-' => return Ok(Number::MinusZero),
                Some((value, _)) => {
                    if self.asked.is_none() {
                        self.push_integer(value, place);
                    }
                    return Ok(Number::Integer(value));
                }
                None => {}
            }
        }
        let Some(spelled) = spelled(token) else {
            return self.null(if token.is_empty() { Class::Empty } else { Class::Invalid });
        };
        if !element.is_float() {
            return Err(Refused::Type(element));
        }
        if spelled != Spelled::Integer {
            self.push_decimal();
        }
        if spelled == Spelled::Nan {
            return self.null(Class::Nan);
        }
        let value = float().filter(|value| value.is_finite() || spelled == Spelled::Infinity);
        let value = value.ok_or(Refused::Type(element))?;
        // Few integers are so large that they may not be exact.
        if spelled == Spelled::Integer && self.asked.is_some() {
            let is_large = value.abs() >= (1_u64 << if element == ElementType::F32 { 24 } else { 53 }) as f64;
            self.rounded += u64::from(is_large && !is_exactly(token, value));
        } else if spelled == Spelled::Integer {
            self.note(First::TooLarge, &place);
            if self.first(First::Inexact).is_none() && !is_exactly(token, value) {
                self.note(First::Inexact, place);
            }
        }
        Ok(Number::Float(value))
    }

    /// A null of this class, if the rules accept it.
    pub(super) fn null(&self, class: Class) -> Result<Number, Refused> {
        match self.rules.place(class) {
            Nulls::Error if class == Class::Invalid && self.rules.reading != Reading::Numbers => {
                Err(Refused::NoSuch(self.rules.reading))
            }
            Nulls::Error => Err(Refused::Class(class)),
            Nulls::First | Nulls::Last => Ok(Number::Null(class)),
        }
    }

    /// The same with other places in the same order.
    pub(super) fn at<Q>(self, place: impl Fn(P) -> Q) -> Inference<Q> {
        let Self { asked, rules, floats, span, first, rounded, times, expects_text, units } = self;
        let times = times.map(|times| {
            Box::new(Times { span: times.span, decimals: times.decimals, finest: place(times.finest) })
        });
        let first = first.map(|found| found.map(&place));
        let units = units.map(|units| units.map(&place));
        Inference { asked, rules, floats, span, first, rounded, times, expects_text, units }
    }

    /// The same without what was seen before, so that it need not be told where it is.
    pub(super) fn beyond<Q>(mut self, before: &Inference<Q>) -> Self {
        for (found, known) in self.first.iter_mut().zip(&before.first) {
            if known.is_some() {
                *found = None;
            }
        }
        self
    }

    /// Whether further tokens, whose integers are of this range, change what is known but for the
    /// range.
    pub(super) fn lacks(&self, span: Span) -> bool {
        let most = span.least.unsigned_abs().max(span.greatest.unsigned_abs());
        self.asked.is_none()
            && (self.first(First::Negative).is_none() && span.least < 0
                || self.first(First::Large).is_none() && span.greatest > i64::MAX.into()
                || self.first(First::Inexact).is_none() && most >> f64::MANTISSA_DIGITS > 0)
    }

    /// Extends the range of the integers.
    pub(super) fn push_span(&mut self, span: Span) {
        self.span = self.span.merge(span);
    }
}

impl<P: Ord + Clone> Inference<P> {
    /// The state for the tokens of both, of which those of this one come first.
    pub(super) fn merge(self, other: Self) -> Self {
        let [durations, sizes] = self.units;
        let [other_durations, other_sizes] = other.units;
        let mut others = other.first.into_iter();
        let first = self.first.map(|found| found.into_iter().chain(others.next().flatten()).min());
        Self {
            asked: self.asked,
            rules: self.rules,
            floats: self.floats || other.floats,
            span: self.span.merge(other.span),
            first,
            rounded: self.rounded + other.rounded,
            times: match (self.times, other.times) {
                (Some(times), Some(others)) => Some(Box::new(times.merge(*others))),
                (times, others) => times.or(others),
            },
            expects_text: self.expects_text || other.expects_text,
            units: [durations.merge(other_durations), sizes.merge(other_sizes)],
        }
    }

    /// The type of the tokens so far.
    ///
    /// # Errors
    ///
    /// Why there is none. An integer that is too large takes precedence over two that are apart.
    pub(crate) fn finish(&self) -> Result<ElementType, Conflict<P>> {
        self.units()?;
        if let Some(asked) = self.asked {
            return Ok(asked);
        }
        self.words()?;
        // Where words come later, what others are beside each other is told first.
        if self.is_text() && !self.has_others_than_words() {
            return Ok(ElementType::U64);
        }
        if let Some(times) = &self.times {
            let [number, zoned, unzoned] =
                [First::Number, First::Zoned, First::Unzoned].map(|kind| self.first(kind).cloned());
            return match (number, zoned, unzoned) {
                (Some(number), zoned, unzoned) => {
                    let time = zoned.into_iter().chain(unzoned).min();
                    Err(Conflict::Mixed(number, time.unwrap_or_else(|| times.finest.clone())))
                }
                (_, Some(zoned), Some(unzoned)) => Err(Conflict::Zones(zoned, unzoned)),
                _ if !times.fit() => Err(Conflict::TooFine(times.finest.clone())),
                _ => Ok(ElementType::I64),
            };
        }
        // What neither holds is ordered nonetheless.
        if self.is_wide() {
            return Ok(ElementType::F64);
        }
        if self.floats {
            let inexact = self.first(First::Inexact).cloned();
            return inexact.map_or(Ok(ElementType::F64), |place| Err(Conflict::Inexact(place)));
        }
        if let Some(place) = self.first(First::TooLarge) {
            return Err(Conflict::TooLarge(place.clone()));
        }
        if let (Some(negative), Some(large)) = (self.first(First::Negative), self.first(First::Large)) {
            return Err(Conflict::Apart(negative.clone(), large.clone()));
        }
        Ok(self.span.element().unwrap_or(ElementType::F64))
    }

    /// The conflict of words and others, if there is one.
    pub(super) fn words(&self) -> Result<(), Conflict<P>> {
        let Some(word) = self.first(First::Word) else { return Ok(()) };
        let others = [(First::Digit, false), (First::Zoned, true), (First::Unzoned, true)];
        let others = others.into_iter().filter_map(|(kind, is_time)| Some((self.first(kind)?, is_time)));
        others
            .min()
            .map_or(Ok(()), |(other, is_time)| Err(Conflict::Words(other.clone(), is_time, word.clone())))
    }

    /// The conflict of units, if there is one.
    fn units(&self) -> Result<(), Conflict<P>> {
        let differing = self.units.iter().zip([true, false]).filter_map(|(units, are_durations)| {
            Some((units.other.as_ref()?, &units.first.as_ref()?.1, are_durations))
        });
        match differing.min_by_key(|&(other, ..)| other) {
            Some((other, one, are_durations)) => {
                Err(Conflict::Units(one.clone(), other.clone(), are_durations))
            }
            None => Ok(()),
        }
    }

    /// Any conflict that further tokens cannot resolve.
    #[inline]
    pub(super) fn settled(&self) -> Result<(), Conflict<P>> {
        let is_large = || self.floats || self.first(First::TooLarge).is_some() || self.is_apart();
        let has_units = self.units.iter().any(|units| units.other.is_some());
        let may_conflict = has_units || self.times.is_some() || self.first(First::Word).is_some();
        if may_conflict || self.first(First::Inexact).is_some() && is_large() {
            self.finish().map(|_| ())
        } else {
            Ok(())
        }
    }
}

/// Whether a field, without surrounding blanks, is not invalid by these rules.
pub(super) fn is_valid(field: &[u8], asked: Option<ElementType>, rules: KeyOrder) -> bool {
    let rules = KeyOrder { leading: rules.leading, reading: rules.reading, ..KeyOrder::ASCENDING };
    if let Some(form) = rules.reading.text() {
        return form.holds(field);
    }
    let read = Inference::new(asked, rules).read(field, || ());
    !matches!(read, Err(Refused::Class(Class::Invalid) | Refused::NoSuch(_)))
}

/// The integer that the token spells, if the requested integer type, or else a 64-bit one, holds
/// it; and whether the token is in canonical form.
#[inline]
pub(super) fn integer_of(token: &[u8], asked: Option<ElementType>) -> Option<(i128, bool)> {
    let Integer { value, canonical } = integer(token)?;
    let held = |&value: &i128| asked.is_none_or(|asked| holds(asked, value));
    value.filter(held).map(|value| (value, canonical))
}

/// Whether f64 holds this 64-bit integer exactly.
#[inline]
fn is_exact(value: i128) -> bool {
    let magnitude = value.unsigned_abs() as u64;
    magnitude >> f64::MANTISSA_DIGITS == 0
        || magnitude >> magnitude.trailing_zeros() < 1 << f64::MANTISSA_DIGITS
}

impl Refused {
    /// The error about the token.
    pub(super) fn into_error(self, spot: Spot) -> Error {
        let elsewhere = remedy(&spot, Hint::Invalid);
        match self {
            Self::Class(Class::Empty) => {
                Error::input(spot.place(), "the field is empty").hinting(Hint::Empty)
            }
            Self::Class(Class::Nan) => spot.unlike("allowed").hinting(Hint::Nan),
            Self::Class(Class::Invalid) if spot.column.is_some() => {
                spot.unlike("a number").hinting(elsewhere)
            }
            // A token of text, which has no such rules.
            Self::NoSuch(reading) if spot.column.is_none() => {
                spot.unlike(if reading == Reading::Sizes { "a size" } else { "a time" })
            }
            Self::Size => spot.unlike("a size below 2^127"),
            Self::Json => spot.unlike("a number, a string, true, false or null").hinting(Hint::Invalid),
            Self::NoSuch(Reading::Sizes) => spot.unlike("a size").hinting(elsewhere),
            Self::NoSuch(Reading::Times) => spot.unlike("a time").hinting(elsewhere),
            Self::NoSuch(Reading::Durations) => spot.unlike("a duration").hinting(elsewhere),
            Self::NoSuch(Reading::Text(_)) => spot.unlike("a hexadecimal number").hinting(elsewhere),
            // One that there is not, such as 30 February.
            Self::NoSuch(_) if spot.token.get(..time::DATE).is_some_and(time::is_date) => {
                spot.unlike("a time").hinting(elsewhere)
            }
            Self::NoSuch(_) => spot.unlike("a number").hinting(elsewhere),
            Self::Spelling => {
                spot.unlike("a number in the format of --decimal and --thousands").hinting(elsewhere)
            }
            Self::Class(Class::Invalid) => {
                let hint = other_format(&spot.token).map_or(Hint::Lines, Hint::Format);
                spot.unlike("a number").hinting(hint)
            }
            Self::Type(ElementType::F32) => spot.unlike(format!("a number up to {:e} (f32)", f32::MAX)),
            Self::Type(ElementType::F64) => spot.unlike(format!("a number up to {:e} (f64)", f64::MAX)),
            Self::Type(element) => {
                let (least, greatest) = limits(element);
                spot.unlike(format!("an integer from {least} to {greatest} ({element})"))
            }
        }
    }
}

/// What helps with a field that is not a number: `usual`, if nothing else does.
fn remedy(spot: &Spot, usual: Hint) -> Hint {
    match meant(&spot.token) {
        None | Some(Hint::Leading) if spot.may_be_header() => Hint::FirstLine,
        meant => meant.unwrap_or(usual),
    }
}

/// What a field that is not a number may have been meant as.
fn meant(token: &[u8]) -> Option<Hint> {
    const NA: [&str; 6] = ["na", "n/a", "-", "--", "null", "none"];
    let text = std::str::from_utf8(token).ok()?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.trim_start_matches(['+', '-']);
    let whole = unsigned.split('.').next().unwrap_or_default();
    let is_grouped = |text: &str| {
        let mut groups = text.split(',');
        let first = groups.next().is_some_and(|group| group.len() <= 3 && digits(group));
        first && groups.clone().count() > 0 && groups.all(|group| group.len() == 3 && digits(group))
    };
    if text.starts_with('#') {
        Some(Hint::Comments)
    } else if NA.contains(&text.to_lowercase().as_str()) {
        Some(Hint::Na(text.into()))
    } else if is_grouped(whole) {
        Some(Hint::Thousands)
    } else if unsigned.split_once(',').is_some_and(|(whole, decimals)| digits(whole) && digits(decimals)) {
        Some(Hint::DecimalComma)
    } else if time::parts_of_date(token, b"/.").is_some() {
        Some(Hint::TimeFormat)
    } else {
        unsigned.starts_with(|first: char| first.is_ascii_digit()).then_some(Hint::Leading)
    }
}

/// Another format that a token of text looks like, if any.
fn other_format(token: &[u8]) -> Option<Format> {
    if token.starts_with(b"\x93NUMPY") {
        Some(Format::Npy)
    } else if token.iter().any(|&byte| byte == 0x7F || byte < b' ' && !(b'\t'..=b'\r').contains(&byte)) {
        Some(Format::Binary)
    } else if token.contains(&b',') || token.contains(&b';') {
        Some(Format::Csv)
    } else {
        None
    }
}

impl<P: Ord> Conflict<P> {
    /// The error about the tokens that `spot` describes.
    pub(super) fn into_error(self, spot: impl Fn(P) -> Spot) -> Error {
        let error = match self {
            Self::TooLarge(place) => spot(place).unlike("an integer of at most 64 bits"),
            Self::Inexact(place) => {
                spot(place).unlike("exact as f64, which decimals in the same column require")
            }
            Self::Apart(negative, large) => apart(negative, large, spot, "no integer type holds both ").0,
            Self::Mixed(one, other) => {
                return apart(one, other, spot, "numbers and times cannot be compared: ").0;
            }
            Self::Zones(one, other) => {
                let problem = "times with and without a time zone cannot be compared: ";
                let (error, column) = apart(one, other, spot, problem);
                return error.hinting(Hint::Text(column));
            }
            Self::TooFine(place) => {
                let spot = spot(place);
                let problem =
                    format!("times with as many decimals as {} do not fit in 64 bits", quoted(&spot.token));
                return Error::input(spot.place(), problem);
            }
            Self::Units(one, other, are_durations) => {
                let (one, other) = (spot(one), spot(other));
                let problem = format!("{one} and {other} have different units");
                let kind = if are_durations { "duration" } else { "size" };
                let key = format!("{}:{kind}", one.key());
                return Error::input(other.place(), problem).hinting(Hint::Kind(key.into()));
            }
            Self::Words(other, is_time, word) => {
                let is_later = other < word;
                let (other, word) = (spot(other), spot(word));
                let binary = other_format(&word.token)
                    .filter(|format| matches!(format, Format::Npy | Format::Binary))
                    .map(Hint::Format);
                let hint = binary.unwrap_or_else(|| remedy(&word, Hint::Words(word.key())));
                if hint == Hint::Comments {
                    return word.unlike("a number").hinting(hint);
                }
                if is_later {
                    // One that there is not, such as 30 February.
                    let is_date = word.token.get(..time::DATE).is_some_and(time::is_date);
                    return word.unlike(if is_date || is_time { "a time" } else { "a number" }).hinting(hint);
                }
                let is = if is_time { "a time" } else { "a number" };
                let problem = format!("{other} is {is}, but {word} is a word");
                return Error::input(other.place(), problem).hinting(hint);
            }
        };
        error.hinting(Hint::Rounding)
    }
}

/// The error about two tokens that are not to be in one column, at the place of the later one; and
/// the column.
fn apart<P: Ord>(one: P, other: P, spot: impl Fn(P) -> Spot, problem: &str) -> (Error, Box<str>) {
    let is_later = one > other;
    let (one, other) = (spot(one), spot(other));
    let (problem, column) = (format!("{problem}{one} and {other}"), one.key());
    (Error::input(if is_later { one.place() } else { other.place() }, problem), column)
}

/// The error of a conflict of tokens that are known.
pub(super) fn conflicting(conflict: Conflict<(u64, Spot)>) -> Error {
    conflict.into_error(|(_, spot)| spot)
}

#[cfg(test)]
mod tests {
    use ElementType::{F32, F64, I32, I64, U32, U64};
    use proptest::prelude::*;

    use super::*;
    use crate::order::{Invalid, Nulls};

    const LAST: KeyOrder = KeyOrder { invalid: Invalid::Last, ..KeyOrder::ASCENDING };
    const ERROR: KeyOrder =
        KeyOrder { nan: Nulls::Error, empty: Nulls::Error, invalid: Invalid::Error, ..KeyOrder::ASCENDING };

    /// The inference of these tokens; places are their numbers, from `first` on.
    fn inferred(tokens: &[&str], first: usize) -> Inference<usize> {
        let mut inference = Inference::new(None, LAST);
        for (place, token) in (first..).zip(tokens) {
            let _ = inference.read(token.as_bytes(), || place);
        }
        inference
    }

    #[test]
    fn the_first_type_that_holds_all_or_why_there_is_none() {
        use Conflict::*;
        for (tokens, expected) in [
            (&[][..], Ok(U32)),
            (&["0", "-0", "4294967295"], Ok(U32)),
            (&["-1", "2147483647"], Ok(I32)),
            (&["-1", "2147483648"], Ok(I64)),
            (&["4294967296", "18446744073709551615"], Ok(U64)),
            (&["-9223372036854775808", "9223372036854775807"], Ok(I64)),
            (&["", "x", "7"], Ok(U32)),
            (&["7", "nan"], Ok(F64)),
            (&["7", "-inf"], Ok(F64)),
            (&["1e0", "9007199254740992", "-18446744073709549568"], Ok(F64)),
            (&["1", "18446744073709551616", "-9223372036854775809"], Err(TooLarge(1))),
            (&["-1", "18446744073709551615", "99999999999999999999"], Err(TooLarge(2))),
            (&["-1", "-5", "9223372036854775808", "9223372036854775809"], Err(Apart(0, 2))),
            (&["9223372036854775808", "-1"], Err(Apart(1, 0))),
            // With decimals, an integer only has to be exact in f64.
            (&["-1", "9223372036854775808", "0.5"], Ok(F64)),
            (&["1.0", "18446744073709551616"], Ok(F64)),
            (&["0.5", "9007199254740992", "9007199254740993"], Err(Inexact(2))),
            (&["-9007199254740993", "18446744073709551617", "0.5"], Err(Inexact(0))),
            (&["18446744073709551617", "9007199254740993", "nan"], Err(Inexact(0))),
        ] {
            assert_eq!(inferred(tokens, 0).finish(), expected, "{tokens:?}");
        }
    }

    #[test]
    fn conflicts_are_settled_only_by_decimals() {
        for (tokens, settled) in [
            (&["9007199254740993"][..], true),
            (&["100000000000000000000"], true),
            // Whether there are decimals or not, it is none of a type.
            (&["99999999999999999999"], false),
            (&["-9007199254740993", "9223372036854775808"], false),
            (&["-1", "9223372036854775808"], true),
            (&["0.5"], true),
            (&["9007199254740993", "0.5"], false),
            (&["0.5", "9007199254740993"], false),
        ] {
            assert_eq!(inferred(tokens, 0).settled().is_ok(), settled, "{tokens:?}");
        }
    }

    #[test]
    fn what_a_token_is_by_the_type_asked_for() {
        use Number::*;
        let read = |token: &str, asked, rules| Inference::new(asked, rules).read(token.as_bytes(), || 0);
        for (token, asked, expected) in [
            ("+007", None, Ok(Integer(7))),
            ("-0", None, Ok(MinusZero)),
            ("-0", Some(U32), Ok(Integer(0))),
            ("-0", Some(F64), Ok(Float(-0.0))),
            ("-0.0", None, Ok(Float(-0.0))),
            ("5", Some(F32), Ok(Float(5.0))),
            ("16777217", Some(F32), Ok(Float(16_777_216.0))),
            ("9223372036854775808", None, Ok(Integer(1 << 63))),
            ("9223372036854775808", Some(I64), Err(Refused::Type(I64))),
            ("-1", Some(U64), Err(Refused::Type(U64))),
            ("99999999999999999999", None, Ok(Float(1e20))),
            ("99999999999999999999", Some(U64), Err(Refused::Type(U64))),
            ("1.0", Some(I32), Err(Refused::Type(I32))),
            ("nan", Some(I32), Err(Refused::Type(I32))),
            ("1e400", None, Err(Refused::Type(F64))),
            ("1e39", Some(F32), Err(Refused::Type(F32))),
            ("-INF", None, Ok(Float(f64::NEG_INFINITY))),
            ("inf", Some(F32), Ok(Float(f64::INFINITY))),
            ("-NaN", None, Ok(Null(Class::Nan))),
            ("", Some(F64), Ok(Null(Class::Empty))),
            ("", Some(U32), Ok(Null(Class::Empty))),
            ("1.5x", Some(F64), Ok(Null(Class::Invalid))),
            ("x", Some(U32), Ok(Null(Class::Invalid))),
            ("x", None, Ok(Null(Class::Invalid))),
        ] {
            let found = read(token, asked, LAST);
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{token}, {asked:?}");
            let expected = match expected {
                Ok(Null(class)) => Err(Refused::Class(class)),
                expected => expected,
            };
            let found = read(token, asked, ERROR);
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{token}, {asked:?}");
        }
    }

    #[test]
    fn what_errors_say() {
        let text = |token: &str| Spot { place: "a:1".into(), column: None, token: token.into() };
        let field = |token: &str| Spot { place: "b:2".into(), column: Some("x".into()), token: token.into() };
        let [empty, nan, invalid] = [Class::Empty, Class::Nan, Class::Invalid].map(Refused::Class);
        let csv = Hint::Format(Format::Csv);
        let (negative, large) = ("-1", "9223372036854775808");
        for (error, expected, hint) in [
            (invalid.into_error(text("x")), "a:1: 'x' is not a number", Some(Hint::Lines)),
            (invalid.into_error(text("1,2")), "a:1: '1,2' is not a number", Some(csv)),
            (
                invalid.into_error(field("1,2")),
                "b:2, column 'x': '1,2' is not a number",
                Some(Hint::DecimalComma),
            ),
            (empty.into_error(field("")), "b:2, column 'x': the field is empty", Some(Hint::Empty)),
            (nan.into_error(text("NaN")), "a:1: 'NaN' is not allowed", Some(Hint::Nan)),
            (
                Refused::Type(I32).into_error(text("1.5")),
                "a:1: '1.5' is not an integer from -2147483648 to 2147483647 (i32)",
                None,
            ),
            (
                Refused::Type(F64).into_error(text("1e999")),
                "a:1: '1e999' is not a number up to 1.7976931348623157e308 (f64)",
                None,
            ),
            (
                Conflict::TooLarge(0).into_error(|_| field("99999999999999999999")),
                "b:2, column 'x': '99999999999999999999' is not an integer of at most 64 bits",
                Some(Hint::Rounding),
            ),
            (
                Conflict::Inexact(0).into_error(|_| text("9007199254740993")),
                "a:1: '9007199254740993' is not exact as f64, which decimals in the same column require",
                Some(Hint::Rounding),
            ),
            (
                Conflict::Apart(0, 1).into_error(|at| [text(negative), field(large)][at].clone()),
                "b:2, column 'x': no integer type holds both -1 (a:1) and 9223372036854775808 (b:2)",
                Some(Hint::Rounding),
            ),
            (
                Conflict::Apart(1, 0).into_error(|at| [field(large), text(negative)][at].clone()),
                "a:1: no integer type holds both -1 (a:1) and 9223372036854775808 (b:2)",
                Some(Hint::Rounding),
            ),
        ] {
            assert_eq!((error.to_string().as_str(), error.hint()), (expected, hint.as_ref()));
        }
    }

    /// A reference implementation: decimals by their form, and exact f64 values by the standard
    /// library.
    fn naive(tokens: &[&str]) -> Result<ElementType, Conflict<usize>> {
        let numbers: Vec<(usize, &str)> =
            tokens.iter().copied().enumerate().filter(|(_, token)| token.parse::<f64>().is_ok()).collect();
        let is_integer =
            |token: &str| token.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit());
        let integers = || numbers.iter().copied().filter(|(_, token)| is_integer(token));
        if integers().count() < numbers.len() {
            let is_exact = |token: &str| {
                let exact = format!("{:.0}", token.parse::<f64>().unwrap().abs());
                exact == format!("{}", token.parse::<i128>().unwrap().abs())
            };
            let inexact = integers().find(|(_, token)| !is_exact(token));
            return inexact.map_or(Ok(F64), |(place, _)| Err(Conflict::Inexact(place)));
        }
        let values = || integers().map(|(place, token)| (place, token.parse::<i128>().unwrap()));
        let first = |wanted: &dyn Fn(i128) -> bool| {
            values().find(|&(_, value)| wanted(value)).map(|(place, _)| place)
        };
        if let Some(place) = first(&|value| value < i64::MIN.into() || value > u64::MAX.into()) {
            return Err(Conflict::TooLarge(place));
        }
        let all = |holds: &dyn Fn(i128) -> bool| values().all(|(_, value)| holds(value));
        match () {
            () if all(&|value| u32::try_from(value).is_ok()) => Ok(U32),
            () if all(&|value| i32::try_from(value).is_ok()) => Ok(I32),
            () if all(&|value| u64::try_from(value).is_ok()) => Ok(U64),
            () if all(&|value| i64::try_from(value).is_ok()) => Ok(I64),
            () => {
                let [negative, large] = [first(&|value| value < 0), first(&|value| value > i64::MAX.into())];
                Err(Conflict::Apart(negative.unwrap(), large.unwrap()))
            }
        }
    }

    fn token() -> impl Strategy<Value = String> {
        let bits = (any::<i128>(), 0..128_u32).prop_map(|(value, shift)| value >> shift);
        let edges = vec![0, 1 << 31, -(1 << 31), 1 << 32, 1 << 53, 1 << 63, -(1 << 63), 1 << 64];
        let edges = prop::sample::select(edges);
        let near = (edges, -3..=2_i128).prop_map(|(edge, offset)| edge + offset);
        let integer = prop_oneof![3 => near, 1 => bits, 3 => -300..300_i128];
        // Few decimals, so that other types occur.
        prop_oneof![
            20 => integer.prop_map(|value| value.to_string()),
            2 => (0..100_000_u32).prop_map(|value| format!("+00{value}")),
            1 => prop::sample::select(vec!["-0", "", "x", "1.5", "2e3", "-inf", "NaN", "1.", "-0.0"]).prop_map(str::to_owned),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn any_split_and_order_of_merging_finds_what_a_naive_oracle_finds(
            tokens in prop::collection::vec(token(), 0..12),
            cuts in prop::collection::vec(0..13_usize, 0..4),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 10),
        ) {
            let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
            let whole = inferred(&tokens, 0);
            prop_assert_eq!(whole.finish(), naive(&tokens), "{:?}", tokens);
            let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(tokens.len())).chain([tokens.len()]).collect();
            ends.sort_unstable();
            let starts = [0].into_iter().chain(ends.clone());
            let mut parts: Vec<_> =
                starts.zip(&ends).map(|(start, &end)| inferred(&tokens[start..end], start)).collect();
            let mut picks = picks.into_iter();
            while parts.len() > 1 {
                let at = picks.next().map_or(0, |pick| pick.index(parts.len()));
                let part = parts.swap_remove(at);
                let at = picks.next().map_or(0, |pick| pick.index(parts.len()));
                let other = parts.swap_remove(at);
                parts.push(part.merge(other));
            }
            prop_assert_eq!(&parts[0], &whole, "{:?}", tokens);
        }

        #[test]
        fn integers_are_the_floats_that_the_standard_library_reads(value in i64::MIN as i128..=u64::MAX as i128) {
            let token = value.to_string();
            let standard: f64 = token.parse().unwrap();
            let word = Number::Integer(value).word(KeyOrder::ASCENDING);
            prop_assert_eq!((word >> 64) as u64, keys::high_of(standard, false));
            prop_assert_eq!(is_exact(value), is_exactly(token.as_bytes(), standard));
        }
    }
}
