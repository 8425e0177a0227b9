//! What is right, said independently of the code under test: by the standard library's sorts on the
//! values themselves, never on keys.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use gpusort_planner::key::ElementType;

/// Whether `output` is `input` in ascending order, and the same multiset.
pub fn check_sorted<T: Ord + Copy + Hash + Debug>(input: &[T], output: &[T]) -> Result<(), String> {
    let mut expected = input.to_vec();
    expected.sort();
    first_difference(&expected, output)?;
    check_multiset(input, output)
}

/// Whether both hold the same elements, each as often.
pub fn check_multiset<T: Eq + Copy + Hash + Debug>(input: &[T], output: &[T]) -> Result<(), String> {
    let mut counts: HashMap<T, i64> = HashMap::new();
    input.iter().for_each(|element| *counts.entry(*element).or_default() += 1);
    output.iter().for_each(|element| *counts.entry(*element).or_default() -= 1);
    match counts.into_iter().find(|(_, count)| *count != 0) {
        Some((element, count)) if count > 0 => Err(format!("{element:?} was lost {count} times")),
        Some((element, count)) => Err(format!("{element:?} appeared {} times", -count)),
        None => Ok(()),
    }
}

/// Whether `positions` is the stable ascending order of `keys`.
pub fn check_argsort<T: Ord + Copy + Debug>(keys: &[T], positions: &[u32]) -> Result<(), String> {
    let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
    expected.sort_by_key(|&position| keys[position as usize]);
    first_difference(&expected, positions)
}

/// Whether `output` is the first `k` of `input` in ascending order.
pub fn check_top<T: Ord + Copy + Debug>(input: &[T], k: usize, output: &[T]) -> Result<(), String> {
    let mut expected = input.to_vec();
    expected.sort();
    expected.truncate(k);
    first_difference(&expected, output)
}

/// Whether each run of `slots` in `output` has the first `k` of the next `reach` elements of
/// `input`; and beside them only others of those, or `last`.
pub fn check_runs<T: Ord + Copy + Hash + Debug>(
    input: &[T],
    reach: usize,
    k: usize,
    slots: usize,
    last: T,
    output: &[T],
) -> Result<(), String> {
    if output.len() != input.len().div_ceil(reach) * slots {
        return Err(format!("{} slots", output.len()));
    }
    for (number, (source, run)) in input.chunks(reach).zip(output.chunks(slots)).enumerate() {
        let mut sorted = run.to_vec();
        sorted.sort();
        check_top(source, k, &sorted[..k.min(source.len())]).map_err(|why| format!("run {number}: {why}"))?;
        let mut counts: HashMap<T, i64> = HashMap::new();
        source.iter().for_each(|element| *counts.entry(*element).or_default() += 1);
        for element in sorted.into_iter().filter(|element| *element != last) {
            let count = counts.entry(element).or_default();
            *count -= 1;
            if *count < 0 {
                return Err(format!("run {number}: {element:?} appeared"));
            }
        }
    }
    Ok(())
}

/// These elements, by their bits, in the order of the rules.
pub fn in_order(element: ElementType, descending: bool, bits: &[u64]) -> Vec<u64> {
    let mut bits = bits.to_vec();
    bits.sort_by(|&a, &b| compare(element, descending, a, b));
    bits
}

/// Whether `output` is these elements in the order of the rules, and the same multiset.
pub fn check_elements(
    element: ElementType,
    descending: bool,
    input: &[u64],
    output: &[u64],
) -> Result<(), String> {
    first_difference(&in_order(element, descending, input), output)?;
    check_multiset(input, output)
}

/// Whether `positions` is the stable order of these elements by the rules.
pub fn check_positions(
    element: ElementType,
    descending: bool,
    input: &[u64],
    positions: &[u32],
) -> Result<(), String> {
    let mut expected: Vec<u32> = (0..input.len() as u32).collect();
    expected.sort_by(|&a, &b| compare(element, descending, input[a as usize], input[b as usize]));
    first_difference(&expected, positions)
}

/// Where `output` is not as expected, if it is not.
fn first_difference<T: PartialEq + Debug>(expected: &[T], output: &[T]) -> Result<(), String> {
    match (0..expected.len().max(output.len())).find(|&at| expected.get(at) != output.get(at)) {
        Some(at) => Err(format!(
            "n {}: at {at} expected {:?}, got {:?}",
            expected.len(),
            expected.get(at),
            output.get(at)
        )),
        None => Ok(()),
    }
}

/// How the order rules compare two elements, given by their bits.
pub fn compare(element: ElementType, descending: bool, a: u64, b: u64) -> Ordering {
    let numbers = match element {
        ElementType::U32 | ElementType::U64 | ElementType::U8 | ElementType::U16 => a.cmp(&b),
        ElementType::I8 => (a as u8 as i8).cmp(&(b as u8 as i8)),
        ElementType::I16 => (a as u16 as i16).cmp(&(b as u16 as i16)),
        ElementType::F16 => {
            let value = |bits: u64| half::f16::from_bits(bits as u16).into();
            return compare_floats(value(a), value(b), a, b, 15, descending);
        }
        ElementType::I32 => (a as u32 as i32).cmp(&(b as u32 as i32)),
        ElementType::I64 => (a as i64).cmp(&(b as i64)),
        ElementType::F32 => {
            return compare_floats(
                f32::from_bits(a as u32).into(),
                f32::from_bits(b as u32).into(),
                a,
                b,
                31,
                descending,
            );
        }
        ElementType::F64 => {
            return compare_floats(f64::from_bits(a), f64::from_bits(b), a, b, 63, descending);
        }
    };
    if descending { numbers.reverse() } else { numbers }
}

