//! Help, manual pages, completions, and what a message may contain.

use std::fs;
use std::process::{Command, Stdio};

use crate::support::command::{BINARY, refused, run, run_in_environment, sorted, stderr};
use crate::support::files::{Folder, npy_of};

const COMMANDS: [&str; 9] =
    ["sort", "devices", "gen", "bench", "trace", "tune", "check", "completions", "man"];

#[test]
fn help_has_examples_and_rules() {
    let help = sorted(&["sort", "--help"], "");
    for word in ["Examples:", "Order:", "NaN", "Exit codes:", "--variant", "GPUSORT_DEVICE"] {
        assert!(help.contains(word), "{word}");
    }
    assert!(sorted(&["--help"], "").contains("Examples:"));
    let page = sorted(&["man", "sort"], "");
    for detail in ["local\\-global", ".SH NUMBERS IN TEXT", ".SH COMPRESSED INPUT"] {
        assert!(page.contains(detail) && !help.contains(detail), "{detail}");
    }
    assert!(sorted(&["--version"], "").starts_with("gpusort "));
}

/// Help fits a terminal of 80 columns, the examples without a second break, and a few screens.
#[test]
fn help_fits_a_terminal() {
    let help = |args: &[&str]| {
        let output = run_in_environment(&[("COLUMNS", "80")], &[args, &["--help"]].concat(), "");
        String::from_utf8(output.stdout).unwrap()
    };
    for command in COMMANDS {
        let help = help(&[command]);
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        assert!(help.lines().count() <= 80, "{command}: {} lines", help.lines().count());
    }
    for (command, examples) in [
        (&[][..], include_str!("../../src/cli/help/gpusort.txt")),
        (&["sort"], include_str!("../../src/cli/help/sort-short.txt")),
        (&["check"], include_str!("../../src/cli/help/check.txt")),
        (&["bench"], include_str!("../../src/cli/help/bench.txt")),
        (&["trace"], include_str!("../../src/cli/help/trace.txt")),
        (&["gen"], include_str!("../../src/cli/help/gen.txt")),
    ] {
        assert!(help(command).ends_with(examples), "{command:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_a_manual_page_is_shown() {
    let folder = Folder::new();
    folder.write("man", "#!/bin/sh\n[ \"$*\" = '-l -' ] && sed 's/^/BY MAN /'\n");
    folder.write("less", "#!/bin/sh\nsed 's/^/BY LESS /'\n");
    let run = |set_up: &str| {
        let script = format!("{set_up} {BINARY} man gen");
        let script = ["-qec", &script, "/dev/null"];
        let output =
            Command::new("script").args(script).current_dir(folder.root()).stdin(Stdio::null()).output();
        let output = output.expect("`script` of util-linux, which gives it a terminal, is needed");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).replace('\r', "")
    };
    let by_man = run("chmod +x man less; PATH=$PWD:$PATH");
    assert!(by_man.contains("BY MAN .SH SYNOPSIS\n"), "{by_man}");
    // Where `man` fails.
    folder.write("man", "#!/bin/sh\nexit 1\n");
    for (pager, begin) in [
        ("MANPAGER=less PAGER=more", "BY LESS "),
        ("MANPAGER= PAGER='less -R'", "BY LESS "),
        ("MANPAGER=false", ""),
        ("env -u MANPAGER -u PAGER", "BY LESS "),
        ("MANPAGER= PAGER=", ""),
    ] {
        let text = run(&format!("{pager} PATH=$PWD:$PATH"));
        assert!(text.contains(&format!("{begin}Usage: gpusort gen")), "{pager}: {text}");
        assert!(!text.contains(".SH"), "{text}");
    }
}

#[test]
fn completions_and_man_pages_list_all_options() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = sorted(&["completions", shell], "");
        assert!(script.contains("argsort") && script.contains("in-place"), "{shell}");
    }
    let page = sorted(&["man"], "");
    assert!(page.contains(".TH gpusort 1") && page.contains("completions"), "{page}");
    let page = sorted(&["man", "sort"], "");
    assert!(page.contains("gpusort\\-sort") && page.contains("\\-\\-argsort"), "{page}");
    assert!(page.contains(".SH EXIT CODES\n.nf\n\\&0 sorted;"), "{page}");
    assert!(refused(&["man", "nothing"], "").contains("invalid value 'nothing'"));
    let all = sorted(&["--help"], "");
    for command in COMMANDS {
        assert!(
            all.contains(&format!("\n  {command} ")) && sorted(&["man", command], "").contains(".TH"),
            "{command}"
        );
    }
    let help = sorted(&["sort", "--help"], "");
    let groups =
        ["Input:", "Order:", "Result:", "Instead of sorting:", "Algorithm, device and memory:", "Messages:"];
    let places: Vec<usize> = groups.iter().map(|group| help.find(group).expect(group)).collect();
    assert!(places.is_sorted(), "{help}");
}

