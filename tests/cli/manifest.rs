//! `gpusort check manifest.json`: every change of what was written is found.

use std::fs;

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::support::command::{run, stderr};
use crate::support::files::Folder;

const HEADER: &str = "n,name\n";

/// The records of each part.
const PARTS: [&[&str]; 3] = [&["1,a\n", "2,b\n", "3,c\n", "4,d\n"], &["4,e\n", "5,f\n"], &["6,\"g\nh\"\n"]];

fn sum(records: &[&str]) -> u64 {
    records.iter().map(|record| xxh3_64(record.as_bytes())).fold(0, u64::wrapping_add)
}

fn digits(sum: u64) -> String {
    format!("{sum:016x}")
}

fn manifest() -> Value {
    let key = |record: &str| json!([record.split(',').next()]);
    let part = |(number, records): (usize, &&[&str])| {
        json!({
            "name": format!("part-{number}.csv"),
            "bytes": HEADER.len() + records.concat().len(),
            "rows": records.len(),
            "checksum": digits(sum(records)),
            "first": key(records[0]),
            "last": key(records[records.len() - 1]),
        })
    };
    let all = PARTS.concat();
    let inputs = [&all[..3], &all[3..]].map(|of_input| json!({"checksum": digits(sum(of_input))}));
    json!({
        "gpusort": "0.1.0",
        "check": ["--from=csv", "--key=n"],
        "repeated": 0,
        "parts": PARTS.iter().enumerate().map(part).collect::<Vec<_>>(),
        "inputs": inputs,
    })
}

/// What the command says of these parts and this manifest: its exit code and messages, in which the
/// folder is a point.
fn checked(parts: &[String], manifest: &str, args: &[&str]) -> (Option<i32>, String) {
    let folder = Folder::new();
    for (number, part) in parts.iter().enumerate() {
        folder.write(&format!("part-{number}.csv"), part);
    }
    let manifest = folder.write("manifest.json", manifest);
    let output = run(&[&["check", &manifest], args].concat(), "");
    assert!(output.stdout.is_empty());
    (output.status.code(), stderr(&output).replace(folder.root().to_str().unwrap(), "."))
}

fn written() -> Vec<String> {
    PARTS.iter().map(|records| HEADER.to_owned() + &records.concat()).collect()
}

#[test]
fn a_manifest_proves_what_it_says() {
    assert_eq!(checked(&written(), &manifest().to_string(), &[]), (Some(0), String::new()));
    // Relative to the folder that one is in.
    let folder = Folder::new();
    written().iter().enumerate().for_each(|(number, part)| {
        folder.write(&format!("part-{number}.csv"), part);
    });
    folder.write("manifest.json", manifest().to_string());
    let mut command = crate::support::command::gpusort(&["check", "manifest.json"]);
    assert!(command.current_dir(folder.root()).status().unwrap().success());
}

/// Changes parts.
type Change<'a> = &'a dyn Fn(&mut Vec<String>);

#[test]
fn every_change_of_a_part_is_found() {
    let others = "gpusort: ./part-0.csv: has other records than were written\n";
    let changes: [(Change, &str); 8] = [
        (&|parts| parts[0] = parts[0].replace("2,b", "2,x"), others),
        (&|parts| parts[0] = parts[0].replace("2,b", "3,b"), others),
        (&|parts| parts[0] = parts[0].replace("1,a\n2,b\n", "2,b\n1,a\n"), others),
        (
            &|parts| parts[0] = parts[0].replace("2,b\n3,c\n", "3,c\n2,b\n"),
            "gpusort: ./part-0.csv:4: out of order: 2 after 3\n",
        ),
        (
            &|parts| parts[0] = parts[0].replace("2,b\n", ""),
            "gpusort: ./part-0.csv: has 19 bytes, of 23 that were written\n",
        ),
        (&|parts| drop(parts.pop()), "gpusort: ./part-2.csv: is missing\n"),
        (&|parts| parts.push(HEADER.to_owned()), "gpusort: ./part-3.csv: is not in the manifest\n"),
        // Of one key, but not the same records.
        (
            &|parts| {
                parts[0] = parts[0].replace("4,d", "4,e");
                parts[1] = parts[1].replace("4,e", "4,d");
            },
            "gpusort: ./part-0.csv: has other records than were written\n\
             gpusort: ./part-1.csv: has other records than were written\n",
        ),
    ];
    for (change, message) in changes {
        let mut parts = written();
        change(&mut parts);
        assert_eq!(checked(&parts, &manifest().to_string(), &[]), (Some(1), message.to_owned()));
        assert_eq!(checked(&parts, &manifest().to_string(), &["-q"]), (Some(1), String::new()));
    }
}

#[test]
fn a_manifest_that_does_not_hold_is_refused() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut manifest = manifest();
        change(&mut manifest);
        checked(&written(), &manifest.to_string(), &[])
    };
    let lost = "gpusort: ./manifest.json: the parts have other records than the inputs\n";
    assert_eq!(with(&|it| it["inputs"][0]["checksum"] = json!(digits(7))), (Some(1), lost.to_owned()));
    assert_eq!(with(&|it| it["repeated"] = json!(1)).0, Some(0));
    let (code, message) = with(&|it| it["check"] = json!(["--from=csv", "--key=n:r"]));
    assert_eq!((code, &*message), (Some(1), "gpusort: ./part-0.csv:3: out of order: 2 after 1\n"));
    // Records in order in each part, but not across them.
    let (code, message) = with(&|it| it["parts"].as_array_mut().unwrap().swap(0, 1));
    assert_eq!((code, &*message), (Some(1), "gpusort: ./part-0.csv:2: out of order: 1 after 5\n"));
    for problem in [
        with(&|it| it["parts"][0]["name"] = json!("../part-0.csv")),
        with(&|it| it["check"] = json!(["--no-such-option"])),
        with(&|it| it["parts"] = json!(7)),
    ] {
        assert_eq!(problem.0, Some(2), "{problem:?}");
        assert!(problem.1.contains("manifest.json"), "{problem:?}");
    }
    // Without any part there is nothing to be read from standard input.
    assert_eq!(
        checked(
            &[],
            &json!({"gpusort": "", "check": [], "repeated": 0, "parts": [], "inputs": []}).to_string(),
            &[]
        )
        .0,
        Some(0)
    );
}

#[test]
fn other_files_of_that_name_are_data() {
    let folder = Folder::new();
    let rows = folder.write("manifest.json", "{\"a\":2}\n{\"a\":1}\n");
    let output = run(&["check", "-k", "a", &rows], "");
    assert!(stderr(&output).contains(":2: out of order: 1 after 2"), "{}", stderr(&output));
    let theirs = manifest().to_string();
    fs::write(&rows, theirs + "\n").unwrap();
    assert_eq!(run(&["check", "-k", "repeated", &rows], "").status.code(), Some(0));
}
