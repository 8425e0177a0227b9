//! Arrow files (Feather) and streams: sequences of messages. The footer of a file, or a scan of a stream, has the
//! positions of batches and dictionaries.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{Block, CompressionType, Message, convert, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Field, SchemaRef};

use super::stored::{Batches, Stored, failed, guarded, unwritten};
use crate::error::Error;
use crate::output::Output;

const WHAT: &str = "Arrow";

/// The first and last bytes of a file, not of a stream.
pub const MAGIC: &[u8] = b"ARROW1";

/// A file or a stream.
pub struct File {
    pub(super) name: String,
    pub(super) schema: SchemaRef,
    stored: Stored,
    /// The values of dictionaries by their id, for some batches.
    dictionaries: Vec<HashMap<i64, ArrayRef>>,
    batches: Vec<Batch>,
    /// The compression of the record batches.
    pub compression: Option<CompressionType>,
}

struct Batch {
    block: Block,
    /// The number of its dictionaries.
    dictionaries: usize,
    rows: u64,
}

impl File {
    /// Scans the messages.
    ///
    /// # Errors
    ///
    /// I/O errors; an invalid message.
    pub(super) fn open(name: String, stored: Stored) -> Result<Self, Error> {
        guarded(&name.clone(), WHAT, || Self::scan(name, stored))
    }

    fn scan(name: String, stored: Stored) -> Result<Self, Problem> {
        const BLOCK: u64 = 8;
        let is_file = stored.size() >= BLOCK && &stored.at(0, MAGIC.len())?[..] == MAGIC;
        let (schema, blocks) = if is_file { blocks_of_file(&stored)? } else { blocks_of_stream(&stored)? };
        let (mut dictionaries, mut current) = (Vec::new(), HashMap::new());
        let (mut batches, mut compression) = (Vec::new(), None);
        for block in blocks {
            let head = stored.at(block.offset().unsigned_abs(), metadata_length(&block))?;
            let message = message(&head)?;
            if message.bodyLength() != block.bodyLength() {
                return Err("the footer and a message give different lengths".into());
            }
            if let Some(header) = message.header_as_dictionary_batch() {
                // A delta only adds values, so earlier batches may have it, too.
                if !header.isDelta() && current.contains_key(&header.id()) {
                    if is_file {
                        return Err("a dictionary is replaced, which only a stream may do".into());
                    }
                    dictionaries.push(current.clone());
                }
                let body = body(&stored, &block, &message)?;
                read_dictionary(&body, header, &schema, &mut current, &message.version())?;
            } else if let Some(header) = message.header_as_record_batch() {
                compression = compression.or(header.compression().map(|compression| compression.codec()));
                let rows = u32::try_from(header.length());
                let rows = rows.map_err(|_| "impossible number of rows in a record batch")?.into();
                batches.push(Batch { block, dictionaries: dictionaries.len(), rows });
            } else {
                return Err(format!("unexpected {:?} message", message.header_type()).into());
            }
        }
        dictionaries.push(current);
        Ok(Self { name, schema, stored, dictionaries, batches, compression })
    }

    /// The values of the dictionary of a field, each time that they change.
    #[allow(deprecated)]
    pub(super) fn dictionaries(&self, field: &Field) -> impl Iterator<Item = &ArrayRef> {
        let id = field.dict_id();
        self.dictionaries.iter().filter_map(move |dictionaries| dictionaries.get(&id?))
    }

    /// Each batch's rows and approximate bytes.
    pub(super) fn parts(&self) -> Vec<(u64, u64)> {
        let times = if self.compression.is_some() { 4 } else { 1 };
        let part = |batch: &Batch| (batch.rows, batch.block.bodyLength().unsigned_abs() * times);
        self.batches.iter().map(part).collect()
    }

    pub(super) fn read(&self, part: usize, columns: &[usize]) -> Batches<'static> {
        let batch = guarded(&self.name, WHAT, || {
            let Batch { block, dictionaries, .. } = &self.batches[part];
            let head = self.stored.at(block.offset().unsigned_abs(), metadata_length(block))?;
            let message = message(&head)?;
            let header = message.header_as_record_batch().ok_or("missing record batch")?;
            let body = body(&self.stored, block, &message)?;
            let (schema, dictionaries) = (self.schema.clone(), &self.dictionaries[*dictionaries]);
            let version = message.version();
            Ok::<_, Problem>(read_record_batch(&body, header, schema, dictionaries, Some(columns), &version)?)
        });
        Box::new(std::iter::once(batch))
    }
}

/// A problem with the data.
type Problem = Box<dyn std::error::Error>;

