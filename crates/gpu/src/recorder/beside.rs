//! Kernels that run before or after a sort, not as part of its plan. (`plan/recorded/beside.rs` has their texts.)
//! Pipelines are made at first use.

use gpusort_planner::kernels::Grid;
use gpusort_planner::plan::{BESIDE_WORKGROUP, MOST_GATHERED, UNIQUE_TILE};
use wgpu::ComputePipeline;

use super::slice::first;
use super::{Elements, RecordedSort, Recorder, Scratch, Slice, begin_pass};
use crate::bindings::{bind_group, kernel, layout, storage, uniform, whole};
use gpusort_base::error::Error;
use gpusort_base::parallel::lock;

/// Enough workgroups to keep any device busy.
const MOST_WORKGROUPS: u32 = 1 << 14;

/// A kernel's name, and the numbers that its text contains.
pub(super) type BesideKernel = (&'static str, [u32; MOST_GATHERED]);

/// The numbers of a kernel whose text contains none.
const NO_NUMBERS: [u32; MOST_GATHERED] = [0; MOST_GATHERED];

/// An array to gather from, and an array to gather into.
pub(crate) struct Gathered<'a> {
    pub(crate) source: Slice<'a>,
    pub(crate) target: Slice<'a>,
}

/// The outputs of a search for unique elements.
pub(crate) struct UniqueInto<'a> {
    pub(crate) firsts: Elements<'a>,
    pub(crate) counts: Option<Slice<'a>>,
    pub(crate) number: Slice<'a>,
    /// The most unique elements to write.
    pub(crate) most: u32,
}

/// A sorted run on the device.
pub(crate) struct DeviceRun<'a> {
    pub(crate) elements: Elements<'a>,
    pub(crate) most: u32,
    pub(crate) count: Option<Slice<'a>>,
}

/// Packs four offsets into a word, the first in its lowest byte. An offset is the number of elements between a
/// binding's beginning and its slice.
fn packed(offsets: [u32; 4]) -> u32 {
    u32::from_le_bytes(offsets.map(|offset| offset as u8))
}

