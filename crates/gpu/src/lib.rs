//! Sorts on a GPU through wgpu: devices, transfers, plans, and sorts recorded into a caller's encoder.
//!
//! ```text
//! context ◂─ readback ◂─ timestamps               device and queue; mapped memory
//!    ▴
//! pipelines ◂─ encode                             kernels compiled; dispatches recorded, on any memory
//!    ▴            ▴
//! device ◂─ staging ◂─ plan_buffers ◂─ recording  a started device; transfers; buffers of our own; a plan on them
//!                 ▴            ▴
//!                run     execute, passes          resident runs; plans that run
//!
//! encode ◂─ recorder ◂─ buffers                   sorts in a caller's encoder
//! staging, plan_buffers ◂─ text                   integers of text
//! ```

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
mod recorder;
mod recording;
mod run;
mod text;
mod timestamps;
mod transfers;

pub use context::{Context, adapter, adapters};
pub use device::Gpu;
pub use execute::execute;
pub use passes::time_passes;
pub use plan_buffers::Buffers;
pub use run::ResidentRun;
pub use text::TextKernels;
