//! Text into keys and back: types of elements, spelling, exact order, errors with their place.

use std::cmp::Ordering;

use gpusort::files::{Options, Sort};
use gpusort::{ElementType, Format, Sorter};
use proptest::prelude::*;

use crate::support::pipeline::{Ask, input, sort, sort_in_parts};

/// A text of numbers, read as this type if there is one.
fn text(content: &[u8], element: Option<ElementType>, descending: bool) -> Options {
    let options = Options::new().format(Format::Text).input(input("in", content, &[]));
    let options = if descending { options.descending() } else { options };
    element.into_iter().fold(options, Options::element)
}

/// The kind of the key of a text, or why it is refused.
fn kind_of(content: &str, element: Option<ElementType>) -> Result<String, String> {
    let sort = Sort::new().options(text(content.as_bytes(), element, false));
    sort.write_to(&mut Vec::new()).map(|report| report.types).map_err(|error| error.to_string())
}

const NPY: Ask = Ask { first: None, positions: false, to: Some(Format::Npy) };

/// The type of an array, as NumPy spells it.
fn described(array: &[u8]) -> String {
    let header = String::from_utf8_lossy(&array[..array.len().min(128)]).into_owned();
    header.split("'descr': '").nth(1).unwrap().split('\'').next().unwrap().to_owned()
}

/// The type of the elements that the numbers of a text become, or why they become none.
fn type_of(content: &str) -> Result<String, String> {
    let array = sort(&Sorter::cpu(), text(content.as_bytes(), None, false), NPY);
    array.map(|array| described(&array.bytes)).map_err(|error| error.to_string())
}

/// What `gpusort sort` prints for this input.
fn sorted(content: &str, element: Option<ElementType>, descending: bool) -> String {
    let sorted = sort(&Sorter::cpu(), text(content.as_bytes(), element, descending), Ask::default()).unwrap();
    String::from_utf8(sorted.bytes).unwrap()
}

/// Elements of these bits as text, in order.
fn printed(bytes: &[u8], element: ElementType) -> Vec<u8> {
    let options = Options::new().format(Format::Binary).element(element).input(input("in", bytes, &[]));
    sort(&Sorter::cpu(), options, Ask { to: Some(Format::Text), ..Ask::default() }).unwrap().bytes
}

#[test]
fn the_type_is_the_first_that_holds_all() {
    for (input, expected) in [
        ("", "<u4"),
        ("1 4294967295", "<u4"),
        ("-0 5", "<u4"),
        ("-1 2147483647", "<i4"),
        ("-2147483648", "<i4"),
        ("4294967296", "<u8"),
        ("18446744073709551615 0", "<u8"),
        ("-1 2147483648", "<i8"),
        ("-2147483649", "<i8"),
        ("-9223372036854775808 9223372036854775807", "<i8"),
        ("1 2.5", "<f8"),
        ("1 inf", "<f8"),
        ("nan", "<f8"),
        ("-5 9223372036854775808", "<f8"),
        ("1e3 20000000000000000000", "<f8"),
        // The value counts, not its spelling.
        ("1 2.", "<u4"),
        ("1e3 -1.0", "<i4"),
    ] {
        assert_eq!(type_of(input).unwrap(), expected, "{input}");
        // As text they are numbers, of no type.
        assert_eq!(kind_of(input, None).unwrap(), "number", "{input}");
    }
}

/// Decimals of one form are read in another way than other numbers, and a part of a text may have one
/// form where the whole has several.
#[test]
fn decimals_of_one_form_have_the_type_of_others() {
    for (one, several) in [("1.0 2.0", "1.0 2"), ("-1.00 7.00", "-1.0 7.00"), ("1.5 2.0", "1.5 2")] {
        assert_eq!(type_of(one), type_of(several), "{one}");
    }
    let content = "1.0\n".repeat(2000) + &"2\n".repeat(2000);
    let options = || text(content.as_bytes(), None, false);
    let whole = sort(&Sorter::cpu(), options(), NPY).unwrap().bytes;
    let (parts, runs) = sort_in_parts(options(), NPY, 1000).unwrap();
    assert!(runs > 1);
    assert_eq!(described(&parts.bytes), described(&whole));
    assert!(parts.bytes == whole);
}

