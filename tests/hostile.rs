//! What an unfriendly world does to the command: other people's bytes, closed descriptors, signals, limits. Each of these
//! lost rows, leaked, crashed or hung once. The harness in `tests/faults` does more of it, at random.

use std::fs;
use std::io::Read;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use gpusort::Wanted;
use gpusort::io::csv::{By, Dialect};
use gpusort::io::ordered::{Written, check, merge};
use gpusort::io::stream::{How, Kind};
use gpusort::io::{Direction, Input, Memory, Output as Sink, Rules};

use crate::cli::{Folder, gpusort, refused, run, run_with, sorted, stderr};

/// Runs this in a shell, `$0` being the command.
fn shell(script: &str, folder: &Folder) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_gpusort")]).current_dir(folder.path(""));
    command.env("XDG_CONFIG_HOME", folder.path("settings"));
    run_with(command, b"")
}

/// What a script that must exit so says on stderr.
fn exits(script: &str, folder: &Folder, code: i32) -> String {
    let output = shell(script, folder);
    assert_eq!(output.status.code(), Some(code), "{script}: {}", stderr(&output));
    stderr(&output)
}

fn npy(descr: &[u8], shape: &str, elements: &[u8]) -> Vec<u8> {
    let header =
        [b"{'descr': '", descr, b"', 'fortran_order': False, 'shape': ", shape.as_bytes(), b", }"].concat();
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], &header, elements].concat()
}

#[test]
fn blank_lines_of_one_column_are_rows_whatever_else_an_input_has() {
    let folder = Folder::new();
    let files =
        [("one", "1\n"), ("blank", "\n\r\n\n"), ("empty", ""), ("lacking", "\n\r"), ("wide", "1,2\n")];
    let [one, blank, empty, lacking, wide] =
        files.map(|(name, bytes)| folder.write(&format!("{name}.csv"), bytes));
    let table = ["-q", "--no-header", "-k", "1"];
    for files in [
        &[&one, &blank][..],
        &[&blank, &one],
        &[&blank, &blank],
        &[&empty, &blank, &lacking],
        &[&lacking, &one],
        &[&blank, &wide],
        &[&wide, &lacking],
    ] {
        let files: Vec<&str> = files.iter().map(|file| file.as_str()).collect();
        let [merged, expected] =
            [&["sort", "-m"][..], &["sort"]].map(|command| sorted(&[command, &table, &files].concat(), ""));
        assert_eq!(merged, expected, "{files:?}");
    }
    assert_eq!(sorted(&["sort", "-m", "-q", "--no-header", "-k", "1", &one, &blank], ""), "1\n\n\r\n\n");
    assert_eq!(sorted(&["sort", "-m", "-q", "--no-header", "-k", "1", &wide, &blank], ""), "1,2\n");
    // Of a check the order of the inputs tells whether the rows were there.
    for (files, code) in [([&blank, &one], 1), ([&one, &blank], 0), ([&blank, &wide], 0)] {
        let output = run(&["check", "--no-header", "-k", "1", files[0], files[1]], "");
        assert_eq!(output.status.code(), Some(code), "{files:?}: {}", stderr(&output));
        let piped = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect::<String>();
        let output = run(&["check", "-f", "csv", "--no-header", "-k", "1"], &piped);
        assert_eq!(output.status.code(), Some(code), "{files:?} from a pipe: {}", stderr(&output));
    }
}

#[test]
fn closed_descriptors_are_errors_where_they_are_needed() {
    let folder = Folder::new();
    folder.write("x.txt", "2\n1\n");
    folder.write("keep.txt", "old\n");
    for command in [
        "sort x.txt",
        "sort -m x.txt",
        "gen -c 3",
        "bench --sizes 256 -d cpu",
        "devices",
        "completions bash",
        "man",
        "--help",
        "--version",
    ] {
        let said = exits(&format!("exec \"$0\" {command} >&-"), &folder, 2);
        assert!(said.contains("gpusort: standard output: cannot write"), "{command}: {said}");
    }
    for command in ["sort", "sort -o keep.txt", "sort -m -o keep.txt", "check"] {
        let said = exits(&format!("exec \"$0\" {command} <&-"), &folder, 2);
        assert!(said.contains("standard input: cannot read"), "{command}: {said}");
    }
    assert_eq!(fs::read(folder.path("keep.txt")).unwrap(), b"old\n");
    // And none where they are not.
    exits("exec \"$0\" sort x.txt -o out.txt >&- <&-", &folder, 0);
    assert_eq!(fs::read(folder.path("out.txt")).unwrap(), b"1\n2\n");
    exits("exec \"$0\" check out.txt >&- <&- 2>&-", &folder, 0);
    exits("exec \"$0\" check x.txt >&- <&- 2>&-", &folder, 1);
    exits("exec \"$0\" sort x.txt -o out.txt 2>&-", &folder, 0);
    // No file gets the number of one that was closed.
    exits("exec \"$0\" sort x.txt -o out.txt --timing stdout >&-", &folder, 2);
    assert_eq!(fs::read(folder.path("out.txt")).unwrap(), b"1\n2\n");
}

