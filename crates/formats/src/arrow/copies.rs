//! Copies of row groups between Parquet files, byte for byte, with their statistics, page indexes and bloom filters.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::ColumnOrder;
use parquet::bloom_filter::Sbbf;
use parquet::column::page::PageReader;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::serialized_reader::SerializedPageReader;

use super::parquet::{File, WHAT, Writer, unwritten};
use super::stored::guarded;
use crate::error::Error;

impl File {
    /// The encoded bytes of a row group.
    pub fn bytes(&self, group: usize) -> u64 {
        self.as_is.metadata().row_group(group).compressed_size().unsigned_abs()
    }

    /// Reads what describes the columns of a row group, and walks through the pages.
    fn columns(&self, group: usize) -> Result<Vec<ColumnCloseResult>, ParquetError> {
        let metadata = self.as_is.metadata();
        let group = metadata.row_group(group);
        let alone = ParquetMetaData::new(metadata.file_metadata().clone(), vec![group.clone()]);
        let mut reader =
            ParquetMetaDataReader::new_with_metadata(alone).with_page_index_policy(PageIndexPolicy::Optional);
        reader.read_page_indexes(&self.stored)?;
        let index = reader.finish()?.page_index_for_row_group(0);
        let rows = group.num_rows().unsigned_abs();
        let column = |(number, chunk): (usize, &ColumnChunkMetaData)| {
            let stored = Arc::new(self.stored.clone());
            let mut pages = SerializedPageReader::new(stored, chunk, rows as usize, None)?;
            let mut values = 0;
            while let Some(page) = pages.peek_next_page()? {
                values += if page.is_dict { 0 } else { page.num_levels.unwrap_or_default() };
                pages.skip_next_page()?;
            }
            if values as u64 != chunk.num_values().unsigned_abs() {
                return Err(ParquetError::General("values of a column chunk are missing".to_owned()));
            }
            // The output says a column's order once; older orders of floats give other meanings to zeros and NaN.
            let column = chunk.column_descr();
            let (logical, converted) = (column.logical_type_ref(), column.converted_type());
            let order = ColumnOrder::column_order_for_type(logical, converted, chunk.column_type());
            let is_same_order = metadata.file_metadata().column_order(number) == order;
            let builder = chunk.clone().into_builder();
            let builder = if is_same_order { builder } else { builder.clear_statistics() };
            Ok(ColumnCloseResult {
                bytes_written: chunk.compressed_size().unsigned_abs(),
                rows_written: rows,
                metadata: builder.build()?,
                bloom_filter: Sbbf::read_from_column_chunk(chunk, &self.stored)?,
                column_index: index.column_index(number).filter(|_| is_same_order).cloned(),
                offset_index: index.offset_index(number).cloned(),
            })
        };
        group.columns().iter().enumerate().map(column).collect()
    }
}

impl<W: Write + Send> Writer<W> {
    /// Returns true if a row group of another file is what this writer would write: the same columns, compression and
    /// bloom filters.
    pub fn takes(&self, from: &File, group: usize) -> bool {
        let (own, properties) = (self.file().schema_descr(), self.file().properties());
        let fields = from.as_is.parquet_schema().root_schema().get_fields();
        let chunks = from.as_is.metadata().row_group(group).columns();
        own.root_schema().get_fields() == fields
            && chunks.iter().all(|chunk| {
                let path = chunk.column_path();
                // The metadata of such a chunk does not tell its first byte.
                let begins_elsewhere = chunk.file_path().is_some()
                    || chunk
                        .dictionary_page_offset()
                        .is_some_and(|place| place <= 0 || place >= chunk.data_page_offset());
                !begins_elsewhere
                    && chunk.compression() == properties.compression(path)
                    && (properties.bloom_filter_properties(path).is_none()
                        || chunk.bloom_filter_offset().is_some())
            })
    }

    /// Copies a row group of another file that this writer takes.
    ///
    /// # Errors
    ///
    /// I/O errors; pages that do not fill their column.
    pub fn copy(&mut self, from: &File, group: usize) -> Result<(), Error> {
        let columns = guarded(&from.name, WHAT, || from.columns(group))?;
        let mut to = self.file_mut().next_row_group().map_err(unwritten)?;
        for column in columns {
            to.append_column(&from.stored, column).map_err(unwritten)?;
        }
        to.close().map(drop).map_err(unwritten)
    }
}
