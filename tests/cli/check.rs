//! `gpusort check`, and `sort --check`.

use std::fs;
use std::io::Write;
use std::process::Stdio;

#[cfg(feature = "arrow")]
use crate::support::command::sorted;
use crate::support::command::{gpusort, refused, run, stderr};
use crate::support::files::{Folder, falling_lines};
use crate::support::process::end;

#[test]
fn check_finds_disorder_in_files_that_all_cores_read() {
    const LINES: usize = 1_500_000;
    let folder = Folder::new();
    let text = |broken: usize, form: &dyn Fn(usize) -> String| {
        let value = |line: usize| if line == broken { 1 } else { line };
        (2..LINES + 2).map(|line| form(value(line))).collect::<String>()
    };
    let integers = |value: usize| format!("{value}\n");
    let floats = |value: usize| format!("{value}.5\n");
    let rows = |value: usize| format!("\"a,\n{value}\",{value}\n");
    let found = |args: &[&str], input: &str| {
        let output = run(&[&["check"], args].concat(), input);
        (output.status.code(), stderr(&output))
    };
    for broken in [3, 70_000, LINES / 2, LINES, LINES + 1] {
        let place = |line: usize, point: &str| {
            let before = broken - 1;
            (
                Some(1),
                format!("gpusort: standard input:{line}: out of order: 1{point} after {before}{point}\n"),
            )
        };
        assert_eq!(found(&[], &text(broken, &integers)), place(broken - 1, ""));
        let file = folder.write("numbers.txt", text(broken, &floats));
        let (code, message) = place(broken - 1, ".5");
        assert_eq!(found(&[&file], ""), (code, message.replace("standard input", &file)));
        let table = text(broken, &rows);
        assert_eq!(found(&["-f", "csv", "--no-header", "-k", "2"], &table), place(2 * broken - 3, ""));
    }
    let right = folder.write("numbers.txt", text(0, &integers));
    assert_eq!(found(&[&right], ""), (Some(0), String::new()));
    assert_eq!(found(&["-u", &right, &right], "").0, Some(1));
    let (code, told) = found(&["--progress", "always", &right], "");
    assert!(code == Some(0) && told.contains("check"), "{told:?}");
    assert_eq!(found(&["-q", "--progress", "always", &right], ""), (Some(0), String::new()));
}