#[test]
fn cr_alone_ends_lines_of_text_and_is_refused_in_tables() {
    let folder = Folder::new();
    let text = folder.write("old.txt", "# a comment\r3\r1\r#another\r2\r");
    assert_eq!(sorted(&["sort", "-q", &text], ""), "1\n2\n3\n");
    assert_eq!(stderr(&run(&["check", &text], "")), format!("gpusort: {text}:3: disorder: 1 after 3\n"));
    assert!(refused(&["sort"], "# c\r1\rx\r\n").contains("standard input:3:1: 'x'"));
    assert!(run(&["sort", &text, "-o", &text], "").status.success());
    assert_eq!(fs::read(&text).unwrap(), b"1\n2\n3\n");
    for (options, table) in [
        (&["-k", "a"][..], "a\r2\r1\r"),
        (&["-k", "a"], "a,b\r2,1\r1,2\r"),
        (&["-k", "1", "--no-header"], "2\r1\r"),
    ] {
        let file = folder.write("old.csv", table);
        for command in [&["sort"][..], &["sort", "-m"], &["check"]] {
            let said = refused(&[command, options, &[file.as_str()]].concat(), "");
            assert!(said.contains("old.csv:1: lines seem to end in CR alone"), "{said}");
        }
    }
    // In a row among others it is a byte of a field.
    let table = "2,x\ry\n1,\"x\ry\"\n";
    assert_eq!(sorted(&["sort", "-q", "-f", "csv", "--no-header", "-k", "1"], table), "1,\"x\ry\"\n2,x\ry\n");
}

#[test]
fn the_last_row_gets_what_its_line_end_lacks_and_no_more() {
    for (table, expected) in [
        ("a\r\n2\r\n1\r", "a\r\n1\r\n2\r\n"),
        ("a\r\n2\r\n1", "a\r\n1\r\n2\r\n"),
        ("a\n2\n1\r", "a\n1\r\n2\n"),
        ("a\n2\n1", "a\n1\n2\n"),
    ] {
        assert_eq!(sorted(&["sort", "-q", "-f", "csv", "-k", "a"], table), expected, "{table:?}");
        assert_eq!(sorted(&["sort", "-q", "-f", "csv", "-k", "a"], expected), expected, "it is read again");
        assert_eq!(sorted(&["sort", "-m", "-r", "-q", "-f", "csv", "-k", "a"], table).len(), expected.len());
    }
}

#[test]
fn no_more_elements_are_merged_than_a_header_promises() {
    let folder = Folder::new();
    let words: Vec<u8> = [1_u32, 2, 3].iter().flat_map(|word| word.to_le_bytes()).collect();
    let out = folder.arg("o.npy");
    for shape in ["(0,)", "(2,)", "(4,)", "(4611686018427387903,)"] {
        let file = folder.write("z.npy", npy(b"<u4", shape, &words));
        for options in
            [&["-m", "--top", "2"][..], &["-m"], &["--top", "2"], &["-m", "--top", "2", "--to", "text"]]
        {
            let said = refused(&[&["sort"], options, &[&file, "-o", &out]].concat(), "");
            assert!(said.contains("by its header, but 12 bytes"), "{options:?}: {said}");
        }
        let piped = run_with(
            gpusort(&["sort", "-m", "--top", "3", "-f", "npy", "-o", &out]),
            &npy(b"<u4", shape, &words),
        );
        // Three of four are all that were asked for, and what was promised of them.
        let expected = if shape == "(4,)" || shape.len() > 5 { 0 } else { 2 };
        assert_eq!(piped.status.code(), Some(expected), "{shape} from a pipe: {}", stderr(&piped));
        let _ = fs::remove_file(&out);
    }
    assert_eq!(folder.names(), ["z.npy"]);
    let file = folder.write("z.npy", npy(b"<u4", "(3,)", &words));
    assert_eq!(sorted(&["sort", "-m", "-q", "--top", "2", "--to", "text", &file], ""), "1\n2\n");
}