impl Recorder {
    /// Dispatches at least this number of workgroups, with these buffers by binding number.
    fn dispatch_beside(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        which: BesideKernel,
        buffers: &[(u32, wgpu::BufferBinding<'_>)],
        arguments: &[u32],
        workgroups: u32,
    ) -> Result<(), Error> {
        let (device, name) = (&self.context.device, which.0);
        let kernel = self.beside_kernel(which, buffers.iter().map(|(at, _)| *at))?;
        pass.set_pipeline(&kernel);
        pass.set_bind_group(0, &bind_group(device, name, (&kernel, 0), buffers.iter().cloned()), &[]);
        if self.beside.has_immediates {
            pass.set_immediates(0, bytemuck::cast_slice(arguments));
        } else {
            // Shaders take uniforms in whole vectors of four words.
            let words = [arguments, &[0; 3]].concat();
            let words = &words[..arguments.len().next_multiple_of(4)];
            let usage = wgpu::BufferUsages::UNIFORM;
            let made = self.context.filled("arguments", bytemuck::cast_slice(words), usage)?;
            pass.set_bind_group(1, &bind_group(device, name, (&kernel, 1), [(0, whole(&made))]), &[]);
        }
        let grid = Grid::new(workgroups.max(1).into(), &self.context.info.limits)?;
        pass.dispatch_workgroups(grid.x, grid.y, 1);
        Ok(())
    }

    fn beside_kernel(
        &self,
        which: BesideKernel,
        bindings: impl Iterator<Item = u32>,
    ) -> Result<ComputePipeline, Error> {
        if let Some(kernel) = lock(&self.beside_kernels).get(&which) {
            return Ok(kernel.clone());
        }
        let (name, numbers) = which;
        let texts = &self.beside;
        let text = match name {
            "gather" => {
                let arrays = numbers.iter().take_while(|&&words| words > 0).count();
                texts.gather(&numbers[..arrays])
            }
            "write_firsts" => texts.unique(Some((numbers[0] == 1, numbers[1] == 1))),
            "merge_runs" => texts.merge(numbers[0] == 1)?,
            "widen" | "narrow" => texts.widen(),
            _ => texts.unique(None),
        };
        let made = self.context.scoped(|context| {
            // Kernels may read one slice of a buffer and write another, so all bindings are read-write.
            let entries: Vec<_> = bindings.map(|binding| storage(binding, false)).collect();
            let arguments =
                (!texts.has_immediates).then(|| layout(&context.device, "arguments", &[uniform(0, false)]));
            Ok(kernel(
                &context.device,
                name,
                text,
                &entries,
                arguments.as_ref(),
                self.pipelines.cache.as_ref(),
            ))
        })?;
        Ok(lock(&self.beside_kernels).entry(which).or_insert(made).clone())
    }

    /// Workgroups for this number of invocations, at most [`MOST_WORKGROUPS`]: each invocation
    /// loops over several elements.
    fn some_workgroups(&self, invocations: u64) -> u32 {
        let most = self.context.info.limits.workgroups_per_dimension.min(MOST_WORKGROUPS);
        invocations.div_ceil(BESIDE_WORKGROUP.into()).min(most.into()) as u32
    }

    /// Runs `work` with wide keys in place of narrow ones, then narrows the first `k` keys again.
    /// If elements are not narrow, `work` gets the original keys.
    pub(super) fn with_wide_keys<'s>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        sort: &RecordedSort<'s>,
        k: u32,
        work: impl FnOnce(&mut wgpu::CommandEncoder, &RecordedSort<'s>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(narrow) = self.beside.narrow else { return work(encoder, sort) };
        let lacks = || Error::lacks("memory for narrow keys");
        let wide = sort.scratch.find("copied keys").ok_or_else(lacks)?;
        let buffers = [(0, sort.elements.keys.binding()), (1, whole(wide)), (2, self.count(sort.count))];
        let move_keys = |encoder: &mut wgpu::CommandEncoder, name, n: u32, each: u32| {
            let arguments = [n, sort.elements.keys.first(), first(sort.count)];
            let workgroups = self.some_workgroups(u64::from(n).div_ceil(each.into()) + 1);
            let mut pass = begin_pass(encoder, "gpusort narrow keys");
            self.dispatch_beside(&mut pass, (name, NO_NUMBERS), &buffers, &arguments, workgroups)
        };
        move_keys(encoder, "widen", sort.most, 1)?;
        let keys = Slice { name: "keys", buffer: wide, offset: 0, each: 4, len: sort.most.into() };
        work(encoder, &RecordedSort { elements: Elements { keys, ..sort.elements }, ..*sort })?;
        if sort.keeps_keys { Ok(()) } else { move_keys(encoder, "narrow", k, 32 / narrow.bits) }
    }

    /// Records gathers of `arrays` by up to `most` positions; `count` may hold a smaller number.
    ///
    /// # Errors
    ///
    /// Errors of the device while it makes a pipeline.
    pub(crate) fn record_gather(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        positions: Slice,
        arrays: &[Gathered],
        most: u32,
        count: Option<Slice>,
    ) -> Result<(), Error> {
        self.check_encoder(encoder)?;
        let mut pass = begin_pass(encoder, "gpusort gather");
        for arrays in arrays.chunks(MOST_GATHERED) {
            let mut buffers = vec![(0, positions.binding()), (1, self.count(count))];
            let [mut begins, mut elements, mut words_of_each] = [[0; MOST_GATHERED]; 3];
            for (number, &Gathered { source, target }) in arrays.iter().enumerate() {
                let binding = 2 + 2 * number as u32;
                buffers.extend([(binding, source.binding()), (binding + 1, target.binding())]);
                let words = |slice: Slice| (slice.offset % super::ALIGNMENT / 4) as u32;
                begins[number] = packed([words(source), words(target), 0, 0]);
                words_of_each[number] = (source.each / 4) as u32;
                elements[number] = u32::try_from(source.len).unwrap_or(u32::MAX);
            }
            let own = [most, packed([positions.first(), first(count), 0, 0])];
            let arguments = [&own[..], &begins, &elements].concat();
            let workgroups = self.some_workgroups(most.into()) * arrays.len() as u32;
            self.dispatch_beside(&mut pass, ("gather", words_of_each), &buffers, &arguments, workgroups)?;
        }
        Ok(())
    }

    /// Records a kernel that writes 0 as the number of unique elements.
    ///
    /// # Errors
    ///
    /// Errors of the device while it makes a pipeline.
    pub(crate) fn record_none_unique(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        scratch: &Scratch,
        number: Slice,
    ) -> Result<(), Error> {
        let placeholder = scratch.named("keys");
        let buffers = [
            (0, placeholder.clone()),
            (1, whole(&self.no_count)),
            (2, placeholder),
            (3, number.binding()),
            (4, scratch.named("unique tiles")),
        ];
        let arguments = [0, packed([0, 0, 0, number.first()]), 0, 0];
        self.check_encoder(encoder)?;
        let mut pass = begin_pass(encoder, "gpusort unique");
        self.dispatch_beside(&mut pass, ("number_firsts", NO_NUMBERS), &buffers, &arguments, 1)
    }

    /// Records kernels that write the first element of each group of equal keys.
    ///
    /// # Errors
    ///
    /// Errors of the device while it makes a pipeline.
    pub(crate) fn record_unique(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        sort: &RecordedSort,
        into: &UniqueInto,
    ) -> Result<(), Error> {
        let (scratch, number) = (sort.scratch, into.number);
        let Elements { keys, values } = into.firsts;
        let [first_key, first_payload, first_count] = sort.begins();
        let arguments = [
            sort.most,
            packed([first_key, first_count, keys.first(), number.first()]),
            packed([first_payload, first(values), first(into.counts), 0]),
            into.most,
        ];
        let (firsts, tiles) = (scratch.named("keys"), scratch.named("unique tiles"));
        let finding = [
            (0, firsts.clone()),
            (1, self.count(sort.count)),
            (2, sort.elements.keys.binding()),
            (3, number.binding()),
            (4, tiles),
        ];
        self.check_encoder(encoder)?;
        let mut pass = begin_pass(encoder, "gpusort unique");
        let all = sort.most.div_ceil(UNIQUE_TILE);
        for (name, workgroups) in [("count_firsts", all), ("number_firsts", 1), ("note_firsts", all)] {
            self.dispatch_beside(&mut pass, (name, NO_NUMBERS), &finding, &arguments, workgroups)?;
        }
        let moved = sort.elements.values.filter(|_| values.is_some());
        let [_, count, sorted, number, _] = finding;
        let writing = [
            (0, firsts),
            count,
            sorted,
            number,
            (5, keys.binding()),
            (6, scratch.bound(moved)),
            (7, scratch.bound(values)),
            (8, scratch.bound(into.counts)),
        ];
        let has = [values.is_some().into(), into.counts.is_some().into(), 0];
        let workgroups = self.some_workgroups(into.most.into());
        self.dispatch_beside(&mut pass, ("write_firsts", has), &writing, &arguments, workgroups)
    }

    /// Records a merge of two runs into `merged`, whose lengths limit the output.
    ///
    /// # Errors
    ///
    /// Errors of the device while it makes a pipeline.
    pub(crate) fn record_merge<'a>(
        &'a self,
        encoder: &mut wgpu::CommandEncoder,
        [a, b]: &[DeviceRun<'a>; 2],
        merged: Elements<'a>,
    ) -> Result<(), Error> {
        let all = [a.elements, b.elements, merged];
        let (keys, values) = (all.map(|elements| Some(elements.keys)), all.map(|elements| elements.values));
        let begins = |[a, b, merged]: [_; 3], count| packed([a, b, merged, count].map(first));
        let arguments =
            [a.most, b.most, merged.keys.len as u32, begins(keys, a.count), begins(values, b.count)];
        let mut buffers = vec![(0, self.count(a.count)), (1, self.count(b.count))];
        for (slice, binding) in keys.into_iter().chain(values).zip(2..) {
            // The kernel reads nothing from an empty run.
            let binds =
                |slice: Slice<'a>| if slice.len == 0 { whole(&self.no_count) } else { slice.binding() };
            buffers.extend(slice.map(|slice| (binding, binds(slice))));
        }
        let has_values = merged.values.is_some();
        let tile = self.beside.merge_tile(has_values)?;
        self.check_encoder(encoder)?;
        let mut pass = begin_pass(encoder, "gpusort merge");
        let which = ("merge_runs", [has_values.into(), 0, 0]);
        let workgroups = (a.most + b.most).div_ceil(tile.size());
        self.dispatch_beside(&mut pass, which, &buffers, &arguments, workgroups)
    }
}
