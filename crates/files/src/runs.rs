//! Sorts inputs that exceed the budget: each part becomes a sorted run, and the runs are merged.
//!
//! If all records are numbers that print as they were read, a run holds elements; otherwise it holds frames
//! of keys and records.
//!
//! A part continues the previous run if its first key is not less than the run's last key. So
//! nearly sorted input becomes one run.
//!
//! For output of positions, frames hold positions instead of records.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::dataset::{Answer, Content, Dataset, OutputSpec};
use super::parts::{Parts, position_type};
use super::progress::{Phase, Watch};
use super::report::{Phases, Report};
use gpusort_base::clock::Instant;
use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_base::parallel;
use gpusort_engine::sorter::Sorter;
use gpusort_external::frames::{Frame, FramePayload, RunFormat, SortedRun};
use gpusort_external::{
    BESIDE_BYTES, ElementForm, Elements, Emit, Folders, MergeSpec, Merged, Source, Spill,
};
use gpusort_formats::budget::Budget;
use gpusort_formats::fields::Head;
use gpusort_formats::numbers::span::Census;
use gpusort_formats::piece::Piece;
use gpusort_formats::places::Places;
use gpusort_formats::records::print;
use gpusort_formats::{InputSpec, Output, Print};
use gpusort_order::{ElementType, KeyMap, KeyOrder};

/// The sorted runs of an input, one or more parts in each.
pub(super) struct Runs<'a> {
    how: &'a InputSpec,
    budget: &'a Budget,
    folders: &'a mut Folders,
    ask: OutputSpec,
    done: Vec<SortedRun>,
    /// The last run, which the next part may continue.
    open: Option<Open>,
    /// The header and comments, which stay on top of the rows.
    pub(super) head: Head,
    /// The numbers so far, if they become elements.
    census: Census,
    /// The report on the parts so far.
    pub(super) report: Report,
}

/// An unfinished run.
struct Open {
    spill: Spill,
    form: RunFormat,
    count: u64,
    /// The last key as a row, or a number as big-endian bytes, if known. Keys of one form compare.
    last: Option<Vec<u8>>,
}

impl<'a> Runs<'a> {
    /// Sorts all parts, the first of them `first`, into runs in these folders.
    ///
    /// # Errors
    ///
    /// Errors of [`Parts::read`]; a failure of the device; I/O errors.
    pub(super) fn of<'p: 'a>(
        first: Dataset<'static>,
        parts: &mut Parts<'p>,
        ask: OutputSpec,
        sorter: &Sorter,
        folders: &'a mut Folders,
    ) -> Result<Self, Error> {
        let (how, budget) = (parts.how, parts.budget);
        let mut runs = Self::new(how, budget, ask, folders);
        let mut part = Some(Ok(first));
        while let Some(now) = part.transpose()? {
            part = if parts.reads_ahead() {
                thread::scope(|scope| {
                    let reading = parallel::meanwhile(scope, || parts.next());
                    let added = runs.add(now, sorter);
                    let next = reading.wait();
                    added.map(|()| next)
                })?
            } else {
                runs.add(now, sorter)?;
                parts.next()
            };
        }
        runs.close()?;
        Ok(runs)
    }

    /// Takes existing runs, and the bytes before all records.
    #[cfg(feature = "distributed")]
    pub(super) fn given(
        (how, budget): (&'a InputSpec, &'a Budget),
        (done, head): (Vec<SortedRun>, Head),
        ask: OutputSpec,
        folders: &'a mut Folders,
    ) -> Self {
        let mut runs = Self::new(how, budget, ask, folders);
        runs.report.sort.ran = gpusort_engine::report::Ran::on_cpu(gpusort_engine::report::Form::Merge);
        runs.report.records = done.iter().map(|run| run.records).sum();
        Self { done, head, ..runs }
    }