#[test]
fn a_merge_into_one_of_its_inputs_is_refused() {
    let folder = Folder::new();
    folder.write("a", "1\n3\n");
    folder.write("b", "2\n");
    for script in [
        "-m a b >> a",
        "-m a b >> b",
        "-m < a >> a",
        "-m a - < b >> b",
        "-m a b -o /dev/stdout >> a",
        "-m a b -o /dev/fd/9 9>> a",
    ] {
        let said = exits(&format!("exec \"$0\" sort -q {script}"), &folder, 2);
        assert!(said.contains("is an input and the output"), "{script}: {said}");
    }
    assert_eq!(fs::read(folder.path("a")).unwrap(), b"1\n3\n");
    // Whoever reads all before it writes may.
    exits("exec \"$0\" sort -q a b >> a", &folder, 0);
    assert_eq!(fs::read(folder.path("a")).unwrap(), b"1\n3\n1\n2\n3\n");
    exits("\"$0\" sort -q -m b b -o b && \"$0\" check b", &folder, 0);
    assert_eq!(fs::read(folder.path("b")).unwrap(), b"2\n2\n");
    // Another of the files that --each sorts would be lost.
    fs::create_dir(folder.path("out")).unwrap();
    std::os::unix::fs::symlink(folder.path("b"), folder.path("out/a")).unwrap();
    let said = exits("exec \"$0\" sort -q --each a b -o out", &folder, 2);
    assert!(said.contains("would be what a becomes"), "{said}");
    assert_eq!(fs::read(folder.path("b")).unwrap(), b"2\n2\n");
}

#[test]
fn nothing_that_others_wrote_reaches_a_terminal_as_it_is() {
    let folder = Folder::new();
    let evil = "e\u{1b}[31m\u{202e}\n";
    let name = folder.write(evil, "x");
    let long = "n".repeat(100_000);
    let header = format!("a\u{1b}[31m,{long},b\u{9b}2J\n1,2,3\n");
    let table = folder.write("t.csv", &header);
    let npy_file = folder.write("x.npy", npy(b"\x1b[31m\xe2\x80\xae", "(1,)", b""));
    let shape = folder.write("y.npy", npy(b"<u4", &format!("(\x1b[31m{long},)"), b""));
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
        let mut command = gpusort(args);
        command.env("XDG_CONFIG_HOME", folder.path("settings"));
        let output = run_with(command, b"");
        let said = stderr(&output);
        assert!(!said.is_empty(), "{args:?}");
        let plain = |c: char| c == '\n' || !c.is_control() && c != '\u{202e}';
        assert!(said.chars().all(plain), "{args:?}: {said:?}");
        assert!(said.lines().all(|line| line.len() < 3000), "{args:?}: {} bytes", said.len());
    }
}

#[test]
fn bytes_that_are_no_text_in_a_npy_header_are_refused() {
    let folder = Folder::new();
    for (number, descr) in
        [&b"\x80"[..], b"\xc3\xa9u4", b"<\xffu4", b"\xf0\x9f\x98\x80", b"<u4\xff"].into_iter().enumerate()
    {
        let file = folder.write(&format!("{number}.npy"), npy(descr, "(0,)", b""));
        for command in [&["sort"][..], &["check"], &["sort", "-m"], &["sort", "--argsort"]] {
            let said = refused(&[command, &[&file]].concat(), "");
            assert!(said.contains("is of dtype") && !said.contains("fault of gpusort"), "{said}");
        }
    }
    // The others are sorted all the same.
    let good = folder.write("good.npy", npy(b"<u4", "(2,)", &[2, 0, 0, 0, 1, 0, 0, 0]));
    let bad = folder.arg("0.npy");
    refused(&["sort", "--each", "--in-place", "-q", &bad, &good], "");
    assert!(fs::read(&good).unwrap().ends_with(&[1, 0, 0, 0, 2, 0, 0, 0]));
}

