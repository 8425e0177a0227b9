//! Removes named temporary files when a signal ends the process.
//!
//! A signal handler must not wait for a lock. One atomic decides instead: either an output is being
//! created or renamed, and the process ends after that; or the process ends, and no output
//! proceeds.

use std::ffi::{CString, c_char};
use std::path::Path;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::SeqCst};
use std::time::Duration;

use crate::parallel::lock;

/// The registered temporary files and new folders. Usually there is one output at a time; a folder has many files.
static NAMES: [AtomicPtr<c_char>; 1024] = [const { AtomicPtr::new(ptr::null_mut()) }; 1024];

/// The current state: [`NOTHING`], [`PLACING`], [`ENDING`] or [`DONE`].
static STATE: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 0;
/// A temporary file is being created or renamed.
const PLACING: u8 = 1;
/// The process is about to end.
const ENDING: u8 = 2;
/// All outputs are in place.
const DONE: u8 = 3;

/// The exit requested while a file was being placed, or null.
static PENDING: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Ends the process; `true` if all outputs are in place.
pub type Exit = fn(bool) -> !;

/// Removes temporary files and calls `exit`, or returns if an output is being placed, to exit after
/// that.
///
/// May be called in a signal's handler, if `exit` may.
pub fn end_process(exit: Exit) {
    PENDING.store(exit as *mut (), SeqCst);
    match STATE.compare_exchange(NOTHING, ENDING, SeqCst, SeqCst) {
        Err(PLACING) => return,
        Err(DONE) => exit(true),
        _ => {}
    }
    remove_temporary();
    exit(false);
}

/// Removes temporary files, for a process that ends at once.
pub fn remove_temporary() {
    // A folder is registered before its files, and only an empty folder can be removed.
    for name in NAMES.iter().rev() {
        let name = name.swap(ptr::null_mut(), SeqCst);
        if !name.is_null() {
            #[cfg(unix)]
            // SAFETY:
            // - A registered name is a string that lives until its removal from the list.
            // - No other thread has this pointer.
            unsafe {
                libc::unlink(name);
                libc::rmdir(name)
            };
            #[cfg(not(unix))]
            // SAFETY: as above; on these systems no signal handler calls this, so it may allocate.
            if let Ok(path) = unsafe { std::ffi::CStr::from_ptr(name) }.to_str() {
                let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir(path));
            }
        }
    }
}

/// Runs `work`, which creates, renames or removes a temporary file; the process cannot end during
/// it.
pub(super) fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    until(work, |_| false)
}

/// Works as [`undisturbed`] does. If `is_last` is true for the result, all outputs of the process are in place.
pub(super) fn until<T>(work: impl FnOnce() -> T, is_last: impl FnOnce(&T) -> bool) -> T {
    static ONE: Mutex<()> = Mutex::new(());
    let one = lock(&ONE);
    let before = STATE.compare_exchange(NOTHING, PLACING, SeqCst, SeqCst);
    if before == Err(ENDING) {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    let result = work();
    // The removal of a temporary file may follow the last output.
    STATE.store(if before == Err(DONE) || is_last(&result) { DONE } else { NOTHING }, SeqCst);
    let exit = PENDING.load(SeqCst);
    if !exit.is_null() {
        // SAFETY: the pointer was made from an `Exit` and from nothing else.
        end_process(unsafe { std::mem::transmute::<*mut (), Exit>(exit) });
    }
    drop(one);
    result
}

/// A registered name, to be created and dropped inside [`undisturbed`].
pub(super) struct Registered(Option<&'static AtomicPtr<c_char>>, *mut c_char);

// SAFETY: besides this, only its entry in `NAMES` refers to the string, atomically.
unsafe impl Send for Registered {}

impl Registered {
    pub(super) fn new(path: &Path) -> Self {
        let name = CString::new(path.as_os_str().as_encoded_bytes()).unwrap_or_default().into_raw();
        let free = |place: &&AtomicPtr<c_char>| {
            place.compare_exchange(ptr::null_mut(), name, SeqCst, SeqCst).is_ok()
        };
        Self(NAMES.iter().find(free), name)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let is_ours = self
            .0
            .is_none_or(|place| place.compare_exchange(self.1, ptr::null_mut(), SeqCst, SeqCst).is_ok());
        if is_ours {
            // SAFETY: it came from `into_raw`, and nothing else refers to it any more.
            drop(unsafe { CString::from_raw(self.1) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_after_the_last_output_leaves_it_the_last() {
        until(|| (), |()| true);
        undisturbed(|| ());
        assert_eq!(STATE.swap(NOTHING, SeqCst), DONE);
    }
}
