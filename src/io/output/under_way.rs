//! Temporary files that have a name, and the signal that comes while there are some.
//!
//! A signal's handler may not wait for a lock. So it is agreed by one atomic who goes first: either an output is being made or
//! put in its place, and the process ends after that; or the process ends, and no output goes on.

use std::ffi::{CString, c_char};
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Names of temporary files, for whoever ends the process. There is mostly one output at a time.
static NAMES: [AtomicPtr<c_char>; 8] = [const { AtomicPtr::new(ptr::null_mut()) }; 8];

/// What is going on: [`NOTHING`], [`PLACING`], [`ENDING`] or [`DONE`].
static STATE: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 0;
/// A temporary file is being given a name or taken away from one.
const PLACING: u8 = 1;
/// The process is about to end.
const ENDING: u8 = 2;
/// All outputs are in their places.
const DONE: u8 = 3;

/// How the process is to end when what is going on is done; null if it is to go on.
static PENDING: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// How a process is ended that may be done with its outputs already: then `true` is passed.
pub type Exit = fn(bool) -> !;

/// Removes the temporary files of outputs under way and calls `exit`. If one is just being put in its place, that is
/// done first: then this returns, and `exit` is called afterwards.
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

/// Removes the temporary files of outputs under way, for a process that ends at once.
pub fn remove_temporary() {
    for name in &NAMES {
        let name = name.swap(ptr::null_mut(), SeqCst);
        if !name.is_null() {
            #[cfg(unix)]
            // SAFETY: a name that is registered is a string that lives until it is taken out, and it is ours now.
            unsafe {
                libc::unlink(name)
            };
            #[cfg(not(unix))]
            // SAFETY: as above; there are no handlers here that may not take memory.
            if let Ok(path) = unsafe { std::ffi::CStr::from_ptr(name) }.to_str() {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Does something by which a temporary file gets a name or loses it, with no end of the process in between.
pub(super) fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    until(work, |_| false)
}

/// Likewise; if `is_last` of the result, all outputs of the process are in their places by that.
pub(super) fn until<T>(work: impl FnOnce() -> T, is_last: impl FnOnce(&T) -> bool) -> T {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if STATE.compare_exchange(NOTHING, PLACING, SeqCst, SeqCst) == Err(ENDING) {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    let result = work();
    STATE.store(if is_last(&result) { DONE } else { NOTHING }, SeqCst);
    let exit = PENDING.load(SeqCst);
    if !exit.is_null() {
        // SAFETY: it was made of such a function and of nothing else.
        end_process(unsafe { std::mem::transmute::<*mut (), Exit>(exit) });
    }
    drop(one);
    result
}

/// A name that is known to whoever ends the process. To be made and dropped while [`undisturbed`].
pub(super) struct Registered(Option<&'static AtomicPtr<c_char>>, *mut c_char);

// SAFETY: the pointer is that of a string which nothing else refers to but its place among the names, by atomics.
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
            // SAFETY: it came from `into_raw`, and nobody else has it any more.
            drop(unsafe { CString::from_raw(self.1) });
        }
    }
}
