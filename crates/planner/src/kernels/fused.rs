//! Tiles in registers: a workgroup sorts a tile, or performs the most consecutive steps that the tile's bits allow.
//!
//! Bits of the array's index define a tile. Its lowest bits are the array's lowest, so that memory is
//! accessed in runs; the other bits may lie higher up, with bits between them that the tile
//! shares:
//!
//! ```text
//! index in the tile     [ count bits ][ run ]
//!                          │             └──────────────┐
//! index in the array    [ block ┊ count bits ┊ middle ┊ run ]
//!                                 └ from `low` on
//! ```
//!
//! A [`Layout`] defines the elements of a tile that an invocation holds. To change the layout, invocations
//! exchange elements through workgroup memory. `shaders/fused.wgsl` has the details.

use std::ops::Range;

use gpusort_shaders::wgsl;

use super::{
    Access, Arguments, AuxBuffer, Kernel, KernelSpec, Keys, LAST_SWAP, Launch, Module, REGISTERS, Shape,
    Tiles,
};
use crate::error::{Error, at_most, in_range, refuse_if};
use crate::getters::getters;
use crate::limits::Limits;
use crate::network::{self, Step};

/// The division of a tile among the invocations of a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_field_names, reason = "a number that is not its logarithm needs another name")]
pub struct FusedTile {
    invocations_log2: u32,
    elements_log2: u32,
    parts_log2: u32,
}

getters! { FusedTile {
    /// Elements in each invocation's registers, as a power of two.
    elements_log2: u32,
    /// Invocations in a workgroup, as a power of two.
    invocations_log2: u32,
    /// Parts of the tile that take turns in workgroup memory, as a power of two.
    parts_log2: u32,
} }

impl FusedTile {
    /// The smallest tile: two elements, held by one invocation.
    pub(crate) const SMALLEST: Self = Self { invocations_log2: 0, elements_log2: 1, parts_log2: 0 };

    /// Returns a tile of 2^`elements_log2` elements in the registers of each of 2^`invocations_log2` invocations;
    /// 2^`parts_log2` parts of the tile take turns in workgroup memory.
    ///
    /// # Errors
    ///
    /// Fails for a tile that no kernel has.
    pub fn new(elements_log2: u32, invocations_log2: u32, parts_log2: u32) -> Result<Self, Error> {
        let what = "for log2 of the elements in the registers of an invocation";
        // Loops over registers are written out: no compiler takes the text for more registers.
        in_range(what, elements_log2, 1..=10)?;
        in_range("for log2 of the invocations in a workgroup", invocations_log2, 0..=16)?;
        // A part holds at least two elements per invocation, and other invocations must exist to
        // exchange them with.
        at_most([(what, u64::from(parts_log2) + 1, elements_log2.into())])?;
        let is_alone = parts_log2 > 0 && invocations_log2 == 0;
        refuse_if([("a tile in parts needs more than one invocation", is_alone)])?;
        Ok(Self { invocations_log2, elements_log2, parts_log2 })
    }

    /// Returns the number of elements in a tile, as a power of two.
    pub fn log2(self) -> u32 {
        self.invocations_log2 + self.elements_log2
    }

    /// Returns the bytes of workgroup memory: a word of every element of a part, and a gap after every 32 words.
    pub fn workgroup_bytes(self) -> u64 {
        4 * (1 << (self.log2() - self.parts_log2)) * 33 / 32
    }

    /// # Errors
    ///
    /// Returns the exceeded limit.
    pub(crate) fn keep_to(self, limits: &Limits) -> Result<(), Error> {
        at_most([
            ("bytes of workgroup memory", self.workgroup_bytes(), limits.workgroup_bytes),
            ("invocations in a workgroup", 1 << self.invocations_log2, limits.invocations.into()),
        ])
    }