#[test]
fn too_little_memory_is_an_error_with_the_number() {
    let folder = Folder::new();
    exits("exec \"$0\" gen -q -c 3000000 -t u64 -o big.u64", &folder, 0);
    exits("exec \"$0\" gen -q -c 2000000 -t i32 --to text -o big.txt", &folder, 0);
    folder.write("old", "old\n");
    for (limit, command) in [
        (50_000, "sort -q big.u64 -o old"),
        (50_000, "sort -q -f bin -t u64 -o old < big.u64"),
        (36_000, "sort -q big.txt -o old"),
        (50_000, "sort -q -t f64 -o old < big.txt"),
        (50_000, "bench --sizes 8M -d cpu --export-csv old"),
    ] {
        let said = exits(&format!("ulimit -v {limit}; exec \"$0\" {command}"), &folder, 2);
        assert!(said.contains("memory") && said.contains(|c: char| c.is_ascii_digit()), "{command}: {said}");
        assert!(!said.contains("panicked"), "{command}: {said}");
        assert_eq!(fs::read(folder.path("old")).unwrap(), b"old\n", "{command}");
        assert_eq!(folder.names(), ["big.txt", "big.u64", "old"], "{command}");
    }
    // What is known before is refused before.
    let said = exits("ulimit -v 50000; exec \"$0\" sort -q big.u64 -o old", &folder, 2);
    assert!(said.contains("not enough memory: this sort takes 45.8 MiB"), "{said}");
    // With only little more than the program itself it sorts with the one thread that there is.
    exits("ulimit -v 66000; \"$0\" sort -q big.txt -o out && \"$0\" check out", &folder, 0);
}

#[test]
fn long_records_from_a_pipe_take_no_longer_than_others() {
    const LENGTH: usize = 8 << 20;
    let how = |kind: Kind, columns: &[&str]| How {
        kind,
        direction: Direction::ASCENDING,
        by: By {
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            descending: false,
            element: None,
            rules: Rules::default(),
        },
    };
    let table = move |header| how(Kind::Table(Dialect { delimiter: b',', header }), &["1"]);
    let digits = "0".repeat(LENGTH);
    let (done, waits) = mpsc::channel();
    std::thread::spawn(move || {
        // Were each looked at anew with every piece, these would be 10^12 bytes and more.
        let look = |how: How, input: String| {
            let input = Input::Memory(Memory::new("pipe", input.as_bytes(), &[16]));
            assert_eq!(check(std::slice::from_ref(&input), &how, false).unwrap(), None);
            let mut sink = Sink::memory();
            merge(&[input], &how, Wanted::default(), Written::AsRead, &mut sink, |_| {}).unwrap();
            assert!(sink.into_bytes().len() >= 4);
        };
        look(how(Kind::Text, &[]), format!("1 {digits}2 3"));
        look(how(Kind::Text, &[]), format!("1\n#{digits}\n2\n"));
        look(table(false), format!("1,{digits}\n2,\"{digits}\n\"\"{digits}\"\n3,x\n"));
        look(table(true), format!("a,{digits}\n1,\n"));
        look(table(true), format!("a,\"{}\"\n1,\n", "0\n".repeat(LENGTH / 2)));
        done.send(()).unwrap();
    });
    // A second or two; five minutes are for machines that are busy with other things.
    waits.recv_timeout(Duration::from_secs(300)).expect("long records take very long");
}

