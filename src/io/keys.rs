//! Keys of records as 128-bit words, from reading to the last merge: words compare as keys do.
//!
//! ```text
//! number   the nearest f64, in total order   ┊ how far the number is from it, around the middle
//!          64 bits: all of it, mostly        ┊ 64 bits
//! null     beyond all numbers, at either end ┊
//! size     its place, in 128 bits
//! ```
//!
//! So integers and decimals have an order before the type of a column is known, except −0: among
//! integers it equals 0, among decimals it is less. Until then its word is [`MINUS_ZERO`].

use std::cmp::Ordering;

use gpusort_order::key::ElementType;

use super::records::{Print, push_fixed, push_integer};
use super::size;
use super::texts::{Rows, TextColumn, push_row};
use crate::memory::prefetch;
use crate::order::{Class, KeyOrder, Nulls, Reading};

/// The lower half of the word of a number that is a float. It exceeds the distance of any 64-bit
/// integer, or any time, from the nearest float.
pub(crate) const EXACT: u64 = 1 << 32;

/// More than there are classes of nulls at one end; floats but NaN leave as many words.
pub(super) const CLASSES: u64 = 8;

/// An integer −0 as long as nobody knows whether there are decimals: no number is so far from a
/// float.
pub(crate) const MINUS_ZERO: u128 = (1 << 127) | (1 << 63);

/// The word of an integer, or of a time in nanoseconds.
#[inline]
pub(crate) fn of_integer(integer: i128, descending: bool) -> u128 {
    /// Up to here all integers are floats.
    const FEW: i64 = 1 << f64::MANTISSA_DIGITS;
    // The conversions of 128 bits are functions.
    if let Ok(few) = i64::try_from(integer)
        && (-FEW..=FEW).contains(&few)
    {
        return of_float(few as f64, descending);
    }
    let float = integer as f64;
    let rest = i128::from(EXACT) + if descending { float as i128 - integer } else { integer - float as i128 };
    u128::from(high_of(float, descending)) << 64 | rest as u128
}

/// The word of a float that is no NaN.
#[inline]
pub(crate) fn of_float(float: f64, descending: bool) -> u128 {
    whole(high_of(float, descending))
}

/// The higher half of the word of a float that is no NaN.
#[inline]
pub(crate) fn high_of(float: f64, descending: bool) -> u64 {
    let bits = float.to_bits();
    // All bits of negative ones change, and the sign of others.
    let negative = (bits.cast_signed() >> 63).cast_unsigned();
    let total = bits ^ (negative | 1 << 63);
    if descending { !total } else { total }
}

/// The higher half of the word of a null; all of them have the same lower half.
pub(crate) fn of_null(class: Class, rules: KeyOrder) -> u64 {
    let (rank, (before, _)) = (rules.rank(class), rules.beside_numbers());
    if rules.place(class) == Nulls::First { CLASSES + rank - before } else { u64::MAX - CLASSES + rank + 1 }
}

/// Whether a word is that of a null.
pub(crate) fn is_null(word: u128) -> bool {
    let high = (word >> 64) as u64;
    high <= CLASSES || high > u64::MAX - CLASSES
}

/// The rank of a null, counted outwards from the numbers, and whether it is before them; `None` for
/// a number.
#[inline]
pub(crate) fn rank(word: u128) -> Option<(u64, bool)> {
    match (word >> 64) as u64 {
        high @ 0..=CLASSES => Some((CLASSES - high, true)),
        high => high.checked_sub(u64::MAX - CLASSES + 1).map(|rank| (rank, false)),
    }
}

/// The word with this higher half, of a float or a null.
#[inline]
pub(crate) fn whole(high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(EXACT)
}

/// The word of an integer −0, now that it is known whether there are decimals in its column.
pub(crate) fn minus_zero(decimals: bool, rules: KeyOrder) -> u128 {
    let zero = if decimals { -0.0 } else { 0.0 };
    if rules.reading == Reading::Sizes {
        of_place(size::place_of_float(zero), rules.descending)
    } else {
        of_float(zero, rules.descending)
    }
}

/// The word of the place of a size.
pub(crate) fn of_place(place: u128, descending: bool) -> u128 {
    if descending { !place } else { place }
}

/// The word of the element with these bits.
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

/// The float that is nearest to the number of a word, and how far the number is from it; NaN for a
/// null.
#[inline]
fn number(word: u128, descending: bool) -> (f64, i128) {
    if is_null(word) {
        return (f64::NAN, 0);
    }
    let (high, rest) = ((word >> 64) as u64, i128::from(word as u64) - i128::from(EXACT));
    (float(if descending { !high } else { high }), if descending { -rest } else { rest })
}

