//! Parquet and Arrow: beside a slow sort in Python whose results pyarrow, `DuckDB` and Polars read, and
//! damaged files.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray, StructArray,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{Field, Schema};
use gpusort::Format;
use gpusort::files::{Check, Input, Key, Merge, Sort};

use crate::support::command::{self, BINARY, exits, gpusort, refused, run, sorted, stderr};
use crate::support::files::{Folder, fixture};
use crate::support::inputs::random;
use crate::support::process::{end, peak_while_alive, send, wait_until};
use crate::support::python::{generated, python};
use crate::support::tier;

#[test]
fn tables_of_columns_come_out_as_the_oracle_says() {
    generated("tables/columns.py", 1000, 100);
}

#[test]
fn points_come_out_along_the_curve() {
    generated("tables/hilbert.py", 1500, 150);
}

#[test]
fn values_are_held_by_conversions() {
    generated("tables/conversions.py", 1500, 200);
}

/// Compares counts, first rows and shuffles with Python's.
#[test]
fn answers_come_out_as_the_oracle_says() {
    generated("tables/groups.py", 300, 30);
}

#[test]
fn layouts_come_out_as_the_oracle_says() {
    generated("tables/layout.py", 1000, 100);
}

#[test]
fn a_folder_is_whole_or_not_there() {
    let folder = Folder::new();
    let table: String = (0..60_000).map(|row| format!("{},{row}\n", row * 7919 % 60_000)).collect();
    let csv = folder.write("a.csv", format!("k,at\n{table}"));
    let (parquet, out) = (folder.arg("a.parquet"), folder.arg("out"));
    assert!(
        run(&["sort", "-q", "-k", "at", "--row-group-rows", "7000", &csv, "-o", &parquet], "")
            .status
            .success()
    );
    let split = ["sort", "-q", "-k", "k", &parquet, "-o", &out, "--split-size", "100K"];
    assert_eq!(stderr(&run(&split, "")), "");
    let names = |folder: &str| {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let whole = names(&out);
    assert_eq!(whole[..2], ["_SUCCESS", "manifest.json"]);
    assert_eq!(whole[2], "part-00000.parquet");
    assert!(whole.len() > 6, "{whole:?}");
    let manifest = folder.arg("out/manifest.json");
    assert!(run(&["check", &manifest], "").status.success());
    // A folder with files is left as it is.
    let error = refused(&split, "");
    assert!(error.contains("out: cannot write: the folder is not empty; name a new folder"), "{error}");
    assert_eq!(names(&out), whole);
    // Parts are inputs like others.
    let parts: Vec<String> = whole[2..].iter().map(|name| folder.arg(&format!("out/{name}"))).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let merged = sorted(&[&["merge", "-q", "-k", "k", "--to", "csv"], &parts[..]].concat(), "");
    assert_eq!(merged, sorted(&["sort", "-q", "-k", "k", &csv], ""));
    // A change of a part, a missing one and a further one are found.
    let (first, bytes) = (parts[0], fs::read(parts[0]).unwrap());
    let mut changed = bytes.clone();
    changed[5] ^= 1;
    fs::write(first, &changed).unwrap();
    assert_eq!(run(&["check", &manifest], "").status.code(), Some(1));
    fs::remove_file(first).unwrap();
    assert!(stderr(&run(&["check", &manifest], "")).contains("part-00000.parquet: is missing"));
    fs::write(first, &bytes).unwrap();
    fs::write(folder.arg("out/part-99999.parquet"), &bytes).unwrap();
    assert!(stderr(&run(&["check", &manifest], "")).contains("part-99999.parquet: is not in the manifest"));
    // An error in the last row group leaves nothing, and an empty folder as it was.
    let mut damaged = fs::read(&parquet).unwrap();
    let page = damaged.len() / 2;
    damaged[page..page + 2000].fill(0xFF);
    let (damaged, none) = (folder.write("b.parquet", damaged), folder.arg("none"));
    fs::create_dir(folder.arg("empty")).unwrap();
    for to in [&none, &folder.arg("empty")] {
        refused(&["sort", "-k", "k", &damaged, "-o", to, "--split-size", "20K"], "");
    }
    assert!(names(&folder.arg("empty")).is_empty());
    assert!(!folder.path("none").exists());
    let below = folder.arg("none/below");
    let error = refused(&["sort", "-k", "k", &parquet, "-o", &below, "--split-size", "20K"], "");
    assert!(error.contains("below: cannot write: No such file or directory"), "{error}");
    let file =
        refused(&["sort", "-k", "k", &parquet, "-o", &csv, "--to", "parquet", "--split-size", "20K"], "");
    assert!(file.contains("a.csv: cannot write: Not a directory"), "{file}");
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_leaves_no_folder() {
    let folder = Folder::new();
    let table: String = (0..400_000).map(|row| format!("{}\n", row * 7919_u64 % 400_000)).collect();
    let (csv, out) = (folder.write("a.csv", format!("k\n{table}")), folder.arg("out"));
    let parquet = folder.arg("a.parquet");
    assert!(run(&["sort", "-q", "-k", "k:r", &csv, "-o", &parquet], "").status.success());
    let mut were_caught = 0;
    for _ in 0..20 {
        let args = ["sort", "-q", "-k", "k", &parquet, "-o", &out, "--split-size", "1K"];
        let mut child = gpusort(&args).spawn().unwrap();
        wait_until("a folder", || folder.path("out").exists() || child.try_wait().unwrap().is_some());
        send("-INT", &child);
        if end(&mut child).code() == Some(130) {
            were_caught += 1;
            assert_eq!(folder.names(), ["a.csv", "a.parquet"]);
        } else {
            assert!(folder.path("out/_SUCCESS").exists());
            fs::remove_dir_all(folder.path("out")).unwrap();
        }
    }
    assert!(were_caught > 0);
}

#[test]
fn each_type_comes_out_as_the_table_says() {
    let cases = tier::count(2000, 100).to_string();
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/types.md");
    let seed = tier::seed().to_string();
    python("tables/kinds.py", &[BINARY, document, "--cases", &cases, "--seed", &seed]);
}

/// A sort of these bytes in all memory, or in the least.
fn sort(bytes: &[u8], format: Format, is_whole: bool) -> Option<Vec<u8>> {
    let memory = if is_whole { u64::MAX } else { 1 };
    let input = Input::bytes("x", bytes);
    let sort =
        Sort::new().input(input).format(format).key(Key::number(1)).memory(memory).to(Format::JsonLines);
    let mut out = Vec::new();
    sort.write_to(&mut out).ok()?;
    Some(out)
}

/// The footer of the last one lacks the rows of the first, even where both have one layout.
#[test]
fn two_files_in_one_are_refused() {
    let folder = Folder::new();
    let table = |numbers: &str| {
        let (text, table) = (folder.write("in.csv", numbers), folder.arg("out.parquet"));
        assert!(run(&["-q", "-k", "a", &text, "-o", &table], "").status.success());
        fs::read(&table).unwrap()
    };
    let [first, second] = ["a\n1\n2\n", "a\n3\n4\n"].map(table);
    assert!(sort(&second, Format::Parquet, true).is_some());
    let both = Input::bytes("x", &[first, second].concat()[..]);
    let sort = Sort::new().input(both).format(Format::Parquet).key(Key::number(1));
    let said = sort.write_to(&mut Vec::new()).unwrap_err().to_string();
    assert!(said.contains("it holds several Parquet files; pass each as an input of its own"), "{said}");
}

/// What is read is an error, or the same in all memory and in little; no byte makes it anything
/// else.
#[test]
fn damaged_tables_are_refused() {
    let mut refused = 0;
    let cases = tier::count(3000, 400);
    for (name, format) in [("cities.parquet", Format::Parquet), ("cities.arrow", Format::Arrow)] {
        let whole = fs::read(fixture(name)).unwrap();
        let (rows, mut numbers) = (sort(&whole, format, true).unwrap(), random(tier::seed()));
        assert_eq!(sort(&whole, format, false).as_ref(), Some(&rows));
        assert_eq!(rows.split(|&byte| byte == b'\n').count(), 9, "{}", String::from_utf8_lossy(&rows));
        for _ in 0..cases {
            let numbers: Vec<u64> = numbers.by_ref().take(4).collect();
            let mut bytes = whole.clone();
            let place = numbers[0] as usize % bytes.len();
            match numbers[1] % 4 {
                0 => bytes.truncate(place),
                1 => bytes[place] ^= 1 << (numbers[2] % 8),
                2 => bytes[place] = [0, 0xFF, 0x7F, 0x80][numbers[2] as usize % 4],
                _ => drop(bytes.drain(place..(place + numbers[3] as usize % 9).min(whole.len()))),
            }
            let [one, other] = [true, false].map(|is_whole| sort(&bytes, format, is_whole));
            assert_eq!(one, other, "{name} with {numbers:?}");
            refused += usize::from(one.is_none());
        }
    }
    assert!(refused > cases / 2, "{refused} were refused");
}

/// The levels of a column for rows that no other column has. In little memory, columns are read apart.
#[test]
fn a_page_with_more_values_than_rows_is_refused() {
    let folder = Folder::new();
    let (text, table) = (folder.write("in.csv", "a,b\n1,\n2,3\n,4\n"), folder.arg("out.parquet"));
    assert!(run(&["-q", "-k", "a", &text, "-o", &table], "").status.success());
    let whole = fs::read(&table).unwrap();
    // The header of a page of data, and its number of values, in zigzag.
    let head = |number: u8| [0x2C, 0x15, 2 * number];
    let places: Vec<usize> = (0..whole.len() - 3).filter(|&at| whole[at..at + 3] == head(3)).collect();
    assert_eq!(places.len(), 2);
    for place in places {
        for number in [2, 4, 7, 9] {
            let mut bytes = whole.clone();
            bytes[place..place + 3].copy_from_slice(&head(number));
            for is_whole in [true, false] {
                assert_eq!(sort(&bytes, Format::Parquet, is_whole), None, "{number} values, {is_whole}");
            }
        }
    }
}

/// The header of a dictionary claims a billion numbers, and the library would take memory for them.
#[cfg(target_os = "linux")]
#[test]
fn a_dictionary_that_claims_too_much_is_refused_before_memory_is_taken() {
    let folder = Folder::new();
    // The fuzzer's bytes begin with its options.
    let found = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/columns/23")).unwrap();
    let file = folder.write("in.parquet", &found[2..]);
    exits(&format!("ulimit -v 2000000; exec \"$0\" sort -q -k a -o /dev/null {file}"), &folder, 2);
    let said = refused(&["sort", "-k", "a", &file], "");
    assert!(said.contains("a dictionary page claims more values than it can have"), "{said}");
}

/// A file that was cut anywhere has lost rows, and what is behind its end may be rows.
#[test]
fn a_table_that_was_cut_or_goes_on_is_an_error() {
    let whole = |name: &str| fs::read(fixture(name)).unwrap();
    let (parquet, arrow) = (whole("cities.parquet"), whole("cities.arrow"));
    let mut stream = Vec::new();
    let options =
        |key| Sort::new().input(Input::bytes("x", &arrow)).format(Format::Arrow).key(Key::number(key));
    options(1).write_to(&mut stream).unwrap();
    assert!(!stream.starts_with(b"ARROW1"));
    for (bytes, format) in [(parquet, Format::Parquet), (arrow, Format::Arrow), (stream, Format::Arrow)] {
        assert!(sort(&bytes, format, true).is_some());
        for end in 0..bytes.len() {
            assert!(sort(&bytes[..end], format, true).is_none(), "{format:?} of {end} bytes");
        }
        for behind in [&b"\0"[..], b"junk", &bytes[..bytes.len() / 2]] {
            assert!(sort(&[&bytes, behind].concat(), format, true).is_none(), "{format:?} and {behind:?}");
        }
    }
}

/// A named pipe is opened once, also for the report.
#[cfg(unix)]
#[test]
fn a_table_comes_from_a_pipe() {
    for (name, format) in [("cities.parquet", "parquet"), ("cities.arrow", "arrow")] {
        let script = format!(
            "timeout 20 \"$0\" sort -k people -v --from {format} --to csv <(cat {}) | head -n 2",
            fixture(name)
        );
        let done = std::process::Command::new("bash").args(["-c", &script, BINARY]).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert_eq!(said, "city,people,founded,area,capital\n,0,,,false\n", "{}", stderr(&done));
        assert!(stderr(&done).contains("sorted 8 rows by 'people'"), "{}", stderr(&done));
    }
}

/// Columns have types, which are not found in values.
#[test]
fn the_types_of_columns_are_not_reported_as_found() {
    let folder = Folder::new();
    for name in ["cities.parquet", "cities.arrow"] {
        let file = fixture(name);
        let sorted = folder.arg(name);
        for args in [["sort", "-k", "people", &file], ["merge", "-k", "people", &sorted]] {
            let said = command::sorted(&[&args[..], &["-v", "-o", &sorted]].concat(), "");
            assert!(said.contains("8 rows by 'people'"), "{said}");
            assert!(!said.contains("kinds found in the fields"), "{said}");
        }
    }
}

#[test]
fn a_damaged_file_leaves_the_output_as_it_is() {
    let folder = Folder::new();
    let mut bytes = fs::read(fixture("cities.parquet")).unwrap();
    let middle = bytes.len() / 4;
    bytes[4..middle].fill(0xFF);
    let (input, output) = (folder.write("in.parquet", &bytes), folder.write("out.parquet", "before"));
    let error = refused(&["sort", "-k", "1", &input, "-o", &output], "");
    assert!(error.contains("in.parquet: invalid Parquet: "), "{error}");
    assert!(!error.contains("internal error"), "{error}");
    assert_eq!(fs::read(&output).unwrap(), b"before");
    assert_eq!(folder.names(), ["in.parquet", "out.parquet"]);
}

#[test]
fn an_empty_file_is_no_table() {
    let folder = Folder::new();
    for (name, format) in [("e.parquet", "parquet"), ("e.arrow", "arrow")] {
        let error = refused(&["sort", "-k", "1", &folder.write(name, "")], "");
        assert!(error.contains(&format!("{name}: is empty, and an empty file is not {format}; ")), "{error}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_is_named() {
    let folder = Folder::new();
    let table = folder.write("a.csv", "a,b\n2,1\n1,2\n");
    for format in ["parquet", "arrow", "csv"] {
        let script = format!("\"$0\" -k a {table} --to {format} > /dev/full");
        let done = crate::support::command::shell(&script, &folder);
        let said = crate::support::command::stderr(&done);
        assert_eq!(said, "gpusort: standard output: cannot write: No space left on device\n", "{format}");
    }
}

const CITIES: &str = concat!(
    "city,people,founded,area,capital\n",
    "Oslo,717710,,480.5,true\n",
    "Quito,2011388,1534-12-06,372.4,true\n",
    "\"Washington, D.C.\",689545,1790-07-16,177.0,true\n",
    "Lagos,15388000,,1171.3,false\n",
    "Turin,841600,,130.2,false\n",
    "Nara,354630,,276.8,false\n",
    ",0,,,false\n",
    "Cusco,428450,1534-03-23,385.1,false\n",
);

#[test]
fn a_table_goes_from_each_format_to_each() {
    let folder = Folder::new();
    let csv = folder.write("a.csv", CITIES);
    let by_people = sorted(&["sort", "-q", "-k", "people", &csv], "");
    let mut before = csv;
    for name in [
        "b.parquet",
        "c.jsonl",
        "d.arrow",
        "e.tsv",
        "f.parquet",
        "g.arrow",
        "h.jsonl",
        "i.tsv",
        "j.arrows",
        "k.csv",
    ] {
        let next = folder.arg(name);
        let done = run(&["sort", "-q", "-k", "people", &before, "-o", &next], "");
        assert!(done.status.success(), "{before} to {name}: {}", stderr(&done));
        before = next;
    }
    assert_eq!(fs::read_to_string(before).unwrap(), by_people);
    // As text for whoever reads it, or another program.
    let parquet = folder.arg("b.parquet");
    assert_eq!(sorted(&["sort", "-q", "-k", "people", "--to", "csv", &parquet], ""), by_people);
    let first = sorted(&["sort", "-q", "-k", "area:r", "--top", "1", "--to", "jsonl", &parquet], "");
    let lagos =
        "{\"city\":\"Lagos\",\"people\":15388000,\"founded\":null,\"area\":1171.3,\"capital\":false}\n";
    assert_eq!(first, lagos);
    assert_eq!(sorted(&["sort", "-q", "-k", "people:r", "--argsort", "--top", "2", &parquet], ""), "7\n6\n");
}

#[test]
fn what_a_format_cannot_hold_is_an_error_that_names_the_column() {
    let folder = Folder::new();
    let lines = "{\"id\":2,\"tags\":[\"a\"],\"user\":{\"x\":1}}\n{\"id\":1,\"tags\":[],\"user\":null}\n";
    let nested = folder.arg("n.parquet");
    let done = run(&["sort", "-q", "-f", "jsonl", "-k", "id", "-o", &nested], lines);
    assert!(done.status.success(), "{}", stderr(&done));
    let swapped = "{\"id\":1,\"tags\":[],\"user\":null}\n{\"id\":2,\"tags\":[\"a\"],\"user\":{\"x\":1}}\n";
    assert_eq!(sorted(&["sort", "-q", "-k", "id", "--to", "jsonl", &nested], ""), swapped);
    assert_eq!(sorted(&["sort", "-q", "-k", "user.x", "--to", "jsonl", &nested], ""), {
        let (first, second) = swapped.split_at(swapped.find('\n').unwrap() + 1);
        format!("{second}{first}")
    });
    let error = refused(&["sort", "-k", "id", "--to", "csv", &nested], "");
    assert!(error.contains("column 'tags' is nested"), "{error}");
    let mixed = refused(
        &["sort", "-f", "jsonl", "-k", "id", "--to", "parquet"],
        "{\"id\":1,\"a\":1}\n{\"id\":2,\"a\":\"x\"}\n",
    );
    let problem = "column 'a' has a value of another type than the values before: \"x\"; use --to jsonl";
    assert!(mixed.contains(problem), "{mixed}");
    for other in ["oops", "[1,\"x\"]", "7"] {
        let lines = format!("{{\"a\":2}}\n{other}\n{{\"a\":1}}\n");
        let args = ["sort", "-f", "jsonl", "-k", "a:number", "--invalid", "last", "--to", "parquet"];
        let error = refused(&args, &lines);
        let problem = "is not a JSON object, so it has no columns; use --to jsonl";
        assert!(error.contains(problem), "{other}: {error}");
    }
    let commented = "# x\n{\"a\":2}\n{\"a\":1}\n";
    let args = ["sort", "-q", "-f", "jsonl", "-k", "a", "--comments", "--to", "csv"];
    assert_eq!(sorted(&args, commented), "a\n1\n2\n");
    let csv = folder.write("nan.csv", "id,x\n1,NaN\n2,0.5\n");
    let texts = "{\"id\":1,\"x\":\"NaN\"}\n{\"id\":2,\"x\":\"0.5\"}\n";
    assert_eq!(sorted(&["sort", "-q", "-k", "id", "--to", "jsonl", &csv], ""), texts);
    let nan = folder.arg("nan.parquet");
    assert!(run(&["sort", "-q", "-k", "id", &csv, "-o", &nan], "").status.success());
    let error = refused(&["sort", "-k", "id", "--to", "jsonl", &nan], "");
    assert!(error.contains("column 'x' has NaN, which JSON cannot represent; use --to arrow"), "{error}");
    // What a number would lose stays text.
    let csv = folder.write("zip.csv", "zip,n\n00501,1.50\n94103,2\n");
    let out = sorted(&["sort", "-q", "-k", "n", "--to", "jsonl", &csv], "");
    assert_eq!(out, "{\"zip\":\"00501\",\"n\":1.50}\n{\"zip\":\"94103\",\"n\":2}\n");
}

#[test]
fn the_order_that_a_file_claims_is_checked() {
    let folder = Folder::new();
    let (csv, parquet) = (folder.write("a.csv", CITIES), folder.arg("a.parquet"));
    assert!(run(&["sort", "-q", "-k", "people:r", &csv, "-o", &parquet], "").status.success());
    let unclaimed = refused(&["check", &fixture("cities.parquet")], "");
    assert!(unclaimed.contains("cities.parquet: has no sorting_columns to check"), "{unclaimed}");
    assert!(run(&["check", "-q", &parquet], "").status.success());
    let sorted_by = folder.arg("b.parquet");
    assert!(run(&["sort", "-q", "-k", "people:r", &parquet, "-o", &sorted_by], "").status.success());
    assert!(run(&["check", "-q", &sorted_by], "").status.success());
    // One that claims what is not so: the columns of two rows are exchanged.
    let found = run(&["check", "-k", "people", &sorted_by], "");
    assert_eq!(found.status.code(), Some(1));
    let said = stderr(&found);
    assert!(said.contains("b.parquet: row 1: out of order: 2011388 after 15388000"), "{said}");
    let merged =
        Merge::new().input(&sorted_by).key(Key::column("city")).write_to(&mut Vec::new()).unwrap_err();
    assert!(merged.to_string().contains("out of order"), "{merged}");
    let checked =
        Check::new().input(&sorted_by).key(Key::column("people").descending()).unique().run().unwrap();
    assert!(checked.is_sorted());
}

#[test]
fn each_file_is_sorted_by_itself() {
    let folder = Folder::new();
    let bytes = fs::read(fixture("cities.parquet")).unwrap();
    let (one, other) = (folder.write("a.parquet", &bytes), folder.write("b.parquet", &bytes));
    assert!(run(&["sort", "-q", "--each", "--in-place", "-k", "area", &one, &other], "").status.success());
    for file in [&one, &other] {
        assert!(run(&["check", "-q", "-k", "area", file], "").status.success());
        let first = sorted(&["sort", "-q", "-k", "city", "--top", "1", "--to", "csv", file], "");
        assert_eq!(first, "city,people,founded,area,capital\nCusco,428450,1534-03-23,385.1,false\n");
    }
}

#[test]
fn what_was_meant_is_told() {
    let (parquet, csv) = (fixture("cities.parquet"), fixture("sales.csv"));
    for (args, said) in [
        (
            &["-k", "peeple", &parquet][..],
            "no column 'peeple'; columns: 'city', 'people', 'founded', 'area', 'capital'",
        ),
        (&[&parquet], "choose a key column: 'city', 'people', 'founded', 'area', 'capital'; use -k city"),
        (
            &["-k", "city:number", &parquet],
            "column 'city' has type Utf8, which decides its kind; leave the kind out",
        ),
        (&["-k", "city", "--header", &parquet], "--header applies to CSV, TSV and lines, but "),
        (&["-k", "city", "-t", "u32", &parquet], "--type applies to text"),
        (&["-k", "0", &parquet], "has columns; name one of them with a key"),
        (
            &["-k", "id", &csv, "--parquet-compression", "zstd"],
            "--parquet-compression applies to Parquet, but csv is written",
        ),
        (
            &["-k", "city", &parquet, "--to", "parquet", "--parquet-compression", "lzma"],
            "must be zstd, snappy",
        ),
        (
            &["-k", "city", &parquet, "--to", "parquet", "--parquet-compression", "zstd:23"],
            "not 'zstd:23'; zstd has levels 1 to 22",
        ),
        (
            &["-k", "id", &csv, "--row-group-rows", "10"],
            "--row-group-rows applies to Parquet, but csv is written",
        ),
        (
            &["-k", "id", &csv, "--split-size", "1M", "-o", "none"],
            "--split-size applies to Parquet, but csv is written",
        ),
        (
            &["-k", "city", &parquet, "--to", "parquet", "--split-size", "1M"],
            "--split-size writes several files; name a new folder with -o",
        ),
        (
            &["-k", "city", "--empty", "error", &parquet],
            "cities.parquet: row 6, column 'city': the field is empty",
        ),
    ] {
        let error = refused(&[&["sort"], args].concat(), "");
        assert!(error.contains(said), "{args:?}: {error}");
    }
    // Named by nothing, its first bytes tell what it is.
    let bytes = fs::read(&parquet).unwrap();
    let mut out = Vec::new();
    let error = Sort::new().input(Input::bytes("x", &bytes)).write_to(&mut out).unwrap_err();
    assert_eq!(
        (error.to_string(), error.hint()),
        ("x: is Parquet".to_owned(), Some(&gpusort::Hint::Format(Format::Parquet)))
    );
}

/// Writes an Arrow file of these columns, in batches of this number of rows.
fn write_arrow(folder: &Folder, name: &str, columns: Vec<(Field, ArrayRef)>, rows: usize) -> String {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
    let file = fs::File::create(folder.path(name)).unwrap();
    let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
    for first in (0..batch.num_rows()).step_by(rows) {
        writer.write(&batch.slice(first, rows.min(batch.num_rows() - first))).unwrap();
    }
    writer.finish().unwrap();
    folder.arg(name)
}

/// A column of a dictionary of these values; Polars says of an enumeration that its values are in order.
fn dictionary(name: &str, keys: Vec<i32>, values: Vec<String>, is_ordered: bool) -> (Field, ArrayRef) {
    let array = DictionaryArray::<Int32Type>::new(keys.into(), Arc::new(StringArray::from(values)));
    let field = Field::new(name, array.data_type().clone(), true);
    let said = is_ordered.then(|| ("_PL_ENUM_VALUES2".to_owned(), String::new()));
    (field.with_metadata(said.into_iter().collect::<HashMap<_, _>>()), Arc::new(array))
}

fn column(name: &str, numbers: Vec<i64>) -> (Field, ArrayRef) {
    let array: ArrayRef = Arc::new(Int64Array::from(numbers));
    (Field::new(name, array.data_type().clone(), true), array)
}

#[test]
fn text_ignores_case_and_a_dictionary_does_not() {
    let folder = Folder::new();
    let names = ["b", "A", "C", "a"].map(str::to_owned).to_vec();
    let texts: ArrayRef = Arc::new(StringArray::from(names.clone()));
    let texts = (Field::new("name", texts.data_type().clone(), true), texts);
    let arrow = write_arrow(&folder, "n.arrow", vec![texts, column("id", (0..4).collect())], 4);
    let parquet = folder.arg("n.parquet");
    assert!(run(&["sort", "-q", "-k", "id", &arrow, "-o", &parquet], "").status.success());
    let coded = write_arrow(&folder, "d.arrow", vec![dictionary("name", (0..4).collect(), names, false)], 4);
    for option in [&["-k", "name:nocase"][..], &["--ignore-case", "-k", "name"]] {
        for file in [&arrow, &parquet] {
            let args = [&["sort", "-q", "--to", "csv", file], option].concat();
            assert_eq!(sorted(&args, ""), "name,id\nA,1\na,3\nb,0\nC,2\n", "{args:?}");
        }
        let said = refused(&[&["sort", &coded[..]], option].concat(), "");
        assert!(said.contains("or by code if it is ordered; leave out nocase or ignore-case"), "{said}");
    }
    // Numbers have no case.
    assert!(
        sorted(&["sort", "-q", "--ignore-case", "-k", "id:r", "--to", "csv", &arrow], "")
            .contains("a,3\nC,2")
    );
}

#[test]
fn merges_and_checks_name_the_row() {
    let folder = Folder::new();
    let with = |name: &str, key: Option<i64>| {
        let keys = (0..3000).map(|row| if row == 2500 { key } else { Some(row) });
        let keys: ArrayRef = Arc::new(keys.collect::<Int64Array>());
        let field = Field::new("k", keys.data_type().clone(), true);
        let arrow = write_arrow(
            &folder,
            &format!("{name}.arrow"),
            vec![(field, keys), column("id", (0..3000).collect())],
            3000,
        );
        let parquet = folder.arg(&format!("{name}.parquet"));
        assert!(run(&["sort", "-q", "-k", "id", &arrow, "-o", &parquet], "").status.success());
        [arrow, parquet]
    };
    let out = folder.arg("out.arrow");
    for file in with("low", Some(7)) {
        let said = refused(&["sort", "-m", "-k", "k", &file, &file, "-o", &out], "");
        assert!(said.contains(&format!("{file}: row 2500: out of order: 7 after 2499")), "{said}");
        let said = stderr(&run(&["check", "-k", "k", &file], ""));
        assert!(said.contains(&format!("{file}: row 2500: out of order: 7 after 2499")), "{said}");
    }
    for file in with("null", None) {
        let said = refused(&["sort", "-m", "-k", "k", "--empty", "error", &file, "-o", &out], "");
        assert!(said.contains(&format!("{file}: row 2500, column 'k': the field is empty")), "{said}");
    }
    let nan: ArrayRef =
        Arc::new((0..3000).map(|row| if row == 2500 { f64::NAN } else { 0.0 }).collect::<Float64Array>());
    let nan = (Field::new("k", nan.data_type().clone(), true), nan);
    let file = write_arrow(&folder, "nan.arrow", vec![nan], 2000);
    for args in [&["sort", "-m"][..], &["sort"]] {
        let said = refused(&[args, &["-k", "k", "--nan", "error", &file, "-o", &out]].concat(), "");
        assert!(said.contains(&format!("{file}: row 2500: column 'k' has NaN")), "{said}");
    }
}

/// Each batch, and each file, has a dictionary of its own in memory.
#[test]
fn ordered_dictionaries_have_one_order_in_all_inputs() {
    let folder = Folder::new();
    let levels = ["low", "mid", "high"];
    let file = |name: &str, keys: Vec<i32>, levels: &[&str]| {
        let ids = (0..keys.len() as i64).collect();
        let levels = levels.iter().map(|&level| level.to_owned()).collect();
        write_arrow(&folder, name, vec![dictionary("k", keys, levels, true), column("id", ids)], 4)
    };
    let keys = |seed| random(seed).take(90).map(|number| (number % 3) as i32).collect::<Vec<_>>();
    let files = [1, 2].map(|seed| file(&format!("{seed}.arrow"), keys(seed), &levels));
    let runs = ["3.arrow", "4.arrow"].map(|name| folder.arg(name));
    for (file, run_of) in files.iter().zip(&runs) {
        assert!(run(&["sort", "-q", "-k", "k", file, "-o", run_of], "").status.success());
    }
    let mut both = [keys(1), keys(2)].concat();
    both.sort_unstable();
    let expected: String = both.iter().map(|&key| format!("{}\n", levels[key as usize])).collect();
    for (args, inputs) in [(&[][..], &files), (&["--memory", "1K"], &files), (&["-m"], &runs)] {
        for out in ["out.arrow", "out.arrows"] {
            let out = folder.arg(out);
            let done =
                run(&[&["sort", "-q", "-k", "k", &inputs[0], &inputs[1], "-o", &out], args].concat(), "");
            assert!(done.status.success(), "{args:?}: {}", stderr(&done));
            assert!(run(&["check", "-q", "-k", "k", &out], "").status.success(), "{args:?} {out}");
            let rows = sorted(&["sort", "-q", "-m", "-k", "k", "--to", "tsv", &out], "");
            let found: String =
                rows.lines().skip(1).map(|row| row.split_once('\t').unwrap().0.to_owned() + "\n").collect();
            assert_eq!(found, expected, "{args:?} {out}");
        }
    }
    let positions = |memory| {
        sorted(&["sort", "-q", "-k", "k", "--argsort", "--memory", memory, &files[0], &files[1]], "")
    };
    assert_eq!(positions("1K"), positions("1G"));
    let fewer = file("5.arrow", vec![0, 1], &["low", "high"]);
    let refusal = "the ordered dictionary of column 'k' differs between inputs or batches";
    for args in [&["sort", "-q"][..], &["sort", "-q", "--memory", "1K"], &["sort", "-q", "-m"], &["check"]] {
        let said = stderr(&run(&[args, &["-k", "k", &runs[0], &fewer]].concat(), ""));
        assert!(said.contains(refusal), "{args:?}: {said}");
    }
    // Another key needs no order of the two.
    assert!(
        run(&["sort", "-q", "-k", "id", &runs[0], &fewer, "-o", &folder.arg("6.arrow")], "").status.success()
    );
    let within = |name: &str, levels: &[&str]| {
        let levels = levels.iter().map(|&level| level.to_owned()).collect();
        let fields = vec![dictionary("k", vec![1, 0], levels, true), column("id", vec![2, 1])];
        let parent: ArrayRef = Arc::new(StructArray::from(
            fields.into_iter().map(|(field, array)| (Arc::new(field), array)).collect::<Vec<_>>(),
        ));
        write_arrow(&folder, name, vec![(Field::new("s", parent.data_type().clone(), true), parent)], 4)
    };
    let (seven, eight) = (within("7.arrow", &levels), within("8.arrow", &["low", "high"]));
    let out = folder.arg("9.arrow");
    sorted(&["sort", "-q", "-k", "s.id", &seven, &eight, "-o", &out], "");
    let said = refused(&["sort", "-k", "s.k", &seven, &eight, "-o", &out], "");
    assert!(said.contains("the ordered dictionary of column 's.k'"), "{said}");
}

/// A null may have any value in memory.
#[test]
fn a_null_is_no_nan() {
    let folder = Folder::new();
    let valid = arrow_buffer::NullBuffer::from(vec![true, false, true]);
    let floats: ArrayRef = Arc::new(Float64Array::new(vec![2.0, f64::NAN, 1.0].into(), Some(valid)));
    let file =
        write_arrow(&folder, "a.arrow", vec![(Field::new("k", floats.data_type().clone(), true), floats)], 3);
    for args in [&[][..], &["--memory", "1K"]] {
        let args = [&["sort", "-q", "-k", "k", "--nan", "error", "--to", "csv", &file], args].concat();
        assert_eq!(sorted(&args, ""), "k\n1.0\n2.0\n\n", "{args:?}");
    }
}

/// The keys of rows count in the budget: several numbers, or a text that is most of the row.
#[cfg(target_os = "linux")]
#[test]
fn a_sort_in_parts_keeps_to_its_memory_with_any_keys() {
    let folder = Folder::new();
    let of = |seed| random(seed).take(2_000_000).map(|number| (number % 3) as i64).collect();
    let columns = ["a", "b", "c", "d", "e"].iter().zip(0..).map(|(name, seed)| column(name, of(seed)));
    let numbers = write_arrow(&folder, "numbers.arrow", columns.collect(), 1 << 16);
    let texts: ArrayRef = Arc::new(
        random(1)
            .take(800_000)
            .map(|number| Some(format!("{number:020}").repeat(5)))
            .collect::<StringArray>(),
    );
    let texts = (Field::new("a", texts.data_type().clone(), true), texts);
    let texts = write_arrow(&folder, "texts.arrow", vec![texts], 1 << 16);
    for (file, keys) in [(&numbers, &["a", "b", "c", "d", "e"][..]), (&texts, &["a"])] {
        let keys: Vec<&str> = keys.iter().flat_map(|key| ["-k", key]).collect();
        let args = [&["sort", "-q", "-d", "cpu", "--memory", "64M", "--to", "csv", file], &keys[..]].concat();
        let mut child = gpusort(&args).stdout(Stdio::piped()).spawn().unwrap();
        let (mut pipe, mut block, mut peak) = (child.stdout.take().unwrap(), vec![0; 1 << 16], 0);
        while pipe.read(&mut block).unwrap() > 0 {
            peak = peak_while_alive(&child).unwrap_or(peak);
        }
        assert!(child.wait().unwrap().success());
        assert!(peak > 16 << 20 && peak < 100 << 20, "{file}: {peak} bytes");
    }
}

/// Each column of an open row group, and of a batch, takes memory beside its values.
#[cfg(target_os = "linux")]
#[test]
fn thousands_of_columns_take_little_memory() {
    let folder = Folder::new();
    let names: Vec<String> = (0..6000).map(|number| format!("c{number}")).collect();
    let of = |seed| random(seed).take(400).map(|number| (number % 1000) as i64).collect();
    let columns = names.iter().zip(0..).map(|(name, seed)| column(name, of(seed))).collect();
    let arrow = write_arrow(&folder, "in.arrow", columns, 100);
    for (from, to) in [(&arrow[..], "a.parquet"), ("a.parquet", "b.parquet"), ("b.parquet", "c.arrow")] {
        let sort = format!("exec \"$0\" sort -q -d cpu -k c7 --memory 64M {from} -o {to}");
        exits(&format!("ulimit -v 400000; {sort}"), &folder, 0);
    }
    let rows = |name: &str| sorted(&["sort", "-q", "-k", "c7", "--to", "csv", &folder.arg(name)], "");
    assert_eq!(rows("in.arrow"), rows("c.arrow"));
}

/// The texts of 600,000 rows have more bytes than there is memory for.
#[cfg(target_os = "linux")]
#[test]
fn texts_of_a_dictionary_are_kept_once() {
    let folder = Folder::new();
    let keys = (0..600_000).map(|row| row / 300).collect();
    let values = (0..2000).map(|value| format!("{value:01000}")).collect();
    let file = write_arrow(&folder, "d.arrow", vec![dictionary("k", keys, values, false)], 600_000);
    for command in ["check -k k", "sort -q -m -k k -o /dev/null", "sort -q -k k --memory 16M -o /dev/null"] {
        exits(&format!("ulimit -v 330000; exec \"$0\" {command} {file}"), &folder, 0);
    }
}
