//! The device memory of recorded sorts: allocated once, and reused by any number of sorts.

use std::sync::Arc;

use gpusort_order::{Limits, Variant};
use gpusort_planner::kernels::{SEGMENT_CLASSES, SEGMENT_LIST, SEGMENT_OFFSETS, SEGMENT_TILES, Select};
use gpusort_planner::plan::{
    AuxBuffer, CallerPlans, KeyTransform, LEADING_FROM, MOST_GROUPS, Narrow, Plan, merged, segments_words,
    unique_words,
};

use super::{ALIGNMENT, ARGUMENTS, Recorder, SLICES, Slice, group_slot};
use crate::bindings::{begin_of, bind_group, whole};
use gpusort_base::error::Error;

/// Bytes of the placeholder, bound in place of absent buffers.
const PLACEHOLDER_BYTES: u64 = 4;

/// The elements and the operations of a recorder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The map from elements, or from widened narrow elements, to keys.
    pub(crate) transform: KeyTransform,
    /// The elements, if they are narrow.
    pub(crate) narrow: Option<Narrow>,
    /// True if elements have a payload word.
    pub(crate) payload: bool,
    /// True if the scratch also serves an argsort.
    pub(crate) argsort: bool,
    /// True if the scratch also serves segments.
    pub(crate) segments: bool,
    /// The requested variant of the radix sort.
    pub(crate) variant: Option<Variant>,
}

/// Memory for sorts of up to `capacity` elements.
pub(crate) struct Scratch {
    owner: Arc<()>,
    pub(crate) capacity: u32,
    /// Buffers by name: `keys`; `copied keys`, for an argsort and for narrow elements; `positions`,
    /// if any sort has a payload; `segments`, laid out as in `segments.wgsl`; `unique tiles`, as in
    /// `unique.wgsl`; and the auxiliary buffers of kernels, by their own names.
    buffers: Vec<(&'static str, wgpu::Buffer)>,
    /// The placeholder: a word, bound in place of absent buffers.
    pub(super) placeholder: wgpu::Buffer,
    pub(super) parameters: wgpu::Buffer,
    pub(super) arguments: wgpu::BindGroup,
    pub(super) sort: CachedPlans,
    pub(super) argsort: Option<CachedPlans>,
    pub(crate) bytes: u64,
}

/// Plans, with data that all sorts by them share.
pub(super) struct CachedPlans {
    /// The plans, each with its most elements, in ascending order.
    pub(super) plans: Vec<(u32, Plan)>,
    /// The struct `Fixed` of `prepare.wgsl`.
    pub(super) fixed: wgpu::Buffer,
}

impl Scratch {
    /// Returns true if wgpu compares a buffer equal to one of the workspace: the caller's buffer
    /// then belongs to another wgpu instance.
    pub(crate) fn holds(&self, buffer: &wgpu::Buffer) -> bool {
        *buffer == self.placeholder || self.buffers.iter().any(|(_, own)| own == buffer)
    }

    /// The buffer of this name.
    pub(super) fn find(&self, name: &str) -> Option<&wgpu::Buffer> {
        self.buffers.iter().find(|(known, _)| *known == name).map(|(_, buffer)| buffer)
    }

    /// Binds the buffer of this name, or the placeholder.
    pub(super) fn named(&self, name: &str) -> wgpu::BufferBinding<'_> {
        whole(self.find(name).unwrap_or(&self.placeholder))
    }

    /// Binds a caller's slice, or the placeholder.
    pub(super) fn bound<'a>(&'a self, slice: Option<Slice<'a>>) -> wgpu::BufferBinding<'a> {
        slice.map_or_else(|| whole(&self.placeholder), Slice::binding)
    }
}

/// The settings of plans for sorts, and for argsorts.
pub(super) struct Planners {
    pub(super) sort: CallerPlans,
    /// Set if the recorder makes argsorts.
    pub(super) argsort: Option<CallerPlans>,
    settings: Settings,
}

