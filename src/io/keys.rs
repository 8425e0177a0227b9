//! Keys of records as 128-bit words, from reading to the last merge: words compare as keys do.
//!
//! ```text
//! number             the nearest f64, in total order   ┊ the distance from it, around the middle
//!                    64 bits, usually sufficient       ┊ 64 bits; then a tail, if the last bit is 1
//! time, duration     seconds                           ┊ attoseconds, above the middle
//! null               beyond all of them, at either end ┊ the middle
//! ```

use std::cmp::Ordering;
use std::sync::Arc;

use gpusort_order::key::ElementType;
use gpusort_values::number;

use super::records::{Print, push_fixed, push_integer};
use super::source::Text;
use super::texts::{Rows, TextColumn, push_row};
use crate::memory::prefetch;
use crate::order::{Class, KeyOrder, Nulls, Reading};

/// The lower half of the word of a number that f64 represents exactly, and of whole seconds.
pub(crate) const EXACT: u64 = number::MID;

/// The width of the ranges of higher halves reserved for nulls, one at each end; more than the
/// classes of nulls. Only NaN would fall into these ranges.
const CLASSES: u64 = 8;

/// The number of attoseconds in a second.
pub(crate) const SECOND: i64 = 1_000_000_000_000_000_000;

/// Returns the word of an integer.
#[inline]
pub(crate) fn of_integer(integer: i128, descending: bool) -> u128 {
    /// Up to this value, f64 represents every integer.
    const FEW: i64 = 1 << f64::MANTISSA_DIGITS;
    // Conversions of 128-bit integers are function calls.
    if let Ok(few) = i64::try_from(integer)
        && (-FEW..=FEW).contains(&few)
    {
        return of_float(few as f64, descending);
    }
    number::of_integer(integer, descending)
}

/// Returns the word of a time in nanoseconds.
#[inline]
pub(crate) fn of_nanoseconds(nanoseconds: i128, descending: bool) -> u128 {
    /// The number of nanoseconds in a second.
    const NANOSECONDS: i64 = 1_000_000_000;
    let (seconds, fraction) = if let Ok(few) = i64::try_from(nanoseconds) {
        (few.div_euclid(NANOSECONDS), few.rem_euclid(NANOSECONDS))
    } else {
        let second = i128::from(NANOSECONDS);
        (nanoseconds.div_euclid(second) as i64, nanoseconds.rem_euclid(second) as i64)
    };
    of_seconds(seconds, fraction * (SECOND / NANOSECONDS), descending)
}

/// Returns the word of a duration in attoseconds.
#[inline]
pub(crate) fn of_attoseconds(attoseconds: i128, descending: bool) -> u128 {
    let second = i128::from(SECOND);
    let (seconds, fraction) = (attoseconds.div_euclid(second), attoseconds.rem_euclid(second));
    of_seconds(seconds as i64, fraction as i64, descending)
}

fn of_seconds(seconds: i64, attoseconds: i64, descending: bool) -> u128 {
    let low = EXACT + attoseconds.cast_unsigned();
    let word = u128::from(seconds.cast_unsigned() ^ 1 << 63) << 64 | u128::from(low);
    if descending { word.wrapping_neg() } else { word }
}

/// Returns the seconds and attoseconds of the word of a time or a duration; both increase with the
/// word. In a descending word, attoseconds are negative.
#[inline]
pub(crate) fn seconds(word: u128) -> (i64, i64) {
    let seconds = ((word >> 64) as u64 ^ 1 << 63).cast_signed();
    (seconds, (word as u64).wrapping_sub(EXACT).cast_signed())
}

/// Returns the word of a float other than NaN. Zero has no sign.
#[inline]
pub(crate) fn of_float(float: f64, descending: bool) -> u128 {
    whole(high_of(float, descending))
}

/// Returns the higher half of the word of a float other than NaN. Zero has no sign.
#[inline]
pub(crate) fn high_of(float: f64, descending: bool) -> u64 {
    // The sum of −0 and 0 is 0.
    number::high(float + 0.0, descending)
}

