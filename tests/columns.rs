//! Rows ordered by several columns, against a stable sort by comparing them.

use std::cmp::Ordering;

use gpusort::columns::{Column, argsort, is_sorted};
use gpusort::{Element, ElementType, Sorter};
use half::f16;

use crate::inputs::random;
use crate::oracle::compare;
use crate::support::tier;

/// A column as the test knows it: of each row its bits or its text, or a null.
struct Known {
    element: Option<ElementType>,
    bits: Vec<u64>,
    texts: Vec<Vec<u8>>,
    valid: Option<Vec<bool>>,
    descending: bool,
    nulls_first: bool,
}

impl Known {
    fn compare(&self, a: usize, b: usize) -> Ordering {
        let is_null = |row: usize| self.valid.as_ref().is_some_and(|valid| !valid[row]);
        let beside = |a: bool, b: bool| if self.nulls_first { b.cmp(&a) } else { a.cmp(&b) };
        let by_null = beside(is_null(a), is_null(b));
        if by_null.is_ne() || is_null(a) {
            return by_null;
        }
        let Some(element) = self.element else {
            let by_text = self.texts[a].cmp(&self.texts[b]);
            return if self.descending { by_text.reverse() } else { by_text };
        };
        let is_nan = |row: usize| self.is_nan(self.bits[row]);
        let by_nan = beside(is_nan(a), is_nan(b));
        if by_nan.is_ne() || is_nan(a) {
            return by_nan;
        }
        compare(element, self.descending, self.bits[a], self.bits[b])
    }

    fn is_nan(&self, bits: u64) -> bool {
        match self.element {
            Some(ElementType::F16) => f16::from_bits(bits as u16).is_nan(),
            Some(ElementType::F32) => f32::from_bits(bits as u32).is_nan(),
            Some(ElementType::F64) => f64::from_bits(bits).is_nan(),
            _ => false,
        }
    }
}

fn elements<T: Element>(bits: &[u64]) -> Vec<T>
where
    T::Word: TryFrom<u64>,
{
    let word = |&bits: &u64| T::from_word(T::Word::try_from(bits).ok().unwrap());
    bits.iter().map(word).collect()
}

/// It as the library takes it, with the first bits of a bitmap skipped; its memory is never freed.
fn column(known: &Known, first: usize) -> Column<'static> {
    macro_rules! numbers {
        ($($name:ident $type:ty),*) => {
            match known.element {
                $(Some(ElementType::$name) => Column::numbers(elements::<$type>(&known.bits).leak()),)*
                None => {
                    let texts: &[Vec<u8>] = known.texts.clone().leak();
                    Column::texts(texts.len(), |row| &texts[row])
                }
            }
        };
    }
    let mut column = numbers!(
        U8 u8, I8 i8, U16 u16, I16 i16, F16 f16, U32 u32, I32 i32, F32 f32, U64 u64, I64 i64, F64 f64
    );
    if let Some(valid) = &known.valid {
        let mut bytes = vec![0xA5; (first + valid.len()).div_ceil(8)];
        for (bit, &is_valid) in (first..).zip(valid) {
            bytes[bit / 8] &= !(1 << (bit % 8));
            bytes[bit / 8] |= u8::from(is_valid) << (bit % 8);
        }
        column = column.valid(bytes.leak(), first);
    }
    column = if known.descending { column.descending() } else { column };
    if known.nulls_first { column.nulls_first() } else { column }
}

