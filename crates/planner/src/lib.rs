//! What gpusort does on a GPU, planned without one.
//!
//! A sort on a GPU is a list of dispatches of kernels. Which ones they are follows from the number
//! of elements, the shape of an element and the limits of the device, and can be worked out, drawn,
//! checked and tried on a CPU. That is all here; nothing names a GPU API or a file.
//!
//! ```text
//! key        numbers ↔ unsigned words in their order
//! network    sorting networks, as steps of comparisons
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

pub mod algorithm;
mod error;
pub mod item;
pub mod kernels;
pub mod key;
mod limits;
mod names;
pub mod network;
pub mod plan;

pub use algorithm::{Algorithm, NoVariant, Variant};
pub use error::{Error, at_most};
pub use limits::{Kind, Limits, Subgroups};
pub use names::UnknownName;
