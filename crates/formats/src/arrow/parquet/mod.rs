//! Parquet: row groups of columns, read and written on all cores.
//!
//! The output has the schema, compression and metadata of the first input, row groups with the row count of
//! its largest (within limits), statistics, a page index, and the order as `sorting_columns`.

mod writer;

use std::io;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, new_null_array};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::root_as_message;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, statistics::StatisticsConverter,
};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowSchemaConverter};
use parquet::basic::Type;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData, SortingColumn};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{SchemaDescriptor, Type as SchemaType};

use super::arrays::{map_within, within};
use super::pages::reader;
use super::stored::{Batches, Stored, caught, guarded};
use crate::error::Error;
use crate::human::quoted;

pub(super) use self::writer::unwritten;
pub use self::writer::{Encoded, Encoder, Writer, compression};

pub(super) const WHAT: &str = "Parquet";

/// A file.
pub struct File {
    pub(super) name: String,
    pub(super) stored: Stored,
    pub(super) as_is: ArrowReaderMetadata,
    /// Reads texts as views, which copy fast, and dictionaries as their values.
    views: ArrowReaderMetadata,
}

impl File {
    /// Reads the footer.
    ///
    /// # Errors
    ///
    /// I/O errors; invalid data.
    pub(super) fn open(name: String, stored: Stored) -> Result<Self, Error> {
        let options = ArrowReaderOptions::new();
        let as_is = guarded(&name, WHAT, || ArrowReaderMetadata::load(&stored, options))?;
        checked(&name, as_is.metadata(), &stored)?;
        let as_is = guarded(&name, WHAT, || with_hints(as_is))?;
        let as_is = with_times(&name, as_is, &stored)?;
        let view = |field: &FieldRef| Arc::new((**field).clone().with_data_type(as_view(field.data_type())));
        let fields = as_is.schema().fields().iter().map(view).collect();
        let views = read_as(&as_is, fields).unwrap_or_else(|_| as_is.clone());
        Ok(Self { name, stored, as_is, views })
    }

    /// The row count and approximate memory of each row group.
    pub(super) fn parts(&self) -> Vec<(u64, u64)> {
        /// Bytes of a view.
        const VIEW: u64 = 16;
        let bytes = |group: &RowGroupMetaData| {
            let rows = group.num_rows().unsigned_abs();
            let of_column = |column: &ColumnChunkMetaData| {
                let width = match column.column_type() {
                    Type::BOOLEAN => 1,
                    Type::INT32 | Type::FLOAT => 4,
                    Type::INT64 | Type::DOUBLE | Type::INT96 => 8,
                    Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => VIEW,
                };
                let values = column.num_values().unsigned_abs().max(rows);
                let packed = column.uncompressed_size().unsigned_abs();
                if width == VIEW { values * VIEW + packed } else { (values * width).max(packed / 2) }
            };
            (rows, group.columns().iter().map(of_column).sum())
        };
        self.as_is.metadata().row_groups().iter().map(bytes).collect()
    }

