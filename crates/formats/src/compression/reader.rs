//! Decompresses data.
//!
//! ```text
//! source ── Window ── Decoder ── blocks ── Reader
//!           bytes as    members,           whoever reads
//!           they are    one or several
//! ```
//!
//! The decoder runs ahead on its own thread, if the system has one, and decompresses the next block
//! while the current block is used. Members that declare their length and content size are decompressed by
//! all cores into one block. Other members are decompressed one at a time.

use std::io::{self, Cursor, Read};
use std::mem;
use std::sync::{Arc, LazyLock, Mutex, mpsc};

use super::decoder::{Decoder, Source};
use super::kind::{Compression, LONGEST, beginning};
use crate::file::uninterrupted;
use crate::{memory, parallel};

/// Reads the content of data that may be compressed.
pub struct Reader(LazyLock<State, Box<dyn FnOnce() -> State + Send>>);

/// The content, or the error of an earlier read.
type State = Mutex<io::Result<Content>>;

type Content = Box<dyn Read + Send>;

/// Returns the maximum number of content bytes of members decompressed together. Called only for
/// compressed data, since asking for the thread count starts the threads.
pub type Limit = Box<dyn FnOnce() -> usize + Send>;

/// Returns the limit for a small part of this memory, or of the available memory if `None`: 0 if
/// reading may wait for other programs, since reading ahead would read more than needed next.
pub fn sensible(memory: Option<u64>, is_ready: bool) -> Limit {
    /// The maximum in bytes for each core.
    const MOST: u64 = 8 << 20;
    Box::new(move || {
        let threads = parallel::threads() as u64;
        // Up to three blocks exist: in use, ready, and in the making. Other inputs may be read at the
        // same time.
        let share = memory.or_else(memory::available).map_or(u64::MAX, |bytes| bytes / 32);
        let share = share.min(MOST * threads) / Arc::strong_count(&AHEAD) as u64;
        if is_ready && threads > 1 { share as usize } else { 0 }
    })
}

impl Reader {
    /// Returns a reader of a source; without a given compression, its first bytes tell it.
    pub fn new(source: Box<dyn Read + Send + Sync>, compression: Option<Compression>, limit: Limit) -> Self {
        Self(LazyLock::new(Box::new(move || Mutex::new(content(source, compression, limit)))))
    }
}

impl Read for Reader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut content = parallel::lock(&self.0);
        let read = match &mut *content {
            Ok(content) => content.read(room),
            Err(error) => Err(mem::replace(error, io::ErrorKind::Other.into())),
        };
        if let Err(error) = &read
            && error.kind() != io::ErrorKind::Interrupted
        {
            *content = Err(io::Error::new(error.kind(), error.to_string()));
        }
        read
    }
}

/// Returns the content. Without a given `compression`, first reads the bytes that tell it.
fn content(mut source: Source, compression: Option<Compression>, limit: Limit) -> io::Result<Content> {
    let (mut bytes, mut count) = (vec![0; LONGEST], 0);
    let mut known = compression.map(|compression| Ok(Some(compression)));
    while known.is_none() {
        match uninterrupted(|| source.read(&mut bytes[count..]))? {
            0 => break,
            more => count += more,
        }
        known = beginning(&bytes[..count]);
    }
    bytes.truncate(count);
    Ok(match known.transpose().map_err(io::Error::other)? {
        Some(Some(compression)) => {
            let next = ahead(Decoder::new(compression, bytes, source, limit()));
            Box::new(Blocks { next: Some(next), block: Cursor::default() })
        }
        Some(None) => Box::new(Cursor::new(bytes).chain(source)),
        // The source has ended. Another read of a terminal would wait for more input.
        None => Box::new(Cursor::new(bytes)),
    })
}

/// Blocks of content.
struct Blocks {
    /// Makes the next block; `None` after the last one.
    next: Option<Next>,
    block: Cursor<Vec<u8>>,
}

