//! How the process ends before its work is done: by a signal, for want of memory, by a panic. Whichever it is, no output
//! is half written and no temporary file remains.
//!
//! What is done in a signal's handler is no more than a handler may do: no lock, no memory. Where a command has
//! something to say before it ends, a thread that was started for that says it.

use gpusort::unstable::io::output;

/// Exit code of a process that a signal has ended.
const INTERRUPTED: i32 = 130;

/// Exit code of one that has failed.
const FAILED: i32 = 2;

/// How long last words may take: whoever reads them may never do so.
const PATIENCE_SECONDS: u32 = 2;

/// Prints this on stderr and ends the process with exit code 2.
pub(crate) fn failed(message: &[u8]) -> ! {
    system::print(message);
    output::end_process(|_| system::exit(FAILED));
    // An output is being put in its place, after which the process ends.
    for _ in 0..PATIENCE_SECONDS * 10 {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    // It was this thread that did so.
    output::remove_temporary();
    system::exit(FAILED)
}

/// From here on signals end the process as they should, and a panic, which is a fault of this program, ends it as an
/// error does.
pub(crate) fn install() {
    std::panic::set_hook(Box::new(|panic| {
        failed(format!("gpusort: a fault of gpusort itself, please report it: {panic}\n").as_bytes())
    }));
    system::install();
}

pub(crate) use self::system::{Children, say_at_last};

#[cfg(unix)]
mod system {
    use std::io::{self, Read};
    use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
    use std::process::{Child, Command};
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::thread;

    use gpusort::unstable::io::output;
    use libc::c_int;

    use super::{FAILED, INTERRUPTED, PATIENCE_SECONDS};

    /// Signals that end a process which does not handle them, but for those that tell of its own faults.
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

    /// Where a byte makes the thread that has last words say them; [`NO_WORDS`] if there is none, or [`SAYING`].
    static LAST_WORDS: AtomicI32 = AtomicI32::new(NO_WORDS);
    const NO_WORDS: i32 = -1;
    const SAYING: i32 = -2;

    /// The process that was started and is waited for; 0 if there is none.
    static CHILD: AtomicI32 = AtomicI32::new(0);

    pub(super) fn install() {
        for &signal in ENDING.iter().filter(|&&signal| !is_ignored(signal)) {
            // SAFETY: the handler loads and swaps atomics, and calls `kill`, `write`, `alarm`, `unlink` and `_exit`: all of
            // them may be called in a handler.
            let _ = unsafe { signal_hook::low_level::register(signal, end) };
        }
        // Also where it is ignored, since last words are bounded by it.
        // SAFETY: as above.
        let _ = unsafe { signal_hook::low_level::register(libc::SIGALRM, alarm) };
        // What a driver does that cannot go on.
        // SAFETY: as above.
        let _ = unsafe { signal_hook::low_level::register(libc::SIGABRT, abort) };
        // A file that grows beyond `ulimit -f` is an error of writing like others.
        // SAFETY: a signal that is ignored runs no code.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }

    /// Whether whoever started this process does not want the signal to end it, as `nohup` does not.
    fn is_ignored(signal: c_int) -> bool {
        // SAFETY: a `sigaction` of zeros is a valid value for the call to overwrite.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: a null action only asks, and `action` is there to be written to.
        let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
        asked == 0 && action.sa_sigaction == libc::SIG_IGN
    }

    fn end() {
        let child = CHILD.load(Ordering::SeqCst);
        if child > 0 {
            // SAFETY: no memory is passed. The child was not waited for yet, so no other process has its number.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        let pipe = match LAST_WORDS.load(Ordering::SeqCst) {
            NO_WORDS => NO_WORDS,
            _ => LAST_WORDS.swap(SAYING, Ordering::SeqCst),
        };
        if pipe == SAYING {
            // Who sends a signal often sends another one. The words are bounded by time.
            return;
        }
        if pipe >= 0 {
            // SAFETY: the byte lives as long as the program, and the descriptor is that of a pipe that is never closed.
            // The alarm ends the process if the words take too long.
            unsafe {
                libc::write(pipe, [0_u8].as_ptr().cast(), 1);
                libc::alarm(PATIENCE_SECONDS);
            }
            return;
        }
        output::end_process(interrupted);
    }

    fn alarm() {
        // Somebody else's alarm ends the process as other signals do; ours says that the words take too long.
        if LAST_WORDS.load(Ordering::SeqCst) == SAYING {
            output::end_process(interrupted);
        } else {
            end();
        }
    }

    fn abort() {
        print(b"gpusort: something it depends on has failed\n");
        output::end_process(|_| exit(FAILED));
        // While an output is being put in its place: whoever does that may be the one that cannot go on.
        output::remove_temporary();
        exit(FAILED);
    }

    /// From here on a signal says this before it ends the process. Where no thread can be had for it, it does not.
    pub(crate) fn say_at_last(words: impl FnOnce() + Send + 'static) {
        let Ok((mut reader, writer)) = io::pipe() else { return };
        let wait = move || {
            if reader.read_exact(&mut [0]).is_ok() {
                words();
                output::end_process(interrupted);
            }
        };
        if thread::Builder::new().spawn(wait).is_ok() {
            let writer: OwnedFd = writer.into();
            let before = LAST_WORDS.swap(writer.into_raw_fd(), Ordering::SeqCst);
            if before >= 0 {
                // SAFETY: it is the end of a pipe that only this module knew.
                drop(unsafe { OwnedFd::from_raw_fd(before as RawFd) });
            }
        }
    }

    /// Processes that this one starts, one after another. None of them outlives it.
    pub(crate) struct Children;

    impl Children {
        /// Starts a process.
        ///
        /// # Errors
        ///
        /// What the system says.
        pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
            #[cfg(target_os = "linux")]
            {
                use std::os::unix::process::CommandExt;
                let die_with_parent = || {
                    let signal = Some(rustix::process::Signal::KILL);
                    rustix::process::set_parent_process_death_signal(signal).map_err(io::Error::from)
                };
                // SAFETY: the closure makes one system call, and takes no memory or lock.
                unsafe { command.pre_exec(die_with_parent) };
            }
            let child = command.spawn()?;
            CHILD.store(child.id().cast_signed(), Ordering::SeqCst);
            Ok(child)
        }

        /// Waits until it has ended.
        ///
        /// # Errors
        ///
        /// What the system says.
        pub(crate) fn wait(child: Child) -> io::Result<std::process::Output> {
            let mut child = child;
            let mut said = Vec::new();
            if let Some(mut stderr) = child.stderr.take() {
                stderr.read_to_end(&mut said)?;
            }
            // Its number is another's once it was waited for.
            CHILD.store(0, Ordering::SeqCst);
            let status = child.wait()?;
            Ok(std::process::Output { status, stdout: Vec::new(), stderr: said })
        }
    }

    /// Ends an interrupted process, unless it has done all that it was to do.
    fn interrupted(done: bool) -> ! {
        exit(if done { 0 } else { INTERRUPTED })
    }

    pub(super) fn print(message: &[u8]) {
        // SAFETY: the pointer and the length are those of the slice.
        unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
    }

    /// Ends the process at once: the exit handlers of a graphics driver must not run while other threads
    /// are still in it.
    pub(super) fn exit(code: c_int) -> ! {
        // SAFETY: `_exit` takes any status and touches nothing of this process's memory.
        unsafe { libc::_exit(code) }
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::{self, Write};
    use std::process::{Child, Command};
    use std::sync::{Mutex, PoisonError};

    use gpusort::unstable::io::output;

    use super::INTERRUPTED;

    static LAST_WORDS: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

    pub(super) fn install() {
        // Where no thread can be had for it, Ctrl-C ends the process as it ends others.
        let _ = ctrlc::set_handler(|| {
            let words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(words) = words {
                words();
            }
            output::end_process(interrupted);
        });
    }

    /// From here on an interrupt says this before it ends the process.
    pub(crate) fn say_at_last(words: impl FnOnce() + Send + 'static) {
        *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(words));
    }

    /// Processes that this one starts.
    pub(crate) struct Children;

    impl Children {
        /// Starts a process.
        pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
            command.spawn()
        }

        /// Waits until it has ended.
        pub(crate) fn wait(child: Child) -> io::Result<std::process::Output> {
            child.wait_with_output()
        }
    }

    /// Ends an interrupted process, unless it has done all that it was to do.
    fn interrupted(done: bool) -> ! {
        exit(if done { 0 } else { INTERRUPTED })
    }

    pub(super) fn print(message: &[u8]) {
        // Where this cannot be written, there is nobody left to tell.
        let _ = io::stderr().write_all(message);
    }

    pub(super) fn exit(code: i32) -> ! {
        std::process::exit(code)
    }
}
