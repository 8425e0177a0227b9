//! The form of a key that holds from the reading of its record to the last merge: words, whose order is that of the keys.
//!
//! ```text
//! number   the nearest f64, in total order   ┊ how far the number is from it, around the middle
//!          64 bits: all of it, mostly        ┊ 64 bits
//! null     beyond all numbers, at either end ┊
//! size     its place, in 128 bits
//! ```
//!
//! Integers and decimals are ordered so before the type of a column is known, with one exception: −0 is 0 among integers, and
//! less among decimals. Until that is known its word is [`MINUS_ZERO`].

use std::borrow::Cow;
use std::cmp::Ordering;

use super::records::{Print, push_fixed};
use super::size;
use crate::key::ElementType;
use crate::order::{Class, KeyOrder, Nulls, Reading};
use crate::parallel;
use crate::words::Words;

/// The lower half of a word of a number that is a float: more than any 64-bit integer, or any time, is from the nearest one.
pub(crate) const EXACT: u64 = 1 << 32;

/// More than there are classes of nulls at one end; floats but NaN leave as many words.
const CLASSES: u64 = 8;

/// An integer −0 as long as nobody knows whether there are decimals: no number is so far from a float.
pub(crate) const MINUS_ZERO: u128 = (1 << 127) | (1 << 63);

