//! See `gpusort_fuzz::properties`.

#![no_main]

use gpusort_fuzz::{one_thread, properties, run};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(properties::text, data));
