//! Inputs that people have, and the right answer to each: the folders of `tests/cases`.
//!
//! A folder has `cmd`, run there by bash. `expected` is its standard output, with exit code 0. `error` has words of
//! standard error, with exit code 2 and nothing written. `note` is a text of standard error. `why` names the rule.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::command::BINARY;
use crate::support::files::Folder;

/// The difference between the answer to a case and the right one.
fn difference(case: &Path, binary: &str) -> Option<String> {
    let folder = Folder::new();
    for file in fs::read_dir(case).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path(file.file_name().to_str().unwrap())).unwrap();
    }
    let programs = Path::new(binary).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    // Into files: a report goes neither to a pipe nor to a file.
    let [out, err] = [".out", ".err"].map(|name| folder.path(name));
    let mut command = Command::new("bash");
    command.arg("./cmd").current_dir(folder.path("")).env("PATH", path).env("XDG_CONFIG_HOME", "/nowhere");
    command.stdin(Stdio::null()).stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
    let code = command.status().unwrap().code();
    let (out, err) = (fs::read(out).unwrap(), String::from_utf8_lossy(&fs::read(err).unwrap()).into_owned());
    let said = |name: &str| fs::read_to_string(case.join(name)).ok();
    if let Some(expected) = said("expected") {
        if code != Some(0) || out != expected.as_bytes() {
            return Some(format!("exit code {code:?}, {:?}, {err}", String::from_utf8_lossy(&out)));
        }
    } else if code != Some(2) || !out.is_empty() {
        return Some(format!("exit code {code:?}, {:?}, {err}", String::from_utf8_lossy(&out)));
    }
    let words = said("error").unwrap_or_default();
    let lacking = words.split_whitespace().find(|word| !err.contains(word)).map(str::to_owned);
    let note = said("note").map(|note| note.trim_end().to_owned()).filter(|note| !err.contains(note));
    lacking.or(note).map(|word| format!("no '{word}' in {err}"))
}

fn cases() -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    fs::read_dir(folder).unwrap().map(|case| case.unwrap().path()).collect()
}

#[test]
fn cases_have_the_right_answers() {
    let all = cases();
    assert!(all.len() > 40, "{} cases", all.len());
    let wrong =
        all.iter().filter_map(|case| Some(format!("{}: {}", case.display(), difference(case, BINARY)?)));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A command that writes its input back, and a blank line, is wrong.
#[test]
fn wrong_answers_are_noticed() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    folder.write(
        "gpusort",
        "#!/bin/sh\nfor last; do :; done\ncat -- \"$last\" 2>/dev/null || timeout 1 cat\necho\n",
    );
    let wrong = folder.path("gpusort");
    fs::set_permissions(&wrong, fs::Permissions::from_mode(0o755)).unwrap();
    for case in cases() {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        assert!(difference(&case, wrong.to_str().unwrap()).is_some(), "{name}");
    }
}
