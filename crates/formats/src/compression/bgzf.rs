//! BGZF: gzip in blocks of at most 64 KiB that declare their size, as `bgzip` writes it, so that `tabix`
//! and other programs can find a place in the content.
//!
//! ```text
//! header, size less one | deflated content | CRC-32, length of the content
//!          16         2                                 4               4 bytes
//! ```

use std::io;

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

/// The maximum content size of a block in bytes.
pub(super) const CONTENT: usize = 0xff00;

/// The first bytes of a block: gzip without a time, with one extra field.
const HEADER: [u8; 16] = *b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0";

/// The empty block at the end, which marks a complete file.
pub(super) const END: [u8; 28] = *b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";

/// Returns the length in bytes of the block at the start of these bytes, which are 18 or more, and `None` for
/// other data, by the same test as in htslib.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let &[0x1f, 0x8b, 8, flags, _, _, _, _, _, _, 6, 0, b'B', b'C', 2, 0, low, high, ..] = bytes else {
        return None;
    };
    (flags & 4 != 0).then_some(usize::from(u16::from_le_bytes([low, high])) + 1)
}

/// Returns the blocks for this content; empty content needs no block.
pub(super) fn blocks(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut deflate = Compress::new(Compression::default(), false);
    let mut blocks = Vec::with_capacity(content.len() / 2);
    for content in content.chunks(CONTENT) {
        let start = blocks.len();
        blocks.extend_from_slice(&HEADER);
        blocks.extend_from_slice(&[0; 2]);
        append(content, &mut deflate, &mut blocks)?;
        let mut sum = Crc::new();
        sum.update(content);
        blocks.extend_from_slice(&sum.sum().to_le_bytes());
        blocks.extend_from_slice(&sum.amount().to_le_bytes());
        let size = (blocks.len() - start - 1) as u16;
        blocks[start + HEADER.len()..][..2].copy_from_slice(&size.to_le_bytes());
    }
    Ok(blocks)
}

/// Appends this content deflated, or stored if deflating makes it longer, so that it fits into a block.
fn append(content: &[u8], deflate: &mut Compress, to: &mut Vec<u8>) -> io::Result<()> {
    /// The bytes before stored content: a byte that marks it as stored and last, and its length twice.
    const STORED: usize = 5;
    let start = to.len();
    to.resize(start + STORED + content.len(), 0);
    deflate.reset();
    if deflate.compress(content, &mut to[start..], FlushCompress::Finish)? == Status::StreamEnd {
        to.truncate(start + deflate.total_out() as usize);
        return Ok(());
    }
    to.truncate(start);
    let length = content.len() as u16;
    to.push(1);
    to.extend_from_slice(&length.to_le_bytes());
    to.extend_from_slice(&(!length).to_le_bytes());
    to.extend_from_slice(content);
    Ok(())
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
            assert!(blocks.starts_with(&HEADER));
            let size = length(blocks).unwrap();
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
    fn what_deflate_makes_longer_is_stored() {
        let mut content = noise(CONTENT);
        content.extend(b"12\n".repeat(CONTENT / 3));
        content.extend(noise(100));
        let blocks = blocks(&content).unwrap();
        let sizes = sizes(&blocks);
        assert_eq!((sizes[0], sizes[2]), ((18 + 5 + CONTENT + 8, CONTENT), (18 + 5 + 100 + 8, 100)));
        assert!(sizes[1].0 < 1_000 && sizes.len() == 3);
        let mut found = Vec::new();
        MultiGzDecoder::new(&blocks[..]).read_to_end(&mut found).unwrap();
        assert!(found == content);
    }

    #[test]
    fn first_bytes_tell_bgzf_from_gzip() {
        assert_eq!(length(&END), Some(END.len()));
        assert_eq!(length(b"\x1f\x8b\x08\x0c1234\x02\x03\x06\0BC\x02\0\x02\x01"), Some(0x103));
        for other in [
            &b""[..],
            &END[..17],
            b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0",
            b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x08\0gs\x04\0\x1b\0",
        ] {
            assert_eq!(length(other), None, "{other:?}");
        }
    }
}
