//! The kernels, each in a file: the operations of a dispatch on the elements.
//!
//! ```text
//!             one kernel                         asked by
//! check       values that it cannot have         Dispatch::new
//! launch      workgroups, bytes moved            Dispatch::new
//! access      elements that it reads and writes  the one constructor of plans
//! aux_buffers buffers beside keys, payload       plans, pipelines
//! steps       the network steps it performs      tests, traces
//! tiles       elements that a workgroup owns     traces
//! interpret   its CPU twin                       the interpreter
//! module      WGSL, entry point, constants       pipelines
//! arguments   values that dispatches differ in   the recording of a plan
//! ```
//!
//! Nothing here names a GPU API. A new kernel needs its file, its WGSL, and an entry in
//! [`Kernel`].
//!
//! # Why kernels may run unchecked
//!
//! Kernels are compiled without the compiler's own bounds checks. This folder makes that sound: only
//! [`Dispatch::new`] makes a [`Dispatch`], and it refuses a kernel whose `check` fails. [`Dispatch::access`]
//! returns the maximum numbers of elements that the dispatch reads and writes, for any number of launched
//! workgroups; each kernel gives the reason at its `access`. The arrays of a plan, made by its only
//! constructor, are at least as large.

mod batch;
mod fused;
mod iota;
mod keys;
mod local;
mod merge;
mod module;
mod radix;
mod segments;
mod select;
mod step;
mod tiles;
mod top;
mod transpose;
mod unroll;

pub use batch::{Batch, Group};
pub use fused::{Fused, FusedTile, FusedWork, Layout};
pub use gpusort_order::Shape;
pub use iota::Iota;
pub use keys::{KeyTransform, Keys};
pub use local::Local;
pub use merge::{Merge, MergeTile};
pub use module::{Bindings, ELEMENT_BINDINGS, PipelineKey};
pub use radix::{DIGIT_BITS, Radix, RadixTile, RadixWork, Scope, StalledTile};
pub use segments::{
    FIRST_CLASS_LOG2, SEGMENT_CLASSES, SEGMENT_LIST, SEGMENT_OFFSETS, SEGMENT_TILES, most_segments,
};
pub use select::{Select, SelectWork};
pub use step::LAST_SWAP;
pub use tiles::{REGISTERS, Tiles, WORKGROUP};
pub use top::{Top, TopTuning};
pub use transpose::TransposeWork;
pub(crate) use unroll::unroll;

use crate::error::{Error, at_least, at_most, has, refuse_if};
use crate::getters::getters;
use crate::item::Item;
use crate::limits::{Limits, Subgroups};
use crate::network::Step;

/// A buffer that a kernel binds beside keys and payload: in WGSL, a global variable with this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AuxBuffer {
    /// The name in kernels and plans.
    pub name: &'static str,
    /// The type in WGSL.
    pub wgsl_type: &'static str,
    /// True if the kernel only reads the buffer, so that all invocations read equal values.
    pub read_only: bool,
    /// True if a plan begins with zeros in the buffer; otherwise the buffer keeps the content of the last plan.
    pub zeroed: bool,
}

impl AuxBuffer {
    /// Returns a buffer of words that the kernel writes.
    const fn words(name: &'static str) -> Self {
        Self { name, wgsl_type: "array<u32>", read_only: false, zeroed: false }
    }

    /// Returns this buffer for a kernel that only reads it.
    const fn read(self) -> Self {
        Self { read_only: true, ..self }
    }

    /// Returns this buffer for a kernel that adds to its words atomically.
    const fn added_to(self) -> Self {
        Self { wgsl_type: "array<atomic<u32>>", ..self }
    }
}

/// The interface of a kernel. See the table in the module's documentation.
trait KernelSpec {
    /// # Errors
    ///
    /// Fails for a value that no kernel has, or for a limit that the kernel exceeds.
    fn check(&self, shape: Shape, limits: &Limits) -> Result<(), Error>;

    /// Returns the launch on `count` elements; without elements, the launch has no workgroups.
    fn launch(&self, count: u32, shape: Shape, limits: &Limits) -> Launch;

    /// Returns the accesses of the kernel to `count` elements from `first` on.
    ///
    /// # Errors
    ///
    /// Fails for a part of the array that the kernel does not support.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error>;

