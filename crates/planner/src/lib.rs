//! Plans gpusort's work on a GPU, without a GPU.
//!
//! A sort on a GPU is a list of dispatches of kernels. The list follows from the number of elements, the
//! shape of an element and the limits of the device; a CPU can compute, draw, check and try it. This crate
//! does only that, and names neither a GPU API nor a file.
//!
//! ```text
//! kernels    the abilities of one dispatch: limits, WGSL, arguments, and a twin on a CPU
//! plan       the dispatches of a whole sort; the interpreter, which performs them on a CPU
//! text       integers of text: kernels, and the places of sorted lines
//! ```
//!
//! ```
//! use gpusort_planner::key::KeyWords;
//! use gpusort_planner::kernels::Shape;
//! use gpusort_planner::plan::{Plan, interpreter};
//! use gpusort_planner::{Algorithm, Limits, Variant};
//!
//! let shape = Shape { key: KeyWords::One, payload: false };
//! let plan = Plan::new(Algorithm::Bitonic, Variant::Fused, 5, shape, &Limits::WEBGPU)?;
//! for dispatch in plan.dispatches() {
//!     let (wgsl, entry_point) = dispatch.pipeline().module();
//!     assert!(wgsl.contains(entry_point));
//! }
//!
//! let mut keys = [3_u32, 1, 5, 2, 4];
//! interpreter::perform(&plan, &mut keys, |_| {});
//! assert_eq!(keys, [1, 2, 3, 4, 5]);
//! # Ok::<(), gpusort_planner::Error>(())
//! ```
//!
//! An internal part of `gpusort`: any release may change all of it.

mod getters;
pub mod kernels;
pub mod plan;
pub mod text;

pub use gpusort_order::error::{Error, at_most};
pub use gpusort_order::{Algorithm, Kind, Limits, NoVariant, Subgroups, UnknownName, Variant};
pub use gpusort_order::{algorithm, item, key, network};
use gpusort_order::{error, limits};
