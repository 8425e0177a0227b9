//! Gzip, written as BGZF: in blocks of at most 64 KiB that declare their length, as `bgzip` writes them, so
//! that `tabix` and other programs can find a place in the content. Each block is a member.
//!
//! ```text
//! header, length less one | deflated content | CRC-32, length of the content
//!          16           2                                 4               4 bytes
//! ```

use std::io::{self, Write};

use flate2::{Compression, Decompress, FlushDecompress, GzBuilder, Status};

use super::codec::{Codec, Member};

pub(super) struct Gzip;

/// The maximum content size of a block in bytes.
pub(super) const CONTENT: usize = 0xff00;

/// The length in bytes of the header of a block: gzip without a time, with one extra field.
const HEADER: usize = 16;

/// The empty block at the end, which marks a complete file.
const END: [u8; 28] = *b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";

impl Codec for Gzip {
    fn member(&self, _bytes: &[u8]) -> io::Result<Member> {
        /// The logarithm of the largest window.
        const WINDOW_BITS: u8 = 15;
        let mut state = Decompress::new_gzip(WINDOW_BITS);
        Ok(Box::new(move |from, to| {
            let (taken, made) = (state.total_in(), state.total_out());
            let status = state.decompress(from, to, FlushDecompress::None).map_err(|error| {
                io::Error::other(error.message().unwrap_or("invalid compressed data").to_owned())
            })?;
            let (taken, made) = (state.total_in() - taken, state.total_out() - made);
            Ok((taken as usize, made as usize, status == Status::StreamEnd))
        }))
    }

    /// Returns the length of a block, by the same test as in htslib.
    fn length(&self, bytes: &[u8]) -> Option<usize> {
        let &[0x1f, 0x8b, 8, flags, _, _, _, _, _, _, 6, 0, b'B', b'C', 2, 0, low, high, ..] = bytes else {
            return None;
        };
        (flags & 4 != 0).then_some(usize::from(u16::from_le_bytes([low, high])) + 1)
    }

    fn content_size(&self, bytes: &[u8]) -> Option<u64> {
        // The last four bytes are the size.
        let size = bytes.get(..self.length(bytes)?)?.last_chunk()?;
        Some(u64::from(u32::from_le_bytes(*size)))
    }

    fn compress(&self, content: &[u8]) -> io::Result<Vec<u8>> {
        let mut blocks = Vec::with_capacity(content.len() / 2);
        for content in content.chunks(CONTENT) {
            let start = blocks.len();
            let mut block = GzBuilder::new().extra(*b"BC\x02\0\0\0").write(blocks, Compression::default());
            block.write_all(content)?;
            blocks = block.finish()?;
            let length = u16::try_from(blocks.len() - start - 1).expect("deflate adds fewer than 200 bytes");
            blocks[start + HEADER..][..2].copy_from_slice(&length.to_le_bytes());
        }
        Ok(blocks)
    }

    fn end(&self) -> &'static [u8] {
        &END
    }

    /// Checks that BGZF ends with its last block.
    fn check_end(&self, first: &[u8], last: &[u8]) -> io::Result<()> {
        if self.length(first).is_none() || last.ends_with(&END) {
            return Ok(());
        }
        let problem = "BGZF data without its last block, so it may have been cut; \
            to sort the part that remains, use: gzip -dc FILE | gpusort sort ...";
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem))
    }

    /// Tapes are padded with zeros.
    fn is_padding(&self, bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| byte == 0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::bufread::MultiGzDecoder;

    use super::*;
    use crate::compression::noise::noise;
    use crate::compression::{Compression, Writer};

    /// Returns the size that each block declares, and the size of its content.
    fn sizes(mut blocks: &[u8]) -> Vec<(usize, usize)> {
        let mut sizes = Vec::new();
        while !blocks.is_empty() {
            assert!(blocks.starts_with(&END[..HEADER]));
            let size = Gzip.length(blocks).unwrap();
            let (block, next) = blocks.split_at(size);
            let mut content = Vec::new();
            let mut member = flate2::bufread::GzDecoder::new(block);
            member.read_to_end(&mut content).unwrap();
            assert!(member.into_inner().is_empty());
            sizes.push((size, content.len()));
            blocks = next;
        }
        sizes
    }

    #[test]
    fn blocks_are_cut_as_bgzip_cuts_them() {
        let write = |content: &[u8], piece: usize| {
            let (mut writer, mut data) = (Writer::new(Compression::Gzip), Vec::new());
            content.chunks(piece).for_each(|some| writer.write(some, &mut data).unwrap());
            writer.finish(&mut data).unwrap();
            data
        };
        assert_eq!(write(b"", 1), END);
        let text = b"123456789\n".repeat(400_000);
        // The content that two cores compress together, and the first byte after it.
        for count in [1, CONTENT - 1, CONTENT, CONTENT + 1, 32 * CONTENT, 32 * CONTENT + 1, text.len()] {
            for piece in [70_001, text.len()] {
                let data = write(&text[..count], piece);
                let mut content = Vec::new();
                MultiGzDecoder::new(&data[..]).read_to_end(&mut content).unwrap();
                assert!(content == text[..count]);
                let mut sizes = sizes(&data);
                assert_eq!(sizes.pop(), Some((28, 0)));
                let full = sizes.iter().take_while(|(_, content)| *content == CONTENT).count();
                let rest: Vec<usize> = sizes[full..].iter().map(|(_, content)| *content).collect();
                assert_eq!(full, count / CONTENT);
                assert!(rest == [count % CONTENT] || rest.is_empty() && count % CONTENT == 0);
            }
        }
    }

    #[test]
    fn noise_fits_into_blocks() {
        let mut content = noise(CONTENT);
        content.extend(b"12\n".repeat(CONTENT / 3));
        content.extend(noise(100));
        let blocks = Gzip.compress(&content).unwrap();
        let sizes = sizes(&blocks);
        assert_eq!(sizes.iter().map(|(_, content)| *content).collect::<Vec<_>>(), [CONTENT, CONTENT, 100]);
        assert_eq!(sizes.iter().map(|(size, _)| *size).collect::<Vec<_>>(), [CONTENT + 26 + 4 * 5, 330, 131]);
        let mut found = Vec::new();
        MultiGzDecoder::new(&blocks[..]).read_to_end(&mut found).unwrap();
        assert!(found == content);
    }

    #[test]
    fn first_bytes_tell_bgzf_from_gzip() {
        assert_eq!(Gzip.length(&END), Some(END.len()));
        assert_eq!(Gzip.length(b"\x1f\x8b\x08\x0c1234\x02\x03\x06\0BC\x02\0\x02\x01"), Some(0x103));
        for other in [
            &b""[..],
            &END[..17],
            b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0",
            b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x08\0gs\x04\0\x1b\0",
        ] {
            assert_eq!(Gzip.length(other), None, "{other:?}");
        }
    }
}