/// The float with this higher half of an ascending word.
#[inline]
pub(crate) fn float(high: u64) -> f64 {
    f64::from_bits(if high >> 63 == 1 { high & !(1 << 63) } else { !high })
}

/// An integer for the word of one that [`are_integers`] holds for, in the order of the words.
#[inline]
pub(crate) fn integer(word: u128, descending: bool) -> i128 {
    const FEW: f64 = (1_u64 << 62) as f64;
    let (float, rest) = number(word, descending);
    // The conversion to 128 bits is a function.
    let nearest = if float.abs() < FEW { i128::from(float as i64) } else { float as i128 };
    if descending { -nearest - rest } else { nearest + rest }
}

/// Whether the integers between those of these words are of few bits.
pub(crate) fn are_integers(ends: [u128; 2], descending: bool) -> bool {
    const MOST: f64 = (1_u128 << 100) as f64;
    ends.iter().all(|&word| number(word, descending).0.abs() < MOST)
}

/// The bits of the element of this type, which holds it, that the number of a word is.
pub(crate) fn bits(word: u128, descending: bool, element: ElementType) -> u64 {
    let (float, rest) = number(word, descending);
    match element {
        ElementType::F32 if float.is_nan() => f32::NAN.to_bits().into(),
        ElementType::F32 => (float as f32).to_bits().into(),
        ElementType::F64 => float.to_bits(),
        ElementType::U32 | ElementType::I32 => ((float as i128 + rest) as u32).into(),
        _ => (float as i128 + rest) as u64,
    }
}

/// Appends that element.
pub(crate) fn push_element(word: u128, descending: bool, element: ElementType, to: &mut Vec<u8>) {
    to.extend_from_slice(&bits(word, descending, element).to_le_bytes()[..element.bytes()]);
}

/// Appends the number of a word as text, and ends the line.
pub(crate) fn push_text(word: u128, descending: bool, print: Print, to: &mut Vec<u8>) {
    let (float, rest) = number(word, descending);
    match print {
        Print::Fixed(digits) => push_fixed(float, digits, to),
        Print::Shortest => push_integer(float as i128 + rest, to),
    }
}

/// The keys of some records, one or more each.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    /// Column by column, as they are read and sorted.
    Columns(Vec<Column>),
    /// Of records with several keys, the words of a record one after another, as they are compared.
    Records { words: Vec<u128>, each: usize },
    /// Where any of them is text: bytes that are compared, and what these were made of.
    Rows { rows: Rows, columns: Vec<Column> },
}

/// The words of one key of some records, or its texts.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    /// Those of floats and nulls, which their higher halves tell apart.
    High(Vec<u64>),
    Whole(Vec<u128>),
    Texts(TextColumn),
}

/// The keys of a record. Those of one input are of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RecordKey {
    Words(Vec<u128>),
    Row(Vec<u8>),
}

impl RecordKey {
    /// The words.
    pub(crate) fn words(&self) -> &[u128] {
        if let Self::Words(words) = self { words } else { &[] }
    }

    /// The row that has these words, or is this key.
    pub(crate) fn into_row(self) -> Vec<u8> {
        match self {
            Self::Words(words) => words.into_iter().flat_map(u128::to_be_bytes).collect(),
            Self::Row(row) => row,
        }
    }

    /// The row.
    pub(crate) fn row(&self) -> &[u8] {
        if let Self::Row(row) = self { row } else { &[] }
    }
}

impl Keys {
    /// None yet, of records with so many keys.
    pub(crate) fn new(each: usize) -> Self {
        Self::with_capacity(each, 0)
    }

    /// The same with room for so many records.
    pub(super) fn with_capacity(each: usize, records: usize) -> Self {
        if each == 1 {
            Self::Columns(vec![Column::with_capacity(records)])
        } else {
            Self::Records { words: Vec::with_capacity(each * records), each }
        }
    }

