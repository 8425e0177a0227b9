//! The GPU: the only folder that names wgpu.
//!
//! ```text
//! context ◂─ readback ◂─ timestamps, staging      device and queue; what the host reads; transfers
//!    ▴
//! pipelines ◂─ arrays ◂─ encode                   kernels compiled; buffers bound; a plan recorded
//!    ▴            ▴         ▴
//! device ◂───── buffers ◂─ execute                what others use: Gpu, Buffers, execute
//! ```

mod arrays;
mod bandwidth;
mod buffers;
mod context;
mod device;
mod encode;
mod execute;
mod pipelines;
mod readback;
mod staging;
mod timestamps;

pub use buffers::Buffers;
pub use context::adapters;
pub use device::Gpu;
pub use execute::execute;
pub use staging::Upload;
