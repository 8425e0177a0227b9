//! Sorts numbers, on any GPU that wgpu reaches and on all cores.
//!
//! ```
//! let mut numbers = [2.5_f32, -1.0, f32::NAN, -0.0, 0.0];
//! gpusort::sort(&mut numbers);
//! assert_eq!(numbers[..4], [-1.0, -0.0, 0.0, 2.5]);
//!
//! let names = ["d", "a", "c"];
//! let positions = gpusort::argsort(&[4_u8, 1, 3]);
//! assert_eq!(positions.iter().map(|&at| names[at as usize]).collect::<String>(), "acd");
//!
//! // The same on a device of your choice, with a report of how it went.
//! let report = gpusort::Sorter::cpu().sort(&mut numbers)?;
//! println!("{} {}", report.ran.algorithm(), report.ran.variant());
//! # Ok::<(), gpusort::Error>(())
//! ```
//!
//! # Order
//!
//! Numeric and total: −inf … −0, +0 … +inf, then NaN, also where the largest come first. Equal
//! elements keep their order. The result never depends on the device or the algorithm, and every
//! bit of an element is kept.
//!
#![cfg_attr(
    feature = "gpu",
    doc = "More of that, and how to sort buffers on the GPU in a program of your own, is in the [`guide`].\n"
)]
//!
//! # Features
//!
//! `gpu` is sorting on GPUs, with wgpu, and on by default. `cli` is the command, on by default,
//! too. It has `files`, which is sorting, checking and merging files as the command does. A program
//! turns off what it does not need, and compiles nothing of it:
//!
//! ```toml
//! gpusort = { version = "0.1", default-features = false, features = ["gpu"] }
//! ```
//!
//! Without any, it is the sort on the CPU, which needs few other crates and compiles in seconds.

// Without some feature, what only it calls is dead code.
#![cfg_attr(not(all(feature = "cli", feature = "gpu")), allow(dead_code))]

#[cfg(feature = "cli")]
mod bench;
#[cfg(feature = "gpu")]
pub mod buffers;
#[cfg(feature = "files")]
mod cancel;
mod clock;
#[cfg(feature = "cli")]
mod cost;
mod cpu;
mod device;
mod element;
mod error;
#[cfg(feature = "files")]
mod file;
#[cfg(feature = "files")]
pub mod files;
mod format;
#[cfg(feature = "cli")]
mod generate;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "gpu/absent/mod.rs"]
mod gpu;
mod human;
#[cfg(feature = "files")]
mod io;
mod key_buf;
mod memory;
mod method;
mod order;
mod parallel;
mod report;
#[cfg(any(feature = "files", feature = "gpu"))]
mod runs;
mod sorter;
#[cfg(feature = "cli")]
mod trace;

#[cfg(feature = "gpu")]
pub use buffers::AsyncSorter;
pub use clock::{Clock, Elapsed};
pub use device::{AdapterInfo, Select};
pub use element::{
    Element, argsort, argsort_descending, argsort_descending_u64, argsort_u64, sort, sort_descending, top,
    top_descending,
};
pub use error::{Error, ErrorKind, Hint};
pub use format::Format;
pub use gpu::{Gpu, adapters};
pub use gpusort_planner::key::ElementType;
pub use gpusort_planner::{
    Algorithm, Error as PlanError, Kind, Limits, NoVariant, Subgroups, UnknownName, Variant,
};
pub use half;
pub use method::Method;
pub use report::{Form, Ran, Report};
pub use sorter::Sorter;
#[cfg(feature = "gpu")]
pub use wgpu;

/// How to use the library: a page for each way in, and one for each question. There is nothing in
/// it but text.
#[cfg(feature = "gpu")]
pub mod guide {
    macro_rules! pages {
        ($($name:ident)*) => {
            $(#[doc = include_str!(concat!("../docs/library/", stringify!($name), ".md"))] pub mod $name {})*
        };
    }

    pages! { slices devices encoders order memory versions others }
}

/// What the command is made of. All of it may change in any release.
///
/// The way of the data: `files` reads inputs into keys and what they stand for, has a [`Sorter`]
/// order them, and writes the records. The sorter asks [`gpusort_planner`] for the dispatches that
/// do it on a device with such limits, and [`gpu`](unstable::gpu) or the CPU performs them.
pub mod unstable {
    macro_rules! open {
        ($($(#[$attribute:meta])* $name:ident: $what:literal;)*) => {
            $($(#[$attribute])* #[doc = $what] pub mod $name {
                pub use crate::$name::*;
            })*
        };
    }

    open! {
        #[cfg(feature = "cli")] bench: "Timing of algorithms.";
        #[cfg(feature = "cli")] cost: "What a sort costs, by device and size.";
        #[cfg(feature = "cli")] generate: "Test data.";
        gpu: "Sorting on a GPU.";
        human: "Text that is safe to show to a person.";
        memory: "How much memory there is.";
        order: "What is asked of a sort.";
        parallel: "Work on all cores.";
        sorter: "One request, one result.";
        #[cfg(feature = "cli")] report: "What a sort did.";
        #[cfg(feature = "cli")] trace: "What the passes of a sort do, listed and drawn.";
        key_buf: "The container of keys.";
    }
}
