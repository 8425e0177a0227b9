//! Lines: what people type first, without an option that says what the input is.

use std::fs;
use std::process::{Output, Stdio};

use crate::support::command::{BINARY, gpusort, refused, run, sorted, stderr};
use crate::support::files::{Folder, fixture};
use crate::support::tier::count;

/// What a pipeline prints, in which `gpusort` is the command.
fn typed(script: &str, folder: &Folder) -> String {
    let output = pipeline(script, folder);
    assert!(output.status.success(), "{script}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn pipeline(script: &str, folder: &Folder) -> Output {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("gpusort() {{ \"$0\" \"$@\"; }}\n{script}"), BINARY]);
    shell.current_dir(folder.root()).env("LC_ALL", "C").env("XDG_CONFIG_HOME", "/nowhere");
    shell.stdin(Stdio::null()).output().unwrap()
}

#[test]
#[cfg(unix)]
fn pipelines_give_what_sort_gives() {
    let folder = Folder::new();
    for (name, size) in [("one", 90_000), ("two", 3), ("three", 1 << 20), ("f o u r", 20_000)] {
        folder.write(name, "x y\n".repeat(size / 4));
    }
    folder.write("ps.txt", fs::read(fixture("lines/ps.txt")).unwrap());
    folder.write("words", "b\na\nb\nc\nb\nc\n");
    for (ours, theirs) in [
        ("du -a | gpusort sort -n", "du -a | sort -n"),
        ("du -a | gpusort sort", "du -a | sort -n"),
        ("du -ah | gpusort sort -h", "du -ah | sort -h"),
        ("du -ah | gpusort", "du -ah | sort -h"),
        ("gpusort words | uniq -c | gpusort sort -rn", "sort words | uniq -c | sort -rn"),
        ("sort words | uniq -c | gpusort sort -r --top 1", "sort words | uniq -c | sort -rn | head -1"),
        ("wc -l * | gpusort sort", "wc -l * | sort -n"),
        (
            "cat ps.txt | gpusort sort --header -k %MEM:r",
            "head -1 ps.txt; tail -n +2 ps.txt | sort -s -k4,4nr",
        ),
        (
            "awk '{print length($1), $2}' ps.txt | gpusort sort",
            "awk '{print length($1), $2}' ps.txt | sort -n",
        ),
        (
            "awk '{print length($1), $2}' ps.txt | gpusort sort -k 1",
            "awk '{print length($1), $2}' ps.txt | sort -sn",
        ),
        ("echo 3 1 2 | gpusort sort", "echo 3 1 2"),
        ("echo 12 README.md | gpusort sort", "echo 12 README.md"),
        ("seq 2000 | gpusort sort -rn", "seq 2000 | sort -rn"),
    ] {
        assert_eq!(typed(ours, &folder), typed(theirs, &folder), "{ours}");
    }
}

#[test]
#[cfg(unix)]
fn lines_are_not_torn_in_place() {
    let folder = Folder::new();
    for sort in [
        "gpusort sort -n two.txt -o two.txt",
        "gpusort sort two.txt -o two.txt",
        "gpusort sort --each --in-place two.txt",
    ] {
        let two = folder.write("two.txt", "3 10\n1 20\n");
        typed(sort, &folder);
        assert_eq!(fs::read_to_string(&two).unwrap(), "1 20\n3 10\n", "{sort}");
    }
}

#[test]
fn lines_are_never_split() {
    for (input, out) in [
        ("3 1 2", "3 1 2\n"),
        (" 3 1\t2\n", " 3 1\t2\n"),
        ("\u{feff}3 1 2\r\n", "\u{feff}3 1 2\r\n"),
        ("# 9 8\n\n3 1 2\n\n#7\n", "\n\n# 9 8\n#7\n3 1 2\n"),
        ("3 1 2\n0 5\n", "0 5\n3 1 2\n"),
        ("3 1 2\n\n4", "3 1 2\n4\n\n"),
    ] {
        assert_eq!(sorted(&["sort", "-q"], input), out, "{input:?}");
        assert_eq!(sorted(&["sort", "-q", "-m"], out), out, "{input:?}");
        assert_eq!(run(&["check"], out).status.code(), Some(0), "{input:?}");
    }
    let folder = Folder::new();
    let file = folder.write("a.txt", "3 1 2\n");
    assert_eq!(sorted(&["sort", &file], ""), "3 1 2\n");
    assert_eq!(sorted(&["sort", &file, "-"], "2 9\n"), "2 9\n3 1 2\n");
    assert_eq!(sorted(&["sort", "-f", "text", &file, "-"], "2 9\n"), "1\n2\n2\n3\n9\n");
}

