//! Tables and .npy files beside an oracle in Python, which was written independently: unique records, the first few, positions,
//! checks and merges, as the command and as the library order them.

use std::fs;
use std::path::Path;

use gpusort::unstable::io::binary::Source;
use gpusort::unstable::io::csv::{By, Dialect, Fields};
use gpusort::unstable::io::{Format, Input, LineEnd, PerLine};
use gpusort::unstable::io::{How, Kind};
use gpusort::unstable::order::{Invalid, KeyOrder, Nulls, Reading, Selection};
use gpusort::{ElementType, Sorter};

use crate::device;
use crate::support::command::BINARY;
use crate::support::files::Folder;
use crate::support::pipeline::sort;
use crate::support::python::python;
use crate::support::tier;

#[test]
fn the_oracle_fails_where_it_must() {
    python("selftest.py", &[]);
}

#[test]
fn tables_and_arrays_come_out_as_the_oracle_says() {
    let cases = tier::count(10_000, 2000).to_string();
    python("run.py", &[BINARY, "--cases", &cases, "--extra", "-d cpu -q"]);
}

/// Almost every case with more than some rows makes several runs, and some so many that they are merged twice.
#[test]
fn tables_and_arrays_come_out_so_in_little_memory() {
    let cases = tier::count(2000, 500).to_string();
    python("run.py", &[BINARY, "--cases", &cases, "--seed", "3", "--extra", "-d cpu -q --memory 1"]);
}

#[test]
fn the_gpu_gives_the_same_bytes_as_the_cpu() {
    let device = format!("-d {}", device::name());
    python(
        "run.py",
        &[BINARY, "--cases", "100", "--seed", "2", "--extra", "-d cpu -q", "--compare", &device],
    );
}

/// As many of the oracle's cases as `GPUSORT_CASES` says, in one process, which starts its device once.
#[test]
fn the_gpu_orders_tables_and_arrays_as_the_oracle_says() {
    let folder = Folder::new();
    let cases = std::env::var("GPUSORT_CASES").unwrap_or_else(|_| tier::count(1000, 300).to_string());
    python("run.py", &[BINARY, "--cases", &cases, "--write", &folder.arg("")]);
    let sorter = Sorter::on(device::start());
    let mut done = 0;
    for case in fs::read_dir(folder.root()).unwrap() {
        let case = case.unwrap().path();
        let expected = fs::read(case.join("expected")).unwrap();
        let what: serde_json::Value =
            serde_json::from_slice(&fs::read(case.join("case.json")).unwrap()).unwrap();
        let found = order_on(&sorter, &case, &what);
        assert!(found == expected, "case {}: {what}", case.file_name().unwrap().display());
        done += 1;
    }
    assert!(done > cases.parse::<usize>().unwrap() / 2, "{done} cases");
    println!("{done} cases as expected");
}

/// What a case makes of its files, by the library.
fn order_on(sorter: &Sorter, folder: &Path, what: &serde_json::Value) -> Vec<u8> {
    let flag = |name: &str| what[name].as_bool().unwrap();
    let nulls = |name: &str| match what[name].as_str().unwrap() {
        "first" => Nulls::First,
        "last" => Nulls::Last,
        _ => Nulls::Error,
    };
    let invalid = match what["invalid"].as_str().unwrap() {
        "first" => Invalid::First,
        "last" => Invalid::Last,
        "skip" => Invalid::Skip,
        _ => Invalid::Error,
    };
    let strings = |name: &str| {
        let values = what[name].as_array().unwrap().iter();
        values.map(|value| value.as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    let inputs: Vec<Input> = strings("files").iter().map(|name| Input::File(folder.join(name))).collect();
    let selection = Selection { unique: flag("unique"), first: what["top"].as_u64().map(|top| top as usize) };
    let order = KeyOrder {
        descending: flag("reverse"),
        nan: nulls("nan"),
        empty: nulls("empty"),
        invalid,
        leading: flag("leading"),
        reading: match what["type"].as_str().unwrap() {
            "time" => Reading::Times,
            "size" => Reading::Sizes,
            "auto" if flag("table") && !flag("leading") && !flag("text") => Reading::NumbersOrTimes,
            _ => Reading::Numbers,
        },
    };
    let by = |columns, element| By { columns, element, order };
    let (kind, by, format) = if flag("table") {
        let delimiter = what["delimiter"].as_u64().unwrap() as u8;
        let line_end = if flag("zero") { LineEnd::Nul } else { LineEnd::Lf };
        let fields = match (flag("lines"), delimiter) {
            _ if flag("text") => Fields::Tokens,
            (true, 0) => Fields::Blanks(line_end),
            (true, byte) => Fields::Split(byte, line_end),
            (false, byte) => Fields::Quoted(byte),
        };
        let dialect = Dialect { fields, header: flag("header"), comments: false };
        let mut keys = strings("keys");
        if fields.are_of_lines() && keys.is_empty() {
            keys.push("1".to_owned());
        }
        let by = by(keys, what["type"].as_str().unwrap().parse().ok());
        let kind = if flag("text") && order.reading == Reading::Numbers {
            Kind::Text(PerLine::Any)
        } else {
            Kind::Table(dialect)
        };
        let format = if flag("argsort") || flag("text") { Format::Text } else { Format::Csv };
        (kind, by, format)
    } else {
        let (kind, size) = what["dtype"].as_str().unwrap().trim_start_matches(['<', '>', '|']).split_at(1);
        let element: ElementType = format!("{kind}{}", 8 * size.parse::<u32>().unwrap()).parse().unwrap();
        let source = |input: &Input| match input.path().unwrap().extension() {
            Some(npy) if npy == "npy" => Source::npy(input.clone()).unwrap(),
            _ => Source::raw(input.clone(), element),
        };
        let sources = inputs.iter().map(source).collect();
        let format = if flag("to_text") { Format::Text } else { Format::Binary };
        (Kind::Bits(sources), by(Vec::new(), None), format)
    };
    let how = How { kind, by };
    let sorted = sort(sorter, &inputs, &how, selection, flag("argsort"), format).unwrap();
    assert!(selection.unique || sorted.repeated == 0, "records were left out");
    assert!(invalid != Invalid::Error || sorted.counts.invalid == 0, "what is invalid was let pass");
    sorted.bytes
}
