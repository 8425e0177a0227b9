//! Settings of a column of Parquet that the output takes from the first row group of the input.

use parquet::basic::{Encoding, Type};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT, WriterPropertiesBuilder};

/// The encodings that a writer uses only on request, each with its physical types.
const REQUESTED: [(Encoding, &[Type]); 4] = [
    (Encoding::DELTA_BINARY_PACKED, &[Type::INT32, Type::INT64]),
    (Encoding::DELTA_LENGTH_BYTE_ARRAY, &[Type::BYTE_ARRAY]),
    (Encoding::DELTA_BYTE_ARRAY, &[Type::BYTE_ARRAY, Type::FIXED_LEN_BYTE_ARRAY]),
    (
        Encoding::BYTE_STREAM_SPLIT,
        &[Type::INT32, Type::INT64, Type::FLOAT, Type::DOUBLE, Type::FIXED_LEN_BYTE_ARRAY],
    ),
];

/// The encodings with a dictionary.
const DICTIONARIES: [Encoding; 2] = [Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY];

/// Adds the bloom filter of a column and, if `keeps_compression`, its compression.
pub(super) fn with_column(
    mut properties: WriterPropertiesBuilder,
    column: &ColumnChunkMetaData,
    keeps_compression: bool,
) -> WriterPropertiesBuilder {
    let path = || column.column_path().clone();
    if keeps_compression {
        properties = properties.set_column_compression(path(), column.compression());
    }
    if column.bloom_filter_offset().is_some() {
        properties = properties.set_column_bloom_filter_enabled(path(), true);
    }
    properties
}

/// Adds the encoding of a column. If all pages of the column use a dictionary, the dictionary may grow to the size of
/// the column. If no page does, the output has no dictionary either, except for a key: its sorted values repeat.
pub(super) fn with_encoding(
    properties: WriterPropertiesBuilder,
    column: &ColumnChunkMetaData,
    is_key: bool,
) -> WriterPropertiesBuilder {
    let path = || column.column_path().clone();
    let used = column.page_encoding_stats_mask().unwrap_or(column.encodings_mask());
    if DICTIONARIES.iter().any(|&dictionary| used.is_only(dictionary)) {
        let most = DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT.max(column.uncompressed_size().unsigned_abs() as usize);
        return properties.set_column_dictionary_page_size_limit(path(), most);
    }
    if is_key || DICTIONARIES.iter().any(|&dictionary| used.is_set(dictionary)) {
        return properties;
    }
    let properties = properties.set_column_dictionary_enabled(path(), false);
    let is_used = |(encoding, types): &&(Encoding, &[Type])| {
        used.is_set(*encoding) && types.contains(&column.column_type())
    };
    match REQUESTED.iter().find(is_used) {
        Some((encoding, _)) => properties.set_column_encoding(path(), *encoding),
        None => properties,
    }
}
