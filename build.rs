//! Tells the program which revision of its sources it is and which compiler built it, for the records of
//! benchmarks.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = std::env::var("RUSTC").ok().and_then(|rustc| output(&rustc, &["--version"]));
    println!("cargo:rustc-env=GPUSORT_COMPILER={}", compiler.unwrap_or_else(|| "unknown".to_owned()));

    // A package's sources may lie within another project's repository.
    let is_ours = Path::new(".git").exists();
    let revision = is_ours
        .then(|| output("git", &["describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]))
        .flatten();
    println!("cargo:rustc-env=GPUSORT_REVISION={}", revision.unwrap_or_default());
    if is_ours {
        // Changes with every commit and checkout; the rest is what may make the sources differ from it.
        let log = output("git", &["rev-parse", "--git-path", "logs/HEAD"]);
        for path in
            log.iter().map(String::as_str).chain(["src", "crates", "shaders", "Cargo.toml", "Cargo.lock"])
        {
            if Path::new(path).exists() {
                println!("cargo:rerun-if-changed={path}");
            }
        }
    }
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
