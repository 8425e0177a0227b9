//! Writes Parquet files: row groups of columns that are encoded on all cores.

use std::io::Write;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{Field, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, compute_leaves};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{BrotliLevel, Compression, ConvertedType, GzipLevel, Type, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{RowGroupMetaData, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::arrow::settings::{with_column, with_encoding};
use crate::error::Error;
use crate::human::quoted;

use super::{File, SortedColumn, check_types, leaves};

/// Writes a file.
pub struct Writer<W: Write + Send> {
    /// `None` only between two files.
    file: Option<SerializedFileWriter<W>>,
    /// The schema of the batches.
    batches: SchemaRef,
    /// Maximum rows per row group.
    pub rows: usize,
}

/// A part of a row group: the encoded leaves of a column.
pub type Encoded = Vec<ArrowColumnChunk>;

impl<W: Write + Send> Writer<W> {
    /// Begins a file of this schema, from batches of `batches`. The file has the settings of `like`, with its column
    /// settings if the schemas match. `order` has the column of each key, if known, and its descending and
    /// nulls-first flags.
    ///
    /// # Errors
    ///
    /// I/O errors; a column type that Parquet lacks.
    pub fn new(
        to: W,
        like: Option<&File>,
        (schema, batches): (&SchemaRef, SchemaRef),
        (compression, most): (Option<Compression>, Option<u64>),
        order: &[SortedColumn],
    ) -> Result<Self, Error> {
        /// Bounds of the rows of a row group: few enough that engines skip many groups, and enough to be
        /// worth the statistics.
        const ROWS: std::ops::RangeInclusive<usize> = 122_880..=1 << 20;
        const USUAL: Compression = Compression::SNAPPY;
        check_types(&batches)?;
        let derived = ArrowSchemaConverter::new().convert(&batches).map_err(unwritten)?;
        let own = like.map(|like| like.as_is.parquet_schema()).filter(|own| is_alike(own, &derived)).cloned();
        let of_file = own.is_some();
        let descriptor = own.unwrap_or(derived);
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("gpusort version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_max_row_group_row_count(None)
            .set_compression(compression.unwrap_or(USUAL));
        let mut rows = *ROWS.start();
        if let Some(like) = like {
            let metadata = like.as_is.metadata();
            let largest = metadata.row_groups().iter().map(RowGroupMetaData::num_rows).max().unwrap_or(0);
            rows = (largest.unsigned_abs() as usize).clamp(*ROWS.start(), *ROWS.end());
            let mut said = metadata.file_metadata().key_value_metadata().cloned();
            // The stored Arrow schema would be wrong for other columns.
            said.iter_mut().for_each(|said| said.retain(|one| of_file || one.key != ARROW_SCHEMA_META_KEY));
            properties = properties.set_key_value_metadata(said);
            if let Some(group) = metadata.row_groups().first() {
                for (leaf, column) in group.columns().iter().enumerate() {
                    properties = with_column(properties, column, compression.is_none());
                    if of_file {
                        let root = descriptor.get_column_root_idx(leaf);
                        let is_key = order.iter().any(|key| key.column == root);
                        properties = with_encoding(properties, column, is_key);
                    }
                }
            }
        }
        if !order.is_empty() {
            let column = |&SortedColumn { column, descending, nulls_first }: &SortedColumn| {
                let leaf = (0..descriptor.num_columns())
                    .find(|&leaf| descriptor.get_column_root_idx(leaf) == column)?;
                Some(SortingColumn { column_idx: leaf as i32, descending, nulls_first })
            };
            properties = properties.set_sorting_columns(order.iter().map(column).collect());
        }
        let mut properties = properties.build();
        if !of_file {
            add_encoded_arrow_schema_to_metadata(schema, &mut properties);
        }
        let file = SerializedFileWriter::new(to, descriptor.root_schema_ptr(), Arc::new(properties));
        let rows = most.map_or(rows, |most| usize::try_from(most).unwrap_or(usize::MAX).max(1));
        Ok(Self { file: Some(file.map_err(unwritten)?), batches, rows })
    }

    pub(in crate::arrow) fn file(&self) -> &SerializedFileWriter<W> {
        self.file.as_ref().expect("a file is open")
    }

    pub(in crate::arrow) fn file_mut(&mut self) -> &mut SerializedFileWriter<W> {
        self.file.as_mut().expect("a file is open")
    }

    /// The bytes and the rows of the row groups written to the file.
    pub fn written(&self) -> (u64, u64) {
        let rows = self.file().flushed_row_groups().iter().map(|group| group.num_rows().unsigned_abs());
        (self.file().bytes_written() as u64, rows.sum())
    }

    /// Ends the file, calls `turn` with the output, and begins another file.
    ///
    /// # Errors
    ///
    /// I/O errors; errors of `turn`, after which the writer is of no use.
    ///
    /// # Panics
    ///
    /// Panics after an error of the previous call.
    pub fn next(&mut self, turn: impl FnOnce(&mut W) -> Result<(), Error>) -> Result<(), Error> {
        let file = self.file.take().expect("a file is open");
        let (schema, properties) = (file.schema_descr().root_schema_ptr(), file.properties().clone());
        let mut to = file.into_inner().map_err(unwritten)?;
        turn(&mut to)?;
        self.file = Some(SerializedFileWriter::new(to, schema, properties).map_err(unwritten)?);
        Ok(())
    }

    /// Returns an encoder for a column of a row group.
    ///
    /// # Errors
    ///
    /// A column of an unsupported type.
    pub fn encoder(&self, column: usize) -> Result<Encoder, Error> {
        let field = self.batches.fields()[column].clone();
        let leaves = leaves(self.file().schema_descr(), column, &field, self.file().properties().clone());
        Ok(Encoder { field, leaves: leaves.map_err(unwritten)? })
    }

    /// Writes a row group of these columns.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn write(&mut self, columns: impl IntoIterator<Item = Encoded>) -> Result<(), Error> {
        let mut group = self.file_mut().next_row_group().map_err(unwritten)?;
        for chunk in columns.into_iter().flatten() {
            chunk.append_to_row_group(&mut group).map_err(unwritten)?;
        }
        group.close().map(drop).map_err(unwritten)
    }

    /// Ends the file, and returns the output.
    ///
    /// # Errors
    ///
    /// I/O errors.
    ///
    /// # Panics
    ///
    /// Panics after an error of [`Writer::next`].
    pub fn finish(self) -> Result<W, Error> {
        self.file.expect("a file is open").into_inner().map_err(unwritten)
    }
}

/// Returns true if columns encoded for one schema fit the other: the same types and levels.
fn is_alike(one: &SchemaDescriptor, other: &SchemaDescriptor) -> bool {
    let columns = one.columns().iter().zip(other.columns());
    one.num_columns() == other.num_columns()
        && columns.into_iter().all(|(one, other)| {
            let form = |column: &ColumnDescriptor| {
                let has_length = column.physical_type() == Type::FIXED_LEN_BYTE_ARRAY;
                let levels = (column.max_def_level(), column.max_rep_level());
                (column.physical_type(), has_length.then(|| column.type_length()), levels)
            };
            // A column that the file alone calls numbers would get values of another unit.
            let is_typed = |column: &ColumnDescriptor| {
                column.logical_type_ref().is_some() || column.converted_type() != ConvertedType::NONE
            };
            form(one) == form(other) && is_typed(one) >= is_typed(other)
        })
}

/// Encodes a column of a row group.
pub struct Encoder {
    field: Arc<Field>,
    leaves: Vec<ArrowColumnWriter>,
}

impl Encoder {
    /// Adds values.
    ///
    /// # Errors
    ///
    /// Values that a column may not have.
    pub fn write(&mut self, array: &ArrayRef) -> Result<(), Error> {
        let leaves = compute_leaves(&self.field, array).map_err(unwritten)?;
        self.leaves.iter_mut().zip(&leaves).try_for_each(|(to, leaf)| to.write(leaf)).map_err(unwritten)
    }

    /// Approximate memory use.
    pub fn bytes(&self) -> usize {
        self.leaves.iter().map(ArrowColumnWriter::memory_size).sum()
    }

    /// Approximate bytes once encoded.
    pub fn encoded_bytes(&self) -> usize {
        self.leaves.iter().map(ArrowColumnWriter::get_estimated_total_bytes).sum()
    }

    /// Returns all chunks.
    ///
    /// # Errors
    ///
    /// A failed encoding.
    pub fn finish(self) -> Result<Encoded, Error> {
        self.leaves.into_iter().map(|leaf| leaf.close().map_err(unwritten)).collect()
    }
}

/// A write error, usually of the disk.
pub(in crate::arrow) fn unwritten(error: ParquetError) -> Error {
    match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => Error::io("the output", "write", *error),
            Err(error) => Error::options(format!("Parquet: {error}")),
        },
        error => Error::options(format!("Parquet: {error}")),
    }
}

/// The compression of this name, with its level if one follows a colon.
///
/// # Errors
///
/// Unknown names and levels.
pub fn compression(name: &str) -> Result<Compression, Error> {
    let with_level = |(codec, level)| format!("{codec}({level})").parse().ok();
    let parsed = match name {
        "none" | "uncompressed" => Some(Compression::UNCOMPRESSED),
        "snappy" => Some(Compression::SNAPPY),
        "gzip" => Some(Compression::GZIP(GzipLevel::default())),
        "brotli" => Some(Compression::BROTLI(BrotliLevel::default())),
        "lz4" => Some(Compression::LZ4_RAW),
        "zstd" => Some(Compression::ZSTD(ZstdLevel::default())),
        _ => name.split_once(':').and_then(with_level),
    };
    parsed.ok_or_else(|| {
        let name = quoted(name);
        let problem = format!(
            "must be zstd, snappy, lz4, gzip, brotli or none, not '{name}'; zstd has levels 1 to 22, gzip 0 to 9, \
             brotli 0 to 11, as in zstd:9"
        );
        Error::option("parquet-compression", problem)
    })
}
