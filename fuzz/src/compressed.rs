//! Compressed data: the content, or an error.

use std::io::{self, BufReader, Read, Write};

use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use gpusort_files::{Compression, Decompressor as Reader};

use crate::choices::{BETWEEN, Choices};
use crate::library::{Refusal, Said};
use crate::{Spoil, same};

/// Bytes of options.
const OPTIONS: usize = 10;

/// # Errors
///
/// The difference between the library and the reference.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let is_gzip = choices.below(2) == 0;
    let level = choices.below(10) as u32;
    let data = if choices.below(8) == 0 {
        data.to_vec()
    } else {
        let mut all = Vec::new();
        for (number, content) in data.split(|&byte| byte == BETWEEN).enumerate() {
            // One level mixes gzip and zstd.
            let other = number == 2 && level == 7;
            all.extend(if is_gzip != other { gzip(content, level) } else { zstd(content, level) });
        }
        all
    };
    let data = changed(data, &mut choices);
    let asked = choices.of(&[None, None, None, Some(Compression::Gzip), Some(Compression::Zstd)]);
    let piece = choices.of(&[1 << 20, 1, 2, 3, 7, 50]);
    let most = choices.of(&[0, 1 << 20, 4, 100, 400, 1000]);
    let case = (is_gzip, level, asked, piece, most, data.escape_ascii().to_string());

    let source = Pieces { bytes: data.clone(), piece, at: 0 };
    let mut reader = Reader::new(Box::new(source), asked, Box::new(move || most));
    let mut content = Vec::new();
    let mut library: Said = match reader.read_to_end(&mut content) {
        Ok(_) => Ok(content),
        Err(error) => Err(Refusal { message: error.to_string() }),
    };
    spoil(&mut library);
    let strict = right(&data, asked);
    same(&case, &library, &strict).or_else(|difference| {
        // zstd takes a few frames with an empty block only where they come in pieces.
        let has_frames =
            strict.is_err() && kind(&data) == Some(Compression::Zstd) && asked != Some(Compression::Gzip);
        let lenient =
            zstd::Decoder::with_buffer(BufReader::with_capacity(1, &data[..])).and_then(|mut frames| {
                let mut content = Vec::new();
                frames.read_to_end(&mut content).map(|_| content)
            });
        if has_frames { same(&case, &library, &lenient) } else { Err(difference) }
    })
}

/// The compression that the first bytes name.
fn kind(data: &[u8]) -> Option<Compression> {
    let is_skippable = data.len() > 3 && data[0] >> 4 == 5 && data[1..4] == [0x2a, 0x4d, 0x18];
    if data.starts_with(b"\x1f\x8b") {
        Some(Compression::Gzip)
    } else if data.starts_with(b"\x28\xb5\x2f\xfd") || is_skippable {
        Some(Compression::Zstd)
    } else {
        None
    }
}

/// Returns true for a byte order mark and two ASCII letters in UTF-16.
pub(crate) fn is_utf_16(data: &[u8]) -> bool {
    let is_letter = |byte: u8| byte.is_ascii() && byte != 0;
    match data {
        [0xFF, 0xFE, first, 0, second, 0, ..] | [0xFE, 0xFF, 0, first, 0, second, ..] => {
            is_letter(*first) && is_letter(*second)
        }
        _ => false,
    }
}

/// The content of valid data.
fn right(data: &[u8], asked: Option<Compression>) -> io::Result<Vec<u8>> {
    let found = kind(data);
    match asked.or(found) {
        None if is_utf_16(data) => Err(io::ErrorKind::InvalidData.into()),
        None => Ok(data.to_vec()),
        kind if kind != found => Err(io::ErrorKind::InvalidData.into()),
        Some(Compression::Gzip) => {
            let (mut rest, mut content) = (data, Vec::new());
            while content.is_empty() && rest.len() == data.len() || rest.iter().any(|&byte| byte != 0) {
                let mut member = GzDecoder::new(rest);
                member.read_to_end(&mut content)?;
                rest = member.into_inner();
            }
            Ok(content)
        }
        // Short frames rarely hold more.
        Some(Compression::Zstd) => zstd::bulk::decompress(data, 1 << 20),
    }
}

/// The data with a fault in it, perhaps.
fn changed(mut data: Vec<u8>, choices: &mut Choices) -> Vec<u8> {
    let (kind, high, low, bit) = (choices.below(16), choices.byte(), choices.byte(), choices.byte());
    let place = (256 * usize::from(high) + usize::from(low)) % (data.len() + 1);
    match kind {
        0 if place < data.len() => data[place] ^= 1 << (bit % 8),
        1 => data.truncate(place),
        2 => data.extend(vec![0; usize::from(bit)]),
        3 => data.push(bit),
        4 => data.extend(gzip(b"1\n", 0)),
        5 => data.extend(zstd(b"1\n", 1)),
        6 => data.extend([&[0x50 | (bit % 16), 0x2a, 0x4d, 0x18, low % 8, 0, 0, 0][..], &[7; 7]].concat()),
        7 => data = [&[0x50 | (bit % 16), 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc", &data].concat(),
        _ => {}
    }
    data
}

fn gzip(content: &[u8], level: u32) -> Vec<u8> {
    let mut member = GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    member.write_all(content).expect("memory takes it");
    member.finish().expect("memory takes it")
}

fn zstd(content: &[u8], level: u32) -> Vec<u8> {
    let mut frame = zstd::Encoder::new(Vec::new(), level as i32).expect("the level is one");
    // Without them a flipped bit may give other content, which both must give.
    frame.include_checksum(level.is_multiple_of(2)).expect("it may");
    frame.include_contentsize(level.is_multiple_of(3)).expect("it may");
    frame.write_all(content).expect("memory takes it");
    frame.finish().expect("memory takes it")
}

/// Gives this many bytes at a time.
struct Pieces {
    bytes: Vec<u8>,
    piece: usize,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[self.at..];
        let count = room.len().min(self.piece).min(rest.len());
        room[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}
