//! Sorts of lines of integers whose text a GPU reads and writes.

use std::time::Duration;

use gpusort_order::Shape;

use super::on_gpu::OnGpu;
use super::planned::{Planned, Task};
use super::{Lines, Method, Progress, RemoteLines, SortedLines};
use crate::gpu::{Buffers, TextKernels, execute};
use crate::report::{Form, Ran, Report};
use gpusort_base::clock::Instant;
use gpusort_base::error::Error;
use gpusort_base::parallel;

/// Sorted integers of a text on a GPU.
struct LinesOnGpu<'s> {
    of: &'s OnGpu,
    kernels: TextKernels,
    buffers: Buffers,
    lines: Lines<'s>,
}

impl OnGpu {
    /// See [`Sorter::sort_lines`](super::Sorter::sort_lines).
    pub(super) fn sort_lines<'s>(
        &'s self,
        lines: Lines<'s>,
        method: Method,
        progress: Progress,
    ) -> Result<Option<SortedLines<'s>>, Error> {
        let shape = Shape { key: lines.map.element.key_words(), payload: false };
        let task = |n| Task { n, first: None, shape, method };
        let placed = match self.place(task(lines.most)) {
            Err(error) if error.is_of_size() => return Ok(None),
            placed => placed?,
        };
        let (mut buffers, start) = (placed.buffers, Instant::now());
        let gpu = self.gpu();
        let (kernels, n, prepare) = std::thread::scope(|scope| {
            let preparing = parallel::meanwhile(scope, || {
                let start = Instant::now();
                gpu.prepare(&placed.planned.plan).map(|()| start.elapsed())
            });
            let kernels = TextKernels::new(gpu, shape.key);
            let text = (lines.bytes, lines.fill);
            let n = gpu.parse_lines(&kernels, &buffers, lines.map, lines.may_return, text)?;
            Ok::<_, Error>((kernels, n, preparing.wait()?))
        })?;
        let upload = placed.allocating + start.elapsed();
        let Some(n) = n else { return Ok(None) };
        let plans = task(n as usize).plans(&gpu.info().limits, self.crossovers());
        let fitting = plans.filter_map(Result::ok).find(|planned| buffers.fit(&planned.plan));
        let Some(Planned { plan, algorithm, variant }) = fitting else { return Ok(None) };
        buffers.resize(&plan, 0);
        let planned = plan.dispatch_count();
        let (sort, dispatches) = execute(gpu, &plan, &buffers, |done| progress(done, planned))?;
        let form = Form::Variant(variant);
        let report = Report {
            ran: Ran { algorithm: Some(algorithm), form },
            dispatches,
            bytes_moved: plan.bytes_moved_by(dispatches),
            prepare,
            upload,
            sort,
            why: task(n as usize).why(algorithm, self.crossovers(), placed.lacked.as_ref()),
            ..Report::on_cpu(form, Duration::ZERO)
        };
        let sorted = Box::new(LinesOnGpu { of: self, kernels, buffers, lines });
        Ok(Some(SortedLines { sorted, count: n as usize, report }))
    }
}

impl RemoteLines for LinesOnGpu<'_> {
    fn take(self: Box<Self>, take: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let Lines { bytes, map, may_return, .. } = self.lines;
        let printed = self.of.gpu().print_lines(&self.kernels, &self.buffers, map, take)?;
        assert!(printed == bytes || may_return, "sorted lines are the lines");
        self.of.keep(self.buffers);
        Ok(())
    }
}