#[test]
fn lines_of_one_number_and_of_several_are_sorted_together() {
    let folder = Folder::new();
    let many = "5\n".repeat(200_000);
    let wide = format!("6{}7\n", " ".repeat(1 << 20));
    for (name, text, expected) in [
        ("a.txt", "5\n4\n7 8\n".to_owned(), "4\n5\n7 8\n".to_owned()),
        ("b.txt", "5\n 4.5 \n\t7\t8\n".to_owned(), " 4.5 \n5\n\t7\t8\n".to_owned()),
        ("c.txt", "5\r\n4 x\r\n".to_owned(), "4 x\r\n5\r\n".to_owned()),
        ("d.txt", format!("{many}6 7\n{many}"), format!("{many}{many}6 7\n")),
        ("e.txt", format!("{many}6 7\n{many}1.5\n"), format!("1.5\n{many}{many}6 7\n")),
        ("f.txt", format!("{wide}{many}"), format!("{many}{wide}")),
    ] {
        let file = folder.write(name, &text);
        for args in [&[][..], &["--memory", "64K"], &["-n"], &["-k1"], &["-t", "f32"]] {
            let out = sorted(&[&["sort", "-q"], args, &[&file]].concat(), "");
            assert!(out == expected, "{args:?} {name}");
        }
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let positions = sorted(&["sort", "-q", "--argsort", &file], "");
        let out: String =
            positions.lines().map(|position| lines[position.parse::<usize>().unwrap()]).collect();
        assert!(out == expected, "--argsort {name}");
        let falling: String = expected.split_inclusive('\n').rev().collect();
        assert!(sorted(&["sort", "-q", "-r", &file], "") == falling, "-r {name}");
        let in_order = folder.write("in-order", &expected);
        assert!(sorted(&["sort", "-q", "-m", &in_order], "") == expected, "-m {name}");
        assert_eq!(run(&["check", &in_order], "").status.code(), Some(0), "{name}");
    }
    let done = run(&["check"], "5.0\n\n5 \t5\n");
    assert!(stderr(&done).contains(":3: out of order: 5 after an empty field"), "{}", stderr(&done));
    assert_eq!(sorted(&["sort", "-f", "text"], "5\n4\n7 8\n"), "4\n5\n7\n8\n");
}

#[test]
fn all_inputs_decide_together() {
    let folder = Folder::new();
    let none = folder.write("none", "\n \n");
    let (one, two) = (folder.write("one", "5\n"), folder.write("two", "3 4\n"));
    assert_eq!(sorted(&["sort", &none, &two, &one], ""), "3 4\n5\n\n \n");
    let comment = folder.write("comment", "# 1 2\n");
    let error = refused(&["sort", "-k", "1", &comment, &two], "");
    assert!(
        error.contains("two:1: '3' is a number, but '#' (") && error.contains("comment:1) is not"),
        "{error}"
    );
    assert!(refused(&["sort", "-n", &two, &comment], "").contains("comment:1: '#' is not a number"));
    assert_eq!(sorted(&["sort", &two, &comment], ""), "# 1 2\n3 4\n");
    assert_eq!(sorted(&["sort", &none, &one, &two], ""), "3 4\n5\n\n \n");
    assert_eq!(sorted(&["sort", &none, "-", &one], "7 8\n6 9\n"), "5\n6 9\n7 8\n\n \n");
    // Each for itself.
    let out = folder.arg("out");
    sorted(&["sort", "--each", &none, &one, &two, "-o", &out], "");
    let result = |name: &str| fs::read_to_string(folder.path("out").join(name)).unwrap();
    assert_eq!(
        (result("none"), result("one"), result("two")),
        ("\n \n".into(), "5\n".into(), "3 4\n".into())
    );
    // A missing file does not keep others from being sorted.
    let gone = folder.arg("gone");
    let done = run(&["sort", "--each", "--in-place", &gone, &two], "");
    assert!(
        stderr(&done).contains("gone: cannot open") && done.status.code() == Some(2),
        "{}",
        stderr(&done)
    );
    let mixed = refused(&["sort", &one, &folder.write("a.csv", "x\n1\n")], "");
    assert!(
        mixed.contains("one is text or lines, but") && mixed.contains("name one format with --from"),
        "{mixed}"
    );
}