/// A column of `rows` of this kind, from random words.
fn known(words: &mut impl Iterator<Item = u64>, rows: usize) -> Known {
    let mut word = || words.next().unwrap();
    let types = ElementType::ALL.map(Some);
    let element = *types.iter().chain([&None; 5]).nth(word() as usize % (types.len() + 5)).unwrap();
    let mask = element.map_or(0, |element| u64::MAX >> (64 - 8 * element.bytes()));
    let (shape, with_nulls, flags) = (word() % 4, word() % 3, word());
    let bits = (0..rows).map(|_| {
        mask & match shape {
            // Few, all over the range, close together, and bits of the highest and lowest.
            0 => (word() % 5).wrapping_mul(0x4567_89AB_CDEF_0123),
            1 => word(),
            2 => word() % 1000,
            _ => {
                if word() % 2 == 0 {
                    u64::MAX - word() % 3
                } else {
                    word() % 3
                }
            }
        }
    });
    let bits: Vec<u64> = bits.collect();
    let beginning: &[u8] = if shape % 2 == 0 { b"" } else { b"https://www.example.com/a/long/beginning/" };
    let texts = (0..if element.is_none() { rows } else { 0 }).map(|_| {
        let ends = match shape {
            0 | 1 => format!("{}", word() % 7).into_bytes(),
            2 => word().to_le_bytes()[..word() as usize % 9].to_vec(),
            _ => format!("{:020}", word() % 4000).into_bytes(),
        };
        [beginning, &ends].concat()
    });
    let texts = texts.collect();
    let nulls = [0, 10, 2][with_nulls as usize];
    let valid = (nulls > 0).then(|| (0..rows).map(|_| !word().is_multiple_of(nulls)).collect());
    Known { element, bits, texts, valid, descending: flags & 1 == 1, nulls_first: flags & 2 == 2 }
}

#[test]
fn rows_are_in_the_order_of_their_columns() {
    let (cases, most) = (tier::count(1500, 200), 1 << 15);
    let mut words = random(42);
    for case in 0..cases {
        // Of several parts now and then.
        let rows = match case % 20 {
            0 => most + words.next().unwrap() as usize % 100,
            1 => case % 3,
            _ => words.next().unwrap() as usize % 300,
        };
        let count = 1 + words.next().unwrap() as usize % 4;
        let all: Vec<Known> = (0..count).map(|_| known(&mut words, rows)).collect();
        let mut expected: Vec<u32> = (0..rows as u32).collect();
        expected.sort_by(|&a, &b| {
            let by_column = all.iter().map(|known| known.compare(a as usize, b as usize));
            by_column.fold(Ordering::Equal, Ordering::then)
        });
        let kinds: Vec<_> = all.iter().map(|known| known.element).collect();
        let columns: Vec<Column> = all.iter().map(|known| column(known, case % 11)).collect();
        assert_eq!(argsort(&columns).unwrap(), expected, "case {case}: {rows} rows of {kinds:?}");
    }
}

#[test]
fn columns_of_no_order_are_refused() {
    let message = |columns: &[Column]| argsort(columns).unwrap_err().to_string();
    assert_eq!(message(&[]), "no columns to sort by");
    assert_eq!(message(&[Column::numbers(&[1, 2]), Column::numbers(&[1.0])]), "columns of 2 and 1 rows");
    let wrong = std::panic::catch_unwind(|| Column::numbers(&[0_u8; 9]).valid(&[0xFF], 0).descending());
    assert!(wrong.is_err());
    let (none, _) = Sorter::cpu().argsort_columns(&[Column::numbers::<u8>(&[])]).unwrap();
    assert!(none.is_empty());
}

#[test]
fn order_and_first_rows_are_those_of_a_sort() {
    let texts: Vec<String> =
        (0..100_000_u32).map(|row| format!("{:3}", row.wrapping_mul(2_654_435_761) % 500)).collect();
    let numbers: Vec<f64> =
        (0..100_000).map(|row| if row % 9 == 0 { f64::NAN } else { f64::from(row % 77) }).collect();
    let columns = |at: &[u32]| {
        let numbers: Vec<f64> = at.iter().map(|&row| numbers[row as usize]).collect();
        let texts: Vec<&str> = at.iter().map(|&row| texts[row as usize].as_str()).collect();
        (texts, numbers)
    };
    let all: Vec<u32> = (0..100_000).collect();
    let check = |at: &[u32]| {
        let (texts, numbers) = columns(at);
        let columns =
            [Column::texts(at.len(), |row| texts[row].as_bytes()).descending(), Column::numbers(&numbers)];
        (is_sorted(&columns).unwrap(), argsort(&columns).unwrap(), {
            Sorter::cpu().argtop_columns(&columns, 10).unwrap().0
        })
    };
    let (in_order, order, first) = check(&all);
    assert!(!in_order && first == order[..10]);
    assert!(check(&order).0);
    for at in [1 << 15, 99_999] {
        let mut lost = order.clone();
        lost.swap(0, at);
        assert!(!check(&lost).0, "{at}");
    }
    assert!(is_sorted(&[]).is_err());
}
