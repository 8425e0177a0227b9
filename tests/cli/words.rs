//! Keys that are text, where what is decided depends on more than one field.

#[cfg(unix)]
use std::fs;

use gpusort::files::{Input, Key, Nulls, Options};

#[cfg(unix)]
use crate::support::command::{exits, shell};
use crate::support::command::{refused, run, sorted, stderr};
#[cfg(unix)]
use crate::support::files::Folder;
use crate::support::pipeline::check;

#[test]
fn the_whole_line_is_text() {
    for (args, expected) in [
        (&["-k", "0"][..], "10 a\n9\n9 b\n"),
        (&["-k", "0:r"], "9 b\n9\n10 a\n"),
        (&["-k", "0:version"], "9\n9 b\n10 a\n"),
    ] {
        assert_eq!(sorted(&[&["sort", "-q"], args].concat(), "9 b\n10 a\n9\n"), expected, "{args:?}");
    }
    assert_eq!(sorted(&["sort", "-q", "-k", "0"], "9\n10\n"), "10\n9\n");
    assert_eq!(sorted(&["sort", "-q", "-n", "-k", "0"], "10\n9\n"), "9\n10\n");
    assert_eq!(sorted(&["sort", "-q", "-k", "0:number"], "10\n9\n"), "9\n10\n");
    assert_eq!(sorted(&["sort", "-q", "-k", "0", "--ignore-case"], "b\nA\na\nB\n"), "A\na\nb\nB\n");
}

/// What is read at once may have no word in any of several columns that are text.
#[test]
fn columns_are_text_that_begin_without_words() {
    const AT_ONCE: usize = 8 << 20;
    let parts = ["nan nan\n", "nan nan b\n"].map(|line| line.repeat(AT_ONCE / line.len() + 1));
    let text = parts.concat() + "nan x b\n";
    let keys = ["3", "2"].map(Key::parse).into_iter().fold(Options::new(), Options::key);
    let options = keys.empty(Nulls::First).input(Input::bytes("in", text.as_bytes()));
    assert_eq!(check(options, AT_ONCE, 1 << 20).unwrap(), None);
}

/// A pipe that brings no more than that at first does not change what columns are.
#[cfg(unix)]
#[test]
fn pipes_are_waited_for_where_nothing_tells_what_columns_are() {
    let folder = Folder::new();
    let names = "(printf 'name\\nInf\\n'; sleep 0.1; printf '\\nNancy\\nNat\\n')";
    let numbers = "(printf 'name\\nInf\\n'; sleep 0.1; printf '3\\n')";
    exits(&format!("{names} | $0 check -f csv -k name --empty first"), &folder, 1);
    exits(&format!("{names} | grep . | $0 check -f csv -k name"), &folder, 0);
    exits(&format!("{numbers} | $0 check -f csv -k name"), &folder, 1);
    let merged = shell(&format!("{names} | grep . | $0 sort -q -m -f csv -k name"), &folder);
    assert_eq!(merged.stdout, b"name\nInf\nNancy\nNat\n");
}

/// Runs that have only empty fields of a key merge with others, whatever these are.
#[cfg(unix)]
#[test]
fn columns_may_begin_with_any_number_of_empty_fields() {
    let folder = Folder::new();
    let args = |more: &str| format!("-q -f csv --memory 1 --no-header -k 1 {more}");
    for (last, more) in
        [("x,1\\nb,2\\n", ""), ("7,1\\n-3,2\\n", "-r"), ("x,1\\nb,2\\n", "--empty first -k 2")]
    {
        let table = format!("(yes ,5 | head -n 400000; printf '{last}')");
        let from_pipe = format!("{table} | $0 sort {} > piped", args(more));
        exits(&from_pipe, &folder, 0);
        let in_memory = format!(
            "{table} > all.csv; $0 sort {} all.csv --memory 1G > sorted",
            args(more).replace("--memory 1 ", "")
        );
        exits(&in_memory, &folder, 0);
        let [piped, sorted] = ["piped", "sorted"].map(|name| fs::read(folder.path(name)).unwrap());
        assert!(piped == sorted, "{last} {more}");
        let expected = if more.contains("first") {
            ",5\n"
        } else if more == "-r" {
            "7,1\n-3,2\n,5\n"
        } else {
            "b,2\nx,1\n,5\n"
        };
        assert!(sorted.starts_with(expected.as_bytes()), "{last} {more}");
    }
    // It is sorted in parts.
    let runs =
        exits("yes ,5 | head -n 400000 | $0 sort -v --memory 1 --no-header -f csv -k 1 > piped", &folder, 0);
    assert!(runs.contains("in temporary files"), "{runs}");
}

