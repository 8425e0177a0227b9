//! Keys that are text, where what is decided depends on more than one field.

#[cfg(unix)]
use std::fs;

#[cfg(unix)]
use crate::support::command::{exits, shell};
use crate::support::command::{refused, run, sorted, stderr};
#[cfg(unix)]
use crate::support::files::Folder;

#[test]
fn the_whole_line_is_text() {
    for (args, expected) in [
        (&["-k", "0"][..], "10 a\n9\n9 b\n"),
        (&["-k", "0:r"], "9 b\n9\n10 a\n"),
        // As a whole it is ordered so without a key.
        (&["-V"], "9\n9 b\n10 a\n"),
        (&["-n", "-k", "0"], "10 a\n9\n9 b\n"),
        (&["--invalid", "last", "-k", "0"], "10 a\n9\n9 b\n"),
    ] {
        assert_eq!(sorted(&[&["sort", "-q"], args].concat(), "9 b\n10 a\n9\n"), expected, "{args:?}");
    }
    assert_eq!(sorted(&["sort", "-q", "-k", "0"], "9\n10\n"), "10\n9\n");
    for kind in ["number", "version", "time", "text"] {
        let said = refused(&["sort", "-k", &format!("0:{kind}")], "10\n9\n");
        assert!(said.contains("the whole record is text and takes no kind"), "{said}");
    }
    assert_eq!(sorted(&["sort", "-q", "-k", "0", "--ignore-case"], "b\nA\na\nB\n"), "A\na\nb\nB\n");
}

