//! Tables as text that become tables of another format, once they are in order.

use super::super::job::{Job, To};
use super::super::report::Report;
use super::write::Sink;
use super::{Tables, room};
use crate::clock::Instant;
use crate::error::Error;
use crate::format::Format;
use crate::io::arrow::Stored;
use crate::io::arrow::from_text::TextTable;
use crate::io::{InputKind, Output};

impl Job<'_> {
    /// Does work that writes text, and writes that text as tables of this format.
    pub(in crate::files) fn convert(
        &self,
        format: Format,
        to: To,
        work: impl FnOnce(Output) -> Result<Report, Error>,
    ) -> Result<Report, Error> {
        let mut output = self.open(to)?;
        let most = usize::try_from(room(&self.budget) / 4).unwrap_or(usize::MAX);
        let mut spool = tempfile::spooled_tempfile_in(most, self.temp_folder());
        let text = Output::writer(&mut spool, "the output".to_owned());
        let report = work(text.cancelled_by(&self.cancel))?;
        let start = Instant::now();
        let InputKind::Table(dialect) = self.decisions.how.kind else { panic!("only tables are converted") };
        let name = self.inputs[0].name();
        let stored = Stored::spooled(spool)?;
        let table = TextTable::open(name, stored, dialect, &self.decisions.how.by.spelling.empty)?;
        let schema = table.schema();
        let tables = Tables::new(self, Vec::new(), schema.clone());
        let mut sink = Sink::new(&tables, schema, &[], &mut output, Some(most))?;
        table.each(&mut |batch| sink.write(batch))?;
        sink.finish()?;
        self.close(output)?;
        let mut report = Report { format, ..report };
        report.phases.write += start.elapsed();
        Ok(report)
    }
}
