//! Writes the positions 0, 1, 2, … as payload before any element has moved.

use gpusort_shaders::wgsl;

use super::{Access, Arguments, Kernel, KernelSpec, Keys, Launch, Module, Shape};
use crate::error::{Error, at_most, refuse_if};
use crate::limits::Limits;

/// The kernel that writes positions as payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Iota {
    /// The first position.
    pub from: u32,
}

impl KernelSpec for Iota {
    fn check(&self, shape: Shape, _: &Limits) -> Result<(), Error> {
        refuse_if([("a sort without payload has no positions", !shape.payload)])
    }

    fn launch(&self, count: u32, _: Shape, limits: &Limits) -> Launch {
        Launch::of_invocations(count.into(), u64::from(count) * 4, limits)
    }

    /// In bounds since an invocation stores below `n` only.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        at_most([("positions", u64::from(self.from) + u64::from(count), u32::MAX.into())])?;
        Ok(Access { reads: 0, ..Access::from_start(first, count)? })
    }

    fn without_arguments(&self) -> Kernel {
        Kernel::Iota(Self { from: 0 })
    }

    fn module(&self, _: Shape, _: Keys) -> Module {
        let text = wgsl("iota").to_owned();
        Module { entry_point: "iota", constants: vec![("TILE_SIZE", 1)], text }
    }

    fn arguments(&self, first: u32, count: u32, _: u32) -> Arguments {
        [("n", first + count), ("begin", self.from)].into()
    }
}