    /// Returns the subgroups that the kernel's text is for; `None` for any subgroups or none.
    fn subgroups(&self) -> Option<Subgroups> {
        None
    }

    /// Returns the buffers that the kernel binds beside keys and payload.
    fn aux_buffers(&self) -> &'static [AuxBuffer] {
        &[]
    }

    /// Returns the words that the kernel needs in an auxiliary buffer, on `count` elements.
    fn aux_words(&self, _aux: &AuxBuffer, _count: u32) -> u64 {
        1
    }

    /// Returns the network steps performed, in order; their positions count from the first element.
    fn steps(&self) -> Vec<Step> {
        Vec::new()
    }

    /// Returns the tiles that workgroups own; `None` if each invocation owns the elements that it compares or
    /// counts.
    fn tiles(&self) -> Option<Tiles> {
        None
    }

    /// Returns the bytes of workgroup memory with elements or counts.
    fn workgroup_bytes(&self, _shape: Shape) -> u64 {
        0
    }

    /// Returns this kernel with fixed values for all arguments. Kernels that become equal share a pipeline.
    fn without_arguments(&self) -> Kernel;

    /// Returns the kernel's own part of the text.
    fn module(&self, shape: Shape, keys: Keys) -> Module;

    /// Returns the arguments of a dispatch on `count` elements from `first` on. `phase` is the number of the dispatch
    /// in a plan of phases, and 0 in other plans.
    fn arguments(&self, first: u32, count: u32, phase: u32) -> Arguments;

    /// Does the kernel's work on a CPU, in the segments with these offsets, or on all elements without offsets. `last`
    /// fills unused places.
    fn interpret<T: Item>(&self, elements: &mut [T], _offsets: &[u32], _last: T)
    where
        Self: Sized,
    {
        let steps = self.steps();
        // Positions in consecutive tiles pair up like positions of the whole array.
        let tile =
            self.tiles().filter(|tiles| tiles.count == 0).map_or(elements.len(), |it| it.size() as usize);
        elements.chunks_mut(tile.max(1)).for_each(|tile| steps.iter().for_each(|step| step.perform(tile)));
    }
}

/// Makes the enum of kernels, and forwards calls to their interfaces.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident($spec:ty) = $file:literal,)*) => {
        /// The operation of a dispatch on the elements. Its WGSL is the file, files or folder with this name in
        /// `shaders/`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kernel { $($(#[$doc])* $name($spec),)* }

        impl Kernel {
            fn spec(&self) -> &dyn KernelSpec {
                match self { $(Self::$name(spec) => spec,)* }
            }

            /// Returns the name of the kernel and of its file.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => $file,)* }
            }

            /// Does the kernel's work on the elements of a dispatch; in the segments with these offsets if the
            /// kernel sorts segments. `last` sorts after all elements, or equals the last one, and fills unused
            /// places.
            ///
            /// # Panics
            ///
            /// Panics if no dispatch of the kernel takes this number of elements.
            pub fn perform<T: Item>(&self, elements: &mut [T], offsets: &[u32], last: T) {
                match self { $(Self::$name(spec) => spec.interpret(elements, offsets, last),)* }
            }
        }

        $(impl From<$spec> for Kernel {
            fn from(spec: $spec) -> Self {
                Self::$name(spec)
            }
        })*
    };
}

kernels! {
    /// `local`: tiles in workgroup memory.
    Local(Local) = "local",
    /// `fused`: tiles in registers.
    Fused(Fused) = "fused",
    /// `step`: one step on the whole array, a comparison by each invocation.
    Step(Step) = "step",
    /// `transpose`: rows in workgroup memory, and transpositions.
    Transpose(TransposeWork) = "transpose",
    /// `top`: tiles in registers, reduced to their smallest elements.
    Top(Top) = "top",
    /// `radix`: digits counted, and elements distributed by a digit.
    Radix(Radix) = "radix",
    /// `select`: the first elements of the sorted order, as they came.
    Select(Select) = "select",
    /// `merge`: two sorted runs, merged.
    Merge(Merge) = "merge",
    /// `iota`: writes positions as payload.
    Iota(Iota) = "iota",
    /// `batch`: rows in tiles in registers.
    Batch(Batch) = "batch",
}

