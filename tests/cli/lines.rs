//! Lines: what other programs print, by one of their fields.

use std::fs;

use crate::device;
use crate::support::command::{BINARY, refused, run, sorted, stderr};
use crate::support::files::{Folder, fixture};

/// Outputs of real programs, beside what GNU `sort` made of them.
#[test]
fn outputs_of_programs_are_ordered_as_sort_orders_them() {
    for (args, input, expected) in [
        (&["-k", "1"][..], "du.txt", "du.sorted.txt"),
        (&["-f", "lines"], "wc.txt", "wc.sorted.txt"),
        (&["-k", "1:r"], "uniq.txt", "uniq.reversed.txt"),
        (&["--header", "-k", "%CPU:r", "-k", "PID"], "ps.txt", "ps.sorted.txt"),
        (&["--header", "-k", "5", "--leading"], "df.txt", "df.sorted.txt"),
        (&["-t:", "-k", "3"], "passwd.txt", "passwd.sorted.txt"),
        (&["--delimiter", ":", "-k", "3"], "passwd.txt", "passwd.sorted.txt"),
    ] {
        let read = |name: &str| fs::read_to_string(fixture(&format!("lines/{name}"))).unwrap();
        let (text, expected) = (read(input), read(expected));
        assert_ne!(text, expected, "{input} is sorted already");
        for device in ["cpu", &device::name()] {
            let args = [&["sort", "-q", "-d", device], args].concat();
            assert_eq!(sorted(&args, &text), expected, "{args:?}");
            let file = fixture(&format!("lines/{input}"));
            assert_eq!(sorted(&[&args[..], &[&file]].concat(), ""), expected, "{args:?}");
        }
    }
}

#[test]
fn lines_come_out_byte_for_byte() {
    let lines = "\u{feff}  10 a,\"b\r\n\t9\tx # y\n\n 2 \rz\n#7\n";
    let out = "\u{feff} 2 \rz\n\t9\tx # y\n  10 a,\"b\r\n\n#7\n";
    assert_eq!(sorted(&["sort", "-q", "-f", "lines", "-n", "--invalid", "last"], lines), out);
    let whole = "\u{feff}\n\t9\tx # y\n  10 a,\"b\r\n 2 \rz\n#7\n";
    for args in [&["-f", "lines"][..], &["-k", "0"]] {
        assert_eq!(sorted(&[&["sort", "-q"], args].concat(), lines), whole, "{args:?}");
    }
    // A last line without an end gets the first one's.
    assert_eq!(sorted(&["sort", "-q", "-k1"], "2\r\n1\n0"), "0\r\n1\n2\r\n");
    assert_eq!(sorted(&["sort", "-q", "-k1"], ""), "");
    assert_eq!(sorted(&["sort", "-q", "-k1"], "\n"), "\n");
}

#[test]
fn a_line_may_lack_the_field() {
    let lines = "a 3\nb\n\nc 1 9\n";
    let by_second = |args: &[&str]| sorted(&[&["sort", "-q", "-k", "2"], args].concat(), lines);
    assert_eq!(by_second(&[]), "c 1 9\na 3\nb\n\n");
    assert_eq!(by_second(&["-r", "--empty", "first"]), "b\n\na 3\nc 1 9\n");
    assert_eq!(by_second(&["-u"]), "c 1 9\na 3\nb\n");
    assert_eq!(by_second(&["--top", "1"]), "c 1 9\n");
    assert_eq!(by_second(&["--argsort"]), "3\n0\n1\n2\n");
    let error = refused(&["sort", "-k", "2", "--empty", "error"], lines);
    assert!(error.contains("standard input:2: the field is empty"), "{error}");
}

