//! The device memory of recorded sorts, made once and used by any number of them in turn.

use std::sync::Arc;

use gpusort_planner::kernels::{SEGMENT_CLASSES, SEGMENT_LIST, SEGMENT_OFFSETS, SEGMENT_TILES, Select};
use gpusort_planner::plan::{AuxBuffer, Callers, Plan, merged};

use super::segments::{self, segments_bytes};
use super::{ALIGNMENT, ARGUMENTS, Recorder, SLICES};
use crate::error::Error;
use crate::gpu::bindings::{begin_of, bind_group, whole};

/// Bytes that are bound where there is nothing.
const NOTHING: u64 = 4;

/// What memory is for, beside sorts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uses {
    pub(crate) argsort: bool,
    pub(crate) segments: bool,
}

/// Memory for sorts of up to so many elements.
pub(crate) struct Scratch {
    owner: Arc<()>,
    pub(crate) capacity: u32,
    pub(super) keys: wgpu::Buffer,
    /// Where the keys of an argsort are; none if there are to be none.
    pub(super) copies: Option<wgpu::Buffer>,
    /// None where no sort has payload.
    payload: Option<wgpu::Buffer>,
    /// A word, bound where there is nothing.
    nothing: wgpu::Buffer,
    aux_buffers: Vec<(&'static str, wgpu::Buffer)>,
    pub(super) parameters: wgpu::Buffer,
    pub(super) arguments: wgpu::BindGroup,
    pub(super) sort: Planned,
    pub(super) argsort: Option<Planned>,
    /// What is known of segments, as `segments.wgsl` has it; none if there are to be none.
    pub(super) segments: Option<wgpu::Buffer>,
    pub(crate) bytes: u64,
}

/// A plan, with what does not change from one sort by it to the next.
pub(super) struct Planned {
    pub(super) plan: Plan,
    /// As `Fixed` in `prepare.wgsl`.
    pub(super) fixed: wgpu::Buffer,
}

impl Scratch {
    pub(super) fn nothing(&self) -> wgpu::BufferBinding<'_> {
        whole(&self.nothing)
    }

    pub(super) fn payload(&self) -> wgpu::BufferBinding<'_> {
        whole(self.payload.as_ref().unwrap_or(&self.nothing))
    }

    /// The buffer that kernels have by this name, if the plans have one.
    pub(super) fn aux(&self, name: &str) -> wgpu::BufferBinding<'_> {
        let found = self.aux_buffers.iter().find(|(known, _)| *known == name);
        whole(found.map_or(&self.nothing, |(_, buffer)| buffer))
    }
}

/// Bytes of its buffers.
struct Sizes {
    keys: u64,
    copies: Option<u64>,
    payload: Option<u64>,
    parameters: u64,
    segments: Option<u64>,
    fixed: u64,
    aux_buffers: Vec<(&'static str, u64)>,
}

impl Sizes {
    fn sum(&self) -> u64 {
        let some = [self.copies, self.payload, self.segments];
        let aux_buffers = self.aux_buffers.iter().map(|&(_, bytes)| bytes);
        let all = some.into_iter().flatten().chain(aux_buffers);
        self.keys + self.parameters + self.fixed + NOTHING + all.sum::<u64>()
    }
}

/// The plans for the most elements.
struct Plans {
    sort: Plan,
    argsort: Option<Plan>,
    segments: Option<Plan>,
}

impl Plans {
    fn all(&self) -> impl Iterator<Item = &Plan> {
        [Some(&self.sort), self.argsort.as_ref(), self.segments.as_ref()].into_iter().flatten()
    }
}

impl Recorder {
    /// Whether memory was made by this recorder.
    pub(crate) fn owns(&self, scratch: &Scratch) -> bool {
        Arc::ptr_eq(&scratch.owner, &self.identity)
    }

    /// Bytes of [`Self::scratch`].
    pub(crate) fn scratch_bytes(&self, capacity: u32) -> Result<u64, Error> {
        Ok(self.sizes(&self.plans(capacity)?).sum())
    }

    fn plans(&self, capacity: u32) -> Result<Plans, Error> {
        let limits = &self.context.info.limits;
        let segments = || self.sort.segments(capacity, limits, false, false);
        Ok(Plans {
            sort: self.sort.sort(capacity, limits)?,
            argsort: self.uses.argsort.then(|| self.argsort.sort(capacity, limits)).transpose()?,
            segments: self.uses.segments.then(segments).transpose()?,
        })
    }

