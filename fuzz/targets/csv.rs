//! See `gpusort_fuzz::csv`.

#![no_main]

use gpusort_fuzz::{csv, one_thread, run};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(csv::compare, data));
