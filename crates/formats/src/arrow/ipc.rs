//! Arrow files (Feather) and streams: sequences of messages. A scan finds the positions of batches and
//! dictionaries. A file has the messages of a stream between its magic words, and a footer.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{Block, CompressionType, MetadataVersion, convert, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use super::dictionaries::Waiting;
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
    /// Hold the dictionaries of batches.
    decoders: Vec<Arc<FileDecoder>>,
    batches: Vec<Batch>,
    /// The compression of the record batches.
    pub compression: Option<CompressionType>,
}

struct Batch {
    block: Block,
    decoder: usize,
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

    fn scan(name: String, stored: Stored) -> Result<Self, ArrowError> {
        const BLOCK: u64 = 8;
        let is_file = stored.size() >= BLOCK && &stored.at(0, MAGIC.len())?[..] == MAGIC;
        let mut at = if is_file { BLOCK } else { 0 };
        let (mut schema, mut version) = (None, MetadataVersion::V5);
        let (mut decoders, mut batches) = (Vec::new(), Vec::new());
        // The numbers and places of the dictionaries so far; `are_known` is true if the last decoder has them.
        let (mut dictionaries, mut are_known) = (Vec::<(i64, Block)>::new(), false);
        let mut compression = None;
        // A stream may lack an end marker.
        while at + 4 <= stored.size() {
            let word = |place| -> Result<i32, ArrowError> {
                let bytes = stored.at(place, 4)?;
                Ok(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            };
            // Padding aligns the first message of a file after the magic word.
            if is_file && schema.is_none() && at < 4 * BLOCK * BLOCK && word(at)? == 0 {
                at += BLOCK;
                continue;
            }
            let (prefix, length) = match word(at)? {
                -1 => (8, word(at + 4)?),
                // Before version 0.15.
                length => (4, length),
            };
            if length == 0 {
                break;
            }
            let length = usize::try_from(length).map_err(|_| wrong("negative message length"))?;
            let metadata = stored.at(at + prefix, length)?;
            let message =
                root_as_message(&metadata).map_err(|error| wrong(&format!("damaged message: {error}")))?;
            let body = message.bodyLength();
            let begin = at + prefix + length as u64;
            let end = u64::try_from(body).ok().and_then(|body| begin.checked_add(body));
            let end = end.filter(|&end| end <= stored.size()).ok_or_else(|| wrong("truncated message"))?;
            let meta_length =
                i32::try_from(prefix + length as u64).map_err(|_| wrong("message longer than 2 GiB"))?;
            let block = Block::new(at.cast_signed(), meta_length, body);
            if let Some(header) = message.header_as_schema() {
                version = message.version();
                schema = Some(Arc::new(convert::try_fb_to_schema(header)?));
            } else if let Some(header) = message.header_as_dictionary_batch() {
                let id = header.id();
                if !header.isDelta() {
                    dictionaries.retain(|(other, _)| *other != id);
                }
                dictionaries.push((id, block));
                are_known = false;
            } else if let Some(header) = message.header_as_record_batch() {
                let schema: &SchemaRef =
                    schema.as_ref().ok_or_else(|| wrong("record batch before the schema"))?;
                if !are_known {
                    let mut decoder = FileDecoder::new(schema.clone(), version);
                    for (_, block) in &dictionaries {
                        decoder.read_dictionary(block, &buffer(&stored, block)?)?;
                    }
                    decoders.push(Arc::new(decoder));
                    are_known = true;
                }
                compression = compression.or(header.compression().map(|compression| compression.codec()));
                let rows = u32::try_from(header.length())
                    .map_err(|_| wrong("impossible number of rows in a record batch"))?;
                batches.push(Batch { block, decoder: decoders.len() - 1, rows: rows.into() });
            } else {
                return Err(wrong(&format!("unexpected {:?} message", message.header_type())));
            }
            at = end;
        }
        let schema = schema.ok_or_else(|| wrong("no schema"))?;
        Ok(Self { name, schema, stored, decoders, batches, compression })
    }

    /// Each batch's rows and approximate bytes.
    pub(super) fn parts(&self) -> Vec<(u64, u64)> {
        let times = if self.compression.is_some() { 4 } else { 1 };
        let part = |batch: &Batch| (batch.rows, batch.block.bodyLength().unsigned_abs() * times);
        self.batches.iter().map(part).collect()
    }

    pub(super) fn read(&self, part: usize, columns: &[usize]) -> Batches<'static> {
        let batch = guarded(&self.name, WHAT, || {
            let Batch { block, decoder, .. } = &self.batches[part];
            let bytes = buffer(&self.stored, block)?;
            let batch = self.decoders[*decoder].read_record_batch(block, &bytes)?;
            batch.ok_or_else(|| wrong("missing record batch"))?.project(columns)
        });
        Box::new(std::iter::once(batch))
    }
}

