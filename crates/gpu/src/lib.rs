//! Sorts on a GPU through wgpu: devices, transfers, plans, and sorts recorded into a caller's encoder.
//!
//! ```text
//! context ◂─ readback ◂─ timestamps, staging      device and queue; what the host reads; transfers
//!    ▴
//! pipelines ◂─ encode                             kernels compiled; dispatches recorded, on any memory
//!    ▴            ▴
//! device ◂─── arrays ◂─ recording                 all of these together; memory of our own; a plan on it
//!                 ▴        ▴
//!              buffers ◂─ execute, passes, run    what others use: Gpu, Buffers, execute, ResidentRun
//!
//! encode ◂─ recorder                              sorts in a caller's encoder, which `buffers` has for others
//! ```

mod arrays;
mod bandwidth;
mod bindings;
pub mod buffers;
mod context;
mod device;
mod encode;
mod execute;
mod passes;
mod pipelines;
mod plan_buffers;
mod readback;
mod recorder;
mod recording;
mod run;
mod staging;
mod timestamps;

pub use context::Context;
pub use context::{adapter, adapters};
pub use device::Gpu;
pub use execute::execute;
pub use passes::time_passes;
pub use plan_buffers::Buffers;
pub use run::ResidentRun;
