//! Decompresses members into blocks of content.

use std::io::{self, Read};
use std::mem;

use super::codec::Member;
use super::kind::{Compression, beginning};
use crate::file::uninterrupted;
use crate::parallel;

/// The raw bytes of a source, compressed or not.
pub(super) type Source = Box<dyn Read + Send + Sync>;

/// The size in bytes of a block of one member.
const BLOCK: usize = 1 << 18;

/// The largest header in bytes; enough to identify the beginning of any member.
const HEADER: usize = 18;

/// The number of used bytes to keep: enough to identify the end of any data.
const END: usize = 28;

/// Decompresses members.
pub(super) struct Decoder {
    compression: Compression,
    source: Source,
    /// The bytes read from the source; the bytes before `at` are decompressed.
    bytes: Vec<u8>,
    at: usize,
    /// True if the source has ended.
    is_over: bool,
    /// The current member.
    member: Option<Member>,
    /// The first bytes of the data; empty until the first member begins.
    first: Vec<u8>,
    /// The maximum number of content bytes of members decompressed together; 0 once that did not help.
    most: usize,
}

impl Decoder {
    /// Creates a decoder of data that begin with `bytes` and continue in `source`.
    pub(super) fn new(compression: Compression, bytes: Vec<u8>, source: Source, most: usize) -> Self {
        Self { compression, source, bytes, at: 0, is_over: false, member: None, first: Vec::new(), most }
    }

    /// Returns the bytes left to decompress.
    fn left(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Reads until `least` bytes are left to decompress, or the source ends.
    fn fill(&mut self, least: usize) -> io::Result<()> {
        while self.left().len() < least && !self.is_over {
            let used = self.at.saturating_sub(END);
            self.bytes.drain(..used);
            self.at -= used;
            let before = self.bytes.len();
            self.bytes.resize(before + (least - self.left().len()).max(BLOCK), 0);
            let read = uninterrupted(|| self.source.read(&mut self.bytes[before..]));
            self.bytes.truncate(before + *read.as_ref().unwrap_or(&0));
            self.is_over = read? == 0;
        }
        Ok(())
    }

    /// Returns the next content, in the memory of a used block; empty at the end.
    pub(super) fn block(&mut self, mut block: Vec<u8>) -> io::Result<Vec<u8>> {
        loop {
            if self.member.is_none() && !self.goes_on()? {
                return Ok(Vec::new());
            }
            if self.member.is_some() || !self.several(&mut block)? {
                self.some(&mut block)?;
            }
            if !block.is_empty() {
                return Ok(block);
            }
        }
    }

    /// Returns true if a member begins here, and false at the end of the data.
    fn goes_on(&mut self) -> io::Result<bool> {
        let (codec, name) = (self.compression.codec(), self.compression.name());
        self.fill(HEADER)?;
        if beginning(self.left()) == Some(Ok(Some(self.compression))) {
            if self.first.is_empty() {
                self.first = self.left().iter().copied().take(HEADER).collect();
            }
            return Ok(true);
        }
        if self.first.is_empty() {
            let is_empty = self.left().is_empty();
            return Err(if is_empty { self.ends_early() } else { invalid(format!("not {name} data")) });
        }
        while !self.left().is_empty() && codec.is_padding(self.left()) {
            self.bytes.truncate(self.at);
            self.fill(1)?;
        }
        if !self.left().is_empty() {
            return Err(invalid(format!("other bytes after the {name} data")));
        }
        codec.check_end(&self.first, &self.bytes).map(|()| false)
    }

    /// Decompresses the next members into the block on all cores: the whole members that declare their
    /// length, within the limit. Returns false if this does not help. An invalid member gets its error
    /// later, when read alone.
    fn several(&mut self, block: &mut Vec<u8>) -> io::Result<bool> {
        let codec = self.compression.codec();
        // If a member does not declare its length, nothing is read ahead.
        let declares = |bytes| codec.length(bytes).is_some() || codec.content_size(bytes).is_some();
        if self.most == 0 || !declares(self.left()) {
            return Ok(false);
        }
        // If this does not help, each later member would again read ahead and examine the members after it.
        let most = mem::take(&mut self.most);
        self.fill(most / 4)?;
        let (mut bytes, mut members, mut content) = (self.left(), Vec::new(), 0);
        while let Some(length) = codec.length(bytes)
            && let Some(size) = codec.content_size(bytes)
            && size <= (most - content) as u64
            && let Some(member) = bytes.split_off(..length)
        {
            members.push((member, size as usize));
            content += size as usize;
        }
        if members.len() < 2 {
            return Ok(false);
        }
        block.resize(content, 0);
        let mut room = &mut block[..];
        let rooms = members.iter().filter_map(|(_, size)| room.split_off_mut(..*size));
        let read = parallel::map_parts(members.iter().zip(rooms), |((member, size), room)| {
            let read = codec.member(member).and_then(|mut decompress| decompress(member, room));
            read.ok().filter(|read| *read == (member.len(), *size, true))
        });
        let whole: Vec<_> = read.into_iter().map_while(|read| read).collect();
        if whole.len() < 2 {
            return Ok(false);
        }
        self.at += whole.iter().map(|(taken, ..)| taken).sum::<usize>();
        block.truncate(whole.iter().map(|(_, made, _)| made).sum());
        self.most = most;
        Ok(true)
    }

    /// Decompresses some bytes of one member into the block.
    fn some(&mut self, block: &mut Vec<u8>) -> io::Result<()> {
        self.fill(1)?;
        let member = match &mut self.member {
            Some(member) => member,
            none => none.insert(self.compression.codec().member(&self.bytes[self.at..])?),
        };
        // The old content is overwritten, and need not be zeros.
        block.resize(BLOCK, 0);
        let (taken, made, is_over) = member(&self.bytes[self.at..], block)
            .map_err(|error| invalid(format!("damaged {} data: {error}", self.compression.name())))?;
        self.at += taken;
        block.truncate(made);
        if is_over {
            self.member = None;
        } else if taken == 0 && made == 0 {
            return Err(self.ends_early());
        }
        Ok(())
    }

    fn ends_early(&self) -> io::Error {
        let problem = format!("truncated {} data; get the file again", self.compression.name());
        io::Error::new(io::ErrorKind::UnexpectedEof, problem)
    }
}

fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::codec::Codec;
    use crate::compression::gzip::Gzip;
    use crate::compression::noise::noise;
    use crate::compression::reader::{Reader, sensible};

