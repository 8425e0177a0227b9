//! Compresses output.
//!
//! The output is cut into blocks. Each block becomes a separate member, so that all cores can compress,
//! and later decompress, the output: gzip members declare their length in an extra field. BGZF blocks are
//! small, so each core makes several.

use std::io::{self, Write};

use flate2::GzBuilder;

use super::{Compression, bgzf};
use crate::parallel;

/// The extra field of gzip for the size of a member in bytes less one, as two bytes, written by `bgzip`.
pub(super) const BLOCK_SIZE: [u8; 2] = *b"BC";

/// The extra field for the size of a member in bytes, as four bytes, written by this writer.
pub(super) const MEMBER_SIZE: [u8; 2] = *b"gs";

/// Compresses bytes for another writer.
pub struct Writer {
    pub(in crate::io) compression: Compression,
    bytes: Vec<u8>,
    /// True after the first member.
    is_begun: bool,
}

/// The content size of a member in bytes: larger members hardly save space.
const MEMBER: usize = 1 << 20;

/// The maximum number of parts compressed together.
const MOST: usize = 16;

/// Returns the number of bytes that a core compresses at a time.
fn part(compression: Compression) -> usize {
    match compression {
        // A whole number of full blocks.
        Compression::Bgzf => MEMBER / bgzf::CONTENT * bgzf::CONTENT,
        Compression::Gzip | Compression::Zstd => MEMBER,
    }
}

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
        let most = part(self.compression) * parallel::threads().min(MOST);
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
        if self.compression == Compression::Bgzf { to.write_all(&bgzf::END) } else { Ok(()) }
    }

    fn compress(&mut self, to: &mut impl Write) -> io::Result<()> {
        let blocks = if self.bytes.is_empty() {
            vec![&[][..]]
        } else {
            self.bytes.chunks(part(self.compression)).collect()
        };
        let compression = self.compression;
        for member in parallel::map_parts(blocks, |block| member(block, compression)) {
            to.write_all(&member?)?;
        }
        self.is_begun = true;
        self.bytes.clear();
        Ok(())
    }
}

/// Returns a member with this content, or for BGZF the required number of blocks.
pub(super) fn member(content: &[u8], compression: Compression) -> io::Result<Vec<u8>> {
    let room = Vec::with_capacity(content.len() / 2);
    match compression {
        Compression::Gzip => {
            /// The size in bytes of a header without any field.
            const HEADER: usize = 10;
            // The header has no time, so that equal content gives equal bytes.
            let extra = [&MEMBER_SIZE[..], &[4, 0], &[0; 4]].concat();
            let mut member = GzBuilder::new().extra(extra).write(room, flate2::Compression::default());
            member.write_all(content)?;
            let mut member = member.finish()?;
            let size = (member.len() as u32).to_le_bytes();
            member[HEADER + 6..][..4].copy_from_slice(&size);
            Ok(member)
        }
        Compression::Bgzf => bgzf::blocks(content),
        Compression::Zstd => {
            let mut member = zstd::Encoder::new(room, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            member.include_checksum(true)?;
            member.set_pledged_src_size(Some(content.len() as u64))?;
            member.write_all(content)?;
            member.finish()
        }
    }
}
