//! Compresses output.
//!
//! The output is cut into parts that become separate members, so that all cores can compress, and later
//! decompress, the output. Gzip is written as BGZF.

use std::io::{self, Write};

use super::bgzf;
use super::kind::Compression;
use crate::parallel;

/// Compresses bytes for another writer.
pub struct Writer {
    compression: Compression,
    bytes: Vec<u8>,
    /// True after the first part.
    is_begun: bool,
}

/// The number of bytes that a core compresses at a time: a whole number of blocks of BGZF. Larger members
/// hardly save space.
const PART: usize = 16 * bgzf::CONTENT;

/// The maximum number of parts compressed together.
const MOST: usize = 16;

impl Writer {
    /// Returns an empty writer.
    pub fn new(compression: Compression) -> Self {
        Self { compression, bytes: Vec::new(), is_begun: false }
    }

    /// Takes these bytes, and writes the members complete by now to `to`.
    ///
    /// # Errors
    ///
    /// Writing to `to` fails.
    pub fn write(&mut self, mut bytes: &[u8], to: &mut impl Write) -> io::Result<()> {
        let most = PART * parallel::threads().min(MOST);
        while !bytes.is_empty() {
            let count = bytes.len().min(most - self.bytes.len());
            self.bytes.extend_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            if self.bytes.len() == most {
                self.compress(to)?;
            }
        }
        Ok(())
    }

    /// Writes the remaining bytes; empty output becomes a member without content.
    ///
    /// # Errors
    ///
    /// Writing to `to` fails.
    pub fn finish(&mut self, to: &mut impl Write) -> io::Result<()> {
        if !self.bytes.is_empty() || !self.is_begun {
            self.compress(to)?;
        }
        if self.compression == Compression::Gzip { to.write_all(&bgzf::END) } else { Ok(()) }
    }

    fn compress(&mut self, to: &mut impl Write) -> io::Result<()> {
        let blocks = if self.bytes.is_empty() { vec![&[][..]] } else { self.bytes.chunks(PART).collect() };
        let compression = self.compression;
        for member in parallel::map_parts(blocks, |block| member(block, compression)) {
            to.write_all(&member?)?;
        }
        self.is_begun = true;
        self.bytes.clear();
        Ok(())
    }
}

/// Returns a zstd frame with this content, or blocks of BGZF.
pub(super) fn member(content: &[u8], compression: Compression) -> io::Result<Vec<u8>> {
    match compression {
        Compression::Gzip => bgzf::blocks(content),
        Compression::Zstd => {
            let room = Vec::with_capacity(content.len() / 2);
            let mut member = zstd::Encoder::new(room, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            member.include_checksum(true)?;
            member.set_pledged_src_size(Some(content.len() as u64))?;
            member.write_all(content)?;
            member.finish()
        }
    }
}