#[test]
fn lines_are_lines_whatever_is_said_of_their_fields() {
    let json = |args: &[&str], input: &str| -> serde_json::Value {
        let done = run(&[&["sort", "--json"], args].concat(), input);
        serde_json::from_slice(&done.stderr).unwrap_or_else(|_| panic!("{args:?}: {}", stderr(&done)))
    };
    for args in [
        &[][..],
        &["-n"],
        &["-g"],
        &["-k1"],
        &["--comments"],
        &["--leading"],
        &["-h"],
        &["-t", "size"],
        &["--empty", "last"],
        &["-n", "--invalid", "last"],
        &["-t", ","],
        &["--delimiter", ","],
    ] {
        assert_eq!(sorted(&[&["sort"], args].concat(), "2\n1\n\n"), "1\n2\n\n", "{args:?}");
        assert_eq!(json(args, "2\n1\n\n")["format"], "lines", "{args:?}");
    }
    // Without a key or a kind there is nothing that could be invalid.
    assert!(
        refused(&["sort", "--invalid", "last"], "1\n")
            .contains("--invalid has no effect on lines without a key; use -n, or name a key")
    );
    for (args, input, column, kind) in [
        (&["-u"][..], "2\n1\n", "1", "number"),
        (&["-t", "f32"], "2 9\n1 8\n", "1", "f32"),
        (&["--top", "5"], "2 9 4\n", "1", "number"),
        (&[], "4K\n900\n", "1", "size"),
        (&[], "b\na\n", "0", "text"),
        (&[], "# c\n1\n", "0", "text"),
        (&["-k", "0"], "2\n1\n", "0", "text"),
    ] {
        let report = json(&[&["-q"], args].concat(), input);
        let key = &report["keys"][0];
        assert_eq!((&key["column"], &key["kind"]), (&column.into(), &kind.into()), "{args:?} {input:?}");
        // The line of the report says it, too.
        let verbose = stderr(&run(&[&["sort", "-v", "-q"], args].concat(), input));
        let by = if *column == *"0" { "the whole line" } else { kind };
        assert!(verbose.contains(" line") && verbose.contains(by), "{args:?}: {verbose}");
    }
}

