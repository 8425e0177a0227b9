//! Sorts records by numbers that come with them, within a memory budget.

use std::io::Write;
use std::sync::Arc;

use gpusort_formats::budget::Budget;
use gpusort_formats::keys::{Column, Keys};
use gpusort_formats::output::Output;
use gpusort_formats::piece::{Bytes, Piece};
use gpusort_formats::records::range::Range;
use gpusort_formats::text::Text;

use super::frames::{Frame, FramePayload, RunFormat, SortedRun};
use super::records::{self, Emit, MergeSpec};
use super::spill::Folders;
use super::steps::merge_down;
use crate::error::Error;
use crate::order::{KeyOrder, Selection};

/// Records with numbers, which come in any order.
pub struct Numbered<'a> {
    budget: &'a Budget,
    folders: Folders,
    numbers: Vec<u64>,
    ranges: Vec<Range>,
    bytes: Vec<u8>,
    runs: Vec<SortedRun>,
}

impl<'a> Numbered<'a> {
    /// Begins without records. Runs are stored in these folders.
    pub fn new(budget: &'a Budget, folders: Folders) -> Self {
        Self { budget, folders, numbers: Vec::new(), ranges: Vec::new(), bytes: Vec::new(), runs: Vec::new() }
    }

    /// Adds a record with its line end.
    ///
    /// # Errors
    ///
    /// I/O errors of a run.
    pub fn add(&mut self, number: u64, record: &[u8]) -> Result<(), Error> {
        /// The memory of a record beside its bytes.
        const BESIDE: usize = 64;
        let most = usize::try_from(self.budget.bytes() / 16).unwrap_or(usize::MAX).min(1 << 30);
        let begin = self.bytes.len();
        if begin > 0 && begin + record.len() + BESIDE * self.numbers.len() > most {
            self.spill()?;
        }
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(record);
        self.ranges.push(Range::new(begin as u32, self.bytes.len() as u32));
        self.numbers.push(number);
        Ok(())
    }

    /// Takes the records in memory, and their order.
    fn take(&mut self) -> (Piece, Vec<u32>) {
        let (numbers, bytes) = (std::mem::take(&mut self.numbers), std::mem::take(&mut self.bytes));
        let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
        order.sort_by_key(|&record| numbers[record as usize]);
        let (until, ranges) = (bytes.len(), Arc::new(std::mem::take(&mut self.ranges)));
        let (text, end) = (Arc::new(Text { bytes, ..Text::default() }), (usize::MAX, &b""[..]));
        let bytes = Bytes::Of { text, start: 0, until, ranges, end, are_tokens: false };
        (Piece { bytes, ..Piece::of(Keys::of(vec![Column::High(numbers)])) }, order)
    }

    /// Stores the records in memory as a run.
    fn spill(&mut self) -> Result<(), Error> {
        let (piece, order) = self.take();
        let (mut spill, mut bytes) = (self.folders.create(self.budget.block())?, Vec::new());
        let mut frame = Frame::new(FramePayload::Bytes, self.budget.block());
        order.iter().for_each(|&record| frame.push(&piece, record as usize, 0, &mut bytes));
        frame.end(&mut bytes);
        spill.write_all(&bytes).map_err(|error| Error::io(spill.name(), "write", error))?;
        self.runs.push(spill.finish()?.into_run(order.len() as u64, RunFormat::Frames(FramePayload::Bytes)));
        Ok(())
    }

    /// Writes at most `first` records by rising numbers; equal numbers keep their order. Returns the count of records.
    ///
    /// # Errors
    ///
    /// I/O errors; a run that was changed.
    pub fn write(mut self, first: Option<usize>, output: &mut Output) -> Result<u64, Error> {
        if self.runs.is_empty() {
            let (piece, mut order) = self.take();
            order.truncate(first.unwrap_or(usize::MAX));
            for records in order.chunks(1 << 12) {
                let mut bytes = Vec::new();
                records.iter().for_each(|&record| piece.push(record as usize, &mut bytes));
                output.write_all(&bytes).map_err(|error| output.failed(error))?;
            }
            return Ok(order.len() as u64);
        }
        self.spill()?;
        let bytes = usize::try_from(self.budget.bytes() / 32).unwrap_or(usize::MAX);
        let (budget, folders, orders) = (self.budget, &mut self.folders, &[KeyOrder::ASCENDING]);
        let selection = |first| Selection { unique: false, first };
        let records = |emit, first| MergeSpec { selection: selection(first), emit, bytes, orders };
        let runs = merge_down(self.runs, budget.fan_in(), |some| {
            let mut spill = folders.create(budget.block())?;
            let name = spill.name().to_owned();
            let emit = Emit::Frames(FramePayload::Bytes, budget.block());
            let mut to = Output::writer(&mut spill, name);
            let merged = records::merge_records(some, &records(emit, None), &mut to, &mut |_| {})?;
            drop(to);
            Ok(spill.finish()?.into_run(merged.written, RunFormat::Frames(FramePayload::Bytes)))
        })?;
        Ok(records::merge_records(runs, &records(Emit::Records, first), output, &mut |_| {})?.written)
    }
}
