//! Decompresses gzip and zstd.
//!
//! ```text
//! source ── Window ── Decoder ── blocks ── Reader
//!           bytes as    members,           whoever reads
//!           they are    one or several
//! ```
//!
//! The decoder runs ahead on its own thread, if the system has one, and decompresses the next block
//! while the current block is used. Blocks of BGZF, and zstd frames that declare their content size, are
//! decompressed by all cores into one block. Other members are decompressed one at a time.

use std::io::{self, Cursor, Read};
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{self, Operation};

use super::bgzf;
use super::foreign::{Beginning, LONGEST};
use super::kind::Compression;
use crate::file::uninterrupted;
use crate::{human, memory, parallel};

/// The raw bytes of a source, compressed or not.
type CompressedInput = Box<dyn Read + Send + Sync>;

/// Reads the content of data that may be compressed.
pub struct Reader(Mutex<State>);

enum State {
    /// Nothing was read yet.
    New {
        source: CompressedInput,
        compression: Option<Compression>,
        limit: Limit,
    },
    /// Not compressed.
    Plain(io::Chain<Cursor<Vec<u8>>, CompressedInput>),
    Compressed(Blocks),
    Failed(io::ErrorKind, String),
}

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
        let share = share.min(MOST * threads) / (1 + AHEAD.load(Ordering::Relaxed) as u64);
        if is_ready && threads > 1 { share as usize } else { 0 }
    })
}

impl Reader {
    /// Returns a reader of a source; without a given compression, its first bytes tell it.
    pub fn new(source: Box<dyn Read + Send + Sync>, compression: Option<Compression>, limit: Limit) -> Self {
        Self(Mutex::new(State::New { source, compression, limit }))
    }
}

impl Read for Reader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let state = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if room.is_empty() {
            return Ok(0);
        }
        let read = state.read(room);
        if let Err(error) = &read
            && error.kind() != io::ErrorKind::Interrupted
        {
            *state = State::Failed(error.kind(), error.to_string());
        }
        read
    }
}

impl State {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self {
                Self::New { source, compression, .. } => {
                    let mut bytes = vec![0; LONGEST];
                    let count = if compression.is_some() { 0 } else { begin(source, &mut bytes)? };
                    bytes.truncate(count);
                    let found = match Beginning::of(&bytes) {
                        Beginning::Of(found) => Some(found),
                        Beginning::Foreign(foreign) => return Err(io::Error::other(foreign)),
                        _ => *compression,
                    };
                    // The source has ended. Another read of a terminal would wait for more input.
                    if found.is_none() && count == 0 {
                        return Ok(0);
                    }
                    let failed = Self::Failed(io::ErrorKind::Other, FAILED.to_owned());
                    let Self::New { source, limit, .. } = mem::replace(self, failed) else { continue };
                    *self = match found {
                        Some(compression) => {
                            let window = Window { source, bytes, at: 0, is_over: false };
                            Self::Compressed(Blocks::of(Decoder::new(compression, window, limit())))
                        }
                        None => Self::Plain(Cursor::new(bytes).chain(source)),
                    };
                }
                Self::Plain(bytes) => return bytes.read(room),
                Self::Compressed(blocks) => return blocks.read(room),
                Self::Failed(kind, problem) => return Err(io::Error::new(*kind, problem.clone())),
            }
        }
    }
}

const FAILED: &str = "an earlier read failed";

/// Reads until the first bytes tell the compression. Returns the number of bytes read.
fn begin(source: &mut CompressedInput, bytes: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while Beginning::of(&bytes[..count]) == Beginning::Short {
        match uninterrupted(|| source.read(&mut bytes[count..]))? {
            0 => break,
            more => count += more,
        }
    }
    Ok(count)
}

/// Blocks of content; the current block is read from `at` on.
struct Blocks {
    made: Made,
    block: Vec<u8>,
    at: usize,
}

/// The decoder that makes blocks.
enum Made {
    Here(Box<Decoder>),
    /// A decoder on its own thread, which fills used blocks again.
    Ahead(mpsc::Receiver<io::Result<Vec<u8>>>, mpsc::Sender<Vec<u8>>),
}

/// The size in bytes of a block of one member.
const BLOCK: usize = 1 << 18;

/// The number of decoders that run ahead. More decoders than cores would not be faster.
static AHEAD: AtomicUsize = AtomicUsize::new(0);

