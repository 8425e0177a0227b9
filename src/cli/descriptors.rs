//! Closed standard input, output or error (`gpusort sort >&-`).
//!
//! Before `main` the runtime opens /dev/null for each closed one, so that no file gets its number;
//! output to it would then be lost silently. This code runs earlier and opens /dev/null for the
//! other direction: a read or write then fails, as it does in other programs.

use std::ffi::{c_char, c_int};

#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    const NULL: *const c_char = c"/dev/null".as_ptr();
    for (descriptor, other_direction) in [
        (libc::STDIN_FILENO, libc::O_WRONLY),
        (libc::STDOUT_FILENO, libc::O_RDONLY),
        (libc::STDERR_FILENO, libc::O_RDONLY),
    ] {
        // SAFETY:
        // - Both calls take numbers and a static string.
        // - `open` takes the lowest free number. All lower descriptors are open by then, so it takes the closed one.
        let _: c_int = unsafe {
            if libc::fcntl(descriptor, libc::F_GETFD) == -1 { libc::open(NULL, other_direction) } else { 0 }
        };
    }
}