/// Returns the higher half of the word of a null; all nulls have the same lower half.
pub(crate) fn of_null(class: Class, rules: KeyOrder) -> u64 {
    let (rank, (before, _)) = (rules.rank(class), rules.beside_numbers());
    if rules.place(class) == Nulls::First { CLASSES + rank - before } else { u64::MAX - CLASSES + rank + 1 }
}

/// Returns true for the word of a null.
pub(crate) fn is_null(word: u128) -> bool {
    let high = (word >> 64) as u64;
    high <= CLASSES || high > u64::MAX - CLASSES
}

/// Returns the rank of a null, counted outwards from the numbers, and true if nulls of this class come
/// first; `None` for a number.
#[inline]
pub(crate) fn rank(word: u128) -> Option<(u64, bool)> {
    match (word >> 64) as u64 {
        high @ 0..=CLASSES => Some((CLASSES - high, true)),
        high => high.checked_sub(u64::MAX - CLASSES + 1).map(|rank| (rank, false)),
    }
}

/// Returns the word with this higher half, for a float, whole seconds or a null.
#[inline]
pub(crate) fn whole(high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(EXACT)
}

/// Returns true if bytes after the word decide between keys with this word.
#[inline]
pub(crate) fn has_tail(word: u128, reading: Reading) -> bool {
    word & 1 == 1 && matches!(reading, Reading::Numbers | Reading::Sizes)
}

/// Returns the word of the element with these bits.
pub(crate) fn of_bits(bits: u64, element: ElementType, descending: bool, rules: KeyOrder) -> u128 {
    let float = match element {
        ElementType::F32 => f32::from_bits(bits as u32).into(),
        ElementType::F64 => f64::from_bits(bits),
        ElementType::I32 => return of_integer((bits as i32).into(), descending),
        ElementType::I64 => return of_integer(bits.cast_signed().into(), descending),
        _ => return of_integer(bits.into(), descending),
    };
    if float.is_nan() { whole(of_null(Class::Nan, rules)) } else { of_float(float, descending) }
}

/// Returns the float nearest to the number of a word, or NaN for a null.
#[inline]
pub(crate) fn nearest(word: u128, descending: bool) -> f64 {
    if is_null(word) {
        return f64::NAN;
    }
    let high = (word >> 64) as u64;
    float(if descending { !high } else { high })
}

/// Returns the float with this higher half of an ascending word.
#[inline]
pub(crate) fn float(high: u64) -> f64 {
    f64::from_bits(if high >> 63 == 1 { high & !(1 << 63) } else { !high })
}

/// Returns true if f64 does not represent the number of a word exactly.
#[inline]
pub(crate) fn is_rounded(word: u128) -> bool {
    !is_null(word) && word as u64 != EXACT
}

/// Returns the number of a word as an integer, if it fits one of 64 bits.
#[inline]
pub(crate) fn integer(word: u128, descending: bool) -> Option<i128> {
    if is_null(word) {
        return None;
    }
    if word as u64 == EXACT {
        const MOST: f64 = (1_u64 << 63) as f64;
        let float = nearest(word, descending);
        if float.abs() < MOST {
            // The conversion to a 128-bit integer is a function call.
            let integer = float as i64;
            #[allow(clippy::float_cmp, reason = "it is a float of 64 bits, or it is not")]
            return (integer as f64 == float).then_some(integer.into());
        }
    }
    number::integer(word, descending)
}

/// Returns the bits of a word's number as an element of this type. An integer type must hold the number.
pub(crate) fn bits(word: u128, descending: bool, element: ElementType) -> u64 {
    match element {
        ElementType::F32 => {
            let float = nearest(word, descending);
            if float.is_nan() { f32::NAN.to_bits().into() } else { (float as f32).to_bits().into() }
        }
        ElementType::F64 => nearest(word, descending).to_bits(),
        ElementType::U32 | ElementType::I32 => {
            (integer(word, descending).expect("an integer of this type") as u32).into()
        }
        _ => integer(word, descending).expect("an integer of this type") as u64,
    }
}

