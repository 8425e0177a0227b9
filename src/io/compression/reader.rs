//! Decompresses gzip and zstd.
//!
//! ```text
//! source ── Window ── Decoder ── blocks ── Reader
//!           compressed  members,           decompressed
//!           bytes       one or several     bytes
//! ```
//!
//! The decoder runs ahead on a thread of its own where the system has one for it, so that a block
//! is decompressed while the one before it is used. Members that are in memory together are
//! decompressed together, each by one core. The beginnings of gzip members are found by
//! searching for their magic bytes: what follows such bytes by chance is decompressed in vain, and
//! counts only if the member before it ends there.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::{mem, thread};

use flate2::bufread::GzDecoder;
use memchr::memmem;

use super::{Beginning, Compression, Unread};
use crate::{human, memory, parallel};

/// Bytes as they are, compressed or not.
type Source = Box<dyn Read + Send + Sync>;

/// Reads the content of data that may be compressed.
pub struct Reader(Mutex<State>);

enum State {
    /// Nothing was read yet.
    New {
        source: Source,
        compression: Option<Compression>,
        limits: Limits,
    },
    /// Not compressed, and these bytes of it were read.
    Plain(Vec<u8>, Source),
    Here(Box<Decoder>),
    Ahead(Ahead),
    Failed(io::ErrorKind, String),
}

/// What members are read and decompressed together: the least bytes of one as it is, fewer of which
/// are not worth it, and the most of content in all, as they are four times less. Called only for
/// what is compressed, since asking for threads starts them.
pub type Limits = Box<dyn FnOnce() -> (usize, usize) + Send>;

/// As many as a small part of this memory allows, or of what is available; none if reading may wait
/// for others, since more would be read than is needed next.
pub(in crate::io) fn sensible(memory: Option<u64>, is_ready: bool) -> Limits {
    /// For each core.
    const MOST: u64 = 16 << 20;
    Box::new(move || {
        let threads = parallel::threads() as u64;
        let share = memory.or_else(memory::available).map_or(u64::MAX, |bytes| bytes / 16);
        let most = if is_ready && threads > 1 { share.min(MOST * threads) } else { 0 };
        (1 << 17, most as usize)
    })
}

impl Reader {
    /// The content of this source: compressed so, or as its first bytes tell.
    #[must_use]
    pub fn new(
        source: Box<dyn Read + Send + Sync>,
        compression: Option<Compression>,
        limits: Limits,
    ) -> Self {
        Self(Mutex::new(State::New { source, compression, limits }))
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
                    let mut few = [0; Beginning::LONGEST];
                    let is_enough = room.len() >= few.len();
                    let bytes = if is_enough { &mut *room } else { &mut few };
                    let count = if compression.is_some() { 0 } else { begin(source, bytes)? };
                    let found = match Beginning::of(&bytes[..count]) {
                        Beginning::Of(found) => Some(found),
                        Beginning::Foreign(foreign) => return Err(io::Error::other(Unread(foreign))),
                        _ => *compression,
                    };
                    let read = bytes[..count].to_vec();
                    let Self::New { source, limits, .. } = mem::replace(self, Self::failed()) else {
                        continue;
                    };
                    match found {
                        Some(compression) => {
                            let window =
                                Window { source, bytes: read, at: 0, is_over: false, is_broken: false };
                            *self = Ahead::or_here(Decoder::new(compression, window, limits()));
                        }
                        // They are where they are wanted.
                        None if is_enough => {
                            *self = Self::Plain(Vec::new(), source);
                            return Ok(count);
                        }
                        None => *self = Self::Plain(read, source),
                    }
                }
                Self::Plain(bytes, source) if bytes.is_empty() => return source.read(room),
                Self::Plain(bytes, _) => {
                    let count = bytes.len().min(room.len());
                    room[..count].copy_from_slice(&bytes[..count]);
                    bytes.drain(..count);
                    return Ok(count);
                }
                Self::Here(decoder) => return decoder.read(room),
                Self::Ahead(ahead) => return ahead.read(room),
                Self::Failed(kind, problem) => return Err(io::Error::new(*kind, problem.clone())),
            }
        }
    }

    fn failed() -> Self {
        Self::Failed(io::ErrorKind::Other, "reading has failed before".to_owned())
    }
}

