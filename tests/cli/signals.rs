//! Signals and kills: the exit code, and that neither half an output nor a temporary file remains.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use crate::support::command::{gpusort, stderr};
use crate::support::files::{Folder, falling_lines, lines_to, shuffled_lines};
use crate::support::process::{end, ignoring, long_sort, send, wait_for_temporary, wait_until};

#[test]
fn ignored_signals_stay_ignored() {
    let folder = Folder::new();
    let (input, out) = (folder.write("in", shuffled_lines(40_000)), folder.arg("out"));
    let args = ["sort", &input, "-q", "-a", "odd-even", "-d", "cpu", "-o", &out];
    let mut tries = 0..100;
    let mut child = loop {
        assert!(tries.next().is_some(), "none had a temporary file that was seen");
        let mut child = ignoring("HUP", &args).spawn().unwrap();
        if wait_for_temporary(&folder, &mut child, |_| true) {
            break child;
        }
    };
    send("-HUP", &child);
    assert!(end(&mut child).success());
    assert!(fs::read_to_string(&out).unwrap() == lines_to(40_000));
}

#[test]
fn an_interrupt_leaves_the_old_file_and_no_temporary() {
    let folder = Folder::new();
    let (input, out) = (folder.write("in", shuffled_lines(300_000)), folder.write("out", "old\n"));
    for signal in ["-INT", "-TERM"] {
        let mut child = long_sort(&input, &out);
        assert!(wait_for_temporary(&folder, &mut child, |_| true));
        send(signal, &child);
        assert_eq!(end(&mut child).code(), Some(130));
        assert_eq!(fs::read(&out).unwrap(), b"old\n");
        assert_eq!(folder.names(), ["in", "out"]);
    }
}

#[test]
fn a_kill_during_the_write_leaves_the_old_file_whole() {
    let folder = Folder::new();
    let (input, out) = (folder.write("in", shuffled_lines(3_000_000)), folder.write("out", "old\n"));
    let mut killed = false;
    wait_until("a kill during a write", || {
        let mut child = gpusort(&["sort", &input, "-o", &out, "-q"]).spawn().unwrap();
        if wait_for_temporary(&folder, &mut child, |bytes| bytes > 0) {
            child.kill().unwrap();
            killed = child.wait().unwrap().code().is_none();
            if killed {
                assert_eq!(fs::read(&out).unwrap(), b"old\n");
            }
        } else {
            assert!(end(&mut child).success());
        }
        // If it was done before it could be killed: once more.
        fs::write(&out, "old\n").unwrap();
        killed
    });
}

#[test]
fn every_terminating_signal_leaves_no_temporary_file() {
    let folder = Folder::new();
    let (input, out) = (folder.write("in", falling_lines(300_000)), folder.write("out", "old\n"));
    for signal in ["-INT", "-TERM", "-HUP", "-QUIT", "-ALRM", "-XCPU", "-USR1", "-USR2", "-PROF", "-VTALRM"] {
        let mut child = long_sort(&input, &out);
        assert!(wait_for_temporary(&folder, &mut child, |_| true));
        send(signal, &child);
        assert_eq!(end(&mut child).code(), Some(130), "{signal}");
        assert_eq!(fs::read(&out).unwrap(), b"old\n", "{signal}");
        assert_eq!(folder.names(), ["in", "out"], "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_tune_leaves_neither_data_nor_a_process() {
    let folder = Folder::new();
    fs::create_dir(folder.path("tmp")).unwrap();
    let mut child = gpusort(&["tune", "-d", "cpu", "--largest", "64M"])
        .env("XDG_CONFIG_HOME", folder.path("settings"))
        .env("TMPDIR", folder.path("tmp"))
        // The sorts of `tune` inherit this variable; `tune` removes variables that start with GPUSORT_.
        .env("MARK_OF_TUNE", folder.path("mark"))
        .spawn()
        .unwrap();
    let mark = format!("MARK_OF_TUNE={}", folder.arg("mark"));
    let processes = || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter(|process| {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes())
        })
        .count()
    };
    wait_until("a process that works for it", || {
        assert!(child.try_wait().unwrap().is_none());
        processes() >= 2
    });
    send("-TERM", &child);
    assert_eq!(end(&mut child).code(), Some(130));
    // That one was killed, but may not be gone at once.
    wait_until("the end of all its processes", || processes() == 0);
    assert_eq!(fs::read_dir(folder.path("tmp")).unwrap().count(), 0);
    assert!(!folder.path("settings/gpusort/costs.json").exists());
    // What cannot be kept is not measured.
    folder.write("file", "");
    let output =
        gpusort(&["tune", "-d", "cpu"]).env("XDG_CONFIG_HOME", folder.path("file")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("file/gpusort: no folder for settings: Not a directory"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_interrupted_bench_without_results_keeps_the_old_export() {
    let folder = Folder::new();
    let csv = folder.write("old.csv", "old\n");
    let mut child = gpusort(&["bench", "-s", "16M", "-d", "cpu", "--export-csv", &csv])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The introduction is there, and no result is for a while.
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 16]).unwrap();
    send("-INT", &child);
    let mut rest = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let measured = rest.contains("16,777,216  ");
    assert_eq!(fs::read_to_string(&csv).unwrap() == "old\n", !measured, "{rest}");
}