#[test]
fn integers_that_no_type_holds_become_no_elements() {
    for (input, rounded) in [
        ("-1\n18446744073709551615", ["-1", "18446744073709551616"]),
        ("9223372036854775808 -9223372036854775807", ["-9223372036854775808", "9223372036854775808"]),
        ("9007199254740993 1.5", ["1.5", "9007199254740992"]),
    ] {
        let problem = "no element type holds all numbers: f64 rounds the largest integers";
        assert_eq!(type_of(input).unwrap_err(), problem, "{input}");
        let options = text(input.as_bytes(), Some(ElementType::F64), false);
        let elements =
            sort(&Sorter::cpu(), options, Ask { to: Some(Format::Binary), ..Ask::default() }).unwrap();
        let rounded = rounded.map(|number| number.parse::<f64>().unwrap().to_le_bytes());
        assert_eq!(elements.bytes, rounded.concat(), "{input}");
    }
}

/// They must not become the nearest element unnoticed, either.
#[test]
fn numbers_beyond_all_types_become_no_elements() {
    let digits = "9".repeat(40);
    for input in [&digits[..], "-9223372036854775809", "18446744073709551617 1", "1e400", "-1e400 0.5"] {
        let error = type_of(input).unwrap_err();
        assert!(error.contains("hold"), "{input}: {error}");
    }
}

#[test]
fn wrong_input_is_an_error_with_its_place() {
    use ElementType::{F32, F64, I32, I64, U32, U64};
    for (input, element, expected) in [
        ("1\n2\nx3 4", None, "in:3:1: 'x3' is not a number"),
        ("1\n  2 0x10", None, "in:2:5: '0x10' is not a number"),
        ("1.5 1_0", None, "in:1:5: '1_0' is not a number"),
        ("1 # 2", None, "in:1:3: '#' is not a number"),
        ("# 9\n2", None, "in:1:1: '#' is not a number"),
        ("2 1\n#8", None, "in:2:1: '#8' is not a number"),
        ("1e400", Some(F64), "in:1:1: '1e400' is not a number that f64 holds"),
        ("1e39", Some(F32), "in:1:1: '1e39' is not a number that f32 holds"),
        ("5 -1", Some(U32), "in:1:3: '-1' is not a number that u32 holds"),
        ("5\n4294967296", Some(U32), "in:2:1: '4294967296' is not a number that u32 holds"),
        ("1 2147483648", Some(I32), "in:1:3: '2147483648' is not a number that i32 holds"),
        ("1 -1", Some(U64), "in:1:3: '-1' is not a number that u64 holds"),
        ("1 9223372036854775808", Some(I64), "in:1:3: '9223372036854775808' is not a number that i64 holds"),
        ("3.0", Some(U32), "in:1:1: '3.0' is not a number that u32 holds"),
        ("nan", Some(U32), "in:1:1: 'nan' is not a number that u32 holds"),
    ] {
        assert_eq!(kind_of(input, element).unwrap_err(), expected, "{input}");
    }
}

/// Whatever the length, and beyond what any type holds.
#[test]
fn numbers_of_any_length_are_in_exact_order() {
    let (nines, zeros) = ("9".repeat(40), "0".repeat(40));
    let expected = [
        "-inf",
        "-1e400",
        &format!("-{nines}.5"),
        &format!("-{nines}"),
        "-9223372036854775809",
        "-9223372036854775808",
        "-1",
        "1e-400",
        &format!("0.{zeros}09"),
        &format!("0.{zeros}1"),
        "1.5",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.5",
        "18446744073709551615",
        "18446744073709551616",
        &nines,
        &format!("{nines}.5"),
        &format!("1{zeros}"),
        "1e400",
        "inf",
    ];
    let lines = |numbers: &[&str]| numbers.join("\n") + "\n";
    let reversed: Vec<&str> = expected.iter().rev().copied().collect();
    for from in 0..expected.len() {
        for order in [&expected[..], &reversed[..]] {
            let mut input = order.to_vec();
            input.rotate_left(from);
            assert_eq!(sorted(&input.join(" "), None, false), lines(&expected));
            assert_eq!(sorted(&input.join(" "), None, true), lines(&reversed));
        }
    }
}

#[test]
fn the_first_of_several_wrong_tokens_is_named() {
    // Far enough apart to be read by different threads.
    let mut input = "1\n".repeat(400_000);
    input.insert_str(600_000, "bad\n");
    input.push_str("worse\n");
    assert_eq!(kind_of(&input, None).unwrap_err(), "in:300001:1: 'bad' is not a number");
}

