//! Memory of the device, and copies to it and from it.

pub(crate) mod arrays;
pub(crate) mod readback;
pub(crate) mod staging;