impl Blocks {
    /// Makes blocks with the decoder, on its own thread if possible.
    fn of(decoder: Decoder) -> Self {
        let others = AHEAD.fetch_add(1, Ordering::Relaxed);
        let counted = Counted;
        let is_ahead = others < parallel::cores();
        let made = if is_ahead { Made::ahead(decoder, counted) } else { Made::Here(Box::new(decoder)) };
        Self { made, block: Vec::new(), at: 0 }
    }

    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            self.at = 0;
            let done = mem::take(&mut self.block);
            self.block = match &mut self.made {
                Made::Here(decoder) => decoder.block(done)?,
                Made::Ahead(blocks, again) => {
                    // If the other thread has ended, it needs no block.
                    let _ = again.send(done);
                    // The end of the thread is the end of the data.
                    blocks.recv().unwrap_or_else(|_| Ok(Vec::new()))?
                }
            };
        }
        let count = (&self.block[self.at..]).read(room)?;
        self.at += count;
        Ok(count)
    }
}

/// Counts a decoder that runs ahead.
struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        AHEAD.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Made {
    /// Starts a thread that sends blocks until the data ends, an error occurs, or the receiver is gone.
    fn ahead(decoder: Decoder, counted: Counted) -> Self {
        let (sender, blocks) = mpsc::sync_channel(1);
        let (done, again) = mpsc::channel();
        let run = move |(mut decoder, sender): (Decoder, mpsc::SyncSender<_>)| {
            let _counted = counted;
            loop {
                let block = decoder.block(again.try_recv().unwrap_or_default());
                let is_last = block.as_ref().map_or(true, Vec::is_empty);
                if sender.send(block).is_err() || is_last {
                    break;
                }
            }
        };
        match parallel::on_a_thread((decoder, sender), run) {
            Ok(()) => Self::Ahead(blocks, done),
            Err((decoder, _)) => Self::Here(Box::new(decoder)),
        }
    }
}

/// The bytes read from the source and not yet decompressed.
struct Window {
    source: CompressedInput,
    bytes: Vec<u8>,
    at: usize,
    /// True if the source has ended.
    is_over: bool,
}

impl Window {
    fn left(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Reads until `least` bytes are left to decompress, or the source ends.
    fn fill(&mut self, least: usize) -> io::Result<()> {
        if self.left().len() >= least || self.is_over {
            return Ok(());
        }
        // The last block of BGZF is kept after its use: it shows that the data is whole.
        let kept = self.at.min(bgzf::END.len());
        self.bytes.drain(..self.at - kept);
        self.at = kept;
        while self.left().len() < least && !self.is_over {
            let before = self.bytes.len();
            self.bytes.resize(before + (least - self.left().len()).max(BLOCK), 0);
            let read = uninterrupted(|| self.source.read(&mut self.bytes[before..]));
            self.bytes.truncate(before + *read.as_ref().unwrap_or(&0));
            self.is_over = read? == 0;
        }
        Ok(())
    }
}

/// Decompresses members.
struct Decoder {
    compression: Compression,
    window: Window,
    /// The member that is being decompressed.
    member: Option<Member>,
    /// True once the first member has begun.
    is_begun: bool,
    /// True if the first member is a block of BGZF.
    is_bgzf: bool,
    /// The maximum number of content bytes of members decompressed together; 0 once that did not help.
    most: usize,
}

impl Decoder {
    fn new(compression: Compression, window: Window, most: usize) -> Self {
        Self { compression, window, member: None, is_begun: false, is_bgzf: false, most }
    }

    /// Returns the next content, in the memory of a used block; empty at the end.
    fn block(&mut self, mut block: Vec<u8>) -> io::Result<Vec<u8>> {
        loop {
            if self.member.is_none() {
                if !self.goes_on()? {
                    return Ok(Vec::new());
                }
                if self.several(&mut block)? {
                    if block.is_empty() {
                        continue;
                    }
                    return Ok(block);
                }
                check_window(self.window.left())?;
            }
            let member = match &mut self.member {
                Some(member) => member,
                none => none.insert(Member::new(self.compression, declared(self.window.left()))?),
            };
            self.window.fill(1)?;
            // The old content is overwritten, and need not be zeros.
            block.resize(BLOCK, 0);
            let name = self.compression.name();
            let read = member.read(self.window.left(), &mut block);
            let (taken, made, is_over) =
                read.map_err(|error| invalid(format!("damaged {name} data: {error}")))?;
            self.window.at += taken;
            if is_over {
                self.member = None;
            } else if taken == 0 && made == 0 {
                return Err(ends_early(self.compression));
            }
            if made > 0 {
                block.truncate(made);
                return Ok(block);
            }
        }
    }

