//! `--each`: every file on its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use gpusort_planner::key::ElementType;
use serde_json::Value;

use crate::device;
use crate::inputs::elements;
use crate::support::command::{gpusort, refused, run, sorted, stderr};
use crate::support::elements::{npy, raw};
use crate::support::files::Folder;
use crate::support::oracle::in_order;
use crate::support::process::{end, read_all};

#[test]
fn each_file_is_sorted_on_its_own() {
    let folder = Folder::new();
    let text = folder.write("a.txt", "3\n01\n2\n");
    let other = folder.write("b.txt", "2.5\n-1\n");
    let words = elements(ElementType::I64, 1000, 8);
    let binary = folder.write("c.i64", raw(ElementType::I64, &words));
    let expected = raw(ElementType::I64, &in_order(ElementType::I64, false, &words));

    let before = fs::read(&text).unwrap();
    for device in ["cpu", &device::name()] {
        let out = folder.arg(&format!("out-{device}"));
        let args =
            ["sort", "-v", "--each", "-a", "bitonic", "-d", device, &text, &other, &binary, "-o", &out];
        let told = sorted(&args, "");
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 3, "{told}");
        assert!(lines[0].starts_with(&format!("{text}: sorted 3 lines by number in ")), "{told}");
        let read = |name: &str| fs::read(Path::new(&out).join(name)).unwrap();
        assert_eq!(read("a.txt"), b"01\n2\n3\n");
        assert_eq!(read("b.txt"), b"-1\n2.5\n");
        assert_eq!(read("c.i64"), expected);
        assert_eq!(fs::read(&text).unwrap(), before, "inputs stay as they are");
    }

    // In place, one of them wrong: it stays as it is, and the others are sorted.
    let wrong = folder.write("wrong.txt", "2\nx\n1\n");
    let output = run(&["sort", "--each", "--in-place", "-n", "--json", &text, &wrong, &other], "");
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(message.contains(&format!("{wrong}:2: 'x' is not a number")), "{message}");
    assert!(message.contains("1 of 3 files not sorted"), "{message}");
    let told = String::from_utf8(output.stdout).unwrap();
    let files: Vec<String> = told
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["file"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(files, [text.clone(), other.clone()]);
    assert_eq!(fs::read(&wrong).unwrap(), b"2\nx\n1\n");
    assert_eq!(fs::read(&text).unwrap(), b"01\n2\n3\n");
    assert_eq!(fs::read(&other).unwrap(), b"-1\n2.5\n");
    // Without a kind it is text, and a note says so.
    let output = run(&["sort", "--each", "--in-place", &wrong, &binary], "");
    let note = format!(
        "sorted whole lines as text: 'x' ({wrong}:2) does not fit the other first fields; use -k 1 to sort by them"
    );
    assert!(output.status.success() && stderr(&output).contains(&note), "{}", stderr(&output));
    assert_eq!(fs::read(&wrong).unwrap(), b"1\n2\nx\n");
    assert_eq!(fs::read(&binary).unwrap(), expected);
    assert!(!folder.names().iter().any(|name| name.starts_with(".gpusort")), "no temporary is left");
}

