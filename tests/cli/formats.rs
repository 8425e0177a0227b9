//! Formats that are not read or not written, which names and first bytes tell: refused by name,
//! with what helps.

use std::fs;

use crate::support::command::{gpusort, refused, run, run_with, sorted, stderr};
use crate::support::files::Folder;

#[test]
fn outputs_of_other_formats_are_refused_and_not_created() {
    let folder = Folder::new();
    let text = folder.write("numbers.txt", "1\n2\n");
    let table = folder.write("x.csv", "a\n2\n1\n");
    let [parquet, arrow] = if cfg!(feature = "arrow") {
        ["is compressed internally; use -o {}/out.parquet", "lines cannot be written as arrow"]
    } else {
        ["parquet; build it with --features arrow", "arrow; build it with --features arrow"]
    };
    for (name, input, helps) in [
        ("out.parquet.gz", &table, parquet),
        ("out.XLSX", &text, "cannot write xlsx; use -o {}/out.txt"),
        ("out.arrow", &text, arrow),
        ("out.sqlite", &text, "cannot write sqlite"),
        ("out.zip", &text, "cannot write zip"),
        ("out.pdf", &text, "cannot write pdf"),
        ("out.csv.xz", &table, "cannot write xz; use: gpusort sort ... | xz > {}/out.csv.xz"),
        ("out.bz2", &text, "cannot write bzip2; use: gpusort sort ... | bzip2 > {}/out.bz2"),
    ] {
        let out = folder.arg(name);
        let helps = helps.replace("{}", folder.arg("").trim_end_matches('/'));
        for command in [&["sort"][..], &["sort", "-m"]] {
            let said = refused(&[command, &[input, "-o", &out]].concat(), "");
            assert!(said.contains(&helps), "{name}: {said}");
        }
        let helps = helps.replace("gpusort sort", "gpusort gen").replace("out.csv\n", "out.txt\n");
        let said = refused(&["gen", "--count", "2", "-o", &out], "");
        let is_written = helps.starts_with("lines");
        let helps = if is_written { "gen writes no tables" } else { helps.split("; use -o").next().unwrap() };
        assert!(said.contains(helps), "{name}: {said}");
        assert!(!folder.path(name).exists(), "{name}");
    }
    // What is there already stays.
    let old = folder.write("old.xlsx", "old");
    refused(&["sort", &text, "-o", &old], "");
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    // Other names say nothing; and with --to it is said what it is, but a name must not lie about
    // compression.
    for name in ["out.log", "out.dat", "out.sorted", "out", "out.out", "out.v2.txt"] {
        sorted(&["sort", "-q", &text, "-o", &folder.arg(name)], "");
        assert_eq!(fs::read_to_string(folder.path(name)).unwrap(), "1\n2\n", "{name}");
    }
    sorted(&["sort", "-q", &text, "--to", "text", "-o", &folder.arg("out.json")], "");
    for name in ["out.xz", "out.zip"] {
        refused(&["sort", &text, "--to", "text", "-o", &folder.arg(name)], "");
    }
    // Lines come out as they are; numbers are no JSON.
    sorted(&["sort", "-q", "-r", &text, "-o", &folder.arg("lines.json")], "");
    assert_eq!(fs::read_to_string(folder.path("lines.json")).unwrap(), "2\n1\n");
    let to = folder.arg("numbers.json");
    let said = refused(&["sort", "-f", "text", &text, "-o", &to], "");
    assert!(said.contains("numbers cannot be written as a table"), "{said}");
    assert!(refused(&["gen", "--count", "2", "-o", &to], "").contains("gen writes no tables"));
    assert!(!folder.path("numbers.json").exists());
    let lines = folder.write("a.jsonl", "{\"n\": 2}\n{\"n\": 1}\n");
    sorted(&["sort", "-q", "-f", "lines", "-k", "2", "--leading", &lines, "-o", &folder.arg("b.jsonl")], "");
    assert_eq!(fs::read_to_string(folder.path("b.jsonl")).unwrap(), "{\"n\": 1}\n{\"n\": 2}\n");
}

