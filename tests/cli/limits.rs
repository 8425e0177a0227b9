//! Memory and threads: how much is used, and what happens where there is too little.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use crate::support::command::{BINARY, exits, gpusort, sorted};
use crate::support::files::{Folder, falling_lines};
use crate::support::process::{peak_memory, wait_until_it_waits};

/// The most memory that a sort of this file had, by the size of the file: it is looked at when all
/// but the last of the output was read.
#[cfg(target_os = "linux")]
fn peak_of_a_sort(file: &str, options: &[&str]) -> f64 {
    let size = fs::metadata(file).unwrap().len();
    let mut child = gpusort(&[&["sort", "-q", "-d", "cpu", file], options].concat())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdout.take().unwrap();
    // More than a pipe holds is yet to come, so it cannot have ended.
    let mut most = vec![0; size as usize - (1 << 21)];
    pipe.read_exact(&mut most).unwrap();
    let peak = peak_memory(&child);
    std::io::copy(&mut pipe, &mut std::io::sink()).unwrap();
    assert!(child.wait().unwrap().success());
    peak as f64 / size as f64
}

#[cfg(target_os = "linux")]
#[test]
fn peak_memory_stays_below_its_bounds() {
    let folder = Folder::new();
    for (name, count, element, key, most) in [
        ("integers.txt", "4M", "i32", None, 1.5),
        ("floats.txt", "4M", "f64", None, 3.5),
        ("table.csv", "1M", "f64", Some("x"), 3.0),
        ("words.u32", "32M", "u32", None, 2.2),
        ("floats.f64", "16M", "f64", None, 2.2),
    ] {
        let file = folder.arg(name);
        if key.is_some() {
            let numbers = sorted(&["gen", "-q", "-c", count, "-t", element], "");
            let rows = numbers
                .lines()
                .enumerate()
                .map(|(row, number)| format!("{row},row {row} of many,{number}\n"));
            fs::write(&file, "id,name,x\n".to_owned() + &rows.collect::<String>()).unwrap();
        } else {
            sorted(&["gen", "-q", "-c", count, "-t", element, "-o", &file], "");
        }
        let peak = peak_of_a_sort(&file, if key.is_some() { &["-k", "x"] } else { &[] });
        // It cannot be less than one of the things that have to be there.
        assert!(peak > 0.2 && peak <= most, "{name}: {peak} times its size");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_sort_keeps_to_the_memory_it_is_given() {
    let folder = Folder::new();
    let (short, words) = (folder.write("short.txt", "1.5\n".repeat(6_000_000)), folder.arg("n.u64"));
    sorted(&["gen", "-q", "-c", "8M", "-o", &words], "");
    let rows =
        |begin| (begin..begin + 500).map(|row| format!("{},x\n", row * 7919 % 1000)).collect::<String>();
    let long = format!("k,v\n{}500,{}\n{}", rows(0), "y".repeat(100 << 20), rows(500));
    let long = folder.write("long.csv", long);
    for (file, options, memory) in [(&short, &[][..], 16), (&words, &[], 16), (&long, &["-k", "k:text"], 180)]
    {
        let budget = format!("{memory}M");
        let peak = peak_of_a_sort(file, &[&["--memory", &budget], options].concat());
        let peak = peak * fs::metadata(file).unwrap().len() as f64;
        // What of it is the program itself and its threads depends on the machine.
        let most = 1.1 * f64::from(memory << 20) + f64::from(64 << 20);
        assert!(peak <= most, "{file}: {peak} bytes");
    }
}

/// The system has this folder in memory.
#[cfg(target_os = "linux")]
#[test]
fn temporary_files_in_memory_count_in_the_budget() {
    let folder = Folder::new();
    sorted(&["gen", "-q", "-c", "300K", "--type", "u64", "-o", &folder.arg("x.u64")], "");
    let sort = "exec \"$0\" sort -q x.u64 -T /dev/shm -o y.u64";
    let said = exits(&format!("{sort} --memory 3M"), &folder, 2);
    assert!(said.contains("a temporary file in /dev/shm") && said.contains("is in memory"), "{said}");
    assert!(said.contains("--temp-dir") && said.contains("1.50 MiB"), "{said}");
    assert_eq!(folder.names(), ["x.u64"]);
    // The files take 2.0 MB, the input 2.4.
    let parts = exits(&format!("{sort} --memory 4M --json --timing stderr"), &folder, 0);
    assert!(parts.contains("\"spilled_bytes\":196"), "{parts}");
    exits("\"$0\" sort -q x.u64 -o z.u64 && exec cmp y.u64 z.u64", &folder, 0);
}

/// More numbers than there is memory for must not be kept to be checked or merged.
#[cfg(target_os = "linux")]
#[test]
fn checks_and_merges_use_little_memory() {
    let folder = Folder::new();
    let (text, words) = (folder.arg("n.txt"), folder.arg("n.u32"));
    sorted(&["gen", "-q", "-c", "4M", "--dist", "sorted", "-o", &text], "");
    sorted(&["gen", "-q", "-c", "16M", "--dist", "sorted", "-o", &words], "");
    for args in [
        &["check", "-t", "u32", &text][..],
        &["sort", "-q", "-m", &text, &text, "-o", "/dev/null"],
        &["sort", "-q", "-m", &words, &words, "-o", "/dev/null"],
    ] {
        // Of all address space, of which the binary itself and the stacks of threads have most.
        let limit = format!("ulimit -v {}; exec \"$0\" \"$@\"", 300 << 10);
        let status = Command::new("sh").args(["-c", &limit, BINARY]).args(args).status().unwrap();
        assert!(status.success(), "{args:?}");
    }
}

/// The reader handles what the allocator refuses: the process does not end in the allocator.
#[cfg(target_os = "linux")]
#[test]
fn an_input_larger_than_memory_is_an_error_that_names_it() {
    let pipe = "head -c 900000000 /dev/zero | tr '\\0' a | \"$0\" sort -f lines --memory 8G -o out -";
    let said = exits(&format!("ulimit -v 500000; {pipe}"), &Folder::new(), 2);
    assert!(said.contains("not enough memory: reading standard input needs"), "{said}");
}

#[test]
fn too_little_memory_is_an_error_with_the_number() {
    let folder = Folder::new();
    exits("exec \"$0\" gen -q -c 3000000 -t u64 -o big.u64", &folder, 0);
    exits("exec \"$0\" gen -q -c 2000000 -t i32 --to text -o big.txt", &folder, 0);
    folder.write("old", "old\n");
    // The program itself has more with all formats.
    let more = if cfg!(feature = "arrow") { 24_000 } else { 0 };
    let said = exits("ulimit -v 50000; exec \"$0\" bench --sizes 8M -d cpu --export-csv old", &folder, 2);
    assert!(said.contains("memory") && said.contains(|c: char| c.is_ascii_digit()), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(fs::read(folder.path("old")).unwrap(), b"old\n");
    assert_eq!(folder.names(), ["big.txt", "big.u64", "old"]);
    // Inputs are sorted in parts.
    for (limit, command) in [
        (50_000, "sort -q --argsort big.u64 --to bin"),
        (50_000, "sort -q --argsort -f bin -t u64 < big.u64"),
        (36_000, "sort -q --argsort big.txt --to bin"),
    ] {
        let limit = limit + more;
        let limited = format!("(ulimit -v {limit}; exec \"$0\" {command} -o out)");
        exits(&format!("{limited} && \"$0\" {command} -o all && cmp out all"), &folder, 0);
    }
    for (limit, command) in [
        (50_000, "sort -q big.u64 -o out.u64"),
        (50_000, "sort -q -f bin -t u64 -o out.u64 < big.u64"),
        (50_000, "sort -q -t f64 -o out < big.txt"),
        (50_000, "sort -q -o out < big.txt"),
        (36_000, "sort -q big.txt -o out"),
    ] {
        let limit = limit + more;
        let out = command.split(' ').find(|word| word.starts_with("out")).unwrap();
        exits(&format!("(ulimit -v {limit}; exec \"$0\" {command}) && \"$0\" check {out}"), &folder, 0);
    }
    // With only little more than the program itself it sorts with the one thread that there is.
    let limit = 66_000 + more;
    exits(&format!("ulimit -v {limit}; \"$0\" sort -q big.txt -o out && \"$0\" check out"), &folder, 0);
}

/// Each thread of a pool that more space allows must not reserve more than that.
#[cfg(target_os = "linux")]
#[test]
fn more_address_space_is_never_too_little() {
    let folder = Folder::new();
    let (words, text) = (folder.arg("n.u64"), folder.arg("n.txt"));
    sorted(&["gen", "-q", "-c", "2M", "-o", &words], "");
    sorted(&["gen", "-q", "-c", "1M", "--to", "text", "-o", &text], "");
    for limit in (80..300).step_by(40) {
        for sort in
            ["n.u64 -o out", "--argsort n.u64 --to bin -o out", "-f bin -t u8 n.u64 -o out", "n.txt -o out"]
        {
            exits(&format!("ulimit -v {limit}000; exec \"$0\" sort -q -d cpu {sort}"), &folder, 0);
        }
    }
}

/// A reader of Parquet grows a batch of a million short texts by doubling it.
#[cfg(all(target_os = "linux", feature = "arrow"))]
#[test]
fn short_texts_of_parquet_take_no_more_space_than_other_rows() {
    let folder = Folder::new();
    let rows: String = (0..1_000_000_u64).map(|row| format!("n{}\n", row * 7919 % 99_991)).collect();
    let csv = folder.write("n.csv", format!("a\n{rows}"));
    sorted(&["sort", "-q", "-k", "a:text", &csv, "-o", &folder.arg("n.parquet")], "");
    for limit in (80..160).step_by(20) {
        let sort = "exec \"$0\" sort -q -d cpu -r -k a n.parquet -o out.parquet";
        exits(&format!("ulimit -v {limit}000; {sort}"), &folder, 0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn rayon_num_threads_is_ignored() {
    let folder = Folder::new();
    let input = folder.write("in", falling_lines(1_000_000));
    let threads = |variable: Option<&str>| {
        let mut command = gpusort(&["sort", "-q", "-d", "cpu", &input]);
        if let Some(count) = variable {
            command.env("RAYON_NUM_THREADS", count);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        // It waits for a reader, with the threads that it has started; those that end by themselves
        // have ended.
        pipe.read_exact(&mut [0; 2]).unwrap();
        wait_until_it_waits(&child);
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
