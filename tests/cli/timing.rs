//! The timing, its JSON, and the progress bar.

#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::device;
#[cfg(target_os = "linux")]
use crate::support::command::BINARY;
use crate::support::command::{refused, run, run_in_environment, stderr};
use crate::support::files::{Folder, lines_to, shuffled_lines};

#[test]
fn json_has_every_field() {
    let output = run(&["sort", "--json", "-a", "bitonic", "-d", &device::name()], "3\n1\n2\n");
    let timing: Value =
        serde_json::from_str(&stderr(&output)).unwrap_or_else(|why| panic!("{why}: {}", stderr(&output)));
    let fields = "n bytes type algo variant device dispatches bytes_moved clock ms keys_per_s why";
    for field in fields.split(' ') {
        assert!(!timing[field].is_null(), "{field}");
    }
    for field in ["name", "backend", "kind"] {
        assert!(timing["device"][field].is_string(), "{field}");
    }
    for field in ["read", "parse", "device", "upload", "sort", "download", "write", "total"] {
        assert!(timing["ms"][field].is_number(), "{field}");
    }
    assert_eq!((&timing["n"], &timing["bytes"], &timing["type"]), (&3.into(), &6.into(), &"number".into()));
    assert_eq!((&timing["algo"], &timing["dispatches"]), (&"bitonic".into(), &1.into()));
    let cpu: Value = serde_json::from_str(&stderr(&run(&["sort", "--json"], "1"))).unwrap();
    assert_eq!(
        (&cpu["algo"], &cpu["device"]["kind"], &cpu["clock"]),
        (&"cpu".into(), &"cpu".into(), &"host".into())
    );
}

#[test]
fn json_holds_no_control_characters() {
    let invalid = "a\u{9B}\u{7F}\u{1B}é";
    let args = ["sort", "--json", "-f", "csv", "-k", "1", "--no-header", "--invalid", "last"];
    let told = stderr(&run(&args, &format!("2\n{invalid}\n1\n")));
    assert!(!told.trim_end().contains(char::is_control), "{told:?}");
    let timing: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&timing["invalid"], &timing["invalid_fields"][0]), (&1.into(), &invalid.into()));
}

