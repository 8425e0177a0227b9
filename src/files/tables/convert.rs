//! Tables as text that become tables of another format, once they are in order.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::super::job::{Job, To};
use super::super::report::Report;
use super::write::Sink;
use super::{Tables, room};
use crate::clock::Instant;
use crate::error::Error;
use crate::format::Format;
use crate::io::InputKind;
use crate::io::arrow::Stored;
use crate::io::arrow::text::TextTable;

/// What is written to be read again: in memory, and in a temporary file where it is more.
struct Spool {
    memory: Vec<u8>,
    most: usize,
    file: Option<File>,
    folder: PathBuf,
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_none() && self.memory.len() + bytes.len() > self.most {
            let mut file = tempfile::tempfile_in(&self.folder)?;
            file.write_all(&std::mem::take(&mut self.memory))?;
            self.file = Some(file);
        }
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => self.memory.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Spool {
    fn stored(mut self) -> Result<Stored, Error> {
        match self.file.take() {
            None => Ok(Stored::Memory(self.memory.into())),
            Some(mut file) => {
                let length = file.stream_position();
                let length = length.map_err(|error| Error::io("a temporary file", "write", error))?;
                Ok(Stored::File(Arc::new(file), length))
            }
        }
    }
}

impl Job<'_> {
    /// Does work that writes text, and writes that text as tables of this format.
    pub(in crate::files) fn convert(
        &self,
        format: Format,
        to: To,
        work: impl FnOnce(To) -> Result<Report, Error>,
    ) -> Result<Report, Error> {
        let begin = Instant::now();
        let mut output = self.open(to)?;
        let folder = self.folders.first().cloned().unwrap_or_else(std::env::temp_dir);
        let most = usize::try_from(room(&self.budget) / 4).unwrap_or(usize::MAX);
        let mut spool = Spool { memory: Vec::new(), most, file: None, folder };
        let report = work(To::Plain(&mut spool))?;
        let start = Instant::now();
        let name = self.inputs()[0].name();
        let InputKind::Table(dialect) = self.resolved.how.kind else { return Ok(report) };
        let table = TextTable::open(name, spool.stored()?, dialect, self.resolved.how.by.na())?;
        let tables = Tables { all: Vec::new(), schema: table.schema(), parts: Vec::new(), size: 0 };
        let most = usize::try_from(room(&self.budget) / 4).ok();
        let mut sink = Sink::new(&tables, None, self, &mut output, most)?;
        table.each(&mut |batch| sink.write(batch))?;
        sink.finish()?;
        self.close(output)?;
        let mut report = Report { format, ..report };
        report.phases.write += start.elapsed();
        report.phases.total = begin.elapsed();
        Ok(report)
    }
}
