//! Reads row groups of Parquet page by page, so that pages that claim more than they hold are refused before the library
//! takes memory for the claim.

use std::iter;
use std::sync::Arc;

use arrow_schema::Fields;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, RowGroups};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{SchemaDescriptor, Type};

use super::stored::Stored;

/// Begins to read these columns, which ascend, of a row group, in batches of at most `rows` rows.
pub(super) fn reader(
    stored: &Stored,
    metadata: &ArrowReaderMetadata,
    group: usize,
    columns: &[usize],
    rows: usize,
) -> Result<ParquetRecordBatchReader> {
    let (of_file, fields) = (metadata.parquet_schema(), metadata.schema().fields());
    // A schema of these columns alone: the library goes through all columns of a schema for each reader.
    let root = of_file.root_schema();
    let kinds = columns.iter().map(|&column| root.get_fields()[column].clone()).collect();
    let schema = Type::group_type_builder(root.name()).with_fields(kinds).build()?;
    let fields: Fields = columns.iter().map(|&column| fields[column].clone()).collect();
    let schema = SchemaDescriptor::new(Arc::new(schema));
    let levels = parquet_to_arrow_field_levels(&schema, ProjectionMask::all(), Some(&fields))?;
    let is_read = |leaf: &usize| columns.binary_search(&of_file.get_column_root_idx(*leaf)).is_ok();
    let leaves = (0..of_file.num_columns()).filter(is_read).collect();
    let group =
        Group { stored: Arc::new(stored.clone()), metadata: metadata.metadata(), number: group, leaves };
    let rows = rows.min(RowGroups::num_rows(&group)).max(1);
    ParquetRecordBatchReader::try_new_with_row_groups(&levels, &group, rows, None)
}

/// Columns of a row group.
struct Group<'m> {
    stored: Arc<Stored>,
    metadata: &'m ParquetMetaData,
    number: usize,
    /// The places of the leaves of these columns among all leaves.
    leaves: Vec<usize>,
}

impl RowGroups for Group<'_> {
    fn num_rows(&self) -> usize {
        self.metadata.row_group(self.number).num_rows().unsigned_abs() as usize
    }

    fn column_chunks(&self, leaf: usize) -> Result<Box<dyn PageIterator>> {
        let chunk = self.metadata.row_group(self.number).column(self.leaves[leaf]);
        let pages = SerializedPageReader::new(self.stored.clone(), chunk, self.num_rows(), None)?;
        Ok(Box::new(Chunk(Some(Pages(pages)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(iter::once(self.metadata.row_group(self.number)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.metadata
    }
}

/// The only column chunk of a leaf.
struct Chunk(Option<Pages>);

impl Iterator for Chunk {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(Ok(Box::new(self.0.take()?)))
    }
}

impl PageIterator for Chunk {}

/// The pages of a column chunk.
struct Pages(SerializedPageReader<Stored>);

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.0.get_next_page()?;
        if let Some(Page::DictionaryPage { buf, num_values, .. }) = &page {
            // A byte holds eight values at most; a single value may have no bytes.
            if *num_values as usize > 8 * buf.len().max(1) {
                let problem = "a dictionary page claims more values than it can have";
                return Err(ParquetError::General(problem.to_owned()));
            }
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0.skip_next_page()
    }
}
