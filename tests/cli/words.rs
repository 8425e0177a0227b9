//! Keys that are text, where what is decided depends on more than one field.

use gpusort::files::{Input, Key, Nulls, Options};

use crate::support::command::{refused, sorted};
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
