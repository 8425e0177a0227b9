//! The buffers of a sort on the device, made once: the elements and all other memory of the sort.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use gpusort_planner::kernels::Bindings;
use gpusort_planner::plan::{AuxBuffer, Plan, Shape};

use super::bindings::whole;
use super::device::Gpu;
use super::encode::{Memory, Side};
use super::timestamps::Timestamps;
use super::transfers::arrays::{Array, USAGE};
use super::transfers::readback::Readback;
use gpusort_base::error::Error;

/// Elements on the device, and the buffers that a sort of them needs there.
pub struct Buffers {
    n: u32,
    /// True if iota is written before the plan.
    pub(super) needs_iota: bool,
    /// The position that iota writes for the first element.
    pub(super) from: u32,
    /// The array that receives the upload.
    front: Array,
    /// The output of passes that do not work in place, if the plan has such passes.
    back: Option<Array>,
    /// The buffers that kernels bind beside elements.
    aux: Vec<(AuxBuffer, wgpu::Buffer)>,
    /// The bind groups of all plans so far.
    bind_groups: RefCell<HashMap<(Side, Bindings), wgpu::BindGroup>>,
    /// The side of the elements.
    pub(super) side: Cell<Side>,
    pub(super) timestamps: Option<Timestamps>,
}

impl Buffers {
    /// Buffers for the elements of this plan.
    ///
    /// # Errors
    ///
    /// Too little memory on the device.
    pub fn new(gpu: &Gpu, plan: &Plan) -> Result<Self, Error> {
        let context = &gpu.context;
        let array = |room| Array::new(context, room, plan.shape());
        let front = array(plan.room())?;
        let back = (plan.other_room() > 0).then(|| array(plan.other_room())).transpose()?;
        let aux =
            |&(aux, words): &(AuxBuffer, u64)| Ok((aux, context.buffer(aux.name, words.max(1) * 4, USAGE)?));
        let aux = plan.aux_buffers().iter().map(aux).collect::<Result<_, Error>>()?;
        let timestamps = Timestamps::new(context, 2)?;
        context.check()?;
        Ok(Self {
            n: plan.n(),
            needs_iota: plan.needs_iota(),
            from: 0,
            front,
            back,
            aux,
            bind_groups: RefCell::default(),
            side: Cell::new(Side::Front),
            timestamps,
        })
    }

    /// Returns true if these buffers have room for this plan's elements, and for all that the plan accesses.
    pub fn fit(&self, plan: &Plan) -> bool {
        let has = |(aux, words): &(AuxBuffer, u64)| {
            named(&self.aux, aux.name).is_some_and(|buffer| buffer.size() >= words * 4)
        };
        self.shape() == plan.shape()
            && self.front.room >= plan.room()
            && self.back.as_ref().map_or(0, |back| back.room) >= plan.other_room()
            && plan.aux_buffers().iter().all(has)
    }

    /// Makes the memory that a plan needs beside its elements, which are in the front array already.
    ///
    /// # Errors
    ///
    /// Too little memory on the device.
    ///
    /// # Panics
    ///
    /// If the array of the elements is too small.
    pub fn refit(&mut self, gpu: &Gpu, plan: &Plan) -> Result<(), Error> {
        let back = self.back.as_ref().map_or(0, |back| back.room);
        if back < plan.other_room() {
            self.back = Some(Array::new(&gpu.context, plan.other_room(), plan.shape())?);
        }
        for &(aux, words) in plan.aux_buffers() {
            if named(&self.aux, aux.name).is_none_or(|buffer| buffer.size() < words * 4) {
                self.aux.retain(|(other, _)| other.name != aux.name);
                self.aux.push((aux, gpu.context.buffer(aux.name, words.max(1) * 4, USAGE)?));
            }
        }
        self.bind_groups.borrow_mut().clear();
        self.resize(plan, 0);
        Ok(())
    }