#[test]
fn the_timing_goes_to_stdout_or_stderr() {
    let folder = Folder::new();
    let out = folder.arg("out");
    // Data piped, and nobody looks at stderr.
    let output = run(&["sort"], "1\n");
    assert_eq!((&output.stdout[..], &stderr(&output)[..]), (&b"1\n"[..], ""));
    // Where it is asked for, it is on stderr, and the pipe is clean.
    for (args, begin) in [
        (&["-v"][..], "sorted 1 line by number in "),
        (&["--timing", "stderr"], "sorted 1 in "),
        (&["--json"], "{"),
        (&["-v", "-f", "csv", "--no-header", "-k", "1"], "sorted 1 row by '1' (number) in "),
        (&["-v", "-t", "u32"], "sorted 1 line by u32 in "),
        (&["-v", "-k", "0:r"], "sorted 1 line by the whole line, largest first in "),
        (&["-v", "-k", "1:r"], "sorted 1 line by '1' (number, largest first) in "),
    ] {
        let output = run(&[&["sort"], args].concat(), "1\n");
        assert_eq!((&output.stdout[..], stderr(&output).starts_with(begin)), (&b"1\n"[..], true), "{args:?}");
    }
    let whole = stderr(&run(&["sort", "-v"], "1\n"));
    assert!(whole.contains("; lines; kinds found in the fields; "), "{whole}");
    let named = stderr(&run(&["sort", "-v", "-k", "a:text"], "a,b\n1,2\n"));
    assert!(named.contains("; csv, because the first line names the columns; "), "{named}");
    // Data in a file: it is on standard output, if that is no pipe or it is asked for.
    let output = run(&["sort", "-o", &out], "1\n");
    assert!(output.stdout.is_empty() && stderr(&output).is_empty());
    for (args, begin) in [
        (&["--timing", "stdout", "-o", &out][..], "sorted 1 in "),
        (&["-v", "-o", &out], "sorted 1 line by number in "),
        (&["--json", "-o", &out], "{"),
    ] {
        let output = run(&[&["sort"], args].concat(), "1\n");
        assert!(
            String::from_utf8_lossy(&output.stdout).starts_with(begin) && stderr(&output).is_empty(),
            "{args:?}"
        );
    }
    // Below numbers of text it is a comment; among lines it would be one of them.
    let output = run(&["sort", "-f", "text", "--timing", "stdout"], "1\n");
    assert!(output.stdout.starts_with(b"1\n# sorted 1 in ") && stderr(&output).is_empty());
    let output = run(&["sort", "-f", "text", "-v", "--timing", "stdout"], "1\n");
    assert!(output.stdout.starts_with(b"1\n# sorted 1 number in ") && stderr(&output).is_empty());
    let said = refused(&["sort", "--timing", "stdout"], "1\n");
    assert!(said.contains("--timing stdout would mix with the lines data"), "{said}");
    for args in [
        &["sort", "--timing", "off"][..],
        &["sort", "-q"],
        &["sort", "-q", "-o", &out],
        &["sort", "--json", "--timing", "off"],
    ] {
        assert_eq!(stderr(&run(args, "1\n")), "", "{args:?}");
    }
    assert!(stderr(&run(&["sort", "-q", "--timing", "stderr"], "1\n")).starts_with("sorted"));
    assert!(stderr(&run(&["sort", "-q", "--json"], "1\n")).starts_with('{'));
    assert!(stderr(&run(&["sort", "-qv"], "1\n")).starts_with("sorted 1 line by number"));
    assert_eq!(stderr(&run_in_environment(&[("GPUSORT_TIMING", "off")], &["sort"], "1\n")), "");
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_binary_is_text_and_the_timing_is_a_comment() {
    let folder = Folder::new();
    let file = folder.write("a.u32", [7_u32.to_le_bytes(), 5_u32.to_le_bytes()].concat());
    let command = format!("{BINARY} sort {file}");
    let output = Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output();
    let output = output.expect("`script` of util-linux, which gives it a terminal, is needed");
    let shown = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    assert!(output.status.success() && shown.starts_with("5\n7\n# sorted 2 in "), "{shown}");
}

/// On a terminal, what somebody looks at: each kind of data, and what is written below or beside
/// it.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_the_timing_is_below_text_and_beside_other_data() {
    let folder = Folder::new();
    folder.write("long-name.txt", "3\nnan\n# x\n1\n");
    folder.write("lines", "2 b\n1 a\n");
    folder.write("numbers", "3 nan\n1\n");
    let shown = |script: &str| {
        let command = format!("{BINARY} {script}");
        let output = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(folder.root())
            .stdin(Stdio::null())
            .output();
        String::from_utf8_lossy(&output.unwrap().stdout).replace('\r', "")
    };
    for (script, begin, end) in [
        ("sort -f text numbers", "1\n3\nnan\n# sorted 3 in ", " on CPU; 1 NaN\n"),
        ("sort --comments long-name.txt", "# x\n1\n3\nnan\nsorted 3 in ", " on CPU; 1 NaN\n"),
        (
            "sort -n --invalid skip long-name.txt",
            "1\n3\nnan\nsorted 3 in ",
            " on CPU; 1 NaN; 1 invalid: #; 1 row skipped\n",
        ),
        ("sort lines", "1 a\n2 b\nsorted 2 in ", " on CPU\n"),
        ("sort lines 2>/dev/null", "1 a\n2 b\n", "2 b\n"),
        ("sort lines -o out", "sorted 2 in ", " on CPU\n"),
        ("sort -t f32 --comments long-name.txt -o out", "sorted 3 in ", " on CPU; 1 NaN\n"),
    ] {
        let said = shown(script);
        assert!(said.starts_with(begin) && said.ends_with(end), "{script}: {said}");
    }
    // Into a pipe: nothing, unless it is asked for. Into a file: on the terminal that stderr is.
    assert_eq!(shown("sort lines | tail -1"), "2 b\n");
    assert_eq!(shown("lines | tail -1"), "2 b\n");
    for options in ["-v", "--json", "--timing stderr", "-d cpu"] {
        let piped = shown(&format!("sort {options} lines | tail -1"));
        assert!(piped.contains("2 b\n") && piped.lines().count() == 2, "{options}: {piped}");
    }
    let in_file = shown("sort lines > sorted; cat sorted");
    assert!(in_file.starts_with("sorted 2 in ") && in_file.ends_with("1 a\n2 b\n"), "{in_file}");
    assert!(shown("sort lines > /dev/null").starts_with("sorted 2 in "));
    // A bar is shown at once where it is asked for, and never else.
    assert!(shown("sort --progress always lines | tail -1").len() > "2 b\n".len());
    let many = "n".repeat(150);
    folder.write(&many, "16777217\nnan\n# x\n2\n2\n1\n");
    let options = "-u --top 1 -t f32 --invalid skip --each --in-place";
    let said = shown(&format!("sort {options} {many}"));
    let line = said.lines().last().unwrap();
    assert!(line.chars().count() <= 80 && line.contains("…nnn") && line.contains("sorted 5 in "), "{said}");
    assert!(line.ends_with("; more with -v"), "{said}");
}

#[test]
fn progress_is_shown_when_asked_for() {
    let input = shuffled_lines(60_000);
    let output =
        run(&["sort", "-a", "odd-even", "-d", "cpu", "--progress", "always", "--timing", "off"], &input);
    assert!(stderr(&output).contains("passes"), "{}", stderr(&output));
    assert!(String::from_utf8(output.stdout).unwrap() == lines_to(60_000));
    let output = run(&["sort", "-a", "odd-even", "-d", "cpu", "--timing", "off"], &input);
    assert_eq!(stderr(&output), "", "none where stderr is no terminal");
}