#[test]
fn each_refuses_what_would_lose_a_file() {
    let folder = Folder::new();
    let file = folder.write("x.txt", "2\n1\n");
    fs::create_dir(folder.path("sub")).unwrap();
    let same = folder.write("sub/x.txt", "2\n1\n");
    let out = folder.arg("out");
    let here = folder.root().to_str().unwrap().to_owned();
    for (args, said) in [
        (&["--each", &file][..], "--each needs an output folder (-o DIR) or --in-place"),
        (&["--each", "-o", &out], "--each needs input files"),
        (&["--each", &file, "-", "-o", &out], "--each sorts files"),
        (&["--each", &file, &same, "-o", &out], "would both be written to"),
        (&["--each", &file, &file, "--in-place"], "would both be written to"),
        (&["--each", &file, "-o", &here], "use --in-place to replace the inputs"),
        (&["--each", &file, "-o", &file], "--each needs a folder (-o DIR)"),
        (&["--each", &file, "-o", &out, "--to", "bin"], "keeps the format of each file"),
        (&["--in-place", &file], "--each"),
    ] {
        let message = refused(&[&["sort"], args].concat(), "");
        assert!(message.contains(said), "{args:?}: {message}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"2\n1\n");
    assert_eq!(folder.names(), ["sub", "x.txt"], "nothing was made");
}

#[test]
fn each_table_and_array_on_its_own() {
    let folder = Folder::new();
    let a = folder.write("a.csv", "x,y\n2,a\n1,b\n");
    let b = folder.write("b.csv", "y,x\nc,4\nd,3\n");
    let c = folder.write("c.npy", npy(ElementType::F32, &[2.0_f32, 1.0].map(|f| f.to_bits().into()), true));
    let out = folder.arg("out");
    sorted(&["sort", "-q", "--each", "-k", "x", &a, &b, "-o", &out], "");
    assert_eq!(fs::read_to_string(folder.path("out/a.csv")).unwrap(), "x,y\n1,b\n2,a\n");
    assert_eq!(fs::read_to_string(folder.path("out/b.csv")).unwrap(), "y,x\nd,3\nc,4\n");
    sorted(&["sort", "-q", "--each", "--in-place", &c], "");
    assert_eq!(sorted(&["sort", "-q", "--to", "text", &c], ""), "1\n2\n");
    assert_eq!(sorted(&["check", &c], ""), "");
    // One that is wrong does not stop the others.
    let wrong = folder.write("wrong.csv", "z\n1\n");
    let output = run(&["sort", "-q", "--each", "--in-place", "-k", "x", &wrong, &a], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no column 'x'; columns: 'z'"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&a).unwrap(), "x,y\n1,b\n2,a\n");
}

#[cfg(unix)]
#[test]
fn files_are_written_at_once() {
    use std::io::Read as _;

    let folder = Folder::new();
    // More than a pipe holds.
    let text: String = (0..40_000).rev().map(|number| format!("{number}\n")).collect();
    let files = ["a.txt", "b.txt", "c.txt"].map(|name| folder.write(name, &text));
    fs::create_dir(folder.path("out")).unwrap();
    let fifo = folder.fifo("out/a.txt");
    // Nothing is read from it yet.
    let mut pipe = fs::File::options().read(true).write(true).open(fifo).unwrap();
    let [a, b, c] = &files;
    let mut child = gpusort(&["sort", "-q", "--each", a, b, c, "-o", &folder.arg("out")]).spawn().unwrap();
    let others = ["out/b.txt", "out/c.txt"].map(|name| folder.path(name));
    let since = std::time::Instant::now();
    while !others.iter().all(|path| path.exists()) {
        if since.elapsed().as_secs() > 20 {
            child.kill().unwrap();
            panic!("the others wait for the first");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let mut sorted = vec![0; text.len()];
    pipe.read_exact(&mut sorted).unwrap();
    assert!(end(&mut child).success());
    for other in others {
        assert!(fs::read(other).unwrap() == sorted);
    }
    assert!(sorted.starts_with(b"0\n1\n2\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn each_of_many_files_is_sorted_where_few_may_be_open() {
    let folder = Folder::new();
    let files: Vec<_> = (0..40).map(|number| folder.write(&format!("{number}.txt"), "3\n1\n2\n")).collect();
    let sorted = Command::new("prlimit")
        .arg("--nofile=8")
        .arg(env!("CARGO_BIN_EXE_gpusort"))
        .args(["sort", "-q", "-d", "cpu", "--each", "--in-place"])
        .args(&files)
        .output()
        .unwrap();
    assert!(sorted.status.success(), "{}", String::from_utf8_lossy(&sorted.stderr));
    for file in files {
        assert_eq!(fs::read(file).unwrap(), b"1\n2\n3\n");
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_not_sorted_in_place() {
    let folder = Folder::new();
    folder.write("x.txt", "2\n1\n");
    let fifo = folder.fifo("fifo");
    let mut child = gpusort(&["sort", "-q", "--each", "--in-place", &fifo, &folder.arg("x.txt")])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Where it waited for a writer, it would not end.
    let said = read_all(child.stderr.take().unwrap());
    assert!(said.contains("fifo: is not a regular file, so it cannot be replaced"), "{said}");
    assert_eq!(end(&mut child).code(), Some(2));
    assert_eq!(fs::read(folder.path("x.txt")).unwrap(), b"1\n2\n");
}

/// Binary pipes are refused like others.
#[cfg(unix)]
#[test]
fn binary_pipes_are_not_sorted_in_place() {
    let folder = Folder::new();
    let fifo = folder.fifo("p.u32");
    let mut child =
        gpusort(&["sort", "-q", "--each", "--in-place", &fifo]).stderr(Stdio::piped()).spawn().unwrap();
    let said = read_all(child.stderr.take().unwrap());
    assert!(said.contains("p.u32: is not a regular file, so it cannot be replaced"), "{said}");
    assert_eq!(end(&mut child).code(), Some(2));
}
