//! What the tests need beside Rust: a Vulkan adapter, and Python with pyarrow, `DuckDB` and Polars. `sh
//! tests/run.sh` installs both.

use std::io::Write;

/// Fails the test because a requirement is missing. The message is printed at once, since the
/// harness reports failures only when all tests have run.
pub fn lacks(what: &str, why: &str, remedy: &str) -> ! {
    let message = format!(
        "the tests need {what}: {why}\n`sh tests/run.sh` installs it where it can, and runs the tests ({remedy})"
    );
    tell(&message);
    panic!("{message}");
}

/// Prints each message once, by a way that the harness does not capture.
fn tell(message: &str) {
    use std::sync::Mutex;
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut told = TOLD.lock().unwrap();
    if !told.iter().any(|other| other == message) {
        told.push(message.to_owned());
        let _ = writeln!(std::io::stderr(), "\n{message}\n");
    }
}
