//! Ctrl-C and its kin: leave nothing behind, exit 130.

use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use anyhow::Context;

/// What a command does before an interrupt ends the process.
type LastWords = Box<dyn FnOnce() + Send>;

/// How long they may take.
const PATIENCE: Duration = Duration::from_secs(2);

static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

fn last_words() -> MutexGuard<'static, Option<LastWords>> {
    LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on an interrupt says this before it ends the process.
pub(super) fn say_at_last(words: impl FnOnce() + Send + 'static) {
    *last_words() = Some(Box::new(words));
}

/// From here on SIGINT, SIGTERM and SIGHUP remove the output under way and end the process.
/// Those that are ignored, as by `nohup`, stay so.
pub(super) fn install() -> anyhow::Result<()> {
    #[cfg(unix)]
    let ignored =
        [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].map(|signal| is_ignored(signal).then_some(signal));
    ctrlc::set_handler(|| {
        let words = last_words().take();
        if let Some(words) = words {
            // On a thread of their own, since whoever reads what they say may never do so.
            let (said, heard) = mpsc::channel();
            std::thread::spawn(move || {
                words();
                // Nobody waits any more if it took too long.
                let _ = said.send(());
            });
            let _ = heard.recv_timeout(PATIENCE);
        }
        gpusort::io::output::remove_temporary();
        exit();
    })
    .context("cannot handle interrupts")?;
    #[cfg(unix)]
    for signal in ignored.into_iter().flatten() {
        // SAFETY: the signal is a valid one, and no handler of ours is needed for it.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    Ok(())
}

#[cfg(unix)]
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: a `sigaction` of zeros is a valid value for the call to overwrite.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: a null action only asks, and `action` is there to be written to.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Ends the process at once: the exit handlers of a graphics driver must not run while other threads
/// are still in it.
fn exit() -> ! {
    #[cfg(unix)]
    // SAFETY: `_exit` takes any status and touches nothing of this process's memory.
    unsafe {
        libc::_exit(130)
    }
    #[cfg(not(unix))]
    std::process::exit(130)
}