    /// Sets the number of elements to this plan's, with positions from `from` on.
    ///
    /// # Panics
    ///
    /// If the plan does not [`fit`](Self::fit).
    pub fn resize(&mut self, plan: &Plan, from: u32) {
        assert!(self.fit(plan), "the plan is for other buffers");
        (self.n, self.needs_iota, self.from) = (plan.n(), plan.needs_iota(), from);
    }

    /// The number of elements.
    pub fn n(&self) -> u32 {
        self.n
    }

    /// The key and payload of an element.
    pub fn shape(&self) -> Shape {
        self.front.shape
    }

    /// The array of the elements.
    pub(super) fn array(&self) -> &Array {
        self.on(self.side.get())
    }

    /// Returns the array on this side; the front array if it is the only one.
    fn on(&self, side: Side) -> &Array {
        match (side, &self.back) {
            (Side::Back, Some(back)) => back,
            _ => &self.front,
        }
    }

    /// Clears the auxiliary buffers that must begin with zeros.
    pub(super) fn clear(&self, encoder: &mut wgpu::CommandEncoder) {
        let zeroed = self.aux.iter().filter(|(aux, _)| aux.zeroed);
        zeroed.for_each(|(_, buffer)| encoder.clear_buffer(buffer, 0, None));
    }

    pub(super) fn key_bytes(&self) -> u64 {
        u64::from(self.n) * self.shape().key_bytes()
    }

    /// The words of the auxiliary buffer of this name, after all that was submitted; `None` if no
    /// kernel binds it.
    ///
    /// # Errors
    ///
    /// Errors of the device or its driver.
    pub fn aux(&self, gpu: &Gpu, name: &str) -> Result<Option<Vec<u32>>, Error> {
        let Some(from) = named(&self.aux, name) else { return Ok(None) };
        let words = Readback::new(&gpu.context, from.size())?;
        words.read(&gpu.context, gpu.context.encoder(name), from).map(Some)
    }

    /// Brings the keys back, only the first keys if `keys` has room for no more.
    ///
    /// # Errors
    ///
    /// Errors of the device or its driver.
    pub fn download_keys(&self, gpu: &Gpu, keys: &mut [u8]) -> Result<(), Error> {
        gpu.download_to(&self.array().keys, keys)
    }

    /// Brings the keys back block by block and in order, as bytes of mapped memory. The next blocks are on their
    /// way while `take` has a block.
    ///
    /// # Errors
    ///
    /// Errors of the device or its driver; the first error of `take`.
    pub fn take_keys(&self, gpu: &Gpu, take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        gpu.download(&self.array().keys, self.key_bytes(), take)
    }

    /// Brings the positions back: for each place, the original position of its element; only the first positions
    /// if `positions` has room for no more.
    ///
    /// # Errors
    ///
    /// Errors of the device or its driver.
    ///
    /// # Panics
    ///
    /// If elements have no payload.
    pub fn download_positions(&self, gpu: &Gpu, positions: &mut [u32]) -> Result<(), Error> {
        assert!(self.shape().payload, "only a shape with positions has any");
        gpu.download_to(&self.array().payload, bytemuck::cast_slice_mut(positions))
    }
}

/// The buffer of this name.
fn named<'a>(aux_buffers: &'a [(AuxBuffer, wgpu::Buffer)], name: &str) -> Option<&'a wgpu::Buffer> {
    aux_buffers.iter().find(|(aux, _)| aux.name == name).map(|(_, buffer)| buffer)
}

impl Memory for Buffers {
    fn keys(&self, side: Side) -> wgpu::BufferBinding<'_> {
        whole(&self.on(side).keys)
    }

    fn payload(&self, side: Side) -> wgpu::BufferBinding<'_> {
        whole(&self.on(side).payload)
    }

    fn aux(&self, name: &str) -> wgpu::BufferBinding<'_> {
        whole(named(&self.aux, name).expect("the buffers fit the plan"))
    }

    fn group(
        &self,
        side: Side,
        bindings: Bindings,
        make: impl FnOnce() -> wgpu::BindGroup,
    ) -> wgpu::BindGroup {
        self.bind_groups.borrow_mut().entry((side, bindings)).or_insert_with(make).clone()
    }
}
