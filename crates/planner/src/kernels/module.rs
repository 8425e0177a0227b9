//! The WGSL of a kernel, and the buffers that it binds.
//!
//! Each kernel is written once for all four shapes of element. Its module is assembled from files, as text:
//!
//! ```text
//! constants      numbers for this kernel
//! common.wgsl    numbers of workgroup and invocation
//! arguments_*    the place of arguments; for a caller's elements also callers/: conversion to keys
//! key_*.wgsl     the type of a key, by one file of two
//! element_*.wgsl the element with its bindings 0 to 3, by one file of two
//! aux buffers    the kernel's other buffers, bindings from 4 on in the kernel's order
//! the kernel     loops that must be unrolled written out
//! ```
//!
//! WGSL takes declarations in any order, so joining text is all that a preprocessor would do here: constants
//! alone cannot give a type a second field or omit a binding. WGSL also cannot guarantee that a loop is
//! unrolled; `unroll.rs` unrolls the loops.
//!
//! Arguments differ between dispatches. They travel as immediates, so that a sort is one list of commands
//! with few changes of pipeline. Arguments lie in a buffer if the device knows values that the host does
//! not, or has no immediates. The file `arguments_*.wgsl` makes this choice. In sorts that a caller records,
//! the files in `callers/` convert elements to keys.

use std::fmt::Write;

use gpusort_shaders::wgsl;

use super::unroll::unroll;
use super::{AuxBuffer, Kernel, Keys, Module, Shape};
use crate::error::Error;
use crate::limits::Limits;

/// The bindings of keys and payload in both arrays; the bindings of auxiliary buffers follow.
pub const ELEMENT_BINDINGS: u32 = 4;

/// The buffers that a kernel binds beside the keys of its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bindings {
    /// Positions.
    pub payload: bool,
    /// The other array.
    pub other: bool,
    /// The kernel's own buffers.
    pub aux_buffers: &'static [AuxBuffer],
}

/// The properties of a pipeline: dispatches with equal properties share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PipelineKey {
    pub(super) kernel: Kernel,
    pub(super) shape: Shape,
    pub(super) workgroup_size: u32,
    pub(super) other: bool,
    pub(super) keys: Keys,
}

impl PipelineKey {
    /// Returns this pipeline for elements in slices that begin anywhere.
    #[must_use]
    pub fn of_slices(self) -> Self {
        Self { keys: self.keys.transform().map_or(Keys::Own, Keys::Slices), ..self }
    }

    /// Returns true if the pipeline's arguments lie on the device, in a bind group of their own.
    pub fn has_group(&self) -> bool {
        self.keys.are_slices()
    }

    /// Returns the number of invocations in a workgroup.
    pub fn workgroup_size(&self) -> u32 {
        self.workgroup_size
    }

    /// # Errors
    ///
    /// Fails if the kernel does not fit the subgroups of a device with these limits: its plan may have been
    /// made for another device.
    pub fn check(&self, limits: &Limits) -> Result<(), Error> {
        self.kernel.check_subgroups(limits)
    }

    /// Returns the bound buffers.
    pub fn bindings(&self) -> Bindings {
        let aux_buffers = self.kernel.spec().aux_buffers();
        Bindings { payload: self.shape.payload, other: self.other, aux_buffers }
    }

    /// Returns the text of the module, and the name of its entry point.
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