#[cfg(unix)]
#[test]
fn pipes_are_not_sorted_in_place() {
    let folder = Folder::new();
    folder.write("x.txt", "2\n1\n");
    let fifo = folder.arg("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut child = gpusort(&["sort", "-q", "--each", "--in-place", &fifo, &folder.arg("x.txt")])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    let (done, waits) = mpsc::channel();
    std::thread::spawn(move || {
        stderr.read_to_string(&mut said).unwrap();
        done.send(said).unwrap();
    });
    let said = waits.recv_timeout(Duration::from_secs(60));
    child.kill().unwrap();
    let said = said.expect("it waits for a writer");
    assert!(said.contains("fifo: is no regular file"), "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert_eq!(fs::read(folder.path("x.txt")).unwrap(), b"1\n2\n");
}

#[cfg(unix)]
#[test]
fn every_signal_that_ends_leaves_nothing() {
    let folder = Folder::new();
    let lines: String = (0..300_000).rev().map(|number| format!("{number}\n")).collect();
    let (input, out) = (folder.write("in", lines), folder.write("out", "old\n"));
    for signal in ["-INT", "-TERM", "-HUP", "-QUIT", "-ALRM", "-XCPU", "-USR1", "-USR2", "-PROF", "-VTALRM"] {
        let mut child =
            gpusort(&["sort", &input, "-o", &out, "-q", "-a", "odd-even", "-d", "cpu"]).spawn().unwrap();
        assert!(crate::cli::wait_for_temporary(&folder, &mut child, |_| true));
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(fs::read(&out).unwrap(), b"old\n", "{signal}");
        assert_eq!(folder.names(), ["in", "out"], "{signal}");
    }
}

#[cfg(unix)]
#[test]
fn what_a_killed_process_left_is_removed_by_the_next() {
    let folder = Folder::new();
    folder.write("x", "2\n1\n");
    folder.write(".gpusort-0.tmp", "left by a process that was killed");
    folder.write(".gpusort-5.tmp", "and by another");
    exits("exec \"$0\" sort -q x -o y", &folder, 0);
    assert_eq!(folder.names(), ["x", "y"]);
    assert_eq!(fs::read(folder.path("y")).unwrap(), b"1\n2\n");
}

#[cfg(unix)]
#[test]
fn a_limit_on_files_is_an_error_of_writing() {
    let folder = Folder::new();
    let lines: String = (0..100_000).rev().map(|number| format!("{number}\n")).collect();
    folder.write("in", lines);
    folder.write("old", "old\n");
    let said = exits("ulimit -f 8; exec \"$0\" sort -q in -o old", &folder, 2);
    assert!(said.contains("cannot write: File too large"), "{said}");
    assert_eq!(fs::read(folder.path("old")).unwrap(), b"old\n");
    assert_eq!(folder.names(), ["in", "old"]);
    // What counts is what is written, not what was read.
    folder.write("comments", format!("{}2\n1\n", "# a comment\n".repeat(10_000)));
    exits("ulimit -f 8; exec \"$0\" sort -q comments -o out", &folder, 0);
    assert_eq!(fs::read(folder.path("out")).unwrap(), b"1\n2\n");
}

#[cfg(target_os = "linux")]
#[test]
fn an_error_at_closing_counts() {
    let folder = Folder::new();
    folder.write("in", "2\n1\n");
    folder.write("old", "old\n");
    // As network file systems have it: that the disk was full is said when the file is closed.
    let shim = "#define _GNU_SOURCE\n#include <errno.h>\n#include <fcntl.h>\n#include <sys/stat.h>\n\
        #include <sys/syscall.h>\n#include <unistd.h>\n\
        int close(int fd) { struct stat s; int written = !fstat(fd, &s) && S_ISREG(s.st_mode) && \
        (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY; int closed = syscall(SYS_close, fd); \
        if (written) { errno = EDQUOT; return -1; } return closed; }\n";
    folder.write("shim.c", shim);
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "shim.so", "shim.c"])
        .current_dir(folder.path(""))
        .status();
    assert!(made.unwrap().success(), "a C compiler is needed, as for linking Rust programs");
    let shimmed = |arguments: &str| format!("LD_PRELOAD=\"$PWD/shim.so\" exec \"$0\" sort -q in {arguments}");
    let said = exits(&shimmed("-o old"), &folder, 2);
    assert!(said.contains("old: cannot write: Disk quota exceeded"), "{said}");
    assert_eq!(fs::read(folder.path("old")).unwrap(), b"old\n");
    exits(&shimmed("-o new"), &folder, 2);
    exits(&shimmed("> through"), &folder, 2);
    assert_eq!(folder.names(), ["in", "old", "shim.c", "shim.so", "through"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_tune_leaves_neither_data_nor_a_process() {
    let folder = Folder::new();
    fs::create_dir(folder.path("tmp")).unwrap();
    let mut child = gpusort(&["tune", "-d", "cpu", "--largest", "64M"])
        .env("XDG_CONFIG_HOME", folder.path("settings"))
        .env("TMPDIR", folder.path("tmp"))
        .env("GPUSORT_TEST_MARK", folder.path("mark"))
        .spawn()
        .unwrap();
    let mark = format!("GPUSORT_TEST_MARK={}", folder.arg("mark"));
    let processes = || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter(|process| {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes())
        })
        .count()
    };
    // Until it has a process that works for it.
    while processes() < 2 {
        assert!(child.try_wait().unwrap().is_none());
    }
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // It was killed, but may not be gone at once.
    let start = std::time::Instant::now();
    while processes() > 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "a process goes on");
    }
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

