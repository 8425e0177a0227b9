//! See `gpusort_fuzz::costs`.

#![no_main]

use gpusort_fuzz::{costs, one_thread, run};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(costs::compare, data));