    /// Returns true if a member begins here, and false at the end of the data.
    fn goes_on(&mut self) -> io::Result<bool> {
        let (window, compression, name) = (&mut self.window, self.compression, self.compression.name());
        let lacks_end = self.is_bgzf && !window.bytes[..window.at].ends_with(&bgzf::END);
        window.fill(FRAME_HEADER)?;
        if Beginning::of(window.left()) == Beginning::Of(compression) {
            self.is_bgzf |= !self.is_begun && bgzf::length(window.left()).is_some();
            self.is_begun = true;
            return Ok(true);
        }
        if !self.is_begun {
            let is_empty = window.left().is_empty();
            return Err(if is_empty { ends_early(compression) } else { invalid(format!("not {name} data")) });
        }
        // Tapes are padded with zeros.
        while compression == Compression::Gzip
            && !window.left().is_empty()
            && window.left().iter().all(|&byte| byte == 0)
        {
            window.at = window.bytes.len();
            window.fill(1)?;
        }
        if !window.left().is_empty() {
            return Err(invalid(format!("other bytes after the {name} data")));
        }
        if lacks_end { Err(cut_bgzf()) } else { Ok(false) }
    }

    /// Decompresses the next members into the block on all cores: the whole members that declare their
    /// length, within the limit. Returns false if this does not help. An invalid member gets its error
    /// later, when read alone.
    fn several(&mut self, block: &mut Vec<u8>) -> io::Result<bool> {
        let (compression, window) = (self.compression, &mut self.window);
        // If a member does not declare its length, nothing is read ahead.
        let says = bgzf::length(window.left()).is_some() || declared(window.left()).is_some();
        if !says || self.most == 0 {
            return Ok(false);
        }
        window.fill(self.most / 4)?;
        let members = sized(window.left(), compression, self.most);
        if members.len() < 2 {
            self.most = 0;
            return Ok(false);
        }
        let content = |members: &[(&[u8], usize)]| members.iter().map(|(_, content)| content).sum::<usize>();
        block.resize(content(&members), 0);
        let mut left = &mut block[..];
        let rooms = members.iter().filter_map(|(_, content)| left.split_off_mut(..*content));
        let parts = members.iter().zip(rooms);
        let are_whole = parallel::map_parts(parts, |((bytes, _), room)| is_whole(bytes, compression, room));
        let good = are_whole.iter().take_while(|&&is_whole| is_whole).count();
        if good < 2 {
            // Otherwise, each member would again read ahead and examine the members after it.
            self.most = 0;
            return Ok(false);
        }
        block.truncate(content(&members[..good]));
        window.at += members[..good].iter().map(|(bytes, _)| bytes.len()).sum::<usize>();
        Ok(true)
    }
}

/// The decoder of a member, from its first byte on.
enum Member {
    Gzip(Decompress),
    /// The decoder, and the remaining content size if the frame declares it: the library does not compare it
    /// at an empty last block.
    Zstd(raw::Decoder<'static>, Option<u64>),
}

impl Member {
    /// Creates the decoder of a member that declares this content size.
    fn new(compression: Compression, declared: Option<u64>) -> io::Result<Self> {
        /// The logarithm of the largest window of gzip.
        const WINDOW_BITS: u8 = 15;
        Ok(match compression {
            Compression::Gzip => Self::Gzip(Decompress::new_gzip(WINDOW_BITS)),
            Compression::Zstd => Self::Zstd(raw::Decoder::new()?, declared),
        })
    }