#[cfg(unix)]
#[test]
fn more_files_are_merged_than_may_be_open() {
    let folder = Folder::new();
    for number in 0..100 {
        folder.write(&format!("{number}.txt"), format!("{number}\n{}\n", number + 1000));
    }
    let expected: String = (0..100).chain(1000..1100).map(|number| format!("{number}\n")).collect();
    for command in ["sort -m", "sort"] {
        let output = shell(&format!("ulimit -n 20; exec \"$0\" {command} -q *.txt"), &folder);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{command}");
    }
    // Only the soft limit: as many are opened as may be.
    let output = shell("ulimit -S -n 20; exec \"$0\" sort -m -q *.txt", &folder);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[cfg(target_os = "linux")]
#[test]
fn many_small_files_are_merged_in_little_memory() {
    let folder = Folder::new();
    for number in 0..1500 {
        folder.write(&format!("{number}.txt"), "1\n2\n3\n4\n");
    }
    // A quarter of a megabyte for each would be 375.
    let output = shell("ulimit -v 200000; exec \"$0\" sort -m -q *.txt", &folder);
    assert!(output.status.success(), "{}", stderr(&output));
    let expected: String =
        (1..5).flat_map(|number| std::iter::repeat_n(format!("{number}\n"), 1500)).collect();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[cfg(target_os = "linux")]
#[test]
fn the_number_of_threads_is_nobody_elses_variable() {
    let folder = Folder::new();
    let lines: String = (0..1_000_000).rev().map(|number| format!("{number}\n")).collect();
    let input = folder.write("in", lines);
    let threads = |variable: Option<&str>| {
        let mut command = gpusort(&["sort", "-q", "-d", "cpu", &input]);
        if let Some(count) = variable {
            command.env("RAYON_NUM_THREADS", count);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        // It waits for a reader, with the threads that it has started.
        pipe.read_exact(&mut [0; 2]).unwrap();
        let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().count();
        drop(pipe);
        child.wait().unwrap();
        tasks
    };
    let without = threads(None);
    assert!(without > 1);
    for count in ["1", "40"] {
        // One thread more or less prints ahead.
        assert!(threads(Some(count)).abs_diff(without) <= 1, "{count}");
    }
}

#[test]
fn headers_are_compared_byte_by_byte() {
    let folder = Folder::new();
    let [a, b, c] = [b"a\xff\n1\n", b"a\xfe\n0\n", b"a\xff\n0\n"].map(|bytes| {
        let name = format!("{}.csv", folder.names().len());
        folder.write(&name, bytes)
    });
    for command in [&["sort"][..], &["sort", "-m"], &["check"]] {
        let said = refused(&[command, &["-k", "1", &a, &b]].concat(), "");
        assert!(said.contains("has another header"), "{said}");
    }
    assert_eq!(run(&["sort", "-q", "-m", "-k", "1", &a, &c], "").stdout, b"a\xff\n0\n1\n");
}

#[test]
fn a_merge_that_ends_early_knows_no_more_than_it_has_read() {
    let folder = Folder::new();
    let [a, b] =
        [("a", "-92233720368547758080\n"), ("b", "0\n0.5\n")].map(|(name, text)| folder.write(name, text));
    for top in ["0", "1", "2", "3"] {
        let [merged, expected] = [&["sort", "-m"][..], &["sort"]]
            .map(|command| sorted(&[command, &["-q", "--top", top, &a, &b]].concat(), ""));
        assert_eq!(merged, expected, "{top}");
    }
}

#[test]
fn what_is_no_number_is_counted_once_also_where_there_is_a_look_ahead() {
    let folder = Folder::new();
    let table = folder.write("t.csv", "a,b\nx,-0\n,0\n");
    let places = ["--nan", "error", "--invalid", "first", "--empty", "last"];
    for command in [&["sort", "-m"][..], &["sort"]] {
        let rest = ["--json", "-k", "a", "-k", "b", "-o", "/dev/null", &table];
        let timing = sorted(&[command, &places, &rest].concat(), "");
        let timing: serde_json::Value = serde_json::from_str(&timing).unwrap();
        assert_eq!((&timing["invalid"], &timing["empty"]), (&1.into(), &1.into()), "{command:?}");
    }
    let options = ["check", "-f", "csv", "-k", "a", "--nan", "error", "--invalid", "last"];
    let said = stderr(&run(&options, "a\nx\n1\n"));
    assert!(said.contains("1 after what is no number"), "{said}");
}

#[test]
fn the_first_input_decides_on_the_mark_whatever_else_it_has() {
    let folder = Folder::new();
    let mark = "\u{feff}";
    let [empty, marked, table, both] = [("e", ""), ("m", mark), ("t", "a\n1\n"), ("b", "\u{feff}a\n1\n")]
        .map(|(name, bytes)| folder.write(&format!("{name}.csv"), bytes));
    for (files, begins) in [
        ([&marked, &table], true),
        ([&empty, &both], false),
        ([&table, &both], false),
        ([&both, &table], true),
        ([&marked, &marked], true),
    ] {
        let [merged, whole] = [&["sort", "-m"][..], &["sort"]]
            .map(|command| sorted(&[command, &["-q", "-k", "1", files[0], files[1]]].concat(), ""));
        assert_eq!(merged, whole, "{files:?}");
        assert_eq!(whole.starts_with(mark), begins, "{files:?}");
    }
}

#[test]
fn what_is_meant_is_said_to_who_knows_other_tools() {
    let folder = Folder::new();
    let file = folder.write("x.txt", "2\n1\n");
    for (arguments, said) in [
        (&["-t,"][..], "--delimiter ','"),
        (&["-t", ";"], "--delimiter ';'"),
        (&["-t\t"], "--delimiter 'tab'"),
        (&["-S", "1G"], "-S: memory is taken"),
        (&["-S1G"], "-S: memory is taken"),
        (&["--buffer-size=1G"], "--buffer-size: memory is taken"),
        (&["-T", "/tmp"], "-T: all is sorted in memory"),
        (&["-z"], "-z: lines end in LF"),
        (&["-b"], "leave it out"),
        (&["-V"], "sort -V"),
        (&["--parallel", "2"], "all cores"),
        (&["--files0-from", "x"], "names are arguments here"),
        (&["-cC"], "cannot be used with"),
        (&["-h"], "numfmt"),
        (&["-hr"], "numfmt"),
        (&["--each", "-o", "-"], "standard output is none"),
        (&["--each", "-o", &file], "is a file; with --each, -o names a folder"),
        (&["-o", "gone/x"], "there is no folder gone"),
    ] {
        let message = refused(&[&["sort"], arguments, &[file.as_str()]].concat(), "");
        assert!(message.contains(said), "{arguments:?}: {message}");
        assert!(!message.contains("as a value"), "{arguments:?}: {message}");
    }
    assert_eq!(sorted(&["sort", "-q", "-s", "--stable", &file], ""), "1\n2\n");
    // In a pipeline -h must not look like data; where nothing comes it asks for help.
    let output = run(&["sort", "-h"], "1K\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let output = gpusort(&["sort", "-h"]).stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success() && String::from_utf8(output.stdout).unwrap().contains("Usage: gpusort sort")
    );
    let mut command = gpusort(&["sort", &file]);
    command.env("GPUSORT_PROGRESS", "x");
    let said = stderr(&run_with(command, b""));
    assert!(said.contains("'x' for 'GPUSORT_PROGRESS'") && !said.contains("--progress"), "{said}");
    assert!(refused(&["sort"], "\u{feff}1\u{a0}2\n").contains("'1\\u{a0}2' is not a number"));
    let said = exits("mkdir gone; cd gone; rmdir ../gone; exec \"$0\" sort ../x.txt -o o", &folder, 2);
    assert!(said.contains("No such file or directory"), "{said}");
    exits("exec \"$0\" --help > /dev/full", &folder, 2);
    exits("exec \"$0\" sort --help > /dev/full", &folder, 2);
    exits("exec \"$0\" --version > /dev/full", &folder, 2);
}

#[test]
fn an_interrupted_bench_without_results_leaves_the_old_ones() {
    let folder = Folder::new();
    let csv = folder.write("old.csv", "old\n");
    let mut child = gpusort(&["bench", "-s", "16M", "-d", "cpu", "--export-csv", &csv])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The introduction is there, and no result is for a while.
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 16]).unwrap();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let mut rest = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let measured = rest.contains("16,777,216  ");
    assert_eq!(fs::read_to_string(&csv).unwrap() == "old\n", !measured, "{rest}");
}
