//! Turns the fields of a column into keys as they are read.

use std::borrow::Cow;
use std::ops::Range;

use gpusort_order::key::ElementType;
use gpusort_values::duration::{self, Shape};
use gpusort_values::hilbert;
use gpusort_values::number::{Notation, Reader, Value as Number};
use gpusort_values::size::Units;
use gpusort_values::survey;
use gpusort_values::version;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::dialect::Fields;
use super::header::{ColumnAt, ResolvedKey};
use crate::counts::Counts;
use crate::json::Value;
use crate::keys;
use crate::keys::texts::kind_of;
use crate::number::{Tokens, is_plain};
use crate::order::{Class, KeyOrder, Nulls, Reading, TextOrder};

/// A field of a row.
#[derive(Clone)]
pub struct Field<'a> {
    /// The text that ranges of the piece refer to.
    pub(super) bytes: &'a [u8],
    pub(super) place: Range<usize>,
    pub(super) fields: Fields,
    /// True for damaged JSON.
    pub(super) is_damaged: bool,
}

impl<'a> Field<'a> {
    /// Returns the field without quotes and surrounding blanks.
    #[inline]
    pub fn value(&self) -> Cow<'a, [u8]> {
        self.fields.value(&self.bytes[self.place.clone()])
    }

    /// Returns the type of a JSON value.
    #[inline]
    pub fn json(&self) -> Option<Value> {
        match self.fields {
            Fields::Json if self.is_damaged => Some(Value::Other),
            Fields::Json => Some(Value::of(&self.bytes[self.place.clone()])),
            _ => None,
        }
    }
}

/// The reason why a field was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAdded {
    /// An option refuses nulls of this class.
    Null(Class),
    /// A time in another form than earlier times; true if only the zones differ.
    Apart(bool),
    /// The requested type does not hold it.
    Type(ElementType),
    /// Damaged JSON, an object or an array.
    Json,
    /// The text does not fit the column.
    TooLong,
}

/// The keys of a column, in the order of its rows.
pub struct Column {
    pub(super) words: keys::Column,
    key: ResolvedKey,
    reader: Reader,
    /// The tail of the last number, or the key of the last name of a list.
    tail: Vec<u8>,
}

impl ResolvedKey {
    /// Returns the notation of this key's numbers.
    fn notation(&self) -> Notation {
        let units = match self.order.reading {
            _ if self.is_found => Units::Clear,
            Reading::Sizes => Units::All,
            _ => Units::Refused,
        };
        Notation { marks: self.spelling.marks, sign: self.sign, units, leading: self.order.leading }
    }

    /// Returns true if a time of this key may continue in the next fields of a line.
    pub(super) fn spans(&self, fields: Fields) -> bool {
        matches!(fields, Fields::Words(_)) && matches!(self.column, ColumnAt::Field(_))
    }

    /// Returns true if a field of this key may be a time that continues in the next fields of a line.
    pub(super) fn may_span(&self, fields: Fields) -> bool {
        self.spans(fields) && self.order.reading.may_span()
    }

    /// Returns the first field of this rest of a line, together with the further fields of a time.
    pub(super) fn shown_of_rest<'v>(&self, rest: &'v [u8]) -> &'v [u8] {
        self.spelling.time_at(rest).map_or_else(|| survey::shown(rest), |(_, length)| &rest[..length])
    }

    /// Returns true if an option counts this field as empty.
    pub fn is_na(&self, value: &[u8]) -> bool {
        self.spelling.empty.iter().any(|word| word == value)
    }
}

