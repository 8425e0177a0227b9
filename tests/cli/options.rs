//! Formats and flags: what they mean, which are refused, and defaults from the environment.

use std::fs;
use std::process::Stdio;

use crate::device;
#[cfg(unix)]
use crate::support::command::exits;
use crate::support::command::{gpusort, refused, run, run_in_environment, sorted, stderr};
use crate::support::files::{Folder, fixture};

#[test]
fn fixtures_sort_as_expected() {
    let read = |name: &str| fs::read(fixture(name)).unwrap();
    // A comment stays on top.
    let below_the_comment = |input: &str, expected: &str| {
        let end = read(input).iter().position(|&byte| byte == b'\n').unwrap();
        [&read(input)[..=end], &read(expected)].concat()
    };
    for args in [
        &["-d", "cpu"][..],
        &["-d", "cpu", "-a", "bitonic"],
        &["-d", "cpu", "-a", "odd-even"],
        &["-d", &device::name(), "-a", "bitonic"],
        &["-d", &device::name(), "-a", "odd-even"],
    ] {
        for (input, expected, more) in [
            ("elevations.txt", "elevations.sorted.txt", &[][..]),
            ("constants.txt", "constants.sorted.txt", &["--comments"]),
            ("specials.f32", "specials.sorted.f32", &[]),
            ("specials.f32", "specials.reversed.f32", &["-r"]),
            ("sales.csv", "sales.sorted.csv", &["-k", "price", "-k", "id:r"]),
        ] {
            let output = run(&[&["sort", &fixture(input)], args, more].concat(), "");
            assert!(output.status.success(), "{}", stderr(&output));
            let expected =
                if more == ["--comments"] { below_the_comment(input, expected) } else { read(expected) };
            assert!(output.stdout == expected, "{input} {args:?}");
        }
    }
}

#[test]
fn formats_are_converted() {
    let folder = Folder::new();
    let out = folder.arg("out.i32");
    sorted(&["sort", "-o", &out], "5\n-1\n");
    assert_eq!(fs::read(&out).unwrap(), [(-1_i32).to_le_bytes(), 5_i32.to_le_bytes()].concat());
    assert_eq!(sorted(&["sort", &out, "--to", "text", "-r"], ""), "5\n-1\n");
    // The data is not what the extension promises.
    assert!(refused(&["sort", "-o", &folder.arg("x.f64")], "1\n").contains("u32, not f64"));
    assert_eq!(folder.names(), ["out.i32"]);
    // Numbers of text may be several a line, lines have one.
    let several = refused(&["sort", "--to", "bin"], "3\n2 1");
    assert!(several.contains("standard input:2:3: binary output needs one number a line"), "{several}");
    assert!(several.contains("--from text to sort every number"), "{several}");
    let output = run(&["sort", "-f", "text", "--to", "bin"], "2 1");
    assert_eq!(output.stdout, [1_u32.to_le_bytes(), 2_u32.to_le_bytes()].concat());
}

#[test]
fn the_output_extension_sets_the_format() {
    let folder = Folder::new();
    let (binary, text) = (folder.write("a.i32", (-7_i32).to_le_bytes()), folder.arg("out.txt"));
    sorted(&["sort", &binary, "-o", &text], "");
    assert_eq!(fs::read(&text).unwrap(), b"-7\n");
    // Nothing has no type that could be wrong.
    let empty = folder.arg("empty.f64");
    sorted(&["sort", "-o", &empty], "");
    assert_eq!(fs::read(&empty).unwrap(), b"");
    assert!(
        refused(&["sort", "-o", &folder.arg("no/")], "1")
            .contains("the name ends in a slash, so it means a folder; name a file")
    );
}