impl Kernel {
    /// # Errors
    ///
    /// Fails for subgroups that the kernel's text is not for.
    fn check_subgroups(&self, limits: &Limits) -> Result<(), Error> {
        let Some(own) = self.spec().subgroups() else { return Ok(()) };
        let there = limits.subgroups.ok_or(Error::Lacks { what: "subgroups" })?;
        has([("subgroup barriers", own.barrier, there.barrier)])?;
        at_least([("lanes in the smallest subgroup", there.smallest.into(), own.smallest.into())])?;
        at_most([("lanes in a subgroup", there.largest.into(), own.largest.into())])
    }

    /// Returns the network steps that the kernel performs, in order.
    pub fn steps(&self) -> Vec<Step> {
        self.spec().steps()
    }

    /// Returns the tiles that workgroups own; `None` if each invocation owns the elements that it compares or
    /// counts.
    pub fn tiles(&self) -> Option<Tiles> {
        self.spec().tiles()
    }

    /// Returns the bytes of workgroup memory with elements of this shape or counts.
    pub fn workgroup_bytes(&self, shape: Shape) -> u64 {
        self.spec().workgroup_bytes(shape)
    }
}

/// A kernel's own parts of its module.
struct Module {
    /// The function that a dispatch runs.
    entry_point: &'static str,
    /// The constants that the module begins with. `TILE_SIZE` is the number of elements in
    /// workgroup memory.
    constants: Vec<(&'static str, u32)>,
    /// The kernel's WGSL.
    text: String,
}

/// Returns constants with these names, in WGSL.
pub(crate) fn constants(named: &[(&str, u32)]) -> String {
    let of = |(name, value): &_| format!("const {name}: u32 = {value}u;\n");
    named.iter().map(of).collect::<Vec<_>>().concat()
}

/// The launch of a kernel.
struct Launch {
    /// Invocations in a workgroup.
    workgroup_size: u32,
    /// The number of workgroups with work.
    workgroups: u64,
    /// Bytes of device memory read and written; every accessed element counts once each way.
    bytes_moved: u64,
}

impl Launch {
    /// Returns a launch of this number of workgroups, which read and write all elements.
    fn of_all(workgroup_size: u32, workgroups: u64, count: u32, shape: Shape) -> Self {
        Self { workgroup_size, workgroups, bytes_moved: u64::from(count) * 2 * shape.bytes() }
    }

    /// Returns a launch of at least this number of independent invocations.
    fn of_invocations(invocations: u64, bytes_moved: u64, limits: &Limits) -> Self {
        let workgroup_size = limits.invocations.clamp(1, 256);
        Self { workgroup_size, workgroups: invocations.div_ceil(workgroup_size.into()), bytes_moved }
    }
}

/// The elements that a dispatch touches, counted from the start of the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The number of elements that the dispatch reads from their array, which must hold them.
    pub reads: u64,
    /// The number of elements that the dispatch writes.
    pub writes: u64,
    /// True if the dispatch writes to the other array.
    pub to_other: bool,
    /// True if the next dispatch finds the elements in the other array.
    pub changes_sides: bool,
}

impl Access {
    /// Returns the access of work in place.
    fn in_place(first: u32, count: u32) -> Self {
        let end = u64::from(first) + u64::from(count);
        Self { reads: end, writes: end, to_other: false, changes_sides: false }
    }

    /// Returns this access with writes to the other array, where the next dispatch finds the elements.
    fn to_other(self) -> Self {
        Self { to_other: true, changes_sides: true, ..self }
    }

    /// Returns the access of work in place on whole arrays.
    fn from_start(first: u32, count: u32) -> Result<Self, Error> {
        refuse_if([("a kernel for whole arrays must begin at their start", first > 0)])?;
        Ok(Self::in_place(0, count))
    }
}

/// The maximum number of words in a kernel's arguments.
const MOST_ARGUMENTS: usize = 8;

/// A kernel's arguments, in the order of its `Arguments` in WGSL. They need no allocation, because a sort
/// may take millions of them.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    names: [&'static str; MOST_ARGUMENTS],
    words: [u32; MOST_ARGUMENTS],
    count: usize,
}

