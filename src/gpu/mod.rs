//! The GPU: only this folder and `buffers` use wgpu.
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
//! encode ◂─ recorder                              sorts in a caller's encoder, which crate::buffers has for others
//! ```

mod arrays;
mod bandwidth;
mod bindings;
mod buffers;
mod context;
mod device;
mod encode;
mod execute;
mod passes;
mod pipelines;
mod readback;
mod recorder;
mod recording;
mod run;
mod staging;
mod timestamps;

pub(crate) use recorder::{
    ALIGNMENT, Gathered, Ranges, Recorder, Scratch, Slice, Sort, SortedRun, UniqueInto, Uses, Work,
    most_bytes,
};

pub use buffers::Buffers;
pub(crate) use context::Context;
pub use context::{adapter, adapters};
pub use device::Gpu;
pub use execute::execute;
pub use passes::time_passes;
pub use run::ResidentRun;