    fn content(data: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        let source = Box::new(io::Cursor::new(data.to_vec()));
        Reader::new(source, None, sensible(Some(1 << 30), true)).read_to_end(&mut content).map(|_| content)
    }

    fn decoder(bytes: Vec<u8>, compression: Compression, most: usize) -> Decoder {
        Decoder::new(compression, bytes, Box::new(&[][..]), most)
    }

    #[test]
    fn no_more_is_decompressed_together_than_there_is_room_for() {
        let member = vec![b'7'; 1 << 13];
        for compression in Compression::ALL {
            let bytes = compression.codec().compress(&member).unwrap().repeat(1000);
            let (length, most) = (bytes.len() / 1000, 4 * bytes.len());
            let mut decoder = decoder(bytes, compression, most);
            let mut block = vec![1; 5];
            assert!(decoder.several(&mut block).unwrap());
            let count = most / member.len();
            assert!(block == member.repeat(count), "{} {count}", block.len());
            assert_eq!(decoder.at, count * length);
        }
    }

    #[test]
    fn members_that_say_their_length_are_taken_together() {
        let contents = [noise(50_000), b"12\n".repeat(9_000), noise(1)];
        let blocks: Vec<Vec<u8>> = contents.iter().map(|content| Gzip.compress(content).unwrap()).collect();
        let together = |data: Vec<u8>| {
            let mut block = Vec::new();
            let mut decoder = decoder(data, Compression::Gzip, 1 << 20);
            let is_any = decoder.several(&mut block).unwrap();
            // After a useless attempt, the next members are not tried together.
            assert_eq!(is_any, decoder.most > 0);
            is_any.then_some(block)
        };
        assert!(together(blocks.concat()).unwrap() == contents.concat());
        let written = noise(200_000);
        assert!(together(Gzip.compress(&written).unwrap()).unwrap() == written);
        // A member of another length than declared is read alone, like the members after it.
        for wrong in [-1_i16, 1] {
            let mut blocks = blocks.clone();
            let size = &mut blocks[2][16..18];
            let wrong = u16::from_le_bytes([size[0], size[1]]).wrapping_add_signed(wrong);
            size.copy_from_slice(&wrong.to_le_bytes());
            assert!(together(blocks.concat()).unwrap() == contents[..2].concat());
            let whole = [&blocks.concat()[..], Gzip.end()].concat();
            assert!(content(&whole).unwrap() == contents.concat());
            blocks.remove(0);
            assert!(together(blocks.concat()).is_none());
        }
        // A damaged member is reported.
        let mut blocks = blocks;
        let middle = blocks[0].len() / 2;
        blocks[0][middle] ^= 1;
        assert!(together(blocks.concat()).is_none());
        let error = content(&blocks.concat()).unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
    }
}
