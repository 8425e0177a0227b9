//! Tables and .npy files beside an oracle in Python, which was written independently: unique records, the first few, positions,
//! checks and merges, as the command and as the library order them.

use std::fs;
use std::path::Path;

use gpusort::io::binary::Source;
use gpusort::io::csv::{By, Dialect};
use gpusort::io::{Direction, Input, Place, Rules, Text};
use gpusort::key::ElementType;
use gpusort::{Sorter, Wanted};

use crate::device;
use crate::support::command::BINARY;
use crate::support::files::Folder;
use crate::support::pipeline::{Form, argsort_binary, sort_binary, sort_table, write_positions};
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
    let sorter = Sorter::gpu(device::start());
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
    let place = |name: &str| match what[name].as_str().unwrap() {
        "first" => Place::First,
        "last" => Place::Last,
        "skip" => Place::Skip,
        _ => Place::Error,
    };
    let strings = |name: &str| {
        let values = what[name].as_array().unwrap().iter();
        values.map(|value| value.as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    let inputs: Vec<Input> = strings("files").iter().map(|name| Input::File(folder.join(name))).collect();
    let wanted = Wanted { unique: flag("unique"), top: what["top"].as_u64().map(|top| top as usize) };
    let rules = Rules { nan: place("nan"), empty: place("empty"), invalid: place("invalid") };
    let descending = flag("reverse");
    let form = if flag("table") || flag("to_text") { Form::Text } else { Form::Binary };
    if flag("table") {
        let text = Text::read(&inputs, |_| {}).unwrap();
        let dialect =
            Dialect { delimiter: what["delimiter"].as_u64().unwrap() as u8, header: flag("header") };
        let element = what["type"].as_str().unwrap().parse().ok();
        let by = By { columns: strings("keys"), descending, element, rules };
        let sorted = sort_table(sorter, text, dialect, &by, wanted).unwrap();
        assert!(wanted.unique || sorted.repeated == 0, "rows were left out");
        assert!(rules.invalid != Place::Error || sorted.counts.invalid == 0, "what is invalid was let pass");
        return if flag("argsort") { write_positions(&sorted.positions, form) } else { sorted.bytes };
    }
    let (kind, size) = what["dtype"].as_str().unwrap().trim_start_matches(['<', '>', '|']).split_at(1);
    let element: ElementType = format!("{kind}{}", 8 * size.parse::<u32>().unwrap()).parse().unwrap();
    let source = |input: Input| match input.path().unwrap().extension() {
        Some(npy) if npy == "npy" => Source::npy(input).unwrap(),
        _ => Source::raw(input, element),
    };
    let sources: Vec<Source> = inputs.into_iter().map(source).collect();
    let direction = Direction { descending, nan: rules.nan };
    if flag("argsort") {
        write_positions(&argsort_binary(sorter, &sources, direction, wanted).unwrap(), form)
    } else {
        sort_binary(sorter, &sources, direction, wanted, form).unwrap()
    }
}