/// Reads until it is known how the source begins.
fn begin(source: &mut Source, bytes: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while Beginning::of(&bytes[..count]) == Beginning::Short {
        match source.read(&mut bytes[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// Decompresses on a thread of its own.
struct Ahead {
    blocks: mpsc::Receiver<io::Result<Vec<u8>>>,
    /// Blocks that are done with, to be filled again.
    done: mpsc::Sender<Vec<u8>>,
    /// The one that is given, from `at` on.
    block: Vec<u8>,
    at: usize,
}

/// Bytes of a block.
const BLOCK: usize = 1 << 18;

/// How many decoders run ahead: more than there are cores would not be faster.
static AHEAD: AtomicUsize = AtomicUsize::new(0);

impl Ahead {
    /// The decoder on a thread of its own, if there is one for it.
    fn or_here(decoder: Decoder) -> State {
        /// Blocks between the two threads.
        const WAITING: usize = 2;
        let most = thread::available_parallelism().map_or(1, usize::from);
        let others = AHEAD.fetch_add(1, Ordering::Relaxed);
        let counted = Counted;
        if others >= most {
            return State::Here(Box::new(decoder));
        }
        let (sender, blocks) = mpsc::sync_channel(WAITING);
        let (done, again) = mpsc::channel();
        let run = (decoder, sender, again, counted);
        match parallel::on_a_thread(run, |(decoder, sender, again, _counted)| {
            run_ahead(decoder, &sender, &again);
        }) {
            Ok(()) => State::Ahead(Self { blocks, done, block: Vec::new(), at: 0 }),
            Err((decoder, ..)) => State::Here(Box::new(decoder)),
        }
    }

    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            // Its end is the end of the data.
            let Ok(block) = self.blocks.recv() else { return Ok(0) };
            // If the other thread has ended, nobody needs it.
            let _ = self.done.send(mem::replace(&mut self.block, block?));
            self.at = 0;
        }
        let count = room.len().min(self.block.len() - self.at);
        room[..count].copy_from_slice(&self.block[self.at..self.at + count]);
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

/// Gives blocks until the end, an error, or until nobody takes them.
fn run_ahead(
    mut decoder: Decoder,
    blocks: &mpsc::SyncSender<io::Result<Vec<u8>>>,
    again: &mpsc::Receiver<Vec<u8>>,
) {
    loop {
        decoder.spare.get_mut().unwrap_or_else(PoisonError::into_inner).extend(again.try_iter());
        let block = match decoder.block() {
            Ok(block) if block.is_empty() => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            block => block,
        };
        let is_last = block.is_err();
        if blocks.send(block).is_err() || is_last {
            return;
        }
    }
}

/// The source's bytes that were read and are not decompressed.
struct Window {
    source: Source,
    bytes: Vec<u8>,
    at: usize,
    /// Whether the source has ended.
    is_over: bool,
    /// Whether reading from the source has failed.
    is_broken: bool,
}

impl Window {
    fn left(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Reads until there are this many bytes, or the source ends.
    fn fill(&mut self, least: usize) -> io::Result<()> {
        if self.left().len() >= least || self.is_over {
            return Ok(());
        }
        self.bytes.drain(..self.at);
        self.at = 0;
        while self.bytes.len() < least && !self.is_over {
            let before = self.bytes.len();
            self.bytes.resize(before + (least - before).max(BLOCK), 0);
            let read = self.source.read(&mut self.bytes[before..]);
            self.bytes.truncate(before + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(count) => self.is_over = count == 0,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.is_broken = true;
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

impl Read for Window {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(room)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Window {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.fill(1)?;
        Ok(self.left())
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}

/// Decompresses members.
struct Decoder {
    compression: Compression,
    place: Place,
    /// Whether it is after a member.
    is_begun: bool,
    /// Members that were decompressed together, of which the first is given from `at` on.
    members: VecDeque<Vec<u8>>,
    at: usize,
    /// How many: see [`Limits`].
    limits: (usize, usize),
    /// Blocks that were given and are done with, with what was in them: memory that is not new.
    spare: Spare,
}

type Spare = Mutex<Vec<Vec<u8>>>;

/// A block with room for this much, perhaps with something in it.
fn with_room(spare: &Spare, room: usize) -> Vec<u8> {
    let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
    // One with much more room is not kept.
    spare.pop().filter(|block| block.capacity() <= 4 * room).unwrap_or_else(|| Vec::with_capacity(room))
}

enum Place {
    Between(Window),
    InGzip(Box<GzDecoder<Window>>),
    InZstd(Box<Frame<Window>>),
    Lost,
}

impl Decoder {
    fn new(compression: Compression, window: Window, limits: (usize, usize)) -> Self {
        let place = Place::Between(window);
        let (members, spare) = (VecDeque::new(), Spare::default());
        Self { compression, place, is_begun: false, members, at: 0, limits, spare }
    }

    /// The next content; an empty block at the end.
    fn block(&mut self) -> io::Result<Vec<u8>> {
        while self.at == 0
            && let Some(member) = self.members.pop_front()
        {
            if !member.is_empty() {
                return Ok(member);
            }
        }
        let mut block = with_room(&self.spare, BLOCK);
        block.resize(BLOCK, 0);
        let count = self.read(&mut block)?;
        block.truncate(count);
        Ok(block)
    }

    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(member) = self.members.front() {
                let count = room.len().min(member.len() - self.at);
                room[..count].copy_from_slice(&member[self.at..self.at + count]);
                self.at += count;
                if self.at == member.len() {
                    self.members.pop_front();
                    self.at = 0;
                }
                if count > 0 {
                    return Ok(count);
                }
                continue;
            }
            match &mut self.place {
                Place::Between(window) => {
                    if !goes_on(window, self.compression, self.is_begun)? {
                        return Ok(0);
                    }
                    self.is_begun = true;
                    self.members = several(window, self.compression, self.limits, &self.spare)?;
                    if self.members.is_empty() {
                        self.begin()?;
                    }
                }
                Place::InGzip(member) => match member.read(room) {
                    Ok(0) => self.end(),
                    Ok(count) => return Ok(count),
                    Err(error) => return Err(self.told(error)),
                },
                Place::InZstd(member) => match member.read(room) {
                    Ok(0) => self.end(),
                    Ok(count) => return Ok(count),
                    Err(error) => return Err(self.told(error)),
                },
                Place::Lost => return Err(io::Error::other("reading has failed before")),
            }
        }
    }

    /// Begins a member.
    fn begin(&mut self) -> io::Result<()> {
        self.place = match (mem::replace(&mut self.place, Place::Lost), self.compression) {
            (Place::Between(window), Compression::Gzip) => Place::InGzip(Box::new(GzDecoder::new(window))),
            (Place::Between(mut window), Compression::Zstd) => {
                window.fill(FRAME_HEADER)?;
                check_window(window.left())?;
                Place::InZstd(Box::new(Frame::new(declared(window.left()), window)?))
            }
            (place, _) => place,
        };
        Ok(())
    }

    /// Ends a member.
    fn end(&mut self) {
        self.place = match mem::replace(&mut self.place, Place::Lost) {
            Place::InGzip(member) => Place::Between(member.into_inner()),
            Place::InZstd(member) => Place::Between(member.decoder.finish()),
            place => place,
        };
    }

    /// What is said of an error within a member.
    fn told(&self, error: io::Error) -> io::Error {
        let is_of_source = match &self.place {
            Place::InGzip(member) => member.get_ref().is_broken,
            Place::InZstd(member) => member.decoder.get_ref().is_broken,
            Place::Between(_) | Place::Lost => true,
        };
        if is_of_source || error.kind() == io::ErrorKind::Interrupted {
            return error;
        }
        let name = self.compression.name();
        match error.kind() {
            io::ErrorKind::UnexpectedEof => ends_early(self.compression),
            _ => io::Error::new(io::ErrorKind::InvalidData, format!("its {name} data is damaged: {error}")),
        }
    }
}

/// A frame of zstd, whose size is checked in any case: the library does that only if it has all of
/// the frame.
struct Frame<R: BufRead> {
    decoder: zstd::Decoder<'static, R>,
    /// Bytes of content that are to come, where the frame says how many it has.
    left: Option<u64>,
}

/// The most bytes of what a frame says of itself.
const FRAME_HEADER: usize = 18;

/// How many bytes of content the frame declares that begins here.
fn declared(bytes: &[u8]) -> Option<u64> {
    zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten()
}

/// The largest window that is taken: that of the library.
const WINDOW: u64 = (1 << 27) + 1;

/// How many bytes before each the frame that begins here refers to; its size, where it has no such
/// number.
fn window_of(frame: &[u8]) -> Option<u64> {
    let &[0x28, 0xb5, 0x2f, 0xfd, descriptor, window, ..] = frame else { return None };
    if descriptor & 0x20 != 0 {
        return declared(frame);
    }
    let least = 1 << (10 + (window >> 3));
    Some(least + least / 8 * u64::from(window & 7))
}

/// Checks the window of the frame that begins here: one that is too large is no damage.
fn check_window(frame: &[u8]) -> io::Result<()> {
    // No `zstd` has larger ones.
    const LARGEST: u32 = 31;
    let Some(window) = window_of(frame) else { return Ok(()) };
    if window <= WINDOW {
        let taken = declared(frame).map_or(window, |all| all.min(window));
        return memory::ensure("the window of zstd data", taken)
            .map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error.to_string()));
    }
    let log = (window - 1).ilog2() + 1;
    let remedy = match log {
        ..=LARGEST => format!("; `zstd -dc --long={log} FILE | gpusort sort` reads it"),
        _ => String::new(),
    };
    let [window, most] = [window, WINDOW].map(human::bytes);
    let problem = format!("its zstd data has a window of {window}, and {most} are the most here{remedy}");
    Err(io::Error::new(io::ErrorKind::Unsupported, problem))
}

impl<R: BufRead> Frame<R> {
    fn new(declared: Option<u64>, from: R) -> io::Result<Self> {
        Ok(Self { decoder: zstd::Decoder::with_buffer(from)?.single_frame(), left: declared })
    }
}

impl<R: BufRead> Read for Frame<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(room)?;
        let wrong = || io::Error::other("it has another size than it says");
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(count as u64).ok_or_else(wrong)?;
            if count == 0 && *left > 0 && !room.is_empty() {
                return Err(wrong());
            }
        }
        Ok(count)
    }
}

fn ends_early(compression: Compression) -> io::Error {
    let problem = format!("its {} data ends early", compression.name());
    io::Error::new(io::ErrorKind::UnexpectedEof, problem)
}

/// Whether a member begins here; otherwise all is over.
fn goes_on(window: &mut Window, compression: Compression, is_begun: bool) -> io::Result<bool> {
    window.fill(Beginning::LONGEST)?;
    if Beginning::of(window.left()) == Beginning::Of(compression) {
        return Ok(true);
    }
    // Tapes are filled up with zeros.
    let is_zero = |window: &Window| window.left().iter().all(|&byte| byte == 0);
    while is_begun && (compression == Compression::Gzip || window.left().is_empty()) && is_zero(window) {
        window.consume(window.left().len());
        if window.is_over {
            return Ok(false);
        }
        window.fill(1)?;
    }
    if !is_begun && window.left().is_empty() {
        return Err(ends_early(compression));
    }
    let name = compression.name();
    let problem = if is_begun {
        format!("its {name} data is followed by other bytes")
    } else {
        format!("it is no {name} data")
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, problem))
}

/// Decompresses the next members by all cores, as many as there are whole in this much memory; none
/// where that does not help.
fn several(
    window: &mut Window,
    compression: Compression,
    (least, most): (usize, usize),
    spare: &Spare,
) -> io::Result<VecDeque<Vec<u8>>> {
    let packed = most / 4;
    if packed < least {
        return Ok(VecDeque::new());
    }
    window.fill(packed)?;
    let bytes = window.left();
    let bytes = &bytes[..bytes.len().min(packed)];
    let starts = match compression {
        Compression::Gzip => starts_of_gzip(bytes, window.is_over && bytes.len() == window.left().len()),
        Compression::Zstd => starts_of_zstd(bytes),
    };
    if starts.len() < 2 || bytes.len() < least {
        return Ok(VecDeque::new());
    }
    let (next, taken) = (AtomicUsize::new(0), AtomicU64::new(0));
    let found: Vec<Mutex<Option<Content>>> = starts.iter().map(|_| Mutex::default()).collect();
    // Once there is enough, the next members are left: they would be begun in vain, again and
    // again.
    let is_wanted = |number: usize| number < starts.len() && taken.load(Ordering::Relaxed) <= most as u64;
    let work = || {
        while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| is_wanted(n)) {
            let guess = 4 * (starts.get(number + 1).unwrap_or(&bytes.len()) - starts[number]);
            let room = with_room(spare, guess.min(most));
            let member = one(&bytes[starts[number]..], compression, room, |count| {
                taken.fetch_add(count as u64, Ordering::Relaxed) + count as u64 <= most as u64
            });
            *found[number].lock().unwrap_or_else(PoisonError::into_inner) = member;
        }
    };
    let threads = parallel::threads().min(starts.len());
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| parallel::meanwhile(scope, work)).collect();
        work();
        others.into_iter().for_each(parallel::Meanwhile::wait);
    });
    // Those that follow each other.
    let (mut at, mut members) = (0, VecDeque::new());
    for (&start, member) in starts.iter().zip(found) {
        let member = member.into_inner().unwrap_or_else(PoisonError::into_inner);
        match member {
            _ if start < at => {}
            Some((content, length)) if start == at => {
                members.push_back(content);
                at += length;
            }
            _ => break,
        }
    }
    window.consume(at);
    Ok(members)
}