#[test]
fn check_names_the_first_disorder() {
    let folder = Folder::new();
    let check = |args: &[&str], input: &str| {
        let output = run(&[&["check"], args].concat(), input);
        assert!(output.stdout.is_empty());
        (output.status.code(), stderr(&output))
    };
    let ok = (Some(0), String::new());
    let broken = |message: &str| (Some(1), format!("gpusort: {message}\n"));
    assert_eq!(check(&[], "1\n2\n2\n10\n"), ok);
    assert_eq!(
        check(&["-f", "text"], "1 2 3\n\n5\n4\n"),
        broken("standard input:4: out of order: 4 after 5")
    );
    assert_eq!(check(&["-u"], "1\n2\n2\n"), broken("standard input:3: out of order: 2 after 2"));
    assert_eq!(check(&["-r"], "3\n2\nnan\n"), ok);
    assert_eq!(check(&["--nan", "first"], "3\nnan\n"), broken("standard input:2: out of order: nan after 3"));
    assert_eq!(check(&["-q"], "2\n1\n"), (Some(1), String::new()));
    assert_eq!(check(&[], ""), ok);
    let table = folder.write("t.csv", "x,y\n1,2\n\"1\",1\n1,9\n");
    assert_eq!(check(&["-k", "x", &table], ""), ok);
    assert_eq!(
        check(&["-k", "x", "-k", "y:r", &table], ""),
        broken(&format!("{table}:4, column 'y': out of order: 9 after 1"))
    );
    let words = folder.write("w.i16", [1_i16, 3, -2].map(i16::to_le_bytes).concat());
    assert_eq!(check(&[&words], ""), broken(&format!("{words}, element 2: out of order: -2 after 3")));
    // Over several files, as one.
    let (a, b) = (folder.write("a.txt", "1\n5\n"), folder.write("b.txt", "4\n"));
    assert_eq!(check(&[&a, &b], ""), broken(&format!("{b}:1: out of order: 4 after 5")));
    assert_eq!(check(&[&b, &a], ""), (Some(1), format!("gpusort: {a}:1: out of order: 1 after 4\n")));

    // Zero has no sign, whatever comes later; without a key, equal numbers are lines in order.
    for zeros in ["0\n-0\n", "0\n-0\n7\n", "0\n-0\n7.5\n"] {
        assert_eq!(check(&["-k", "1"], zeros), ok);
        assert_eq!(check(&[], zeros), broken("standard input:2: out of order: -0 after 0"));
    }
    // Numbers are exact, whatever their size.
    assert_eq!(check(&[], "-1\n18446744073709551615\n"), ok);
    assert_eq!(check(&[], "9007199254740993\n9007199254740993.5\n"), ok);
    assert_eq!(
        check(&[], "9007199254740993\n9007199254740992.9\n"),
        broken("standard input:2: out of order: 9007199254740992.9 after 9007199254740993")
    );
    assert_eq!(check(&["-r"], "9007199254740993\n-0\n-1.5\n"), ok);
    assert!(refused(&["check", "-", "-"], "1\n").contains("name it once"));
    // Whole lines are text without a look at them: disorder is reported as soon as it is read,
    // though more may come.
    let many = falling_lines(20_000);
    for parts in [&["2\n1\n"][..], &["2\n", "1\n"], &["0\n1\n", &many], &[&many]] {
        let mut child =
            gpusort(&["check", "-k", "0"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // It may have ended before it is given everything.
        parts.iter().for_each(|part| drop(pipe.write_all(part.as_bytes())));
        assert_eq!(end(&mut child).code(), Some(1), "{:.9?}", parts[0]);
        drop(pipe);
    }
    // Numbers of text have no kind that is looked for.
    let mut child =
        gpusort(&["check", "-f", "text"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"2 1 3 ").unwrap();
    assert_eq!(end(&mut child).code(), Some(1));
    drop(pipe);

    // What would be an error in a sort is one here.
    assert!(refused(&["check", "-n"], "1\nx\n").contains("standard input:2: 'x' is not a number"));
    assert_eq!(
        check(&[], "1\nx\n").1,
        "gpusort: compared whole lines as text: 'x' (standard input:2) does not fit the other first fields; use -k 1 to sort by them\n"
    );
    // In the same words.
    for input in ["x\n5\nnone\n", "x\nnone\n5\n", "x\n2026-11-21\nnone\n", "x\n1\n2026-11-21\n"] {
        let args = ["-q", "--from", "csv", "--key", "x"];
        let [sort, check] =
            ["sort", "check"].map(|command| refused(&[&[command][..], &args].concat(), input));
        assert_eq!(sort, check);
    }

    // The flags of sort.
    for (flag, message) in [
        ("-c", "gpusort: standard input:2: out of order: 1 after 2\n"),
        ("--check", "gpusort: standard input:2: out of order: 1 after 2\n"),
        ("-C", ""),
        ("--check=quiet", ""),
        ("--check=silent", ""),
    ] {
        let output = run(&["sort", flag], "2\n1\n");
        assert_eq!((output.status.code(), stderr(&output)), (Some(1), message.to_owned()), "{flag}");
        assert!(run(&["sort", flag], "1\n2\n").status.success());
    }
    assert!(refused(&["sort", "-c", "-o", "x"], "").contains("cannot be used with"));
}

/// Arrow declares no order, and one column needs no key.
#[cfg(feature = "arrow")]
#[test]
fn the_only_column_of_an_arrow_table_is_checked() {
    let folder = Folder::new();
    let to = folder.arg("one.arrow");
    for (args, said) in [(&[][..], None), (&["-r"][..], Some("row 1: out of order: 2 after 3"))] {
        sorted(&[&["sort", "-f", "csv", "--to", "arrow", "-o", &to], args].concat(), "a\n3\n1\n2\n");
        let done = run(&["check", &to], "");
        assert_eq!(done.status.code(), Some(i32::from(said.is_some())), "{args:?}");
        assert!(stderr(&done).contains(said.unwrap_or("")), "{}", stderr(&done));
    }
}

/// Keys compare in another form than their fields have, and disorder names the key that differs.
#[test]
fn disorder_names_the_key_that_differs() {
    let folder = Folder::new();
    let file = folder.write("c.txt", "a 2\nA 1\n");
    for kind in ["nocase", "text", "version"] {
        let key = format!("1:{kind}");
        for command in [&["check"][..], &["sort", "-m"]] {
            let lines = if kind == "nocase" { "a 2\nA 1\n" } else { "a 2\na 1\n" };
            fs::write(&file, lines).unwrap();
            let output = run(&[command, &["-k", &key, "-k", "2", &file]].concat(), "");
            let said = stderr(&output);
            assert!(
                said.contains("c.txt:2, column '2': out of order: 1 after 2"),
                "{kind} {command:?}: {said}"
            );
        }
    }
}
