//! `sort --merge`.

use std::fs;

use crate::support::command::{
    exits, gpusort, refused, refused_in_shell, run, run_with, shell, sorted, stderr,
};
use crate::support::files::{Folder, npy_of};

/// Integers that are the same as floats are not the same, wherever blocks of what is merged end.
#[test]
fn neighbours_that_floats_do_not_tell_apart_are_kept_by_unique() {
    let folder = Folder::new();
    let large = 9_007_199_254_740_992_u64;
    for count in 250..260 {
        let rising: Vec<u64> = (0..count).chain(large..large + 8).collect();
        for descending in [false, true] {
            let mut numbers = rising.clone();
            if descending {
                numbers.reverse();
            }
            let lines: String = numbers.iter().map(|number| format!("{number}\n")).collect();
            let file = folder.write("f.txt", &lines);
            let direction = if descending { &["-r"][..] } else { &[] };
            assert_eq!(
                sorted(&[&["sort", "-q", "-m", "-u", &file], direction].concat(), ""),
                lines,
                "{count}"
            );
        }
    }
}

#[test]
fn blank_lines_before_numbers_are_merged_with_them() {
    let folder = Folder::new();
    // The numbers after them are read in the way of text, where blank lines are nothing.
    for lines in ["\n5\n7\n", "\n\n5\n", "5\n\n7\n", "\n"] {
        let file = folder.write("lines", lines);
        let mut order: Vec<&str> = lines.split_inclusive('\n').collect();
        order.sort_by_key(|line| line.trim().parse::<u8>().unwrap_or(0));
        let in_order = folder.write("in-order", order.concat());
        for args in [&["sort", &file][..], &["sort", "-m", &in_order]] {
            let args = [args, &["-q", "-f", "lines", "--empty", "first"]].concat();
            assert_eq!(sorted(&args, ""), order.concat(), "{args:?}");
        }
    }
}

#[test]
fn merging_gives_what_sorting_gives() {
    let folder = Folder::new();
    let (a, b) = (folder.write("a.txt", "1 03\n5.0\n"), folder.write("b.txt", "2\n3\n5\n1e3"));
    assert_eq!(sorted(&["sort", "-q", "-m", "-f", "text", &a, &b], ""), "1\n2\n03\n3\n5.0\n5\n1e3\n");
    assert_eq!(sorted(&["sort", "-q", "-m", "-f", "text", "-u", &a, &b], ""), "1\n2\n03\n5.0\n1e3\n");
    assert_eq!(sorted(&["sort", "-q", "-m", "--top", "2", "-f", "text", &a, "-"], "2\n"), "1\n2\n");
    let told = stderr(&run(&["sort", "-vm", "-f", "text", &a, &b], ""));
    assert!(told.contains("merged 7 numbers in ") && told.contains("cpu merge"), "{told}");
    let comment = folder.write("b.log", "# b\n2\n");
    let error = refused(&["sort", "-m", "-f", "text", &a, &comment], "");
    assert!(error.contains("b.log:1:1: '#' is not a number"), "{error}");
    let unsorted = folder.write("c.txt", "4\n2\n");
    let message = run(&["sort", "-q", "-m", "-f", "text", &a, &unsorted], "");
    assert_eq!(message.status.code(), Some(2));
    assert!(stderr(&message).contains("c.txt:2: out of order: 2 after 4"), "{}", stderr(&message));

    assert!(refused(&["sort", "-m", "-", "-"], "1\n").contains("name it once"));
    assert!(refused(&["sort", "-m", "-d", "cpu", &a], "").contains("--device has no effect with --merge"));
    assert_eq!(
        sorted(&["sort", "-q", "-m", "--top", "1"], "1\nx\n"),
        "1\n",
        "what is not needed is not read"
    );
    let skipped = folder.write("s.csv", "x\n1\nn/a\n2\n");
    let told = run(&["sort", "-m", "--invalid", "skip", &skipped], "");
    assert_eq!(told.stdout, b"x\n1\n2\n".as_slice(), "{}", stderr(&told));

    let (a, b) = (folder.write("a.csv", "x,y\r\n1,a\r\n3,\"b\nc\""), folder.write("b.csv", "x,y\n1,d\n2,e"));
    let merged = "x,y\r\n1,a\r\n1,d\n2,e\n3,\"b\nc\"\r\n";
    assert_eq!(sorted(&["sort", "-q", "-m", "-k", "x", &a, &b], ""), merged);
    assert_eq!(sorted(&["sort", "-q", "-k", "x", &a, &b], ""), merged);

    let words: Vec<u8> = [1_i32, 5, 9].iter().flat_map(|word| word.to_le_bytes()).collect();
    let (a, b) = (folder.write("a.i32", &words), folder.write("b.i32", &words));
    assert_eq!(sorted(&["sort", "-q", "-m", "--to", "text", &a, &b], ""), "1\n1\n5\n5\n9\n9\n");
    let out = folder.arg("out.npy");
    sorted(&["sort", "-q", "-m", &a, &b, "-o", &out], "");
    assert_eq!(sorted(&["sort", "-q", "--to", "text", &out], ""), "1\n1\n5\n5\n9\n9\n");
}