/// Appends the number of a word as an element of this type.
pub(crate) fn push_element(word: u128, descending: bool, element: ElementType, to: &mut Vec<u8>) {
    to.extend_from_slice(&bits(word, descending, element).to_le_bytes()[..element.bytes()]);
}

/// Appends the number of a word as text, and ends the line.
pub(crate) fn push_text(word: u128, descending: bool, print: Print, to: &mut Vec<u8>) {
    match print {
        Print::Fixed(digits) => push_fixed(nearest(word, descending), digits, to),
        Print::Shortest => push_integer(integer(word, descending).expect("integers are printed"), to),
    }
}

/// The keys of some records, one or more per record.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    /// Column by column, for reading and sorting.
    Columns(Vec<Column>),
    /// Rows of bytes, for comparing records of several batches, and the columns that the rows were made
    /// from.
    Rows { rows: Rows, columns: Vec<Column> },
}

/// The words of one key of some records, or its texts.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    /// The higher halves of words with the lower half [`EXACT`].
    High(Vec<u64>),
    Whole(Vec<u128>),
    /// The words of numbers, with tails for some of them.
    Long(Vec<u128>, Tails),
    Texts(TextColumn),
}

/// The tails of the numbers of some records, in the order of the records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tails {
    records: Vec<u32>,
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tails {
    fn push(&mut self, record: usize, tail: &[u8]) {
        self.bytes.extend_from_slice(tail);
        self.records.push(record as u32);
        self.ends.push(self.bytes.len());
    }

    /// Returns the tail of a record; empty for most records.
    fn get(&self, record: usize) -> &[u8] {
        let Ok(at) = self.records.binary_search(&(record as u32)) else { return &[] };
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..self.ends[at]]
    }

    fn truncate(&mut self, records: usize) {
        let count = self.records.partition_point(|&record| (record as usize) < records);
        self.records.truncate(count);
        self.ends.truncate(count);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

impl Keys {
    /// The keys of no records.
    pub(crate) const NONE: Self = Self::Columns(Vec::new());

    /// Makes the keys of records with a single key.
    pub(super) fn of_words(words: impl IntoIterator<Item = u128>) -> Self {
        let mut column = Column::with_capacity(0);
        words.into_iter().for_each(|word| column.push(word));
        Self::Columns(vec![column])
    }

    /// Converts the keys to their compared form: the higher halves of a single key if they suffice, or
    /// rows.
    pub(crate) fn by_records(self) -> Self {
        if self.single().is_some() { self } else { self.into_rows() }
    }

    /// Adds the printed line of a single numeric key as a second key.
    pub(crate) fn with_lines(self, order: KeyOrder, descending: bool, print: Print) -> Self {
        let Self::Columns(mut columns) = self else { panic!("one key is a column") };
        let (mut lines, mut line) = (TextColumn::new(order), Vec::new());
        for record in 0..columns[0].len() {
            line.clear();
            push_text(columns[0].at(record), descending, print, &mut line);
            lines.push_own(&line[..line.len() - 1]).expect("lines of numbers are short");
        }
        columns.push(Column::Texts(lines));
        Self::Columns(columns)
    }

    /// Converts the keys to rows.
    pub(crate) fn into_rows(self) -> Self {
        match self {
            Self::Columns(columns) => Self::Rows { rows: Rows::of(&columns), columns },
            rows @ Self::Rows { .. } => rows,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.columns().first().map_or(0, Column::len)
    }

    /// Returns the columns, one for each key.
    pub(crate) fn columns(&self) -> &[Column] {
        let (Self::Columns(columns) | Self::Rows { columns, .. }) = self;
        columns
    }

    /// Returns the texts of this key, or `None` for numbers.
    pub(crate) fn texts(&self, key: usize) -> Option<&TextColumn> {
        self.columns().get(key)?.texts()
    }

    /// Returns true if comparing takes more than words.
    pub(crate) fn need_rows(&self) -> bool {
        self.columns().iter().any(Column::needs_rows)
    }

    /// Moves the first key out.
    pub(crate) fn take_first(&mut self) -> Self {
        let Self::Columns(columns) = self else { panic!("keys of lines are columns") };
        Self::Columns(vec![std::mem::replace(&mut columns[0], Column::with_capacity(0))])
    }

    /// Returns the higher halves of the first key, if they suffice.
    pub(crate) fn high(&self) -> Option<&[u64]> {
        let Self::Columns(columns) = self else { return None };
        if let Column::High(words) = columns.first()? { Some(words) } else { None }
    }

    /// Returns the higher halves of the only key, if they suffice.
    #[inline]
    pub(crate) fn single(&self) -> Option<&[u64]> {
        if self.columns().len() == 1 { self.high() } else { None }
    }

    /// Returns the higher halves of the first key by value.
    pub(crate) fn into_high(self) -> Option<Vec<u64>> {
        let Self::Columns(columns) = self else { return None };
        if let Column::High(words) = columns.into_iter().next()? { Some(words) } else { None }
    }

    /// Prefetches the words of a record.
    #[inline]
    pub(crate) fn prefetch(&self, record: usize) {
        if let Self::Columns(columns) = self {
            columns.iter().for_each(|column| match column {
                Column::High(words) if record < words.len() => prefetch(words, record),
                Column::Whole(words) if record < words.len() => prefetch(words, record),
                _ => {}
            });
        }
    }

    /// Returns the word of a key of a record.
    #[inline]
    pub(crate) fn word(&self, record: usize, key: usize) -> u128 {
        self.columns()[key].at(record)
    }

    /// Returns a copy of a record's key, as a row.
    pub(crate) fn key(&self, record: usize) -> Vec<u8> {
        if let Self::Rows { rows, .. } = self {
            return rows.row(record).to_vec();
        }
        let mut row = Vec::new();
        push_row(self.columns(), record, &mut row);
        row
    }

    /// Returns the row of a record.
    #[inline]
    pub(crate) fn row(&self, record: usize) -> &[u8] {
        let Self::Rows { rows, .. } = self else { panic!("these keys are in columns") };
        rows.row(record)
    }

    /// Returns true if a key of a record is a null.
    pub(crate) fn is_null(&self, record: usize, key: usize) -> bool {
        self.texts(key).map_or_else(|| is_null(self.word(record, key)), |texts| texts.null(record).is_some())
    }

    /// Returns the word of the first key of a record.
    #[inline]
    pub(crate) fn one(&self, record: usize) -> u128 {
        self.word(record, 0)
    }

    /// Keeps the keys of the first `records` records.
    pub(crate) fn truncate(&mut self, records: usize) {
        match self {
            Self::Columns(columns) => columns.iter_mut().for_each(|column| column.truncate(records)),
            Self::Rows { rows, columns } => {
                rows.truncate(records);
                columns.iter_mut().for_each(|column| column.truncate(records));
            }
        }
    }

    /// Compares the key of a record with another key, in their compared form.
    pub(crate) fn compare(&self, record: usize, other: &[u8]) -> Ordering {
        match self {
            Self::Rows { rows, .. } => rows.row(record).cmp(other),
            Self::Columns(_) => self.one(record).to_be_bytes()[..].cmp(other),
        }
    }

    /// Returns the number of the first key of a record that differs.
    pub(crate) fn first_difference(&self, record: usize, other: &[u8]) -> usize {
        let columns = self.columns();
        let is_same = |keys: &usize| {
            let mut row = Vec::new();
            push_row(&columns[..*keys], record, &mut row);
            other.starts_with(&row)
        };
        (1..columns.len()).take_while(is_same).count()
    }

    /// Passes the word of this key of each record to `take`.
    #[inline]
    pub(crate) fn for_each(&self, key: usize, mut take: impl FnMut(u128)) {
        self.all(key, |word| {
            take(word);
            true
        });
    }

    /// Returns true if the condition holds for all words of this key.
    #[inline]
    pub(crate) fn all(&self, key: usize, mut holds: impl FnMut(u128) -> bool) -> bool {
        match &self.columns()[key] {
            Column::High(words) => words.iter().all(|&high| holds(whole(high))),
            Column::Whole(words) | Column::Long(words, _) => words.iter().all(|&word| holds(word)),
            Column::Texts(_) => panic!("texts have no words"),
        }
    }

    /// Returns true if a key of a record is an invalid field with a place in the order.
    pub(crate) fn has_invalid(&self, record: usize, orders: &[KeyOrder]) -> bool {
        orders.iter().enumerate().any(|(key, &order)| {
            let has_place = order.place(Class::Invalid) != Nulls::Error;
            has_place
                && self.texts(key).map_or_else(
                    || self.word(record, key) == whole(of_null(Class::Invalid, order)),
                    |texts| texts.null(record) == Some(Class::Invalid),
                )
        })
    }

    /// Returns the first of `count` records whose key does not follow the key of the record before;
    /// `before` is the key before the first record. With `unique`, equal keys do not follow either,
    /// except for invalid fields.
    pub(crate) fn first_broken(
        &self,
        before: Option<&[u8]>,
        count: usize,
        unique: Option<&[KeyOrder]>,
    ) -> Option<usize> {
        let mut from = 0;
        let mut before = before.map(<[u8]>::to_vec);
        loop {
            let at = self.first_break(before.as_deref(), from, count, unique.is_some())?;
            let is_kept = unique.is_some_and(|orders| self.has_invalid(at, orders));
            let last = if at == from { before.clone() } else { Some(self.key(at - 1)) };
            if !is_kept || last.is_some_and(|last| self.compare(at, &last).is_lt()) {
                return Some(at);
            }
            (before, from) = (Some(self.key(at)), at + 1);
        }
    }

    /// Returns the first record from `from` on whose key does not follow.
    fn first_break(&self, before: Option<&[u8]>, from: usize, count: usize, unique: bool) -> Option<usize> {
        let follows = |order: Ordering| order.is_gt() || order.is_eq() && !unique;
        if from >= count {
            return None;
        }
        if before.is_some_and(|before| !follows(self.compare(from, before))) {
            return Some(from);
        }
        let broken = match self.single() {
            Some(words) => words[from..].windows(2).position(|pair| !follows(pair[1].cmp(&pair[0]))),
            None => (from + 1..count).position(|at| !follows(self.row(at).cmp(self.row(at - 1)))),
        };
        broken.map(|at| from + at + 1)
    }
}

impl Column {
    /// Creates an empty column, with room for this number of floats.
    pub(super) fn with_capacity(records: usize) -> Self {
        Self::High(Vec::with_capacity(records))
    }

    /// Creates an empty column for keys in this order.
    pub(super) fn of(order: KeyOrder, records: usize) -> Self {
        match order.reading.text() {
            Some(_) => Self::Texts(TextColumn::with_capacity(order, records)),
            None => Self::with_capacity(records),
        }
    }

    /// Sets the text read of a column of texts, and the offset that places count from.
    pub(super) fn of_text(self, text: &Arc<Text>, start: usize) -> Self {
        if let Self::Texts(texts) = self { Self::Texts(texts.of_text(text, start)) } else { self }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::High(words) => words.len(),
            Self::Whole(words) | Self::Long(words, _) => words.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Returns the texts, or `None` for numbers.
    pub(super) fn texts(&self) -> Option<&TextColumn> {
        if let Self::Texts(texts) = self { Some(texts) } else { None }
    }

    /// Returns true if comparing takes more than words.
    pub(super) fn needs_rows(&self) -> bool {
        matches!(self, Self::Texts(_) | Self::Long(..))
    }

    /// Returns the tail of the number of a record; empty for most records.
    #[inline]
    pub(super) fn tail(&self, record: usize) -> &[u8] {
        if let Self::Long(_, tails) = self { tails.get(record) } else { &[] }
    }

    #[inline]
    pub(super) fn push(&mut self, word: u128) {
        match self {
            Self::High(high) if word as u64 == EXACT => high.push((word >> 64) as u64),
            Self::Whole(words) | Self::Long(words, _) => words.push(word),
            Self::High(_) => {
                self.widen();
                self.push(word);
            }
            Self::Texts(_) => panic!("texts have no words"),
        }
    }

    /// Adds a number with a tail.
    #[cold]
    pub(super) fn push_long(&mut self, word: u128, tail: &[u8]) {
        self.widen();
        if let Self::Whole(words) = self {
            *self = Self::Long(std::mem::take(words), Tails::default());
        }
        let Self::Long(words, tails) = self else { panic!("texts have no tails") };
        tails.push(words.len(), tail);
        words.push(word);
    }

    /// Adds a word with this higher half and the lower half [`EXACT`].
    #[inline]
    pub(super) fn push_high(&mut self, high: u64) {
        match self {
            Self::High(words) => words.push(high),
            other => other.push(whole(high)),
        }
    }

    /// Turns higher halves into whole words.
    #[cold]
    fn widen(&mut self) {
        if let Self::High(high) = self {
            let mut words = Vec::with_capacity(high.capacity());
            words.extend(high.iter().map(|&high| whole(high)));
            *self = Self::Whole(words);
        }
    }

    pub(super) fn truncate(&mut self, records: usize) {
        match self {
            Self::High(words) => words.truncate(records),
            Self::Whole(words) => words.truncate(records),
            Self::Long(words, tails) => {
                words.truncate(records);
                tails.truncate(records);
            }
            Self::Texts(texts) => texts.truncate(records),
        }
    }

    #[inline]
    pub(super) fn at(&self, place: usize) -> u128 {
        match self {
            Self::High(words) => whole(words[place]),
            Self::Whole(words) | Self::Long(words, _) => words[place],
            Self::Texts(_) => panic!("texts have no words"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::order::Invalid;

    /// Generates integers of 64 bits, often near the limit of exact floats.
    fn integer() -> impl Strategy<Value = i128> {
        let edges = prop::sample::select(vec![0, 1 << 53, -(1 << 53), 1 << 62, -(1 << 63), (1 << 64) - 4]);
        prop_oneof![
            any::<i64>().prop_map(i128::from),
            any::<u64>().prop_map(i128::from),
            (edges, 0..4_i128).prop_map(|(edge, more)| edge + more),
        ]
    }

    fn float() -> impl Strategy<Value = f64> {
        any::<f64>().prop_filter("NaN is a null", |float| !float.is_nan())
    }

    proptest! {
        #[test]
        fn words_are_in_the_order_of_numbers(a in integer(), b in integer(), x in float(), y in float()) {
            for descending in [false, true] {
                let directed = |order: Ordering| if descending { order.reverse() } else { order };
                let [of_a, of_b] = [a, b].map(|integer| of_integer(integer, descending));
                let [of_x, of_y] = [x, y].map(|float| of_float(float, descending));
                prop_assert_eq!(of_a.cmp(&of_b), directed(a.cmp(&b)));
                // Zero has no sign.
                prop_assert_eq!(of_x.cmp(&of_y), directed((x + 0.0).total_cmp(&(y + 0.0))));
                if (a as f64).total_cmp(&(x + 0.0)).is_ne() {
                    prop_assert_eq!(of_a.cmp(&of_x), directed((a as f64).total_cmp(&(x + 0.0))));
                }
                prop_assert!(![of_a, of_b, of_x, of_y].iter().any(|&word| is_null(word)));
                prop_assert_eq!(super::integer(of_a, descending), Some(a));
            }
        }

        #[test]
        fn elements_come_back(bits: u64, descending: bool) {
            for element in ElementType::WIDE {
                let bits = if element.bytes() == 4 { bits & u64::from(u32::MAX) } else { bits };
                let word = of_bits(bits, element, descending, KeyOrder { descending, ..KeyOrder::ASCENDING });
                let mut bytes = Vec::new();
                push_element(word, descending, element, &mut bytes);
                // NaN is a null, and zero has no sign.
                let (is_nan, is_zero) = match element {
                    ElementType::F32 => (f32::from_bits(bits as u32).is_nan(), bits << 33 == 0),
                    ElementType::F64 => (f64::from_bits(bits).is_nan(), bits << 1 == 0),
                    _ => (false, false),
                };
                if !is_nan && !is_zero {
                    prop_assert_eq!(&bytes[..], &bits.to_le_bytes()[..element.bytes()], "{}", element);
                }
                let printed = match element {
                    ElementType::U32 | ElementType::U64 => bits.to_string(),
                    ElementType::I32 => (bits as i32).to_string(),
                    ElementType::I64 => bits.cast_signed().to_string(),
                    _ => continue,
                };
                let mut text = Vec::new();
                push_text(word, descending, Print::Shortest, &mut text);
                prop_assert_eq!(String::from_utf8(text).unwrap(), printed + "\n");
            }
        }
    }

    #[test]
    fn words_are_in_the_order_of_times() {
        let times =
            [-(1_i128 << 84), -1_000_000_001, -1_000_000_000, -1, 0, 1, 999_999_999, 1_000_000_000, 1 << 84];
        for pair in times.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            assert!(of_nanoseconds(a, false) < of_nanoseconds(b, false), "{a} {b}");
            assert!(of_nanoseconds(a, true) > of_nanoseconds(b, true), "{a} {b}");
            assert!(of_attoseconds(a, false) < of_attoseconds(b, false), "{a} {b}");
            assert!(seconds(of_nanoseconds(a, true)) > seconds(of_nanoseconds(b, true)), "{a} {b}");
        }
    }

    #[test]
    fn tails_decide_between_equal_words() {
        let word = of_float(1.5, false) | 1;
        let mut column = Column::with_capacity(0);
        column.push(of_float(1.5, false));
        column.push_long(word, &[2, 0]);
        column.push_long(word, &[1, 0]);
        column.push(of_float(2.0, false));
        assert_eq!((column.tail(0), column.tail(1), column.tail(2)), (&[][..], &[2, 0][..], &[1, 0][..]));
        let keys = Keys::Columns(vec![column]).by_records();
        assert!(keys.single().is_none());
        assert_eq!(keys.first_broken(None, 4, None), Some(2));
        assert!(keys.compare(3, &of_float(1.75, false).to_be_bytes()).is_gt());
    }

    #[test]
    fn nulls_are_beside_all_numbers() {
        for descending in [false, true] {
            let first = KeyOrder { nan: Nulls::First, descending, ..KeyOrder::ASCENDING };
            let rules = KeyOrder { invalid: Invalid::Last, ..first };
            let [nan, empty, invalid] =
                [Class::Nan, Class::Empty, Class::Invalid].map(|class| whole(of_null(class, rules)));
            let ends = [f64::NEG_INFINITY, f64::INFINITY].map(|end| of_float(end, descending));
            assert!(ends.iter().all(|&end| nan < end && end < empty) && empty < invalid);
            assert!([nan, empty, invalid].into_iter().all(is_null));
        }
    }

    #[test]
    fn the_first_key_that_does_not_follow() {
        let one = |words: &[u128]| Keys::of_words(words.iter().copied());
        let numbers =
            |numbers: &[i128]| one(&numbers.iter().map(|&it| of_integer(it, false)).collect::<Vec<_>>());
        for large in [3, (1 << 53) + 1] {
            let keys = numbers(&[1, 2, 2, large, 0]).by_records();
            assert_eq!(keys.high().is_some(), large == 3);
            assert_eq!(keys.first_broken(None, 5, None), Some(4));
            assert_eq!(keys.first_broken(None, 5, Some(&[])), Some(2));
            let before = |integer| of_integer(integer, false).to_be_bytes();
            assert_eq!(keys.first_broken(Some(&before(2)), 5, None), Some(0));
            assert_eq!(keys.first_broken(Some(&before(1)), 5, None), Some(4));
        }
        let columns = [[1, 1, 2], [5, 6, 0]]
            .map(|column: [i128; 3]| Column::Whole(column.iter().map(|&it| of_integer(it, false)).collect()));
        let keys = Keys::Columns(columns.into()).by_records();
        assert_eq!(keys.first_broken(None, keys.len(), Some(&[])), None);
        assert_eq!(keys.key(1), [of_integer(1, false), of_integer(6, false)].map(u128::to_be_bytes).concat());
    }
}
