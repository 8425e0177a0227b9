//! Inputs that do not fit the budget: each part is sorted into a run, and the runs are merged.
//!
//! A run is a sorted file of the input's own form: elements of binary, and of text whose numbers are printed as they were;
//! otherwise tokens or rows as they were read. So it is as small as the input, and read by what reads inputs. The type
//! of a text or a column may turn out when many runs are written. The integers in them are as well in order as floats, but
//! for −0, which is then less than 0: runs with one are sorted again.
//!
//! Where positions are wanted, a run is keys, as elements, tokens, or rows of the key fields alone, and the positions of
//! their records beside them, which are merged with the keys.

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use super::{Ask, Content, Dataset, Done, Parts, Phase, Unwatched, Watch};
use crate::clock::Instant;
use crate::error::Error;
use crate::format::Format;
use crate::io::binary::Source;
use crate::io::convert::Converted;
use crate::io::ordered::{self, Elements, Merged, PositionReader, Positions, Written};
use crate::io::records::{Print, Spelling};
use crate::io::source::Opened;
use crate::io::stream::How;
use crate::io::{Counts, Input, Memory, Output, npy};
use crate::key::ElementType;
use crate::order::Selection;
use crate::parallel;
use crate::report::{self, Report};
use crate::runs::{Budget, Folders, Spilled};
use crate::sorter::Sorter;

/// Sorted runs of an input that is read in parts.
pub struct Runs<'a> {
    how: &'a How,
    budget: &'a Budget,
    folders: &'a mut Folders,
    ask: Ask,
    done: Vec<Run>,
    /// What comes before the rows of a table.
    head: Vec<u8>,
    /// How the sorts went together.
    report: Option<Report>,
    merge: Merge,
    /// Records so far, with those left out of tables: the position of the next part's first.
    passed: u64,
}

/// A run.
struct Run {
    spilled: Spilled,
    form: Form,
    /// How many records it has.
    count: u64,
    /// Their positions, and the type of these, if they are wanted.
    positions: Option<(Spilled, ElementType)>,
    /// Whether it has to be sorted again if its integers turn out to be floats.
    has_minus_zeros: bool,
}

/// What is in a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Elements, and how they are printed.
    Elements(ElementType, Print),
    Tokens,
    Rows,
}

/// What came of sorting in parts.
#[derive(Clone, Debug, Default)]
pub struct Merge {
    /// Records read.
    pub n: u64,
    /// Bytes of input.
    pub bytes: u64,
    /// The types of the keys.
    pub types: String,
    /// Nulls, and records and lines left out.
    pub counts: Counts,
    /// Records left out because their keys were repeated.
    pub repeated: u64,
    /// Records written.
    pub written: u64,
    /// The number of runs.
    pub runs: usize,
    /// Their bytes.
    pub spilled_bytes: u64,
    /// The time it took to read, to make keys, to write runs, and to merge these.
    pub reading: Duration,
    /// To make keys of text.
    pub parsing: Duration,
    /// To write the runs.
    pub writing: Duration,
    /// To merge them.
    pub merging: Duration,
}

impl<'a> Runs<'a> {
    /// The runs of all parts, of which this is the first, in these folders.
    ///
    /// # Errors
    ///
    /// As for [`Parts::next_part`]; a failure of the device; I/O errors.
    pub fn of<'p: 'a>(
        first: Dataset<'static>,
        parts: &mut Parts<'p>,
        ask: Ask,
        sorter: &Sorter,
        folders: &'a mut Folders,
    ) -> Result<Self, Error> {
        let (how, budget) = (parts.how(), parts.budget());
        let (done, head, merge) = (Vec::new(), Vec::new(), Merge::default());
        let mut runs = Self { how, budget, folders, ask, done, head, report: None, merge, passed: 0 };
        let mut part = first;
        loop {
            if parts.reads_ahead() {
                thread::scope(|scope| {
                    let reading = parallel::meanwhile(scope, || parts.read_ahead());
                    let added = runs.add(part, sorter);
                    reading.wait();
                    added
                })?;
            } else {
                runs.add(part, sorter)?;
            }
            if parts.is_over() {
                return Ok(runs);
            }
            part = parts.next_part()?;
        }
    }