fn compare_floats(x: f64, y: f64, a: u64, b: u64, sign: u32, descending: bool) -> Ordering {
    let negative = |bits: u64| bits >> sign == 1;
    match (x.is_nan(), y.is_nan()) {
        // NaN is last in both directions: positive by rising bits, then negative by falling bits.
        (true, true) if negative(a) != negative(b) => negative(a).cmp(&negative(b)),
        (true, true) if negative(a) => b.cmp(&a),
        (true, true) => a.cmp(&b),
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => {
            // Zeros are equal as numbers; the negative one comes first.
            let order = x.partial_cmp(&y).unwrap().then(negative(b).cmp(&negative(a)));
            if descending { order.reverse() } else { order }
        }
    }
}

#[test]
fn the_sorted_oracle_fails_where_it_must() {
    let input = [3, 1, 2, 2];
    assert!(check_sorted(&input, &[1, 2, 2, 3]).is_ok());
    for wrong in [&[1, 2, 3][..], &[1, 2, 2, 3, 3], &[1, 2, 3, 2], &[1, 2, 3, 3], &[3, 1, 2, 2], &[]] {
        assert!(check_sorted(&input, wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn the_multiset_oracle_fails_where_it_must() {
    assert!(check_multiset(&[1, 2, 2], &[2, 1, 2]).is_ok());
    for wrong in [&[1, 2][..], &[1, 1, 2], &[1, 2, 2, 2], &[]] {
        assert!(check_multiset(&[1, 2, 2], wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn the_oracles_of_the_top_fail_where_they_must() {
    let input = [3, 1, 2, 2, 9, 8, 7];
    assert!(check_top(&input, 3, &[1, 2, 2]).is_ok());
    assert!(check_top(&input, 9, &[1, 2, 2, 3, 7, 8, 9]).is_ok());
    for wrong in [&[1, 2][..], &[1, 2, 2, 3], &[2, 1, 2], &[1, 2, 3], &[]] {
        assert!(check_top(&input, 3, wrong).is_err(), "{wrong:?}");
    }
    let runs = |output: &[i32]| check_runs(&input, 4, 2, 3, 10, output);
    for right in [[1, 2, 2, 8, 7, 9], [2, 3, 1, 10, 7, 8]] {
        assert!(runs(&right).is_ok(), "{right:?}");
    }
    for wrong in [
        &[1, 2, 2, 8, 7][..],
        &[1, 2, 2, 8, 7, 9, 10],
        &[2, 2, 3, 7, 8, 9],
        &[1, 2, 1, 7, 8, 9],
        &[1, 2, 0, 7, 8, 9],
        &[1, 2, 7, 3, 8, 9],
        &[1, 2, 3, 7, 10, 9],
    ] {
        assert!(runs(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn the_argsort_oracle_fails_where_it_must() {
    let keys = [5, 1, 5, 0];
    assert!(check_argsort(&keys, &[3, 1, 0, 2]).is_ok());
    for wrong in [&[3, 1, 2, 0][..], &[3, 1, 0, 0], &[3, 1, 0], &[0, 1, 2, 3]] {
        assert!(check_argsort(&keys, wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn the_oracles_of_the_rules_fail_where_they_must() {
    let [one, two] = [1.0_f32, 2.0].map(|value| u64::from(value.to_bits()));
    let (zero, minus_zero, nan) = (0, 0x8000_0000, 0x7FC0_0000);
    let input = [two, zero, nan, one, minus_zero, one];
    let elements = |descending, output: &[u64]| check_elements(ElementType::F32, descending, &input, output);
    let positions =
        |descending, output: &[u32]| check_positions(ElementType::F32, descending, &input, output);
    assert_eq!(elements(false, &[minus_zero, zero, one, one, two, nan]), Ok(()));
    assert_eq!(elements(true, &[two, one, one, zero, minus_zero, nan]), Ok(()));
    assert_eq!(positions(false, &[4, 1, 3, 5, 0, 2]), Ok(()));
    assert_eq!(positions(true, &[0, 3, 5, 1, 4, 2]), Ok(()));
    for wrong in [
        &[minus_zero, zero, one, one, two][..],
        &[minus_zero, zero, one, one, two, nan, nan],
        &[zero, minus_zero, one, one, two, nan],
        &[minus_zero, zero, one, two, one, nan],
        &[minus_zero, zero, one, one, two, nan | 1],
        &[minus_zero, zero, one, two, two, nan],
        &[nan, minus_zero, zero, one, one, two],
        &[],
    ] {
        assert!(elements(false, wrong).is_err(), "{wrong:?}");
    }
    for wrong in [&[4, 1, 5, 3, 0, 2][..], &[4, 1, 3, 5, 0], &[4, 1, 3, 3, 0, 2], &[0, 3, 5, 1, 4, 2], &[]] {
        assert!(positions(false, wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn the_comparison_orders_specials_as_the_rules_say() {
    let rising = [f32::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f32::INFINITY].map(f32::to_bits);
    let nans = [0x7F80_0001, 0x7FC0_0000, 0xFFC0_0000, 0xFF80_0001];
    for (descending, numbers) in [
        (false, rising),
        (true, {
            let mut r = rising;
            r.reverse();
            r
        }),
    ] {
        let all: Vec<u64> = numbers.iter().chain(&nans).map(|&bits| bits.into()).collect();
        for (at, &a) in all.iter().enumerate() {
            for (other, &b) in all.iter().enumerate() {
                assert_eq!(compare(ElementType::F32, descending, a, b), at.cmp(&other), "{a:x} {b:x}");
            }
        }
    }
}
