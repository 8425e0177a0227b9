//! See `gpusort_fuzz::streams`.

#![no_main]

use gpusort_fuzz::{one_thread, run, streams};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(streams::compare, data));