/// Where members may begin, but for the last, which may not be whole.
fn starts_of_gzip(bytes: &[u8], are_all: bool) -> Vec<usize> {
    // Of the flags three bits are 0.
    let is_start = |&at: &usize| bytes.get(at + 3).is_some_and(|flags| flags & 0xe0 == 0);
    let mut starts: Vec<usize> = memmem::find_iter(bytes, &[0x1f, 0x8b, 8]).filter(is_start).collect();
    if !are_all {
        starts.pop();
    }
    starts
}

/// Where whole frames begin.
fn starts_of_zstd(bytes: &[u8]) -> Vec<usize> {
    let (mut starts, mut at) = (Vec::new(), 0);
    while at < bytes.len()
        && let Ok(length) = zstd::zstd_safe::find_frame_compressed_size(&bytes[at..])
    {
        starts.push(at);
        at += length;
    }
    starts
}

/// The content of a member, and the length of the member.
type Content = (Vec<u8>, usize);

/// The content of the member that begins here, in this block, and its length; `None` if something
/// is wrong with it, or if it has more bytes than `may_have` allows.
fn one(
    bytes: &[u8],
    compression: Compression,
    mut content: Vec<u8>,
    may_have: impl Fn(usize) -> bool,
) -> Option<Content> {
    const STEP: usize = 1 << 16;
    let mut read_all = |member: &mut dyn Read| {
        let mut filled = 0;
        loop {
            if content.len() < filled + STEP {
                // What was in it before is overwritten, and need not be zeros.
                content.resize(filled + (content.capacity() - filled).clamp(STEP, BLOCK), 0);
            }
            let count = member.read(&mut content[filled..]).ok()?;
            filled += count;
            if count == 0 {
                content.truncate(filled);
                return Some(());
            }
            if !may_have(count) {
                return None;
            }
        }
    };
    let left = match compression {
        Compression::Gzip => {
            let mut member = GzDecoder::new(bytes);
            read_all(&mut member)?;
            member.into_inner().len()
        }
        Compression::Zstd => {
            let mut member = Frame::new(declared(bytes), bytes).ok()?;
            read_all(&mut member)?;
            member.decoder.finish().len()
        }
    };
    Some((content, bytes.len() - left))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::io::compression::writer;

    const BOTH: [Compression; 2] = [Compression::Gzip, Compression::Zstd];

    /// Gives this many bytes at a time.
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

    /// The content of this data, with this much memory.
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

    /// Bytes that cannot be compressed.
    fn noise(count: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    fn members(contents: &[Vec<u8>], compression: Compression) -> Vec<u8> {
        contents.iter().flat_map(|content| writer::member(content, compression).unwrap()).collect()
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

    #[test]
    fn no_more_members_are_begun_than_there_is_room_for() {
        const COUNT: usize = 1000;
        let member = vec![b'7'; 1 << 13];
        for compression in BOTH {
            let bytes = members(&vec![member.clone(); COUNT], compression);
            // A block for each that is begun.
            let spare = Mutex::new(vec![Vec::new(); COUNT]);
            let most = 4 * bytes.len();
            let mut window =
                Window { source: Box::new(&[][..]), bytes, at: 0, is_over: true, is_broken: false };
            let found = several(&mut window, compression, (1, most), &spare).unwrap();
            assert!(found.iter().all(|content| *content == member));
            let begun = COUNT - spare.into_inner().unwrap().len();
            // Each core may begin another before it hears that there is enough.
            assert!(begun <= most / member.len() + 2 * parallel::threads(), "{begun}");
        }
    }

    #[test]
    fn what_is_not_compressed_is_given_as_it_is() {
        for data in [&b""[..], b"1", b"\x1f", b"(", b"(1) 2\n", b"12 13\n14", b"P*M", b"\x1f\x8c\x08"] {
            for piece in [1, 3, 100] {
                assert_eq!(content(data, None, piece, 1 << 30, true).unwrap(), data);
            }
            let refused = content(data, Some(Compression::Gzip), 5, 1 << 30, true).unwrap_err();
            let said = if data.is_empty() { "its gzip data ends early" } else { "it is no gzip data" };
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
                        let follow = "is followed by other bytes";
                        assert!(said.contains("ends early") || said.contains(follow) || length < 4, "{said}");
                    }
                }
            }
            let noisy = members(&vec![noise(60_000); 4], compression);
            let error = content(&noisy[..noisy.len() - 1], None, 1 << 20, 1 << 30, true).unwrap_err();
            assert!(error.to_string().contains("ends early"), "{error}");
            for behind in [&b"1"[..], b"\0\0\x01", b"(\xb5/"] {
                let error = content(&[&data, behind].concat(), None, 64, 1 << 30, true).unwrap_err();
                assert!(error.to_string().contains("is followed by other bytes"), "{error}");
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
                let (mut writer, mut data) = (crate::io::compression::Writer::new(compression), Vec::new());
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
