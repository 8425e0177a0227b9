//! Makes keys of the fields of a column as they are read.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::dialect::Fields;
use super::header::Found;
use super::json::Value;
use crate::io::counts::Counts;
use crate::io::infer::{Inference, Number, Refused, limits};
use crate::io::keys::{self, MINUS_ZERO};
use crate::io::number::{Tokens, float, has_fraction, spelled};
use crate::io::source::LineEnd;
use crate::io::spelling::Spelling;
use crate::io::texts::{ComparedText, TextColumn};
use crate::order::{Class, KeyOrder, Nulls, Reading, TextOrder};

/// A field of a row.
pub(super) struct Field<'a> {
    /// All bytes, and where rows are counted from.
    pub(super) bytes: &'a [u8],
    pub(super) start: usize,
    pub(super) place: &'a Range<usize>,
    pub(super) fields: Fields,
    /// The line that it is of, if that is a comment or damaged JSON, which is no number.
    pub(super) unfit: Option<&'a Range<usize>>,
    /// Where its row begins.
    pub(super) row: usize,
}

impl Field<'_> {
    /// What is to be a number, without quotes and the blanks around it.
    #[inline]
    pub(super) fn value(&self) -> Cow<'_, [u8]> {
        let place = self.unfit.unwrap_or(self.place).clone();
        self.fields.value(&self.bytes[place])
    }

    /// What it is in JSON; what is damaged counts as what has no order.
    #[inline]
    pub(super) fn json(&self) -> Value {
        if self.unfit.is_some() { Value::Other } else { Value::of(&self.bytes[self.place.clone()]) }
    }
}

/// Why a field is not added.
pub(super) enum NotAdded {
    Refused(Refused),
    /// It is a word, and those before it were read as numbers.
    IsText,
    /// There is no room for such a long text.
    TooLong,
}

/// The keys of a column, in the order of its rows.
pub(super) struct Column {
    words: keys::Column,
    /// Blanks before texts do not count.
    skips_blanks: bool,
    spelling: Option<Arc<Spelling>>,
    /// Where a number is spelled again.
    respelled: Vec<u8>,
    rules: KeyOrder,
    /// Rows with an integer −0, which differs from 0 among floats.
    minus_zeros: Vec<u32>,
    /// The inference of the type; places are row offsets.
    pub(super) inference: Inference<usize>,
}

impl Column {
    /// A column for this key without fields yet; `is_text` if it is known to be that.
    pub(super) fn new(key: &Found, is_text: bool, rows: usize) -> Self {
        let mut inference = Inference::new(key.element, key.order);
        if is_text {
            inference.expect_text();
        }
        let order = inference.order();
        Self {
            words: match order.reading {
                Reading::Text(_) => keys::Column::Texts(TextColumn::new(order)),
                _ => keys::Column::with_capacity(rows),
            },
            skips_blanks: key.is_of_sort,
            spelling: key.spelling.clone(),
            respelled: Vec::new(),
            rules: key.order,
            minus_zeros: Vec::new(),
            inference,
        }
    }

    /// How many fields there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether it was read as text.
    pub(super) fn is_of_texts(&self) -> bool {
        self.words.texts().is_some()
    }

    /// The first row with an integer −0.
    pub(super) fn minus_zero(&self) -> Option<usize> {
        self.minus_zeros.first().map(|&row| row as usize)
    }

    /// Adds a field, and counts it if it is a null.
    #[inline]
    pub(super) fn push(&mut self, field: &Field, counts: &mut Counts) -> Result<(), NotAdded> {
        if self.is_of_texts() {
            return self.push_text(field, counts);
        }
        let read = match &self.spelling {
            _ if field.fields == Fields::Json => self.read_json(field),
            None => self.inference.read(&field.value(), || field.row),
            Some(_) => self.read_spelled(&field.value(), field.row),
        };
        match read {
            Ok(number) => {
                if number == Number::Null(Class::Invalid) {
                    counts.note_invalid(&field.value());
                }
                self.push_number(number, counts);
            }
            Err(Refused::NoSuch(Reading::Any)) => {
                if !self.inference.has_others_than_words() {
                    return Err(NotAdded::IsText);
                }
                // Both in one column are an error, which is found where all is known.
                self.inference.push_word(|| field.row);
                self.words.push(keys::of_float(0.0, false));
            }
            Err(refused) => return Err(NotAdded::Refused(refused)),
        }
        Ok(())
    }

    /// Reads a value of JSON: a string is a word, unless its key says what it is.
    #[inline]
    fn read_json(&mut self, field: &Field) -> Result<Number, Refused> {
        let is_by_itself = self.rules.reading == Reading::Any;
        match field.json() {
            Value::Number => self.read_spelled(&field.bytes[field.place.clone()], field.row),
            Value::Null => self.inference.null(Class::Empty),
            Value::Other => self.inference.null(Class::Invalid).map_err(|_| Refused::Json),
            Value::String if is_by_itself && self.is_na(field) => self.inference.null(Class::Empty),
            Value::String if !is_by_itself => self.read_spelled(&field.value(), field.row),
            Value::Bool if !is_by_itself => self.inference.null(Class::Invalid),
            Value::String | Value::Bool => Err(Refused::NoSuch(Reading::Any)),
        }
    }

