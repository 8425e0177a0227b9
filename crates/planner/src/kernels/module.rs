//! The WGSL of a kernel, and the buffers that it binds.
//!
//! Each kernel is written once and serves all four shapes of element. Its module is put together
//! from files, as text:
//!
//! ```text
//! constants      numbers that the kernel is made for
//! common.wgsl    numbers of workgroup and invocation
//! arguments_*    where arguments are; of a caller's elements also callers/: how they become keys
//! key_*.wgsl     one file of two that say what a key is
//! element_*.wgsl one file of two that say what an element is, with its bindings 0 to 3
//! aux buffers    the kernel's other buffers, bindings from 4 on in the order in which it lists them
//! the kernel     loops that must be unrolled written out
//! ```
//!
//! WGSL takes declarations in any order, so that is all a preprocessor would have to do here:
//! constants alone cannot give a type a second field or leave a binding out. What WGSL lacks is
//! loops that are certain to be unrolled; `unroll.rs` supplies them.
//!
//! What differs between dispatches are arguments. They travel as immediates, so that a sort is one
//! list of commands with few changes of pipeline; where the device knows what the host does not, or
//! has no immediates, they lie in a buffer. The file `arguments_*.wgsl` says which; in sorts that a
//! caller records, those in `callers/` say how elements become keys.

use std::fmt::Write;

use gpusort_shaders::wgsl;

use super::segments::SEGMENT_OFFSETS;
use super::unroll::unroll;
use super::{AuxBuffer, Kernel, KeyTransform, Keys, Module, Shape};
use crate::error::Error;
use crate::limits::Limits;

/// The bindings of keys, payload, and of both in the other array; those of auxiliary buffers
/// follow.
pub const ELEMENT_BINDINGS: u32 = 4;

/// The buffers that a kernel binds beside the keys of the array that it works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bindings {
    /// Positions.
    pub payload: bool,
    /// The other array.
    pub other: bool,
    /// Buffers of the kernel's own.
    pub aux_buffers: &'static [AuxBuffer],
}

/// What distinguishes one pipeline from another: dispatches alike in this share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PipelineKey {
    kernel: Kernel,
    shape: Shape,
    workgroup_size: u32,
    other: bool,
    keys: Keys,
}

impl PipelineKey {
    pub(super) fn new(kernel: Kernel, shape: Shape, workgroup_size: u32, other: bool) -> Self {
        Self { kernel: kernel.spec().without_arguments(), shape, workgroup_size, other, keys: Keys::Own }
    }

    /// The same on a caller's elements.
    pub(super) fn transformed_by(self, transform: KeyTransform) -> Self {
        Self { keys: Keys::Elements(transform), ..self }
    }

    /// The same for elements in slices that begin anywhere.
    #[must_use]
    pub fn of_slices(self) -> Self {
        Self { keys: self.keys.transform().map_or(Keys::Own, Keys::Slices), ..self }
    }

    /// Whether its arguments lie on the device, in a group of their own.
    pub fn has_group(&self) -> bool {
        self.keys.are_slices()
    }

    /// Invocations in a workgroup.
    pub fn workgroup_size(&self) -> u32 {
        self.workgroup_size
    }

    /// # Errors
    ///
    /// A device with these limits has subgroups that the text is not for. A plan may have been made
    /// for another.
    pub fn check(&self, limits: &Limits) -> Result<(), Error> {
        self.kernel.check_subgroups(limits)
    }

    /// Whether it reads places in arrays from a buffer of the caller's.
    pub fn reads_offsets(&self) -> bool {
        self.kernel.spec().aux_buffers().contains(&SEGMENT_OFFSETS)
    }

    /// The buffers that are bound.
    pub fn bindings(&self) -> Bindings {
        let aux_buffers = self.kernel.spec().aux_buffers();
        Bindings { payload: self.shape.payload, other: self.other, aux_buffers }
    }

    /// The whole text of the module, and the function in it that is run.
    pub fn module(&self) -> (String, &'static str) {
        let Module { entry_point, mut constants, text: kernel } =
            self.kernel.spec().module(self.shape, self.keys);
        constants.insert(0, ("WORKGROUP_SIZE", self.workgroup_size));
        let key = wgsl(&format!("key_{}", self.shape.key_words()));
        let element = if self.shape.payload { wgsl("element_payload") } else { wgsl("element_key") };
        let mut text = super::constants(&constants);
        for (binding, aux) in (ELEMENT_BINDINGS..).zip(self.bindings().aux_buffers) {
            let AuxBuffer { name, wgsl_type, .. } = aux;
            let access = if aux.read_only { "read" } else { "read_write" };
            let _ =
                writeln!(text, "@group(0) @binding({binding}) var<storage, {access}> {name}: {wgsl_type};");
        }
        let kernel = unroll(&kernel, &constants);
        for part in [wgsl("common"), &self.keys.text(), key, element, &kernel] {
            text.push_str(part);
        }
        (text, entry_point)
    }
}
