//! See `gpusort_fuzz::text`.

#![no_main]

use gpusort_fuzz::{one_thread, run, text};

libfuzzer_sys::fuzz_target!(init: one_thread(), |data: &[u8]| run(text::compare, data));
