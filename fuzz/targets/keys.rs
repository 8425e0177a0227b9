//! See `gpusort_fuzz::keys`.

#![no_main]

use gpusort_fuzz::{keys, one_thread, run};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(keys::compare, data));