    /// As they are compared.
    pub(crate) fn by_records(self) -> Self {
        match self {
            Self::Columns(columns) if columns.iter().any(|column| column.texts().is_some()) => {
                Self::Rows { rows: Rows::of(&columns, None), columns }
            }
            Self::Columns(columns) if columns.len() > 1 => {
                let each = columns.len();
                let mut words = vec![0; columns[0].len() * each];
                for (number, column) in columns.iter().enumerate() {
                    let places = words.iter_mut().skip(number).step_by(each);
                    places.enumerate().for_each(|(record, word)| *word = column.at(record));
                }
                Self::Records { words, each }
            }
            keys => keys,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Columns(columns) => columns.first().map_or(0, Column::len),
            Self::Records { words, each } => words.len() / (*each).max(1),
            Self::Rows { rows, .. } => rows.len(),
        }
    }

    /// How many keys a record has.
    pub(crate) fn each(&self) -> usize {
        match self {
            Self::Columns(columns) | Self::Rows { columns, .. } => columns.len(),
            Self::Records { each, .. } => *each,
        }
    }

    /// What this key is of each record, if that is kept column by column.
    pub(crate) fn column(&self, key: usize) -> Option<&Column> {
        match self {
            Self::Columns(columns) | Self::Rows { columns, .. } => columns.get(key),
            Self::Records { .. } => None,
        }
    }

    /// The texts of this key, if it is text.
    pub(crate) fn texts(&self, key: usize) -> Option<&TextColumn> {
        self.column(key)?.texts()
    }

    /// Whether any key is text.
    pub(crate) fn have_texts(&self) -> bool {
        (0..self.each()).any(|key| self.texts(key).is_some())
    }

    /// The higher halves, if these tell all keys apart, of which there is one for a record.
    pub(crate) fn high(&self) -> Option<&[u64]> {
        if let Self::Columns(columns) = self
            && let [Column::High(words)] = &columns[..]
        {
            return Some(words);
        }
        None
    }

    /// The same.
    pub(crate) fn into_high(self) -> Option<Vec<u64>> {
        let Self::Columns(mut columns) = self else { return None };
        if let Some(Column::High(words)) = columns.pop() { Some(words) } else { None }
    }

    /// Asks for the words of a record, if they are here, which are needed soon.
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

    /// The words of a record, which has no text.
    #[inline]
    pub(crate) fn at(&self, record: usize) -> impl Iterator<Item = u128> + Clone {
        (0..self.each()).map(move |key| self.word(record, key))
    }

    /// The word of a key of a record.
    #[inline]
    pub(crate) fn word(&self, record: usize, key: usize) -> u128 {
        match self {
            Self::Columns(columns) | Self::Rows { columns, .. } => columns[key].at(record),
            Self::Records { words, each } => words[record * each + key],
        }
    }

    /// The key of a record, to be kept.
    pub(crate) fn key(&self, record: usize) -> RecordKey {
        match self {
            Self::Rows { rows, .. } => RecordKey::Row(rows.row(record).to_vec()),
            Self::Columns(columns) if self.have_texts() => {
                let mut row = Vec::new();
                push_row(columns, record, None, &mut row);
                RecordKey::Row(row)
            }
            _ => RecordKey::Words(self.at(record).collect()),
        }
    }

    /// The row of a record.
    #[inline]
    pub(crate) fn row(&self, record: usize) -> &[u8] {
        if let Self::Rows { rows, .. } = self { rows.row(record) } else { &[] }
    }

    /// Whether a key of a record is a null.
    pub(crate) fn is_null(&self, record: usize, key: usize) -> bool {
        self.texts(key).map_or_else(|| is_null(self.word(record, key)), |texts| texts.null(record).is_some())
    }

    /// The word of the only key of a record.
    #[inline]
    pub(crate) fn one(&self, record: usize) -> u128 {
        if let Self::Columns(columns) = self { columns[0].at(record) } else { 0 }
    }

    /// The words of a record with several keys.
    #[inline]
    pub(crate) fn several(&self, record: usize) -> &[u128] {
        if let Self::Records { words, each } = self { &words[record * each..][..*each] } else { &[] }
    }

    /// Adds those of a record, which are compared.
    pub(crate) fn push(&mut self, more: &[u128]) {
        match self {
            Self::Columns(columns) => {
                columns.iter_mut().zip(more).for_each(|(column, &word)| column.push(word));
            }
            Self::Records { words, .. } => words.extend_from_slice(more),
            // These are made of columns.
            Self::Rows { .. } => {}
        }
    }

    /// Keeps those of the first records.
    pub(crate) fn truncate(&mut self, records: usize) {
        match self {
            Self::Columns(columns) => columns.iter_mut().for_each(|column| column.truncate(records)),
            Self::Records { words, each } => words.truncate(records * *each),
            Self::Rows { rows, columns } => {
                rows.truncate(records);
                columns.iter_mut().for_each(|column| column.truncate(records));
            }
        }
    }

