//! Processes that are watched, signalled and waited for. Tests wait for events, never for a time to
//! pass; [`PATIENCE`] only turns a test that would wait for ever into one that fails.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::command::{BINARY, gpusort};
use super::files::Folder;

/// How long to wait for an event that comes within a second on an idle machine.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until this holds.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not in {} s: {what}", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// How a process ends that must end by itself.
pub fn end(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Everything that a process writes there until it ends.
pub fn read_all(mut pipe: impl Read + Send + 'static) -> String {
    let (done, waits) = mpsc::channel();
    std::thread::spawn(move || {
        let mut said = String::new();
        pipe.read_to_string(&mut said).unwrap();
        done.send(said)
    });
    waits.recv_timeout(PATIENCE).expect("it does not end")
}

/// Sends a signal, as `kill` names it: `-TERM`.
#[cfg(unix)]
pub fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// The command with these arguments, started by a shell that ignores a signal.
#[cfg(unix)]
pub fn ignoring(signal: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("trap '' {signal}; exec \"$@\"");
    command.args(["-c", script.as_str(), "sh", BINARY]).args(args);
    command
}

/// Starts a slow sort: a brick sort of 300,000 lines takes many seconds, during all of which its
/// temporary file exists.
#[cfg(unix)]
pub fn long_sort(input: &str, out: &str) -> Child {
    gpusort(&["sort", input, "-o", out, "-q", "-a", "odd-even", "-d", "cpu"]).spawn().unwrap()
}

/// Waits until the process has a new file in the folder, under a name or without one, that `is_due`
/// by its length. False if it ended without one that was seen.
#[cfg(unix)]
pub fn wait_for_temporary(folder: &Folder, child: &mut Child, is_due: impl Fn(u64) -> bool) -> bool {
    let is_new = |path: PathBuf| {
        let name = fs::read_link(&path).unwrap_or(path.clone());
        let is_new =
            name.to_string_lossy().contains(".gpusort-") || name.to_string_lossy().contains(" (deleted)");
        is_new && name.starts_with(folder.root()) && fs::metadata(path).is_ok_and(|file| is_due(file.len()))
    };
    let files =
        |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let (mut is_there, mut is_over) = (false, false);
    wait_until("a temporary file", || {
        let open = files(format!("/proc/{}/fd", child.id()).into());
        is_there = open.chain(files(folder.root())).any(is_new);
        is_over = child.try_wait().unwrap().is_some();
        is_there || is_over
    });
    is_there && !is_over
}

/// Waits until every thread of the process sleeps, ten times in a row: the process is blocked.
#[cfg(target_os = "linux")]
pub fn wait_until_it_waits(child: &Child) {
    let state = |task: &std::path::Path| {
        let stat = fs::read_to_string(task.join("stat")).unwrap_or_default();
        stat.rsplit(") ").next().and_then(|rest| rest.chars().next())
    };
    let mut still = 0;
    wait_until("a process that waits", || {
        let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
        let all_sleep = tasks.flatten().all(|task| state(&task.path()) == Some('S'));
        still = if all_sleep { still + 1 } else { 0 };
        std::thread::sleep(Duration::from_millis(10));
        still == 10
    });
}

/// The most memory that a process has had until now, in bytes.
#[cfg(target_os = "linux")]
pub fn peak_memory(child: &Child) -> u64 {
    peak_while_alive(child).unwrap()
}

/// The most memory that a process has had until now, in bytes; `None` if it has ended.
#[cfg(target_os = "linux")]
pub fn peak_while_alive(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024)
}
