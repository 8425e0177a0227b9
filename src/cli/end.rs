//! Early ends of the process: by a signal, an allocation failure or a panic. In each case no output
//! is half written and no temporary file remains.
//!
//! A signal handler takes no lock and allocates no memory. Where a command has a final message, a
//! thread started for the purpose prints it.

use gpusort_files as output;

/// Exit code of an interrupted process.
const INTERRUPTED: i32 = 130;

/// Exit code of a failed process.
const FAILED: i32 = 2;

/// Time limit of a final message, whose reader may be stuck.
const PATIENCE_SECONDS: u32 = 2;

/// Prints `message` on stderr and ends the process with exit code 2.
pub(crate) fn failed(message: &[u8]) -> ! {
    system::print(message);
    output::end_process(|_| system::exit(FAILED));
    // Another thread renames an output, and then ends the process.
    for _ in 0..PATIENCE_SECONDS * 10 {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    // The renaming thread may be this one, which cannot continue.
    output::remove_temporary();
    system::exit(FAILED)
}

/// Installs the signal handlers, and a panic hook that ends the process as an error does.
pub(crate) fn install() {
    std::panic::set_hook(Box::new(|panic| {
        if gpusort_files::is_guarded() {
            return;
        }
        failed(format!("gpusort: internal error, please report it: {panic}\n").as_bytes())
    }));
    system::install();
}

/// Ends an interrupted process, successfully if all outputs are complete.
fn interrupted(done: bool) -> ! {
    system::exit(if done { 0 } else { INTERRUPTED })
}

pub(crate) use self::system::{leave_interrupts, say_at_last};

#[cfg(unix)]
mod system {
    use std::io::{self, PipeWriter, Read, Write};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use gpusort_files as output;
    use libc::c_int;

    use super::{PATIENCE_SECONDS, interrupted};

    /// Signals that by default end a process, except those that indicate its own faults.
    const ENDING: &[c_int] = &[
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGXCPU,
        libc::SIGVTALRM,
        libc::SIGPROF,
        libc::SIGUSR1,
        libc::SIGUSR2,
        #[cfg(target_os = "linux")]
        libc::SIGIO,
        #[cfg(target_os = "linux")]
        libc::SIGPWR,
        #[cfg(target_os = "linux")]
        libc::SIGSTKFLT,
    ];

    /// The pipe on which a byte starts the final message.
    static LAST_WORDS: OnceLock<PipeWriter> = OnceLock::new();

    /// True once the final message was started.
    static SAYING: AtomicBool = AtomicBool::new(false);

    pub(super) fn install() {
        for &signal in ENDING.iter().filter(|&&signal| !is_ignored(signal)) {
            // SAFETY:
            // - The handler loads and swaps atomics; `OnceLock::get` is such a load.
            // - It calls `write`, `alarm`, `unlink` and `_exit`, all async-signal-safe. `PipeWriter::write` is one call
            //   of `write`, whose error holds a number and no memory.
            let _ = unsafe { signal_hook::low_level::register(signal, end) };
        }
        // Also in a process that ignores this signal, since the alarm limits the final message.
        // SAFETY: as above.
        let _ = unsafe { signal_hook::low_level::register(libc::SIGALRM, alarm) };
        // Raised by a driver that cannot continue.
        // SAFETY:
        // - As above.
        // - It also calls `nanosleep`, which is async-signal-safe.
        let _ = unsafe { signal_hook::low_level::register(libc::SIGABRT, abort) };
        // A file that exceeds `ulimit -f` is a normal write error.
        // SAFETY: an ignored signal runs no code.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }

    /// True if the parent had the signal ignored, as `nohup` does.
    fn is_ignored(signal: c_int) -> bool {
        // SAFETY: a `sigaction` of zeros is a valid value for the call to overwrite.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: a null action only queries, and `action` is writable.
        let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
        asked == 0 && action.sa_sigaction == libc::SIG_IGN
    }

    fn end() {
        let Some(mut pipe) = LAST_WORDS.get() else { return output::end_process(interrupted) };
        // Signals often come repeatedly. The message is started once, and limited by time.
        if !SAYING.swap(true, Ordering::SeqCst) {
            // A pipe that fails costs the message.
            let _ = pipe.write(&[0]);
            // SAFETY: the call takes a number; the alarm ends the process if the message takes too long.
            unsafe { libc::alarm(PATIENCE_SECONDS) };
        }
    }

    fn alarm() {
        // Our alarm means that the message takes too long; a foreign alarm is handled like other
        // signals.
        if SAYING.load(Ordering::SeqCst) {
            output::end_process(interrupted);
        } else {
            end();
        }
    }

    fn abort() {
        super::failed(b"gpusort: internal error in a library it uses\n");
    }

    /// From here on a signal runs `words` before it ends the process, unless no thread can be
    /// started for it. A process has one final message.
    pub(crate) fn say_at_last(words: impl FnOnce() + Send + 'static) {
        let Ok((mut reader, writer)) = io::pipe() else { return };
        let wait = move || {
            if reader.read_exact(&mut [0]).is_ok() {
                words();
                output::end_process(interrupted);
            }
        };
        if thread::Builder::new().spawn(wait).is_ok() {
            LAST_WORDS.set(writer).expect("a process has one final message");
        }
    }

    /// From here on only a pager acts on an interrupt from the terminal.
    pub(crate) fn leave_interrupts() {
        // SAFETY: an ignored signal runs no code.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
    }

    pub(super) fn print(message: &[u8]) {
        // SAFETY: pointer and length are those of the slice.
        unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
    }

    /// Ends the process without the exit handlers of a graphics driver, which other threads may
    /// still use.
    pub(super) fn exit(code: c_int) -> ! {
        // SAFETY: `_exit` takes any status and accesses no memory of this process.
        unsafe { libc::_exit(code) }
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::{self, Write};
    use std::sync::Mutex;

    use gpusort_base::parallel::lock;
    use gpusort_files as output;

    use super::interrupted;

    static LAST_WORDS: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

    pub(super) fn install() {
        // If no thread can be started for it, Ctrl-C has its default effect.
        let _ = ctrlc::set_handler(|| {
            let words = lock(&LAST_WORDS).take();
            if let Some(words) = words {
                words();
            }
            output::end_process(interrupted);
        });
    }

    /// From here on an interrupt runs `words` before it ends the process.
    pub(crate) fn say_at_last(words: impl FnOnce() + Send + 'static) {
        *lock(&LAST_WORDS) = Some(Box::new(words));
    }

    /// A console has no signals that a pager could handle.
    pub(crate) fn leave_interrupts() {}

    pub(super) fn print(message: &[u8]) {
        // Without stderr the message is lost.
        let _ = io::stderr().write_all(message);
    }

    pub(super) fn exit(code: i32) -> ! {
        std::process::exit(code)
    }
}