/// A file is looked at from both ends, a pipe at its beginning alone: what comes later fits, or is an error.
#[cfg(unix)]
#[test]
fn what_is_looked_at_decides_and_what_comes_later_fits() {
    const LOOKED_AT: usize = 7 << 20;
    let folder = Folder::new();
    let parts = ["nan nan\n", "nan nan b\n"].map(|line| line.repeat(LOOKED_AT / line.len() + 1));
    folder.write("x", parts.concat() + "nan x b\n");
    exits("exec \"$0\" check -k 3 -k 2 --empty first x", &folder, 0);
    for command in ["check", "sort", "sort --top 1", "sort --memory 4M"] {
        for (key, said) in [("3", "split at blanks"), ("2", ": 'x' is not a number; use -k 2:text")] {
            let error = exits(&format!("cat x | \"$0\" {command} -k {key}"), &folder, 2);
            assert!(error.contains(said), "{command}: {error}");
        }
    }
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

/// A number has the spelling that is asked for; in another one it is a word.
#[test]
fn numbers_in_another_spelling_are_words() {
    for lines in ["x\n1.5\n", "1.5\nx\n"] {
        for key in ["1", "1:text"] {
            let text = sorted(&["sort", "-q", "--decimal", ",", "-k", key], lines);
            assert_eq!(text, "1.5\nx\n");
        }
        let error = refused(&["sort", "-n", "--decimal", ","], lines);
        assert!(error.contains("is not a number"), "{error}");
        let error = refused(&["sort", "--decimal", ",", "-k", "1"], &format!("{lines}1,5\n"));
        assert!(error.contains("standard input:3: '1,5' is a number, but "), "{error}");
    }
    // A sign that no number begins with elsewhere; and what counts as empty is no word.
    let error = refused(&["sort", "--decimal", "·", "-k", "1"], "x\n·5\n");
    assert!(error.contains("standard input:2") && error.contains("·5"), "{error}");
    let error = refused(&["sort", "--na", "NA", "-k", "1"], "NA\nx\n5\n");
    assert!(error.contains("standard input:3") && error.contains("'x' (standard input:2)"), "{error}");
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

/// Blanks around a field count in text, line feeds too where NUL ends lines.
#[test]
fn line_feeds_are_blanks_of_text_where_nul_ends_lines() {
    let names = "a:\nb\0a:b\0a: c\0";
    for key in ["2", "2,2", "2:text", "2,2b"] {
        assert_eq!(sorted(&["sort", "-q", "-z", "-t:", "-k", key], names), "a:\nb\0a: c\0a:b\0", "{key}");
    }
    for key in ["2:r", "2,2r"] {
        assert_eq!(sorted(&["sort", "-q", "-z", "-t:", "-k", key], names), "a:b\0a: c\0a:\nb\0", "{key}");
    }
    assert_eq!(sorted(&["sort", "-q", "-z", "-t:", "-k", "2"], "a:\n10\0a: 9\0"), "a: 9\0a:\n10\0");
}

/// A column is of a kind that all its fields fit, without a word about it.
#[test]
fn kinds_are_found() {
    for (fields, expected) in [
        ("1.5M\n900K\n", "900K\n1.5M\n"),
        ("1.5s\n12ms\n", "12ms\n1.5s\n"),
        ("v1.10.0\nv1.9.0\n", "v1.9.0\nv1.10.0\n"),
        ("12%\n5%\n", "5%\n12%\n"),
        ("b\na\n", "a\nb\n"),
        // Of versions one has two points.
        ("v1.9\nv1.10\n", "v1.10\nv1.9\n"),
    ] {
        let table = format!("s\n{fields}");
        let done = run(&["sort", "-f", "csv", "-k", "s"], &table);
        assert_eq!(
            (stderr(&done), String::from_utf8(done.stdout).unwrap()),
            (String::new(), format!("s\n{expected}"))
        );
    }
}

/// Text of which most fields are of a kind is text, with a note that names the kind and the first other.
#[test]
fn text_that_seems_to_be_of_a_kind_is_noted() {
    for (fields, note) in [
        (
            "12ms\n1.5s\n3s\nx\n",
            ", because of 'x' (standard input:5); use -k s:duration --invalid last to sort ",
        ),
        (
            "1.2.3\n1.10.3\n1.9.3\nx\n",
            ", because of 'x' (standard input:5); use -k s:version to sort versions",
        ),
        ("21.11.2026\n02.12.2025\n", "; all fields fit --time-format '%d.%m.%Y'\n"),
        ("x\ny\nz\n12ms\n", ""),
    ] {
        let (table, is_noted) = (format!("s\n{fields}"), !note.is_empty());
        let said = stderr(&run(&["sort", "-f", "csv", "-k", "s"], &table));
        let note = format!("gpusort: sorted key 's' as text{note}");
        assert!(if is_noted { said.starts_with(&note) } else { said.is_empty() }, "{said}");
        for silent in [&["-q", "-k", "s"][..], &["-k", "s:text", "--timing", "off"]] {
            let said = stderr(&run(&[&["sort", "-f", "csv"], silent].concat(), &table));
            assert_eq!(said, "");
        }
        // What it names works.
        if let Some(key) = note.split_once("; use ").map(|(_, key)| key.split(" to sort").next().unwrap()) {
            let args: Vec<&str> =
                ["sort", "-q", "-f", "csv"].into_iter().chain(key.split_whitespace()).collect();
            assert!(run(&args, &table).status.success(), "{key}");
        }
    }
    let dates = "s\n21.11.2026\n02.12.2025\n";
    let by_time = sorted(&["sort", "-q", "-f", "csv", "-k", "s", "--time-format", "%d.%m.%Y"], dates);
    assert_eq!(by_time, "s\n02.12.2025\n21.11.2026\n");
}

/// Each error names what makes the same command work.
#[test]
fn remedies_work_as_typed() {
    for (key, input, said) in [
        ("p", "p;q\n1,200;x\n35;y\n", &["-k p --thousands ,", "-k p:text"][..]),
        ("p", "p;q\n3;x\nn/a;y\n", &["-k p --na n/a", "-k p:text", "-k p:number --invalid last"]),
        ("p", "p;q\n12ms;x\n3;y\n", &["-k p:text", "-k p:number --invalid last"]),
        ("p:number", "p;q\n12ms;x\n3;y\n", &["-k p:number --leading", "-k p:number --invalid last"]),
        ("p", "p;q\nx;x\n3;y\n", &["-k p:text", "-k p:number --invalid last", "-k p --na x"]),
        ("p", "p;q\n2024-01-05;x\n3/1/2024;y\n", &["-k p:text", "-k p:time --invalid last"]),
        ("p", "p;q\n1.5M;x\nn/a;y\n", &["-k p:text", "-k p:size --invalid last", "-k p --na n/a"]),
    ] {
        let table = ["sort", "-q", "-f", "csv", "--delimiter", ";"];
        let error = refused(&[&table[..], &["-k", key]].concat(), input);
        for remedy in said {
            // The key is not said again where it stays.
            let short = remedy.trim_start_matches(&format!("-k {key} "));
            assert!(error.contains(short), "{short}: {error}");
            let remedy: Vec<&str> = remedy.split(' ').collect();
            assert!(run(&[&table[..], &remedy].concat(), input).status.success(), "{remedy:?}");
        }
    }
    // Without a key it is no error, but with the kind that the remedies are for.
    let error = refused(&["sort", "-q", "-n"], "1\nfoo\n");
    assert!(error.contains("use --invalid last or --na foo"), "{error}");
    for remedy in [&["--invalid", "last"][..], &["--na", "foo"]] {
        assert_eq!(sorted(&[&["sort", "-q", "-n"], remedy].concat(), "foo\n1\n"), "1\nfoo\n");
    }
    // Binary output has numbers alone, so what is offered leaves nothing else.
    for (args, input) in [(&["-f", "text"][..], "1 foo\n"), (&["--to", "bin"], "1\nfoo\n")] {
        let error = refused(&[&["sort"], args].concat(), input);
        assert!(error.contains("'foo' is not a number") && !error.contains("--invalid"), "{error}");
        assert!(!error.contains("--na"), "{error}");
    }
}

#[test]
fn half_days_are_times_by_a_pattern_alone() {
    let text = "2026-11-21 01:00 PM b\n2026-11-21 10:00 AM a\n";
    let turned = "2026-11-21 10:00 AM a\n2026-11-21 01:00 PM b\n";
    let pattern = ["sort", "-q", "--time-format", "%Y-%m-%d %I:%M %p"];
    assert_eq!(sorted(&pattern, text), turned);
    assert_eq!(sorted(&[&pattern[..], &["-k", "1"]].concat(), text), turned);
    for text in [text, "2026-11-21 01:00:00PM b\n", "2026-11-21 10:00: b\n"] {
        let said = refused(&["sort", "-k", "1:time"], text);
        assert!(said.contains("is not a time"), "{said}");
    }
}

#[test]
fn remedies_keep_the_direction_of_a_key() {
    let said = refused(&["sort", "-f", "csv", "-k", "p:r"], "p\n3\n1\nx\n");
    assert!(said.contains("use -k p:text:r, -k p:number:r --invalid last, or --na x"), "{said}");
    let said = refused(&["sort", "-r", "-k", "1:a"], "3\n1\nx\n");
    assert!(said.contains("-k 1:number:a --invalid last"), "{said}");
    let said = refused(&["sort", "-k1,1r"], "1:43 a\n12:13:58 b\n");
    assert!(said.contains("use -k 1:duration:r\n"), "{said}");
}

#[test]
fn a_header_is_named_as_a_remedy_of_a_given_kind() {
    let text = "price\n3\n1\n";
    for args in [&["-n"][..], &["-k", "1n"], &["-k", "1:number"]] {
        let args = [&["sort", "-q"], args].concat();
        let said = refused(&args, text);
        assert!(said.contains("or --header\n"), "{said}");
        assert_eq!(sorted(&[&args[..], &["--header"]].concat(), text), "price\n1\n3\n");
    }
}

#[test]
fn columns_with_numbers_as_names_are_told_apart() {
    let args = ["sort", "-q", "-f", "csv", "-k", "1"];
    let said = refused(&args, "2,1\n3,0\n2,9\n");
    assert!(said.contains("column 2 is named '1', and column 1 is named '2'; use --no-header"), "{said}");
    assert_eq!(sorted(&[&args[..], &["--no-header"]].concat(), "2,1\n1,3\n"), "1,3\n2,1\n");
    let said = refused(&args, "a,1\n3,0\n");
    assert!(said.contains("column 2 is named '1', and column 1 is named 'a'; use -k 2 or -k a"), "{said}");
}

#[test]
fn notes_say_what_would_split_or_read_a_column() {
    for (args, text, expected) in [
        (
            &["-f", "csv", "-k", "1"][..],
            "id;v\n10;x\n9;y\n",
            "took 'id;v' as one column; use --delimiter ';' to split it",
        ),
        (
            &["-k", "2"],
            "a 1,234\nb 999,999\n",
            "sorted key '2' as text; use --decimal , or --thousands , if they are numbers",
        ),
        (&["-k", "1"], "1,5\n2,25\n", "sorted key '1' as text; use --decimal , if they are numbers"),
        (&[], "1,234,567\n999,999\n", "sorted lines as text; use --thousands , if they are numbers"),
        (&["-k", "1"], "02/12/2025\n02/11/2026\n", "all fields fit --time-format '%d/%m/%Y' and '%m/%d/%Y'"),
        (
            &["-k", "1:number", "--invalid", "skip"],
            "3\nx\n",
            "skipped 1 row with an invalid field (--invalid skip)",
        ),
    ] {
        let done = run(&[&["sort"], args].concat(), text);
        assert!(stderr(&done).contains(expected), "{args:?}: {}", stderr(&done));
    }
    let checked = run(&["check"], "1\nx\n");
    assert!(stderr(&checked).contains("compared whole lines as text"), "{}", stderr(&checked));
}

#[test]
fn points_are_two_columns_of_numbers() {
    // The curve passes (0, 0), (300, 0), (300, 300), (0, 300).
    let points = "x,y\n300,0\n0,300\n,0\n0,0\n300,300\n";
    let along = "x,y\n0,0\n300,0\n300,300\n0,300\n,0\n";
    let turned = "x,y\n0,300\n300,300\n300,0\n0,0\n,0\n";
    for (key, expected) in [
        ("hilbert(x,y)", along),
        ("hilbert( 1, y )", along),
        ("hilbert(x,y):a", along),
        ("hilbert(x,y):r", turned),
    ] {
        assert_eq!(sorted(&["-q", "-f", "csv", "-k", key], points), expected, "{key}");
        assert_eq!(sorted(&["-q", "-k", key, "--header"], points), expected, "{key}");
    }
    let again = sorted(&["-q", "-f", "csv", "-k", "x", "-k", "hilbert(x,y)", "-k", "y"], points);
    assert_eq!(again, "x,y\n0,0\n0,300\n300,0\n300,300\n,0\n");
    let named = "\"hilbert(x,y)\",x,y\n2,0,0\n1,9,9\n";
    assert_eq!(
        sorted(&["-q", "-f", "csv", "-k", "hilbert(x,y)"], named),
        "\"hilbert(x,y)\",x,y\n1,9,9\n2,0,0\n"
    );
    let problem = |args: &[&str]| refused(&[&["-f", "csv"], args].concat(), points);
    assert!(problem(&["-k", "hilbert(x,y):text"]).contains("hilbert takes no kind; leave it out"));
    assert!(problem(&["-k", "hilbert(x,X)"]).contains("did you mean 'x'?"));
    assert!(problem(&["-k", "hilbert(x,0)"]).contains("no column '0'"));
    assert!(refused(&["-f", "csv", "-k", "hilbert(x,y)"], "x,y\n1,a\n").contains("'a' is not a number"));
    let checked = run(&["check", "-f", "csv", "-k", "hilbert(x,y)"], points);
    assert!(stderr(&checked).contains("out of order: (0, 0) after (, 0)"), "{}", stderr(&checked));
    let said = stderr(&run(&["-v", "-f", "csv", "-k", "hilbert(x,y):r"], points));
    assert!(said.contains("by 'hilbert(x,y)' (hilbert, largest first)"), "{said}");
    let said = stderr(&run(&["-u", "-f", "csv", "-k", "hilbert(x,y)"], "x,y\n1,2\n1.0,2\n"));
    assert!(said.contains("1.0"), "{said}");
}

/// A list of 23 MB; a name took ten times its bytes.
#[cfg(target_os = "linux")]
#[test]
fn a_long_list_of_names_takes_little_memory() {
    let folder = Folder::new();
    folder.write("list.txt", (0..2_000_000).map(|number| format!("name{number}\n")).collect::<String>());
    folder.write("in.csv", "x\nname12\nother\nname7\n");
    let sort = "exec \"$0\" sort -q -d cpu -k x:list=list.txt in.csv -o out.csv";
    exits(&format!("ulimit -v 300000; {sort}"), &folder, 0);
    assert_eq!(fs::read_to_string(folder.arg("out.csv")).unwrap(), "x\nname7\nname12\nother\n");
}

/// Names in an order of their own: of a list, and of months.
#[test]
fn names_have_an_order_of_their_own() {
    let folder = Folder::new();
    let list = folder.write("genome.txt", "chr1\t100\nchr2 90\n\nchr10\nchr1\n");
    let key = |modifiers: &str| format!("1:list={list}{modifiers}");
    let input = "chr10 a\nM b\nchr2 c\nchr1 d\n\nchr11 e\nCHR1 f\nchr2 g\n";
    for (key, expected) in [
        (key(""), "chr1 d\nchr2 c\nchr2 g\nchr10 a\nCHR1 f\nM b\nchr11 e\n\n"),
        // What the list lacks comes last in both directions.
        (key(":r"), "chr10 a\nchr2 c\nchr2 g\nchr1 d\nchr11 e\nM b\nCHR1 f\n\n"),
        (key(":nocase"), "chr1 d\nCHR1 f\nchr2 c\nchr2 g\nchr10 a\nchr11 e\nM b\n\n"),
    ] {
        for memory in ["1G", "1"] {
            assert_eq!(sorted(&["sort", "-q", "-k", &key, "--memory", memory], input), expected, "{key}");
        }
        assert!(run(&["check", "-k", &key], expected).status.success(), "{key}");
        assert_eq!(run(&["check", "-k", &key], input).status.code(), Some(1), "{key}");
    }
    let csv = "n,chrom\n1,chr10\n2,chr1\n";
    assert_eq!(
        sorted(&["-q", "-f", "csv", "-k", &format!("chrom:list={list}")], csv),
        "n,chrom\n2,chr1\n1,chr10\n"
    );
    assert!(refused(&["-k", "1:list=missing.txt"], "a\n").contains("missing.txt: cannot read"));
    assert!(refused(&["-k", &format!("0:list={list}")], "a\n").contains("takes no kind"));

    let months = "Sep a\nmarch b\nJAN c\n\nseptember d\n";
    let expected = "JAN c\nmarch b\nSep a\nseptember d\n\n";
    for args in [&["-k", "1:month"][..], &["-k1,1M"], &["-t", "month", "-k", "1"], &["-t", "month"]] {
        assert_eq!(sorted(&[&["-q"], args].concat(), months), expected, "{args:?}");
    }
    let said = refused(&["-k", "1:month"], "Jan\nSept\n");
    assert!(said.contains("standard input:2: 'Sept' is not the name of a month"), "{said}");
    assert_eq!(sorted(&["-q", "-t", "hex"], "f a\n0x10 b\n1 d\n1 c\n"), "1 c\n1 d\nf a\n0x10 b\n");
}
