//! See `gpusort_fuzz::json`.

#![no_main]

use gpusort_fuzz::{json, one_thread, run};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(json::compare, data));
