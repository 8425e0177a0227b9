//! Keys of records, from reading to the last merge.
//!
//! ```text
//! words     a number or a time in 128 bits
//! texts     the places of texts
//! column    one key of some records: words, or texts
//! rows      all keys of a record as bytes
//! ```

mod column;
mod rows;
pub mod texts;
mod words;

use std::cmp::Ordering;

pub use self::column::Column;
use self::rows::{Rows, push_row};
use self::texts::TextColumn;
pub use self::words::*;
use super::records::Print;
use crate::memory::prefetch;
use crate::order::{Class, KeyOrder};

/// The keys of some records, one or more per record.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// The columns, one for each key.
    pub columns: Vec<Column>,
    /// Rows of bytes made from the columns, for comparing records of several batches.
    rows: Option<Rows>,
}

impl Keys {
    /// Makes the keys of these columns, for reading and sorting.
    pub fn of(columns: Vec<Column>) -> Self {
        Self { columns, rows: None }
    }

    /// Makes the keys of records with a single key.
    pub(crate) fn of_words(words: impl IntoIterator<Item = u128>) -> Self {
        let mut column = Column::with_capacity(0);
        words.into_iter().for_each(|word| column.push(word));
        Self::of(vec![column])
    }

    /// Converts the keys to their compared form: the words of a single key if they suffice, or rows.
    pub fn by_records(mut self) -> Self {
        if !matches!(&self.columns[..], [column] if !column.needs_rows()) {
            self.make_rows();
        }
        self
    }

    /// Adds the printed line of a single numeric key as a second key.
    ///
    /// # Panics
    ///
    /// Panics if the printed lines exceed 2 GiB.
    pub fn with_lines(self, order: KeyOrder, descending: bool, print: Print) -> Self {
        let Self { mut columns, .. } = self;
        let (mut lines, mut line) = (TextColumn::new(order), Vec::new());
        for record in 0..columns[0].len() {
            line.clear();
            push_text(columns[0].at(record), descending, print, &mut line);
            lines.push_own(&line[..line.len() - 1]).expect("lines of numbers are short");
        }
        columns.push(Column::Texts(lines));
        Self::of(columns)
    }

    /// Returns true if the keys are rows.
    pub fn has_rows(&self) -> bool {
        self.rows.is_some()
    }

    /// Makes the rows of all keys.
    pub fn make_rows(&mut self) {
        self.rows.get_or_insert_with(|| Rows::of(&self.columns));
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// Returns the approximate memory; columns take about the memory of their rows.
    pub fn bytes(&self) -> usize {
        self.rows.as_ref().map_or(size_of::<u128>() * self.len(), |rows| 2 * rows.bytes())
    }

    /// Returns the higher halves of the first key if they suffice, unless the keys are in rows.
    pub fn high(&self) -> Option<&[u64]> {
        match self.columns.first() {
            Some(Column::High(words)) if self.rows.is_none() => Some(words),
            _ => None,
        }
    }

    /// Returns the higher halves of the only key, if they suffice.
    #[inline]
    pub fn single(&self) -> Option<&[u64]> {
        if self.columns.len() == 1 { self.high() } else { None }
    }

    /// Moves the higher halves of the first key out, if they suffice.
    pub fn take_high(&mut self) -> Option<Vec<u64>> {
        if let Column::High(words) = self.columns.first_mut()? { Some(std::mem::take(words)) } else { None }
    }

    /// Prefetches the words of a record.
    #[inline]
    pub fn prefetch(&self, record: usize) {
        self.columns.iter().for_each(|column| match column {
            Column::High(words) if record < words.len() => prefetch(words, record),
            Column::Whole(words, _) if record < words.len() => prefetch(words, record),
            _ => {}
        });
    }

    /// Returns the word of a key of a record.
    #[inline]
    pub fn word(&self, record: usize, key: usize) -> u128 {
        self.columns[key].at(record)
    }

    /// Returns a copy of a record's key, as a row.
    pub fn key(&self, record: usize) -> Vec<u8> {
        if let Some(rows) = &self.rows {
            return rows.row(record).to_vec();
        }
        let mut row = Vec::new();
        push_row(&self.columns, record, &mut row);
        row
    }

    /// Returns the row of a record.
    ///
    /// # Panics
    ///
    /// Panics if the keys have no rows.
    #[inline]
    pub fn row(&self, record: usize) -> &[u8] {
        self.rows.as_ref().expect("these keys have rows").row(record)
    }

    /// Returns true if a key of a record is a null; false for keys that were taken.
    pub fn is_null(&self, record: usize, key: usize) -> bool {
        self.columns.get(key).is_some_and(|column| match column {
            Column::Texts(texts) => texts.null(record).is_some(),
            numbers => is_null(numbers.at(record)),
        })
    }

    /// Keeps the keys of the first `records` records.
    pub fn truncate(&mut self, records: usize) {
        self.columns.iter_mut().for_each(|column| column.truncate(records));
        self.rows.iter_mut().for_each(|rows| rows.truncate(records));
    }

    /// Compares the key of a record with another key, in their compared form.
    pub fn compare(&self, record: usize, other: &[u8]) -> Ordering {
        match &self.rows {
            Some(rows) => rows.row(record).cmp(other),
            None => self.word(record, 0).to_be_bytes()[..].cmp(other),
        }
    }

    /// Returns the number of the first key of a record that differs.
    pub fn first_difference(&self, record: usize, other: &[u8]) -> usize {
        let columns = &self.columns;
        let is_same = |keys: &usize| {
            let mut row = Vec::new();
            push_row(&columns[..*keys], record, &mut row);
            other.starts_with(&row)
        };
        (1..columns.len()).take_while(is_same).count()
    }

    /// Returns the words of this key of all records.
    ///
    /// # Panics
    ///
    /// Panics for a key of texts.
    #[inline]
    pub fn words(&self, key: usize) -> impl Iterator<Item = u128> {
        let (high, wide): (&[u64], &[u128]) = match &self.columns[key] {
            Column::High(words) => (words, &[]),
            Column::Whole(words, _) => (&[], words),
            Column::Texts(_) => panic!("texts have no words"),
        };
        high.iter().map(|&high| whole(high)).chain(wide.iter().copied())
    }

    /// Returns true if a key of a record is an invalid field with a place in the order; false for keys that
    /// were taken, since no field was invalid.
    pub fn has_invalid(&self, record: usize, orders: &[KeyOrder]) -> bool {
        let mut columns = self.columns.iter().zip(orders);
        columns.any(|(column, &order)| column.is_null_of(Class::Invalid, record, order))
    }

    /// Returns the classes of the nulls among the keys of a record; see [`Keys::has_invalid`].
    pub fn nulls(&self, record: usize, orders: &[KeyOrder]) -> impl Iterator<Item = Class> {
        self.columns.iter().zip(orders).filter_map(move |(column, &order)| {
            Class::ALL.into_iter().find(|&class| column.is_null_of(class, record, order))
        })
    }

    /// Returns the first record whose key does not follow the key of the record before;
    /// `before` is the key before the first record. With `unique`, equal keys do not follow either,
    /// except for invalid fields.
    pub fn first_broken(&self, before: Option<&[u8]>, unique: Option<&[KeyOrder]>) -> Option<usize> {
        let may_repeat = |record| unique.is_none_or(|orders| self.has_invalid(record, orders));
        let follows = |order: Ordering, record| order.is_gt() || order.is_eq() && may_repeat(record);
        if self.len() > 0 && before.is_some_and(|before| !follows(self.compare(0, before), 0)) {
            return Some(0);
        }
        (1..self.len()).find(|&record| {
            let order = match &self.rows {
                Some(rows) => rows.row(record).cmp(rows.row(record - 1)),
                None => self.word(record, 0).cmp(&self.word(record - 1, 0)),
            };
            !follows(order, record)
        })
    }
}

#[cfg(test)]
mod tests {
    use gpusort_order::key::ElementType;
    use proptest::prelude::*;

