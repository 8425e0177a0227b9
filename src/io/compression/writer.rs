//! Compresses output.
//!
//! It is cut into blocks, each of which becomes a member of its own, so that all cores work, here
//! and when it is decompressed: members of gzip say in an extra field how long they are. Of BGZF,
//! whose blocks are small, a core makes several.

use std::io::{self, Write};

use flate2::GzBuilder;

use super::{Compression, bgzf};
use crate::parallel;

/// The extra field of gzip in which `bgzip` writes the bytes of a member less one, in two bytes.
pub(super) const BLOCK_SIZE: [u8; 2] = *b"BC";

/// That in which this writer has the bytes of a member, in four bytes.
pub(super) const MEMBER_SIZE: [u8; 2] = *b"gs";

/// Compresses bytes for another writer.
pub struct Writer {
    pub(in crate::io) compression: Compression,
    bytes: Vec<u8>,
    /// Whether a member was written.
    is_begun: bool,
}

/// Bytes of a member: larger ones are hardly smaller together.
const MEMBER: usize = 1 << 20;

/// The most members that are made together.
const MOST: usize = 16;

/// Bytes that a core compresses.
fn part(compression: Compression) -> usize {
    match compression {
        // Blocks that are full, all but the last one.
        Compression::Bgzf => MEMBER / bgzf::CONTENT * bgzf::CONTENT,
        Compression::Gzip | Compression::Zstd => MEMBER,
    }
}

impl Writer {
    /// Without anything in it.
    pub fn new(compression: Compression) -> Self {
        Self { compression, bytes: Vec::new(), is_begun: false }
    }

    /// Takes these bytes, and writes what is compressed by now to `to`.
    ///
    /// # Errors
    ///
    /// Those of `to`.
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

    /// Writes what is left. If that is nothing at all, it is one member without content.
    ///
    /// # Errors
    ///
    /// Those of `to`.
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

/// A member with this content; of BGZF as many as it takes.
pub(super) fn member(content: &[u8], compression: Compression) -> io::Result<Vec<u8>> {
    let room = Vec::with_capacity(content.len() / 2);
    match compression {
        Compression::Gzip => {
            /// Bytes of a header without any field.
            const HEADER: usize = 10;
            // Without a time, so that the same content is the same bytes.
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
