//! See `gpusort_fuzz::npy`.

#![no_main]

use gpusort_fuzz::{npy, one_thread, run};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(npy::compare, data));