/// Returns the word of a token as a number of this type.
fn of_type(token: &[u8], element: ElementType, descending: bool) -> Result<u128, NotAdded> {
    let (refused, invalid) = (NotAdded::Type(element), NotAdded::Null(Class::Invalid));
    if element.is_float() {
        let float = match element {
            // Rounded only once.
            ElementType::F32 => fast_float2::parse::<f32, _>(token).map(f64::from),
            _ => fast_float2::parse(token),
        };
        let is_infinity = token.iter().any(|byte| matches!(byte, b'i' | b'I'));
        return match float.map_err(|_| invalid)? {
            float if float.is_nan() => Err(NotAdded::Null(Class::Nan)),
            float if float.is_infinite() && !is_infinity => Err(refused),
            float => Ok(keys::of_float(float, descending)),
        };
    }
    let (least, greatest) = element.limits();
    let integer = std::str::from_utf8(token).ok().and_then(|token| token.parse::<i128>().ok());
    if let Some(integer) = integer.filter(|integer| (least..=greatest).contains(integer)) {
        return Ok(keys::of_integer(integer, descending));
    }
    let is_number = Reader::new(Notation::default()).key(token, false, &mut Vec::new()).is_some();
    Err(if is_number { refused } else { invalid })
}

impl Column {
    /// Creates an empty column for this key.
    pub fn new(key: &ResolvedKey, rows: usize) -> Self {
        Self {
            words: keys::Column::of(key.order, rows),
            reader: Reader::new(key.notation()),
            key: key.clone(),
            tail: Vec::new(),
        }
    }

    /// Adds a field, and counts nulls.
    #[inline]
    pub(super) fn push(&mut self, field: &Field, counts: &mut Counts) -> Result<(), NotAdded> {
        let added = match self.words {
            keys::Column::Texts(_) => self.push_text(field),
            _ => self.word(field).map(|word| self.push_word(word)),
        };
        match added {
            Err(NotAdded::Null(class)) => self.push_null(class, field, counts),
            added => added,
        }
    }

    #[inline]
    fn push_word(&mut self, word: u128) {
        if keys::has_tail(word, self.key.order.reading) {
            self.words.push_long(word, &self.tail);
        } else {
            self.words.push(word);
        }
    }

    /// Adds a null, unless an option refuses its class.
    fn push_null(&mut self, class: Class, field: &Field, counts: &mut Counts) -> Result<(), NotAdded> {
        let order = self.key.order;
        if order.place(class) == Nulls::Error {
            let is_json = class == Class::Invalid && field.json() == Some(Value::Other);
            return Err(if is_json { NotAdded::Json } else { NotAdded::Null(class) });
        }
        let value = if class == Class::Invalid { field.value() } else { Cow::default() };
        counts.add(class, if self.key.spans(field.fields) { first_word(&value) } else { &value });
        match &mut self.words {
            keys::Column::Texts(texts) => texts.push_null(class),
            words => words.push(keys::of_null(class, order)),
        }
        Ok(())
    }

    /// Returns the word of a field, or the class of a null. Stores the tail of a number in `tail`.
    #[inline]
    fn word(&mut self, field: &Field) -> Result<u128, NotAdded> {
        let [empty, invalid] = [Class::Empty, Class::Invalid].map(NotAdded::Null);
        let value = field.value();
        let KeyOrder { reading, descending, .. } = self.key.order;
        let spans = self.key.spans(field.fields);
        match field.json() {
            None | Some(Value::Number) => {}
            Some(Value::Null) => return Err(empty),
            Some(Value::String) if value.is_empty() || self.key.is_na(&value) => return Err(empty),
            Some(Value::String) if !(self.key.is_found && reading == Reading::Numbers) => {}
            Some(_) => return Err(invalid),
        }
        let first = if reading == Reading::Times && spans { first_word(&value) } else { &value };
        if first.is_empty() || self.key.is_na(first) {
            return Err(empty);
        }
        match reading {
            Reading::Times => {
                let time = self.key.spelling.time(&value, spans).ok_or(invalid)?;
                match self.key.form {
                    Some(form) if form != time.form => Err(NotAdded::Apart(form.year == time.form.year)),
                    _ => Ok(keys::of_nanoseconds(time.nanoseconds, descending)),
                }
            }
            Reading::Durations => match duration::parse(&value) {
                Some((attoseconds, shape))
                    if !self.key.is_found || shape != Shape::Seconds || attoseconds == 0 =>
                {
                    Ok(keys::of_attoseconds(attoseconds, descending))
                }
                _ => Err(invalid),
            },
            _ => self.number(&value),
        }
    }