/// One that is no number in the spelling that is asked for, and would be one otherwise, is refused
/// among words, wherever they are.
#[test]
fn numbers_in_another_spelling_are_no_words() {
    for lines in ["x\n1.5\n", "1.5\nx\n"] {
        let error = refused(&["sort", "--decimal", ",", "-k", "1"], lines);
        assert!(error.contains("'1.5' is not a number"), "{error}");
        let text = sorted(&["sort", "-q", "--decimal", ",", "-k", "1:text"], lines);
        assert_eq!(text, "1.5\nx\n");
    }
    // A sign that no number begins with elsewhere; and what counts as empty is no word.
    let error = refused(&["sort", "--decimal", "·", "-k", "1"], "x\n·5\n");
    assert!(error.contains("standard input:2") && error.contains("·5"), "{error}");
    let error = refused(&["sort", "--na", "NA", "-k", "1"], "NA\nx\n5\n");
    assert!(error.contains("standard input:3") && error.contains("x (standard input:2)"), "{error}");
    // In a column of text it is no reason to leave a record out.
    let args = ["sort", "-q", "--decimal", ",", "--invalid", "skip", "-k", "1:text", "-k", "2"];
    assert_eq!(sorted(&args, "b 1\n1.5 2\nc x\n"), "1.5 2\nb 1\n");
}

#[test]
fn blanks_around_numbers_in_base_16_do_not_count() {
    let table = "h,v\n ff ,1\n  ,2\n0x1,3\n NA,4\nx,5\n";
    let hex = |args: &[&str]| {
        sorted(&[&["sort", "-q", "-f", "csv", "-k", "h:hex", "--na", "NA"], args].concat(), table)
    };
    assert_eq!(hex(&["--invalid", "last"]), "h,v\n0x1,3\n ff ,1\n  ,2\n NA,4\nx,5\n");
    assert_eq!(hex(&["--invalid", "skip", "--empty", "first"]), "h,v\n  ,2\n NA,4\n0x1,3\n ff ,1\n");
}

#[test]
fn line_feeds_are_blanks_before_keys_of_sort_where_nul_ends_lines() {
    let names = "a:\nb\0a:b\0a: c\0";
    assert_eq!(sorted(&["sort", "-q", "-z", "-t:", "-k", "2,2r"], names), "a: c\0a:\nb\0a:b\0");
    // They are a part of others.
    assert_eq!(sorted(&["sort", "-q", "-z", "-t:", "-k", "2"], names), "a:\nb\0a: c\0a:b\0");
}

/// Text that is likely of a kind is sorted as text, with a note that names the kind.
#[test]
fn text_that_seems_to_be_of_a_kind_is_noted() {
    for (fields, kind) in [
        ("1.5M\n900K\n", Some("s:size")),
        ("12ms\n1.5s\n", Some("s:duration")),
        ("v1.10\nv1.9\n", Some("s:version")),
        ("12%\n5%\n", Some("s:number --leading")),
        ("b\na\n", None),
        ("1.5M\nx\n", None),
    ] {
        let table = format!("s\n{fields}");
        let said = stderr(&run(&["sort", "-f", "csv", "-k", "s"], &table));
        assert_eq!(kind.map(|kind| said.contains(&format!("; use -k {kind}"))), kind.map(|_| true), "{said}");
        assert_eq!(said.contains("as text; use"), kind.is_some(), "{said}");
        for silent in [&["-q", "-k", "s"][..], &["-k", "s:text", "--timing", "off"]] {
            let said = stderr(&run(&[&["sort", "-f", "csv"], silent].concat(), &table));
            assert_eq!(said, "");
        }
        let by_kind =
            kind.map_or(Vec::new(), |kind| format!("-k {kind}").split(' ').map(str::to_owned).collect());
        if !by_kind.is_empty() {
            let args: Vec<&str> =
                ["sort", "-q", "-f", "csv"].into_iter().chain(by_kind.iter().map(|word| &word[..])).collect();
            assert!(run(&args, &table).status.success(), "{kind:?}");
        }
    }
}

/// Each error names what makes the same command work.
#[test]
fn remedies_work_as_typed() {
    for (args, input, said, remedy) in [
        (&["sort", "-k", "p"][..], "p;q\n1,200;x\n35;y\n", "--thousands ,", &["--thousands", ","][..]),
        (&["sort", "-k", "p"], "p;q\n3;x\nn/a;y\n", "--na n/a", &["--na", "n/a"]),
        (&["sort", "-k", "p"], "p;q\n12ms;x\n3;y\n", "--leading", &["--leading"]),
        (&["sort", "-k", "p"], "p;q\nx;x\n3;y\n", "--invalid last", &["--invalid", "last"]),
        (&["sort", "-k", "p"], "p;q\n2024-01-05;x\n3/1/2024;y\n", "--time-format", &["--invalid", "last"]),
    ] {
        let args = [args, &["-q", "-f", "csv", "--delimiter", ";"]].concat();
        let error = refused(&args, input);
        assert!(error.contains(said), "{error}");
        assert!(run(&[&args, remedy].concat(), input).status.success(), "{remedy:?}");
    }
    let error = refused(&["sort", "-q"], "1\nfoo\n");
    assert!(error.contains("use -t text"), "{error}");
    assert_eq!(sorted(&["sort", "-q", "-t", "text"], "1\nfoo\n"), "1\nfoo\n");
}
