//! Text or lines: what people type first, without an option that says what the input is.

use std::fs;
use std::process::{Output, Stdio};

use crate::support::command::{BINARY, gpusort, refused, run, sorted, stderr};
use crate::support::files::{Folder, fixture};

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
        ("du -a | gpusort sort -n", "du -a | sort -sn"),
        ("du -a | gpusort sort", "du -a | sort -sn"),
        ("du -ah | gpusort sort -h", "du -ah | sort -sh"),
        ("sort words | uniq -c | gpusort sort -rn", "sort words | uniq -c | sort -srn"),
        ("sort words | uniq -c | gpusort sort -r --top 1", "sort words | uniq -c | sort -srn | head -1"),
        ("wc -l * | gpusort sort", "wc -l * | sort -sn"),
        (
            "cat ps.txt | gpusort sort --header -k %MEM:r",
            "head -1 ps.txt; tail -n +2 ps.txt | sort -s -k4,4nr",
        ),
        (
            "awk '{print length($1), $2}' ps.txt | gpusort sort",
            "awk '{print length($1), $2}' ps.txt | sort -sn",
        ),
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
fn one_line_of_numbers_is_sorted_as_numbers_where_it_is_all_of_standard_input() {
    let note = "one line of numbers";
    for input in ["3 1 2", " 3 1\t2\n", "# 9 8\n\n3 1 2\n\n#7\n", "\u{feff}3 1 2\r\n"] {
        let output = run(&["sort"], input);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n2\n3\n", "{input:?}");
        assert!(stderr(&output).contains(note), "{input:?}: {}", stderr(&output));
        assert_eq!(stderr(&run(&["sort", "-q"], input)), "");
    }
    // A second line, a word, or a file, and they are lines.
    for input in ["3 1 2\n0 5\n", "3 1 x\n", "3 1 2\n\n4"] {
        let output = run(&["sort", "--empty", "last"], input);
        assert!(output.status.success() && !stderr(&output).contains(note), "{input:?}");
    }
    assert_eq!(sorted(&["sort"], "3 1 2\n0 5\n"), "0 5\n3 1 2\n");
    let folder = Folder::new();
    let file = folder.write("a.txt", "3 1 2\n");
    assert_eq!(sorted(&["sort", &file], ""), "3 1 2\n");
    assert_eq!(sorted(&["sort", &file, "-"], "2 9\n"), "2 9\n3 1 2\n");
    // Check and merge wait for the end, too.
    assert_eq!(run(&["check"], "3 1 2\n").status.code(), Some(1));
    assert_eq!(run(&["check"], "1 2 3\n").status.code(), Some(0));
    assert_eq!(run(&["check"], "1 9\n2 3\n").status.code(), Some(0));
    assert_eq!(sorted(&["sort", "-m"], "1 2 3\n"), "1\n2\n3\n");
    assert_eq!(sorted(&["sort", "-m"], "1 9\n2 3\n"), "1 9\n2 3\n");
}

#[test]
fn a_line_with_more_than_one_number_is_refused_after_one_with_one() {
    let folder = Folder::new();
    let many = "5\n".repeat(200_000);
    for (name, text, place) in [
        ("a.txt", "5\n4\n7 8\n".to_owned(), "a.txt:3:3"),
        ("b.txt", "5\n 4.5 \n\t7\t8\n".to_owned(), "b.txt:3:4"),
        ("c.txt", "5\r\n4 x\r\n".to_owned(), "c.txt:2:3"),
        ("d.txt", "5\r4 #6".to_owned(), "d.txt:2:3"),
        ("e.txt", format!("{many}6 7\n{many}"), "e.txt:200001:3"),
        ("f.txt", format!("1.5\n{many}6 7\n{many}"), "f.txt:200002:3"),
        ("g.txt", format!("{many}6{}7\n", " ".repeat(1 << 20)), "g.txt:200001:1048578"),
    ] {
        let file = folder.write(name, &text);
        for args in [
            &["sort"][..],
            &["sort", "-r", "-u"],
            &["sort", "--memory", "64K"],
            &["sort", "-t", "f32"],
            &["sort", "--argsort"],
        ] {
            let error = refused(&[args, &[&file]].concat(), "");
            let said = format!(
                "{place}: this line has several fields, but the first line is one number; use --from lines"
            );
            assert!(error.contains(&said), "{args:?} {name}: {error}");
        }
    }
    for lines in ["5\n5\n5 5\n", "5.0\n\n5 \t5\n", "5\r5 x\n"] {
        let file = folder.write("x.txt", lines);
        for command in [&["sort", "-m"][..], &["check"], &["sort", "-c", "-t", "f64"]] {
            let done = run(&[command, &[&file]].concat(), "");
            let error = stderr(&done);
            assert_eq!(done.status.code(), Some(2), "{command:?} {lines:?}");
            assert!(error.contains(": this line has several fields"), "{command:?} {lines:?}: {error}");
        }
    }
    assert_eq!(sorted(&["sort", "-f", "text"], "5\n4\n7 8\n"), "4\n5\n7\n8\n");
    assert_eq!(sorted(&["sort", "-f", "lines"], "5\n4\n7 8\n"), "4\n5\n7 8\n");
}

