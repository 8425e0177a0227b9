//! Finds segments on the device, before the passes that sort them.
//!
//! ```text
//! offsets      [begin] [classify] ┐
//!                                 ├ [fill]   lists short segments and tiles of long ones; writes arguments
//! equal rows   [number rows] ─────┘
//! offsets of short segments    [begin] [check]
//! ```

use gpusort_order::Limits;
use gpusort_planner::plan::{Callers, most_long_segments, segments_text};

use super::{Recorder, Scratch, Slice, Sort, begin_pass};
use crate::bindings::{bind_group, layout, pipeline, storage, whole};
use gpusort_base::error::Error;

/// Invocations in a workgroup.
const WORKGROUP: u32 = 256;

/// The most workgroups of `fill`; each loops over several long segments.
const MOST_FILLING: u32 = 264;

/// The ranges of the segments.
#[derive(Clone, Copy)]
pub(crate) enum Ranges<'a> {
    /// Rows of this length, longer than a tile.
    Long(u32),
    /// Ranges between at least two offsets; and the least and the most elements of a segment to sort.
    Offsets(Slice<'a>, (u32, u32)),
}

/// The kernels that find segments, and the layouts of their buffers.
pub(super) struct Finder {
    found: wgpu::BindGroupLayout,
    filled: wgpu::BindGroupLayout,
    begin: wgpu::ComputePipeline,
    classify: wgpu::ComputePipeline,
    number_rows: wgpu::ComputePipeline,
    fill: wgpu::ComputePipeline,
    check: wgpu::ComputePipeline,
}

impl Finder {
    pub(super) fn new(
        device: &wgpu::Device,
        callers: &Callers,
        limits: &Limits,
        bytes: &wgpu::BindGroupLayout,
        cache: Option<&wgpu::PipelineCache>,
    ) -> Result<Self, Error> {
        let text = segments_text(callers, limits)?;
        let of_all = [0, 1, 2, 3, 7].map(|binding| storage(binding, binding == 2));
        let found = layout(device, "segments found", &of_all);
        let of_long = [0, 4, 5, 6, 7, 8].map(|binding| storage(binding, false));
        let filled = layout(device, "segments", &of_long);
        let kernel = |name, layout| pipeline(device, name, text.clone(), &[Some(layout), Some(bytes)], cache);
        Ok(Self {
            begin: kernel("begin", &found),
            classify: kernel("classify", &found),
            number_rows: kernel("number_rows", &filled),
            fill: kernel("fill", &filled),
            check: kernel("check", &found),
            found,
            filled,
        })
    }
}

impl Recorder {
    /// Records sorts of segments.
    ///
    /// # Errors
    ///
    /// Scratch without memory for segments; more offsets than one dispatch takes; errors of the
    /// device while it makes a pipeline.
    pub(super) fn record_segments(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        scratch: &Scratch,
        sort: &Sort,
        ranges: Ranges,
    ) -> Result<(), Error> {
        let lacks = || Error::lacks("memory for segments");
        let (finder, found) = self.finder.as_ref().zip(scratch.find("segments")).ok_or_else(lacks)?;
        let lengths = match ranges {
            Ranges::Long(length) => length..=length,
            Ranges::Offsets(_, (least, most)) => least..=most,
        };
        let (device, limits, n) = (&self.context.device, &self.context.info.limits, sort.most);
        let callers = &self.kinds.sort;
        let segments = |offsets: Slice| u32::try_from(offsets.len - 1).unwrap_or(u32::MAX);
        let in_order = match ranges {
            Ranges::Long(_) => None,
            Ranges::Offsets(offsets, (_, longest)) => {
                callers.short_segments(n, limits, sort.iota, segments(offsets), longest)?
            }
        };
        let is_short = in_order.is_some();
        let plan = match in_order {
            Some(plan) => plan,
            None => callers.segments(n, limits, sort.iota, &lengths)?,
        };
        self.pipelines.make(plan.distinct_dispatches().map(|dispatch| dispatch.pipeline().of_slices()))?;
        let mut pass = begin_pass(encoder, "gpusort segments");
        let filled = bind_group(
            device,
            "gpusort segments",
            &finder.filled,
            [
                (0, whole(found)),
                (4, scratch.named("segment_tiles")),
                (5, scratch.named("histograms")),
                (6, scratch.named("varying_bits")),
                (7, whole(&scratch.parameters)),
                (8, scratch.named("segment_classes")),
            ],
        );
        let mut dispatch = |pipeline: &_, group: &_, workgroups, host| {
            self.dispatch_with_host_parameters(&mut pass, pipeline, group, workgroups, (n, host))
        };
        let first_key = sort.keys.first();
        let first_payload = sort.payload.as_ref().map_or(0, Slice::first);
        let iota = u32::from(sort.iota);
        let of_each = |number: u32| number.div_ceil(WORKGROUP).max(1);
        let first_offset = match ranges {
            Ranges::Long(length) => {
                let host = length.to_le_bytes().map(u32::from);
                dispatch(&finder.number_rows, &filled, of_each(n / length.max(1)), host)?;
                0
            }
            Ranges::Offsets(offsets, _) => {
                let positions = sort.payload.as_ref().filter(|_| sort.iota);
                let group = bind_group(
                    device,
                    "gpusort segments found",
                    &finder.found,
                    [
                        (0, whole(found)),
                        (1, scratch.named("keys")),
                        (2, offsets.binding()),
                        (3, scratch.bound(positions)),
                        (7, whole(&scratch.parameters)),
                    ],
                );
                dispatch(&finder.begin, &group, 1, [0; 4])?;
                let workgroups = of_each(segments(offsets));
                if is_short {
                    let host = [offsets.first(), first_key, first_payload, 0];
                    dispatch(&finder.check, &group, workgroups, host)?;
                } else {
                    let host = [offsets.first(), first_payload, iota, 0];
                    dispatch(&finder.classify, &group, workgroups, host)?;
                }
                offsets.first()
            }
        };
        if !is_short {
            let long = if *lengths.end() > self.longest_row() { most_long_segments(n, limits) } else { 0 };
            let host = [first_offset, first_key, first_payload, iota];
            dispatch(&finder.fill, &filled, long.clamp(1, MOST_FILLING), host)?;
        }
        let offsets = if let Ranges::Offsets(offsets, _) = ranges { Some(offsets) } else { None };
        let sort = Sort { offsets, ..*sort };
        self.record_passes(&mut pass, scratch, &sort, callers, plan.dispatches(), false)
    }
}