    fn new(how: &'a InputSpec, budget: &'a Budget, ask: OutputSpec, folders: &'a mut Folders) -> Self {
        let (done, open, head, report) = (Vec::new(), None, Head::default(), Report::new(ask.format));
        Self { how, budget, folders, ask, done, open, head, census: Census::default(), report }
    }

    /// Sorts a part and stores it as a run.
    fn add(&mut self, mut part: Dataset, sorter: &Sorter) -> Result<(), Error> {
        if let Content::Records { records, .. } = &mut part.content {
            self.head.append(std::mem::take(&mut records.head));
        }
        if part.len() == 0 {
            self.report.add(part.report(self.ask.format));
            return Ok(());
        }
        if self.ask.format.is_bits() && !self.ask.positions && self.how.bits().is_none() {
            self.census = self.census.merge(part.census(self.how)?);
        }
        let done = match part.content {
            Content::Numbers { map, print, .. } if !self.ask.positions && self.ask.answer.is_none() => {
                let outcome = part.order(sorter, self.ask, &Watch::default())?;
                let ends = outcome.ordered.ends().map(|ends| ends.map(|key| key.to_be_bytes().to_vec()));
                // Binary elements are not printed.
                let print = if self.ask.format.is_bits() { Print::Shortest } else { print };
                let open = self.run_for(RunFormat::Elements(map, print), ends)?;
                outcome.into_run().write(&mut output_of(&mut open.spill), &Watch::default())?
            }
            _ => self.add_records(part, sorter)?,
        };
        if let Some(open) = &mut self.open {
            open.count += done.records - done.repeated - done.cut;
        }
        self.report.add(done);
        Ok(())
    }

    /// The run for records with these first and last keys: the open run if they continue it, otherwise a
    /// new one.
    fn run_for(&mut self, form: RunFormat, ends: Option<[Vec<u8>; 2]>) -> Result<&mut Open, Error> {
        let [first, last] = ends.map_or([None, None], |ends| ends.map(Some));
        let open = match self.open.take() {
            Some(open) if open.form == form && open.last.is_some() && open.last <= first => {
                Open { last, ..open }
            }
            before => {
                self.open = before;
                self.close()?;
                Open { spill: self.folders.create(self.budget.block())?, form, count: 0, last }
            }
        };
        Ok(self.open.insert(open))
    }

    /// Completes the open run.
    fn close(&mut self) -> Result<(), Error> {
        let Some(Open { spill, form, count, .. }) = self.open.take() else { return Ok(()) };
        self.report.runs += 1;
        let run = self.finished(spill, form, count)?;
        self.done.push(run);
        Ok(())
    }

    /// Completes the storage of a run.
    fn finished(&mut self, spill: Spill, form: RunFormat, records: u64) -> Result<SortedRun, Error> {
        let spilled = spill.finish()?;
        self.report.spilled_bytes += spilled.bytes;
        Ok(spilled.into_run(records, form))
    }

    /// The number of records so far, including skipped ones: the position of the next record.
    fn passed(&self) -> u64 {
        self.report.records + self.report.counts.skipped
    }

    /// Adds keys with the bytes of their records, or with their positions, if these are requested.
    fn add_records(&mut self, part: Dataset, sorter: &Sorter) -> Result<Report, Error> {
        let (records, order, mut report) = part.into_order(self.how, sorter, &self.ask, &mut |_, _| {})?;
        let start = Instant::now();
        let payload = self.payload();
        let ends = order.first().zip(order.last());
        let ends = ends.map(|(&first, &last)| [first, last].map(|record| records.row(record)));
        // Counts take the place of positions.
        let are_counts = self.ask.answer.is_some_and(Answer::is_counted);
        let (size, first) = (self.frame_size(), if are_counts { 0 } else { self.passed() });
        let open = self.run_for(RunFormat::Frames(payload), ends)?;
        let output = &mut output_of(&mut open.spill);
        write_frames(&records.pieces, &order, first, (payload, size), false, output)?;
        report.phases.write = start.elapsed();
        Ok(report)
    }