    /// The number of records of all parts, with those left out of tables.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.passed
    }

    /// Sorts a part, and keeps it as a run.
    fn add(&mut self, mut part: Dataset, sorter: &Sorter) -> Result<(), Error> {
        let merge = &mut self.merge;
        merge.n += part.len() as u64;
        merge.bytes += part.bytes;
        merge.counts = merge.counts.and(part.counts());
        merge.parsing += part.parsing;
        let mut rows = part.len() as u64;
        if let Content::Rows { table, .. } = &mut part.content {
            self.head.append(&mut table.take_head());
            rows = table.rows();
        }
        let first = self.passed;
        self.passed += rows;
        if part.is_empty() {
            return Ok(());
        }
        let run = self.sorted(part, sorter, |position| first + u64::from(position))?;
        self.done.push(run);
        Ok(())
    }

    /// The run of a part, of whose records this is the position of each.
    fn sorted(
        &mut self,
        part: Dataset,
        sorter: &Sorter,
        position: impl Fn(u32) -> u64 + Sync,
    ) -> Result<Run, Error> {
        let is_typed = self.how.by.element.is_some();
        let (form, format, has_minus_zeros) = match &part.content {
            Content::Numbers { map, spelling: Spelling::AsRead { .. }, .. }
                if !map.element.is_float() || !self.ask.positions =>
            {
                (Form::Tokens, Format::Text, !map.element.is_float() && !is_typed)
            }
            Content::Numbers { map, spelling, .. } => {
                let print = if let Spelling::Printed(print) = spelling { *print } else { Print::Shortest };
                (Form::Elements(map.element, print), Format::Binary, false)
            }
            Content::Rows { table, .. } => (Form::Rows, self.ask.format, table.minus_zeros && !is_typed),
        };
        // Among floats −0 and 0 are two keys, and −0 is the first.
        let selection = if has_minus_zeros { Selection::ALL } else { self.ask.selection };
        let ask = Ask { selection, format, ..self.ask };
        let n = part.len() as u64;
        let mut output = self.output()?;
        let mut start = None;
        let (positions, done) = if ask.positions {
            let (positions, done) = part.order_keys(sorter, ask, &mut output)?;
            start = Some(Instant::now());
            let positions = parallel::map(&positions, |&at| position(at));
            let element = ordered::type_among(positions.iter().max().map_or(0, |last| last + 1));
            let mut output = self.output()?;
            ordered::write_positions(positions, element, Written::AsRead, &mut output)?;
            (Some((output.into_spilled()?, element)), done)
        } else {
            (None, part.order(sorter, ask, &Unwatched)?.write(&mut output, &Unwatched)?)
        };
        let Done { report, reading, writing, repeated, cut, .. } = done;
        let report = match &self.report {
            Some(before) => report.after(before),
            None => report,
        };
        self.report = Some(report);
        let start = start.unwrap_or_else(Instant::now);
        let spilled = output.into_spilled()?;
        let run = Run { spilled, form, count: n - (repeated + cut) as u64, positions, has_minus_zeros };
        let merge = &mut self.merge;
        merge.reading += reading;
        merge.writing += writing + start.elapsed();
        merge.repeated += repeated as u64;
        merge.spilled_bytes += run.bytes();
        merge.runs += 1;
        Ok(run)
    }

    /// A new run's output.
    fn output(&mut self) -> Result<Output, Error> {
        Ok(Output::spill(self.folders.create(self.budget.block())?))
    }

    /// Merges the runs of all parts, and writes the records; the caller finishes the output.
    ///
    /// # Errors
    ///
    /// I/O errors; a run that is not what was written.
    pub fn merge(
        mut self,
        parts: &Parts,
        sorter: &Sorter,
        output: &mut Output,
        watch: &dyn Watch,
    ) -> Result<(Merge, Report), Error> {
        self.sort_again(&parts.are_floats(), parts, sorter)?;
        watch.phase(Phase::Merge, Some(self.merge.n));
        let start = Instant::now();
        let budget = self.budget;
        // As elements, if they are written as such, or all printed alike; otherwise as tokens or rows.
        let element = parts.element();
        let printed = |run: &Run| match run.form {
            Form::Elements(of, print) => Some((of.is_float(), print)),
            _ => None,
        };
        let print = self.done.first().and_then(printed);
        let are_alike = print.is_some_and(|(are_floats, _)| are_floats == element.is_float())
            && self.done.iter().all(|run| printed(run) == print);
        let print = print.map_or(Print::Shortest, |(_, print)| print);
        let form = match self.done.first() {
            // Where lines are numbers alone up to here, these are rows, too.
            Some(_) if self.done.iter().any(|run| run.form == Form::Rows) => Form::Rows,
            Some(_) if !(self.ask.positions || self.ask.format.is_bits() || are_alike) => Form::Tokens,
            _ => Form::Elements(element, print),
        };
        let mut runs = std::mem::take(&mut self.done);
        while runs.len() > budget.fan_in() {
            let mut longer = Vec::new();
            let mut left = runs.into_iter();
            while left.len() > 0 {
                let some: Vec<Run> = left.by_ref().take(budget.fan_in()).collect();
                let element = some.last().and_then(|run| run.positions.as_ref()).map(|&(_, element)| element);
                let mut output = self.output()?;
                let mut positions = element.map(|_| self.output()).transpose()?;
                let to = Targets { records: Some(&mut output), positions: positions.as_mut().zip(element) };
                let merged = self.merge_some(some, form, Written::AsRead, parts, to, &|_| {})?;
                let positions = positions.map(Output::into_spilled).transpose()?.zip(element);
                let (spilled, count) = (output.into_spilled()?, merged.written);
                let run = Run { spilled, form, count, positions, has_minus_zeros: false };
                self.merge.repeated += merged.repeated;
                self.merge.spilled_bytes += run.bytes();
                longer.push(run);
            }
            runs = longer;
        }
        let element = parts.written(&self.ask, self.passed);
        let positions = element.filter(|_| self.ask.positions);
        if positions.is_none() {
            output.write_all(&self.head).map_err(|error| output.failed(error))?;
        }
        let progress = |merged| watch.set(merged);
        let written = match (self.ask.format, form) {
            (format, Form::Elements(_, print)) if !format.is_bits() && positions.is_none() => {
                Written::InText(print)
            }
            (Format::Text, _) => Written::InText(Print::Shortest),
            _ => Written::AsRead,
        };
        let header = |n: u64, output: &mut Output| {
            let header = npy::Header::of(element.unwrap_or(ElementType::U32), n);
            output.write_all(&header).map_err(|error| output.failed(error))
        };
        let merged = match self.ask.format {
            Format::Npy if self.ask.selection.unique => {
                // Their number comes first, and is known last.
                let mut unique = self.output()?;
                let to = Targets::of(&mut unique, positions);
                let merged = self.merge_some(runs, form, written, parts, to, &progress)?;
                header(merged.written, output)?;
                let unique = unique.into_spilled()?;
                let name = unique.name().to_owned();
                let (mut reader, mut block) = (unique.read(), vec![0; budget.block()]);
                loop {
                    let count = reader.read(&mut block).map_err(|error| Error::io(&name, "read", error))?;
                    if count == 0 {
                        break;
                    }
                    output.write_all(&block[..count]).map_err(|error| output.failed(error))?;
                }
                merged
            }
            format => {
                if format == Format::Npy {
                    let first = self.ask.selection.first.map_or(u64::MAX, |first| first as u64);
                    header(self.merge.n.min(first), output)?;
                }
                self.merge_some(runs, form, written, parts, Targets::of(output, positions), &progress)?
            }
        };
        let merge = Merge {
            types: parts.types(),
            repeated: self.merge.repeated + merged.repeated,
            written: merged.written,
            merging: start.elapsed(),
            ..self.merge
        };
        let nothing = || Report::on_cpu(report::Form::InOrder, Duration::ZERO);
        Ok((merge, self.report.unwrap_or_else(nothing)))
    }

    /// Merges some runs, whose records are read in this form.
    fn merge_some(
        &self,
        mut runs: Vec<Run>,
        form: Form,
        written: Written,
        parts: &Parts,
        to: Targets,
        progress: &dyn Fn(u64),
    ) -> Result<Merged, Error> {
        let (budget, selection) = (self.budget, self.ask.selection);
        let how = &parts.how_of_runs(self.ask.positions);
        let (block, memory) = (budget.block(), budget.bytes() / 2);
        let positions = to.positions.map(|(to, element)| {
            let readers = runs.iter_mut().filter_map(Run::take_positions);
            Positions { runs: readers.collect(), to, written, element }
        });
        let progress = &mut |merged| progress(merged);
        if let Form::Elements(element, _) = form {
            let source = Source::raw(Input::Memory(Memory::new("a run", &[], &[1])), element);
            let opened = runs.into_iter().map(|run| (&source, run.elements(element, block)));
            let (runs, direction) = (opened.collect(), how.by.order);
            let elements = Elements { runs, direction, selection, written, memory, positions };
            return ordered::merge_elements(elements, to.records, progress);
        }
        let known = ordered::KnownRecords {
            how,
            are_floats: &parts.are_floats(),
            model: parts.model(self.ask.positions)?,
            records: runs.iter().map(|run| run.count).sum(),
            bytes: runs.iter().map(|run| run.spilled.bytes()).sum(),
            memory,
            positions,
        };
        let opened = runs.into_iter().map(|run| run.records(block)).collect();
        ordered::merge_records(opened, known, selection, to.records, progress)
    }

    /// Sorts the runs again that are not in order among floats.
    fn sort_again(&mut self, are_floats: &[bool], parts: &Parts, sorter: &Sorter) -> Result<(), Error> {
        if !are_floats.contains(&true) {
            return Ok(());
        }
        for mut run in std::mem::take(&mut self.done) {
            if run.has_minus_zeros {
                let (before, count) = (run.bytes(), run.count as usize);
                let reader = run.take_positions();
                let positions = reader.map(|mut reader| reader.take(count)).transpose()?;
                let part = run.content(parts, positions.is_some())?;
                let position = |at| positions.as_ref().map_or(0, |positions| positions[at as usize]);
                run = self.sorted(part, sorter, position)?;
                self.merge.runs -= 1;
                self.merge.spilled_bytes -= before;
            }
            self.done.push(run);
        }
        Ok(())
    }
}

