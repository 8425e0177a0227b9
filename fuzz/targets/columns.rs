//! See `gpusort_fuzz::columns`.

#![no_main]

use gpusort_fuzz::{columns, one_thread, run};

// The library catches panics of a reader, but libFuzzer's hook would abort.
libfuzzer_sys::fuzz_target!(init: { one_thread(); std::panic::set_hook(Box::new(|_| {})) }, |data: &[u8]| {
    if let Err(difference) = std::panic::catch_unwind(|| run(columns::compare, data)) {
        let said = difference.downcast_ref::<String>().map_or("a panic", String::as_str);
        eprintln!("panicked at {said}");
        std::process::abort();
    }
});