    pub(super) fn read(&self, part: usize, columns: &[usize], rows: usize, views: bool) -> Batches<'static> {
        let (name, stored, metadata) = (self.name.clone(), self.stored.clone(), self.metadata(views).clone());
        let (columns, mut open) = (columns.to_vec(), None);
        let mut left = metadata.metadata().row_group(part).num_rows().unsigned_abs();
        // A reader takes memory, for its first batch until its last.
        Box::new(std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let next = guarded(&name, WHAT, || -> Result<_, Box<dyn std::error::Error>> {
                let reader = match &mut open {
                    Some(reader) => reader,
                    none => none.insert(reader(&stored, &metadata, part, &columns, rows)?),
                };
                let batch = reader.next().transpose()?.ok_or("rows are missing")?;
                let more = "a column has more values than its row group has rows";
                left = left.checked_sub(batch.num_rows() as u64).ok_or(more)?;
                // Columns read one by one end with the shortest column, which would hide the damage of a longer one.
                if left == 0 && reader.next().transpose()?.is_some() {
                    return Err(more.into());
                }
                Ok(batch)
            });
            if next.is_err() {
                left = 0;
            }
            if left == 0 {
                open = None;
            }
            Some(next)
        }))
    }

    fn metadata(&self, views: bool) -> &ArrowReaderMetadata {
        if views { &self.views } else { &self.as_is }
    }

    pub(super) fn schema(&self, views: bool) -> &SchemaRef {
        self.metadata(views).schema()
    }

    /// The sorting columns that each row group declares.
    pub fn claims(&self) -> Vec<Option<Vec<SortedColumn>>> {
        let descriptor = self.as_is.parquet_schema();
        let of_group = |group: &RowGroupMetaData| {
            let columns = group.sorting_columns().filter(|columns| !columns.is_empty())?;
            let root = |column: &SortingColumn| {
                let leaf = usize::try_from(column.column_idx)
                    .ok()
                    .filter(|&leaf| leaf < descriptor.num_columns())?;
                let SortingColumn { descending, nulls_first, .. } = *column;
                Some(SortedColumn { column: descriptor.get_column_root_idx(leaf), descending, nulls_first })
            };
            columns.iter().map(root).collect()
        };
        self.as_is.metadata().row_groups().iter().map(of_group).collect()
    }

    /// Returns a lower (with `greatest`, an upper) bound of a column in each row group, and its number of
    /// nulls, or `None` if the statistics are unusable.
    pub fn least(&self, column: usize, greatest: bool) -> Option<(ArrayRef, Vec<Option<u64>>)> {
        let (schema, groups) = (self.views.schema(), self.as_is.metadata().row_groups());
        let name = schema.field(column).name();
        // A duplicate name would find its first column. Old writers compared texts as signed bytes.
        let are_twice = schema.fields().iter().filter(|field| field.name() == name).count() > 1;
        let is_old = |chunk: &ColumnChunkMetaData| {
            // Statistics without values, of nulls alone, are in either form.
            chunk.statistics().is_some_and(|of_chunk| {
                of_chunk.is_min_max_deprecated() && of_chunk.min_bytes_opt().is_some()
            })
        };
        if are_twice || groups.iter().any(|group| group.columns().iter().any(is_old)) {
            return None;
        }
        let converter = StatisticsConverter::try_new(name, schema, self.as_is.parquet_schema()).ok()?;
        let least =
            if greatest { converter.row_group_maxes(groups) } else { converter.row_group_mins(groups) };
        let nulls = converter.row_group_null_counts(groups).ok()?;
        Some((least.ok()?, nulls.iter().collect()))
    }
}

/// Sets the types that columns are read as.
fn read_as(
    metadata: &ArrowReaderMetadata,
    fields: Vec<FieldRef>,
) -> Result<ArrowReaderMetadata, ParquetError> {
    let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)
}

/// The type with views of texts, and with the values of dictionaries.
fn as_view(kind: &DataType) -> DataType {
    match as_values(kind) {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        kind => kind,
    }
}

/// The type with the values of dictionaries.
fn as_values(kind: &DataType) -> DataType {
    if let DataType::Dictionary(_, values) = kind {
        as_values(values)
    } else {
        map_within(kind, &mut as_values)
    }
}

/// Checks the footer: column chunks, filters and indexes lie before it and do not overlap, since a reader may read to the
/// end of a chunk or stop at its last value; and no other file precedes it, whose rows the footer would lack.
fn checked(name: &str, metadata: &ParquetMetaData, stored: &Stored) -> Result<(), Error> {
    /// Exceeds any count or size in a row group, and keeps their sums below 2^64.
    const FAR: u64 = 1 << 40;
    let damaged = |problem: &str| Err(Error::input(name, format!("invalid {WHAT}: {problem}")));
    let is_far = |number: i64| u64::try_from(number).is_ok_and(|number| number >= FAR);
    let range = |begin: i64, length: i64| {
        let (begin, length) = (u64::try_from(begin).ok()?, u64::try_from(length).ok()?);
        Some(begin..begin + length)
    };
    let mut ranges = Vec::new();
    for group in metadata.row_groups() {
        if group.num_rows() < 0 || is_far(group.num_rows()) {
            return damaged("impossible number of rows in a row group");
        }
        for column in group.columns() {
            let (data, length) = (column.data_page_offset(), column.compressed_size());
            // A chunk without values may have a dictionary alone.
            let is_first = |place: &i64| *place > 0 && (*place < data || data == 0);
            let begin = column.dictionary_page_offset().filter(is_first).unwrap_or(data);
            let chunk = range(begin, length).filter(|chunk| chunk.end <= stored.size());
            let Some(chunk) = chunk.filter(|_| column.num_values() >= 0) else {
                return damaged("a column chunk lies outside the file");
            };
            if is_far(column.num_values()) || is_far(column.uncompressed_size()) {
                return damaged("impossible size of a column chunk");
            }
            let bloom = column.bloom_filter_offset().zip(column.bloom_filter_length());
            let bloom = bloom.and_then(|(begin, length)| range(begin, length.into()));
            let indexes = [column.column_index_range(), column.offset_index_range()];
            ranges.extend([Some(chunk), bloom].into_iter().chain(indexes).flatten());
        }
    }
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    if ranges.windows(2).any(|pair| pair[0].end > pair[1].start) {
        return damaged("column chunks, filters or indexes overlap");
    }
    let used = ranges.last().map_or(0, |range| range.end);
    // The data of one file ends where its footer begins; offsets that end earlier count from a second file.
    let failed = |error| Error::io(name, "read", error);
    let tail = stored.size().saturating_sub(8);
    let length = stored.at(tail, 4).map_err(failed)?;
    let length = u32::from_le_bytes(length[..].try_into().expect("four bytes are read"));
    let footer = tail.saturating_sub(length.into());
    if used > footer {
        return damaged("a column chunk, filter or index overlaps with the footer");
    }
    let before = footer - used;
    if before > 8 && stored.at(before - 4, 8).map_err(failed)?[..] == *b"PAR1PAR1" {
        return damaged("it holds several Parquet files; pass each as an input of its own");
    }
    Ok(())
}

