//! Standard input, output and error that are closed (`gpusort sort >&-`).
//!
//! Before `main` the runtime opens /dev/null for each of them that is closed, so that no file gets its number; what is
//! written there would be lost without a word. So this looks earlier, and opens it for the other direction: reading from it or
//! writing to it is an error then, as it is to other programs.

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
        // SAFETY: both calls take numbers and a string that lives as long as the program. The lowest number that is free is
        // the one that is closed, since those below it are open by then.
        let _: c_int = unsafe {
            if libc::fcntl(descriptor, libc::F_GETFD) == -1 { libc::open(NULL, other_direction) } else { 0 }
        };
    }
}