/// Where merged runs go.
struct Targets<'a> {
    records: Option<&'a mut Output>,
    /// Positions, and their type.
    positions: Option<(&'a mut Output, ElementType)>,
}

impl<'a> Targets<'a> {
    /// One output for the records, or for their positions of this type.
    fn of(output: &'a mut Output, positions: Option<ElementType>) -> Self {
        match positions {
            Some(element) => Self { records: None, positions: Some((output, element)) },
            None => Self { records: Some(output), positions: None },
        }
    }
}

impl Run {
    /// Bytes in temporary files.
    fn bytes(&self) -> u64 {
        self.spilled.bytes() + self.positions.as_ref().map_or(0, |(positions, _)| positions.bytes())
    }

    /// The positions of its records, which are read once.
    fn take_positions(&mut self) -> Option<PositionReader> {
        let (positions, element) = self.positions.take()?;
        let name = positions.name().to_owned();
        Some(PositionReader::new(&name, positions.read(), element))
    }

    /// Its records as tokens or rows.
    fn records(self, block: usize) -> Opened {
        let (name, form) = (self.spilled.name().to_owned(), self.form);
        let reader = self.spilled.read();
        match form {
            Form::Elements(element, print) => {
                Opened::of(&name, Converted::text_of(reader, element, print, block))
            }
            Form::Tokens | Form::Rows => Opened::of(&name, reader),
        }
    }

    /// Its records as elements of this type.
    fn elements(self, to: ElementType, block: usize) -> Opened {
        let (name, form) = (self.spilled.name().to_owned(), self.form);
        let reader = self.spilled.read();
        match form {
            Form::Elements(from, _) if from == to => Opened::of(&name, reader),
            Form::Elements(from, _) => Opened::of(&name, Converted::widened(reader, from, to, block)),
            Form::Tokens | Form::Rows => Opened::of(&name, Converted::elements_of(reader, to, block)),
        }
    }

    /// Its records, read again now that the types are known.
    fn content<'d>(self, parts: &Parts, has_positions: bool) -> Result<Dataset<'d>, Error> {
        let name = self.spilled.name().to_owned();
        let bytes = self.spilled.all().map_err(|error| Error::io(&name, "read", error))?;
        parts.again(&name, bytes, has_positions)
    }
}
