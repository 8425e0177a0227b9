//! Sorting in less memory than the input takes.

use std::fs;

use crate::support::command::{refused, run, run_in_environment, sorted, stderr};
use crate::support::files::Folder;

/// Numbers that need more than 100 KB.
fn numbers() -> String {
    (0..20_000_u64).map(|i| format!("{}\n", i * 7919 % 20_011)).collect()
}

#[test]
fn memory_is_named_in_the_usual_ways() {
    let (folder, input) = (Folder::new(), numbers());
    let file = folder.write("n.txt", &input);
    let expected = sorted(&["sort", "-q", &file], "");
    let runs = |options: &[&str], input: &str| {
        let args = [&["sort", "--json", "--timing", "stderr"], options].concat();
        let output = run(&args, input);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{options:?}");
        let told: serde_json::Value = serde_json::from_str(&stderr(&output)).unwrap();
        assert_eq!(told["n"], 20_000);
        let [runs, spilled] = ["runs", "spilled_bytes"].map(|name| told[name].as_u64().unwrap());
        assert_eq!(told["ms"]["merge"].as_f64().unwrap() > 0.0, runs > 0);
        assert_eq!(spilled > 0, runs > 0, "{runs} {spilled}");
        runs
    };
    assert_eq!(runs(&[&file], ""), 0);
    let few = runs(&["--memory", "100K", &file], "");
    assert!((2..40).contains(&few), "{few}");
    assert_eq!(runs(&["--memory=102400", &file], ""), few);
    assert_eq!(runs(&["-S", "100", &file], ""), few);
    assert_eq!(runs(&["-S100K", "-T", &folder.arg(""), &file], ""), few);
    assert_eq!(runs(&["--buffer-size=102400b", "--temporary-directory", &folder.arg(""), &file], ""), few);
    assert_eq!(runs(&["--memory", "1T", "-T", "/gone", &file], ""), 0);
    assert_eq!(runs(&["--memory", "90%", &file], ""), 0);
    assert!(runs(&["--memory", "0%", &file], "") > few);
    // Of a pipe the text is kept, too, so there are more.
    assert!(runs(&["-S", "100K"], &input) > few);
    // The last one counts, and several folders are used in turn.
    let folders = [folder.arg("a"), folder.arg("b")];
    folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
    assert_eq!(runs(&["-S1", "-S", "100K", "-T", &folders[0], "-T", &folders[1], &file], ""), few);
    assert!(folders.iter().all(|folder| fs::read_dir(folder).unwrap().count() == 0));
    for refusal in ["x", "-1", "5X", "%", "nan%"] {
        assert!(
            refused(&["sort", &format!("--memory={refusal}"), &file], "").contains("a share of the memory")
        );
    }
}

#[test]
fn temporary_folders_come_from_the_environment_too() {
    let (folder, input) = (Folder::new(), numbers());
    let gone = folder.arg("gone");
    for (variables, args) in [
        (&[("TMPDIR", &gone[..]), ("GPUSORT_MEMORY", "100K")][..], &["sort"][..]),
        (&[("GPUSORT_TEMP_DIR", &gone)], &["sort", "--memory", "100K"]),
        (&[], &["sort", "--memory", "100K", "-T", &gone]),
    ] {
        let output = run_in_environment(variables, args, &input);
        let said = stderr(&output);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
        assert!(said.contains("a temporary file in") && said.contains("gone: cannot create"), "{said}");
    }
}

#[test]
fn each_file_is_sorted_in_little_memory() {
    let (folder, input) = (Folder::new(), numbers());
    let names = ["a", "b", "c"].map(|name| folder.write(&format!("{name}.txt"), &input));
    let few = folder.write("few.txt", "3\n1\n2\n");
    let bad = folder.write("bad.txt", format!("{input}x\n"));
    let args = ["sort", "--each", "--in-place", "-n", "--json", "--memory", "100K"];
    let files = [&names[0], &few, &names[1], &bad, &names[2]];
    let output = run(&[&args[..], &files.map(String::as_str)].concat(), "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("bad.txt:20001: 'x' is not a number"), "{}", stderr(&output));
    let told = String::from_utf8(output.stdout).unwrap();
    let runs =
        told.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["runs"].clone());
    let runs: Vec<u64> = runs.map(|runs| runs.as_u64().unwrap()).collect();
    assert!(matches!(runs[..], [a, 0, b, c] if a > 1 && a == b && b == c), "{runs:?}");
    let expected = sorted(&["sort", "-q"], &input);
    for name in names {
        assert_eq!(fs::read_to_string(name).unwrap(), expected);
    }
    assert_eq!(fs::read_to_string(few).unwrap(), "1\n2\n3\n");
    assert_eq!(fs::read_to_string(bad).unwrap(), format!("{input}x\n"));
}

#[test]
fn a_key_with_a_direction_of_its_own_keeps_it_in_parts() {
    let input = numbers();
    let expected = sorted(&["sort", "-q", "-n"], &input);
    assert_eq!(sorted(&["sort", "-q", "-r", "-k", "1:a", "--memory", "64K"], &input), expected);
}