/// The word of an integer, or of a time in nanoseconds.
#[inline]
pub(crate) fn of_integer(integer: i128, descending: bool) -> u128 {
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
    let total = if float.is_sign_negative() { !bits } else { bits | 1 << 63 };
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

/// The word with this higher half, of a float or a null.
#[inline]
pub(crate) fn whole(high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(EXACT)
}

/// The word of an integer −0, now that it is known whether there are decimals in its column.
pub(crate) fn minus_zero(decimals: bool, descending: bool, rules: KeyOrder) -> u128 {
    let zero = if decimals { -0.0 } else { 0.0 };
    if rules.reading == Reading::Sizes {
        of_place(size::place_of_float(zero), descending)
    } else {
        of_float(zero, descending)
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

/// The float that is nearest to the number of a word, and how far the number is from it; NaN for a null.
fn number(word: u128, descending: bool) -> (f64, i128) {
    if is_null(word) {
        return (f64::NAN, 0);
    }
    let (high, rest) = ((word >> 64) as u64, i128::from(word as u64) - i128::from(EXACT));
    let total = if descending { !high } else { high };
    let bits = if total >> 63 == 1 { total & !(1 << 63) } else { !total };
    (f64::from_bits(bits), if descending { -rest } else { rest })
}

/// Appends the number of a word as an element of this type, which holds it.
pub(crate) fn push_element(word: u128, descending: bool, element: ElementType, to: &mut Vec<u8>) {
    let (float, rest) = number(word, descending);
    match element {
        ElementType::F32 if float.is_nan() => to.extend_from_slice(&f32::NAN.to_le_bytes()),
        ElementType::F32 => to.extend_from_slice(&(float as f32).to_le_bytes()),
        ElementType::F64 => to.extend_from_slice(&float.to_le_bytes()),
        _ => to.extend_from_slice(&(float as i128 + rest).to_le_bytes()[..element.bytes()]),
    }
}

/// Appends the number of a word as text, and ends the line.
pub(crate) fn push_text(word: u128, descending: bool, print: Print, to: &mut Vec<u8>) {
    let (float, rest) = number(word, descending);
    match print {
        Print::Fixed(digits) => push_fixed(float, digits, to),
        Print::Shortest => {
            to.extend_from_slice(itoa::Buffer::new().format(float as i128 + rest).as_bytes());
            to.push(b'\n');
        }
    }
}

/// The keys of some records, one or more each.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    words: Form,
    /// Keys of a record.
    per_record: usize,
}

/// The words of keys, those of a record one after another.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// Those of floats and nulls, which their higher halves tell apart; of records with one key.
    High(Vec<u64>),
    Whole(Vec<u128>),
}

impl Keys {
    /// None yet, of records with so many keys.
    pub(crate) fn new(per_record: usize) -> Self {
        let words = if per_record == 1 { Form::High(Vec::new()) } else { Form::Whole(Vec::new()) };
        Self { words, per_record }
    }

    /// Those of records that have a key each.
    pub(crate) fn of_one(words: Form) -> Self {
        Self { words, per_record: 1 }
    }

    /// Those of records, by columns.
    pub(crate) fn of_columns(mut columns: Vec<Form>) -> Self {
        let per_record = columns.len();
        if per_record == 1 {
            return Self::of_one(columns.remove(0));
        }
        let records = columns.first().map_or(0, Form::len);
        let mut words = vec![0; records * per_record];
        for (number, column) in columns.iter().enumerate() {
            let places = words.iter_mut().skip(number).step_by(per_record.max(1));
            places.enumerate().for_each(|(record, word)| *word = column.at(record));
        }
        Self { words: Form::Whole(words), per_record }
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len() / self.per_record.max(1)
    }

    pub(crate) fn per_record(&self) -> usize {
        self.per_record
    }

    /// The higher halves, if these tell all keys apart.
    pub(crate) fn high(&self) -> Option<&[u64]> {
        if let Form::High(words) = &self.words { Some(words) } else { None }
    }

    /// The words of a record.
    #[inline]
    pub(crate) fn at(&self, record: usize) -> impl Iterator<Item = u128> + Clone {
        (record * self.per_record..(record + 1) * self.per_record).map(|at| self.words.at(at))
    }

    /// The word of the only key of a record.
    #[inline]
    pub(crate) fn one(&self, record: usize) -> u128 {
        self.words.at(record)
    }

    /// The words of a record with several keys.
    #[inline]
    pub(crate) fn several(&self, record: usize) -> &[u128] {
        match &self.words {
            Form::Whole(words) => &words[record * self.per_record..][..self.per_record],
            Form::High(_) => &[],
        }
    }

    /// Adds those of a record.
    pub(crate) fn push(&mut self, words: &[u128]) {
        if let (Form::High(high), [word]) = (&mut self.words, words) {
            if *word as u64 == EXACT {
                high.push((word >> 64) as u64);
                return;
            }
            self.words = Form::Whole(high.iter().map(|&high| whole(high)).collect());
        }
        if let Form::Whole(all) = &mut self.words {
            all.extend_from_slice(words);
        }
    }

    /// Keeps those of the first records.
    pub(crate) fn truncate(&mut self, records: usize) {
        match &mut self.words {
            Form::High(words) => words.truncate(records),
            Form::Whole(words) => words.truncate(records * self.per_record),
        }
    }

    /// The order of a record's keys and these.
    pub(crate) fn compare(&self, record: usize, other: &[u128]) -> Ordering {
        self.at(record).cmp(other.iter().copied())
    }

    /// Whether any of them is an integer −0 of which nobody knows what it is.
    pub(crate) fn have_minus_zeros(&self) -> bool {
        matches!(&self.words, Form::Whole(words) if words.contains(&MINUS_ZERO))
    }

    /// Those of all records as words to sort by, of which the next decides where those before it are equal. An integer −0 is
    /// this of each key.
    pub(crate) fn words<'a>(all: &[&'a Self], zeros: &[u128]) -> Vec<Words<'a>> {
        let high: Option<Vec<_>> = all.iter().map(|keys| Some(Cow::Borrowed(keys.high()?))).collect();
        if let Some(high) = high {
            return vec![Words::Wide(high)];
        }
        let per_record = all.first().map_or(0, |keys| keys.per_record);
        let half = |key: usize, shift: u32| {
            let of_keys = |keys: &&Self| {
                let word = |record| {
                    let word = keys.words.at(record * per_record + key);
                    (if word == MINUS_ZERO { zeros[key] } else { word } >> shift) as u64
                };
                (0..keys.len()).map(word).collect::<Vec<u64>>()
            };
            parallel::map_parts(all.iter(), of_keys)
        };
        let of_key = |key| {
            let (high, low) = (half(key, 64), half(key, 0));
            let is_alike = low.iter().flatten().all(|&low| low == EXACT);
            [Some(high.into()), (!is_alike).then(|| low.into())]
        };
        (0..per_record).flat_map(of_key).flatten().collect()
    }

    /// The first of so many records whose keys do not follow those of the one before it, which for the first are these.
    pub(crate) fn first_broken(&self, before: Option<&[u128]>, count: usize, unique: bool) -> Option<usize> {
        let follows = |order: Ordering| order.is_gt() || order.is_eq() && !unique;
        if count > 0 && before.is_some_and(|before| !follows(self.compare(0, before))) {
            return Some(0);
        }
        let broken = match &self.words {
            Form::High(words) => words.windows(2).position(|pair| !follows(pair[1].cmp(&pair[0]))),
            Form::Whole(words) if self.per_record == 1 => {
                words.windows(2).position(|pair| !follows(pair[1].cmp(&pair[0])))
            }
            Form::Whole(words) => {
                let mut pairs = words.chunks_exact(self.per_record.max(1)).zip(1..);
                let next = |at: usize| words.get(at * self.per_record..(at + 1) * self.per_record);
                pairs.position(|(key, at)| next(at).is_some_and(|next| !follows(next.cmp(key))))
            }
        };
        broken.map(|at| at + 1)
    }
}

impl Form {
    fn len(&self) -> usize {
        match self {
            Self::High(words) => words.len(),
            Self::Whole(words) => words.len(),
        }
    }

    /// Sets the word at this place, which is one of its kind.
    pub(crate) fn set(&mut self, place: usize, word: u128) {
        match self {
            Self::High(words) => words[place] = (word >> 64) as u64,
            Self::Whole(words) => words[place] = word,
        }
    }

    #[inline]
    fn at(&self, place: usize) -> u128 {
        match self {
            Self::High(words) => whole(words[place]),
            Self::Whole(words) => words[place],
        }
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
            assert_eq!(keys.first_broken(Some(&[of_integer(2, false)]), 5, false), Some(0));
            assert_eq!(keys.first_broken(Some(&[of_integer(1, false)]), 5, false), Some(4));
        }
        let columns = [[1, 1, 2], [5, 6, 0]]
            .map(|column: [i128; 3]| Form::Whole(column.iter().map(|&it| of_integer(it, false)).collect()));
        let keys = Keys::of_columns(columns.into());
        assert_eq!(keys.first_broken(None, keys.len(), true), None);
        assert_eq!(keys.several(1), [of_integer(1, false), of_integer(6, false)]);
    }
}
