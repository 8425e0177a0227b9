//! See `gpusort_fuzz::binary`.

#![no_main]

use gpusort_fuzz::{binary, one_thread, run};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(binary::compare, data));