#[test]
fn binary_output_takes_one_number_a_line() {
    let folder = Folder::new();
    let (column, matrix) = (folder.write("column", "3\n1\n2\n5\n"), folder.write("matrix", "3 1\n2 5\n"));
    let words: Vec<u8> = [1_u32, 2, 3, 5].iter().flat_map(|word| word.to_le_bytes()).collect();
    for args in [&["-o", &folder.arg("x.u32")][..], &["--to", "bin", "-o", &folder.arg("x")]] {
        let to = args.last().unwrap();
        for input in [&[&column[..]][..], &["-f", "text", &matrix]] {
            sorted(&[&["sort"], input, args].concat(), "");
            assert_eq!(fs::read(to).unwrap(), words, "{input:?}");
            fs::remove_file(to).unwrap();
        }
        // Lines are neither split nor written into it.
        for options in [&[][..], &["-n"]] {
            let error = refused(&[&["sort", &matrix], options, args].concat(), "");
            let said = "matrix:1:3: binary output needs one number a line";
            assert!(error.contains(said) && error.contains("--from text to sort every number"), "{error}");
            assert!(!fs::exists(to).unwrap());
        }
    }
    for blank in ["3\n\n2\n", "\n3\n", "3\n2\n\n"] {
        assert!(refused(&["sort", "--to", "bin"], blank).contains("binary output needs one number a line"));
    }
    // Positions are those of lines.
    let positions = folder.arg("p.u32");
    sorted(&["sort", &matrix, "--argsort", "-o", &positions], "");
    assert_eq!(fs::read(positions).unwrap(), [1, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn comments_stay_on_top_where_that_is_asked_for() {
    let text = "# a 3\r\n#b\n5 x\n\n4 y\n";
    assert_eq!(sorted(&["sort", "--comments"], text), "# a 3\r\n#b\n4 y\n5 x\n\n");
    for memory in ["1", "64K"] {
        assert_eq!(sorted(&["sort", "--comments", "--memory", memory], text), "# a 3\r\n#b\n4 y\n5 x\n\n");
    }
    let vcf = "##v\n#CHROM POS\na 3\nb 1\n";
    for key in ["2", "POS"] {
        assert_eq!(sorted(&["sort", "--comments", "-k", key], vcf), "##v\n#CHROM POS\nb 1\na 3\n", "{key}");
    }
    let with_header = "##v\nCHROM POS\na 3\nb 1\n";
    for args in [&["--header", "-k", "POS"][..], &["--header", "-k", "POS", "--memory", "1"], &["-k", "POS"]]
    {
        assert_eq!(
            sorted(&[&["sort", "--comments"], args].concat(), with_header),
            "##v\nCHROM POS\nb 1\na 3\n"
        );
    }
    // The header of a table is the first row that is no comment.
    for args in [&[][..], &["-k", "1"], &["-k", "n"]] {
        let of_table = [&["sort", "--comments", "-f", "csv"], args].concat();
        assert_eq!(sorted(&of_table, "#x\nn\n2\n#y\n1\n"), "#x\n#y\nn\n1\n2\n", "{args:?}");
    }
    // Those of all inputs are kept.
    let folder = Folder::new();
    let (one, two) = (folder.write("one", "# 1\n1\n3\n"), folder.write("two", "# 2\n# 3\n2\n"));
    for args in [&["sort"][..], &["sort", "-m"], &["sort", "--memory", "1"]] {
        let all = sorted(&[args, &["--comments", &one, &two]].concat(), "");
        assert_eq!(all, "# 1\n# 2\n# 3\n1\n2\n3\n", "{args:?}");
    }
    // The first input may have nothing else.
    let (alone, table) = (folder.write("alone.csv", "#x"), folder.write("table.csv", "a,b\n2,x\n1,y\n"));
    for args in [&["-k", "a"][..], &["-k", "1"], &["-k", "a", "--memory", "1"], &["-k", "a", "-u"]] {
        let all = sorted(&[&["sort", "--comments", &alone, &table], args].concat(), "");
        assert_eq!(all, "#x\na,b\n1,y\n2,x\n", "{args:?}");
    }
    let all = sorted(&["sort", "--comments", "--header=0", "-k", "1:text", &alone, &table], "");
    assert_eq!(all, "#x\n1,y\n2,x\na,b\n");
    // They are in the order of the inputs, and end as the lines of their input do.
    let late = folder.write("late", "b\r\n#1");
    for memory in [&[][..], &["--memory", "1"]] {
        let all = sorted(&[&["sort", "--comments", &late, &two], memory].concat(), "");
        assert_eq!(all, "#1\r\n# 2\n# 3\n2\nb\r\n", "{memory:?}");
    }
    assert_eq!(sorted(&["sort", "--header=2", "-k", "1"], "a\r\nb"), "a\r\nb\r\n");
    assert_eq!(run(&["check", "--comments", &one, &two], "").status.code(), Some(1));
    assert_eq!(run(&["check", "--comments", &one], "").status.code(), Some(0));
    // Without the option they are lines like others, and their fields are fields.
    for args in [&["-n"][..], &["-k1"], &["-k1", "--memory", "1"]] {
        let error = refused(&[&["sort"], args].concat(), "3 1\n# 2\n");
        assert!(error.contains("input:2: '#' is not a number"), "{error}");
        let first = sorted(&[&["sort", "--invalid", "first"], args].concat(), "3 1\n# 2\n");
        assert_eq!(first, "# 2\n3 1\n");
    }
    for (args, out) in [(&["-k2"][..], "3 1\n# 2\n"), (&["--comments", "-k2"], "# 2\n3 1\n")] {
        for memory in [&[][..], &["--memory", "1"]] {
            assert_eq!(sorted(&[&["sort"], args, memory].concat(), "3 1\n# 2\n"), out, "{args:?} {memory:?}");
        }
    }
    for memory in [&[][..], &["--memory", "1"]] {
        let args = [&["sort", "-t:", "-k2", "-k1", "--invalid", "last", "--argsort"], memory].concat();
        assert_eq!(sorted(&args, "#a:5:6\n7:x\n3:4\n#b:1\n8:x\n"), "3\n2\n0\n1\n4\n", "{memory:?}");
        let args = [&["sort", "-t#", "-k2"], memory].concat();
        assert_eq!(sorted(&args, "a#3\n#2\n"), "#2\na#3\n");
    }
    let error = refused(&["sort", "-f", "text", "--comments"], "1\n");
    assert!(error.contains("--comments applies to CSV, TSV, JSON and lines"), "{error}");
}

/// Nothing is left out, with and without the option.
#[test]
fn comments_among_numbers_are_lines() {
    let folder = Folder::new();
    let long = "1\n".repeat(300_000);
    let (late, early) = (format!("{long}# x\n"), format!("# x\n{long}"));
    for (text, whole, on_top) in [
        ("2\n# x\n1\n", "# x\n1\n2\n", "# x\n1\n2\n"),
        ("10\n9\n# x\n", "# x\n10\n9\n", "# x\n9\n10\n"),
        ("#\r#\n2.5\n1.5\n#", "#\n#\r#\n1.5\n2.5\n", "#\r#\n#\n1.5\n2.5\n"),
        (&late[..], &early[..], &early[..]),
    ] {
        for (option, expected) in [(&[][..], whole), (&["--comments"], on_top)] {
            let file = folder.write("a.txt", text);
            for args in [&["sort"][..], &["sort", "--memory", "1"], &["sort", "--memory", "64K"]] {
                let done = run(&[args, option, &[&file]].concat(), "");
                assert!(done.stdout == expected.as_bytes(), "{args:?} {option:?} {whole:?}");
                // What decided against numbers is noted.
                let note = if option.is_empty() { "sorted whole lines as text: '#" } else { "" };
                assert!(
                    stderr(&done).contains(note) && stderr(&done).is_empty() == note.is_empty(),
                    "{done:?}"
                );
            }
            for args in [&["sort", "-o", &file][..], &["sort", "--each", "--in-place"]] {
                folder.write("a.txt", text);
                let done = run(&[args, option, &["-q", &file]].concat(), "");
                assert_eq!(stderr(&done), "");
                assert!(fs::read_to_string(&file).unwrap() == expected, "{args:?} {option:?}");
            }
            assert_eq!(run(&[&["check", &file], option].concat(), "").status.code(), Some(0), "{whole:?}");
        }
    }
    // Those that a merge meets late are on top, too.
    let lines = "1\n# x\n2\n# y\n";
    assert_eq!(sorted(&["sort", "-m", "--comments"], lines), "# x\n# y\n1\n2\n");
    let merged = run(&["sort", "-m"], lines);
    assert!(stderr(&merged).contains(":2: out of order: # x after 1"), "{merged:?}");
    assert_eq!(merged.status.code(), Some(2));
}

/// Lines that are numbers and nothing else are sorted as numbers, until there are others. Fields
/// between other characters are not.
#[test]
fn lines_of_numbers_are_the_same_lines_whichever_way_they_take() {
    let folder = Folder::new();
    let number = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let lines = count(60_000, 20_000) as u64;
    let many = |of: &dyn Fn(u64) -> String| (0..lines).map(|i| of(number(i)) + "\n").collect::<String>();
    let integers = many(&|n| n.to_string());
    let respelled = |n: u64| match n % 200 {
        0 => ["+", "0", "00"][n as usize / 200 % 3].to_owned() + &(n % 4096).to_string(),
        1 => (n % 4096).to_string() + [".0", "e0", ".", "E+00"][n as usize / 200 % 4],
        _ => (n % 4096).to_string(),
    };
    for (name, lines) in [
        ("integers", integers.clone()),
        ("some spelled otherwise", many(&respelled)),
        (
            "one number, sometimes spelled otherwise",
            many(&|n| if n % 50 == 0 { "7.0" } else { "7" }.to_owned()),
        ),
        ("exponents", many(&|n| format!("{}e-{:02}\n0.0000{}", n % 9 + 1, n % 7 + 4, n % 9 + 1))),
        ("negative", many(&|n| (n as i64 - 9000).to_string())),
        ("zeros", many(&|n| format!("{:04}", n % 2000))),
        ("prices", many(&|n| format!("{}.{:02}", n / 100, n % 100))),
        ("decimals", many(&|n| format!("{}", n as f64 / 7.0))),
        ("another field at the end", format!("{integers}7\tx\n")),
        ("a decimal at the end", format!("{integers}7.5\n-0\n")),
        ("blank line", format!("{integers}\n{integers}")),
        ("leading blank", format!("{integers} 7\n{integers}")),
        ("trailing blank", format!("{integers}7 \n{integers}")),
        ("CR LF", format!("{integers}7\r\n{integers}")),
        ("mark", format!("\u{feff}{integers}")),
        ("no last line end", format!("{integers}7")),
        ("minus zeros", format!("-0\n0\n{integers}-0\n0.5\n0\n")),
        ("nan", format!("nan\n{integers}NaN\n")),
        ("few", "3\n1\n2\n".to_owned()),
        ("nothing", String::new()),
        ("one blank line", "\n".to_owned()),
    ] {
        let file = folder.write("lines.txt", &lines);
        for args in [&[][..], &["-r"], &["-u"], &["--top", "70"], &["--argsort"], &["-u", "--argsort", "-r"]]
        {
            let slow = sorted(&[&["sort", "-q", "-f", "lines", "-t\t"], args, &[&file]].concat(), "");
            for memory in [&[][..], &["--memory", "300K"], &["--memory", "40K"]] {
                let fast = sorted(&[&["sort", "-q", "-n"], args, memory, &[&file]].concat(), "");
                assert!(fast == slow, "{name} {args:?} {memory:?}");
                let piped = sorted(&[&["sort", "-q", "-n"], args, memory].concat(), &lines);
                assert!(piped == slow, "{name} {args:?} {memory:?}, a pipe");
            }
        }
    }
    // Check and merge take the same ways.
    for (name, lines) in [
        ("integers", integers.clone()),
        ("decimals", many(&|n| format!("{}", n as f64 / 7.0))),
        ("words", format!("{integers}7\tx\n")),
    ] {
        for direction in [&[][..], &["-r"]] {
            let slow = |args: &[&str]| {
                sorted(&[&["sort", "-q", "-f", "lines", "-t\t"], args, direction].concat(), "")
            };
            let file = folder.write("unsorted.txt", &lines);
            let in_order = folder.write("sorted.txt", slow(&[&file]));
            let two = slow(&[&in_order, &in_order]);
            for args in [&["-m"][..], &["-m", "--top", "7"], &["-m", "-u"]] {
                let merged = sorted(&[&["sort", "-qn", &in_order, &in_order], args, direction].concat(), "");
                assert!(merged == slow(&[args, &[&in_order, &in_order]].concat()), "{name} {args:?}");
                assert!(args.len() > 1 || merged == two, "{name} {args:?}");
            }
            assert_eq!(run(&[&["check", "-n", &in_order], direction].concat(), "").status.code(), Some(0));
            let [one, other] = [&["-n"][..], &["-f", "lines", "-t\t"]]
                .map(|how| stderr(&run(&[&["check", &in_order, &file], how, direction].concat(), "")));
            assert!(one == other && one.contains("out of order"), "{one} {other}");
        }
    }
    // A time after many numbers has no place among them.
    let file = folder.write("times.txt", format!("{}2026-11-21\n", "7\n".repeat(200_000)));
    for args in [
        &["sort"][..],
        &["sort", "--memory", "40K"],
        &["sort", "-m"],
        &["check"],
        &["sort", "--argsort", "--memory", "40K"],
    ] {
        for (key, said) in
            [("-n", "'2026-11-21' is not a number"), ("-k1", "'2026-11-21' is not a number, but '7' (")]
        {
            let done = run(&[args, &[key, &file]].concat(), "");
            assert_eq!(done.status.code(), Some(2), "{args:?} {key}");
            let place = format!("times.txt:200001: {said}");
            assert!(stderr(&done).contains(&place), "{args:?} {key}: {}", stderr(&done));
        }
    }
    // The second input is other lines.
    let (one, two) = (folder.write("one", &integers), folder.write("two", "7\tx\n3"));
    let both = sorted(&["sort", "-qn", &one, &two], "");
    assert_eq!(both, sorted(&["sort", "-q", "-f", "lines", "-t\t", &one, &two], ""));
    assert_eq!(both, sorted(&["sort", "-qn", "--memory", "40K", &one, &two], ""));
}

#[test]
fn lines_that_end_in_cr_alone_are_refused() {
    for args in [
        &["sort"][..],
        &["sort", "-n"],
        &["check", "-n"],
        &["sort", "-m", "-n"],
        &["sort", "-n", "--memory", "1"],
    ] {
        let error = refused(args, "3 1\r2 5\r");
        assert!(error.contains("standard input:1: lines seem to end in CR alone"), "{args:?}: {error}");
    }
    // Numbers alone on such lines, too, but as text they are between white space.
    for input in ["3\r1\r", "5\r4 #6"] {
        assert!(refused(&["sort"], input).contains("standard input:1: lines seem to end in CR alone"));
    }
    assert_eq!(sorted(&["sort", "-f", "text"], "3\r1\r"), "1\n3\n");
    // One line is one.
    assert_eq!(sorted(&["sort", "-n"], "3 1\r"), "3 1\r\n");
}

#[test]
#[cfg(unix)]
fn nothing_is_read_of_a_slow_pipe_that_is_not_needed() {
    use std::io::Write;
    // Nothing is looked at before whole lines are merged; where kinds are found, the first 7 MiB are.
    let mut command = gpusort(&["sort", "-m", "-k", "0", "--top", "1"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"1 a\n2 b\n").unwrap();
    // It is not closed until the command has ended.
    let output = child.wait_with_output().unwrap();
    drop(pipe);
    assert_eq!(output.stdout, b"1 a\n");
}

/// Data of a program is shown escaped, and is no number.
#[test]
fn binary_data_beside_numbers_is_named() {
    let elf = r"'\u{7f}ELF\u{2}'";
    for (args, input, said) in [
        (&["sort", "-n"][..], "1 a\n\x7fELF\x02\n", format!("input:2: {elf} is not a number")),
        (&["sort", "-k", "1"], "1 a\n\x7fELF\x02\n", format!("input:2: {elf} is not a number, but '1' (")),
        (&["sort", "-k", "1"], "\x7fELF\x02\n1 a\n", format!("input:2: '1' is a number, but {elf} (")),
    ] {
        let error = refused(args, input);
        assert!(error.contains(&said), "{error}");
    }
    let done = run(&["sort"], "\x7fELF\x02\n1 a\n");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "1 a\n\x7fELF\x02\n");
    assert!(stderr(&done).contains(&format!("whole lines as text: {elf} (standard input:1)")), "{done:?}");
    // The first field that does not fit those before it counts, whatever its kind.
    for (lines, said) in [
        (
            "a\n2026-11-21\n7\n",
            "input:2: '2026-11-21' is a time, but 'a' (standard input:1) is not; use -k 1:text or -k 1:number",
        ),
        (
            "2026-11-21\na\n7\n",
            "input:2: 'a' is not a time, but '2026-11-21' (standard input:1) is; use -k 1:text or -k 1:number",
        ),
        ("2026-11-21\n7\na\n", "input:2: '7' is a number, but '2026-11-21' (standard input:1) is not"),
        ("7\n2026-11-21\na\n", "input:2: '2026-11-21' is not a number, but '7' (standard input:1) is"),
    ] {
        let error = refused(&["sort", "-k", "1"], lines);
        assert!(error.contains(said), "{error}");
        let note = stderr(&run(&["sort"], lines));
        let first = if lines.starts_with('7') {
            "2026-11-21' (standard input:2)"
        } else {
            &format!("{}' (standard input:1)", lines.lines().next().unwrap())
        };
        assert!(note.contains(first), "{note}");
    }
    // Remedies are tried with the option that ignores what follows a number, too.
    let error = refused(&["sort", "-k", "1", "--leading"], "3 a\n- b\n4 c\n");
    assert!(error.contains("use -k 1:text, -k 1:number --invalid last, or --na -"), "{error}");
    // White space inside a field is text.
    let error = refused(&["sort", "-f", "csv", "-k", "1"], "x,y\n\"a\tb\",1\n1,2\n");
    assert!(error.contains(r"'1' is a number, but 'a\tb' (standard input:2) is not"), "{error}");
}

/// A type of 32 or 64 bits may round different lines to one number.
#[test]
fn lines_that_a_type_rounds_to_one_number_stay() {
    for (name, text, sorted_text) in [
        ("f32", "16777217\n16777216\n16777217\n", "16777216\n16777217\n"),
        (
            "f64",
            "9007199254740993\n0.1\n0.10000000000000001\n9007199254740992\n",
            "0.1\n0.10000000000000001\n9007199254740992\n9007199254740993\n",
        ),
    ] {
        for more in [&[][..], &["--memory", "1K"]] {
            let args = [&["sort", "-q", "-u", "--type", name], more].concat();
            assert_eq!(sorted(&args, text), sorted_text, "{args:?}");
        }
    }
}
