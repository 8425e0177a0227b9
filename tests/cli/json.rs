//! JSON Lines, ordered by values in them.

use std::fs;

use crate::device;
use crate::support::command::{refused, run, sorted, stderr};
use crate::support::files::Folder;

const LOG: &str = concat!(
    "{\"ms\": 12.5, \"user\": {\"id\": 7, \"name\": \"Bob\"}, \"tags\": [\"new\"], \"ok\": true}\n",
    "{\"ms\":3,\"user\":{\"id\":10,\"name\":\"\\u0041nn\"},\"tags\":[],\"ok\":false}\n",
    "{\"user\":{\"id\":9},\"ms\":null}\n",
    "{\"ms\":-4,\"user\":{\"name\":\"Ab\"}}\n",
);

/// The lines of the log by their numbers.
fn lines(numbers: &[usize]) -> String {
    let all: Vec<&str> = LOG.split_inclusive('\n').collect();
    numbers.iter().map(|&number| all[number]).collect()
}

#[test]
fn records_are_ordered_by_values_at_paths() {
    let folder = Folder::new();
    let file = folder.write("log.jsonl", LOG);
    for (key, order) in [
        ("ms", [3, 1, 0, 2]),
        ("ms:r", [0, 1, 3, 2]),
        ("user.id", [0, 2, 1, 3]),
        (".user.name", [3, 1, 0, 2]),
        ("[\"user\"].name:r", [0, 1, 3, 2]),
        ("tags[0]", [0, 1, 2, 3]),
        ("ok", [1, 0, 2, 3]),
        ("0", [0, 3, 1, 2]),
    ] {
        for device in ["cpu", &device::name()] {
            let args = ["sort", "-q", "-d", device, "-k", key];
            assert_eq!(sorted(&[&args[..], &[&file]].concat(), ""), lines(&order), "{key}");
        }
        // What begins with a brace is JSON where keys are names.
        if key != "0" {
            assert_eq!(sorted(&["sort", "-q", "-k", key], LOG), lines(&order), "{key}");
        }
        assert_eq!(
            sorted(&["sort", "-q", "-f", "jsonl", "-k", key, "--memory", "1"], LOG),
            lines(&order),
            "{key}"
        );
    }
    assert_eq!(sorted(&["sort", "-q", "-k", "user.id", "--empty", "first", &file], ""), lines(&[3, 0, 2, 1]));
    assert_eq!(sorted(&["sort", "-q", "-k", "ms", "--argsort", &file], ""), "3\n1\n0\n2\n");
    assert_eq!(sorted(&["sort", "-q", "-k", "ms", "--top", "2", &file], ""), lines(&[3, 1]));
    assert_eq!(sorted(&["sort", "-q", "-k", "ok", "-k", "0"], LOG), lines(&[1, 0, 3, 2]));
    // Without a key, lines are lines.
    assert_eq!(sorted(&["sort", "-q"], LOG), lines(&[0, 3, 1, 2]));
}

#[test]
fn a_sorted_log_is_checked_and_merged() {
    let folder = Folder::new();
    let one = folder.write("a.ndjson", "{\"t\":1}\n{\"t\":3}");
    let two = folder.write("b.ndjson", "{\"t\":2}\n{\"t\":3,\"x\":0}\n");
    assert!(run(&["check", "-q", "-k", "t", &one], "").status.success());
    let merged = sorted(&["sort", "-q", "-m", "-k", "t", &one, &two], "");
    assert_eq!(merged, "{\"t\":1}\n{\"t\":2}\n{\"t\":3}\n{\"t\":3,\"x\":0}\n");
    let unique = sorted(&["sort", "-q", "-u", "-k", "t", &one, &two], "");
    assert_eq!(unique, "{\"t\":1}\n{\"t\":2}\n{\"t\":3}\n");
    let log = folder.write("log.jsonl", LOG);
    let found = run(&["check", "-k", "ms", &log], "");
    assert_eq!(found.status.code(), Some(1));
    assert!(stderr(&found).contains("log.jsonl:2: out of order: 3 after 12.5"), "{}", stderr(&found));
}