/// The plans for a capacity, and the memory that they need.
struct Plans {
    sort: Vec<(u32, Plan)>,
    argsort: Option<Vec<(u32, Plan)>>,
    /// The buffers of these plans, with their bytes.
    buffers: Vec<(&'static str, u64)>,
    /// Bytes of all memory.
    bytes: u64,
}

impl Planners {
    pub(super) fn new(settings: Settings, limits: &Limits) -> Result<Self, Error> {
        let callers = |payload| CallerPlans::new(settings.transform, payload, settings.variant, limits);
        let argsort = settings.argsort.then(|| callers(true)).transpose()?;
        Ok(Self { sort: callers(settings.payload)?, argsort, settings })
    }

    fn parameter_bytes(&self) -> u64 {
        u64::from(group_slot(self.sort.transform.digits(), MOST_GROUPS)) * ALIGNMENT
    }

    fn plans(&self, capacity: u32) -> Result<Plans, Error> {
        let limits = &self.sort.limits;
        let sort = self.sort.sorts(capacity)?;
        let argsort = self.argsort.map(|callers| callers.sorts(capacity)).transpose()?;
        let segments = || self.sort.segments(capacity, false, &(0..=capacity));
        let segments = self.settings.segments.then(segments).transpose()?;
        let all = || sort.iter().chain(argsort.iter().flatten()).map(|(_, plan)| plan).chain(&segments);

        let elements = u64::from(all().map(Plan::other_room).max().unwrap_or(0));
        let keys = elements * self.sort.shape.key_bytes();
        let mut buffers = vec![("keys", keys)];
        buffers.push(("unique tiles", 4 * unique_words(elements)));
        buffers
            .extend((self.settings.narrow.is_some() || argsort.is_some()).then_some(("copied keys", keys)));
        buffers.extend(all().any(|plan| plan.shape().payload).then_some(("positions", 4 * elements)));
        buffers.extend(segments.as_ref().map(|plan| ("segments", 4 * segments_words(plan.n(), limits))));
        let aux_buffers = merged(all().flat_map(Plan::aux_buffers).copied()).into_iter();
        let aux_buffers = aux_buffers.map(|(AuxBuffer { name, .. }, words)| (name, 4 * words));
        // The recorder binds these two from elsewhere.
        buffers.extend(
            aux_buffers.filter(|(name, _)| ![SEGMENT_LIST.name, SEGMENT_OFFSETS.name].contains(name)),
        );
        // The segment finder binds these two even if a plan for few elements has no such buffers.
        for (AuxBuffer { name, .. }, least) in [(SEGMENT_TILES, 16), (SEGMENT_CLASSES, 256)] {
            if segments.is_some() && !buffers.iter().any(|(known, _)| *known == name) {
                buffers.push((name, least));
            }
        }
        if self.sort.top(1, capacity.max(2)).is_ok_and(|plan| plan.is_some()) {
            buffers.extend(Select::ROOM);
        }
        let fixed = 16 * (1 + u64::from(argsort.is_some()));
        let bytes = buffers.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let bytes = bytes + PLACEHOLDER_BYTES + self.parameter_bytes() + fixed;
        Ok(Plans { sort, argsort, buffers, bytes })
    }
}

/// The most bytes, on any device, of memory for sorts of up to `capacity` elements of this type.
pub(crate) fn most_bytes(settings: Settings, capacity: u32) -> Result<u64, Error> {
    // These limits give the smallest tiles, so the most tiles; the state of a tile has one size on
    // all devices.
    let limits = Limits { binding_bytes: u64::MAX, buffer_bytes: u64::MAX, ..Limits::WEBGPU };
    let bytes = |variant| {
        let planners = Planners::new(Settings { variant: Some(variant), ..settings }, &limits)?;
        planners.plans(capacity).map(|plans| plans.bytes)
    };
    let most = bytes(Variant::Onesweep)?.max(bytes(Variant::ReduceScan)?);
    let leads = capacity >= LEADING_FROM || settings.variant == Some(Variant::Leading);
    Ok(if leads { most.max(bytes(Variant::Leading)?) } else { most })
}

impl Recorder {
    /// Returns true if this recorder made the memory.
    pub(crate) fn owns(&self, scratch: &Scratch) -> bool {
        Arc::ptr_eq(&scratch.owner, &self.identity)
    }