#[test]
fn pieces_of_different_width_and_sign_are_joined() {
    // Each part is longer than what one thread reads, and of other numbers than the next.
    let narrow: Vec<i128> = (0..60_000).map(|i| i * 71_399 % 4_294_967_296).collect();
    let negative: Vec<i128> = (0..60_000).map(|i| -(i * 35_729 % 2_147_483_649)).collect();
    let wide: Vec<i128> = (0..30_000).map(|i| 9_223_372_036_854_775_807 - i * 274_177_000_001).collect();
    let wider: Vec<i128> = (0..30_000).map(|i| 18_446_744_073_709_551_615 - i * 67_280_421).collect();
    for parts in [
        vec![&narrow],
        vec![&negative],
        vec![&narrow, &negative],
        vec![&negative, &narrow, &negative],
        vec![&narrow, &wide],
        vec![&wide, &negative, &narrow],
        vec![&wider, &narrow, &wide],
    ] {
        let numbers: Vec<i128> = parts.into_iter().flatten().copied().collect();
        let input: String = numbers.iter().map(|number| format!("{number}\n")).collect();
        // Twice with other spellings, so that the places of tokens are needed too.
        for (input, prefix) in [(input.clone(), ""), (input + "+0\n", "+")] {
            let output = sorted(&input, None, false);
            let mut expected = numbers.clone();
            if !prefix.is_empty() {
                expected.push(0);
            }
            expected.sort_unstable();
            let found: Vec<i128> = output.lines().map(|line| line.parse().unwrap()).collect();
            assert!(found == expected, "the numbers in order");
            assert_eq!(output.matches('+').count(), prefix.len());
        }
    }
}

#[test]
fn tokens_of_every_length_come_out_whole() {
    for length in 1..80 {
        for space in [" ", "\n", "\t", "\r\n", "\r", "\x0b", "\x0c", "\n \t\r\n"] {
            let zeros = "0".repeat(length);
            let input = format!("{zeros}2{space}{zeros}1.5{space}-{zeros}1{space}3");
            let expected = format!("-{zeros}1\n{zeros}1.5\n{zeros}2\n3\n");
            assert_eq!(sorted(&input, None, false), expected);
        }
    }
}

#[test]
fn types_given_by_hand_round_or_refuse() {
    assert_eq!(
        sorted("9007199254740993 1.5 9007199254740992", Some(ElementType::F64), false),
        "1.5\n9007199254740993\n9007199254740992\n"
    );
    assert_eq!(sorted("3 16777217 16777216", Some(ElementType::F32), false), "3\n16777217\n16777216\n");
    assert_eq!(sorted("-1 18446744073709551615", Some(ElementType::F64), true), "18446744073709551615\n-1\n");
}

#[test]
fn spelling_is_kept_and_ties_stay_in_order() {
    assert_eq!(sorted("3\nnan\n-0\n0\n-inf\n1e3\n007\n", None, false), "-inf\n-0\n0\n3\n007\n1e3\nnan\n");
    assert_eq!(sorted("3\nnan\n-0\n0\n-inf\n1e3\n007\n", None, true), "1e3\n007\n3\n-0\n0\n-inf\nnan\n");
    assert_eq!(sorted("+5 05 5 1", None, false), "1\n+5\n05\n5\n");
    assert_eq!(sorted("+5 05 5 1", None, true), "+5\n05\n5\n1\n");
    // Zero has no sign.
    for descending in [false, true] {
        for zeros in ["0 -0 00", "-0 0 00", "-0.0 0 -0", "0.0 -0.0 0.0", "-0.0 0.0 -0.0", "0e5 -.0 +0"] {
            assert_eq!(sorted(zeros, None, descending), zeros.replace(' ', "\n") + "\n");
            assert_eq!(sorted(zeros, Some(ElementType::F64), descending), zeros.replace(' ', "\n") + "\n");
        }
    }
    assert_eq!(sorted("nan -NaN inf", None, true), "inf\nnan\n-NaN\n");
    assert_eq!(sorted("1.10 1.1 1.100", None, false), "1.10\n1.1\n1.100\n");
}