/// Reads columns as the Arrow schema in the file says, where the library does not: times in another unit have its zone,
/// and dictionaries of values that the library cannot read as such are read as their values.
fn with_hints(metadata: ArrowReaderMetadata) -> Result<ArrowReaderMetadata, Box<dyn std::error::Error>> {
    let said = metadata.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let Some(said) = said.into_iter().find(|one| one.key == ARROW_SCHEMA_META_KEY) else {
        return Ok(metadata);
    };
    let message = BASE64_STANDARD.decode(said.value.as_deref().unwrap_or_default())?;
    let message = message.strip_prefix(&[0xFF; 4]).and_then(|message| message.get(4..)).unwrap_or(&message);
    let schema = root_as_message(message).ok().and_then(|message| message.header_as_schema());
    let schema = Schema::new(try_fb_to_schema(schema.ok_or("damaged Arrow schema")?)?.fields);
    let mut hints = schema.fields().iter();
    let field = |field: &FieldRef| match hints.next() {
        Some(hint) => Arc::new((**field).clone().with_data_type(hinted(field.data_type(), hint.data_type()))),
        None => field.clone(),
    };
    let fields: Vec<FieldRef> = metadata.schema().fields().iter().map(field).collect();
    if fields[..] == metadata.schema().fields()[..] {
        return Ok(metadata);
    }
    Ok(read_as(&metadata, fields)?)
}

/// Returns the type of a column that Parquet reads as `kind` and whose writer had the type `hint`.
fn hinted(kind: &DataType, hint: &DataType) -> DataType {
    match (kind, hint) {
        (DataType::Timestamp(unit, Some(_)), DataType::Timestamp(_, zone @ Some(_))) => {
            DataType::Timestamp(*unit, zone.clone())
        }
        (DataType::Dictionary(_, values), _)
            if values.is_decimal() || values.is_nested() || **values == DataType::Boolean =>
        {
            (**values).clone()
        }
        (DataType::Dictionary(keys, values), DataType::Dictionary(_, hint)) => {
            DataType::Dictionary(keys.clone(), Box::new(hinted(values, hint)))
        }
        _ => {
            let mut hints = within(hint).into_iter();
            map_within(kind, &mut |kind| match hints.next() {
                Some(hint) => hinted(kind, hint.data_type()),
                None => kind.clone(),
            })
        }
    }
}

/// Returns the type that Parquet stores for this type: Parquet has no seconds, and its dates are days.
pub fn stored_as(kind: &DataType) -> DataType {
    match kind {
        DataType::Date64 => DataType::Date32,
        DataType::Time32(TimeUnit::Second) => DataType::Time32(TimeUnit::Millisecond),
        DataType::Timestamp(TimeUnit::Second, zone) => {
            DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
        }
        kind => map_within(kind, &mut stored_as),
    }
}

