//! What gpusort does on a GPU, planned without one.
//!
//! A sort on a GPU is a list of dispatches of kernels. Which ones they are follows from the number
//! of elements, the shape of an element and the limits of the device, and can be worked out, drawn,
//! checked and tried on a CPU. That is all here; nothing names a GPU API or a file.
//!
//! ```text
//! kernels    what one dispatch can do: limits, WGSL, arguments, and the same on a CPU
//! plan       the dispatches of a whole sort; the interpreter, which performs them on a CPU
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
//! It is a part of `gpusort`, and changes with it: any release may change all of it.

mod getters;
pub mod kernels;
pub mod plan;

pub use gpusort_order::error::{Error, at_most};
pub use gpusort_order::{Algorithm, Kind, Limits, NoVariant, Subgroups, UnknownName, Variant};
pub use gpusort_order::{algorithm, item, key, network};
use gpusort_order::{error, limits};