    /// Decompresses some bytes. Returns the numbers of bytes taken and made, and true at the end of the
    /// member.
    fn read(&mut self, from: &[u8], to: &mut [u8]) -> io::Result<(usize, usize, bool)> {
        match self {
            Self::Gzip(member) => {
                let (taken, made) = (member.total_in(), member.total_out());
                let status = member.decompress(from, to, FlushDecompress::None).map_err(|error| {
                    io::Error::other(error.message().unwrap_or("invalid compressed data").to_owned())
                })?;
                let (taken, made) = (member.total_in() - taken, member.total_out() - made);
                Ok((taken as usize, made as usize, status == Status::StreamEnd))
            }
            Self::Zstd(member, left) => {
                let status = member.run_on_buffers(from, to)?;
                let is_over = status.remaining == 0;
                if let Some(left) = left {
                    let rest = left.checked_sub(status.bytes_written as u64);
                    let rest = rest.filter(|&rest| !is_over || rest == 0);
                    *left = rest.ok_or_else(|| io::Error::other("its size differs from its header"))?;
                }
                Ok((status.bytes_read, status.bytes_written, is_over))
            }
        }
    }
}

/// The largest frame header in bytes; enough to identify the beginning of any member.
const FRAME_HEADER: usize = 18;

/// Returns the content size in bytes that the frame at the start of these bytes declares.
fn declared(bytes: &[u8]) -> Option<u64> {
    zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten()
}

/// The maximum window size in bytes, equal to the library's maximum.
const WINDOW: u64 = (1 << 27) + 1;

/// Returns the window size in bytes of the frame at the start of these bytes, or its content size if the
/// frame has no window size.
fn window_of(frame: &[u8]) -> Option<u64> {
    let &[0x28, 0xb5, 0x2f, 0xfd, descriptor, window, ..] = frame else { return None };
    if descriptor & 0x20 != 0 {
        return declared(frame);
    }
    let least = 1 << (10 + (window >> 3));
    Some(least + least / 8 * u64::from(window & 7))
}

/// Checks the window size of a frame of zstd: exceeding the limit is an error, but no damage.
fn check_window(frame: &[u8]) -> io::Result<()> {
    // No `zstd` supports a larger window.
    const LARGEST: u32 = 31;
    let Some(window) = window_of(frame) else { return Ok(()) };
    if window <= WINDOW {
        let taken = declared(frame).map_or(window, |all| all.min(window));
        return memory::ensure("the zstd window", taken)
            .map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error.to_string()));
    }
    let log = (window - 1).ilog2() + 1;
    let remedy = match log {
        ..=LARGEST => format!("; use: zstd -dc --long={log} FILE | gpusort sort ..."),
        _ => String::new(),
    };
    let [window, most] = [window, WINDOW].map(human::bytes);
    let problem = format!("the zstd window of {window} exceeds the limit of {most}{remedy}");
    Err(io::Error::new(io::ErrorKind::Unsupported, problem))
}

fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

fn ends_early(compression: Compression) -> io::Error {
    let problem = format!("truncated {} data", compression.name());
    io::Error::new(io::ErrorKind::UnexpectedEof, problem)
}

/// Returns the error of BGZF without its last block.
fn cut_bgzf() -> io::Error {
    let problem = "BGZF data without its last block, so it may have been cut; \
        to sort the part that remains, use: gzip -dc FILE | gpusort sort ...";
    io::Error::new(io::ErrorKind::UnexpectedEof, problem)
}

/// Returns the whole members at the start of these bytes that declare their length, and the content size
/// in bytes of each, up to `most` bytes in total.
fn sized(mut bytes: &[u8], compression: Compression, most: usize) -> Vec<(&[u8], usize)> {
    let (mut members, mut left) = (Vec::new(), most);
    while let Some(length) = length(bytes, compression)
        && let Some(member) = bytes.split_off(..length)
        && let Some(content) = match compression {
            // The last four bytes are the size.
            Compression::Gzip => member.last_chunk().map(|&size| u64::from(u32::from_le_bytes(size))),
            Compression::Zstd => declared(member),
        }
        && content <= left as u64
    {
        members.push((member, content as usize));
        left -= content as usize;
    }
    members
}

/// Returns the length in bytes that the member at the start of these bytes declares.
fn length(bytes: &[u8], compression: Compression) -> Option<usize> {
    match compression {
        Compression::Gzip => bgzf::length(bytes),
        Compression::Zstd => zstd::zstd_safe::find_frame_compressed_size(bytes).ok(),
    }
}