    /// The payload of runs of records.
    fn payload(&self) -> FramePayload {
        match self.ask.positions {
            _ if self.ask.answer.is_some() => FramePayload::Numbered,
            true => FramePayload::Position,
            false if self.ask.format.is_bits() => FramePayload::None,
            false => FramePayload::Bytes,
        }
    }

    /// The type of the elements to write; `None` for rows.
    ///
    /// # Errors
    ///
    /// See [`Census::element`].
    pub(super) fn written(&self) -> Result<Option<ElementType>, Error> {
        match (self.ask.positions, self.ask.format.is_bits()) {
            (true, _) => Ok(Some(position_type(self.passed()))),
            (false, true) => {
                self.how.element().or(self.how.by.element).map_or_else(|| self.census.element(), Ok).map(Some)
            }
            (false, false) => Ok(None),
        }
    }

    /// Returns the size of a frame in bytes: in a merge, each run has a few of them in memory.
    fn frame_size(&self) -> usize {
        /// Shorter frames would make steps so short that their threads cost more than their records.
        const LEAST: usize = 1 << 12;
        (self.budget.block() / 4).max(LEAST)
    }

    /// Merges the runs of all parts and writes the records: about `expected` bytes, 0 if unknown.
    /// The caller finishes the output.
    ///
    /// # Errors
    ///
    /// I/O errors; a run that was changed.
    pub(super) fn merge(
        mut self,
        output: &mut Output,
        expected: u64,
        watch: &Watch,
    ) -> Result<Report, Error> {
        watch.phase(Phase::Merge, Some(self.report.records));
        let start = Instant::now();
        let (budget, is_bits) = (self.budget, self.ask.format.is_bits());
        let orders = self.how.orders();
        let mut runs = std::mem::take(&mut self.done);
        // Runs of elements are merged as such if they have one type and print alike.
        let elements = match runs.first().map(|run| run.form) {
            Some(form @ RunFormat::Elements(map, print)) => {
                runs.iter().all(|run| run.form == form).then_some((map, print))
            }
            _ => None,
        };
        let element = self.written()?;
        let is_npy = self.ask.format == Format::Npy;
        let must_count = is_npy && self.ask.selection.unique && !runs.is_empty();
        let mut longer = |some: Vec<SortedRun>, progress: &mut dyn FnMut(u64)| {
            let (form, into) = if let Some((map, _)) = elements {
                (some[0].form, Target::Elements(map, ElementForm::Run))
            } else {
                let payload = self.payload();
                (RunFormat::Frames(payload), Target::Records(Emit::Frames(payload, self.frame_size())))
            };
            let mut spill = self.folders.create(budget.block())?;
            let mut to = output_of(&mut spill);
            let merged = self.merge_into(some, into, &orders, &mut to, progress)?;
            drop(to);
            self.report.repeated += merged.repeated;
            self.finished(spill, form, merged.written)
        };
        runs = gpusort_external::merge_down(runs, budget.fan_in(), |some| longer(some, &mut |_| {}))?;
        if must_count {
            // The .npy header needs the count, known once all runs are merged into one.
            runs = vec![longer(runs, &mut |merged| watch.set(merged))?];
        }
        // Reserves the space only now, because longer runs may have needed it.
        output.expect(expected, false);
        if !self.ask.positions {
            self.head.write(output).map_err(|error| output.failed(error))?;
        }
        if is_npy {
            let count: u64 = runs.iter().map(|run| run.records).sum();
            let first = self.ask.selection.first.map_or(u64::MAX, |first| first as u64);
            output.write_header(element.expect("elements are written"), count.min(first))?;
        }
        let into = match (elements, element) {
            _ if let Some(answer) = self.ask.answer => {
                Target::Records(Emit::Numbered(answer.merges_invalid()))
            }
            _ if self.ask.positions => Target::Records(Emit::Positions(element.filter(|_| is_bits))),
            (Some((map, _)), _) if is_bits => Target::Elements(map, ElementForm::Binary),
            (Some((map, print)), _) => Target::Elements(map, ElementForm::Text(print)),
            (None, Some(element)) => Target::Records(Emit::Elements(element, orders[0].descending)),
            (None, None) => Target::Records(Emit::Records),
        };
        let merged = self.merge_into(runs, into, &orders, output, &mut |merged| watch.set(merged))?;
        let repeated = self.report.repeated + merged.repeated;
        Ok(Report {
            types: self.how.kinds(),
            repeated,
            cut: self.report.records - repeated - merged.written,
            phases: Phases { merge: start.elapsed(), ..self.report.phases },
            ..self.report
        })
    }