    /// Returns the common constants of kernels on such tiles.
    pub(super) fn constants(self, shape: Shape) -> Vec<(&'static str, u32)> {
        let Self { elements_log2, parts_log2, .. } = self;
        let (tile_log2, part_log2) = (self.log2(), elements_log2 - parts_log2);
        vec![
            ("TILE_SIZE", 1),
            ("TILE_LOG2", tile_log2),
            ("ELEMENTS_LOG2", elements_log2),
            ("ELEMENTS", 1 << elements_log2),
            ("HALF", 1 << (elements_log2 - 1)),
            ("PARTS_LOG2", parts_log2),
            ("PARTS", 1 << parts_log2),
            ("PART_LOG2", part_log2),
            ("PART", 1 << part_log2),
            ("UPPER_LAYOUTS", (tile_log2 - parts_log2).div_ceil(part_log2) - 1),
            ("ELEMENT_WORDS", shape.words()),
        ]
    }

    /// Returns a workgroup's layouts for the steps of this work, in order. The sort of a tile has no layouts.
    ///
    /// # Panics
    ///
    /// Panics if tiles of this size cannot do the work: it takes more steps than the tile has bits.
    pub fn layouts(self, work: FusedWork) -> Vec<Layout> {
        let tile_log2 = self.log2();
        // In the highest layout, neighbouring invocations hold neighbouring elements, or at least
        // neighbouring runs.
        let highest = tile_log2 - self.elements_log2;
        let plain = |steps: Range<u32>, low| Layout { low, steps, mirrored: false };
        let mut layouts = Vec::new();
        let (tail, count, mirrored) = match work {
            FusedWork::Sort => return Vec::new(),
            FusedWork::Halves => (0, tile_log2, true),
            FusedWork::Strides { tail, count, mirrored, .. } => (tail, count, mirrored),
        };
        // The strides of a stage's end, in layouts down to the lowest bits. Loads fill the first layout: it must not
        // hold the bits of a run in registers, and may have no steps.
        if tail > 0 {
            let moved = self.elements_log2 - self.parts_log2;
            let more = tail.saturating_sub(moved).max(LOADED_RUN_LOG2).div_ceil(moved);
            let first = (more * moved).min(highest);
            layouts.push(if first < tail { plain(first..tail, first) } else { plain(tail..tail, highest) });
            self.descend(0..first.min(tail), &mut layouts);
        }
        let first_count = count.min(self.elements_log2);
        if count > 0 {
            let steps = tile_log2 - first_count..tile_log2;
            layouts.push(Layout { low: highest, steps, mirrored });
            self.descend(tile_log2 - count..tile_log2 - first_count, &mut layouts);
        }
        // The stored layout must not hold the bits of a run in registers, either.
        if count == 0 || count == tile_log2 {
            layouts.push(plain(0..0, highest));
        }
        layouts
    }

    /// Appends layouts for these steps, from the highest down.
    fn descend(self, steps: Range<u32>, layouts: &mut Vec<Layout>) {
        let moved = self.elements_log2 - self.parts_log2;
        let mut high = steps.end;
        while high > steps.start {
            let low = high.saturating_sub(moved).max(steps.start);
            layouts.push(Layout { low, steps: low..high, mirrored: false });
            high = low;
        }
    }
}

/// Elements in the shortest run of memory that neighbouring invocations load, as a power of two.
const LOADED_RUN_LOG2: u32 = 3;

/// The elements that an invocation holds for some steps: their indices in the tile differ in the bits from `low` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The lowest of the registers' bits.
    pub low: u32,
    /// The bits whose strides are performed, from the highest down.
    pub steps: Range<u32>,
    /// True if the first step is the mirrored step that begins a stage.
    pub mirrored: bool,
}

