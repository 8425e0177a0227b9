//! Sorts recorded into a caller's encoder, on the caller's device.

mod spec;

use std::time::Duration;

use gpusort_order::{Algorithm, ElementType};

pub use self::spec::{Count, Gather, Payload, Run, Segments, Spec, Unique};
pub use crate::context::MEMORY_HINTS;
use crate::recorder::{
    DeviceRun, Elements, Gathered, Ranges, RecordedSort, Recorder, Scratch, Slice, UniqueInto, Work,
};
use gpusort_base::error::Error;
use gpusort_base::error::misuse::on_callers_device;
pub use gpusort_base::error::misuse::{MOST, Misuse};

/// Records sorts on one device.
pub struct BufferSorter {
    spec: Spec,
    recorder: Recorder,
}

/// Device memory for sorts of up to [`capacity`](Self::capacity) elements.
pub struct Workspace {
    scratch: Scratch,
}

impl Workspace {
    /// The most elements of a sort.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.scratch.capacity
    }

    /// The size of the workspace in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.scratch.bytes
    }
}

impl BufferSorter {
    /// Compiles the kernels of this specification. This may take a second if the driver has not cached them;
    /// [`compile_time`](Self::compile_time) returns the time.
    ///
    /// # Errors
    ///
    /// An invalid specification; a device that lacks a feature or has too low a limit; a failure of
    /// the device.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, spec: Spec) -> Result<Self, Error> {
        Self::with_cache(device, queue, spec, None)
    }

    /// As [`Self::new`], with a pipeline cache.
    ///
    /// # Errors
    ///
    /// As for [`Self::new`].
    pub fn with_cache(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        spec: Spec,
        cache: Option<&wgpu::PipelineCache>,
    ) -> Result<Self, Error> {
        let settings = spec.settings()?;
        let algorithm = spec.method.algorithm;
        if let Some(algorithm) = algorithm.filter(|&algorithm| algorithm != Algorithm::Radix) {
            return Err(Misuse::Method(algorithm).into());
        }
        let recorder = Recorder::new(device, queue, cache, settings);
        Ok(Self { spec, recorder: recorder.map_err(on_callers_device)? })
    }

    /// [`Spec::required_features`] for any specification.
    #[must_use]
    pub fn required_features(adapter: &wgpu::Adapter) -> wgpu::Features {
        Spec::new(ElementType::U64).required_features(adapter)
    }

    /// [`Spec::required_limits`] for the largest elements: keys of 64 bits with a payload.
    #[must_use]
    pub fn required_limits(adapter: &wgpu::Adapter, capacity: u32) -> wgpu::Limits {
        Spec::new(ElementType::U64).payload(Payload::U32).required_limits(adapter, capacity)
    }

    /// The specification.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The time that [`Self::new`] took to compile.
    #[must_use]
    pub fn compile_time(&self) -> Duration {
        self.recorder.compiling
    }

    /// The longest row that is sorted in a tile with other rows. Any number of such rows needs no memory of a
    /// workspace, unless their keys have 8 or 16 bits. Longer rows need a capacity of all elements.
    #[must_use]
    pub fn longest_row(&self) -> u32 {
        self.recorder.longest_row()
    }

    /// The bytes of a workspace for `capacity` elements on this device.
    ///
    /// # Errors
    ///
    /// A capacity of 0 or above [`MOST`]; a buffer larger than the device's limits.
    pub fn workspace_bytes(&self, capacity: u32) -> Result<u64, Error> {
        self.recorder.scratch_bytes(in_range(capacity)?).map_err(on_callers_device)
    }

    /// Allocates memory for sorts of up to `capacity` elements. It serves any number of sorts, one after
    /// another.
    ///
    /// # Errors
    ///
    /// A capacity of 0 or above [`MOST`]; a buffer larger than the device's limits; too little
    /// memory.
    pub fn workspace(&self, capacity: u32) -> Result<Workspace, Error> {
        let scratch = self.recorder.scratch(in_range(capacity)?).map_err(on_callers_device)?;
        Ok(Workspace { scratch })
    }

    /// Records a sort of `count` keys, with their values if the specification has a payload.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &Workspace,
        keys: wgpu::BufferSlice<'_>,
        values: Option<wgpu::BufferSlice<'_>>,
        count: Count<'_>,
    ) -> Result<(), Error> {
        let elements = self.elements(NAMES, keys, values)?;
        let sort = self.checked(workspace, elements, count, workspace.capacity())?;
        self.recorder.record(encoder, sort, Work::Sort)
    }

    /// Records an argsort: writes the positions of `count` keys, from 0, in sorted order. The keys
    /// stay as they are.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record_argsort(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &Workspace,
        keys: wgpu::BufferSlice<'_>,
        positions: wgpu::BufferSlice<'_>,
        count: Count<'_>,
    ) -> Result<(), Error> {
        if !self.spec.argsort {
            return Err(Misuse::NoArgsort.into());
        }
        let values = Some(slice("positions", positions, 4)?);
        let elements = Elements { keys: slice("keys", keys, self.spec.key_bytes())?, values };
        let sort = self.checked(workspace, elements, count, workspace.capacity())?;
        let sort = sort.map(|sort| RecordedSort { iota: true, keeps_keys: true, ..sort });
        self.recorder.record(encoder, sort, Work::Sort)
    }

    /// Records a sort that leaves the first `k` of `count` keys in order at the beginning, with their
    /// values. The elements after them are unspecified: some may be duplicated, others lost.
    ///
    /// If `k` is at most a quarter of many elements, these are selected first; the first such call compiles
    /// pipelines. Otherwise the call takes as long as a sort of all elements.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record_top(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &Workspace,
        keys: wgpu::BufferSlice<'_>,
        values: Option<wgpu::BufferSlice<'_>>,
        k: u32,
        count: Count<'_>,
    ) -> Result<(), Error> {
        let elements = self.elements(NAMES, keys, values)?;
        let sort = self.checked(workspace, elements, count, workspace.capacity())?;
        self.recorder.record(encoder, sort.filter(|_| k > 0), Work::Top(k))
    }

    /// Records sorts of segments, each by itself; positions count within their segment. Keys outside
    /// of segments stay as they are.
    ///
    /// Rows of up to [`Self::longest_row`], usually 8,192 elements, use no memory of the workspace, and
    /// together they may exceed its capacity, unless their keys have 8 or 16 bits. The first call with
    /// segments, or with rows of another power of two, compiles pipelines.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record_segments(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &Workspace,
        keys: wgpu::BufferSlice<'_>,
        values: Option<wgpu::BufferSlice<'_>>,
        segments: Segments<'_>,
    ) -> Result<(), Error> {
        if self.spec.bits.is_some() {
            return Err(Misuse::SegmentBits.into());
        }
        let elements = self.elements(NAMES, keys, values)?;
        let number = elements.keys.len;
        let count = Count::Host(u32::try_from(number).unwrap_or(u32::MAX));
        let all = |capacity| self.checked(workspace, elements, count, capacity);
        if let Segments::Rows(length) = segments {
            if length == 0 || !number.is_multiple_of(length.into()) {
                return Err(Misuse::Rows { elements: number, length }.into());
            }
            if length <= self.recorder.longest_row() {
                let is_narrow = self.spec.narrow().is_some();
                let rows = all(if is_narrow { workspace.capacity() } else { MOST })?;
                return self.recorder.record(encoder, rows, Work::Rows(length));
            }
        }
        if !self.spec.segments {
            return Err(Misuse::NoSegments.into());
        }
        if let Segments::HostOffsets(offsets) = segments {
            let is_wrong = |ends: &[u32]| ends[0] > ends[1] || u64::from(ends[1]) > number;
            if let Some(segment) = offsets.windows(2).position(is_wrong) {
                let range = offsets[segment]..offsets[segment + 1];
                return Err(Misuse::Offsets { segment, range, keys: number }.into());
            }
            if offsets.len() < 2 {
                return Ok(());
            }
            self.check_binding("offsets", size_of_val(offsets) as u64)?;
        }
        let Some(all) = all(workspace.capacity())? else { return Ok(()) };
        let made;
        let (offsets, least, longest) = match segments {
            Segments::Rows(length) => (None, length, length),
            // Only the device knows the lengths.
            Segments::Offsets(offsets) => (Some(offsets), 2, self.spec.longest_segment.unwrap_or(u32::MAX)),
            Segments::HostOffsets(offsets) => {
                let lengths =
                    || offsets.windows(2).map(|ends| ends[1] - ends[0]).filter(|&length| length > 1);
                made = self.recorder.words(offsets)?;
                (Some(made.slice(..)), lengths().min().unwrap_or(0), lengths().max().unwrap_or(0))
            }
        };
        let offsets = offsets.map(|offsets| slice("offsets", offsets, 4)).transpose()?;
        if let Some(offsets) = offsets {
            self.check_slices([], [offsets])?;
            if let Some(other) = all.elements.slices().find(|other| other.buffer == offsets.buffer) {
                return Err(Misuse::OneBuffer(other.name, "offsets").into());
            }
            if offsets.len < 2 {
                return Ok(());
            }
        }
        self.recorder.record(encoder, Some(all), Work::Segments(Ranges { offsets, least, longest }))
    }

    /// Records a gather: element `i` of each target becomes element `positions[i]` of its source, for `i`
    /// below `count`. With the positions of [`Self::record_argsort`], targets have the order of the keys. If
    /// a position is beyond the source, the target's element stays as it is.
    ///
    /// One dispatch gathers up to three arrays, one after another. The first call with elements of another
    /// size compiles a pipeline.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record_gather(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        positions: wgpu::BufferSlice<'_>,
        arrays: &[Gather<'_>],
        count: Count<'_>,
    ) -> Result<(), Error> {
        let positions = slice("positions", positions, 4)?;
        let mut gathered = Vec::with_capacity(arrays.len());
        for &Gather { source, target, element_bytes } in arrays {
            if element_bytes == 0 || !element_bytes.is_multiple_of(4) {
                return Err(Misuse::GatherBytes(element_bytes).into());
            }
            let of = |name, array| sized(name, array, element_bytes.into(), 4);
            gathered.push(Gathered { source: of("source", source)?, target: of("target", target)? });
        }
        let written = gathered.iter().map(|array| array.target);
        let (most, count) = counted(count, written.chain([positions]), MOST)?;
        if most == 0 {
            return Ok(());
        }
        let positions = positions.first_of(most);
        for Gathered { target, .. } in &mut gathered {
            *target = target.first_of(most);
        }
        let targets = gathered.iter().map(|array| array.target);
        let read = gathered.iter().map(|array| array.source).chain([positions]).chain(count);
        self.check_slices(targets, read)?;
        self.recorder.record_gather(encoder, positions, &gathered, most, count)
    }

    /// Records a compaction of `count` sorted keys. It writes the first key of each run of equal keys, its
    /// value and the length of the run, in order; and the number of runs. Keys are equal if the sorted bits
    /// are equal, so −0 and +0 differ. Keys and values stay as they are. Slices shorter than the number of
    /// runs are filled.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record_unique(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &Workspace,
        keys: wgpu::BufferSlice<'_>,
        values: Option<wgpu::BufferSlice<'_>>,
        count: Count<'_>,
        unique: Unique<'_>,
    ) -> Result<(), Error> {
        let optional = |name, array: Option<_>| array.map(|array| slice(name, array, 4)).transpose();
        let key_bytes = self.spec.key_bytes();
        let elements =
            Elements { keys: slice("keys", keys, key_bytes)?, values: optional("values", values)? };
        if unique.values.is_some() && values.is_none() {
            return Err(Misuse::NoValues.into());
        }
        let number = slice("number", unique.number, 4)?;
        if number.len == 0 {
            return Err(Misuse::Length { slice: "number", holds: 0, count: 1 }.into());
        }
        let number = number.first_of(1);
        let firsts = Elements {
            keys: slice("unique keys", unique.keys, key_bytes)?,
            values: optional("unique values", unique.values)?,
        };
        let counts = optional("counts", unique.counts)?;
        let Some(sort) = self.checked_or_none(workspace, elements, count, workspace.capacity())? else {
            self.check_slices([number], [])?;
            return self.recorder.record_none_unique(encoder, &workspace.scratch, number);
        };
        let most = shortest(firsts.slices().chain(counts)).min(sort.most);
        let counts = counts.map(|counts| counts.first_of(most));
        let into = UniqueInto { firsts: firsts.first_of(most), counts, number, most };
        let written = [into.firsts.keys, number].into_iter().chain(into.firsts.values).chain(counts);
        self.check_slices(written, sort.elements.slices().chain(sort.count))?;
        self.recorder.record_unique(encoder, &sort, &into)
    }

    /// Records a merge of two sorted runs into `keys` and `values`, which hold both runs. Among equal keys,
    /// keys of the first run come first. The runs stay as they are.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record_merge(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        first: Run<'_>,
        second: Run<'_>,
        keys: wgpu::BufferSlice<'_>,
        values: Option<wgpu::BufferSlice<'_>>,
    ) -> Result<(), Error> {
        let runs = [
            self.run(["first keys", "first values"], first)?,
            self.run(["second keys", "second values"], second)?,
        ];
        let most = u64::from(runs[0].most) + u64::from(runs[1].most);
        let merged = self.elements(NAMES, keys, values)?;
        // A count that only the device knows may be lower.
        let is_known = runs.iter().all(|run| run.count.is_none());
        if let Some(Slice { name, len, .. }) = merged.slices().find(|slice| is_known && slice.len < most) {
            return Err(Misuse::Length { slice: name, holds: len, count: most }.into());
        }
        if most > MOST.into() {
            let count = u32::try_from(most).unwrap_or(u32::MAX);
            return Err(Misuse::Capacity { count, capacity: MOST }.into());
        }
        let room = shortest(merged.slices()).min(most as u32);
        if room == 0 {
            return Ok(());
        }
        let merged = merged.first_of(room);
        // An empty run binds no slices.
        let read =
            runs.iter().flat_map(|run| run.elements.slices().filter(|_| run.most > 0).chain(run.count));
        self.check_slices(merged.slices(), read)?;
        self.recorder.record_merge(encoder, &runs, merged)
    }

    /// Checks a run; its slices have these names in messages.
    fn run<'a>(&self, names: [&'static str; 2], run: Run<'a>) -> Result<DeviceRun<'a>, Misuse> {
        let elements = self.elements(names, run.keys, run.values)?;
        let (most, count) = counted(run.count, elements.slices(), MOST)?;
        Ok(DeviceRun { elements: elements.first_of(most), most, count })
    }

    /// Checks that these slices belong to the device, that it can bind them, and that no written slice overlaps another.
    fn check_slices<'a>(
        &self,
        written: impl IntoIterator<Item = Slice<'a>>,
        read: impl IntoIterator<Item = Slice<'a>>,
    ) -> Result<(), Misuse> {
        let mut all: Vec<Slice> = written.into_iter().collect();
        let written = all.len();
        all.extend(read);
        for (number, &slice) in all.iter().enumerate() {
            let name = slice.name;
            if slice.ends_inside_a_word() {
                return Err(Misuse::PartialWord { slice: name, size: slice.buffer.size() });
            }
            self.check_binding(name, slice.bound_bytes())?;
            if !self.recorder.is_of_device(slice) {
                return Err(Misuse::Device(name));
            }
            if let Some(other) = all[..number.min(written)].iter().find(|other| other.overlaps(slice)) {
                return Err(Misuse::Overlap(other.name, name));
            }
        }
        Ok(())
    }

    /// The elements of slices with these names in messages. Callers pass values exactly if the specification has a
    /// payload.
    fn elements<'a>(
        &self,
        names: [&'static str; 2],
        keys: wgpu::BufferSlice<'a>,
        values: Option<wgpu::BufferSlice<'a>>,
    ) -> Result<Elements<'a>, Misuse> {
        let values = match (self.spec.payload, values) {
            (Payload::None, Some(_)) => return Err(Misuse::Values),
            (Payload::U32 | Payload::Positions, None) => return Err(Misuse::NoValues),
            (_, values) => values.map(|values| slice(names[1], values, 4)).transpose()?,
        };
        Ok(Elements { keys: slice(names[0], keys, self.spec.key_bytes())?, values })
    }

    /// Checks that the device binds this many bytes of a slice.
    fn check_binding(&self, slice: &'static str, bytes: u64) -> Result<(), Misuse> {
        let limit = self.recorder.binding_bytes();
        if bytes > limit { Err(Misuse::Binding { slice, bytes, limit }) } else { Ok(()) }
    }

    /// The checked sort of at most `capacity` elements; `None` for an empty sort.
    fn checked<'a>(
        &self,
        workspace: &'a Workspace,
        elements: Elements<'a>,
        count: Count<'a>,
        capacity: u32,
    ) -> Result<Option<RecordedSort<'a>>, Misuse> {
        let sort = self.checked_or_none(workspace, elements, count, capacity)?;
        if let Some(sort) = &sort {
            self.check_slices(sort.elements.slices(), sort.count)?;
        }
        Ok(sort)
    }

    /// [`Self::checked`] without a check for overlapping slices.
    fn checked_or_none<'a>(
        &self,
        workspace: &'a Workspace,
        elements: Elements<'a>,
        count: Count<'a>,
        capacity: u32,
    ) -> Result<Option<RecordedSort<'a>>, Misuse> {
        let scratch = &workspace.scratch;
        if !self.recorder.owns(scratch) {
            return Err(Misuse::Workspace);
        }
        let (most, count) = counted(count, elements.slices(), capacity)?;
        if let Some(foreign) = elements.slices().find(|slice| scratch.holds(slice.buffer)) {
            return Err(Misuse::Device(foreign.name));
        }
        if most == 0 {
            return Ok(None);
        }
        // Bind no more elements than the sort may have.
        let elements = elements.first_of(most);
        let iota = self.spec.payload == Payload::Positions;
        Ok(Some(RecordedSort { scratch, elements, most, count, iota, keeps_keys: false, offsets: None }))
    }
}