fn wrong(problem: &str) -> ArrowError {
    ArrowError::IpcError(problem.to_owned())
}

/// The bytes of a message.
fn buffer(stored: &Stored, block: &Block) -> Result<Buffer, ArrowError> {
    let length = u64::from(block.metaDataLength().unsigned_abs()) + block.bodyLength().unsigned_abs();
    let length = usize::try_from(length).map_err(|error| wrong(&error.to_string()))?;
    let bytes = Buffer::from(stored.at(block.offset().unsigned_abs(), length)?);
    check_lengths(&bytes, block)?;
    Ok(bytes)
}

/// Checks that no compressed buffer claims more bytes than it can hold, since arrow-rs allocates the claimed
/// size before decompression.
fn check_lengths(bytes: &[u8], block: &Block) -> Result<(), ArrowError> {
    let (metadata, body) = bytes.split_at(block.metaDataLength().unsigned_abs() as usize);
    let prefix = if metadata.starts_with(&[0xFF; 4]) { 8 } else { 4 };
    let message = root_as_message(&metadata[prefix..]).map_err(|error| wrong(&error.to_string()))?;
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
        let here = here.ok_or_else(|| wrong("a buffer lies outside its message"))?;
        let claimed = here.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
        if claimed > length.saturating_mul(most) {
            return Err(wrong("a compressed buffer claims more bytes than it can have"));
        }
    }
    Ok(())
}

/// Writes a file, or a stream if the output is not a file or its name ends in `.arrows`.
pub enum Writer<'o, 'w> {
    /// A file, with a footer, and the batches that wait for its dictionaries.
    File(Box<FileWriter<&'o mut Output<'w>>>, Option<Box<Waiting>>),
    /// A stream.
    Stream(Box<StreamWriter<&'o mut Output<'w>>>),
}

impl<'o, 'w> Writer<'o, 'w> {
    /// Begins the output. With a folder, batches may have their own dictionaries, and wait in a temporary
    /// file there.
    ///
    /// # Errors
    ///
    /// I/O errors; an unsupported type.
    pub fn new(
        output: &'o mut Output<'w>,
        schema: &SchemaRef,
        compression: Option<CompressionType>,
        folder: Option<&Path>,
    ) -> Result<Self, Error> {
        let options = IpcWriteOptions::default().try_with_compression(compression);
        let options = options.map_err(failed)?;
        if output.is_streamed() {
            let writer = StreamWriter::try_new_with_options(output, schema, options).map_err(of_output)?;
            return Ok(Self::Stream(Box::new(writer)));
        }
        let waiting = folder.map(|folder| Waiting::of(schema, folder)).transpose()?.flatten();
        let writer = FileWriter::try_new_with_options(output, schema, options).map_err(of_output)?;
        Ok(Self::File(Box::new(writer), waiting.map(Box::new)))
    }

    /// Writes the next rows.
    ///
    /// # Errors
    ///
    /// See [`Writer::new`].
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let written = match self {
            Self::File(_, Some(waiting)) => waiting.write(batch),
            Self::File(writer, None) => writer.write(batch),
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
            Self::File(mut writer, waiting) => {
                if let Some(waiting) = waiting {
                    waiting.finish(&mut |batch| writer.write(&batch).map_err(of_output))?;
                }
                writer.finish()
            }
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