/// The work on tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FusedWork {
    /// Sorts every aligned tile: the stages of blocks up to its size.
    Sort,
    /// Merges the sorted halves of every aligned tile: the stage of blocks of its size. A phase of
    /// odd-even sort on half tiles.
    Halves,
    /// Several consecutive steps: the steps that end a stage, with strides 2^(`tail`−1) … 1; then
    /// `count` steps of strides 2^(`low`+`count`−1) … 2^`low`. A partial last block must have its elements as the stage
    /// finds them: the work skips tiles that would then be in order.
    Strides {
        /// The number of steps that end a stage.
        tail: u32,
        /// The smallest stride, as a power of two; the size of a tile without further steps.
        low: u32,
        /// The number of further steps.
        count: u32,
        /// True if the first further step is the mirrored step that begins a stage.
        mirrored: bool,
    },
}

/// Work on tiles, and how these are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fused {
    /// The tiles.
    pub tile: FusedTile,
    /// The work on the tiles.
    pub work: FusedWork,
}

impl Fused {
    /// Returns the number of tiles, in `count` elements, with pairs to compare.
    pub(crate) fn tiles_of(self, count: u32) -> u64 {
        let n = u64::from(count);
        let FusedWork::Strides { tail, low, count: count @ 1.., mirrored } = self.work else {
            return n.div_ceil(1 << self.tile.log2());
        };
        let run_log2 = self.tile.log2() - count;
        let (blocks, rest) = (n >> (low + count), n & ((1 << (low + count)) - 1));
        let all = 1 << (low - run_log2);
        // The last block has work if it reaches past its first half, or past the stride.
        let reach = if mirrored { 1 << (low + count - 1) } else { 1 << low };
        let last = if rest > reach {
            all
        } else if tail > 0 {
            rest.div_ceil(1 << run_log2).min(all)
        } else {
            0
        };
        blocks * all + last
    }

    /// Returns the text of a kernel that goes through the layouts of its work, one after another. A loop over
    /// the layouts would use numbers known only at run time, where the compiler needs constants.
    fn pass(self) -> String {
        let is_phase = self.work == FusedWork::Halves;
        let mut body = String::new();
        let mut line = |text: String| body += &format!("    {text}\n");
        if is_phase {
            line("if workgroup_is_over(local, arguments.phase) { return; }".to_owned());
        }
        line("let tile = tile_at(place);".to_owned());
        line("var e: Registers;".to_owned());
        let mut before = None;
        for Layout { low, steps, mirrored } in self.tile.layouts(self.work) {
            line(match before {
                None => format!("load_registers(&e, tile, local, {low}u, {mirrored});"),
                Some((from, is_from)) => {
                    format!("change_layout(&e, local, {from}u, {is_from}, {low}u, {mirrored});")
                }
            });
            let (mut top, bottom) = (steps.end.saturating_sub(low), steps.start.saturating_sub(low));
            if mirrored {
                if is_phase {
                    line("note_swaps(&e);".to_owned());
                }
                line("mirror_registers(&e);".to_owned());
                top -= 1;
            }
            line(format!("merge_registers(&e, {top}u, {bottom}u);"));
            before = Some((low, mirrored));
        }
        if let Some((low, mirrored)) = before {
            line(format!("store_registers(&e, tile, local, {low}u, {mirrored});"));
        }
        format!(
            "@compute @workgroup_size(WORKGROUP_SIZE)\n\
             fn do_steps(place: Place, @builtin(local_invocation_index) local: u32) {{\n{body}}}\n"
        )
    }
}

impl KernelSpec for Fused {
    fn check(&self, _: Shape, limits: &Limits) -> Result<(), Error> {
        self.tile.keep_to(limits)?;
        if let FusedWork::Strides { tail, low, count, mirrored } = self.work {
            let tile_log2 = self.tile.log2();
            in_range("steps in a pass that does not end a stage", count, 0..=tile_log2)?;
            in_range("steps in a pass", tail, 0..=tile_log2 - count)?;
            // The run lies below the stride; a block has at most 2^32 elements.
            let lows = if count > 0 { tile_log2 - count..=32 - count } else { tile_log2..=tile_log2 };
            in_range("for log2 of the stride", low, lows)?;
            refuse_if([("a pass that begins a stage must have steps", mirrored && count == 0)])?;
        }
        Ok(())
    }

