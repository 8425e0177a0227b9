//! Sorts numbers on any GPU that wgpu reaches, and on the CPU where there is none.
//!
//! The way through the crate, which is also the way of the data:
//!
//! 1. [`io`] reads text or binary into [`io::Records`]: order-mapped unsigned [`key`]s, and for text
//!    whose spelling must be kept, where each record's bytes are.
//! 2. [`Sorter`] sorts the keys, or says in which order the records come. It asks [`plan`] for the
//!    dispatches that do it on a device with such limits, and [`gpu`] or [`cpu`] performs them.
//! 3. [`io`] writes the keys or records.
//!
//! ```
//! use gpusort::key::{ElementType, Keys, Order, to_bits, to_keys};
//! use gpusort::{Method, Sorter};
//!
//! let order = Order::ascending(ElementType::F32);
//! let mut words = [2.5_f32, -1.0, f32::NAN, -0.0, 0.0].map(f32::to_bits).to_vec();
//! to_keys(&mut words, order);
//! let (keys, _) = Sorter::cpu().sort(Keys::One(words), Method::default(), &mut |_, _| {})?;
//! let Keys::One(mut words) = keys else { unreachable!() };
//! to_bits(&mut words, order);
//! assert_eq!(words[..4], [-1.0_f32, -0.0, 0.0, 2.5].map(f32::to_bits));
//! # Ok::<(), gpusort::Error>(())
//! ```
//!
//! # Order
//!
//! Numeric and total: −inf … −0, +0 … +inf, then NaN; [`key`] has the details. The result never depends
//! on the device or the algorithm. [`Sorter::argsort`] keeps the input order of equal keys.

pub mod bench;
pub mod clock;
pub mod cost;
pub mod cpu;
pub mod device;
mod error;
pub mod generate;
pub mod gpu;
pub mod human;
pub mod io;
pub mod kernels;
pub mod key;
pub mod memory;
pub mod network;
pub mod parallel;
pub mod plan;
mod ranking;
pub mod size;
mod sorter;
pub mod timing;

pub use error::{Error, ErrorKind, UnknownName};
pub use ranking::{Ranking, Wanted};
pub use sorter::{Method, Progress, Report, Sorter};
