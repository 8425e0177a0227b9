//! Numbers in text, as a script pipes them through the command.

use std::fs;

use crate::device;
use crate::support::command::{refused, run, sorted, stderr};
use crate::support::files::{Folder, lines_to, shuffled_lines};

#[test]
fn a_hundred_thousand_numbers_through_pipes() {
    let (input, expected) = (shuffled_lines(100_000), lines_to(100_000));
    for args in [
        &["sort"][..],
        &["sort", "-a", "bitonic"],
        &["sort", "-a", "bitonic", "-d", &device::name()],
        &["sort", "-ng", "-"],
    ] {
        assert!(sorted(args, &input) == expected, "{args:?}");
    }
}

#[test]
fn spelling_order_and_directions() {
    let input = "3\nnan\n-0\n0\n-inf\n1e3\n007\n";
    assert_eq!(sorted(&["sort"], input), "-inf\n-0\n0\n3\n007\n1e3\nnan\n");
    assert_eq!(sorted(&["sort", "-r"], input), "1e3\n007\n3\n0\n-0\n-inf\nnan\n");
    assert_eq!(
        sorted(&["sort", "-a", "bitonic", "-d", &device::name()], input),
        "-inf\n-0\n0\n3\n007\n1e3\nnan\n"
    );
}

#[test]
fn empty_input_gives_empty_output() {
    assert_eq!(sorted(&["sort"], ""), "");
    assert_eq!(sorted(&["sort", "-a", "bitonic", "-d", &device::name()], ""), "");
    assert_eq!(sorted(&["sort", "-f", "bin"], ""), "");
    assert_eq!(sorted(&["sort"], "7"), "7\n");
}

#[test]
fn several_files_sort_as_one() {
    let folder = Folder::new();
    // Without an end of line, numbers of two files must not run together.
    let (a, b) = (folder.write("a", "3\n1"), folder.write("b", "\u{feff}2"));
    assert_eq!(sorted(&["sort", &a, &b, "-"], "0"), "0\n1\n2\n3\n");
    let bad = folder.write("bad", "\u{feff}5\nx");
    assert!(refused(&["sort", "-n", &a, &bad], "").contains("bad:2: 'x' is not a number"));
    assert!(refused(&["sort", "-k1", &a, &bad], "").contains("bad:2: 'x' is not a number, but '3' ("));
    // Without a key, whole lines are sorted, and that is told.
    let done = run(&["sort", &a, &bad], "");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "1\n3\n5\nx\n");
    assert!(
        stderr(&done).contains("whole lines as text: 'x' (") && stderr(&done).contains("bad:2)"),
        "{done:?}"
    );
}

#[test]
fn wrong_input_is_refused() {
    let folder = Folder::new();
    assert!(refused(&["sort", "-n"], "1\n2\n3x\n").contains("standard input:3: '3x' is not a number"));
    assert!(
        refused(&["sort", "-k1"], "1\n2\n3x\n").contains("standard input:3: '3x' is not a number, but '1'")
    );
    assert!(
        refused(&["sort", "-f", "text"], "\u{feff}3x\n").contains("standard input:1:1: '3x' is not a number")
    );
    assert!(
        refused(&["sort", "-t", "u32"], "-1")
            .contains("standard input:1: '-1' is not a number that u32 holds")
    );
    let five = folder.write("five.bin", "12345");
    assert!(refused(&["sort", &five], "").contains("five.bin: 5 bytes"));
    assert!(refused(&["sort", &folder.arg("missing")], "").contains("missing: cannot open: No such file"));
    assert!(refused(&["sort", &folder.arg("")], "").contains("is a folder"));
    assert!(
        refused(&["sort", "-o", &folder.arg("no/such/folder")], "1")
            .contains("does not exist; create it first")
    );
    assert!(refused(&["sort", "-o", &folder.arg("")], "1").contains("is a folder"));
    assert_eq!(folder.names(), ["five.bin"]);
}

#[test]
fn numbers_have_any_number_of_digits() {
    let (forty, more) = ("9".repeat(40), format!("1{}", "0".repeat(40)));
    let falling = format!("{more}\n{forty}.5\n{forty}\n18446744073709551615\n-1\n");
    let rising = format!("-1\n18446744073709551615\n{forty}\n{forty}.5\n{more}\n");
    for args in [&[][..], &["-k", "1"], &["-f", "text"], &["--memory", "1"]] {
        assert_eq!(sorted(&[&["sort", "-q"], args].concat(), &falling), rising, "{args:?}");
    }
    // Elements of binary data have not.
    let error = refused(&["sort", "--to", "bin"], "-1\n18446744073709551615\n");
    assert!(error.contains("no element type holds all numbers"), "{error}");
}

#[test]
fn unique_and_top_leave_records_out_and_count_them() {
    let input = "3\n1\n03\n2\n1\n3.0\n";
    // Without a key, whole lines are compared: for -u, and where numbers are equal.
    assert_eq!(sorted(&["sort", "-q", "-u"], input), "1\n2\n03\n3\n3.0\n");
    assert_eq!(sorted(&["sort", "-q", "-u", "-n"], input), "1\n2\n03\n3\n3.0\n");
    assert_eq!(sorted(&["sort", "-q", "-u", "-k", "1"], input), "1\n2\n3\n");
    assert_eq!(sorted(&["sort", "-q", "-u"], "3\n1\n3\n2\n1\n"), "1\n2\n3\n");
    assert_eq!(sorted(&["sort", "-q", "-u", "-r", "--top", "2"], input), "3.0\n3\n");
    assert_eq!(sorted(&["sort", "-q", "-u", "-k", "1:r", "--top", "2"], input), "3\n2\n");
    assert_eq!(sorted(&["sort", "-q", "--top", "3"], input), "1\n1\n2\n");
    assert_eq!(sorted(&["sort", "-q", "--top", "3"], "3\n1\n2\n0\n"), "0\n1\n2\n");
    assert_eq!(sorted(&["sort", "-q", "--argsort"], input), "1\n4\n3\n2\n0\n5\n");
    assert_eq!(sorted(&["sort", "-q", "--argsort", "-k", "1"], input), "1\n4\n3\n0\n2\n5\n");
    assert_eq!(sorted(&["sort", "-q", "--argsort", "-u"], "3\n1\n3\n2\n1\n"), "1\n3\n0\n");
    assert_eq!(sorted(&["sort", "-q", "--top", "0"], input), "");
    let told = stderr(&run(&["sort", "-v", "-u", "-k", "1", "--top", "2"], input));
    assert!(told.contains("; 3 repeated keys omitted; 1 cut by --top;"), "{told}");
    let told = run(&["sort", "-u", "-k", "1", "--json", "--timing", "stderr"], input);
    let json: serde_json::Value = serde_json::from_slice(&told.stderr).unwrap();
    assert_eq!((&json["repeated"], &json["n"]), (&3.into(), &6.into()));

    let folder = Folder::new();
    let (input, output) = (folder.write("in.txt", input), folder.arg("positions.u32"));
    sorted(&["sort", "-q", "--argsort", &input, "-o", &output], "");
    let words: Vec<u8> = [1_u32, 4, 3, 2, 0, 5].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(fs::read(&output).unwrap(), words);
}
