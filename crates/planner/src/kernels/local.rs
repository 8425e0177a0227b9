//! Bitonic steps whose strides stay within a tile, in workgroup memory: one workgroup sorts or
//! merges one tile.
//!
//! ```text
//! array             [ tile 0 │ tile 1 │ … │ tile │ part ]
//! workgroup memory     └ all steps of it ┘   └ past the end: elements that sort last
//! ```

use gpusort_shaders::wgsl;

use super::{Access, Arguments, Kernel, KernelSpec, Keys, Launch, Module, Shape, Tiles, WORKGROUP};
use crate::error::{Error, at_most, in_range};
use crate::limits::Limits;
use crate::network::{self, Step};

/// Steps on every aligned tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    /// Elements in a tile, as a power of two.
    pub tile_log2: u32,
    /// True if tiles are sorted, by the stages of blocks up to the tile's size; false if tiles end a stage,
    /// by the strides 2^(`tile_log2`−1) … 1.
    pub sorts: bool,
}

impl KernelSpec for Local {
    fn check(&self, shape: Shape, limits: &Limits) -> Result<(), Error> {
        let tile_log2 = self.tile_log2;
        in_range("for log2 of the elements in a tile", tile_log2, 1..=31)?;
        at_most([("bytes of workgroup memory", shape.bytes() << tile_log2, limits.workgroup_bytes)])
    }

    fn launch(&self, count: u32, shape: Shape, limits: &Limits) -> Launch {
        // Invocations beyond one for each comparison would be idle.
        let workgroup_size = limits.invocations.clamp(1, 512).min(1 << (self.tile_log2 - 1));
        Launch::of_all(workgroup_size, u64::from(count).div_ceil(1 << self.tile_log2), count, shape)
    }

    /// In bounds since each access to the array is guarded by `n`, and each to workgroup memory by
    /// its size.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        Access::from_start(first, count)
    }

    fn steps(&self) -> Vec<Step> {
        match self.sorts {
            true => (1..=self.tile_log2).flat_map(network::stage).collect(),
            false => network::strides(0..self.tile_log2).collect(),
        }
    }

    fn tiles(&self) -> Option<Tiles> {
        Some(Tiles::consecutive(1 << self.tile_log2, WORKGROUP))
    }

    fn workgroup_bytes(&self, shape: Shape) -> u64 {
        shape.bytes() << self.tile_log2
    }

    fn without_arguments(&self) -> Kernel {
        Kernel::Local(*self)
    }

    fn module(&self, _: Shape, _: Keys) -> Module {
        Module {
            entry_point: if self.sorts { "sort_tile" } else { "merge_tile" },
            constants: vec![("TILE_SIZE", 1 << self.tile_log2)],
            text: wgsl("local").to_owned(),
        }
    }

    fn arguments(&self, first: u32, count: u32, _: u32) -> Arguments {
        [("n", first + count)].into()
    }
}