    /// Merges some runs.
    fn merge_into(
        &self,
        runs: Vec<SortedRun>,
        into: Target,
        orders: &[KeyOrder],
        to: &mut Output,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Merged, Error> {
        let (mut selection, memory) = (self.ask.selection, self.budget.bytes() / 2);
        selection.unique |= matches!(into, Target::Records(Emit::Numbered(_)))
            && self.ask.answer.is_some_and(Answer::is_counted);
        let emit = match into {
            Target::Records(emit) => emit,
            Target::Elements(order, form) => {
                let sources = runs.into_iter().map(Source::Run).collect();
                let elements = Elements { sources, order, selection, form, memory };
                return gpusort_external::merge_elements(elements, to, progress);
            }
        };
        let (records, bytes) =
            runs.iter().fold((0, 0), |(records, bytes), run| (records + run.records, bytes + run.bytes));
        let length = bytes / records.max(1) + 1;
        // A row takes at most twice the bytes of the texts in its record, plus its numbers. Texts that compare as
        // other bytes are copied, too.
        let texts = orders.iter().filter(|order| order.reading.is_text());
        let copies = texts.clone().filter(|order| !order.compares_bytes()).count() as u64;
        let texts = 2 * texts.count() as u64 + copies;
        let beside = BESIDE_BYTES + 16 + 64 * (orders.len() as u64).saturating_sub(1);
        let times = 4 + texts + beside.div_ceil(length);
        let bytes = usize::try_from(memory / times).unwrap_or(usize::MAX);
        gpusort_external::merge_records(runs, &MergeSpec { selection, emit, bytes, orders }, to, progress)
    }
}

/// Writes the records of these pieces in this order. Returns the bytes written, and if `has_sum` the sum of the
/// records' checksums.
pub(super) fn write_frames(
    pieces: &[Piece],
    order: &[u32],
    first: u64,
    (payload, block): (FramePayload, usize),
    has_sum: bool,
    output: &mut Output,
) -> Result<(u64, u64), Error> {
    let records = Places::of(pieces);
    let [bytes_written, sum] = [const { AtomicU64::new(0) }; 2];
    let expected = records.length() + 12;
    let written = print::write(
        order,
        expected,
        output,
        |_| {},
        |order, to| {
            let mut frame = Frame::new(payload, block);
            frame.sum = has_sum.then_some(0);
            records.each(order, |piece, record, number| {
                let of_piece = piece.positions.get(record).copied().unwrap_or(number.into());
                frame.push(piece, record, first + of_piece, to);
            });
            frame.end(to);
            bytes_written.fetch_add(to.len() as u64, Ordering::Relaxed);
            // Wraps around.
            sum.fetch_add(frame.sum.unwrap_or(0), Ordering::Relaxed);
        },
    );
    written.map_err(|error| output.failed(error))?;
    Ok((bytes_written.into_inner(), sum.into_inner()))
}

/// The result of a merge.
#[derive(Clone, Copy)]
enum Target {
    /// Elements with these keys, in this form.
    Elements(KeyMap, ElementForm),
    Records(Emit),
}

/// The output that writes a run.
fn output_of(spill: &mut Spill) -> Output<'_> {
    let name = spill.name().to_owned();
    Output::writer(spill, name)
}
