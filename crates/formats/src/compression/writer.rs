//! Compresses output.
//!
//! The output is cut into parts that become separate members, so that all cores can compress, and later
//! decompress, the output.

use std::io::{self, Write};

use super::gzip;
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
const PART: usize = 16 * gzip::CONTENT;

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
        self.compress(to)?;
        to.write_all(self.compression.codec().end())
    }

    fn compress(&mut self, to: &mut impl Write) -> io::Result<()> {
        let is_empty = self.bytes.is_empty() && !self.is_begun;
        let parts = self.bytes.chunks(PART).chain(is_empty.then_some(&[][..]));
        let codec = self.compression.codec();
        for member in parallel::map_parts(parts, |part| codec.compress(part)) {
            to.write_all(&member?)?;
        }
        self.is_begun = true;
        self.bytes.clear();
        Ok(())
    }
}
