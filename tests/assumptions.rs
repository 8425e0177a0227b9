//! What the other tests need. The harness runs tests by name, so these come first and report at
//! once what is missing.

use crate::support::{device, python, tier};

#[test]
fn there_is_an_adapter() {
    device::gpu();
}

#[test]
fn there_is_python_with_pyarrow() {
    python::ensure();
}

#[test]
fn the_tier_is_known() {
    tier::is_quick();
}

/// `tests/run.sh quick` leaves out the tests in this list by their names.
#[test]
fn the_slow_tests_are_there() {
    let list = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--list", "--format", "terse"])
        .output()
        .unwrap();
    let tests = String::from_utf8(list.stdout).unwrap();
    for name in include_str!("slow.txt").lines() {
        assert!(
            tests.lines().any(|line| line == format!("{name}: test")),
            "tests/slow.txt: '{name}' is no test"
        );
    }
}
