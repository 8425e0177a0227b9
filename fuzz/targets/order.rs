//! See `gpusort_fuzz::order`.

#![no_main]

use gpusort_fuzz::{one_thread, order, run};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(order::compare, data));