#[test]
fn control_characters_of_input_are_escaped_in_messages() {
    let folder = Folder::new();
    let evil = "e\u{1b}[31m\u{202e}\n";
    let name = folder.write(evil, "1\nx");
    let long = "n".repeat(100_000);
    let header = format!("a\u{1b}[31m,{long},b\u{9b}2J\n1,2,3\n");
    let table = folder.write("t.csv", &header);
    let npy_file = folder.write("x.npy", npy_of(b"\x1b[31m\xe2\x80\xae", "(1,)", b""));
    let shape = folder.write("y.npy", npy_of(b"<u4", &format!("(\x1b[31m{long},)"), b""));
    fs::create_dir_all(folder.path("settings/gpusort")).unwrap();
    folder.write("settings/gpusort/costs.json", format!("{{\"\u{1b}[31m{long}\": 1}}"));
    let big = folder.write("big.u32", vec![1; 1 << 20]);
    let missing = format!("{name}.missing");
    for args in [
        &["sort", &name][..],
        &["sort", &missing],
        &["check", &name],
        &["sort", &npy_file],
        &["sort", &shape],
        &["sort", &table, "-k", "none"],
        &["sort", &table, "-k", evil],
        &["check", &table, "-k", "none"],
        &["sort", &table, "-k", "1", "-t", "u32", "-o", &format!("{name}/x")],
        &["sort", "--each", &name, "-o", &name],
        &["sort", "--top", evil],
        &["sort", "-t", evil],
        &["sort", &format!("--{evil}")],
        &["sort", "-d", evil, &name],
        &["gen", "-t", "u64", "-o", &format!("{name}.u32")],
        &["bench", "--sizes", evil],
        &["tune", "-d", evil],
        &["sort", &big, "-o", &folder.arg("out")],
    ] {
        let said = stderr(&run_in_environment(&[("XDG_CONFIG_HOME", &folder.arg("settings"))], args, ""));
        assert!(!said.is_empty(), "{args:?}");
        let plain = |c: char| c == '\n' || !c.is_control() && c != '\u{202e}';
        assert!(said.chars().all(plain), "{args:?}: {said:?}");
        assert!(said.lines().all(|line| line.len() < 3000), "{args:?}: {} bytes", said.len());
    }
}

#[test]
fn a_remedy_that_is_offered_was_tried() {
    let mixed = "{\"user\":\"ann\",\"ms\":3}\n{\"user\":7,\"ms\":1}\n";
    let table = "name,ms\nx,2\n7,1\n";
    for (format, input, key) in [
        ("jsonl", mixed, "ms"),
        ("csv", table, "ms"),
        ("csv", "a,b\nx,y\n", "a"),
        // No column fits one kind.
        ("csv", "a,b\nx,x\n7,7\n", "a:text"),
        ("csv", "2024-01-01,5\n", "1"),
    ] {
        let header = if input.starts_with('2') { &["--no-header"][..] } else { &[] };
        let sort = [&["sort", "-q", "-f", format], header].concat();
        let said = refused(&sort, input);
        assert!(
            said.contains("choose a key column") && said.ends_with(&format!("; use -k {key}\n")),
            "{said}"
        );
        assert!(!sorted(&[&sort[..], &["-k", key]].concat(), input).is_empty());
    }
    // With -n a column of text does not fit.
    let said = refused(&["sort", "-n", "-f", "csv"], "a,b\nx,1\n");
    assert!(said.ends_with("; use -k b\n"), "{said}");
    let ragged = "a,b\n2,1\n1\n";
    let said = refused(&["sort", "-f", "csv", "-k", "a"], ragged);
    assert!(said.ends_with("; correct the row\n"), "{said}");
    let said = refused(&["sort", "--invalid", "last"], "3\n1\nx\n");
    assert!(
        said.ends_with("--invalid has no effect on lines without a key; use -n, or name a key\n"),
        "{said}"
    );
    assert_eq!(sorted(&["sort", "-q", "-n", "--invalid", "last"], "3\n1\nx\n"), "1\n3\nx\n");
}

#[test]
fn wrong_values_are_told_with_their_option() {
    for (args, said) in [
        (&["--top", "-1"][..], "invalid value '-1' for '--top <K>': expected a number such as 1000"),
        (&["--parallel", "-1"], "invalid value '-1' for '--parallel <N>': expected a number of at least 1"),
        (&["--header=x"], "expected a number of lines, such as 2"),
        (&["--verison"], "a similar argument exists: '--version'"),
        (&["-t", "ab"], "tip: a field separator is one ASCII character, or tab"),
        (&["-f", "csv", "-k", "nope:r"], "no column 'nope'; columns: 'a', 'b'"),
        (&["-f", "csv", "-k", "a", "-o", "s.u32"], "rows of csv cannot be written as u32; use --to csv"),
    ] {
        let message = refused(&[&["sort"], args].concat(), "a,b\n1,2\n");
        assert!(message.contains(said), "{args:?}: {message}");
    }
    assert!(sorted(&["sort", "--version"], "").starts_with("gpusort"));
    assert_eq!(sorted(&["gen", "-n", "2"], ""), sorted(&["gen", "-c", "2"], ""));
}

#[test]
fn lines_that_may_be_something_else_are_noted() {
    for (args, input, note) in [
        (&[][..], "b\0\na\n", "lines that may be binary data, with a NUL (standard input:1); use -f bin"),
        (&[], "1,000\n999\n", "sorted lines as text; use --decimal , or --thousands , if they are numbers"),
        (&["-f", "csv", "-k", "1"], "01/02/2024,a\n02/01/2024,b\n", "took the first row, '01/02/2024', as"),
    ] {
        let message = stderr(&run(&[&["sort"], args].concat(), input));
        assert!(message.contains(note), "{message}");
    }
    assert_eq!(stderr(&run(&["sort", "-z"], "b\0a\0")), "");
}