#[test]
fn inputs_of_other_formats_are_refused_by_their_first_bytes() {
    let folder = Folder::new();
    // What a build reads that has these formats, it names the option for.
    let [parquet, arrow] = if cfg!(feature = "arrow") {
        ["; use --from parquet", "; use --from arrow"]
    } else {
        [
            ", which is not supported; use: duckdb -csv -c \"from 'FILE'\" | gpusort sort -f csv -k COLUMN",
            ", which is not supported; use: python3 -c",
        ]
    };
    for (bytes, what, helps) in [
        (&b"\xFD7zXZ\0\0\x04"[..], "is compressed with xz", "; use: xz -dc FILE | gpusort sort ..."),
        (b"BZh91AY&SY\x01\x02", "is compressed with bzip2", "; use: bzip2 -dc FILE | gpusort sort ..."),
        (b"PAR1\x15\x04\x15", "is Parquet", parquet),
        (b"PK\x03\x04\x14\0", "is a zip archive or a spreadsheet", "; use: unzip -p FILE | "),
        (b"ARROW1\0\0", "is Arrow", arrow),
        (b"ORC\x08\x03", "is ORC", "; use: python3 -c"),
        (b"SQLite format 3\0\x10\0", "is an SQLite database", "; use: sqlite3 -csv"),
    ] {
        let content = [bytes, &[7; 5000]].concat();
        let is_read = helps.contains("--from") || helps.starts_with(',');
        let helps = if is_read { helps.to_owned() } else { format!(", which is not supported{helps}") };
        let file = folder.write("x", &content);
        for args in [
            &["sort"][..],
            &["sort", "-k", "1"],
            &["sort", "-f", "csv", "-k", "a"],
            &["check"],
            &["sort", "-m"],
        ] {
            let said = refused(&[args, &[&file]].concat(), "");
            let expected = format!("gpusort: {file}: {what}{}", helps.replace("FILE", &file));
            assert!(said.starts_with(&expected), "{args:?}: {said} {expected}");
            let piped = run_with(gpusort(args), &content);
            assert_eq!(piped.status.code(), Some(2));
            let expected = format!("gpusort: standard input: {what}{helps}");
            assert!(stderr(&piped).starts_with(&expected), "{args:?}: {}", stderr(&piped));
        }
        // Raw binary may begin with any bytes.
        let whole = &content[..content.len() / 4 * 4];
        let binary = folder.write("x.u32", whole);
        assert_eq!(run(&["sort", "-q", &binary], "").stdout.len(), whole.len());
    }
    // Words of text.
    for line in ["ORC 7", "PAR1 2", "BZh9 1", "PK 3"] {
        let lines = format!("{line}\n{} 1\n", "a");
        let args = ["sort", "-q", "-k", "2"];
        assert!(sorted(&args, &lines).ends_with(&format!("{line}\n")) || line == "BZh9 1");
    }
}

#[test]
fn pictures_are_svg_by_their_names_and_replace_no_input() {
    let folder = Folder::new();
    for (args, option) in
        [(&["trace", "-n", "4", "--svg"][..], "--svg"), (&["bench", "--sizes", "4", "--plot"], "--plot")]
    {
        for name in ["x.png", "x.pdf", "x.svgz"] {
            let to = folder.arg(name);
            let said = refused(&[args, &[&to]].concat(), "");
            let svg = folder.arg("x.svg");
            assert!(
                said.contains(&format!("pictures are SVG; use {option} {svg}, and convert it")),
                "{said}"
            );
            assert!(!folder.path(name).exists());
        }
    }
    for name in ["x.SVG", "x", "y.svg.gz"] {
        sorted(&["trace", "-n", "4", "--svg", &folder.arg(name)], "");
        assert!(folder.path(name).exists(), "{name}");
    }
    let input = folder.write("in", "2 1");
    let said = refused(&["trace", &input, "--svg", &input], "");
    assert!(said.contains("--svg would replace the input"), "{said}");
    assert_eq!(fs::read_to_string(&input).unwrap(), "2 1");
}
