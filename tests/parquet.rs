//! Parquet and Arrow: beside a slow sort in Python whose results pyarrow, `DuckDB` and Polars read, and
//! damaged files.

use std::fs;

use gpusort::Format;
use gpusort::files::{Check, Input, Key, Merge, Sort};

use crate::support::command::{BINARY, refused, run, sorted, stderr};
use crate::support::files::{Folder, fixture};
use crate::support::inputs::random;
use crate::support::python::python;
use crate::support::tier;

#[test]
fn tables_of_columns_come_out_as_the_oracle_says() {
    let cases = tier::count(1000, 100).to_string();
    python("tables/columns.py", &[BINARY, "--cases", &cases, "--seed", &tier::seed().to_string()]);
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
    assert!(mixed.contains("column 'a' has mixed types"), "{mixed}");
    for other in ["oops", "[1,\"x\"]", "7"] {
        let lines = format!("{{\"a\":2}}\n{other}\n{{\"a\":1}}\n");
        let args = ["sort", "-f", "jsonl", "-k", "a:number", "--invalid", "last", "--to", "parquet"];
        let error = refused(&args, &lines);
        assert!(
            error.contains("has lines that are not objects, so they have no columns"),
            "{other}: {error}"
        );
    }
    let commented = "# x\n{\"a\":2}\n{\"a\":1}\n";
    let args = ["sort", "-q", "-f", "jsonl", "-k", "a", "--comments", "--to", "csv"];
    assert_eq!(sorted(&args, commented), "a\n1\n2\n");
    let csv = folder.write("nan.csv", "id,x\n1,NaN\n2,0.5\n");
    let error = refused(&["sort", "-k", "id", "--to", "jsonl", &csv], "");
    assert!(error.contains("column 'x' has NaN, which JSON cannot represent"), "{error}");
    // What a number would lose stays text.
    let csv = folder.write("zip.csv", "zip,n\n00501,1.50\n94103,2\n");
    let out = sorted(&["sort", "-q", "-k", "n", "--to", "jsonl", &csv], "");
    assert_eq!(out, "{\"zip\":\"00501\",\"n\":1.5}\n{\"zip\":\"94103\",\"n\":2.0}\n");
}

#[test]
fn the_order_that_a_file_claims_is_checked() {
    let folder = Folder::new();
    let (csv, parquet) = (folder.write("a.csv", CITIES), folder.arg("a.parquet"));
    assert!(run(&["sort", "-q", "-k", "people:r", &csv, "-o", &parquet], "").status.success());
    let unclaimed = refused(&["check", &parquet], "");
    assert!(unclaimed.contains("a.parquet: has no sorting_columns to check"), "{unclaimed}");
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
        (
            &[&parquet],
            "choose a key column: 'city', 'people', 'founded', 'area', 'capital'; for example -k city",
        ),
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