    fn launch(&self, count: u32, shape: Shape, _: &Limits) -> Launch {
        let tiles = self.tiles_of(count);
        Launch {
            workgroup_size: 1 << self.tile.invocations_log2,
            workgroups: tiles,
            bytes_moved: u64::from(count).min(tiles << self.tile.log2()) * 2 * shape.bytes(),
        }
    }

    /// In bounds since `n` guards a tile's accesses, each access by itself or all accesses by a check that the tile's
    /// block ends below `n`: no index in a tile has a bit beyond the bits of its block. Loads from `n` on read the last
    /// element, which exists if workgroups run. A layout never begins above an invocation's bits, so that the exchange
    /// stays in its memory.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        Ok(Access::in_place(first, count))
    }

    fn aux_buffers(&self) -> &'static [AuxBuffer] {
        if self.work == FusedWork::Halves { &[LAST_SWAP] } else { &[] }
    }

    fn steps(&self) -> Vec<Step> {
        match self.work {
            FusedWork::Sort => (1..=self.tile.log2()).flat_map(network::stage).collect(),
            FusedWork::Halves => network::stage(self.tile.log2()).collect(),
            FusedWork::Strides { tail, low, count, mirrored } => {
                let tail = network::strides(0..tail);
                if mirrored {
                    tail.chain(network::stage(low + count).take(count as usize)).collect()
                } else {
                    tail.chain(network::strides(low..low + count)).collect()
                }
            }
        }
    }

    fn tiles(&self) -> Option<Tiles> {
        let tile_log2 = self.tile.log2();
        Some(match self.work {
            FusedWork::Strides { low, count: count @ 1.., mirrored, .. } => {
                Tiles { run: 1 << (tile_log2 - count), low, count, mirrored, held: REGISTERS }
            }
            _ => Tiles::consecutive(1 << tile_log2, REGISTERS),
        })
    }

    fn workgroup_bytes(&self, _: Shape) -> u64 {
        self.tile.workgroup_bytes()
    }

    fn without_arguments(&self) -> Kernel {
        let mut same = *self;
        if let FusedWork::Strides { low, .. } = &mut same.work {
            *low = 0;
        }
        same.into()
    }

    fn module(&self, shape: Shape, _: Keys) -> Module {
        let FusedTile { elements_log2, parts_log2, .. } = self.tile;
        let (tile_log2, part_log2) = (self.tile.log2(), elements_log2 - parts_log2);
        let (count, mirrored) = match self.work {
            FusedWork::Strides { count, mirrored, .. } => (count, mirrored),
            FusedWork::Sort | FusedWork::Halves => (0, false),
        };
        let constants = [
            self.tile.constants(shape),
            vec![("SORTED_LOG2", part_log2), ("RUN_LOG2", tile_log2 - count), ("MIRRORED", mirrored.into())],
        ]
        .concat();
        let tile = [wgsl("fused"), wgsl("fused_tiles")].concat();
        let (entry_point, text) = match self.work {
            FusedWork::Sort => {
                let stages = wgsl("fused_stages");
                ("sort_tile", [&tile, stages, wgsl("fused_sort")].concat())
            }
            FusedWork::Strides { .. } => ("do_steps", [tile, self.pass()].concat()),
            FusedWork::Halves => {
                let phases = wgsl("fused_halves");
                ("do_steps", [&tile, wgsl("last_swap"), phases, &self.pass()].concat())
            }
        };
        Module { entry_point, constants, text }
    }

    fn arguments(&self, first: u32, count: u32, phase: u32) -> Arguments {
        // The bit of the array's index that follows a tile's run.
        let low = if let FusedWork::Strides { low, .. } = self.work { low } else { self.tile.log2() };
        [("n", first + count), ("first", first), ("low", low), ("phase", phase)].into()
    }
}