/// The order of the values of tokens, NaN last. None has too many digits for `f64`.
fn by_value(a: &str, b: &str) -> Ordering {
    let [a, b]: [f64; 2] = [a, b].map(|token| token.parse().unwrap());
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Prices and the like need no text to be printed again; anything else among them makes tokens of
/// all.
#[test]
fn decimals_of_one_form_come_out_as_they_were() {
    let tokens: Vec<String> = (0..70_000_i64)
        .map(|i| i * 7919 % 70_001 - 35_000)
        .map(|cents| {
            let sign = if cents < 0 { "-" } else { "" };
            format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
        })
        .collect();
    let mut expected = tokens.clone();
    expected.sort_by(|a, b| by_value(a, b));
    let lines = |tokens: &[String]| tokens.join("\n") + "\n";
    assert_eq!(sorted(&lines(&tokens), None, false), lines(&expected));
    assert_eq!(sorted(&lines(&tokens), Some(ElementType::F64), false), lines(&expected));
    for odd in
        ["5", "0.5", "1e2", "00.50", "+1.50", "-inf", "-0", "-0.00", "1234567890123456.25", "7.500", "nan"]
    {
        for place in [0, 1, 35_000, 70_000] {
            let mut tokens = tokens.clone();
            tokens.insert(place, odd.to_owned());
            let mut expected = tokens.clone();
            expected.sort_by(|a, b| by_value(a, b));
            assert!(sorted(&lines(&tokens), None, false) == lines(&expected), "{odd} {place}");
        }
    }
    assert_eq!(sorted("0.00 -0.00 0.00\n-1.10 2.00", None, false), "-1.10\n0.00\n-0.00\n0.00\n2.00\n");
    // A part of one form beside parts of another: the sign of zero stays, too.
    let zeros = "-0.0\n".repeat(2000) + "0.0\n5\n";
    for memory in [1000, u64::MAX] {
        let parts = sort_in_parts(text(zeros.as_bytes(), None, false), Ask::default(), memory).unwrap().0;
        assert!(parts.bytes == zeros.as_bytes(), "{memory}");
    }
}

#[test]
fn white_space_and_marks() {
    assert_eq!(sorted("\u{feff}", None, false), "");
    assert_eq!(sorted("\u{feff}2 1", None, false), "1\n2\n");
    assert_eq!(sorted(" \r\n\t\n", None, false), "");
    assert_eq!(sorted("2\r\n1\r\n\r\n", None, false), "1\n2\n");
    assert_eq!(sorted("2\r1\r", None, false), "1\n2\n");
    assert_eq!(sorted("2\t1 \x0b0\n\n\x0c3", None, false), "0\n1\n2\n3\n");
    assert_eq!(sorted("2.5\r\n01\r\n\r\n1", None, false), "01\n1\n2.5\n");
}

#[test]
fn floats_print_in_the_shortest_form_that_reads_back() {
    let numbers =
        [f64::NEG_INFINITY, -1.5e300, -0.0, 0.0, 5e-324, 0.1, 1.0, 123_456_789.0, 1e16, 1e300, f64::INFINITY];
    let nan = [f64::NAN, f64::from_bits(f64::NAN.to_bits() | 1 << 63)];
    let bytes: Vec<u8> = numbers.iter().chain(&nan).flat_map(|number| number.to_le_bytes()).collect();
    let out = String::from_utf8(printed(&bytes, ElementType::F64)).unwrap();
    assert_eq!(out, "-inf\n-1.5e300\n-0\n0\n5e-324\n0.1\n1\n123456789\n1e16\n1e300\ninf\nnan\n-nan\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn floats_written_as_text_read_back_the_same(bits: Vec<u64>) {
        let numbers = bits.into_iter().map(f64::from_bits).filter(|number| !number.is_nan());
        let mut numbers: Vec<f64> = numbers.collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        numbers.sort_by(f64::total_cmp);
        let expected: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let options = text(&printed(&bytes, ElementType::F64), Some(ElementType::F64), false);
        let back = sort(&Sorter::cpu(), options, Ask { to: Some(Format::Binary), ..Ask::default() }).unwrap();
        prop_assert_eq!(back.bytes, expected);
    }

    #[test]
    fn singles_written_as_text_read_back_the_same(bits: Vec<u32>) {
        let numbers = bits.into_iter().map(f32::from_bits).filter(|number| !number.is_nan());
        let mut numbers: Vec<f32> = numbers.collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        numbers.sort_by(|a, b| b.total_cmp(a));
        let expected: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let options = text(&printed(&bytes, ElementType::F32), Some(ElementType::F32), true);
        let back = sort(&Sorter::cpu(), options, Ask { to: Some(Format::Binary), ..Ask::default() }).unwrap();
        prop_assert_eq!(back.bytes, expected);
    }

    #[test]
    fn lines_are_a_permutation_in_numeric_order(tokens in proptest::collection::vec("[+-]?(0{0,3}[0-9]{1,12}|[0-9]{1,3}\\.[0-9]{0,4}|\\.[0-9]{1,3}(e[+-]?[0-9]{1,2})?|inf|NaN)", 0..200), separators in "[ \t\r\n\x0b\x0c]{1,3}", descending: bool) {
        let output = sorted(&tokens.join(&separators), None, descending);
        let lines: Vec<&str> = output.lines().collect();
        // By the standard library's own reading of each token, stably.
        let mut expected: Vec<&str> = tokens.iter().map(String::as_str).collect();
        expected.sort_by(|a, b| {
            let is_nan = |token: &str| token.parse::<f64>().unwrap().is_nan();
            let order = by_value(a, b);
            // NaN is last in both directions.
            if descending && !is_nan(a) && !is_nan(b) { order.reverse() } else { order }
        });
        prop_assert_eq!(lines, expected);
    }
}