    /// What these plans need.
    fn sizes(&self, plans: &Plans) -> Sizes {
        let shape = plans.sort.shape();
        let elements = u64::from(plans.all().map(Plan::other_room).max().unwrap_or(0));
        let keys = elements * shape.key_bytes();
        let has_payload = plans.all().any(|plan| plan.shape().payload);
        let aux_buffers = merged(plans.all().flat_map(Plan::aux_buffers).copied()).into_iter();
        let aux_buffers = aux_buffers.map(|(AuxBuffer { name, .. }, words)| (name, 4 * words));
        // These are bound from elsewhere.
        let aux_buffers =
            aux_buffers.filter(|(name, _)| ![SEGMENT_LIST.name, SEGMENT_OFFSETS.name].contains(name));
        let mut aux_buffers: Vec<_> = aux_buffers.collect();
        // What finds segments binds these also where so few elements have none for them.
        for (AuxBuffer { name, .. }, least) in [(SEGMENT_TILES, 16), (SEGMENT_CLASSES, 256)] {
            if plans.segments.is_some() && !aux_buffers.iter().any(|(known, _)| *known == name) {
                aux_buffers.push((name, least));
            }
        }
        let top = self.sort.top(1, plans.sort.n(), &self.context.info.limits);
        if top.is_ok_and(|plan| plan.is_some()) {
            aux_buffers.extend(Select::ROOM);
        }
        let slots = self.sort.transform.digits() + 3 + segments::MOST_GROUPS;
        let bytes = |plan: &Plan| segments_bytes(plan.n(), &self.context.info.limits);
        Sizes {
            keys,
            copies: plans.argsort.as_ref().map(|_| keys),
            payload: has_payload.then_some(elements * 4),
            parameters: u64::from(slots) * ALIGNMENT,
            segments: plans.segments.as_ref().map(bytes),
            fixed: 16 * (1 + u64::from(plans.argsort.is_some())),
            aux_buffers,
        }
    }

    /// Memory for sorts of up to `capacity` elements.
    pub(crate) fn scratch(&self, capacity: u32) -> Result<Scratch, Error> {
        self.context.scoped(|context| {
            let plans = self.plans(capacity)?;
            let sizes = self.sizes(&plans);
            let storage = wgpu::BufferUsages::STORAGE;
            let buffer = |name, bytes| context.buffer(&format!("gpusort {name}"), bytes, storage, false);
            let uniform = wgpu::BufferUsages::UNIFORM;
            let parameters =
                context.buffer("gpusort parameters", sizes.parameters, storage | uniform, false)?;
            let planned = |callers: &Callers, plan: Plan| {
                let chunk = callers.tuning.chunk(plan.n());
                let fixed = [capacity, callers.tuning.tile.size(), chunk, callers.transform.digits()];
                let fixed = context.filled("gpusort fixed", bytemuck::cast_slice(&fixed), uniform)?;
                Ok::<_, Error>(Planned { plan, fixed })
            };
            Ok(Scratch {
                owner: Arc::clone(&self.identity),
                capacity,
                keys: buffer("keys", sizes.keys)?,
                copies: sizes.copies.map(|bytes| buffer("copied keys", bytes)).transpose()?,
                payload: sizes.payload.map(|bytes| buffer("positions", bytes)).transpose()?,
                nothing: buffer("nothing", NOTHING)?,
                aux_buffers: (sizes.aux_buffers.iter())
                    .map(|&(name, bytes)| Ok((name, buffer(name, bytes)?)))
                    .collect::<Result<_, Error>>()?,
                arguments: bind_group(
                    &context.device,
                    "gpusort arguments",
                    &self.arguments,
                    [(0, begin_of(&parameters, ARGUMENTS)), (1, begin_of(&parameters, SLICES))],
                ),
                parameters,
                sort: planned(&self.sort, plans.sort)?,
                argsort: plans.argsort.map(|plan| planned(&self.argsort, plan)).transpose()?,
                segments: sizes.segments.map(|bytes| buffer("segments", bytes)).transpose()?,
                bytes: sizes.sum(),
            })
        })
    }
}
