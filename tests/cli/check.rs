//! `gpusort check`, and `sort --check`.

use std::io::Write;
use std::process::Stdio;

use crate::support::command::{gpusort, refused, run, stderr};
use crate::support::files::{Folder, lines_to};
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
        check(&["-f", "text"], "# 9\n1 2 3\n\n5\n4\n"),
        broken("standard input:5: out of order: 4 after 5")
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

    // -0 is 0 among integers and less among decimals, which come later.
    assert_eq!(check(&[&folder.write("z.txt", "0\n-0\n7\n")], ""), ok);
    let zeros = folder.write("z.txt", "0\n-0\n7.5\n");
    assert_eq!(check(&[&zeros], ""), broken(&format!("{zeros}:2: out of order: -0 after 0")));
    assert!(refused(&["check"], "0\n-0\n").contains("set the type with --type"));
    assert_eq!(check(&["-t", "i64"], "0\n-0\n"), ok);

    // -0 makes the check look ahead, which must not lose an error before it.
    let inexact = folder.write("i.txt", "9007199254740993\n-0\n-1.5\n");
    assert!(refused(&["check", "-r", &inexact], "").contains("'9007199254740993' is not exact as f64"));
    assert!(refused(&["check", "-", "-"], "1\n").contains("named twice"));
    // Disorder is reported as soon as it is read, though more may come.
    let many = lines_to(20_000) + "5\n";
    for parts in [&["2\n1\n"][..], &["2\n", "1\n"], &["2\r1\r3\r"], &["1\n2\n", &many], &[&many]] {
        let mut child = gpusort(&["check"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // It may have ended before it is given everything.
        parts.iter().for_each(|part| drop(pipe.write_all(part.as_bytes())));
        assert_eq!(end(&mut child).code(), Some(1), "{:.9?}", parts[0]);
        drop(pipe);
    }
    // Of one line it is only waited for what it is, unless that is said.
    let mut child =
        gpusort(&["check", "-f", "text"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"2 1 3 ").unwrap();
    assert_eq!(end(&mut child).code(), Some(1));
    drop(pipe);

    // What would be an error in a sort is one here.
    assert!(refused(&["check"], "1\nx\n").contains("standard input:2:1: 'x' is not a number"));
    assert!(refused(&["check"], "-1\n18446744073709551615\n").contains("no integer type holds both"));
    // In the same words.
    for input in [
        "x\n5\nnone\n",
        "x\nnone\n5\n",
        "x\n-1\n18446744073709551615\n",
        "x\n99999999999999999999\n",
        "x\n9007199254740993\n0.5e17\n",
    ] {
        let args = ["-q", "--from", "csv", "--key", "x"];
        let [sort, check] =
            ["sort", "check"].map(|command| refused(&[&[command][..], &args].concat(), input));
        assert_eq!(sort, check);
    }
    assert!(refused(&["check"], "9007199254740993\n9007199254740993.5\n").contains("is not exact as f64"));

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