#[test]
fn the_first_record_of_all_inputs_decides() {
    let folder = Folder::new();
    let none = folder.write("none", "\n \n");
    let (one, two) = (folder.write("one", "5\n"), folder.write("two", "3 4\n"));
    assert_eq!(sorted(&["sort", &none, &two, &one], ""), "3 4\n5\n\n \n");
    let comment = folder.write("comment", "# 1 2\n");
    assert!(
        refused(&["sort", &comment, &two], "").contains("comment:1, column '1': '# 1 2' is not a number")
    );
    assert_eq!(sorted(&["sort", &comment, &one], ""), "5\n");
    assert!(refused(&["sort", &none, &one, &two], "").contains("two:1:3: this line has several fields"));
    assert_eq!(sorted(&["sort", &none, "-", &one], "7 8\n6 9\n"), "5\n6 9\n7 8\n\n \n");
    // Each for itself.
    let out = folder.arg("out");
    sorted(&["sort", "--each", &none, &one, &two, "-o", &out], "");
    let result = |name: &str| fs::read_to_string(folder.path("out").join(name)).unwrap();
    assert_eq!((result("none"), result("one"), result("two")), (String::new(), "5\n".into(), "3 4\n".into()));
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
fn options_about_fields_say_lines() {
    for args in [
        &["-n"][..],
        &["-g"],
        &["-k1"],
        &["--comments"],
        &["--leading"],
        &["-h"],
        &["-t", "size"],
        &["--empty", "last"],
        &["--invalid", "last"],
        &["-t", ","],
        &["--delimiter", ","],
    ] {
        let json = run(&[&["sort", "--json"], args].concat(), "2\n1\n\n");
        assert_eq!(String::from_utf8_lossy(&json.stdout), "1\n2\n\n", "{args:?}");
        assert!(stderr(&json).contains("lines, because of -"), "{args:?}: {}", stderr(&json));
    }
    for (args, input, why) in [
        (&["-u"][..], "2\n1\n", "text, because the first line is one number"),
        (&["-t", "f32"], "2 9\n1 8\n", "lines, because the first line has several fields"),
        (&["--top", "5"], "2 9 4\n", "numbers, because standard input is one line of them"),
        (&[], "# c\n", "text, because the input is empty"),
    ] {
        let verbose = stderr(&run(&[&["sort", "-v"], args].concat(), input));
        assert!(verbose.trim_end().ends_with(why), "{args:?}: {verbose}");
    }
}

#[test]
fn binary_output_says_numbers() {
    let folder = Folder::new();
    let matrix = folder.write("matrix", "3 1\n2 5\n");
    let words: Vec<u8> = [1_u32, 2, 3, 5].iter().flat_map(|word| word.to_le_bytes()).collect();
    for args in [&["-o", &folder.arg("x.u32")][..], &["--to", "bin", "-o", &folder.arg("x")]] {
        let to = args.last().unwrap();
        sorted(&[&["sort", &matrix], args].concat(), "");
        assert_eq!(fs::read(to).unwrap(), words);
        // Lines are never written into it.
        fs::remove_file(to).unwrap();
        let error = refused(&[&["sort", "-n", &matrix], args].concat(), "");
        assert!(
            error.contains("lines cannot be written as bin; use --from text to sort every number"),
            "{error}"
        );
        assert!(!fs::exists(to).unwrap());
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
    assert_eq!(sorted(&["sort", "--comments", "-k2"], vcf), "##v\n#CHROM POS\nb 1\na 3\n");
    let with_header = "##v\nCHROM POS\na 3\nb 1\n";
    for args in [&["--header", "-k", "POS"][..], &["--header", "-k", "POS", "--memory", "1"]] {
        assert_eq!(
            sorted(&[&["sort", "--comments"], args].concat(), with_header),
            "##v\nCHROM POS\nb 1\na 3\n"
        );
    }
    assert_eq!(sorted(&["sort", "--comments", "-f", "csv"], "#x\n\na\n2\n1\n"), "#x\na\n1\n2\n");
    // The first input's are kept, the others' are counted.
    let folder = Folder::new();
    let (one, two) = (folder.write("one", "# 1\n1\n3\n"), folder.write("two", "# 2\n# 3\n2\n"));
    for args in [&["sort"][..], &["sort", "-m"], &["sort", "--memory", "1"]] {
        let done = run(&[args, &["--json", "--comments", &one, &two]].concat(), "");
        assert_eq!(String::from_utf8_lossy(&done.stdout), "# 1\n1\n2\n3\n", "{args:?}");
        assert!(stderr(&done).contains(r#""comments":2"#), "{}", stderr(&done));
    }
    assert_eq!(run(&["check", "--comments", &one, &two], "").status.code(), Some(1));
    assert_eq!(run(&["check", "--comments", &one], "").status.code(), Some(0));
    // A later one is no number, and neither is one whose field is a number.
    for args in [&["-n"][..], &["-k2"], &["-k2", "--memory", "1"], &["--comments", "-k2"]] {
        let error = refused(&[&["sort"], args].concat(), "3 1\n# 2\n");
        assert!(
            error.contains("'# 2' is not a number; use --comments for # lines at the top, or --invalid last"),
            "{error}"
        );
        let first = sorted(&[&["sort", "--invalid", "first"], args].concat(), "3 1\n# 2\n");
        assert_eq!(first, "# 2\n3 1\n");
    }
    // Positions are of keys alone, in which nothing of a comment may be taken for another one.
    for memory in [&[][..], &["--memory", "1"]] {
        let args = [&["sort", "-t:", "-k2", "-k1", "--invalid", "last", "--argsort"], memory].concat();
        assert_eq!(sorted(&args, "#a:5:6\n7:x\n3:4\n#b:1\n8:x\n"), "2\n1\n4\n0\n3\n", "{memory:?}");
        let args = [&["sort", "-t#", "-k2"], memory].concat();
        assert_eq!(sorted(&args, "a#3\n#2\n"), "#2\na#3\n");
    }
    let error = refused(&["sort", "-f", "text", "--comments"], "1\n");
    assert!(error.contains("--comments applies to CSV, TSV and lines"), "{error}");
}

#[test]
fn comments_among_numbers_are_counted() {
    let folder = Folder::new();
    for (text, count) in [("2\n# x\n1\n", 1), ("#\r#\n2.5\n1.5\n#", 3), ("2\n1e0\n# x\n", 1)] {
        let file = folder.write("a.txt", text);
        for args in [&["sort"][..], &["sort", "--memory", "1"], &["sort", "--argsort"]] {
            let json = stderr(&run(&[args, &["--json", &file]].concat(), ""));
            assert!(json.contains(&format!(r#""comments":{count}"#)), "{args:?} {text:?}: {json}");
        }
        let done = run(&["sort", &file, "-o", &file], "");
        let told = format!("comment{} omitted", if count == 1 { "" } else { "s" });
        assert!(String::from_utf8_lossy(&done.stdout).contains(&told));
        assert!(stderr(&done).contains("use --comments to keep"), "{}", stderr(&done));
        folder.write("a.txt", text);
        let done = run(&["sort", "--each", "--in-place", "--timing", "off", &file], "");
        assert!(stderr(&done).contains("use --comments to keep"), "{}", stderr(&done));
        folder.write("a.txt", text);
        assert_eq!(stderr(&run(&["sort", "-q", &file, "-o", &file], "")), "");
    }
    let merged = stderr(&run(&["sort", "-m", "--json"], "1\n# x\n2\n# y\n"));
    assert!(merged.contains(r#""comments":2"#), "{merged}");
    let many = format!("{}# x\n", "1\n".repeat(300_000));
    let file = folder.write("many.txt", many);
    let json = stderr(&run(&["sort", "--json", &file], ""));
    assert!(json.contains(r#""comments":1"#), "{json}");
}

/// Lines that are numbers and nothing else are sorted as numbers, until there are others. Fields
/// between other characters are not.
#[test]
fn lines_of_numbers_are_the_same_lines_whichever_way_they_take() {
    let folder = Folder::new();
    let number = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let many = |of: &dyn Fn(u64) -> String| (0..60_000).map(|i| of(number(i)) + "\n").collect::<String>();
    let integers = many(&|n| n.to_string());
    for (name, lines) in [
        ("integers", integers.clone()),
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
        let error = stderr(&run(&[args, &["-n", &file]].concat(), ""));
        assert!(error.contains("numbers and times cannot be compared: 7 ("), "{args:?}: {error}");
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
    assert_eq!(sorted(&["sort"], "3\r1\r"), "1\n3\n");
    assert_eq!(sorted(&["sort", "-n"], "3 1\r"), "3 1\r\n");
}

#[test]
#[cfg(unix)]
fn nothing_is_read_of_a_slow_pipe_that_is_not_needed() {
    use std::io::Write;
    // The first line decides, and merging goes on from there.
    let mut child =
        gpusort(&["sort", "-m", "--top", "1"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"1 a\n2 b\n").unwrap();
    // It is not closed until the command has ended.
    let output = child.wait_with_output().unwrap();
    drop(pipe);
    assert_eq!(output.stdout, b"1 a\n");
}

/// Data of a program among numbers: words there would be an answer to another question.
#[test]
fn binary_data_beside_numbers_is_named() {
    for (args, input) in
        [(&["sort"][..], "1 a\n\x7fELF\x02\x01\n"), (&["sort", "-k", "1"], "\x7fELF\x02\n1 a\n")]
    {
        let error = refused(args, input);
        assert!(error.contains("ELF") && error.contains("; use --from bin"), "{error}");
    }
    // White space inside a field is text.
    let error = refused(&["sort", "-f", "csv", "-k", "1"], "x,y\n\"a\tb\",1\n1,2\n");
    assert!(error.contains("is a word") && !error.contains("--from bin"), "{error}");
}
