//! `gpusort gen`.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use crate::support::command::{gpusort, refused, run, sorted, stderr};
use crate::support::files::Folder;
use crate::support::process::peak_memory;

#[test]
fn gen_makes_what_sort_reads() {
    let output = run(&["gen", "--count", "2000", "-t", "f32", "--dist", "zipf"], "");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 2000);
    let mut numbers: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    let expected: String = numbers.iter().map(|number| format!("{number}\n")).collect();
    assert_eq!(sorted(&["sort", "-q"], &text), expected);

    // The same numbers in binary, by the output's name.
    let folder = Folder::new();
    let file = folder.arg("zipf.f32");
    let made = run(&["gen", "--count", "2000", "--dist", "zipf", "-o", &file], "");
    assert!(made.status.success() && made.stdout.is_empty(), "{}", stderr(&made));
    let floats: Vec<f32> = fs::read(&file)
        .unwrap()
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert!(text.lines().map(|line| line.parse::<f32>().unwrap()).eq(floats));
}

#[test]
fn gen_makes_texts_that_sort_takes_for_texts() {
    let text = sorted(&["gen", "--count", "5000", "-t", "text", "--dist", "zipf"], "");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines.len(), 5000);
    assert_eq!(sorted(&["sort", "-q"], &text), lines.join("\n") + "\n");
    lines.dedup();
    assert!((500..3000).contains(&lines.len()), "{} different ones", lines.len());
    let folder = Folder::new();
    let file = folder.arg("names.txt");
    let made = run(&["gen", "--count", "5000", "-t", "text", "--dist", "zipf", "-o", &file], "");
    assert!(made.status.success(), "{}", stderr(&made));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn gen_has_defaults_and_refuses_what_makes_no_sense() {
    let bytes = |args: &[&str]| run(args, "").stdout;
    let named = ["gen", "--count", "1K", "-t", "u32", "--dist", "uniform", "--seed", "1", "--to", "bin"];
    assert_eq!(bytes(&["gen", "--count", "1_024", "--to", "bin"]), bytes(&named));
    assert_eq!(bytes(&["gen", "--count", "1.024e3", "--to", "bin"]), bytes(&named));
    assert_eq!(bytes(&named).len(), 4096);
    assert_eq!(bytes(&["gen", "--to", "bin"]).len(), 4 << 20, "a million");
    assert!(run(&["gen", "--count", "0"], "").stdout.is_empty());
    let folder = Folder::new();
    let file = folder.arg("x.f64");
    assert!(run(&["gen", "--count", "3", "--to", "bin", "-o", &file], "").status.success());
    assert_eq!(fs::read(file).unwrap().len(), 24, "the type by the name, whatever the format");
    assert!(
        refused(&["gen", "--count", "1.5M"], "")
            .contains("'1.5M' for '--count <SIZE>': expected a number such")
    );
    assert!(refused(&["gen", "--dist", "normal"], "").contains("few-distinct"));
    assert!(refused(&["gen", "-t", "u64", "-o", "x.f32"], "").contains("x.f32: the name says f32"));
    assert!(
        refused(&["gen", "-t", "text", "-o", "x.f32"], "")
            .contains("but --type is text; rename the file, or use --to text")
    );
    assert!(
        refused(&["gen", "-t", "text", "--to", "npy"], "")
            .contains("--type text makes lines, not npy; use --to text")
    );
    assert!(refused(&["gen", "-o", "x.csv"], "").contains("gen writes no tables; use --to text"));
    assert!(refused(&["gen", "-o", "/no/such/folder/x"], "").contains("does not exist; create it first"));
    assert!(!Path::new("x.f32").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn gen_uses_constant_memory() {
    let mut child =
        gpusort(&["gen", "--count", "128M", "--to", "bin"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdout.take().unwrap();
    let mut block = vec![0; 1 << 20];
    for _ in 0..500 {
        pipe.read_exact(&mut block).unwrap();
    }
    // Twelve MiB are yet to come: it cannot have ended.
    let peak = peak_memory(&child);
    assert!(peak < 100 << 20, "{peak} bytes for 512 MiB");
    let mut rest = Vec::new();
    pipe.read_to_end(&mut rest).unwrap();
    assert_eq!(rest.len(), 12 << 20);
    assert!(child.wait().unwrap().success());
}