/// Decompresses these bytes into `room`; returns true if they are one member that fills it exactly.
fn is_whole(bytes: &[u8], compression: Compression, room: &mut [u8]) -> bool {
    let read = Member::new(compression, None).and_then(|mut member| member.read(bytes, room));
    read.is_ok_and(|read| read == (bytes.len(), room.len(), true))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::compression::noise::noise;
    use crate::compression::writer;

    const BOTH: [Compression; 2] = [Compression::Gzip, Compression::Zstd];

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
            Compression::Zstd => writer::member(content, compression).unwrap(),
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
        for compression in BOTH {
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

    fn decoder(bytes: Vec<u8>, compression: Compression, most: usize) -> Decoder {
        let window = Window { source: Box::new(&[][..]), bytes, at: 0, is_over: true };
        Decoder::new(compression, window, most)
    }

    #[test]
    fn no_more_is_decompressed_together_than_there_is_room_for() {
        let member = vec![b'7'; 1 << 13];
        for compression in BOTH {
            let bytes = writer::member(&member, compression).unwrap().repeat(1000);
            let (length, most) = (bytes.len() / 1000, 4 * bytes.len());
            let mut decoder = decoder(bytes, compression, most);
            let mut block = vec![1; 5];
            assert!(decoder.several(&mut block).unwrap());
            let count = most / member.len();
            assert!(block == member.repeat(count), "{} {count}", block.len());
            assert_eq!(decoder.window.at, count * length);
        }
    }

    #[test]
    fn members_that_say_their_length_are_taken_together() {
        let contents = [noise(50_000), b"12\n".repeat(9_000), noise(1)];
        let blocks: Vec<Vec<u8>> =
            contents.iter().map(|content| writer::member(content, Compression::Gzip).unwrap()).collect();
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
        assert!(together(writer::member(&written, Compression::Gzip).unwrap()).unwrap() == written);
        // A member of another length than declared is read alone, like the members after it.
        for wrong in [-1_i16, 1] {
            let mut blocks = blocks.clone();
            let size = &mut blocks[2][16..18];
            let wrong = u16::from_le_bytes([size[0], size[1]]).wrapping_add_signed(wrong);
            size.copy_from_slice(&wrong.to_le_bytes());
            assert!(together(blocks.concat()).unwrap() == contents[..2].concat());
            let whole = [&blocks.concat()[..], &bgzf::END].concat();
            assert!(content(&whole, None, 1 << 20, 1 << 30, true).unwrap() == contents.concat());
            blocks.remove(0);
            assert!(together(blocks.concat()).is_none());
        }
        // A damaged member is reported.
        let mut blocks = blocks;
        let middle = blocks[0].len() / 2;
        blocks[0][middle] ^= 1;
        assert!(together(blocks.concat()).is_none());
        let error = content(&blocks.concat(), None, 1 << 20, 1 << 30, true).unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
    }

    #[test]
    fn bgzf_has_a_last_block() {
        let content_of = [noise(70_000), b"12\n".repeat(90_000)].concat();
        let blocks = writer::member(&content_of, Compression::Gzip).unwrap();
        let whole = [&blocks[..], &bgzf::END].concat();
        let mut ends = vec![0];
        while let Some(length) = length(&whole[ends[ends.len() - 1]..], Compression::Gzip) {
            ends.push(ends[ends.len() - 1] + length);
        }
        assert!(ends.len() > 6 && ends.last() == Some(&whole.len()));
        for memory in [1 << 30, 1 << 10] {
            let read = |data: &[u8]| content(data, None, 30_000, memory, true);
            for behind in [&[][..], &[0; 900], &bgzf::END, &whole] {
                let data = [&whole[..], behind].concat();
                let times = if behind == whole { 2 } else { 1 };
                assert!(read(&data).unwrap() == content_of.repeat(times));
            }
            for &end in &ends[1..ends.len() - 1] {
                let error = read(&whole[..end]).unwrap_err();
                assert!(error.to_string().contains("without its last block"), "{error}");
            }
            assert_eq!(read(&bgzf::END).unwrap(), b"");
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
            let said = if data.is_empty() { "truncated gzip data" } else { "not gzip data" };
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
        for compression in BOTH {
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
        for compression in BOTH {
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
        for compression in BOTH {
            let data = members(&[noise(500_000)], compression);
            let source = Failing(Pieces(data[..400_000].to_vec(), 5_000, 0));
            let mut reader = Reader::new(Box::new(source), None, sensible(None, true));
            let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(error.to_string(), "the disk is on fire");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for compression in BOTH {
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