#[test]
fn wrong_options_are_refused() {
    for (args, expected) in [
        (&["sort", "--no-such-option"][..], "--no-such-option"),
        (&["sort", "-a", "quick"], "bitonic"),
        (&["sort", "-t", "u128"], "u64"),
        (&["sort", "-d", "no such device", "-a", "bitonic"], "no such device"),
        (&["sort", "-d", "99"], "99"),
        (&["sort", "-d", ""], "--device"),
        (&["sort", "--variant", "naive"], "--algo"),
        (&["sort", "-a", "odd-even", "--variant", "local-global"], "choose from block, naive"),
        (&["sort", "--to", "csv"], "lines cannot be written as csv; use --to text"),
        (&["sort", "-f", "text", "--to", "csv"], "numbers cannot be written as a table"),
        (&["sort", "-f", "lines", "--to", "tsv"], "lines cannot be written as tsv; use --to text"),
        (&["sort", "-f", "csv", "-o", "x.u32"], "rows of csv cannot be written as u32; use --to csv"),
        (&["sort", "-f", "csv", "--argsort", "--to", "csv"], "positions cannot be written as a table"),
        (&["sort", "-f", "csv", "--timing", "stdout"], "-o"),
        (&["sort", "-f", "text", "-k", "1"], "--from csv"),
        (&["sort", "-f", "text", "--empty", "first"], "--empty applies to tables and lines"),
        (&["sort", "-f", "csv", "--delimiter", "ab"], "expected one ASCII character"),
        (&["sort", "-f", "csv", "--delimiter", "\""], "cannot separate the fields"),
        (&["sort", "-t", "f16"], "--type f16 is for binary"),
        (&["sort", "x.csv"], "x.csv: cannot open"),
        (&["sort", "x.npy"], "x.npy: cannot open"),
        (&["sort", "x.f16"], "x.f16: cannot open"),
        (&["sort", "a.csv", "b.tsv"], "a.csv: cannot open"),
        (&["sort", "--to", "bin", "--timing", "stdout"], "-o"),
        (&["sort", "a", "b.bin"], "a: cannot open"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let message = refused(args, "1\n");
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}

#[test]
fn defaults_come_from_the_environment_and_yield_to_flags() {
    let with = |args: &[&str]| {
        let defaults = [("GPUSORT_DEVICE", "cpu"), ("GPUSORT_ALGO", "odd-even")];
        let output = run_in_environment(&defaults, args, "2\n1\n");
        assert_eq!(output.stdout, b"1\n2\n");
        stderr(&output)
    };
    assert!(with(&["sort", "-v"]).contains("odd-even network"));
    assert!(with(&["sort", "-v", "-a", "bitonic"]).contains("bitonic network"));
}

#[test]
fn habits_from_sort_are_accepted() {
    assert_eq!(sorted(&["sort", "-n", "-n", "-rr", "-d", "cpu", "-d", "auto"], "1\n2"), "2\n1\n");
    // An empty default is none; a default of the environment is not asked for.
    let with = |args: &[&str], name: &str, value: &str| {
        let output = run_in_environment(&[(name, value)], args, "1\n");
        assert!(output.status.success(), "{name}={value}: {}", stderr(&output));
        stderr(&output)
    };
    for name in ["GPUSORT_ALGO", "GPUSORT_DEVICE", "GPUSORT_TIMING", "GPUSORT_PROGRESS"] {
        with(&["sort"], name, "");
    }
    assert_eq!(with(&["sort", "-q"], "GPUSORT_TIMING", "stderr"), "");
    assert_eq!(with(&["sort", "-q"], "GPUSORT_PROGRESS", "always"), "");
    assert!(with(&["sort", "--to", "bin"], "GPUSORT_TIMING", "stdout").starts_with("sorted"));
}

#[cfg(unix)]
#[test]
fn names_of_files_without_an_end_are_refused() {
    let folder = Folder::new();
    let twice = folder.write("twice", "a\0\0b\0");
    for (name, content) in [("a", "2\n"), ("b", "1\n"), ("names", "a\0b")] {
        folder.write(name, content);
    }
    for (list, said) in
        [("/dev/zero", "name 1 is empty"), (&twice, "name 2 is empty"), ("/dev/null", "no file names")]
    {
        assert!(refused(&["sort", "--files0-from", list], "").contains(said), "{list}");
    }
    // After two names that are right.
    let endless = "(cat names; printf '\\0'; yes 1) | \"$0\" sort --files0-from -";
    assert!(exits(endless, &folder, 2).contains("name 3 is too long for a path"));
}

#[test]
fn options_of_other_tools_are_refused_with_what_to_use() {
    let folder = Folder::new();
    let file = folder.write("x.txt", "2\n1\n");
    for (arguments, said) in [
        (&["-f", "text", "-t,"][..], "or -k N to sort lines by a field"),
        (&["-M"], "-t month"),
        (&["-n", "-V"], "cannot be combined"),
        (&["--files0-from", "x"], "cannot be used with"),
        (&["-k1,3"], "a key for each: -k 1,1 -k 2,2 -k 3,3"),
        (&["-k2.3n"], "positions within a field are not supported; use 2,2n for the whole field"),
        (&["-k3,2n"], "it ends before it begins"),
        (&["-cC"], "cannot be used with"),
        (&["--each", "-o", "-"], "cannot write to standard output"),
        (&["--each", "-o", &file], "is a file; --each needs a folder"),
        (&["-o", "gone/x"], "the folder gone does not exist"),
    ] {
        let message = refused(&[&["sort"], arguments, &[file.as_str()]].concat(), "");
        assert!(message.contains(said), "{arguments:?}: {message}");
        assert!(!message.contains("as a value"), "{arguments:?}: {message}");
    }
    assert_eq!(sorted(&["sort", "-q", "-s", "--stable", &file], ""), "1\n2\n");
    // A key without an end is its first field.
    let lines = "a v1.10 9\nb v1.9 8\n";
    for (open, closed, first) in [
        ("-k2", "-k2,2", "a"),
        ("-k2r", "-k2,2r", "b"),
        ("-k2V", "-k2,2V", "b"),
        ("-k3", "-k3,3", "b"),
        ("-k3nr", "-k3,3nr", "a"),
    ] {
        let [open, closed] = [open, closed].map(|key| sorted(&["sort", "-q", key], lines));
        assert_eq!(open, closed);
        assert!(open.starts_with(first), "{open}");
    }
    // In a pipeline -h is about sizes; where nothing comes it asks for help.
    assert_eq!(sorted(&["sort", "-qh"], "1K\n7\n"), "7\n1K\n");
    let output = gpusort(&["sort", "-h"]).stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success() && String::from_utf8(output.stdout).unwrap().contains("Usage: gpusort sort")
    );
    // Whatever files are called, and however the option is typed.
    for (arguments, blamed) in [
        (&[&file[..]][..], "GPUSORT_PROGRESS"),
        (&["x"], "GPUSORT_PROGRESS"),
        (&["--", "--progress=x"], "GPUSORT_PROGRESS"),
        (&["--progress", "x"], "--progress"),
        (&["--progress=x", "x"], "--progress"),
    ] {
        let arguments = [&["sort"], arguments].concat();
        let said = stderr(&run_in_environment(&[("GPUSORT_PROGRESS", "x")], &arguments, ""));
        assert!(said.contains(&format!("'x' for '{blamed}")), "{arguments:?}: {said}");
    }
    assert!(refused(&["sort", "-f", "text"], "\u{feff}1\u{a0}2\n").contains("'1\\u{a0}2' is not a number"));
    let said = exits("mkdir gone; cd gone; rmdir ../gone; exec \"$0\" sort ../x.txt -o o", &folder, 2);
    assert!(said.contains("No such file or directory"), "{said}");
    exits("exec \"$0\" --help > /dev/full", &folder, 2);
    exits("exec \"$0\" sort --help > /dev/full", &folder, 2);
    exits("exec \"$0\" --version > /dev/full", &folder, 2);
}

#[test]
fn commands_beside_sort_refuse_its_options() {
    let folder = Folder::new();
    let csv = folder.write("a.csv", "c,n\nx,2\ny,1\n");
    for (args, option) in [
        (&["merge", "-k", "n", "--top", "1", "--per", "c"][..], "--per"),
        (&["merge", "--each", "-o", "out"], "--each"),
        (&["merge", "-u", "--count"], "--count"),
        (&["merge", "--count"], "--count"),
        (&["count", "--keep-order"], "--keep-order"),
        (&["shuffle", "--keep-order"], "--keep-order"),
        (&["merge", "-u", "--keep-order"], "--keep-order"),
        (&["count", "-C"], "-C"),
        (&["count", "--argsort"], "--argsort"),
        (&["shuffle", "-k", "c"], "--key"),
    ] {
        let said = refused(&[args, &[&csv]].concat(), "");
        assert!(said.contains(&format!("{option} is for 'gpusort sort'; leave it out")), "{args:?}: {said}");
    }
    for option in ["--count", "--keep-order"] {
        let said = refused(&["sort", "-k", "c", option, &csv], "");
        assert_eq!(said, format!("error: {option} needs --unique (-u); add it\n"));
        sorted(&["sort", "-k", "c", option, "-u", &csv], "");
    }
    let said = refused(&["count", "-k", "c", &csv, "-o", &folder.arg("x.json")], "");
    assert!(said.contains("counts of csv are written as csv"), "{said}");
    let said = stderr(&run(&["shuffle", "-v", &csv], ""));
    assert!(said.contains("shuffled 2 rows in "), "{said}");
    let said = sorted(&["shuffle", "--explain", &csv], "");
    assert_eq!(said, "format  csv\nheader  1 row\n");
}
