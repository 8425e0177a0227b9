//! See `gpusort_fuzz::compressed`.

#![no_main]

use gpusort_fuzz::{compressed, one_thread, run};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(compressed::compare, data));
