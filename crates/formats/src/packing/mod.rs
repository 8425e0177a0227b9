//! Packs the keys of records into words for a sort: few and narrow, since each takes passes.
//!
//! The words of a key become *codes*, numbers from 0 in the same order: first the nulls placed
//! before the numbers, then the numbers from the least on, then the other nulls. Codes of several
//! keys share words.
//!
//! ```text
//! key words    12, 15, null, 12 ┊ 2.5, 1.0, 1.5, 9.25       of 128 bits each
//! codes         0,  3,    4,  0 ┊   6,   0,   2,  33        3 bits, and 6
//! words        000_000110  011_000000  100_000010  000_100001
//! ```

pub mod codes;
pub mod ties;

pub use self::codes::Codes;
pub use self::ties::Ties;
use super::keys::texts::TextColumn;
use super::keys::{self, Column, Keys};
use crate::key_buf::KeyBuf;
use crate::order::KeyOrder;
use crate::parallel::map_parts;

/// The words that order records by their keys.
pub struct Words<'a> {
    /// At least one word per record, most significant first.
    pub words: Vec<KeyBuf<'a>>,
    /// The ties to settle where all words are equal.
    pub ties: Option<Ties>,
}

/// Returns the words that order records by all of their keys, and the ties if equal words need more. The words are
/// `None` if the higher halves of the first key serve as they are. If `is_spelled_once`, lines with equal numbers
/// are equal, so the whole line need not be compared.
pub fn words(
    all: &[&Keys],
    orders: &[KeyOrder],
    is_spelled_once: bool,
) -> (Option<Vec<KeyBuf<'static>>>, Option<Ties>) {
    let is_alone = orders.get(1).is_none_or(|order| order.is_last_resort);
    let are_halves = is_alone && all.iter().all(|keys| keys.high().is_some());
    let (mut codes, mut ties, mut halves_serve) = (Vec::new(), None, false);
    for (key, &order) in orders.iter().enumerate() {
        let texts: Vec<&TextColumn> = all.iter().filter_map(|keys| keys.columns.get(key)?.texts()).collect();
        if texts.is_empty() {
            match codes_of_numbers(all, key, order, are_halves) {
                Some(of_numbers) => codes.extend(of_numbers),
                None => halves_serve = true,
            }
            let has_tails = |keys: &&Keys| keys.columns.get(key).is_some_and(Column::needs_rows);
            ties = all.iter().any(has_tails).then_some(Ties { key, bytes: 0 });
        } else if order.is_last_resort {
            ties = (!is_spelled_once).then_some(Ties { key, bytes: 0 });
        } else {
            let (of_texts, bytes) = codes::of_texts(&texts, room(&codes));
            codes.push(of_texts);
            ties = bytes.map(|bytes| Ties { key, bytes });
        }
        if ties.is_some() {
            break;
        }
    }
    let lengths = || all.iter().map(|keys| keys.len()).collect::<Vec<_>>();
    ((!halves_serve).then(|| packed(codes, &lengths())), ties)
}

/// Returns the codes of the numbers of a key, most significant first; `None` if the higher halves order the
/// records as well and are no wider.
fn codes_of_numbers(all: &[&Keys], key: usize, order: KeyOrder, are_halves: bool) -> Option<Vec<Codes>> {
    let unit = unit_of(all, key, order);
    // Codes of decimals are hardly ever narrower.
    if are_halves && unit.is_none() && !order.reading.is_time() {
        return None;
    }
    let ranges = map_parts(all, |keys| {
        let mut has_nulls = false;
        let words = keys.words(key).inspect(|&word| has_nulls |= keys::is_null(word));
        (words.filter(|&word| !keys::is_null(word)).map(WordRange::of).reduce(WordRange::and), has_nulls)
    });
    let has_nulls = ranges.iter().any(|(_, has_nulls)| *has_nulls);
    let range = ranges
        .into_iter()
        .filter_map(|(range, _)| range)
        .reduce(WordRange::and)
        .unwrap_or(WordRange::of(keys::of_integer(0, false)));
    // The trailing bits common to all words.
    let alike = (range.any & !range.all).trailing_zeros().min(u128::BITS - 1);
    let of_words = (range.greatest - range.least) >> alike;
    let of_integers = unit.map(|unit| {
        let [least, greatest] = [range.least, range.greatest].map(|word| integer(word, order, unit));
        (least, unit, (greatest - least) as u128)
    });
    let of_integers = of_integers.filter(|&(.., span)| span < of_words);
    let span = of_integers.map_or(of_words, |(.., span)| span);
    let (before, after) = if has_nulls { order.beside_numbers() } else { (0, 0) };
    let ends = [before.into(), u128::from(before) + span];
    let most = ends[1] + u128::from(after);
    if are_halves && most > u32::MAX.into() {
        return None;
    }
    Some(match of_integers {
        Some((least, unit, _)) => {
            codes_of(all, key, ends, most, |word| (integer(word, order, unit) - least) as u128)
        }
        None => codes_of(all, key, ends, most, |word| (word - range.least) >> alike),
    })
}

