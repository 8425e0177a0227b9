//! Tables and .npy files beside an oracle in Python, which was written independently: unique
//! records, the first few, positions, checks and merges, as the command and as the library order
//! them.

use std::fs;
use std::path::Path;

use gpusort::files::{Invalid, Key, Kind, Nulls, Options};
use gpusort::{ElementType, Format, Sorter};

use crate::device;
use crate::support::command::BINARY;
use crate::support::files::Folder;
use crate::support::pipeline::{Ask, sort};
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

/// Almost every case with more than some rows makes several runs, and some so many that they are
/// merged twice.
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

/// As many of the oracle's cases as `GPUSORT_CASES` says, in one process, which starts its device
/// once.
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

/// The keys of a case; with letters of text and without any, all of a line is one.
fn keys(what: &serde_json::Value) -> Vec<Key> {
    let flag = |name: &str| what[name].as_bool().unwrap();
    let keys: Vec<Key> =
        what["keys"].as_array().unwrap().iter().map(|key| Key::parse(key.as_str().unwrap())).collect();
    if !keys.is_empty() || !flag("lines") || flag("numeric") || !(flag("versions") || flag("fold")) {
        return keys;
    }
    vec![Key::record().kind(if flag("versions") { Kind::Version } else { Kind::Text })]
}

/// Sets an option.
type Set = fn(Options) -> Options;

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
    let files: Vec<_> = strings("files").iter().map(|name| folder.join(name)).collect();
    let mut options = files.iter().fold(Options::new().nan(nulls("nan")), Options::input);
    if flag("reverse") {
        options = options.descending();
    }
    if flag("unique") {
        options = options.unique();
    }
    let mut ask = Ask { first: what["top"].as_u64(), positions: flag("argsort"), to: None };
    if flag("table") {
        let type_named = what["type"].as_str().unwrap();
        let named = Kind::ALL.into_iter().find(|(name, _)| *name == type_named);
        if let Some((_, kind)) = named {
            options = options.kind(kind);
        }
        if let Ok(element) = type_named.parse() {
            options = options.element(element);
        }
        let format = match (flag("text"), flag("lines")) {
            (true, _) => Format::Text,
            (_, true) => Format::Lines,
            _ => Format::Csv,
        };
        options = options.format(format);
        if format != Format::Text {
            options = keys(what).into_iter().fold(options, Options::key);
            let header = if flag("header") { what["above"].as_u64().unwrap() as usize + 1 } else { 0 };
            options = options.header_rows(header);
            // Those that are said mean more.
            if flag("empty_said") {
                options = options.empty(nulls("empty"));
            }
            if flag("invalid_said") {
                options = options.invalid(invalid);
            }
            let flags: [(&str, Set); 5] = [
                ("leading", Options::leading),
                ("zero", Options::zero_terminated),
                ("comments", Options::comments),
                ("numeric", Options::numeric),
                ("fold", Options::ignore_case),
            ];
            options = flags
                .into_iter()
                .filter(|(name, _)| flag(name))
                .fold(options, |options, (_, set)| set(options));
            options = strings("na").into_iter().fold(options, Options::na);
            let mark = |name: &str| what[name].as_str().unwrap().chars().next();
            options = mark("decimal").into_iter().fold(options, Options::decimal);
            options = mark("thousands").into_iter().fold(options, Options::thousands);
            match what["delimiter"].as_u64().unwrap() as u8 {
                0 => {}
                byte => options = options.delimiter(byte),
            }
        }
    } else {
        let (kind, size) = what["dtype"].as_str().unwrap().trim_start_matches(['<', '>', '|']).split_at(1);
        let element: ElementType = format!("{kind}{}", 8 * size.parse::<u32>().unwrap()).parse().unwrap();
        let is_npy = files[0].extension().is_some_and(|extension| extension == "npy");
        options = options.format(if is_npy { Format::Npy } else { Format::Binary }).element(element);
        ask.to = Some(if flag("to_text") { Format::Text } else { Format::Binary });
    }
    let sorted = sort(sorter, options, ask).unwrap();
    assert!(flag("unique") || sorted.repeated == 0, "records were left out");
    assert!(invalid != Invalid::Error || sorted.counts.invalid == 0, "what is invalid was let pass");
    sorted.bytes
}