    /// Whether it is said that a string counts as empty.
    fn is_na(&self, field: &Field) -> bool {
        self.spelling.as_ref().is_some_and(|spelling| spelling.is_empty(&field.value()))
    }

    /// Reads a field of which it is said how it is written.
    fn read_spelled(&mut self, value: &[u8], row: usize) -> Result<Number, Refused> {
        let Some(spelling) = &self.spelling else { return self.inference.read(value, || row) };
        if value.is_empty() || spelling.is_empty(value) {
            return self.inference.null(Class::Empty);
        }
        if self.rules.reading == Reading::Times
            && let Some(format) = &spelling.times
        {
            return self.inference.push_time_or_null(format.time(value), || row);
        }
        match spelling.plain(value, &mut self.respelled) {
            Some(plain) => self.inference.read(plain, || row),
            // It would be text by itself only since it is written otherwise.
            None if self.rules.reading == Reading::Any && spelling.is_misspelled(value) => {
                Err(Refused::Spelling)
            }
            None => self.inference.null(Class::Invalid),
        }
    }

    /// Adds a field of text.
    fn push_text(&mut self, field: &Field, counts: &mut Counts) -> Result<(), NotAdded> {
        let is_by_itself = self.rules.reading == Reading::Any;
        if is_by_itself {
            self.look_for_number(field).map_err(NotAdded::Refused)?;
        }
        let keys::Column::Texts(texts) = &mut self.words else { return Ok(()) };
        let order = texts.order();
        let is_nul = field.fields.line_end() == LineEnd::Nul;
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t') || is_nul && *byte == b'\n';
        let begin = |text: &[u8]| match self.skips_blanks {
            true => text.iter().take_while(|byte| is_blank(byte)).count(),
            false => 0,
        };
        let spelling = self.spelling.as_ref();
        let json = (field.fields == Fields::Json).then(|| field.json());
        // Of JSON only a null is empty by itself.
        let is_empty = |text: &[u8]| {
            text.is_empty() && json.is_none_or(|value| value == Value::Null)
                || spelling.is_some_and(|spelling| spelling.is_empty(text))
        };
        let form = order.reading.text().unwrap_or_default();
        let class = |text: &[u8]| {
            match json {
                Some(Value::Other) => return Some(Class::Invalid),
                Some(Value::Null) => return Some(Class::Empty),
                _ => {}
            }
            // A hexadecimal number is one, of which blanks are no part. And what is refused as empty
            // among numbers is so among words, whichever comes first.
            if form.order == TextOrder::Hex || is_by_itself && order.empty == Nulls::Error {
                let value = field.value();
                if is_empty(&value) {
                    return Some(Class::Empty);
                }
                if !form.holds(&value) {
                    return Some(Class::Invalid);
                }
            }
            (form.order != TextOrder::Hex && is_empty(text)).then_some(Class::Empty)
        };
        let (class, added) = match field.fields.text(field.bytes, field.place.clone()) {
            Ok(place) => {
                let from = place.start + begin(&field.bytes[place.clone()]);
                match class(&field.bytes[from..place.end]) {
                    None => {
                        let [from, to] = [from, place.end].map(|place| place - field.start);
                        (None, texts.push(&field.bytes[field.start..], from, to))
                    }
                    null => (null, Ok(())),
                }
            }
            Err(text) => {
                let text = &text[begin(&text)..];
                match class(text) {
                    None => (None, texts.push_own(text)),
                    null => (null, Ok(())),
                }
            }
        };
        added.map_err(|_| NotAdded::TooLong)?;
        if let Some(class) = class {
            if class == Class::Invalid || order.empty == Nulls::Error {
                let refused = |refused| if json == Some(Value::Other) { Refused::Json } else { refused };
                let null = self.inference.null(class);
                null.map_err(|error| NotAdded::Refused(refused(error)))?;
            }
            if class == Class::Invalid {
                counts.note_invalid(&field.value());
            }
            counts.add(class);
            texts.push_null(class);
        }
        Ok(())
    }