    /// Returns the word of a number.
    #[inline]
    fn number(&mut self, value: &[u8]) -> Result<u128, NotAdded> {
        let descending = self.key.order.descending;
        if let Some(element) = self.key.element {
            return of_type(value, element, descending);
        }
        self.tail.clear();
        match self.reader.key(value, descending, &mut self.tail) {
            Some(Number::Word(word)) => Ok(word),
            Some(Number::Nan) => Err(NotAdded::Null(Class::Nan)),
            None => Err(NotAdded::Null(Class::Invalid)),
        }
    }

    /// Returns the word of a token, which may be a null.
    ///
    /// # Panics
    ///
    /// Panics if the column refuses the token.
    pub fn word_of_token(&mut self, token: &[u8]) -> u128 {
        match self.number(token) {
            Ok(word) => word,
            Err(NotAdded::Null(class)) => keys::of_null(class, self.key.order),
            Err(refused) => panic!("the column has this token: {refused:?}"),
        }
    }

    /// Returns a hash of a field, or 0 if all equal fields are spelled like this one.
    pub(super) fn spelling(&self, field: &Field, seed: u64) -> u64 {
        let (key, value) = (&self.key, field.value());
        let value = match key.order.reading {
            Reading::Times if key.spans(field.fields) => key.shown_of_rest(&value),
            _ => &value[..],
        };
        let is_alone = match key.order.reading {
            _ if key.is_na(value) || key.axis.is_some() => false,
            Reading::Text(_) if key.order.compares_bytes() => field.json() != Some(Value::Null),
            Reading::Numbers if key.element.is_none() && key.sign.is_none() && !key.order.leading => {
                key.spelling.marks.is_none() && is_plain(value)
            }
            _ => false,
        };
        if is_alone || value.is_empty() { 0 } else { xxh3_64_with_seed(value, seed) }
    }

    /// Returns the reason if the column's kind refuses a field.
    pub(super) fn refused(&mut self, field: &Field) -> Option<NotAdded> {
        let refused = match self.words {
            keys::Column::Texts(_) => class_of_text(&self.key, field).map(NotAdded::Null),
            _ => self.word(field).err(),
        };
        refused.filter(|refused| !matches!(refused, NotAdded::Null(Class::Empty | Class::Nan)))
    }

    /// Adds a field of text.
    fn push_text(&mut self, field: &Field) -> Result<(), NotAdded> {
        let keys::Column::Texts(texts) = &mut self.words else { panic!("the column is of text") };
        if let Some(class) = class_of_text(&self.key, field) {
            return Err(NotAdded::Null(class));
        }
        if let Some(names) = &self.key.names {
            self.tail.clear();
            let KeyOrder { nocase, descending, .. } = self.key.order;
            names.push(&field.value(), nocase, descending, &mut self.tail);
            return texts.push_bytes(&self.tail).map_err(|_| NotAdded::TooLong);
        }
        // Only plain text keeps the blanks around a field.
        if self.key.order.text_order() != TextOrder::Bytes && self.key.column != ColumnAt::Whole {
            return texts.push_own(&field.value()).map_err(|_| NotAdded::TooLong);
        }
        let place = field.place.clone();
        let added = match field.fields.content(&field.bytes[place.clone()]) {
            Cow::Borrowed(text) => {
                // A shorter text has quotes around it.
                let begin = place.start + usize::from(text.len() < place.len());
                texts.push(field.bytes, begin, begin + text.len())
            }
            Cow::Owned(text) => texts.push_own(&text),
        };
        added.map_err(|_| NotAdded::TooLong)
    }

    /// Replaces the coordinates of points by their places on a Hilbert curve. A null of either is one of the point: the
    /// farthest from the numbers.
    pub(super) fn place_on_curve(points: &mut [Self; 2]) {
        let [order, of_y] = [&points[0], &points[1]].map(|column| column.key.order);
        assert_eq!(order, of_y, "points have one order");
        let is_placed = |class: &Class| order.place(*class) != Nulls::Error;
        let nulls = Class::ALL.into_iter().filter(is_placed).map(|class| keys::of_null(class, order));
        let nulls: Vec<u128> = nulls.collect();
        let records = points[0].words.len();
        let mut places = [(); 2].map(|()| keys::Column::with_capacity(records));
        for record in 0..records {
            let point = points.each_ref().map(|column| column.words.at(record));
            let words = match nulls.iter().rfind(|null| point.contains(null)) {
                Some(&null) => [null; 2],
                None => hilbert::place(point.map(|word| keys::nearest(word, order.descending)))
                    .map(|half| keys::of_float(half, order.descending)),
            };
            places.iter_mut().zip(words).for_each(|(column, word)| column.push(word));
        }
        points.iter_mut().zip(places).for_each(|(column, places)| column.words = places);
    }

