//! Makes keys of the fields of a column as they are read.

use gpusort_planner::key::ElementType;

use crate::io::counts::Counts;
use crate::io::infer::{Inference, Number, Refused, limits};
use crate::io::keys::{self, MINUS_ZERO};
use crate::io::number::{Tokens, float, has_fraction};
use crate::order::KeyOrder;

/// The keys of a column, in the order of its rows.
pub(super) struct Column {
    words: keys::Column,
    rules: KeyOrder,
    /// Rows with an integer −0, which differs from 0 among floats.
    minus_zeros: Vec<u32>,
    /// How many nulls there are.
    pub(super) nulls: Counts,
    /// The inference of the type; places are row offsets.
    pub(super) inference: Inference<usize>,
}

impl Column {
    /// A column of the requested type without fields yet; `rules` has its direction.
    pub(super) fn new(asked: Option<ElementType>, rules: KeyOrder, rows: usize) -> Self {
        Self {
            words: keys::Column::with_capacity(rows),
            rules,
            minus_zeros: Vec::new(),
            nulls: Counts::default(),
            inference: Inference::new(asked, rules),
        }
    }

    /// How many fields there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The first row with an integer −0.
    pub(super) fn minus_zero(&self) -> Option<usize> {
        self.minus_zeros.first().map(|&row| row as usize)
    }

    /// Adds the field of the row at offset `place`, without quotes and surrounding blanks.
    #[inline]
    pub(super) fn push(&mut self, field: &[u8], place: usize) -> Result<(), Refused> {
        let number = self.inference.read(field, || place)?;
        self.push_number(number);
        Ok(())
    }

    /// Adds a number or a null that was read.
    #[inline]
    fn push_number(&mut self, number: Number) {
        match number {
            Number::MinusZero => self.minus_zeros.push(self.len() as u32),
            Number::Null(class) => self.nulls.add(class),
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
            self.push_number(number.map_err(|refused| (at(), Some(refused)))?);
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
        let minus_zero = decimals
            .map_or(MINUS_ZERO, |decimals| keys::minus_zero(decimals, self.rules.descending, self.rules));
        for row in self.minus_zeros {
            self.words.set(row as usize, minus_zero);
        }
        self.words
    }
}
