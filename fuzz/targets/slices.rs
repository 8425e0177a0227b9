//! See `gpusort_fuzz::slices`.

#![no_main]

use gpusort_fuzz::{one_thread, run, slices};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(slices::compare, data));