fn of_message(schema: arrow_ipc::Schema) -> Result<SchemaRef, Problem> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err("big-endian numbers, which are not supported".into());
    }
    Ok(Arc::new(convert::try_fb_to_schema(schema)?))
}

/// The places of all dictionaries and batches of a file, by its footer. The footer alone has the schema of files that
/// Polars writes.
fn blocks_of_file(stored: &Stored) -> Result<(SchemaRef, Vec<Block>), Problem> {
    /// The size of the length of the footer and the last magic word.
    const END: usize = 10;
    /// Padding between messages is shorter; a message is longer.
    const PADDING: u64 = 64;
    let cut = "it does not end with the footer of an Arrow file, so it was cut, or other bytes follow";
    let end = stored.size().checked_sub(END as u64).ok_or(cut)?;
    let last = stored.at(end, END)?;
    let length = u32::from_le_bytes(*last.first_chunk().expect("the last bytes begin with a length"));
    let begin = end.checked_sub(length.into()).filter(|_| &last[4..] == MAGIC).ok_or(cut)?;
    let footer = stored.at(begin, length as usize)?;
    let footer = root_as_footer(&footer).map_err(|error| format!("damaged footer: {error}"))?;
    let schema = footer.schema().ok_or("no schema")?;
    let [dictionaries, batches] = [footer.dictionaries(), footer.recordBatches()]
        .map(|blocks| blocks.iter().flatten().copied().collect::<Vec<Block>>());
    // The messages of a whole file lie one behind another up to the footer.
    let mut places: Vec<(u64, u64)> = Vec::new();
    for block in dictionaries.iter().chain(&batches) {
        let length =
            u64::try_from(block.bodyLength())?.checked_add(u32::try_from(block.metaDataLength())?.into());
        places.push((block.offset().try_into()?, length.ok_or("impossible length of a message")?));
    }
    places.sort_unstable();
    let mut at = places.first().map_or(begin, |&(place, _)| place);
    for (place, length) in places.into_iter().chain([(begin, 0)]) {
        if place < at || place - at > PADDING {
            return Err("the footer does not list all messages".into());
        }
        at = place.checked_add(length).ok_or("impossible length of a message")?;
    }
    Ok((of_message(schema)?, [dictionaries, batches].concat()))
}

/// The places of all dictionaries and batches of a stream, message by message.
fn blocks_of_stream(stored: &Stored) -> Result<(SchemaRef, Vec<Block>), Problem> {
    let (mut schema, mut blocks, mut at) = (None, Vec::new(), 0);
    loop {
        if at + 4 > stored.size() {
            let cut =
                "the stream lacks its end-of-stream marker, so it was cut, or its writer was not closed";
            return Err(cut.into());
        }
        let word = |place| -> Result<i32, Problem> {
            let bytes = stored.at(place, 4)?;
            Ok(i32::from_le_bytes(*bytes.first_chunk().expect("four bytes were read")))
        };
        let (prefix, length) = match word(at)? {
            -1 => (8, word(at + 4)?),
            // Before version 0.15.
            length => (4, length),
        };
        if length == 0 {
            at += prefix;
            break;
        }
        let length = usize::try_from(length).map_err(|_| "negative message length")?;
        let metadata = stored.at(at + prefix, length)?;
        let message = root_as_message(&metadata).map_err(|error| format!("damaged message: {error}"))?;
        let begin = at + prefix + length as u64;
        let end = u64::try_from(message.bodyLength()).ok().and_then(|body| begin.checked_add(body));
        let end = end.filter(|&end| end <= stored.size()).ok_or("truncated message")?;
        match message.header_as_schema() {
            Some(header) if schema.is_none() => schema = Some(of_message(header)?),
            Some(_) => return Err("two schemas in one stream; pass each stream as a file of its own".into()),
            None if schema.is_none() => return Err("no schema before the first message".into()),
            None => {
                let meta_length = i32::try_from(begin - at).map_err(|_| "message longer than 2 GiB")?;
                blocks.push(Block::new(at.cast_signed(), meta_length, message.bodyLength()));
            }
        }
        at = end;
    }
    if at < stored.size() {
        return Err("other bytes follow the end of the stream; pass a second stream as its own file".into());
    }
    Ok((schema.ok_or("no schema")?, blocks))
}

fn metadata_length(block: &Block) -> usize {
    block.metaDataLength().unsigned_abs() as usize
}

/// The message in these bytes, which begin with its length.
fn message(metadata: &[u8]) -> Result<Message<'_>, Problem> {
    let prefix = if metadata.starts_with(&[0xFF; 4]) { 8 } else { 4 };
    let message = root_as_message(metadata.get(prefix..).ok_or("damaged message")?);
    message.map_err(|error| format!("damaged message: {error}").into())
}