    /// The order of a record's keys and these.
    pub(crate) fn compare(&self, record: usize, other: &RecordKey) -> Ordering {
        match self {
            Self::Rows { rows, .. } => rows.row(record).cmp(other.row()),
            _ => self.at(record).cmp(other.words().iter().copied()),
        }
    }

    /// The first key of a record that differs from these.
    pub(crate) fn first_difference(&self, record: usize, other: &RecordKey) -> usize {
        match self {
            Self::Rows { columns, .. } => {
                let is_same = |keys: &usize| {
                    let mut row = Vec::new();
                    push_row(&columns[..*keys], record, None, &mut row);
                    other.row().starts_with(&row)
                };
                (1..columns.len()).take_while(is_same).count()
            }
            _ => self.at(record).zip(other.words()).position(|(word, other)| word != *other).unwrap_or(0),
        }
    }

    /// Whether any of them is an integer −0 of which nobody knows what it is.
    pub(crate) fn have_minus_zeros(&self) -> bool {
        match self {
            Self::Columns(columns) | Self::Rows { columns, .. } => columns.iter().any(Column::has_minus_zero),
            Self::Records { words, .. } => words.contains(&MINUS_ZERO),
        }
    }

    /// Gives the word of this key of each record to `take`, with `zero` for an integer −0 of which
    /// nobody knows what it is.
    #[inline]
    pub(crate) fn for_each(&self, key: usize, zero: u128, mut take: impl FnMut(u128)) {
        let mut take = |word| take(if word == MINUS_ZERO { zero } else { word });
        match self {
            Self::Columns(columns) | Self::Rows { columns, .. } => match &columns[key] {
                Column::High(words) => words.iter().for_each(|&high| take(whole(high))),
                Column::Whole(words) => words.iter().for_each(|&word| take(word)),
                Column::Texts(_) => {}
            },
            Self::Records { words, each } => {
                words.iter().skip(key).step_by(*each).for_each(|&word| take(word));
            }
        }
    }

    /// The first of so many records whose keys do not follow those of the one before it, which for
    /// the first are these.
    pub(crate) fn first_broken(
        &self,
        before: Option<&RecordKey>,
        count: usize,
        unique: bool,
    ) -> Option<usize> {
        fn broken<K: Ord>(words: &[K], follows: impl Fn(Ordering) -> bool) -> Option<usize> {
            words.windows(2).position(|pair| !follows(pair[1].cmp(&pair[0])))
        }
        let follows = |order: Ordering| order.is_gt() || order.is_eq() && !unique;
        if count > 0 && before.is_some_and(|before| !follows(self.compare(0, before))) {
            return Some(0);
        }
        let broken = match self {
            Self::Columns(columns) => match &columns[..] {
                [Column::High(words)] => broken(words, follows),
                [Column::Whole(words)] => broken(words, follows),
                _ => (1..count).position(|at| !follows(self.at(at).cmp(self.at(at - 1)))),
            },
            Self::Records { words, each } => {
                let mut pairs = words.chunks_exact((*each).max(1)).zip(1..);
                let next = |at: usize| words.get(at * each..(at + 1) * each);
                pairs.position(|(key, at)| next(at).is_some_and(|next| !follows(next.cmp(key))))
            }
            Self::Rows { rows, .. } => (1..count).position(|at| !follows(rows.row(at).cmp(rows.row(at - 1)))),
        };
        broken.map(|at| at + 1)
    }
}

impl Column {
    /// None yet; floats have room for so many.
    pub(super) fn with_capacity(records: usize) -> Self {
        Self::High(Vec::with_capacity(records))
    }

    /// One of this order in a run, whose texts are known as such.
    pub(super) fn of_run(order: KeyOrder, records: usize) -> Self {
        match order.reading.text() {
            Some(_) => Self::Texts(TextColumn::with_capacity(order, records)),
            None => Self::with_capacity(records),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::High(words) => words.len(),
            Self::Whole(words) => words.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// The texts, if it is of text.
    pub(super) fn texts(&self) -> Option<&TextColumn> {
        if let Self::Texts(texts) = self { Some(texts) } else { None }
    }

    #[inline]
    pub(super) fn push(&mut self, word: u128) {
        match self {
            Self::Whole(words) => words.push(word),
            Self::High(high) if word as u64 == EXACT => high.push((word >> 64) as u64),
            Self::High(_) => {
                self.widen();
                self.push(word);
            }
            Self::Texts(_) => {}
        }
    }

    /// The same with the higher half of a word of a float or a null.
    #[inline]
    pub(super) fn push_high(&mut self, high: u64) {
        match self {
            Self::High(words) => words.push(high),
            Self::Whole(words) => words.push(whole(high)),
            Self::Texts(_) => {}
        }
    }

    /// Makes the words whole.
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
            Self::Texts(texts) => texts.truncate(records),
        }
    }

