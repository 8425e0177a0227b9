//! Settings of a column of Parquet that the output takes from the first row group of the input.

use parquet::basic::{Encoding, Type};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterPropertiesBuilder;

/// Encodings that a writer chooses only on request, and the types that they are for.
const REQUESTED: [(Encoding, &[Type]); 4] = [
    (Encoding::DELTA_BINARY_PACKED, &[Type::INT32, Type::INT64]),
    (Encoding::DELTA_LENGTH_BYTE_ARRAY, &[Type::BYTE_ARRAY]),
    (Encoding::DELTA_BYTE_ARRAY, &[Type::BYTE_ARRAY, Type::FIXED_LEN_BYTE_ARRAY]),
    (
        Encoding::BYTE_STREAM_SPLIT,
        &[Type::INT32, Type::INT64, Type::FLOAT, Type::DOUBLE, Type::FIXED_LEN_BYTE_ARRAY],
    ),
];

/// The dictionaries of Parquet.
const DICTIONARIES: [Encoding; 2] = [Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY];

/// Adds the bloom filter of a column, and its compression unless another one `is_requested`.
pub(super) fn with_column(
    properties: WriterPropertiesBuilder,
    column: &ColumnChunkMetaData,
    is_requested: bool,
) -> WriterPropertiesBuilder {
    let path = || column.column_path().clone();
    let mut properties = properties;
    if !is_requested {
        properties = properties.set_column_compression(path(), column.compression());
    }
    if column.bloom_filter_offset().is_some() {
        properties = properties.set_column_bloom_filter_enabled(path(), true);
    }
    properties
}

/// Adds the encoding of a column. A column that is stored with a dictionary throughout may have one of the size of
/// the stored column, where the default is 1 MiB; a column without a dictionary gets none, unless it `is_key`: sorted
/// values repeat.
pub(super) fn with_encoding(
    properties: WriterPropertiesBuilder,
    column: &ColumnChunkMetaData,
    is_key: bool,
) -> WriterPropertiesBuilder {
    let path = || column.column_path().clone();
    let used = column.page_encoding_stats_mask().unwrap_or(column.encodings_mask());
    if DICTIONARIES.iter().any(|&dictionary| used.is_only(dictionary)) {
        let most = usize::try_from(column.uncompressed_size()).unwrap_or(0);
        return properties.set_column_dictionary_page_size_limit(path(), most.max(1 << 20));
    }
    if is_key || DICTIONARIES.iter().any(|&dictionary| used.is_set(dictionary)) {
        return properties;
    }
    let properties = properties.set_column_dictionary_enabled(path(), false);
    let is_requested = |(encoding, types): &&(Encoding, &[Type])| {
        used.is_set(*encoding) && types.contains(&column.column_type())
    };
    match REQUESTED.iter().find(is_requested) {
        Some((encoding, _)) => properties.set_column_encoding(path(), *encoding),
        None => properties,
    }
}