#[test]
fn headers_stay_on_top_and_name_columns() {
    let folder = Folder::new();
    let one = folder.write("a.txt", "NAME   SIZE\nx 2\ny 1\n");
    let two = folder.write("b.log", "NAME   SIZE\nz 0\n");
    // A name means a header.
    for args in [&["--header", "-k", "SIZE"][..], &["-k", "SIZE"], &["--header", "-k", "2"]] {
        let both = sorted(&[&["sort", "-q"], args, &[&one, &two]].concat(), "");
        assert_eq!(both, "NAME   SIZE\nz 0\ny 1\nx 2\n", "{args:?}");
    }
    // There may be more fields than names: they belong to the last one.
    let more = folder.write("more.log", "NAME SIZE\nz 0 more words\na 0 less\n");
    for key in ["SIZE", "3"] {
        let sorted = sorted(&["sort", "-q", "--header", "-k", key, &more], "");
        assert_eq!(sorted, "NAME SIZE\na 0 less\nz 0 more words\n", "{key}");
    }
    let error = refused(&["sort", "--header", "-k", "3:number", &more], "");
    assert!(error.contains("more.log:2: 'more' is not a number"), "{error}");
    // Columns may be cut by their positions, so blanks count in headers.
    for header in ["NAME BYTES", "NAME SIZE"] {
        let three = folder.write("c.txt", format!("{header}\nz 0\n"));
        let error = refused(&["sort", "--header", "-k", "2", &one, &three], "");
        assert!(error.contains("c.txt:1: the header differs from that of"), "{error}");
    }
    for args in [&["--header", "-k", "size"][..], &["-k", "size"]] {
        let error = refused(&[&["sort"], args, &[&one]].concat(), "");
        assert!(error.contains("no column 'size'; columns: 'NAME', 'SIZE'; did you mean 'SIZE'?"), "{error}");
    }
}

#[test]
fn only_the_number_counts_that_a_field_begins_with() {
    let lines = "45%\n9ms\n1e1x\n-3\n12:30\n";
    for key in ["-n", "-k1"] {
        assert_eq!(sorted(&["sort", "-q", key, "--leading"], lines), "-3\n9ms\n1e1x\n12:30\n45%\n", "{key}");
        let error = refused(&["sort", key, "--leading"], "1\ninfo\n");
        assert!(error.contains(":2: 'info' is not a number"), "{error}");
        // What is a number as a whole is one.
        let skip = ["sort", "-q", key, "--leading", "--invalid", "skip"];
        assert_eq!(sorted(&skip, "7s\ninfo\nnan\n2\n"), "2\n7s\nnan\n", "{key}");
    }
    // It makes no kind: mixed lines without a key are whole.
    assert_eq!(sorted(&["sort", "-q", "--leading"], lines), "-3\n12:30\n1e1x\n45%\n9ms\n");
    // Of tables, too.
    assert_eq!(
        sorted(&["sort", "-q", "-f", "csv", "--leading", "-k", "b"], "a,b\n1,45%\n2,9ms\n"),
        "a,b\n2,9ms\n1,45%\n"
    );
}

/// A time takes the fields that it needs, but fields are numbered as `awk` numbers them.
#[test]
fn a_date_and_a_time_of_day_are_two_fields() {
    let log = "2026-11-21 10:00:00.5 GET 30\n2026-11-21 10:00:01 PUT 4\n- GET 7\n";
    assert_eq!(
        sorted(&["sort", "-q", "-k", "4"], log),
        "2026-11-21 10:00:01 PUT 4\n2026-11-21 10:00:00.5 GET 30\n- GET 7\n"
    );
    assert_eq!(
        sorted(&["sort", "-q", "-k", "1:r", "--na", "-"], log),
        "2026-11-21 10:00:01 PUT 4\n2026-11-21 10:00:00.5 GET 30\n- GET 7\n"
    );
    let error = refused(&["sort", "-k", "3"], log);
    assert!(error.contains(":3: '7' is a number, but 'GET' (standard input:1) is not"), "{error}");
}

