//! Dictionaries of batches that come one after another, as one for all: an Arrow file can have no
//! other. Batches wait in a temporary file until all values are known.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::UInt32Builder;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, UInt32Array};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;

use super::arrays::joined;
use super::stored::{failed, unwritten};
use crate::error::{Error, Hint};

/// The values of the dictionaries of a column so far.
#[derive(Default)]
struct Values {
    /// The number of each value, by its text.
    numbers: HashMap<String, u32>,
    chunks: Vec<ArrayRef>,
}

impl Values {
    /// The numbers of the values of a dictionary's array.
    fn intern(&mut self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        let dictionary = array.as_any_dictionary();
        let values = dictionary.values();
        let formatter = ArrayFormatter::try_new(values.as_ref(), &FormatOptions::new())?;
        let mut new = UInt32Builder::new();
        let mut numbers = Vec::with_capacity(values.len());
        for value in 0..values.len() {
            if values.is_null(value) {
                numbers.push(None);
                continue;
            }
            let next = self.numbers.len() as u32;
            let number = *self.numbers.entry(formatter.value(value).to_string()).or_insert_with(|| {
                new.append_value(value as u32);
                next
            });
            numbers.push(Some(number));
        }
        let new = new.finish();
        if !new.is_empty() {
            self.chunks.push(take(values, &new, None)?);
        }
        take(&UInt32Array::from(numbers), dictionary.keys(), None)
    }
}

/// Batches that wait until the dictionaries of some columns are known.
pub struct Waiting {
    schema: SchemaRef,
    /// The array with numbers of values in place of values.
    numbered: SchemaRef,
    /// The columns with a dictionary.
    columns: Vec<(usize, Values)>,
    writer: StreamWriter<BufWriter<File>>,
}

impl Waiting {
    /// For batches of this schema, in a file in this folder; `None` if no column has a dictionary.
    ///
    /// # Errors
    ///
    /// A dictionary within a column; I/O errors.
    pub(super) fn of(schema: &SchemaRef, folder: &Path) -> Result<Option<Self>, Error> {
        let is_dictionary = |field: &Field| matches!(field.data_type(), DataType::Dictionary(..));
        let within = |field: &&Arc<Field>| {
            let alone = Schema::new(vec![Arc::clone(field)]);
            !is_dictionary(field) && alone.flattened_fields().into_iter().any(is_dictionary)
        };
        if let Some(field) = schema.fields().iter().find(within) {
            let problem = format!(
                "column '{}' has nested dictionaries, which are written only when all rows fit in memory",
                crate::human::quoted(field.name())
            );
            return Err(Error::options(problem).hinting(Hint::Memory));
        }
        let columns: Vec<(usize, Values)> = (0..schema.fields().len())
            .filter(|&column| is_dictionary(schema.field(column)))
            .map(|column| (column, Values::default()))
            .collect();
        if columns.is_empty() {
            return Ok(None);
        }
        let file =
            tempfile::tempfile_in(folder).map_err(|error| Error::io("a temporary file", "create", error))?;
        let fields = schema.fields().iter().map(|field| {
            if is_dictionary(field) {
                Arc::new((**field).clone().with_data_type(DataType::UInt32).with_nullable(true))
            } else {
                field.clone()
            }
        });
        let numbered = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let writer = StreamWriter::try_new(BufWriter::new(file), &numbered).map_err(failed)?;
        Ok(Some(Self { schema: schema.clone(), numbered, columns, writer }))
    }

    /// Adds rows.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let mut arrays = batch.columns().to_vec();
        for (column, values) in &mut self.columns {
            arrays[*column] = values.intern(&arrays[*column])?;
        }
        self.writer.write(&RecordBatch::try_new(self.numbered.clone(), arrays)?)
    }

    /// Gives all rows to `take`, with one dictionary for each column.
    pub(super) fn finish(self, take: &mut dyn FnMut(RecordBatch) -> Result<(), Error>) -> Result<(), Error> {
        let failed = |error| unwritten("a temporary file", "read", error);
        let file = self.writer.into_inner().map_err(failed)?.into_inner();
        let reading = |error| Error::io("a temporary file", "read", error);
        let mut file = file.map_err(|error| reading(error.into_error()))?;
        file.seek(SeekFrom::Start(0)).map_err(reading)?;
        let mut dictionaries = Vec::new();
        for (column, values) in &self.columns {
            if let kind @ DataType::Dictionary(_, of_values) = self.schema.field(*column).data_type() {
                dictionaries.push((*column, kind, joined(of_values, &values.chunks).map_err(failed)?));
            }
        }
        for batch in StreamReader::try_new(BufReader::new(file), None).map_err(failed)? {
            let mut arrays = batch.map_err(failed)?.columns().to_vec();
            for (column, kind, values) in &dictionaries {
                let numbers = arrays[*column].as_primitive::<UInt32Type>().clone();
                let too_many = |_| failed(ArrowError::DictionaryKeyOverflowError);
                arrays[*column] =
                    cast(&DictionaryArray::new(numbers, values.clone()), kind).map_err(too_many)?;
            }
            let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(failed)?;
            take(batch)?;
        }
        Ok(())
    }
}
