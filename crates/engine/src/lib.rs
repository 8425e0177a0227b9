//! Sorts one request on any device: keys in, and sorted keys, positions or records out. Also sorts
//! slices of numbers, and estimates the cost of a sort on each device.
//!
//! ```text
//! element, async_sorter     slices of numbers
//! sorter                    one request, one result: on the CPU, on a GPU, on several GPUs
//! key_buf, report           keys in blocks; how a sort went
//! cost                      what a sort would take on each device
//! ```
//!
//! An internal part of `gpusort`: any release may change all of it.

// Without a GPU, no code makes a result on a device.
#![cfg_attr(not(feature = "gpu"), allow(dead_code))]

#[cfg(feature = "gpu")]
mod async_sorter;
#[cfg(feature = "costs")]
pub mod cost;
pub mod element;
pub mod key_buf;
pub mod report;
pub mod sorter;

#[cfg(feature = "gpu")]
pub use gpusort_gpu as gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu/mod.rs"]
pub mod gpu;

#[cfg(feature = "gpu")]
pub use self::async_sorter::AsyncSorter;