/// The bytes of a message behind its metadata.
fn body(stored: &Stored, block: &Block, message: &Message) -> Result<Buffer, Problem> {
    let begin = block.offset().unsigned_abs() + metadata_length(block) as u64;
    let body = Buffer::from(stored.at(begin, usize::try_from(block.bodyLength())?)?);
    check_lengths(&body, message)?;
    Ok(body)
}

/// Checks that no compressed buffer claims more bytes than it can hold, since arrow-rs allocates the claimed
/// size before decompression.
fn check_lengths(body: &[u8], message: &Message) -> Result<(), Problem> {
    let batch = match message.header_as_dictionary_batch() {
        Some(dictionary) => dictionary.data(),
        None => message.header_as_record_batch(),
    };
    let Some((batch, compression)) = batch.and_then(|batch| Some((batch, batch.compression()?))) else {
        return Ok(());
    };
    // A zstd block that repeats a byte takes 4 bytes for 128 KiB; in LZ4, a byte stands for 255.
    let most = if compression.codec() == CompressionType::ZSTD { 1 << 15 } else { 1 << 8 };
    for buffer in batch.buffers().into_iter().flatten() {
        let (begin, length) = (buffer.offset(), buffer.length());
        let end = begin.checked_add(length).and_then(|end| usize::try_from(end).ok());
        let here = usize::try_from(begin).ok().zip(end).and_then(|(begin, end)| body.get(begin..end));
        let here = here.ok_or("a buffer lies outside its message")?;
        let claimed = here.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
        if claimed > length.saturating_mul(most) {
            return Err("a compressed buffer claims more bytes than it can have".into());
        }
    }
    Ok(())
}

/// Writes a file, or a stream if the output is not a file or its name ends in `.arrows`.
pub enum Writer<'o, 'w> {
    /// A file, with a footer.
    File(Box<FileWriter<&'o mut Output<'w>>>),
    /// A stream.
    Stream(Box<StreamWriter<&'o mut Output<'w>>>),
}

impl<'o, 'w> Writer<'o, 'w> {
    /// Begins the output. All batches must have the same dictionaries.
    ///
    /// # Errors
    ///
    /// I/O errors; an unsupported type.
    pub fn new(
        output: &'o mut Output<'w>,
        schema: &SchemaRef,
        compression: Option<CompressionType>,
    ) -> Result<Self, Error> {
        let options = IpcWriteOptions::default().try_with_compression(compression);
        let options = options.map_err(failed)?;
        if output.is_streamed() {
            let writer = StreamWriter::try_new_with_options(output, schema, options).map_err(of_output)?;
            return Ok(Self::Stream(Box::new(writer)));
        }
        let writer = FileWriter::try_new_with_options(output, schema, options).map_err(of_output)?;
        Ok(Self::File(Box::new(writer)))
    }

    /// Writes the next rows.
    ///
    /// # Errors
    ///
    /// See [`Writer::new`].
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let written = match self {
            Self::File(writer) => writer.write(batch),
            Self::Stream(writer) => writer.write(batch),
        };
        written.map_err(of_output)
    }

    /// Ends the output.
    ///
    /// # Errors
    ///
    /// See [`Writer::new`].
    pub fn finish(self) -> Result<(), Error> {
        let finished = match self {
            Self::File(mut writer) => writer.finish(),
            Self::Stream(mut writer) => writer.finish(),
        };
        finished.map_err(of_output)
    }
}

fn of_output(error: ArrowError) -> Error {
    unwritten("the output", "write", error)
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array};

    use super::*;

    #[test]
    fn a_buffer_that_claims_too_much_is_an_error_before_memory_is_taken() {
        for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let column: ArrayRef = Arc::new(Int64Array::from(vec![7; 1000]));
            let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
            let options = IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
            let mut writer =
                StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
            writer.write(&batch).unwrap();
            let bytes = writer.into_inner().unwrap();
            let read = |bytes: &[u8]| {
                let file = File::open("x".to_owned(), Stored::Memory(bytes.to_vec().into()))?;
                file.read(0, &[0]).collect::<Result<Vec<_>, _>>()
            };
            assert_eq!(read(&bytes).unwrap(), [batch]);
            let claim = 8000_i64.to_le_bytes();
            let at = bytes.windows(8).rposition(|some| some == claim).unwrap();
            let mut more = bytes.clone();
            more[at..at + 8].copy_from_slice(&(1_i64 << 56).to_le_bytes());
            let error = read(&more).unwrap_err().to_string();
            assert!(error.contains("a compressed buffer claims more bytes than it can have"), "{error}");
        }
    }
}