    /// Adds the tokens of a piece of text. Calls `keep` with the begin and the end of each token. Adds the rows of
    /// tokens whose numbers have other spellings, too, to `respelled`.
    ///
    /// # Errors
    ///
    /// The offset of the first refused token; `None` in place of the reason if its line may not have
    /// the token.
    pub(super) fn push_tokens(
        &mut self,
        tokens: &mut Tokens,
        counts: &mut Counts,
        mut respelled: Option<&mut Vec<u32>>,
        mut keep: impl FnMut(usize, usize),
    ) -> Result<(), (usize, Option<NotAdded>)> {
        /// Up to this value, f64 represents every integer.
        const EXACT: i64 = 1 << f64::MANTISSA_DIGITS;
        while let Some(start) = tokens.find() {
            let short = if self.key.element.is_none() { tokens.short_integer() } else { None };
            let (length, mut is_spelled_once);
            if let Some(short) = short.filter(|short| short.value.abs() <= EXACT) {
                (length, is_spelled_once) = (short.length, short.canonical);
                self.words.push(keys::of_float(short.value as f64, self.key.order.descending));
                tokens.pass(length);
            } else {
                let token = tokens.take_token();
                (length, is_spelled_once) = (token.len(), respelled.is_none() || is_plain(token));
                match self.number(token) {
                    Ok(word) => self.push_word(word),
                    Err(NotAdded::Null(class)) if self.key.order.place(class) != Nulls::Error => {
                        is_spelled_once = false;
                        counts.add(class, token);
                        self.words.push(keys::of_null(class, self.key.order));
                    }
                    Err(refused) => return Err((start, Some(refused))),
                }
            }
            if let Some(respelled) = respelled.as_mut().filter(|_| !is_spelled_once) {
                respelled.push(self.words.len() as u32 - 1);
            }
            keep(start, start + length);
        }
        tokens.excess.map_or(Ok(()), |excess| Err((excess, None)))
    }
}

/// Returns the first word of a line.
pub(super) fn first_word(line: &[u8]) -> &[u8] {
    line.split(|byte| matches!(byte, b' ' | b'\t')).next().unwrap_or_default()
}

/// Returns the class of a text field if the field is a null.
fn class_of_text(key: &ResolvedKey, field: &Field) -> Option<Class> {
    // A whole record is never null.
    if key.order.is_last_resort || key.column == ColumnAt::Whole {
        return None;
    }
    let text_order = key.order.text_order();
    // If the column was found to hold versions, other texts are invalid.
    let are_versions = key.is_found && text_order == TextOrder::Version;
    let is_invalid = |value: &[u8]| {
        !(kind_of(text_order).holds)(value) || are_versions && version::points(value).is_none()
    };
    match field.json() {
        Some(Value::Other) => return Some(Class::Invalid),
        Some(Value::Null) => return Some(Class::Empty),
        Some(Value::Number | Value::Bool) => return is_invalid(&field.value()).then_some(Class::Invalid),
        None if field.place.is_empty() => return Some(Class::Empty),
        None if text_order == TextOrder::Bytes && key.spelling.empty.is_empty() => {
            // A quoted field may be empty, too.
            let is_quoted = field.bytes[field.place.start] == b'"';
            return (is_quoted && field.value().is_empty()).then_some(Class::Empty);
        }
        Some(Value::String) | None => {}
    }
    let value = field.value();
    // An empty string is a text, but neither a version nor a hexadecimal number.
    let is_empty = key.is_na(&value) || value.is_empty() && text_order != TextOrder::Bytes;
    if is_empty { Some(Class::Empty) } else { is_invalid(&value).then_some(Class::Invalid) }
}