/// Returns the next block, in the memory of a used block; empty at the end.
type Next = Box<dyn FnMut(Vec<u8>) -> io::Result<Vec<u8>> + Send>;

impl Read for Blocks {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.block.position() == self.block.get_ref().len() as u64
            && let Some(next) = &mut self.next
        {
            let block = next(mem::take(&mut self.block).into_inner())?;
            self.next.take_if(|_| block.is_empty());
            self.block = Cursor::new(block);
        }
        self.block.read(room)
    }
}

/// Counts the decoders that run ahead; each holds a clone.
static AHEAD: LazyLock<Arc<()>> = LazyLock::new(Arc::default);

/// Lets the decoder run ahead on its own thread, if possible.
fn ahead(mut decoder: Decoder) -> Next {
    // More decoders than cores would not be faster.
    if Arc::strong_count(&AHEAD) <= parallel::cores() {
        let counted = AHEAD.clone();
        let (sender, blocks) = mpsc::sync_channel(1);
        let (done, again) = mpsc::channel();
        let run = move |mut decoder: Decoder| {
            loop {
                let block = decoder.block(again.try_recv().unwrap_or_default());
                let is_last = block.as_ref().map_or(true, Vec::is_empty);
                // An error means that the receiver is gone.
                if sender.send(block).is_err() || is_last {
                    break drop(counted);
                }
            }
        };
        let Err(refused) = parallel::on_a_thread(decoder, run) else {
            return Box::new(move |block| {
                // If the other thread has ended, it needs no block.
                let _ = done.send(block);
                blocks.recv().expect("the thread sends blocks up to the last one")
            });
        };
        decoder = refused;
    }
    Box::new(move |block| decoder.block(block))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::compression::codec::Codec;
    use crate::compression::gzip::Gzip;
    use crate::compression::noise::noise;

    /// Returns a fixed number of bytes at a time.
    struct Pieces(Vec<u8>, usize, usize);

    impl Read for Pieces {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let Self(bytes, piece, at) = self;
            let count = room.len().min(*piece).min(bytes.len() - *at);
            room[..count].copy_from_slice(&bytes[*at..*at + count]);
            *at += count;
            Ok(count)
        }
    }

    /// Reads the content of this data with this memory.
    fn content(
        data: &[u8],
        compression: Option<Compression>,
        piece: usize,
        memory: u64,
        is_ready: bool,
    ) -> io::Result<Vec<u8>> {
        let source = Box::new(Pieces(data.to_vec(), piece, 0));
        let mut content = Vec::new();
        let mut reader = Reader::new(source, compression, sensible(Some(memory), is_ready));
        // Small reads first, then large ones.
        let mut few = [0; 3];
        for _ in 0..3 {
            let count = reader.read(&mut few)?;
            content.extend_from_slice(&few[..count]);
        }
        let read = reader.read_to_end(&mut content);
        if let Err(error) = &read {
            let again = reader.read(&mut few).unwrap_err();
            assert_eq!(again.to_string(), error.to_string());
        }
        read.map(|_| content)
    }

    fn members(contents: &[Vec<u8>], compression: Compression) -> Vec<u8> {
        let member = |content: &Vec<u8>| match compression {
            Compression::Gzip => {
                let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                member.write_all(content).unwrap();
                member.finish().unwrap()
            }
            Compression::Zstd => compression.codec().compress(content).unwrap(),
        };
        contents.iter().flat_map(member).collect()
    }

    fn stored(content: &[u8]) -> Vec<u8> {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        member.write_all(content).unwrap();
        member.finish().unwrap()
    }

    #[test]
    fn members_are_read_one_after_the_other() {
        let of_numbers: Vec<u8> =
            (0..90_000_u32).flat_map(|n| format!("{}\n", n.wrapping_mul(n)).into_bytes()).collect();
        for compression in Compression::ALL {
            for contents in [
                vec![vec![]],
                vec![b"7".to_vec()],
                vec![vec![], b"1\n".to_vec(), vec![], b"2\n".to_vec(), vec![]],
                vec![of_numbers.clone(), noise(70_000), of_numbers.clone(), noise(80_001), b"end".to_vec()],
                vec![noise(300_000)],
                noise(400_000).chunks(9_000).map(<[u8]>::to_vec).collect(),
            ] {
                let mut data = members(&contents, compression);
                match compression {
                    Compression::Gzip => data.extend_from_slice(&[0; 700]),
                    Compression::Zstd => {
                        let skippable = [&b"\x5e\x2a\x4d\x18\x05\0\0\0"[..], b"(\xb5/\xfd."].concat();
                        data = [&skippable, &data[..], &skippable].concat();
                    }
                }
                let expected = contents.concat();
                for (piece, memory, is_ready) in [
                    (1 << 20, 1 << 30, true),
                    (1 << 20, 1 << 30, false),
                    (40_000, 1 << 24, true),
                    (1 << 20, 12 << 20, true),
                    (if data.len() < 2_000 { 1 } else { 777 }, 1 << 10, false),
                ] {
                    let found = content(&data, None, piece, memory, is_ready).unwrap();
                    assert!(found == expected, "{compression:?} {piece} {memory} {is_ready}");
                    assert!(content(&data, Some(compression), piece, memory, is_ready).unwrap() == expected);
                }
            }
        }
    }

    #[test]
    fn bgzf_has_a_last_block() {
        let content_of = [noise(70_000), b"12\n".repeat(90_000)].concat();
        let blocks = Gzip.compress(&content_of).unwrap();
        let whole = [&blocks[..], Gzip.end()].concat();
        let mut ends = vec![0];
        while let Some(length) = Gzip.length(&whole[ends[ends.len() - 1]..]) {
            ends.push(ends[ends.len() - 1] + length);
        }
        assert!(ends.len() > 6 && ends.last() == Some(&whole.len()));
        for memory in [1 << 30, 1 << 10] {
            let read = |data: &[u8]| content(data, None, 30_000, memory, true);
            for behind in [&[][..], &[0; 900], Gzip.end(), &whole] {
                let data = [&whole[..], behind].concat();
                let times = if behind == whole { 2 } else { 1 };
                assert!(read(&data).unwrap() == content_of.repeat(times));
            }
            for &end in &ends[1..ends.len() - 1] {
                let error = read(&whole[..end]).unwrap_err();
                assert!(error.to_string().contains("without its last block"), "{error}");
            }
            assert_eq!(read(Gzip.end()).unwrap(), b"");
            // Other gzip has no such block.
            let plain = members(std::slice::from_ref(&content_of), Compression::Gzip);
            assert!(read(&[&plain[..], &blocks].concat()).unwrap() == content_of.repeat(2));
        }
    }

    #[test]
    fn what_is_not_compressed_is_given_as_it_is() {
        for data in [&b""[..], b"1", b"\x1f", b"(", b"(1) 2\n", b"12 13\n14", b"P*M", b"\x1f\x8c\x08"] {
            for piece in [1, 3, 100] {
                assert_eq!(content(data, None, piece, 1 << 30, true).unwrap(), data);
            }
            let refused = content(data, Some(Compression::Gzip), 5, 1 << 30, true).unwrap_err();
            let said =
                if data.is_empty() { "truncated gzip data; get the file again" } else { "not gzip data" };
            assert_eq!(refused.to_string(), said);
        }
    }

    #[test]
    fn bytes_that_seem_to_begin_a_member_are_data() {
        // Members within members, as they are and as garbage.
        let within =
            [noise(50_000), stored(&noise(30_000)), b"\x1f\x8b\x08\0".to_vec(), stored(b"")].concat();
        let contents: Vec<Vec<u8>> = vec![within.clone(), stored(&within), noise(60_000), within];
        let data: Vec<u8> = contents.iter().flat_map(|content| stored(content)).collect();
        for memory in [1 << 30, 1 << 24, 1 << 10] {
            assert!(content(&data, None, 1 << 20, memory, true).unwrap() == contents.concat());
        }
    }

    #[test]
    fn data_that_is_cut_off_is_noticed() {
        for compression in Compression::ALL {
            let contents = [b"1\n22\n".repeat(9), vec![], noise(200)];
            let data = members(&contents, compression);
            let ends: Vec<usize> =
                (0..=3).map(|count| members(&contents[..count], compression).len()).collect();
            for length in 0..data.len() {
                match content(&data[..length], Some(compression), 64, 1 << 30, true) {
                    Ok(found) => {
                        let whole = ends.iter().position(|&end| end == length).expect("the end of a member");
                        assert_eq!(found, contents[..whole].concat());
                    }
                    Err(error) => {
                        let said = error.to_string();
                        let follow = "other bytes after";
                        assert!(said.contains("truncated") || said.contains(follow) || length < 4, "{said}");
                    }
                }
            }
            let noisy = members(&vec![noise(60_000); 4], compression);
            let error = content(&noisy[..noisy.len() - 1], None, 1 << 20, 1 << 30, true).unwrap_err();
            assert!(error.to_string().contains("truncated"), "{error}");
            for behind in [&b"1"[..], b"\0\0\x01", b"(\xb5/"] {
                let error = content(&[&data, behind].concat(), None, 64, 1 << 30, true).unwrap_err();
                assert!(error.to_string().contains("other bytes after"), "{error}");
            }
        }
        let zeros = [&members(&[b"1".to_vec()], Compression::Zstd)[..], b"\0\0"].concat();
        assert!(content(&zeros, None, 64, 1 << 30, true).is_err());
    }

    #[test]
    fn flipped_bits_are_noticed_or_change_nothing() {
        for compression in Compression::ALL {
            let contents = [b"12\n345\n".repeat(5), b"-1.5\n".to_vec()];
            let data = members(&contents, compression);
            let mut noticed = 0;
            for bit in 0..8 * data.len() {
                let mut flipped = data.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                match content(&flipped, Some(compression), 1 << 20, 1 << 30, true) {
                    Ok(found) => assert_eq!(found, contents.concat(), "{compression:?} bit {bit}"),
                    Err(_) => noticed += 1,
                }
            }
            assert!(noticed > 4 * data.len(), "{noticed}");
        }
    }

    #[test]
    fn errors_of_the_source_are_its_own() {
        struct Failing(Pieces);
        impl Read for Failing {
            fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                match self.0.read(room)? {
                    0 => Err(io::Error::other("the disk is on fire")),
                    count => Ok(count),
                }
            }
        }
        for compression in Compression::ALL {
            let data = members(&[noise(500_000)], compression);
            let source = Failing(Pieces(data[..400_000].to_vec(), 5_000, 0));
            let mut reader = Reader::new(Box::new(source), None, sensible(None, true));
            let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(error.to_string(), "the disk is on fire");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for compression in Compression::ALL {
            for count in [0, 1, 1 << 20, (1 << 20) + 1, 40 << 20] {
                let content_of: Vec<u8> = b"123456789\n".iter().copied().cycle().take(count).collect();
                let (mut writer, mut data) = (crate::compression::Writer::new(compression), Vec::new());
                content_of.chunks(300_000).for_each(|some| writer.write(some, &mut data).unwrap());
                writer.finish(&mut data).unwrap();
                assert!(content(&data, Some(compression), 1 << 20, 1 << 32, true).unwrap() == content_of);
                let mut reference = Vec::new();
                let read = match compression {
                    Compression::Gzip => {
                        flate2::bufread::MultiGzDecoder::new(&data[..]).read_to_end(&mut reference)
                    }
                    Compression::Zstd => zstd::Decoder::new(&data[..]).unwrap().read_to_end(&mut reference),
                };
                assert!(read.is_ok() && reference == content_of);
            }
        }
    }
}