#[test]
fn elements_are_merged_in_blocks_by_all_cores() {
    let folder = Folder::new();
    // Of several blocks each, with keys that repeat within and between them, over ranges that
    // overlap in part.
    let runs: Vec<Vec<u64>> =
        [(3_000_000, 3, 0), (2_500_000, 7, 5_000_000), (1, 1, 42), (0, 1, 0), (1_000_003, 20, 1)]
            .map(|(count, step, first)| (0..count).map(|i| first + i / 3 * step).collect())
            .into();
    let bytes = |keys: &[u64]| keys.iter().flat_map(|key| key.to_le_bytes()).collect::<Vec<u8>>();
    let files: Vec<String> = runs
        .iter()
        .enumerate()
        .map(|(number, run)| folder.write(&format!("{number}.u64"), bytes(run)))
        .collect();
    let mut expected = runs.concat();
    expected.sort_unstable();
    let out = folder.arg("out.u64");
    let merge = |options: &[&str], files: &[&str], stdin: &[u8]| {
        let output =
            run_with(gpusort(&[&["sort", "-m", "--json", "-o", &out], options, files].concat()), stdin);
        assert!(output.status.success(), "{}", stderr(&output));
        (fs::read(&out).unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    assert!(merge(&[], &names, &[]).0 == bytes(&expected));
    // One of them from a pipe, which gives some bytes at a time.
    let piped = ["-f", "bin", "-t", "u64"];
    assert!(merge(&piped, &["-", &files[1], &files[2], &files[4]], &bytes(&runs[0])).0 == bytes(&expected));
    assert!(merge(&["--top", "2000001"], &names, &[]).0 == bytes(&expected[..2_000_001]));
    let all = expected.len();
    expected.dedup();
    let (unique, told) = merge(&["-u"], &names, &[]);
    assert!(unique == bytes(&expected));
    assert!(told.contains(&format!("\"repeated\":{}", all - expected.len())), "{told}");

    let mut broken = runs[1].clone();
    broken.swap(2_000_000, 2_000_001);
    let [value, before] = [broken[2_000_001], broken[2_000_000]];
    if value == before {
        broken[2_000_001] = 0;
    }
    let file = folder.write("broken.u64", bytes(&broken));
    let said = refused(&["sort", "-q", "-m", &files[0], &file, "-o", &out], "");
    let problem =
        format!("{file}, element 2000001: out of order: {} after {}", broken[2_000_001], broken[2_000_000]);
    assert!(said.contains(&problem), "{said}");
    assert!(fs::read(&out).unwrap() == unique, "the old output is whole");
}

#[test]
fn a_merge_reads_no_more_elements_than_the_npy_header_says() {
    let folder = Folder::new();
    let words: Vec<u8> = [1_u32, 2, 3].iter().flat_map(|word| word.to_le_bytes()).collect();
    let out = folder.arg("o.npy");
    for shape in ["(0,)", "(2,)", "(4,)", "(4611686018427387903,)"] {
        let file = folder.write("z.npy", npy_of(b"<u4", shape, &words));
        for options in
            [&["-m", "--top", "2"][..], &["-m"], &["--top", "2"], &["-m", "--top", "2", "--to", "text"]]
        {
            let said = refused(&[&["sort"], options, &[&file, "-o", &out]].concat(), "");
            assert!(said.contains("bytes, but 12 follow the header"), "{options:?}: {said}");
        }
        let piped = run_with(
            gpusort(&["sort", "-m", "--top", "3", "-f", "npy", "-o", &out]),
            &npy_of(b"<u4", shape, &words),
        );
        // Three of four are all that were asked for, and what was promised of them.
        let expected = if shape == "(4,)" || shape.len() > 5 { 0 } else { 2 };
        assert_eq!(piped.status.code(), Some(expected), "{shape} from a pipe: {}", stderr(&piped));
        let _ = fs::remove_file(&out);
    }
    assert_eq!(folder.names(), ["z.npy"]);
    let file = folder.write("z.npy", npy_of(b"<u4", "(3,)", &words));
    assert_eq!(sorted(&["sort", "-m", "-q", "--top", "2", "--to", "text", &file], ""), "1\n2\n");
}

#[test]
fn a_merge_into_one_of_its_inputs_is_refused() {
    let folder = Folder::new();
    folder.write("a", "1\n3\n");
    folder.write("b", "2\n");
    let scripts = [
        "-m a b >> a",
        "-m a b >> b",
        "-m < a >> a",
        "-m a - < b >> b",
        "-m a b -o /dev/stdout >> a",
        "-m a b -o /dev/fd/9 9>> a",
    ];
    let scripts = scripts.map(|script| format!("sort -q {script}"));
    refused_in_shell(scripts, &folder, "is both input and output");
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
    assert!(said.contains("is the output for a and an input"), "{said}");
    assert_eq!(fs::read(folder.path("b")).unwrap(), b"2\n2\n");
}

#[test]
fn a_merge_that_stops_early_ignores_unread_input() {
    let folder = Folder::new();
    let [a, b] =
        [("a", "-92233720368547758080\n"), ("b", "0\n0.5\n")].map(|(name, text)| folder.write(name, text));
    for top in ["0", "1", "2", "3"] {
        let [merged, expected] = [&["sort", "-m"][..], &["sort"]]
            .map(|command| sorted(&[command, &["-q", "--top", top, &a, &b]].concat(), ""));
        assert_eq!(merged, expected, "{top}");
    }
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
    // Only the soft limit is low, so it is raised.
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

/// An output is opened only once the options are right: a pipe would wait for its reader.
#[cfg(unix)]
#[test]
fn another_format_is_refused_before_the_output_is_opened() {
    let folder = Folder::new();
    let (input, fifo) = (folder.write("a.txt", "1\n"), folder.fifo("fifo"));
    let said = refused(&["merge", "-f", "text", &input, "--to", "bin", "-o", &fifo], "");
    assert!(said.contains("cannot convert text to another format; sort instead"), "{said}");
}
