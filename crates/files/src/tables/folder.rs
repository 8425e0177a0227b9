//! The files of a folder of Parquet, and their manifest, from which `gpusort check` detects changed files.

use std::io::Write;

use arrow_schema::Schema;
use serde_json::{Value, json};

use crate::job::Job;
use gpusort_base::error::Error;
use gpusort_formats::Output;
use gpusort_formats::arrow::parquet::SortedColumn;
use gpusort_order::Nulls;

/// The complete files of a folder.
pub(super) struct Files {
    parts: Vec<Value>,
    rows: u64,
    /// The columns of the keys, each true if it descends.
    keys: Vec<(String, bool)>,
    /// The options of a check of this order.
    check: Vec<&'static str>,
}

impl Files {
    /// Begins a list of files of this schema, in this order. Without an order, only the files can be
    /// checked.
    pub(super) fn new(job: &Job, schema: &Schema, order: &[SortedColumn]) -> Self {
        let key = |key: &SortedColumn| (schema.field(key.column).name().clone(), key.descending);
        let options = [
            ("--from=parquet", true),
            ("--unique", job.ask.selection.unique),
            ("--empty=first", order.iter().any(|key| key.nulls_first)),
            ("--nan=first", job.decisions.how.by.order.nan == Nulls::First),
        ];
        let check = options.into_iter().filter(|(_, is_set)| *is_set).map(|(option, _)| option).collect();
        Self { parts: Vec::new(), rows: 0, keys: order.iter().map(key).collect(), check }
    }

    /// Returns the name of the next file.
    pub(super) fn next_name(&self) -> String {
        format!("part-{:05}.parquet", self.parts.len())
    }

    /// Adds the file that the output completed, with its number of rows; does nothing for an output of one file.
    pub(super) fn end(&mut self, output: &Output, rows: u64) {
        let Some((bytes, hash)) = output.file_of_folder() else { return };
        let xxh3 = format!("{hash:016x}");
        self.parts.push(json!({ "name": self.next_name(), "rows": rows, "bytes": bytes, "xxh3": xxh3 }));
        self.rows += rows;
    }

    /// Adds the last file, and writes the manifest of a folder.
    pub(super) fn finish(mut self, output: &mut Output, rows: u64) -> Result<(), Error> {
        self.end(output, rows);
        let Self { parts, rows, keys, check } = self;
        if parts.is_empty() {
            return Ok(());
        }
        let manifest = json!({
            "gpusort": env!("CARGO_PKG_VERSION"),
            "format": "parquet",
            "check": check,
            "keys": keys,
            "na": [],
            "ignore_case": false,
            "rows": rows,
            "parts": parts,
        });
        output.begin_file("manifest.json")?;
        let written = writeln!(output, "{manifest:#}");
        written.map_err(|error| output.failed(error))?;
        output.begin_file("_SUCCESS")
    }
}
