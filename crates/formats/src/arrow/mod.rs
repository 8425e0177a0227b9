//! Tables of columns: Parquet, and Arrow files and streams. Rows are read in batches and stay in place; their
//! numbers are sorted.
//!
//! ```text
//! input ── Stored ──> Table: a schema, and parts (row groups, batches) ── read, on all cores ──> RecordBatch
//! ```

pub mod arrays;
mod copies;
pub mod dictionaries;
pub mod from_text;
pub mod ipc;
mod kind;
mod pages;
pub mod parquet;
mod settings;
mod stored;
pub mod to_text;

use std::path::Path;
use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};

pub use self::stored::{Batches, Stored, failed, is_guarded, unwritten};
use crate::error::Error;
use crate::format::Format;
use crate::input::Input;

/// A Parquet or Arrow input.
pub enum Table {
    /// A Parquet file.
    Parquet(parquet::File),
    /// An Arrow file or stream.
    Arrow(ipc::File),
}

/// A separately read part of a table: a row group or a batch.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The number of the input.
    pub table: usize,
    /// The number of the part in its table, from 0.
    pub number: usize,
    /// The number of its first row among the rows of all inputs.
    pub first: u64,
    /// The number of rows.
    pub rows: u64,
    /// Approximate memory size.
    pub bytes: u64,
}

impl Table {
    /// Opens an input of this format; a copy, where needed, goes to this folder.
    ///
    /// # Errors
    ///
    /// I/O errors; invalid data.
    pub fn open(input: &Input, format: Format, folder: &Path) -> Result<Self, Error> {
        let (name, stored) = (input.name(), Stored::of(input, folder)?);
        if stored.size() == 0 {
            let problem =
                format!("is empty, and an empty file is not {format}; leave it out, or get it again");
            return Err(Error::input(name, problem));
        }
        match format {
            Format::Parquet => parquet::File::open(name, stored).map(Self::Parquet),
            _ => ipc::File::open(name, stored).map(Self::Arrow),
        }
    }

    /// Returns the name for messages.
    pub fn name(&self) -> &str {
        match self {
            Self::Parquet(file) => &file.name,
            Self::Arrow(file) => &file.name,
        }
    }

    /// The columns as they are written.
    pub fn schema(&self) -> &SchemaRef {
        self.schema_as_read(false)
    }

    /// The columns as they are read.
    pub fn schema_as_read(&self, views: bool) -> &SchemaRef {
        match self {
            Self::Parquet(file) => file.schema(views),
            Self::Arrow(file) => &file.schema,
        }
    }

    /// The parts, for input number `table`, whose first row is number `first`.
    pub fn parts(&self, table: usize, mut first: u64) -> Vec<Part> {
        let parts = match self {
            Self::Parquet(file) => file.parts(),
            Self::Arrow(file) => file.parts(),
        };
        let part = |(number, (rows, bytes))| {
            first += rows;
            Part { table, number, first: first - rows, rows, bytes }
        };
        parts.into_iter().enumerate().map(part).collect()
    }

    /// Reads these columns of a part, which ascend. Parquet comes in batches of at most `rows` rows.
    ///
    /// # Errors
    ///
    /// I/O errors; invalid data.
    pub fn read(&self, part: usize, columns: &[usize], rows: usize, views: bool) -> Batches<'static> {
        match self {
            Self::Parquet(file) => file.read(part, columns, rows, views),
            Self::Arrow(file) => file.read(part, columns),
        }
    }
}

/// The common schema of all inputs: the first schema, if all columns match.
///
/// # Errors
///
/// A column differs.
pub fn common_schema(tables: &[Table]) -> Result<SchemaRef, Error> {
    let Some((first, others)) = tables.split_first() else { return Ok(Arc::new(Schema::empty())) };
    let mut fields: Vec<Field> = first.schema().fields().iter().map(|field| (**field).clone()).collect();
    for other in others {
        let theirs = other.schema().fields();
        let differs = |problem: String| {
            let problem = format!("the columns differ from those of {}: {problem}", first.name());
            Err(Error::input(other.name(), problem))
        };
        if theirs.len() != fields.len() {
            return differs(format!("there are {}, not {}", theirs.len(), fields.len()));
        }
        for (field, their) in fields.iter_mut().zip(theirs) {
            let [name, here] = [their.name(), field.name()].map(crate::human::quoted);
            if name != here {
                return differs(format!("'{name}' in place of '{here}'"));
            }
            if their.data_type() != field.data_type() {
                return differs(format!("'{name}' is {}, not {}", their.data_type(), field.data_type()));
            }
            field.set_nullable(field.is_nullable() || their.is_nullable());
        }
    }
    Ok(Arc::new(Schema::new_with_metadata(fields, first.schema().metadata().clone())))
}
