//! Tables as text that become tables of another format, once they are in order.

use super::write::Sink;
use super::{Tables, group_room};
use crate::job::{Job, To};
use crate::report::Report;
use gpusort_base::clock::Instant;
use gpusort_base::error::{Error, Hint};
use gpusort_base::format::Format;
use gpusort_formats::Output;
use gpusort_formats::arrow::Stored;
use gpusort_formats::arrow::from_text::{TextColumns, TextTable};

impl Job<'_> {
    /// Does work that writes text, and writes that text as tables of this format.
    pub(crate) fn convert(
        &self,
        format: Format,
        to: To,
        work: impl FnOnce(Output) -> Result<Report, Error>,
    ) -> Result<Report, Error> {
        let mut output = self.open(to)?;
        let mut spool = self.spool();
        let text = Output::writer(&mut spool, "a temporary file".to_owned());
        let mut report = work(text.cancelled_by(&self.cancel))?;
        let start = Instant::now();
        let columns = self.decisions.columns.as_ref().expect("the columns of converted tables are known");
        let table = TextTable { name: self.inputs[0].name(), stored: Stored::spooled(spool)?, columns };
        let schema = columns.schema();
        let (rows, bytes) = (report.records, table.stored.size());
        let tables = Tables { rows, bytes, ..Tables::new(self, Vec::new(), schema.clone()) };
        let keys = &self.decisions.how.keys;
        let [all, some] = [false, true].map(|has_empty| columns.order(keys, has_empty));
        let is_asked = all.len() > some.len() && report.counts.empty > 0;
        let order = if is_asked && table.has_empty(&all)? { some } else { all };
        let mut sink = Sink::new(&tables, schema, &order, &mut output, group_room(&self.budget))?;
        if let Some(misfit) = table.each(&mut |batch| sink.write(batch))? {
            return Err(self.misfit(columns, misfit)?);
        }
        sink.finish()?;
        report.phases.write += start.elapsed();
        self.close(output, &mut report.phases.write)?;
        Ok(Report { format, ..report })
    }

    /// The error about a row that does not fit its columns, with its line if an input can be read again.
    fn misfit(&self, columns: &TextColumns, (row, problem): (Vec<u8>, String)) -> Result<Error, Error> {
        let mut place = self.inputs[0].name();
        for input in self.inputs.iter().filter(|input| input.can_be_read_again()) {
            let stored = Stored::of(input, &self.temp_folder())?;
            if let Some(line) = (TextTable { name: input.name(), stored, columns }).line_of(&row)? {
                place = format!("{}:{line}", input.name());
                break;
            }
        }
        Ok(Error::input(place, problem).hinting(Hint::To(self.decisions.format)))
    }
}
