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
    let part = |(number, records): (usize, &&[&str])| {
        let file = HEADER.to_owned() + &records.concat();
        json!({
            "name": format!("part-{number}.csv"),
            "bytes": file.len(),
            "xxh3": digits(xxh3_64(file.as_bytes())),
            "rows": records.len(),
            "checksum": digits(sum(records)),
        })
    };
    let all = PARTS.concat();
    let inputs = [&all[..3], &all[3..]].map(|of_input| json!({"checksum": digits(sum(of_input))}));
    json!({
        "gpusort": env!("CARGO_PKG_VERSION"),
        "check": ["--from=csv"],
        "keys": [["n", null]],
        "na": [],
        "ignore_case": false,
        "rows": all.len(),
        "checksum": digits(sum(&all)),
        "repeated": 0,
        "parts": PARTS.iter().enumerate().map(part).collect::<Vec<_>>(),
        "inputs": inputs,
    })
}

/// A folder with these parts and this manifest, and the path of that.
fn folder_of(parts: &[String], manifest: &str) -> (Folder, String) {
    let folder = Folder::new();
    for (number, part) in parts.iter().enumerate() {
        folder.write(&format!("part-{number}.csv"), part);
    }
    folder.write("_SUCCESS", "");
    let manifest = folder.write("manifest.json", manifest);
    (folder, manifest)
}

/// What the command says of these parts and this manifest: its exit code and messages, in which the
/// folder is a point.
fn checked(parts: &[String], manifest: &str, args: &[&str]) -> (Option<i32>, String) {
    let (folder, manifest) = folder_of(parts, manifest);
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
    let (folder, _) = folder_of(&written(), &manifest().to_string());
    let mut command = crate::support::command::gpusort(&["check", "manifest.json"]);
    assert!(command.current_dir(folder.root()).status().unwrap().success());
}

/// Changes parts.
type Change<'a> = &'a dyn Fn(&mut Vec<String>);

#[test]
fn every_change_of_a_part_is_found() {
    let others = "gpusort: ./part-0.csv: differs from what was written\n";
    let changes: [(Change, &str); 8] = [
        (&|parts| parts[0] = parts[0].replace("2,b", "2,x"), others),
        (&|parts| parts[0] = parts[0].replace("1,a\n2,b\n", "2,b\n1,a\n"), others),
        (&|parts| parts[0] = parts[0].replace("n,name", "n,nome"), others),
        // Equal keys have an order, too.
        (
            &|parts| parts[1] = parts[1].replace("4,e\n5,f", "5,f\n4,e"),
            "gpusort: ./part-1.csv: differs from what was written\n",
        ),
        (
            &|parts| parts[0] = parts[0].replace("2,b\n", ""),
            "gpusort: ./part-0.csv: has 19 bytes, but 23 bytes were written\n",
        ),
        (&|parts| drop(parts.pop()), "gpusort: ./part-2.csv: is missing\n"),
        (&|parts| parts.push(HEADER.to_owned()), "gpusort: ./part-3.csv: is not in the manifest\n"),
        (
            &|parts| {
                parts[0] = parts[0].replace("4,d", "4,e");
                parts[1] = parts[1].replace("4,e", "4,d");
            },
            "gpusort: ./part-0.csv: differs from what was written\n\
             gpusort: ./part-1.csv: differs from what was written\n",
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
    let lost = "gpusort: ./manifest.json: the parts do not contain exactly the input records\n";
    assert_eq!(with(&|it| it["inputs"][0]["checksum"] = json!(digits(7))), (Some(1), lost.to_owned()));
    assert_eq!(with(&|it| it["repeated"] = json!(1)).0, Some(0));
    let (code, message) = with(&|it| it["keys"] = json!([["n", true]]));
    assert_eq!((code, &*message), (Some(1), "gpusort: ./part-0.csv:3: out of order: 2 after 1\n"));
    // Records in order in each part, but not across them.
    let (code, message) = with(&|it| it["parts"].as_array_mut().unwrap().swap(0, 1));
    assert_eq!((code, &*message), (Some(1), "gpusort: ./part-0.csv:2: out of order: 1 after 5\n"));
    let of_all = "gpusort: ./manifest.json: the totals do not match the parts\n";
    assert_eq!(with(&|it| it["rows"] = json!(8)), (Some(1), of_all.to_owned()));
    assert_eq!(with(&|it| it["checksum"] = json!(digits(8))), (Some(1), of_all.to_owned()));
    for (problem, words) in [
        (with(&|it| it["parts"][0]["name"] = json!("../part-0.csv")), "not the name of a part"),
        (with(&|it| it["check"] = json!(["--no-such-option"])), "check does not have"),
        (with(&|it| it["parts"] = json!(7)), "not a manifest"),
        (with(&|it| it["parts"][0]["xxh3"] = json!("x")), "not a checksum"),
        (checked(&written(), "", &[]), "not a manifest"),
        (checked(&written(), &manifest().to_string()[..200], &[]), "not a manifest"),
    ] {
        assert_eq!(problem.0, Some(1), "{problem:?}");
        assert!(
            problem.1.starts_with("gpusort: ./manifest.json: ") && problem.1.contains(words),
            "{problem:?}"
        );
    }
    // Without any part there is nothing to be read from standard input.
    let mut nothing = manifest();
    (nothing["parts"], nothing["inputs"]) = (json!([]), json!([]));
    (nothing["rows"], nothing["checksum"]) = (json!(0), json!(digits(0)));
    assert_eq!(checked(&[], &nothing.to_string(), &[]), (Some(0), String::new()));
}

#[test]
fn without_its_mark_a_sort_has_not_ended() {
    let (folder, manifest) = folder_of(&written(), &manifest().to_string());
    fs::remove_file(folder.path("_SUCCESS")).unwrap();
    let output = run(&["check", &manifest], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("_SUCCESS: is missing"), "{}", stderr(&output));
}

#[test]
fn what_options_cannot_say_is_read_as_it_is() {
    // A word with a comma, a column that is called as a key is written, and lines without a key.
    let part = "a:r,b\n1,x\n2,y\n\"n,a\",z\n";
    let with = |keys: Value, na: Value| {
        let mut manifest = manifest();
        let records = ["1,x\n", "2,y\n", "\"n,a\",z\n"];
        manifest["parts"] = json!([{
            "name": "part-0.csv", "bytes": part.len(), "xxh3": digits(xxh3_64(part.as_bytes())), "rows": 3,
            "checksum": digits(sum(&records)),
        }]);
        (manifest["rows"], manifest["checksum"]) = (json!(3), json!(digits(sum(&records))));
        manifest["inputs"] = json!([{"checksum": digits(sum(&records))}]);
        (manifest["keys"], manifest["na"]) = (keys, na);
        checked(&[part.to_owned()], &manifest.to_string(), &[])
    };
    assert_eq!(with(json!([["a:r", false]]), json!(["n,a"])), (Some(0), String::new()));
    assert_eq!(with(json!([["a:r", true]]), json!(["n,a"])).0, Some(1));
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
    assert_eq!(run(&["check", "-f", "lines", &rows], "").status.code(), Some(0));
}
