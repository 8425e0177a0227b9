//! Tables, lines and JSON Lines beside an oracle in Python (`tests/contract`), which was written from the
//! rules alone: sorts, the first few, positions, checks and merges, as the command and as the library
//! order them.

use std::fs;
use std::path::Path;

use gpusort::files::{Invalid, Kind, Nulls, Options};
use gpusort::{Format, Sorter};
use serde_json::Value;

use crate::device;
use crate::support::command::BINARY;
use crate::support::files::Folder;
use crate::support::pipeline::{Ask, sort};
use crate::support::python::{generated, python};
use crate::support::tier;

/// Compares the command with the oracle. Cases that the rules do not decide are left out.
fn compare(cases: usize, args: &[&str]) {
    let cases = cases.to_string();
    python("contract/run.py", &[&[BINARY, "--cases", &cases, "--skip-undecided"], args].concat());
}

/// Wrong output, exit codes and messages, in each of the configurations below.
#[test]
fn the_comparison_fails_where_it_must() {
    python("contract/test_run.py", &["--quiet"]);
}

#[test]
fn tables_and_lines_come_out_as_the_oracle_says() {
    compare(tier::count(10_000, 2000), &["--extra=-d cpu -q"]);
}

/// Almost every case with more than some rows makes several runs, and some so many that they are
/// merged twice.
#[test]
fn tables_and_lines_come_out_so_in_little_memory() {
    compare(tier::count(2000, 500), &["--seed", "3", "--scale", "10", "--extra=-d cpu -q --memory 1"]);
}

#[test]
fn the_gpu_gives_the_same_bytes_as_the_cpu() {
    let device = format!("--compare=-d '{}'", device::name());
    compare(100, &["--seed", "2", "--extra=-d cpu -q", &device]);
}

/// Compares counts, first records and shuffles with Python's; a third of the cases has little memory.
#[test]
fn answers_come_out_as_python_has_them() {
    generated("tables/answers.py", 10_000, 1000);
}

/// As many of the oracle's cases as `GPUSORT_CASES` says, in one process, which starts its device
/// once.
#[test]
fn the_gpu_orders_tables_and_lines_as_the_oracle_says() {
    let folder = Folder::new();
    let cases = std::env::var("GPUSORT_CASES").unwrap_or_else(|_| tier::count(1000, 300).to_string());
    python("contract/run.py", &["--cases", &cases, "--seed", "4", "--write", &folder.arg("")]);
    let sorter = Sorter::on(device::start());
    let mut done = 0;
    for case in fs::read_dir(folder.root()).unwrap() {
        let case = case.unwrap().path();
        let expected = fs::read(case.join("expected")).unwrap();
        let what: Value = serde_json::from_slice(&fs::read(case.join("case.json")).unwrap()).unwrap();
        let found = order_on(&sorter, &case, &what);
        assert!(found == expected, "case {}: {what}", case.file_name().unwrap().display());
        done += 1;
    }
    assert!(done > cases.parse::<usize>().unwrap() / 2, "{done} cases");
    println!("{done} cases as expected");
}

/// Sets an option.
type Set = fn(Options) -> Options;

/// What the library makes of the files of a case, with the options that `case.json` has.
fn order_on(sorter: &Sorter, folder: &Path, what: &Value) -> Vec<u8> {
    let flag = |name: &str| what[name].as_bool().unwrap();
    let word = |name: &str| what[name].as_str().filter(|word| !word.is_empty());
    let words = |name: &str| {
        let values = what[name].as_array().unwrap().iter();
        values.map(|value| value.as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    let nulls = |name: &str| match word(name).unwrap() {
        "first" => Nulls::First,
        "last" => Nulls::Last,
        _ => Nulls::Error,
    };
    let invalid = match word("invalid").unwrap() {
        "first" => Invalid::First,
        "last" => Invalid::Last,
        "skip" => Invalid::Skip,
        _ => Invalid::Error,
    };
    let mut options = Options::new().nan(nulls("nan")).empty(nulls("empty"));
    options = words("files").iter().map(|name| folder.join(name)).fold(options, Options::input);
    options = words("keys").iter().map(String::as_str).fold(options, Options::key);
    options = words("na").into_iter().fold(options, Options::na);
    options = words("time_formats").into_iter().fold(options, Options::time_format);
    options = match word("kind") {
        None => options,
        Some("number") => options.numeric(),
        Some(named) => {
            options.kind(Kind::ALL.into_iter().find(|(name, _)| *name == named).expect("it is a kind").1)
        }
    };
    if let Some(format) = word("format") {
        options = options.format(format.parse::<Format>().unwrap());
    }
    if let Some(rows) = what["header"].as_u64() {
        options = options.header_rows(rows as usize);
    }
    // What is said means more than the default.
    if invalid != Invalid::Error {
        options = options.invalid(invalid);
    }
    let mark = |name: &str| word(name).and_then(|word| word.chars().next());
    options = mark("decimal").filter(|&mark| mark != '.').into_iter().fold(options, Options::decimal);
    options = mark("thousands").into_iter().fold(options, Options::thousands);
    options = mark("delimiter").map(|mark| mark as u8).into_iter().fold(options, Options::delimiter);
    let flags: [(&str, Set); 6] = [
        ("reverse", Options::descending),
        ("unique", Options::unique),
        ("leading", Options::leading),
        ("zero", Options::zero_terminated),
        ("comments", Options::comments),
        ("nocase", Options::ignore_case),
    ];
    options =
        flags.into_iter().filter(|(name, _)| flag(name)).fold(options, |options, (_, set)| set(options));
    let ask = Ask { first: what["top"].as_u64(), positions: flag("argsort"), to: None };
    let sorted = sort(sorter, options, ask).unwrap_or_else(|error| panic!("{}: {error}", what["command"]));
    assert!(flag("unique") || sorted.repeated == 0, "records were left out");
    assert!(invalid != Invalid::Error || sorted.counts.invalid == 0, "what is invalid was let pass");
    sorted.bytes
}
