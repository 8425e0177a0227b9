//! Tables as text that become tables of another format, once they are in order.

use super::write::Sink;
use super::{Tables, room};
use crate::job::{Job, To};
use crate::report::Report;
use gpusort_base::clock::Instant;
use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_formats::arrow::Stored;
use gpusort_formats::arrow::from_text::TextTable;
use gpusort_formats::{InputKind, Output};

impl Job<'_> {
    /// Does work that writes text, and writes that text as tables of this format.
    pub(crate) fn convert(
        &self,
        format: Format,
        to: To,
        work: impl FnOnce(Output) -> Result<Report, Error>,
    ) -> Result<Report, Error> {
        let mut output = self.open(to)?;
        let most = usize::try_from(room(&self.budget) / 4).unwrap_or(usize::MAX);
        let mut spool = tempfile::spooled_tempfile_in(most, self.temp_folder());
        let text = Output::writer(&mut spool, "a temporary file".to_owned());
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
