//! The timing, its JSON, and the progress bar.

#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::device;
#[cfg(target_os = "linux")]
use crate::support::command::BINARY;
use crate::support::command::{run, run_in_environment, stderr};
use crate::support::files::{Folder, lines_to, shuffled_lines};

#[test]
fn json_has_every_field() {
    let output = run(&["sort", "--json", "-a", "bitonic", "-d", &device::name()], "3\n1\n2\n");
    let timing: Value =
        serde_json::from_str(&stderr(&output)).unwrap_or_else(|why| panic!("{why}: {}", stderr(&output)));
    for field in [
        "n",
        "bytes",
        "type",
        "algo",
        "variant",
        "device",
        "dispatches",
        "bytes_moved",
        "clock",
        "ms",
        "keys_per_s",
        "why",
    ] {
        assert!(!timing[field].is_null(), "{field}");
    }
    for field in ["name", "backend", "kind"] {
        assert!(timing["device"][field].is_string(), "{field}");
    }
    for field in ["read", "parse", "device", "upload", "sort", "download", "write", "total"] {
        assert!(timing["ms"][field].is_number(), "{field}");
    }
    assert_eq!((&timing["n"], &timing["bytes"], &timing["type"]), (&3.into(), &6.into(), &"u32".into()));
    assert_eq!((&timing["algo"], &timing["dispatches"]), (&"bitonic".into(), &1.into()));
    let cpu: Value = serde_json::from_str(&stderr(&run(&["sort", "--json"], "1"))).unwrap();
    assert_eq!(
        (&cpu["algo"], &cpu["device"]["kind"], &cpu["clock"]),
        (&"cpu".into(), &"cpu".into(), &"host".into())
    );
}

#[test]
fn the_timing_goes_to_stdout_or_stderr() {
    let folder = Folder::new();
    let out = folder.arg("out");
    // Data piped: the timing is on stderr, and the pipe is clean.
    let output = run(&["sort"], "1\n");
    assert_eq!((&output.stdout[..], stderr(&output).starts_with("sorted 1 u32")), (&b"1\n"[..], true));
    // Data in a file: it is on standard output.
    let output = run(&["sort", "-o", &out], "1\n");
    assert!(output.stdout.starts_with(b"sorted 1 u32") && stderr(&output).is_empty());
    let output = run(&["sort", "--timing", "stdout"], "1\n");
    assert!(output.stdout.starts_with(b"1\n# sorted 1 u32") && stderr(&output).is_empty());
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
    assert!(output.status.success() && shown.starts_with("5\n7\n# sorted 2 u32"), "{shown}");
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