/// The names of a sort's slices in messages.
const NAMES: [&str; 2] = ["keys", "values"];

/// The name of the number of elements in messages.
const COUNT: &str = "the number of elements";

/// Checks that these slices hold `count` elements, at most `capacity`. Returns the largest possible count,
/// and the device's count if the host does not know it.
fn counted<'a>(
    count: Count<'a>,
    mut slices: impl Iterator<Item = Slice<'a>>,
    capacity: u32,
) -> Result<(u32, Option<Slice<'a>>), Misuse> {
    match count {
        Count::Host(count) => {
            if let Some(short) = slices.find(|slice| slice.len < count.into()) {
                return Err(Misuse::Length { slice: short.name, holds: short.len, count: count.into() });
            }
            if count > capacity {
                return Err(Misuse::Capacity { count, capacity });
            }
            Ok((count, None))
        }
        Count::Buffer { buffer, offset } => {
            if offset.checked_add(4).is_none_or(|end| end > buffer.size()) {
                return Err(Misuse::CountOffset { offset, size: buffer.size() });
            }
            let most = shortest(slices).min(capacity);
            Ok((most, Some(slice(COUNT, buffer.slice(offset..offset + 4), 4)?)))
        }
    }
}

/// The number of elements that all of these slices hold.
fn shortest<'a>(slices: impl Iterator<Item = Slice<'a>>) -> u32 {
    slices.map(|slice| slice.len).min().map_or(0, |len| u32::try_from(len).unwrap_or(u32::MAX))
}

fn in_range(capacity: u32) -> Result<u32, Misuse> {
    if (1..=MOST).contains(&capacity) { Ok(capacity) } else { Err(Misuse::WorkspaceOf(capacity)) }
}

/// A caller's slice of elements of `each` bytes.
fn slice<'a>(name: &'static str, slice: wgpu::BufferSlice<'a>, each: u64) -> Result<Slice<'a>, Misuse> {
    sized(name, slice, each, each)
}

/// [`slice`] for a slice that begins at a multiple of `aligned_to` bytes.
fn sized<'a>(
    name: &'static str,
    slice: wgpu::BufferSlice<'a>,
    each: u64,
    aligned_to: u64,
) -> Result<Slice<'a>, Misuse> {
    let (buffer, offset) = (slice.buffer(), slice.offset());
    if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
        return Err(Misuse::Usage(name));
    }
    if offset % aligned_to != 0 {
        return Err(Misuse::Alignment { slice: name, offset, element: aligned_to });
    }
    Ok(Slice { name, buffer, offset, each, len: slice.size() / each })
}