    use super::*;
    use crate::order::{Invalid, Nulls, Reading, TextOrder};

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
        const SECOND: i128 = 1_000_000_000;
        let times = [-SECOND << 62, -SECOND - 1, -SECOND, -1, 0, 1, SECOND - 1, SECOND, SECOND << 62];
        assert!(times.iter().all(|&time| !is_null(of_nanoseconds(time, false))));
        assert!([-1, 1].iter().all(|&sign| !is_null(of_attoseconds((sign * SECOND * SECOND) << 62, true))));
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
        let keys = Keys::of(vec![column]).by_records();
        assert!(keys.single().is_none());
        assert_eq!(keys.first_broken(None, None), Some(2));
        assert!(keys.compare(3, &of_float(1.75, false).to_be_bytes()).is_gt());
    }

    #[test]
    fn records_of_one_text_share_its_row() {
        let reading = Reading::Text(TextOrder::Bytes);
        let mut texts = TextColumn::new(KeyOrder { reading, ..KeyOrder::ASCENDING });
        texts.push_own(b"b").unwrap();
        texts.push_null(Class::Empty);
        texts.push_again(0);
        texts.push_own(b"a").unwrap();
        let mut keys = Keys::of(vec![Column::Texts(texts)]).by_records();
        assert_eq!(keys.row(0).as_ptr(), keys.row(2).as_ptr());
        assert!(keys.row(3) < keys.row(0) && keys.row(0) < keys.row(1));
        assert_eq!(keys.first_broken(None, None), Some(2));
        keys.truncate(3);
        assert_eq!((keys.len(), keys.key(2)), (3, keys.key(0)));
    }

    #[test]
    fn nulls_are_beside_all_numbers() {
        for descending in [false, true] {
            let first = KeyOrder { nan: Nulls::First, descending, ..KeyOrder::ASCENDING };
            let rules = KeyOrder { invalid: Invalid::Last, ..first };
            let [nan, empty, invalid] =
                [Class::Nan, Class::Empty, Class::Invalid].map(|class| of_null(class, rules));
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
            assert_eq!(keys.first_broken(None, None), Some(4));
            assert_eq!(keys.first_broken(None, Some(&[])), Some(2));
            let before = |integer| of_integer(integer, false).to_be_bytes();
            assert_eq!(keys.first_broken(Some(&before(2)), None), Some(0));
            assert_eq!(keys.first_broken(Some(&before(1)), None), Some(4));
        }
        let columns = [[1, 1, 2], [5, 6, 0]]
            .map(|column: [i128; 3]| Column::whole(column.iter().map(|&it| of_integer(it, false)).collect()));
        let keys = Keys::of(columns.into()).by_records();
        assert_eq!(keys.first_broken(None, Some(&[])), None);
        assert_eq!(keys.key(1), [of_integer(1, false), of_integer(6, false)].map(u128::to_be_bytes).concat());
    }
}
