//! Finds segments on the device, before the passes that sort them.
//!
//! ```text
//! offsets      [begin] [classify] ┐
//!                                 ├ [fill]   lists short segments and tiles of long ones; writes arguments
//! equal rows   [number rows] ─────┘
//! offsets of short segments    [begin] [check]
//! ```

use gpusort_planner::plan::{CallerPlans, most_long_segments, segments_text};
use wgpu::ComputePipeline;

use super::slice::first;
use super::{RecordedSort, Recorder, Slice, begin_pass};
use crate::bindings::{bind_group, storage, whole};
use gpusort_base::error::Error;

/// Invocations in a workgroup.
const WORKGROUP: u32 = 256;

/// The most workgroups of `fill`; each loops over several long segments.
const MOST_FILLING: u32 = 264;

/// The ranges of the segments.
#[derive(Clone, Copy)]
pub(crate) struct Ranges<'a> {
    /// At least two offsets; `None` for rows of `longest` elements, which exceed a tile.
    pub(crate) offsets: Option<Slice<'a>>,
    /// The least and the most elements of a segment to sort.
    pub(crate) least: u32,
    pub(crate) longest: u32,
}

/// The kernels that find segments.
pub(super) struct SegmentFinder {
    begin: ComputePipeline,
    classify: ComputePipeline,
    number_rows: ComputePipeline,
    fill: ComputePipeline,
    check: ComputePipeline,
}

impl SegmentFinder {
    /// The kernels for the elements of `callers`, each made by `kernel` from its name, text and buffers.
    pub(super) fn new(
        callers: &CallerPlans,
        kernel: impl Fn(&str, String, &[wgpu::BindGroupLayoutEntry]) -> ComputePipeline,
    ) -> Result<Self, Error> {
        let text = segments_text(callers)?;
        let kernel = |name, buffers: &[_]| kernel(name, text.clone(), buffers);
        let finding = [0, 1, 2, 3, 7].map(|binding| storage(binding, binding == 2));
        let filling = [0, 4, 5, 6, 7, 8].map(|binding| storage(binding, false));
        Ok(Self {
            begin: kernel("begin", &finding),
            classify: kernel("classify", &finding),
            number_rows: kernel("number_rows", &filling),
            fill: kernel("fill", &filling),
            check: kernel("check", &finding),
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
        sort: &RecordedSort,
        Ranges { offsets, least, longest }: Ranges,
    ) -> Result<(), Error> {
        let (scratch, callers) = (sort.scratch, &self.planners.sort);
        let lacks = || Error::lacks("memory for segments");
        let (finder, found) = self.finder.as_ref().zip(scratch.find("segments")).ok_or_else(lacks)?;
        let (device, n) = (&self.context.device, sort.most);
        let segments = offsets.map(|offsets| u32::try_from(offsets.len - 1).unwrap_or(u32::MAX));
        let in_order = match segments {
            Some(segments) => callers.short_segments(n, sort.iota, segments, longest)?,
            None => None,
        };
        let is_short = in_order.is_some();
        let plan = match in_order {
            Some(plan) => plan,
            None => callers.segments(n, sort.iota, &(least..=longest))?,
        };
        self.pipelines.make(plan.distinct_dispatches().map(|dispatch| dispatch.pipeline().of_slices()))?;
        let mut pass = begin_pass(encoder, "gpusort segments");
        let buffers = [
            (0, whole(found)),
            (4, scratch.named("segment_tiles")),
            (5, scratch.named("histograms")),
            (6, scratch.named("varying_bits")),
            (7, whole(&scratch.parameters)),
            (8, scratch.named("segment_classes")),
        ];
        let filled = bind_group(device, "segments", (&finder.fill, 0), buffers);
        let [first_key, first_payload, _] = sort.begins();
        if let Some((offsets, segments)) = offsets.zip(segments) {
            self.record_offset_checks(&mut pass, sort, (finder, found), (offsets, segments), is_short)?;
        } else {
            let (rows, host) = (n / longest.max(1), longest.to_le_bytes().map(u32::from));
            let (kernel, workgroups) = (&finder.number_rows, workgroups_of(rows));
            self.dispatch_with_host_parameters(&mut pass, kernel, &filled, workgroups, (n, host))?;
        }
        if !is_short {
            let has_long = longest > self.longest_row();
            let long = if has_long { most_long_segments(n, &callers.limits) } else { 0 };
            let host = [first(offsets), first_key, first_payload, sort.iota.into()];
            let workgroups = long.clamp(1, MOST_FILLING);
            self.dispatch_with_host_parameters(&mut pass, &finder.fill, &filled, workgroups, (n, host))?;
        }
        let sort = RecordedSort { offsets, ..*sort };
        self.record_passes(&mut pass, &sort, plan.dispatches(), false)
    }

    /// Records kernels that check the offsets of segments; they also list the segments by their lengths, unless all
    /// are short. `found` receives the description of the segments.
    fn record_offset_checks(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        sort: &RecordedSort,
        (finder, found): (&SegmentFinder, &wgpu::Buffer),
        (offsets, segments): (Slice, u32),
        are_short: bool,
    ) -> Result<(), Error> {
        let scratch = sort.scratch;
        let buffers = [
            (0, whole(found)),
            (1, scratch.named("keys")),
            (2, offsets.binding()),
            (3, scratch.bound(sort.elements.values.filter(|_| sort.iota))),
            (7, whole(&scratch.parameters)),
        ];
        let group = bind_group(&self.context.device, "segments found", (&finder.begin, 0), buffers);
        self.dispatch_with_host_parameters(pass, &finder.begin, &group, 1, (sort.most, [0; 4]))?;
        let [first_key, first_payload, _] = sort.begins();
        let (kernel, host) = if are_short {
            (&finder.check, [offsets.first(), first_key, first_payload, 0])
        } else {
            (&finder.classify, [offsets.first(), first_payload, sort.iota.into(), 0])
        };
        let workgroups = workgroups_of(segments);
        self.dispatch_with_host_parameters(pass, kernel, &group, workgroups, (sort.most, host))
    }
}

/// Returns the number of workgroups with an invocation for each segment; at least one.
fn workgroups_of(segments: u32) -> u32 {
    segments.div_ceil(WORKGROUP).max(1)
}