#[test]
fn lines_of_json_come_out_byte_for_byte() {
    let lines = "\u{feff}{\"a\":2,  \"b\":\"\\u00e9\"}\r\n\r\n{\"a\":1}\r\n{\"b\":0}";
    // Blank lines are records whose keys are empty.
    let out = "\u{feff}{\"a\":1}\r\n{\"a\":2,  \"b\":\"\\u00e9\"}\r\n\r\n{\"b\":0}\r\n";
    assert_eq!(sorted(&["sort", "-q", "-f", "jsonl", "-k", "a"], lines), out);
    assert_eq!(sorted(&["sort", "-q", "-f", "jsonl"], "3\n1.5\n2\n"), "1.5\n2\n3\n");
    assert_eq!(sorted(&["sort", "-q", "-f", "jsonl"], "\"b\"\n\"\"\n\"a\"\n"), "\"\"\n\"a\"\n\"b\"\n");
    assert_eq!(sorted(&["sort", "-q", "-f", "jsonl", "-k", "a"], ""), "");
    let folder = Folder::new();
    let file = folder.write("x.json", "{\"a\":2}\n{\"a\":1}\n");
    assert!(run(&["sort", "-q", "-k", "a", "-o", &file, &file], "").status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"a\":1}\n{\"a\":2}\n");
}

#[test]
fn strings_are_text_unless_all_are_times() {
    let lines = "{\"v\":\"10\"}\n{\"v\":\"9\"}\n{\"v\":\"\"}\n{\"v\":null}\n";
    let by = |key: &str| sorted(&["sort", "-q", "-f", "jsonl", "-k", key], lines);
    assert_eq!(by("v"), "{\"v\":\"\"}\n{\"v\":\"10\"}\n{\"v\":\"9\"}\n{\"v\":null}\n");
    assert_eq!(by("v:number"), "{\"v\":\"9\"}\n{\"v\":\"10\"}\n{\"v\":\"\"}\n{\"v\":null}\n");
    let times = "{\"t\":\"2026-11-21T10:00:00Z\"}\n{\"t\":\"2026-11-21T11:30:00+02:00\"}\n";
    let swapped = "{\"t\":\"2026-11-21T11:30:00+02:00\"}\n{\"t\":\"2026-11-21T10:00:00Z\"}\n";
    for (key, expected) in [("t", swapped), ("t:time", swapped), ("t:text", times)] {
        assert_eq!(sorted(&["sort", "-q", "-k", key], times), expected, "{key}");
    }
    let durations = "{\"t\":\"10s\"}\n{\"t\":\"9ms\"}\n";
    assert_eq!(sorted(&["sort", "-q", "-k", "t"], durations), "{\"t\":\"9ms\"}\n{\"t\":\"10s\"}\n");
    // What is said of how values are written is said of numbers, too.
    let lines = "{\"t\":1000}\n{\"t\":-999}\n{\"t\":7}\n";
    let by = |args: &[&str]| sorted(&[&["sort", "-q", "-k", "t"], args].concat(), lines);
    assert_eq!(by(&["--na", "-999"]), "{\"t\":7}\n{\"t\":1000}\n{\"t\":-999}\n");
    let epochs = "{\"t\":1000}\n{\"t\":\"7\"}\n";
    let by_epoch = sorted(&["sort", "-q", "-k", "t:time", "--time-format", "epoch"], epochs);
    assert_eq!(by_epoch, "{\"t\":\"7\"}\n{\"t\":1000}\n");
    // Numbers are exact, as elsewhere.
    let large = "[9007199254740993]\n[9007199254740992]\n";
    assert_eq!(
        sorted(&["sort", "-q", "-f", "jsonl", "-k", "[0]"], large),
        "[9007199254740992]\n[9007199254740993]\n"
    );
    let mixed = refused(&["sort", "-f", "jsonl", "-k", "a"], "{\"a\":1}\n{\"a\":\"x\"}\n");
    let said = "standard input:2: 'x' is not a number, but '1' (standard input:1) is; use -k a:text";
    assert!(mixed.contains(said), "{mixed}");
    // A string is no number, whatever is in it.
    let mixed = refused(&["sort", "-f", "jsonl", "-k", "t"], epochs);
    assert!(mixed.contains("standard input:2: '7' is not a number, but '1000'"), "{mixed}");
}