impl Arguments {
    /// The maximum number of bytes in a kernel's arguments.
    pub const MOST_BYTES: u32 = 4 * MOST_ARGUMENTS as u32;

    /// Returns the words in memory order.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words[..self.count])
    }
}

impl<const N: usize> From<[(&'static str, u32); N]> for Arguments {
    fn from(named: [(&'static str, u32); N]) -> Self {
        let mut arguments = Self { names: [""; MOST_ARGUMENTS], words: [0; MOST_ARGUMENTS], count: N };
        for (place, (name, word)) in named.into_iter().enumerate() {
            (arguments.names[place], arguments.words[place]) = (name, word);
        }
        arguments
    }
}

/// The workgroups of a dispatch, in two dimensions because one dimension holds too few. Workgroup (x, y)
/// has the number y·`x` + x; workgroups numbered past the work find nothing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Workgroups in a row.
    pub x: u32,
    /// Rows.
    pub y: u32,
}

impl Grid {
    /// Returns the flattest grid of at least `workgroups` workgroups.
    ///
    /// # Errors
    ///
    /// Fails for more workgroups than a dispatch has.
    pub fn new(workgroups: u64, limits: &Limits) -> Result<Self, Error> {
        let most = u64::from(limits.workgroups_per_dimension);
        let rows = workgroups.div_ceil(most.max(1)).max(1);
        at_most([("workgroups in one dispatch", workgroups, most * most)])?;
        // Neither exceeds `most`, a u32.
        Ok(Self { x: workgroups.div_ceil(rows) as u32, y: rows as u32 })
    }

    /// Returns the number of workgroups.
    pub fn workgroups(self) -> u64 {
        u64::from(self.x) * u64::from(self.y)
    }
}

/// One launch of a kernel: one pass over the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    kernel: Kernel,
    pipeline: PipelineKey,
    access: Access,
    first: u32,
    count: u32,
    grid: Grid,
    bytes_moved: u64,
}

getters! { Dispatch {
    /// The operation.
    kernel: Kernel,
    /// The first element that the dispatch works on.
    first: u32,
    /// The number of elements.
    count: u32,
    /// The properties of the pipeline.
    pipeline: PipelineKey,
    /// The workgroups launched.
    grid: Grid,
    /// Bytes of device memory read and written; every accessed element counts once each way.
    bytes_moved: u64,
    /// The elements that the dispatch touches.
    access: Access,
} }

impl Dispatch {
    /// Returns a launch of `kernel` on `count` elements of this shape from `first` on.
    ///
    /// # Errors
    ///
    /// Fails for a kernel that does not exist, a part of the array that it does not support, or an exceeded limit.
    pub fn new(
        kernel: impl Into<Kernel>,
        first: u32,
        count: u32,
        shape: Shape,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let kernel = kernel.into();
        kernel.spec().check(shape, limits)?;
        kernel.check_subgroups(limits)?;
        at_most([("elements in one sort", u64::from(first) + u64::from(count), u32::MAX.into())])?;
        let access = kernel.spec().access(first, count)?;
        let Launch { workgroup_size, workgroups, bytes_moved } = kernel.spec().launch(count, shape, limits);
        let (same, other, keys) = (kernel.spec().without_arguments(), access.to_other, Keys::Own);
        Ok(Self {
            kernel,
            pipeline: PipelineKey { kernel: same, shape, workgroup_size, other, keys },
            access,
            first,
            count,
            grid: Grid::new(workgroups, limits)?,
            bytes_moved,
        })
    }

    /// Stops the dispatch from writing keys, in a plan whose payload alone is wanted.
    pub fn drop_keys(&mut self) {
        if let Kernel::Radix(radix) = &mut self.kernel {
            // An argument: the pipeline and the accessed elements stay unchanged.
            radix.drops_keys = true;
        }
    }

    /// Returns this dispatch on a caller's elements, for a kernel that maps them to keys.
    pub(crate) fn transformed_by(self, transform: KeyTransform) -> Self {
        Self { pipeline: PipelineKey { keys: Keys::Elements(transform), ..self.pipeline }, ..self }
    }

    /// Returns this dispatch on fewer elements.
    ///
    /// # Errors
    ///
    /// Fails for more elements than this dispatch has.
    pub fn for_fewer(&self, count: u32, limits: &Limits) -> Result<Self, Error> {
        at_most([("elements in a dispatch", count.into(), self.count.into())])?;
        let Launch { workgroups, .. } = self.kernel.spec().launch(count, self.pipeline.shape, limits);
        Ok(Self { count, grid: Grid::new(workgroups, limits)?, ..*self })
    }

    /// Moves the existing payload instead of writing iota.
    pub fn pass_through(&mut self) {
        match &mut self.kernel {
            // Also an argument.
            Kernel::Radix(radix) => radix.iota = false,
            Kernel::Select(select) => select.iota = false,
            _ => {}
        }
    }

    /// Returns the digit of the pass, or 0.
    pub fn digit(&self) -> u32 {
        match self.kernel {
            Kernel::Radix(radix) => radix.digit,
            Kernel::Select(select) => select.digit,
            _ => 0,
        }
    }

    /// Returns true for a dispatch that only sets counters to zero.
    pub fn clears(&self) -> bool {
        matches!(self.kernel, Kernel::Radix(Radix { work: RadixWork::Clear, .. }))
    }

    /// Returns the group of segments that the dispatch sorts; `None` for other dispatches.
    pub fn group(&self) -> Option<Group> {
        if let Kernel::Batch(batch) = self.kernel { batch.group() } else { None }
    }

    /// Returns the buffers that the dispatch binds beside keys and payload, with the words that it needs of each.
    pub fn aux_buffers(&self) -> impl Iterator<Item = (AuxBuffer, u64)> {
        let spec = self.kernel.spec();
        spec.aux_buffers().iter().map(move |aux| (*aux, spec.aux_words(aux, self.count)))
    }

    /// Returns the arguments, which differ between dispatches of one pipeline. `phase` is the number of the dispatch
    /// in a plan of phases, and 0 in other plans.
    pub fn arguments(&self, phase: u32) -> Arguments {
        self.kernel.spec().arguments(self.first, self.count, phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Kernel> {
        let tile = FusedTile::new(4, 5, 1).unwrap();
        let tuning = TopTuning::new([5, 8, 0, 6, 8]).unwrap();
        let strides = FusedWork::Strides { tail: 3, low: 12, count: 2, mirrored: true };
        let mut all: Vec<Kernel> = vec![
            Local { tile_log2: 5, sorts: true }.into(),
            Local { tile_log2: 5, sorts: false }.into(),
            TransposeWork::Pad { from: 3 }.into(),
            TransposeWork::Sort { row_log2: 3 }.into(),
            TransposeWork::Merge { row_log2: 3, steps: 2, block_log2: 4 }.into(),
            TransposeWork::Transpose { rows_log2: 3, columns_log2: 5 }.into(),
            Top { tuning, k: 100 }.into(),
            Merge { tile: MergeTile::new(6, 5).unwrap(), middle: 30, stays: true }.into(),
            Iota { from: 3 }.into(),
            Batch::new(FusedTile::new(4, 5, 0).unwrap(), 64, true).unwrap().into(),
            Batch::listed(FusedTile::new(4, 5, 0).unwrap(), Group { number: 1, log2: (4, 6) }, true)
                .unwrap()
                .into(),
        ];
        let radix = RadixTile::new(32, 15, &Limits::WEBGPU).unwrap();
        all.extend(
            [
                RadixWork::Clear,
                RadixWork::Histogram,
                RadixWork::Sweep(None),
                RadixWork::Count { first: true },
                RadixWork::Count { first: false },
                RadixWork::Scan,
                RadixWork::Scatter,
            ]
            .map(|work| {
                let (digit, digits, chunk) = (0, 8, 2);
                Kernel::from(Radix {
                    tile: radix,
                    work,
                    digit,
                    digits,
                    chunk,
                    iota: true,
                    drops_keys: false,
                    scope: Scope::All,
                    is_rare: false,
                })
            }),
        );
        let work = |work| {
            let (digit, digits, chunk) = (0, 8, 0);
            let (iota, drops_keys) = (true, false);
            let (scope, is_rare) = (Scope::Segments(64), false);
            Radix { tile: radix, work, digit, digits, chunk, iota, drops_keys, scope, is_rare }
        };
        all.extend([RadixWork::Histogram, RadixWork::Sweep(None)].map(|of| Kernel::from(work(of))));
        let leading = [
            RadixWork::Sample,
            RadixWork::Choose,
            RadixWork::Histogram,
            RadixWork::Sweep(None),
            RadixWork::Cut(64),
            RadixWork::Finish(64),
            RadixWork::Runs(64),
        ];
        all.extend(leading.map(|of| Kernel::from(Radix { scope: Scope::Leading(None), ..work(of) })));
        let works = [SelectWork::Clear, SelectWork::Histogram, SelectWork::Choose, SelectWork::Count];
        let select = |work| Kernel::from(Select { work, k: 100, digit: 2, iota: true });
        all.extend(works.into_iter().chain([SelectWork::Keep]).map(select));
        all.extend(
            [FusedWork::Sort, FusedWork::Halves, strides].map(|work| Kernel::from(Fused { tile, work })),
        );
        all.extend([
            Kernel::Step(Step::Mirror { block_log2: 3 }),
            Kernel::Step(Step::Stride { stride_log2: 3 }),
            Kernel::Step(Step::Alternating { stride_log2: 3, block_log2: 5 }),
            Kernel::Step(Step::Phase { odd: true }),
        ]);
        all
    }

    /// Returns the names of the members of `struct Arguments`, which are all words.
    fn names(text: &str) -> Vec<&str> {
        let (_, after) = text.split_once("struct Arguments {").unwrap();
        let (members, _) = after.split_once('}').unwrap();
        let lines = members.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
        lines.map(|line| line.strip_suffix(": u32,").unwrap()).collect()
    }

    #[test]
    fn arguments_in_wgsl_are_those_in_rust() {
        for kernel in all() {
            let spec = kernel.spec();
            let text = spec.module(Shape::ALL[0], Keys::Own).text;
            let own = spec.arguments(0, 128, 7);
            assert_eq!(names(&text), own.names[..own.count], "{kernel:?}");
            assert_eq!(own.bytes().len(), 4 * own.count, "{kernel:?}");
            assert!(text.matches("struct Arguments").count() == 1, "{kernel:?}");
        }
        // The comparison must be able to fail.
        assert_ne!(names("struct Arguments {\n    // A comment.\n    b: u32,\n    a: u32,\n}"), ["a", "b"]);
    }

    #[test]
    fn modules_have_the_entry_points_and_bindings_that_kernels_say() {
        for kernel in all() {
            let shape = Shape { key: crate::key::KeyWords::Two, payload: true };
            let dispatch = Dispatch::new(kernel, 0, 256, shape, &Limits::WEBGPU).unwrap();
            let key = dispatch.pipeline();
            let (text, entry_point) = key.module();
            let (_, parameters) = text.split_once(&format!("fn {entry_point}(")).unwrap();
            assert!(parameters.trim_start().starts_with("place: Place,"), "{kernel:?}");
            let aux_buffers = key.bindings().aux_buffers;
            for (number, aux) in (ELEMENT_BINDINGS..).zip(aux_buffers) {
                let access = if aux.read_only { "read" } else { "read_write" };
                let declared = format!("@binding({number}) var<storage, {access}> {}:", aux.name);
                assert!(text.contains(&declared), "{kernel:?}");
            }
            assert_eq!(text.contains("last_swap"), aux_buffers == [LAST_SWAP], "{kernel:?}");
            assert_eq!(dispatch.aux_buffers().count(), aux_buffers.len());
        }
    }

    #[test]
    fn what_is_an_argument_makes_no_pipeline_of_its_own() {
        let key = |kernel: Kernel| {
            Dispatch::new(kernel, 0, 1 << 20, Shape::ALL[0], &Limits::WEBGPU).unwrap().pipeline()
        };
        let stride = |stride_log2| key(Step::Stride { stride_log2 }.into());
        assert_eq!(stride(3), stride(7));
        assert_ne!(stride(3), key(Step::Mirror { block_log2: 3 }.into()));
        let tile = FusedTile::new(4, 5, 1).unwrap();
        let strides = |low, count| {
            key(Fused { tile, work: FusedWork::Strides { tail: 3, low, count, mirrored: true } }.into())
        };
        assert_eq!(strides(12, 2), strides(14, 2));
        assert_ne!(strides(12, 2), strides(12, 3));
    }
}
