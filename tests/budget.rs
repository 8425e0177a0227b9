//! Sorting in little memory: the same bytes, and the same errors, as with all memory.

use gpusort::unstable::io::binary::Source;
use gpusort::unstable::io::csv::{By, Dialect, Fields};
use gpusort::unstable::io::{Format, Input, Memory, PerLine};
use gpusort::unstable::io::{How, Kind};
use gpusort::unstable::order::{KeyOrder, Selection};
use gpusort::unstable::runs::Budget;
use gpusort::{ElementType, Sorter};
use proptest::prelude::*;

use crate::support::pipeline::{ask, differs_in_parts, sort, sort_in_parts};
use crate::support::texts::{Case, cases, order};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn texts_and_tables_come_out_as_with_all_memory(
        case in cases(&[&["1"], &["2:r", "1"], &["1", "2"]]),
        first in prop::option::weighted(0.2, 0..90_usize),
        format in prop::sample::select(vec![Format::Text, Format::Text, Format::Binary, Format::Npy]),
        positions in prop::bool::weighted(0.3),
        bytes in 512..4000_u64,
    ) {
        let format = if case.is_table() && !positions { Format::Csv } else { format };
        let Case { inputs, how, unique } = &case;
        let unique = *unique;
        let selection = Selection { unique, first };
        let whole = sort(&Sorter::cpu(), inputs, how, selection, positions, format);
        let whole = whole.map_err(|error| error.to_string());
        let whole = whole.as_ref().map_err(String::as_str);
        let (ask, budget) = (ask(selection, positions, format), Budget::of(bytes));
        prop_assert_eq!(differs_in_parts(inputs, how, ask, &budget, whole), None);
    }

    #[test]
    fn elements_come_out_as_with_all_memory(
        words in prop::collection::vec(prop_oneof![any::<u64>(), 0..9_u64], 0..900),
        element in prop::sample::select(ElementType::ALL.to_vec()),
        order in order(),
        unique in any::<bool>(),
        first in prop::option::weighted(0.2, 0..90_usize),
        format in prop::sample::select(vec![Format::Text, Format::Binary, Format::Npy]),
        positions in prop::bool::weighted(0.3),
        reads in prop::collection::vec(1..50_usize, 0..3),
        bytes in 512..4000_u64,
    ) {
        let raw: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let halves = raw.split_at(raw.len() / 2 / 8 * 8);
        let input = |bytes: &[u8]| Input::Memory(Memory::new("input", bytes, &reads));
        let inputs = [input(halves.0), input(halves.1)];
        let sources = inputs.iter().map(|input| Source::raw(input.clone(), element)).collect();
        let how = How { kind: Kind::Bits(sources), by: By { columns: Vec::new(), element: None, order } };
        let selection = Selection { unique, first };
        let whole = sort(&Sorter::cpu(), &inputs, &how, selection, positions, format);
        let whole = whole.map_err(|error| error.to_string());
        let whole = whole.as_ref().map_err(String::as_str);
        let (ask, budget) = (ask(selection, positions, format), Budget::of(bytes));
        prop_assert_eq!(differs_in_parts(&inputs, &how, ask, &budget, whole), None);
    }
}

/// Many runs, so that the tests above test something.
#[test]
fn little_memory_makes_runs_and_more_makes_none() {
    let text: String = (0..5000_u64).map(|i| format!("{}\n", i * 7919 % 5003)).collect();
    let inputs = [Input::Memory(Memory::new("input", text.as_bytes(), &[]))];
    let how = How {
        kind: Kind::Text(PerLine::Any),
        by: By { columns: Vec::new(), element: None, order: KeyOrder::ASCENDING },
    };
    let runs = |positions, budget| {
        let ask = ask(Selection::ALL, positions, Format::Text);
        sort_in_parts(&inputs, &how, ask, &budget).unwrap().1
    };
    assert_eq!(runs(false, Budget::of(1 << 20)), 0);
    assert_eq!(runs(true, Budget::of(3 << 20).with_positions()), 0);
    for positions in [false, true] {
        let some = runs(positions, Budget::of(100_000));
        assert!((2..20).contains(&some), "{some}");
        assert!(runs(positions, Budget::of(1000)) > 50);
    }
}

/// With so much memory that the next text is read while the one before it is sorted.
#[test]
fn what_is_read_ahead_comes_out_as_well() {
    let line = |i: u64| format!("{}.{}\n", i * 7919 % 100_003, if i.is_multiple_of(3) { "50" } else { "25" });
    let mut text: String = (0..200_000).map(line).collect();
    let table: String = text.lines().zip(0..).map(|(line, row)| format!("{row},{line}\n")).collect();
    let by = |column: &str| By {
        columns: column.split_terminator(',').map(str::to_owned).collect(),
        element: None,
        order: KeyOrder::ASCENDING,
    };
    let table_of = Kind::Table(Dialect { fields: Fields::Quoted(b','), header: false, comments: false });
    let budget = || Budget::of(1 << 20);
    let same = |text: &str, how: &How| {
        let inputs = [Input::Memory(Memory::new("input", text.as_bytes(), &[]))];
        for positions in [false, true] {
            let format =
                if matches!(how.kind, Kind::Text(_)) || positions { Format::Text } else { Format::Csv };
            let whole = sort(&Sorter::cpu(), &inputs, how, Selection::ALL, positions, format);
            let whole = whole.map_err(|error| error.to_string());
            let whole = whole.as_ref().map_err(String::as_str);
            let ask = ask(Selection::ALL, positions, format);
            assert_eq!(differs_in_parts(&inputs, how, ask, &budget(), whole), None);
            if whole.is_ok() {
                assert!(sort_in_parts(&inputs, how, ask, &budget()).unwrap().1 > 5);
            }
        }
    };
    let how = How { kind: Kind::Text(PerLine::Any), by: by("") };
    same(&text, &how);
    same(&table, &How { kind: table_of, by: by("2") });
    text += "x\n";
    same(&text, &how);
}