#[test]
fn other_values_and_damaged_lines_are_invalid() {
    let lines = "{\"a\":2}\n{\"a\":[1]}\n{\"a\":1,}\n{\"a\":1}\n";
    let by = ["sort", "-q", "-f", "jsonl", "-k", "a"];
    let sort = |args: &[&str]| sorted(&[&by, args].concat(), lines);
    assert_eq!(sort(&["--invalid", "last"]), "{\"a\":1}\n{\"a\":2}\n{\"a\":[1]}\n{\"a\":1,}\n");
    assert_eq!(sort(&["--invalid", "first"]), "{\"a\":[1]}\n{\"a\":1,}\n{\"a\":1}\n{\"a\":2}\n");
    assert_eq!(sort(&["--invalid", "skip"]), "{\"a\":1}\n{\"a\":2}\n");
    // No order of text takes them, so none is offered.
    for (key, said) in [
        (
            "a",
            "input:2: '[1]' is not a number, but '2' (standard input:1) is; use -k a:number --invalid last",
        ),
        ("a:number", "input:2: '[1]' is not a number"),
        ("a:text", "input:2: '[1]' is not a number, a string, true, false or null; use --invalid last"),
    ] {
        let error = refused(&["sort", "-f", "jsonl", "-k", key], "{\"a\":2}\n{\"a\":[1]}\n");
        assert!(error.contains(said) && !error.contains("use -k a:text"), "{error}");
    }
    let damaged = refused(&by, "{\"a\":2}\n{\"a\":1,}\n");
    assert!(damaged.contains("standard input:2:8: invalid JSON: expected a name in quotes; use --invalid"));
}

#[test]
fn what_was_meant_is_told() {
    let folder = Folder::new();
    let log = folder.write("log.jsonl", LOG);
    let of_log = |args: &[&str]| refused(&[&["sort"], args, &[&log]].concat(), "");
    let error = of_log(&[]);
    assert!(error.contains("choose a key column: 'ms', 'user', 'tags', 'ok'; use -k ms"), "{error}");
    let error = of_log(&["-k", "MS"]);
    let expected = "no record has the field 'MS'; the first record has 'ms', 'user', 'tags', 'ok'; did you mean 'ms'? Use -k ms";
    assert!(error.contains(expected), "{error}");
    let error = of_log(&["-k", "user..id"]);
    assert!(
        error.contains("'user..id' is not a valid path: missing name; paths are written as user.id"),
        "{error}"
    );
    for (option, args) in [("--header", &["--header"][..]), ("--delimiter", &["-t,"])] {
        let error = of_log(&[&["-k", "ms"], args].concat());
        assert!(error.contains(&format!("{option} applies to CSV, TSV and lines, but ")), "{error}");
    }
    for (content, command) in [
        ("[\n  {\"a\": 1},\n  {\"a\": 2}\n]\n", "jq -c '.[]'"),
        ("[{\"a\":1},{\"a\":2}]\n", "jq -c '.[]'"),
        ("{\n  \"a\": 1\n}\n", "jq -c ."),
    ] {
        let file = folder.write("one.json", content);
        let error = refused(&["sort", "-k", "a", &file], "");
        let expected = format!("use: {command} {file} | gpusort sort -f jsonl");
        assert!(error.contains(&expected), "{error}");
    }
    // Not where nothing is there to be ordered.
    assert_eq!(sorted(&["sort", "-q", "-f", "jsonl", "-k", "a"], "\n\n"), "\n\n");
}