/// Begins to encode the leaves of a column of a file.
fn leaves(
    file: &SchemaDescriptor,
    column: usize,
    field: &Field,
    properties: WriterPropertiesPtr,
) -> Result<Vec<ArrowColumnWriter>, ParquetError> {
    // A file makes the writers of all its columns at once, which takes memory; a file of one column makes one.
    let root = file.root_schema();
    let root =
        SchemaType::group_type_builder(root.name()).with_fields(vec![root.get_fields()[column].clone()]);
    let file = SerializedFileWriter::new(io::sink(), Arc::new(root.build()?), properties)?;
    let schema = Arc::new(Schema::new(vec![field.clone()]));
    ArrowRowGroupWriterFactory::new(&file, schema).create_column_writers(0)
}

/// Encodes a null of each column, so that a type that Parquet lacks is an error before anything is written.
fn check_types(schema: &Schema) -> Result<(), Error> {
    for field in schema.fields() {
        let field = Field::clone(field).with_nullable(true);
        let encode = || {
            let descriptor = ArrowSchemaConverter::new().convert(&Schema::new(vec![field.clone()]))?;
            let leaves = leaves(&descriptor, 0, &field, Arc::default())?;
            let nulls = compute_leaves(&field, &new_null_array(field.data_type(), 1))?;
            leaves.into_iter().zip(&nulls).try_for_each(|(mut leaf, null)| leaf.write(null))
        };
        caught(encode).map_err(|_| {
            let (name, kind) = (quoted(field.name()), field.data_type());
            Error::options(format!(
                "column '{name}' has type {kind}, which Parquet cannot hold; cast it, leave it out, or \
                 write Arrow"
            ))
        })?;
    }
    Ok(())
}

/// Reads INT96 times in a unit that holds every value: microseconds, the unit of Spark, or else nanoseconds.
fn with_times(
    name: &str,
    mut metadata: ArrowReaderMetadata,
    stored: &Stored,
) -> Result<ArrowReaderMetadata, Error> {
    /// The rows of a batch.
    const ROWS: usize = 1 << 13;
    let columns = metadata.parquet_schema().columns().iter().enumerate();
    let leaves = columns.filter(|(_, column)| column.physical_type() == Type::INT96).map(|(leaf, _)| leaf);
    for leaf in leaves.collect::<Vec<_>>() {
        let root = metadata.parquet_schema().get_column_root_idx(leaf);
        let field = metadata.schema().field(root).clone();
        let wrong =
            |problem: &str| Error::input(name, format!("column '{}' {problem}", quoted(field.name())));
        let DataType::Timestamp(_, zone) = field.data_type() else {
            return Err(wrong("has nested INT96 times, which are not supported"));
        };
        let in_unit = |unit| {
            let mut fields = metadata.schema().fields().to_vec();
            fields[root] = Arc::new(field.clone().with_data_type(DataType::Timestamp(unit, zone.clone())));
            read_as(&metadata, fields)
        };
        let (are_fine, are_wide) = guarded(name, WHAT, || {
            let (micros, nanos) = (in_unit(TimeUnit::Microsecond)?, in_unit(TimeUnit::Nanosecond)?);
            let read = |metadata, group| reader(stored, metadata, group, &[root], ROWS);
            let (mut are_fine, mut are_wide) = (false, false);
            for group in 0..metadata.metadata().num_row_groups() {
                for (micros, nanos) in read(&micros, group)?.zip(read(&nanos, group)?) {
                    let (micros, nanos) = (micros?.column(0).to_data(), nanos?.column(0).to_data());
                    for (&micro, &nano) in micros.buffer::<i64>(0).iter().zip(nanos.buffer::<i64>(0)) {
                        match micro.checked_mul(1000) {
                            Some(least) => are_fine |= nano != least,
                            None => are_wide = true,
                        }
                    }
                }
            }
            Ok::<_, Box<dyn std::error::Error>>((are_fine, are_wide))
        })?;
        if are_fine && are_wide {
            return Err(wrong(
                "has INT96 times with nanoseconds and years beyond 2262, which 64 bits cannot represent together",
            ));
        }
        let unit = if are_fine { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
        metadata = guarded(name, WHAT, || in_unit(unit))?;
    }
    Ok(metadata)
}

/// A column that orders the rows with equal values in all columns before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortedColumn {
    /// The number of the column, from 0.
    pub column: usize,
    /// True for descending order.
    pub descending: bool,
    /// True if nulls come first.
    pub nulls_first: bool,
}