    /// Bytes of [`Self::scratch`].
    pub(crate) fn scratch_bytes(&self, capacity: u32) -> Result<u64, Error> {
        self.planners.plans(capacity).map(|plans| plans.bytes)
    }

    /// Allocates memory for sorts of up to `capacity` elements.
    pub(crate) fn scratch(&self, capacity: u32) -> Result<Scratch, Error> {
        self.context.scoped(|context| {
            let plans = self.planners.plans(capacity)?;
            let (storage, uniform) = (wgpu::BufferUsages::STORAGE, wgpu::BufferUsages::UNIFORM);
            let buffer = |name, bytes| context.buffer(name, bytes, storage);
            let named = |&(name, bytes): &(&'static str, u64)| Ok((name, buffer(name, bytes)?));
            let bytes = self.planners.parameter_bytes();
            let parameters = context.buffer("parameters", bytes, storage | uniform)?;
            let planned = |callers: &CallerPlans, plans: Vec<(u32, Plan)>| {
                plans.last().map_or(Ok(()), |(_, plan)| self.compile(plan))?;
                let chunk = callers.chunk(capacity.max(2));
                let fixed = [capacity, callers.tuning.tile.size(), chunk, callers.transform.digits()];
                let fixed = context.filled("fixed", bytemuck::cast_slice(&fixed), uniform)?;
                Ok::<_, Error>(CachedPlans { plans, fixed })
            };
            let argsort = self.planners.argsort.as_ref().zip(plans.argsort);
            Ok(Scratch {
                owner: Arc::clone(&self.identity),
                capacity,
                arguments: bind_group(
                    &context.device,
                    "arguments",
                    (&self.copy, 1),
                    [(0, begin_of(&parameters, ARGUMENTS)), (1, begin_of(&parameters, SLICES))],
                ),
                sort: planned(&self.planners.sort, plans.sort)?,
                argsort: argsort.map(|(callers, plans)| planned(callers, plans)).transpose()?,
                buffers: plans.buffers.iter().map(named).collect::<Result<_, Error>>()?,
                placeholder: buffer("nothing", PLACEHOLDER_BYTES)?,
                parameters,
                bytes: plans.bytes,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use gpusort_order::Subgroups;
    use gpusort_order::key::ElementType;

    use super::*;

    #[test]
    fn no_device_takes_more_than_the_most() {
        let subgroups = |smallest, largest, barrier| Some(Subgroups { smallest, largest, barrier });
        let subgroups = [None, subgroups(4, 128, false), subgroups(8, 8, true), subgroups(32, 32, true)];
        let limits = subgroups.into_iter().flat_map(|subgroups| {
            [(16, false), (16, true), (32, false), (48, true), (64, false)].map(
                |(kilobytes, fifo_dispatch)| {
                    let workgroup_bytes = kilobytes << 10;
                    Limits { subgroups, workgroup_bytes, fifo_dispatch, ..Limits::TYPICAL }
                },
            )
        });
        let limits: Vec<Limits> = limits.collect();
        let uses = [(false, false), (true, false), (false, true), (true, true)];
        for (element, bits) in [(ElementType::U32, 32), (ElementType::F64, 64)] {
            let transform = KeyTransform { element, descending: false, begin: 0, bits };
            for (payload, (argsort, segments)) in
                [false, true].into_iter().flat_map(|it| uses.map(|uses| (it, uses)))
            {
                for capacity in [1, 2, 1000, 70_001, 1 << 20, 3_333_333, 1 << 24] {
                    for variant in [None, Some(Variant::Leading)] {
                        let settings =
                            Settings { transform, narrow: None, payload, argsort, segments, variant };
                        let most = most_bytes(settings, capacity).unwrap();
                        for limits in &limits {
                            let planners = Planners::new(settings, limits).unwrap();
                            let bytes = planners.plans(capacity).unwrap().bytes;
                            assert!(bytes <= most, "{bytes} of {most}: {settings:?} {capacity} {limits:?}");
                        }
                    }
                }
            }
        }
    }
}