/// Returns the codes of a key, most significant first. The words of numbers get the codes `first + number(word)`,
/// from `first` to `last`; nulls get the codes beside this range. `most` is the greatest code.
fn codes_of(
    all: &[&Keys],
    key: usize,
    [first, last]: [u128; 2],
    most: u128,
    number: impl Fn(u128) -> u128 + Sync,
) -> Vec<Codes> {
    let code = |word| match keys::rank(word) {
        Some((rank, true)) => first - u128::from(rank),
        Some((rank, false)) => last + 1 + u128::from(rank),
        None => first + number(word),
    };
    let half = |shift: u32| {
        let of_part = |keys: &&Keys| keys.words(key).map(|word| (code(word) >> shift) as u64).collect();
        let most = u64::try_from(most >> shift).unwrap_or(u64::MAX);
        Codes { parts: map_parts(all, of_part), most }
    };
    if u64::try_from(most).is_ok() { vec![half(0)] } else { vec![half(u64::BITS), half(0)] }
}

/// Returns the number of bits for the codes of texts after these codes: the unused bits of a word, or a
/// whole word if fewer than half remain.
pub fn room(before: &[Codes]) -> u32 {
    let used = before.iter().map(|codes| u64::BITS - codes.most.leading_zeros()).sum::<u32>();
    if used > u64::BITS / 2 { u64::BITS } else { u64::BITS - used }
}

/// The range of some words, and the bits that all and any of them have.
#[derive(Clone, Copy)]
struct WordRange {
    least: u128,
    greatest: u128,
    any: u128,
    all: u128,
}

impl WordRange {
    fn of(word: u128) -> Self {
        Self { least: word, greatest: word, any: word, all: word }
    }

    fn and(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            any: self.any | other.any,
            all: self.all & other.all,
        }
    }
}

/// Returns a common divisor of the numbers of a key if they are integers; for times, a divisor in
/// attoseconds.
fn unit_of(all: &[&Keys], key: usize, order: KeyOrder) -> Option<i64> {
    if !order.reading.is_time() {
        let is_integer = |word| keys::is_null(word) || keys::integer(word, order.descending).is_some();
        let are_integers = map_parts(all, |keys| keys.words(key).all(is_integer));
        return are_integers.into_iter().all(|holds| holds).then_some(1);
    }
    let units = map_parts(all, |keys| {
        keys.words(key).filter(|&word| !keys::is_null(word)).fold(keys::SECOND, |mut unit, word| {
            while keys::seconds(word).1 % unit != 0 {
                unit /= 1000;
            }
            unit
        })
    });
    units.into_iter().min()
}

/// Returns the integer of a word, in the order of the words; for a time, in multiples of `unit`.
#[inline]
fn integer(word: u128, order: KeyOrder, unit: i64) -> i128 {
    if order.reading.is_time() {
        let (seconds, fraction) = keys::seconds(word);
        return i128::from(seconds) * i128::from(keys::SECOND / unit) + i128::from(fraction / unit);
    }
    let integer = keys::integer(word, order.descending).expect("all numbers are integers");
    if order.descending { -integer } else { integer }
}

