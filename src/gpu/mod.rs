//! The GPU: the only folder that names wgpu.
//!
//! [`Gpu`] is a device that was chosen and started. [`Buffers`] hold the elements on it, [`transfer`]
//! brings them there and back, [`executor`] performs a plan on them with the kernels of [`kernels`].

mod bandwidth;
pub mod device;
pub mod executor;
pub mod kernels;
mod timestamps;
pub mod transfer;
mod unroll;

pub use device::{AdapterInfo, Gpu, Kind, Select, adapters};
pub use executor::{Clock, Elapsed, execute};
pub use transfer::{Buffers, Upload};