    /// Notes what the field of a text is, which may be a number.
    fn look_for_number(&mut self, field: &Field) -> Result<(), Refused> {
        match (field.fields == Fields::Json).then(|| field.json()) {
            Some(Value::Null | Value::Other) => return Ok(()),
            Some(Value::String | Value::Bool) => {
                if !self.is_na(field) {
                    self.inference.push_word(|| field.row);
                }
                return Ok(());
            }
            _ => {}
        }
        let value = field.value();
        if self.spelling.as_ref().is_some_and(|spelling| spelling.is_empty(&value)) {
            return Ok(());
        }
        let has_marks = self.spelling.as_ref().is_some_and(|spelling| spelling.marks.is_some());
        match value.first() {
            Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b',' | b'[') if field.unfit.is_none() => {
                self.look_at(&value, field.row)?;
            }
            // With marks of its own a number may begin with others.
            Some(_) if has_marks => self.look_at(&value, field.row)?,
            // Not all that begin so are numbers, but few.
            Some(b'i' | b'I' | b'n' | b'N') if spelled(&value).is_some() => {}
            None => {}
            _ => self.inference.push_word(|| field.row),
        }
        Ok(())
    }

    /// Notes what the value of a text is, which is likely to be a number.
    fn look_at(&mut self, value: &[u8], row: usize) -> Result<(), Refused> {
        match self.read_spelled(value, row) {
            Err(Refused::Spelling) => return Err(Refused::Spelling),
            Err(Refused::NoSuch(_)) => self.inference.push_word(|| row),
            // A number that is refused is noted as one, which is an error beside words.
            _ => {}
        }
        Ok(())
    }

    /// Adds a number or a null that was read, which is counted.
    #[inline]
    fn push_number(&mut self, number: Number, counts: &mut Counts) {
        match number {
            Number::MinusZero => self.minus_zeros.push(self.len() as u32),
            Number::Null(class) => counts.add(class),
            _ => {}
        }
        self.words.push(number.word(self.rules));
    }

    /// Adds the tokens of a piece of text, whose first byte is at `place` in all of it. Calls
    /// `keep` with where each begins and ends.
    ///
    /// # Errors
    ///
    /// The first token that is refused, or `None` where a line has more than it may have, and its
    /// place.
    pub(super) fn push_tokens(
        &mut self,
        tokens: &mut Tokens,
        bytes: &[u8],
        place: usize,
        counts: &mut Counts,
        mut keep: impl FnMut(usize, usize),
    ) -> Result<(), (usize, Option<Refused>)> {
        loop {
            self.push_short(tokens, &mut keep);
            let Some(start) = tokens.find() else { break };
            let element = self.inference.float().filter(|_| self.inference.has_number());
            let read = element.and_then(|element| float(&bytes[start..], element));
            // A number with a fraction always has a point or an exponent.
            if let Some((value, length)) = read.filter(|&(value, _)| has_fraction(value))
                && tokens.pass(length)
            {
                self.inference.push_decimal();
                self.words.push_high(keys::high_of(value, self.rules.descending));
                keep(start, start + length);
                continue;
            }
            let token = tokens.take_token();
            let at = || place + start;
            let number = match read {
                Some((value, length)) if length == token.len() => {
                    self.inference.read_closely(token, || Some(value), at)
                }
                _ => self.inference.read(token, at),
            };
            self.push_number(number.map_err(|refused| (at(), Some(refused)))?, counts);
            keep(start, start + token.len());
        }
        tokens.excess.map_or(Ok(()), |excess| Err((place + excess, None)))
    }

    /// Adds short integers, as most are, as long as none of them decides anything about the type.
    #[inline]
    fn push_short(&mut self, tokens: &mut Tokens, mut keep: impl FnMut(usize, usize)) {
        // All of these are exact in f64.
        const EXACT: i64 = 1 << f64::MANTISSA_DIGITS;
        let (asked, descending) = (self.inference.asked, self.rules.descending);
        if self.inference.float().is_some() || !self.inference.has_number() {
            return;
        }
        // Where others are no floats, most are not short.
        let keys::Column::High(words) = &mut self.words else { return };
        // A first negative one is noted elsewhere.
        let least = if asked.is_some() || self.inference.span.least < 0 { -EXACT } else { 0 };
        let [least, greatest] = asked.map_or([least.into(), EXACT.into()], |asked| limits(asked).into());
        let [least, greatest] =
            [least, greatest].map(|limit: i128| limit.clamp((-EXACT).into(), EXACT.into()) as i64);
        let mut span = [0, 0];
        while let Some(start) = tokens.find_next() {
            let Some(short) = tokens.short_integer() else { break };
            let value = short.value;
            // −0 may be less than 0.
            if value < least || value > greatest || value == 0 && !short.canonical {
                break;
            }
            span = [span[0].min(value), span[1].max(value)];
            words.push(keys::high_of(value as f64, descending));
            keep(start, start + short.length);
            tokens.pass(short.length);
        }
        if asked.is_none() {
            self.inference.push_exact(span);
        }
    }

    /// The keys, if there are `decimals` in the column; `None` if nobody knows yet.
    pub(super) fn keys(mut self, decimals: Option<bool>) -> keys::Column {
        let minus_zero = decimals.map_or(MINUS_ZERO, |decimals| keys::minus_zero(decimals, self.rules));
        for row in self.minus_zeros {
            self.words.set(row as usize, minus_zero);
        }
        self.words
    }
}
