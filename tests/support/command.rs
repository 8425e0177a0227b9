//! The real binary, as a person or a script runs it, and what it must answer.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use super::files::Folder;

/// The path of the command.
pub const BINARY: &str = env!("CARGO_BIN_EXE_gpusort");

/// The command with these arguments, in an environment without defaults of its own.
pub fn gpusort(args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    for default in ["DEVICE", "ALGO", "TIMING", "PROGRESS", "MEMORY", "TEMP_DIR"] {
        command.env_remove(format!("GPUSORT_{default}"));
    }
    // Signals that the tests inherited as ignored, as a shell does for background jobs, are reset.
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // SAFETY: `signal` may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            })
        };
    }
    // Costs that were measured on this machine are not used.
    command.env("XDG_CONFIG_HOME", "/nowhere").args(args);
    command
}

/// Runs it with this on standard input.
pub fn run_with(mut command: Command, stdin: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // It may refuse its options without reading.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().unwrap()
    })
}

/// Runs the command with these arguments and this on standard input.
pub fn run(args: &[&str], stdin: &str) -> Output {
    run_with(gpusort(args), stdin.as_bytes())
}

/// The same with a variable in its environment.
pub fn run_in_environment(variables: &[(&str, &str)], args: &[&str], stdin: &str) -> Output {
    let mut command = gpusort(args);
    command.envs(variables.iter().copied());
    run_with(command, stdin.as_bytes())
}

/// Standard output of a run that must succeed.
pub fn sorted(args: &[&str], stdin: &str) -> String {
    let output = run(args, stdin);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// What a run that must be refused says: exit 2, nothing on standard output, a message on stderr.
pub fn refused(args: &[&str], stdin: &str) -> String {
    let output = run(args, stdin);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert!(!message.is_empty(), "{args:?}");
    message
}

/// What a run says on stderr.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs this script in the folder, `$0` being the command.
#[cfg(unix)]
pub fn shell(script: &str, folder: &Folder) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, BINARY]).current_dir(folder.path(""));
    command.env("XDG_CONFIG_HOME", folder.path("settings"));
    run_with(command, b"")
}

/// What a script that must exit with this code says on stderr.
#[cfg(unix)]
pub fn exits(script: &str, folder: &Folder, code: i32) -> String {
    let output = shell(script, folder);
    assert_eq!(output.status.code(), Some(code), "{script}: {}", stderr(&output));
    stderr(&output)
}

/// Runs the command with each of these arguments and redirections, which it must refuse in these
/// words.
#[cfg(unix)]
pub fn refused_in_shell(scripts: impl IntoIterator<Item = String>, folder: &Folder, words: &str) {
    for script in scripts {
        let said = exits(&format!("exec \"$0\" {script}"), folder, 2);
        assert!(said.contains(words), "{script}: {said}");
    }
}

#[test]
#[should_panic(expected = "is not a number")]
fn a_refusal_is_not_taken_for_success() {
    sorted(&["sort", "-n"], "1\nx");
}

#[test]
#[should_panic(expected = "Some(2)")]
fn success_is_not_taken_for_a_refusal() {
    refused(&["sort"], "1");
}

#[cfg(unix)]
#[test]
#[should_panic(expected = "Some(1)")]
fn another_exit_code_is_noticed() {
    exits("exit 3", &Folder::new(), 1);
}