    fn has_minus_zero(&self) -> bool {
        matches!(self, Self::Whole(words) if words.contains(&MINUS_ZERO))
    }

    /// Sets the word at this place.
    pub(super) fn set(&mut self, place: usize, word: u128) {
        match self {
            Self::Whole(words) => words[place] = word,
            Self::High(high) if word as u64 == EXACT => high[place] = (word >> 64) as u64,
            Self::High(_) => {
                self.widen();
                self.set(place, word);
            }
            Self::Texts(_) => {}
        }
    }

    #[inline]
    pub(super) fn at(&self, place: usize) -> u128 {
        match self {
            Self::High(words) => whole(words[place]),
            Self::Whole(words) => words[place],
            Self::Texts(_) => 0,
        }
    }
}

/// The keys of records in runs, now that all types are known.
#[derive(Clone)]
pub(crate) struct KeysOfRuns {
    /// The order of each; of text in its form.
    pub(crate) orders: Vec<KeyOrder>,
    /// The word of an integer −0 of each, and whether it is that of a float.
    pub(crate) zeros: Vec<u128>,
    pub(crate) floats: Vec<bool>,
}

impl KeysOfRuns {
    /// Those of words that are in order as they are.
    pub(crate) fn of_words(rules: KeyOrder) -> Self {
        Self { orders: vec![rules], zeros: vec![0], floats: vec![false] }
    }

    /// How many keys are text.
    pub(crate) fn texts(&self) -> usize {
        self.orders.iter().filter(|order| order.reading.text().is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::order::Invalid;

    /// An integer that 64 bits hold, often near where floats end being exact.
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
                prop_assert_eq!(of_x.cmp(&of_y), directed(x.total_cmp(&y)));
                if (a as f64).total_cmp(&x).is_ne() {
                    prop_assert_eq!(of_a.cmp(&of_x), directed((a as f64).total_cmp(&x)));
                }
                prop_assert!(![of_a, of_b, of_x, of_y].iter().any(|&word| is_null(word) || word == MINUS_ZERO));
            }
        }

        #[test]
        fn elements_come_back(bits: u64, descending: bool) {
            for element in ElementType::WIDE {
                let bits = if element.bytes() == 4 { bits & u64::from(u32::MAX) } else { bits };
                let word = of_bits(bits, element, descending, KeyOrder { descending, ..KeyOrder::ASCENDING });
                let mut bytes = Vec::new();
                push_element(word, descending, element, &mut bytes);
                let is_nan = match element {
                    ElementType::F32 => f32::from_bits(bits as u32).is_nan(),
                    ElementType::F64 => f64::from_bits(bits).is_nan(),
                    _ => false,
                };
                if !is_nan {
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
        let one = |words: &[u128]| {
            let mut keys = Keys::new(1);
            words.iter().for_each(|&word| keys.push(&[word]));
            keys
        };
        let numbers =
            |numbers: &[i128]| one(&numbers.iter().map(|&it| of_integer(it, false)).collect::<Vec<_>>());
        for large in [3, (1 << 53) + 1] {
            let keys = numbers(&[1, 2, 2, large, 0]);
            assert_eq!(keys.high().is_some(), large == 3);
            assert_eq!(keys.first_broken(None, 5, false), Some(4));
            assert_eq!(keys.first_broken(None, 5, true), Some(2));
            let before = |integer| RecordKey::Words(vec![of_integer(integer, false)]);
            assert_eq!(keys.first_broken(Some(&before(2)), 5, false), Some(0));
            assert_eq!(keys.first_broken(Some(&before(1)), 5, false), Some(4));
        }
        let columns = [[1, 1, 2], [5, 6, 0]]
            .map(|column: [i128; 3]| Column::Whole(column.iter().map(|&it| of_integer(it, false)).collect()));
        let keys = Keys::Columns(columns.into()).by_records();
        assert_eq!(keys.first_broken(None, keys.len(), true), None);
        assert_eq!(keys.several(1), [of_integer(1, false), of_integer(6, false)]);
    }
}