/// Packs the codes, most significant first, into the least number of words, at least one. `records`
/// holds the number of records in each part.
pub fn packed(codes: Vec<Codes>, records: &[usize]) -> Vec<KeyBuf<'static>> {
    let mut words: Vec<(Vec<Vec<u64>>, u32)> = Vec::new();
    for Codes { parts, most } in codes.into_iter().rev() {
        let bits = u64::BITS - most.leading_zeros();
        match words.last_mut() {
            // All records have this code.
            _ if bits == 0 => {}
            Some((word, below)) if *below + bits <= u64::BITS => {
                let pairs: Vec<(Vec<u64>, Vec<u64>)> = std::mem::take(word).into_iter().zip(parts).collect();
                *word = map_parts(pairs, |(mut word, codes)| {
                    word.iter_mut().zip(codes).for_each(|(word, code)| *word |= code << *below);
                    word
                });
                *below += bits;
            }
            _ => words.push((parts, bits)),
        }
    }
    if words.is_empty() {
        return vec![records.iter().map(|&count| vec![0_u32; count]).collect::<Vec<_>>().into()];
    }
    let fit = |(word, bits): (Vec<Vec<u64>>, u32)| {
        if bits > u32::BITS {
            return word.into();
        }
        map_parts(word, |part| part.into_iter().map(|code| code as u32).collect::<Vec<_>>()).into()
    };
    words.into_iter().rev().map(fit).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::order::{Class, Invalid, Nulls, Reading};

    #[test]
    fn codes_share_words_as_long_as_they_fit() {
        let codes = |most: u64| Codes { parts: vec![vec![0, most], vec![most / 2]], most };
        let narrow = |words: &[u32]| KeyBuf::from(words.to_vec());
        let all = |most: &[u64]| packed(most.iter().map(|&most| codes(most)).collect(), &[2, 1]);
        assert_eq!(all(&[0, 0]), [narrow(&[0, 0, 0])]);
        assert_eq!(all(&[3, 0, 4]), [narrow(&[0, 0b11_100, 0b01_010])]);
        let wide = KeyBuf::from(vec![0, u64::MAX, u64::MAX / 2]);
        assert_eq!(all(&[1, u64::MAX]), [narrow(&[0, 1, 0]), wide.clone()]);
        assert_eq!(all(&[u64::MAX, 1]), [wide, narrow(&[0, 1, 0])]);
        let two = KeyBuf::from(vec![0, 7 << 32 | u64::from(u32::MAX), 3 << 32 | u64::from(u32::MAX / 2)]);
        assert_eq!(all(&[7, u32::MAX.into()]), [two]);
    }

    /// Words of a key, and its order.
    fn column() -> impl Strategy<Value = (Vec<u128>, KeyOrder)> {
        let classes = || prop::sample::select(vec![Class::Nan, Class::Empty, Class::Invalid]);
        let with_nulls = move |words: BoxedStrategy<i128>, of: fn(i128, bool) -> u128, reading: Reading| {
            let word = prop_oneof![9 => words.prop_map(Ok), 1 => classes().prop_map(Err)];
            (prop::collection::vec(word, 1..60), any::<bool>()).prop_map(move |(words, descending)| {
                let word = |word| match word {
                    Ok(number) => of(number, descending),
                    Err(class) => keys::of_null(class, RULES),
                };
                (words.into_iter().map(word).collect(), KeyOrder { descending, reading, ..RULES })
            })
        };
        let few = (-9..9_i128).boxed();
        let wide = prop_oneof![any::<u64>().prop_map(i128::from), any::<i64>().prop_map(i128::from)].boxed();
        let days = (-50..50_i128).prop_map(|it| it * 86_400_000_000_000).boxed();
        let times = any::<i64>().prop_map(i128::from).boxed();
        let floats = any::<i64>().boxed();
        let float = |bits: i128, descending| {
            let float = f64::from_bits(bits as u64);
            keys::of_float(if float.is_nan() { 0.5 } else { float }, descending)
        };
        prop_oneof![
            with_nulls(few, keys::of_integer, Reading::Numbers),
            with_nulls(wide, keys::of_integer, Reading::Numbers),
            with_nulls(days, keys::of_nanoseconds, Reading::Times),
            with_nulls(times, keys::of_nanoseconds, Reading::Times),
            with_nulls(floats.prop_map(i128::from).boxed(), float, Reading::Numbers),
        ]
    }

    const RULES: KeyOrder = KeyOrder { nan: Nulls::First, invalid: Invalid::First, ..KeyOrder::ASCENDING };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn words_order_records_as_their_keys_do(columns in prop::collection::vec(column(), 1..4), cut: prop::sample::Index) {
            let records = columns.iter().map(|(words, _)| words.len()).min().unwrap_or(0);
            let key = |record: usize| columns.iter().map(|(words, _)| words[record]).collect::<Vec<_>>();
            let cut = cut.index(records);
            let part = |range: std::ops::Range<usize>| {
                Keys::of(columns.iter().map(|(words, _)| Column::whole(words[range.clone()].to_vec())).collect())
                };
            let parts = [part(0..cut), part(cut..records)];
            let orders: Vec<KeyOrder> = columns.iter().map(|(_, order)| *order).collect();
            let (words, _) = words(&parts.each_ref(), &orders, false);
            let words: Vec<Vec<u64>> = words
                .expect("words are not halves")
                .into_iter()
                .map(|words| match words {
                    KeyBuf::Narrow(blocks) => blocks.concat().into_iter().map(u64::from).collect(),
                    KeyBuf::Wide(blocks) => blocks.concat(),
                })
                .collect();
            let packed = |record: usize| words.iter().map(|word| word[record]).collect::<Vec<_>>();
            for a in 0..records {
                for b in 0..records {
                    prop_assert_eq!(packed(a).cmp(&packed(b)), key(a).cmp(&key(b)), "{} {}", a, b);
                }
            }
        }
    }

    #[test]
    fn words_are_as_narrow_as_they_can_be() {
        let narrow = |number: &dyn Fn(i64) -> u128, reading| {
            let keys = Keys::of_words((0..1000).map(|at| number(at * 7919 % 1000)));
            let orders = [KeyOrder { reading, ..RULES }];
            words(&[&keys], &orders, false).0.is_some_and(|words| matches!(words[..], [KeyBuf::Narrow(_)]))
        };
        // Integers of 31 bits, times of days and of milliseconds; and decimals.
        assert!(narrow(&|at| keys::of_integer((at << 21 | at).into(), false), Reading::Numbers));
        assert!(narrow(
            &|at| keys::of_nanoseconds(i128::from(at) * 86_400_000_000_000, false),
            Reading::Times
        ));
        assert!(narrow(&|at| keys::of_nanoseconds(i128::from(at) * 1_000_000, false), Reading::Times));
        assert!(!narrow(&|at| keys::of_float(at as f64 / 3.0, false), Reading::Numbers));
    }
}
