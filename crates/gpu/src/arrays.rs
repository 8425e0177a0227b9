//! The buffers that a plan's kernels work on, and the bind groups with them.
//!
//! ```text
//! front   keys, payload         where elements are uploaded to
//! back    keys, payload         for plans that cannot work in place: what is not done in place is written there
//! aux     by name               what kernels bind beside those
//! ```

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use gpusort_planner::kernels::{Bindings, PipelineKey};
use gpusort_planner::plan::{AuxBuffer, Plan, Shape};

use super::bindings::whole;
use super::context::Context;
use super::encode::{Memory, Side, new_group};
use super::pipelines::Pipelines;
use gpusort_base::error::Error;

/// The buffers of one array.
pub(super) struct Array {
    /// Elements that it has room for.
    pub(super) room: u32,
    pub(super) keys: wgpu::Buffer,
    /// A word that nobody uses, where elements have no payload; see `numbers` in `pipelines.rs`.
    pub(super) payload: wgpu::Buffer,
}

const USAGE: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

impl Array {
    pub(super) fn new(context: &Context, room: u32, shape: Shape) -> Result<Self, Error> {
        // A binding may not be empty.
        let elements = u64::from(room.max(1));
        let keys = context.buffer("keys", elements * shape.key_bytes(), USAGE, false)?;
        let payload = if shape.payload { elements } else { 1 };
        let payload = context.buffer("payload", payload * 4, USAGE, false)?;
        Ok(Self { room, keys, payload })
    }

    /// Copies this slice of elements to another array, from this place on.
    ///
    /// # Panics
    ///
    /// When one of the arrays has no such place.
    pub(super) fn copy(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        shape: Shape,
        slice: Range<usize>,
        to: &Self,
        place: usize,
    ) {
        assert!(
            slice.end <= self.room as usize && place + slice.len() <= to.room as usize,
            "outside of an array"
        );
        let mut copy = |from: &wgpu::Buffer, to: &wgpu::Buffer, each: u64| {
            let [begin, place, count] =
                [slice.start, place, slice.len()].map(|elements| elements as u64 * each);
            encoder.copy_buffer_to_buffer(from, begin, to, place, count);
        };
        copy(&self.keys, &to.keys, shape.key_bytes());
        if shape.payload {
            copy(&self.payload, &to.payload, 4);
        }
    }
}

/// What a plan needs on the device.
pub(super) struct Arrays {
    pub(super) shape: Shape,
    front: Array,
    back: Option<Array>,
    aux_buffers: Vec<(AuxBuffer, wgpu::Buffer)>,
    /// Made when they are first asked for.
    bind_groups: RefCell<HashMap<(Side, Bindings), wgpu::BindGroup>>,
}

impl Arrays {
    /// Arrays for the elements of this plan.
    pub(super) fn new(context: &Context, plan: &Plan) -> Result<Self, Error> {
        let shape = plan.shape();
        let array = |room| Array::new(context, room, shape);
        let front = array(plan.room())?;
        let back = (plan.other_room() > 0).then(|| array(plan.other_room())).transpose()?;
        let aux = |(aux, words): &(AuxBuffer, u64)| {
            Ok((*aux, context.buffer(aux.name, (*words).max(1) * 4, USAGE, false)?))
        };
        let aux_buffers = plan.aux_buffers().iter().map(aux).collect::<Result<_, Error>>()?;
        Ok(Self { shape, front, back, aux_buffers, bind_groups: RefCell::default() })
    }

    /// Whether they are for elements of this plan, and all that it accesses.
    pub(super) fn fit(&self, plan: &Plan) -> bool {
        let has = |(aux, words): &(AuxBuffer, u64)| {
            self.aux_buffers.iter().any(|(own, buffer)| own.name == aux.name && buffer.size() >= words * 4)
        };
        self.shape == plan.shape()
            && self.front.room >= plan.room()
            && self.back.as_ref().map_or(0, |back| back.room) >= plan.other_room()
            && plan.aux_buffers().iter().all(has)
    }

    /// The array on this side; the front one, where there is no other.
    pub(super) fn array(&self, side: Side) -> &Array {
        match (side, &self.back) {
            (Side::Back, Some(back)) => back,
            _ => &self.front,
        }
    }

    /// The buffer of this name.
    pub(super) fn aux(&self, name: &str) -> Option<&wgpu::Buffer> {
        self.aux_buffers.iter().find(|(aux, _)| aux.name == name).map(|(_, buffer)| buffer)
    }

    /// Those that begin with zeros.
    pub(super) fn zeroed(&self) -> impl Iterator<Item = &wgpu::Buffer> {
        self.aux_buffers.iter().filter(|(aux, _)| aux.zeroed).map(|(_, buffer)| buffer)
    }
}

impl Memory for Arrays {
    fn keys(&self, side: Side) -> wgpu::BufferBinding<'_> {
        whole(&self.array(side).keys)
    }

    fn payload(&self, side: Side) -> wgpu::BufferBinding<'_> {
        whole(&self.array(side).payload)
    }

    fn aux(&self, name: &str) -> wgpu::BufferBinding<'_> {
        whole(self.aux(name).expect("the arrays fit the plan"))
    }

    fn group(&self, pipelines: &Pipelines, side: Side, key: PipelineKey) -> wgpu::BindGroup {
        let mut groups = self.bind_groups.borrow_mut();
        let make = || new_group(self, pipelines, side, key);
        groups.entry((side, key.bindings())).or_insert_with(make).clone()
    }
}
