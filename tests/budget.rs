//! Sorting in little memory: the same bytes, and the same errors, as with all memory.

use gpusort::files::{Key, Kind, Options};
use gpusort::{ElementType, Format, Sorter};
use proptest::prelude::*;

use crate::support::pipeline::{Ask, differs_in_parts, input, sort, sort_in_parts};
use crate::support::texts::{cases, direction};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn texts_and_tables_come_out_as_with_all_memory(
        case in cases(&[&["1"], &["2:r", "1"], &["1", "2"]]),
        first in prop::option::weighted(0.2, 0..90_u64),
        format in prop::sample::select(vec![Format::Text, Format::Text, Format::Binary, Format::Npy]),
        positions in prop::bool::weighted(0.3),
        bytes in 512..4000_u64,
    ) {
        let format = if case.is_table() && !positions { None } else { Some(format) };
        let ask = Ask { first, positions, to: format };
        let whole = sort(&Sorter::cpu(), case.options(), ask).map_err(|error| error.to_string());
        let whole = whole.as_ref().map_err(String::as_str);
        prop_assert_eq!(differs_in_parts(case.options(), case.may_differ(), ask, bytes, whole), None);
    }

    #[test]
    fn elements_come_out_as_with_all_memory(
        words in prop::collection::vec(prop_oneof![any::<u64>(), 0..9_u64], 0..900),
        element in prop::sample::select(ElementType::ALL.to_vec()),
        direction in direction(),
        unique in any::<bool>(),
        first in prop::option::weighted(0.2, 0..90_u64),
        format in prop::sample::select(vec![Format::Text, Format::Binary, Format::Npy]),
        positions in prop::bool::weighted(0.3),
        reads in prop::collection::vec(1..50_usize, 0..3),
        bytes in 512..4000_u64,
    ) {
        let raw: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let halves = raw.split_at(raw.len() / 2 / 8 * 8);
        let options = || {
            let inputs = [halves.0, halves.1].map(|half| input("input", half, &reads));
            let options = inputs.into_iter().fold(direction.clone(), Options::input);
            let options = options.format(Format::Binary).element(element);
            if unique { options.unique() } else { options }
        };
        let ask = Ask { first, positions, to: Some(format) };
        let whole = sort(&Sorter::cpu(), options(), ask).map_err(|error| error.to_string());
        let whole = whole.as_ref().map_err(String::as_str);
        prop_assert_eq!(differs_in_parts(options(), false, ask, bytes, whole), None);
    }
}

/// Many runs, so that the tests above test something.
#[test]
fn little_memory_makes_runs_and_more_makes_none() {
    let text: String = (0..5000_u64).map(|i| format!("{}\n", i * 7919 % 5003)).collect();
    let runs = |positions, memory| {
        let options = Options::new().format(Format::Text).input(input("input", text.as_bytes(), &[]));
        sort_in_parts(options, Ask { positions, ..Ask::default() }, memory).unwrap().1
    };
    assert_eq!(runs(false, 1 << 20), 0);
    assert_eq!(runs(true, 3 << 20), 0);
    for positions in [false, true] {
        let some = runs(positions, 100_000);
        assert!((2..20).contains(&some), "{some}");
        assert!(runs(positions, 1000) > 50);
    }
}

/// With so much memory that the next text is read while the one before it is sorted.
#[test]
fn what_is_read_ahead_comes_out_as_well() {
    let line = |i: u64| format!("{}.{}\n", i * 7919 % 100_003, if i.is_multiple_of(3) { "50" } else { "25" });
    let mut text: String = (0..200_000).map(line).collect();
    let table: String = text.lines().zip(0..).map(|(line, row)| format!("{row},{line}\n")).collect();
    let numbers = Options::new().format(Format::Text);
    let rows = || Options::new().format(Format::Csv).header(false).kind(Kind::Number);
    let same = |text: &str, options: Options| {
        let options = || options.clone().input(input("input", text.as_bytes(), &[]));
        for positions in [false, true] {
            let ask = Ask { positions, ..Ask::default() };
            let whole = sort(&Sorter::cpu(), options(), ask).map_err(|error| error.to_string());
            let whole = whole.as_ref().map_err(String::as_str);
            assert_eq!(differs_in_parts(options(), false, ask, 1 << 20, whole), None);
            if whole.is_ok() {
                assert!(sort_in_parts(options(), ask, 1 << 20).unwrap().1 > 5);
            }
        }
    };
    same(&text, numbers.clone());
    same(&table, rows().key(Key::number(2)));
    text += "x\n";
    same(&text, numbers);
}

/// Parts that follow each other go on with one run, which nothing has to be merged with.
#[test]
fn what_is_in_order_by_large_is_one_run() {
    let numbers: Vec<String> = (0..5000_u64).map(|i| (i / 3).to_string()).collect();
    let text = numbers.join("\n") + "\n";
    let decimals = numbers.iter().map(|number| format!("{number}.25,x\n")).collect::<String>();
    let binary: Vec<u8> = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
    let rows = Options::new().format(Format::Csv).header(false).key("1");
    let elements = Options::new().format(Format::Binary).element(ElementType::U32);
    for (options, bytes) in [
        (Options::new().format(Format::Text), text.as_bytes()),
        (Options::new().format(Format::Lines), text.as_bytes()),
        (rows.clone(), decimals.as_bytes()),
        (rows.unique(), decimals.as_bytes()),
        (elements, &binary[..]),
    ] {
        let runs = |options: Options, positions| {
            let options = options.input(input("input", bytes, &[]));
            sort_in_parts(options, Ask { positions, ..Ask::default() }, 10_000).unwrap().1
        };
        for positions in [false, true] {
            assert_eq!(runs(options.clone(), positions), 1, "{options:?}");
            assert!(runs(options.clone().descending(), positions) > 5, "{options:?}");
        }
    }
}

#[test]
fn a_record_that_the_memory_is_too_little_for_is_refused_with_the_number() {
    let table = format!("a,b\n2,x\n1,{}\n", "y".repeat(40 << 20));
    let unclosed = table.replace(",y", ",\"y");
    // A record is not to be shown where this fails.
    let runs = |table: &str, reads: &[usize], memory| {
        let options = Options::new().format(Format::Csv).key("a");
        let options = options.input(input("in", table.as_bytes(), reads));
        sort_in_parts(options, Ask::default(), memory).map(|(_, runs)| runs)
    };
    // A pipe may have no end.
    for (table, reads, problem) in [
        (&table, &[][..], "this record has 40.0 MiB and needs a memory budget of 33 MiB instead of 1 MiB"),
        (&table, &[1 << 20], "this record has more than 24.5 MiB, too much for a memory budget of 1 MiB"),
        (&unclosed, &[], "a quote opened in this row is never closed; add the closing quote"),
    ] {
        let error = runs(table, reads, 1 << 20).unwrap_err();
        assert!(error.to_string().starts_with(&format!("in:3: {problem}")), "{error}");
        assert_eq!(error.hint().is_some(), problem.contains("budget"));
    }
    assert!(runs(&table, &[], 33 << 20).is_ok());
    let whole = runs(&unclosed, &[], u64::MAX).unwrap_err();
    assert_eq!(whole.to_string(), runs(&unclosed, &[], 1 << 20).unwrap_err().to_string());
}