#[test]
fn lines_come_out_as_lines_whatever_a_file_is_called() {
    let folder = Folder::new();
    for name in ["x.csv", "x.txt", "x"] {
        let to = folder.arg(name);
        let done = run(&["sort", "-k", "1", "-o", &to], "3 2\n");
        assert!(done.status.success(), "{}", stderr(&done));
        assert_eq!(fs::read_to_string(&to).unwrap(), "3 2\n");
    }
    let error = refused(&["sort", "-k", "1", "--to", "csv"], "1\n");
    assert!(error.contains("lines cannot be written as csv; use --to text"), "{error}");
    for args in [["--to", "bin"], ["--to", "npy"], ["-o", &folder.arg("x.u32")], ["-o", &folder.arg("x.npy")]]
    {
        let error = refused(&[&["sort", "-k", "1"], &args[..]].concat(), "1\n");
        assert!(error.contains("lines cannot be written as"), "{args:?}: {error}");
    }
    // Positions are numbers.
    let to = folder.arg("x.u32");
    sorted(&["sort", "-q", "-k", "1", "--argsort", "-o", &to], "2\n1\n");
    assert_eq!(fs::read(&to).unwrap(), [1, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn lines_are_checked_and_merged() {
    let folder = Folder::new();
    let one = folder.write("a.txt", "1 a\n3 b\n");
    let two = folder.write("b.txt", "2 c\n10 d");
    assert_eq!(sorted(&["sort", "-q", "-m", "-k", "1", &one, &two], ""), "1 a\n2 c\n3 b\n10 d\n");
    let done = run(&["check", "-k", "1", &one, &two], "");
    assert_eq!(done.status.code(), Some(1));
    assert!(stderr(&done).contains("b.txt:1: out of order: 2 after 3"), "{}", stderr(&done));
    assert_eq!(run(&["sort", "-c", "-f", "lines", &one], "").status.code(), Some(0));
}

#[test]
fn lines_may_end_in_nul() {
    let folder = Folder::new();
    let names = folder.write("names", "12\t./a\nb\0 3 ./c\r\0\n12 d\n\x007");
    let by_field = " 3 ./c\r\x007\x0012\t./a\nb\0\n12 d\n\0";
    assert_eq!(sorted(&["sort", "-q", "-z", "-k1", &names], ""), by_field);
    // Without a key, the whole line decides between equal numbers.
    let by_size = " 3 ./c\r\x007\0\n12 d\n\x0012\t./a\nb\0";
    assert_eq!(sorted(&["sort", "-q", "-z", &names], ""), by_size);
    let unique = "12\t./a\nb\x007\0 3 ./c\r\0";
    assert_eq!(sorted(&["sort", "-q", "-z", "-u", "-k", "1:r", &names], ""), unique);
    assert_eq!(sorted(&["sort", "-q", "--zero-terminated", "--memory", "1", &names], ""), by_size);
    assert_eq!(sorted(&["sort", "-q", "-z", "-t,", "-k2"], "x,\n2\n,y\0a,1"), "a,1\0x,\n2\n,y\0");
    assert_eq!(sorted(&["sort", "-q", "-ttab", "-k2,2"], "x\tb\ny\ta\n"), "y\ta\nx\tb\n");
    // A line that ends in CR LF is not one with that line end.
    assert_eq!(sorted(&["sort", "-q", "-z"], "1\r\n"), "1\r\n\0");
    let ordered = folder.write("ordered", by_size);
    assert_eq!(run(&["check", "-z", &ordered], "").status.code(), Some(0));
    let done = run(&["sort", "-c", "-z", &names], "");
    assert!(stderr(&done).contains("names:2: out of order: 3 after 12"), "{}", stderr(&done));
    let error = refused(&["sort", "-z", &names, "-k2n"], "");
    assert!(error.contains("names:1: './a' is not a number"), "{error}");
    assert_eq!(
        sorted(&["sort", "-q", "-m", "-z", &ordered, &ordered, "--top", "2"], ""),
        " 3 ./c\r\0 3 ./c\r\0"
    );
    let error = refused(&["sort", "-z", "-f", "csv", &names], "");
    assert!(error.contains("--zero-terminated applies to lines, but"), "{error}");
}

#[test]
fn text_takes_numbers_alone_and_no_options_about_fields() {
    let error = refused(&["sort", "-f", "text"], "12 /usr\n3 /bin\n");
    assert!(error.contains("standard input:1:4: '/usr' is not a number"), "{error}");
    // Nothing is offered that is refused for text.
    assert!(!error.contains("--invalid") && !error.contains("--na"), "{error}");
    // What speaks of fields needs lines or a table.
    for args in [&["-k", "1"][..], &["-t", ":"], &["--delimiter", ":"], &["--header"], &["--empty", "last"]] {
        let error = refused(&[&["sort", "-f", "text"], args].concat(), "1\n");
        assert!(error.contains(" and lines, but standard input is text; use -"), "{args:?}: {error}");
    }
}

#[test]
fn times_are_found_by_themselves_and_ordered_as_instants() {
    let log = "b 2026-11-21T10:00:00.5\na 2026-11-21 10:00\nc 2025-01-01\nd\n";
    assert_eq!(
        sorted(&["sort", "-q", "-k", "2"], log),
        "c 2025-01-01\na 2026-11-21 10:00\nb 2026-11-21T10:00:00.5\nd\n"
    );
    let zones = "1,2026-11-21T10:00Z\n2,2026-11-21T11:30+02:00\n3,2026-11-21T05:00-05:00\n";
    let of_table = ["sort", "-f", "csv", "--no-header", "-k", "2"];
    assert_eq!(
        sorted(&[&of_table[..], &["-q"]].concat(), zones),
        "2,2026-11-21T11:30+02:00\n1,2026-11-21T10:00Z\n3,2026-11-21T05:00-05:00\n"
    );
    assert!(stderr(&run(&[&of_table[..], &["-v"]].concat(), zones)).contains("sorted 3 rows by"));
    assert_eq!(sorted(&[&of_table[..], &["-q", "-u", "-r"]].concat(), zones).lines().count(), 2);
    let done = run(&["check", "-k", "2"], log);
    assert_eq!(done.status.code(), Some(1));
    assert!(
        stderr(&done).contains("2: out of order: 2026-11-21 10:00 after 2026-11-21T10:00:00.5"),
        "{}",
        stderr(&done)
    );
    for (lines, said) in [
        ("2026-11-21\n5\n", ":2: '5' is a number, but '2026-11-21' (standard input:1) is not"),
        (
            "2026-11-21T10:00Z\n2026-11-21\n",
            ":2: '2026-11-21' and '2026-11-21T10:00Z' (standard input:1) do not compare",
        ),
        (
            "2026-11-21\n2026-02-30\n",
            ":2: '2026-02-30' is not a time, but '2026-11-21' (standard input:1) is",
        ),
    ] {
        let error = refused(&["sort", "-k", "1"], lines);
        assert!(error.contains(said), "{error}");
    }
    // Any year with any decimals.
    let years = "2026-11-21T10:00:00.123456789\n9999-12-31\n0001-01-01\n2026-11-21T10:00:00.123456788\n";
    assert_eq!(
        sorted(&["sort", "-q", "-k", "1"], years),
        "0001-01-01\n2026-11-21T10:00:00.123456788\n2026-11-21T10:00:00.123456789\n9999-12-31\n"
    );
    // Beside numbers they are words, if words are placed.
    let mixed = "-21 2\n0206-11-21 0\n1 0\n";
    let by = ["-k", "1:r", "--invalid", "last"];
    assert_eq!(sorted(&[&["sort", "-q"], &by[..]].concat(), mixed), "1 0\n-21 2\n0206-11-21 0\n");
    let merged = run(&[&["sort", "-m"], &by[..]].concat(), mixed);
    assert!(stderr(&merged).contains(":3: out of order: 1 after 0206-11-21"), "{merged:?}");
    assert_eq!(merged.status.code(), Some(2));
    assert!(refused(&["sort", "-t", "time"], "2026-11-21\n5\n").contains("'5' is not a time"));
    assert!(refused(&["sort", "-t", "time", "--leading"], "1x\n").contains("'1x' is not a time"));
    assert!(
        refused(&["sort", "-f", "bin", "-t", "time"], "1\n")
            .contains("kinds such as size and time are for lines")
    );
}

#[test]
fn text_is_numbers_alone() {
    let text = "\u{feff}\n 1 2\t3\n\n1e3 \r\r-2";
    assert_eq!(sorted(&["sort", "-q", "-f", "text"], text), "-2\n1\n2\n3\n1e3\n");
    assert_eq!(sorted(&["sort", "-q", "-f", "text", "--argsort"], text), "4\n0\n1\n2\n3\n");
    let error = refused(&["sort", "-f", "text"], &text.replace("1e3", "#5"));
    assert!(error.contains(":4:1: '#5' is not a number"), "{error}");
    for kind in ["size", "time", "duration", "version", "hex", "text"] {
        let error = refused(&["sort", "-f", "text", "-t", kind], "1\n");
        let remedy = "use --from csv for a table, or -k N to sort lines by a field";
        assert!(error.contains("--type is for lines and tables") && error.contains(remedy), "{error}");
    }
    assert!(refused(&["sort", "-f", "text", "-h"], "1\n").contains("--type is for lines and tables"));
}

#[test]
fn sizes_are_read_where_they_are_asked_for() {
    let sizes = "1.5M\t./a\n4.0K\t./b\n1kB\t./c\n1020\t./d\n2G\t.\n";
    let out = "1kB\t./c\n1020\t./d\n4.0K\t./b\n1.5M\t./a\n2G\t.\n";
    for args in [&["-h"][..], &["-t", "size"], &["--human-numeric-sort"], &["-h", "-k", "1"]] {
        assert_eq!(sorted(&[&["sort", "-q"], args].concat(), sizes), out, "{args:?}");
    }
    assert_eq!(sorted(&["sort", "-qhr", "--top", "1"], sizes), "2G\t.\n");
    assert!(refused(&["sort", "-h"], "4.0K/s\n").contains("'4.0K/s' is not a size"));
    assert_eq!(sorted(&["sort", "-q", "-h", "--leading"], "4.0K/s\n9/s\n"), "9/s\n4.0K/s\n");
    assert!(refused(&["sort", "-h", "-t", "i32"], "4\n").contains("-h and --type cannot be combined"));
    assert!(stderr(&run(&["sort", "-vh"], "1\n")).contains("sorted 1 line by size in"));
}

#[test]
fn keys_are_written_as_for_sort() {
    let lines = "a 3 1\nb 1 9\nc 2 9\n";
    for (args, expected) in [
        (&["-k2n"][..], "bca"),
        (&["-k", "2,2n"], "bca"),
        (&["-k2nr"], "acb"),
        (&["-k2rn,2"], "acb"),
        (&["-k2n,4"], "bca"),
        (&["-k2.1bg,2.0"], "bca"),
        (&["-k3nr", "-k2,2n"], "bca"),
        (&["-n", "-k3nr", "-k2,2"], "bca"),
        (&["-r", "-k2n"], "bca"),
        (&["-r", "-k2"], "acb"),
        (&["-k2h"], "bca"),
        (&["-b", "-s", "--parallel", "2", "-k2"], "bca"),
    ] {
        let sorted = sorted(&[&["sort", "-q"], args].concat(), lines);
        assert_eq!(sorted.lines().map(|line| &line[..1]).collect::<String>(), expected, "{args:?}");
    }
    // A header of exactly that name wins.
    assert_eq!(sorted(&["sort", "-q", "--header", "-k", "2nr"], "2nr x\n1 2\n0 3\n"), "2nr x\n0 3\n1 2\n");
    assert_eq!(sorted(&["sort", "-q", "-f", "csv", "-k", "2nr"], "a,b\n1,2\n0,3\n"), "a,b\n0,3\n1,2\n");
}

#[test]
fn names_of_inputs_come_from_a_file() {
    let folder = Folder::new();
    let (one, two) = (folder.write("a b.txt", "3\n1\n"), folder.write("c.txt", "2\n"));
    for ending in ["", "\0"] {
        let list = folder.write("list", format!("{one}\0{two}{ending}"));
        assert_eq!(sorted(&["sort", "-q", "--files0-from", &list], ""), "1\n2\n3\n");
        assert_eq!(run(&["check", "--files0-from", &list], "").status.code(), Some(1));
    }
    assert_eq!(sorted(&["sort", "-q", "--files0-from=-"], &format!("{one}\0{two}\0")), "1\n2\n3\n");
    for (names, said) in [
        ("", "no file names"),
        ("a\0\0b", "name 2 is empty"),
        ("-", "cannot be an input too"),
        ("gone\0", "gone: cannot open"),
    ] {
        let error = refused(&["sort", "--files0-from", "-"], names);
        assert!(error.contains(said), "{error}");
    }
    assert!(refused(&["sort", "--files0-from", &folder.arg("gone")], "").contains("gone: cannot read"));
}

/// Runs GNU `sort` beside the command, and compares what came out with the page's table.
#[test]
#[cfg(target_os = "linux")]
fn the_page_about_habits_from_sort_says_what_happens() {
    let root = env!("CARGO_MANIFEST_DIR");
    let done = std::process::Command::new("python3")
        .args(["benches/behaviours/habits.py", "--check", "docs/coming-from-sort.md"])
        .current_dir(root)
        .env("GPUSORT", BINARY)
        .env("XDG_CONFIG_HOME", "/nowhere")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}{}", String::from_utf8_lossy(&done.stdout), stderr(&done));
}

/// `-u` notes a record whose key is spelled differently, and no other.
#[test]
fn unique_notes_another_spelling() {
    let cases: &[(&[&str], &str, &str)] = &[
        (
            &["-k", "1"],
            "1\n2\n1.0\n",
            "gpusort: standard input:3: left out '1.0', which equals '1' but is spelled differently\n",
        ),
        (&["-k", "1"], "1\n2\n1\n", ""),
        (
            &["-k", "1:nocase"],
            "a\nb\nA\n",
            "gpusort: standard input:3: left out 'A', which equals 'a' but is spelled differently\n",
        ),
        (
            &["-f", "csv", "-k", "k", "--na", "-999"],
            "k,v\n-999,a\n,b\n5,c\n",
            "gpusort: standard input:3: left out '', which equals '-999' but is spelled differently\n",
        ),
        (&["-k", "1"], "2026-01-01 a\n2026-01-01 b\n", ""),
        (
            &["-k", "1"],
            "2026-01-01 10:00 a\n2026-01-01T10:00 b\n",
            "gpusort: standard input:2: left out '2026-01-01T10:00', which equals '2026-01-01 10:00' but is spelled differently\n",
        ),
    ];
    for &(options, lines, said) in cases {
        let output = run(&[&["sort", "-u"], options].concat(), lines);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output), said, "{options:?} {lines:?}");
    }
}
