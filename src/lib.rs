//! Sorts numbers, on all cores or on any GPU that wgpu supports.
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
//! // On a device of your choice, with a report.
//! let report = gpusort::Sorter::cpu().sort(&mut numbers)?;
//! println!("{} {}", report.ran.algorithm(), report.ran.variant());
//! # Ok::<(), gpusort::Error>(())
//! ```
//!
//! # Order
//!
//! Numeric and total: −inf … −0, +0 … +inf, then NaN, which is last in both directions. Equal
//! elements keep their order. The result never depends on the device or the algorithm, and every
//! bit of an element is kept.
//!
#![cfg_attr(
    feature = "gpu",
    doc = "The [`guide`] has more about the order, and about sorting buffers on the GPU in your own program.\n"
)]
//!
//! # Features
//!
//! | feature | contents |
//! |---|---|
//! | `gpu` (default) | sorts on GPUs, with wgpu |
//! | `cli` (default) | the command; it includes `files` |
//! | `files` | sorts, checks and merges of files, as the command does them, and of rows in memory by columns |
//! | `arrow` | Parquet and Arrow among these files; it includes `files` |
//! | `distributed` | the steps of a sort of files by several processes, which `files::distributed` has; it includes `files` |
//! | `costs` | what `gpusort tune` measured; it may change in any release |
//!
//! A program compiles only the features that it needs:
//!
//! ```toml
//! gpusort = { version = "0.2", default-features = false, features = ["gpu"] }
//! ```
//!
//! Without features the crate is the sort on the CPU, which needs few other crates and compiles in
//! seconds.

#[cfg(feature = "gpu")]
pub mod buffers;
#[cfg(feature = "files")]
pub mod columns;
#[cfg(feature = "files")]
pub mod files;

pub use clock::{Clock, Elapsed};
pub use device::{AdapterInfo, Select};
pub use element::{
    Element, argsort, argsort_descending, argsort_descending_u64, argsort_u64, argtop, argtop_descending,
    sort, sort_descending, top, top_descending,
};
pub use error::{Error, ErrorKind, Hint};
pub use format::Format;
pub use gpu::{Gpu, adapters};
use gpusort_base::{clock, device, error, format};
#[cfg(feature = "gpu")]
pub use gpusort_engine::AsyncSorter;
use gpusort_engine::{element, gpu, report, sorter};
#[cfg(feature = "arrow")]
#[doc(hidden)]
pub use gpusort_files::by_element;
pub use gpusort_order::key::ElementType;
pub use gpusort_order::{
    Algorithm, Error as PlanError, Kind, Limits, Method, NoVariant, Subgroups, UnknownName, Variant,
};
pub use half;
pub use report::{Form, Ran, Report};
pub use sorter::Sorter;
#[cfg(feature = "gpu")]
pub use wgpu;

/// How to use the library, page by page. These modules contain only text.
#[cfg(feature = "gpu")]
pub mod guide {
    macro_rules! pages {
        ($($name:ident)*) => {
            $(#[doc = include_str!(concat!("../docs/library/", stringify!($name), ".md"))] pub mod $name {})*
        };
    }

    pages! { slices devices encoders order memory versions others }
}
