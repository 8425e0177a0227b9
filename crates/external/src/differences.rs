//! Sorted keys as differences in few bits: the form of spilled runs of elements.
//!
//! ```text
//! block of up to 256 keys   keys − 1 │ bits │ first key │ differences, in this number of bits each
//!                           1 byte     1      8           padded to whole bytes
//! ```

use std::io::{self, Read, Write};

use gpusort_formats::file::fill;
use gpusort_order::key::Word;

use crate::key_buf::{KeyBuf, by_width};
use crate::parallel::map_parts;

/// The number of keys of a block.
const KEYS: usize = 256;

/// The bytes of a block before its differences.
const HEAD: usize = 2 + 8;

/// The most bits of a difference that a word holds wherever in a byte it begins.
const MOST: u32 = 56;

/// Writes sorted keys, and returns the number of bytes.
///
/// # Errors
///
/// I/O errors.
pub fn write(keys: &KeyBuf, to: &mut (impl Write + ?Sized)) -> io::Result<u64> {
    /// The number of keys that justifies a parallel task; also the number written together.
    const PART: usize = KEYS << 6;
    const MANY: usize = PART << 6;
    let mut bytes = 0;
    by_width!(keys, blocks => for keys in blocks.iter().flat_map(|keys| keys.chunks(MANY)) {
        for part in map_parts(keys.chunks(PART), encoded) {
            to.write_all(&part)?;
            bytes += part.len() as u64;
        }
    });
    Ok(bytes)
}

fn encoded<W: Word>(keys: &[W]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(keys) / 2);
    for block in keys.chunks(KEYS) {
        let differences = || block.windows(2).map(|pair| pair[1].into() - pair[0].into());
        let most: u64 = differences().fold(0, |all, difference| all | difference);
        let bits = u64::BITS - most.leading_zeros();
        let bits = if bits <= MOST { bits } else { u64::BITS };
        bytes.extend([(block.len() - 1) as u8, bits as u8]);
        bytes.extend_from_slice(&block[0].into().to_le_bytes());
        let (mut word, mut filled) = (0_u128, 0);
        for difference in differences() {
            word |= u128::from(difference) << filled;
            filled += bits;
            if filled >= u64::BITS {
                bytes.extend_from_slice(&(word as u64).to_le_bytes());
                (word, filled) = (word >> u64::BITS, filled - u64::BITS);
            }
        }
        bytes.extend_from_slice(&(word as u64).to_le_bytes()[..filled.div_ceil(8) as usize]);
    }
    bytes
}

/// Appends the keys of the block at the start of these bytes. Returns the length of the block, or `None` if the
/// bytes end before it does.
fn decode<W: Word>(bytes: &[u8], keys: &mut Vec<W>) -> Option<usize> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let [count, bits, first @ ..] = *head;
    let (count, bits) = (usize::from(count), u32::from(bits).min(u64::BITS));
    let length = (count * bits as usize).div_ceil(8);
    // A word is read at each difference.
    let mut body = [0; KEYS * 8];
    body[..length].copy_from_slice(rest.get(..length)?);
    let mask = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
    let mut key = u64::from_le_bytes(first);
    keys.push(W::of_u64(key));
    keys.extend((0..count).map(|number| {
        let at = number * bits as usize;
        let word =
            u64::from_le_bytes(*body[at / 8..].first_chunk().expect("a word more than the differences"));
        key = key.wrapping_add(word >> (at % 8) & mask);
        W::of_u64(key)
    }));
    Some(HEAD + length)
}

/// Returns the number of unread records of a run after `read` more of them.
///
/// # Errors
///
/// The run has more records than it should have.
pub(crate) fn left_after(left: u64, read: usize) -> io::Result<u64> {
    left.checked_sub(read as u64).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Reads the keys of a run.
pub struct KeyReader {
    reader: Box<dyn Read + Send + Sync>,
    /// The bytes read; those before `at` are decoded.
    bytes: Vec<u8>,
    at: usize,
    /// The number of unread keys.
    left: u64,
}

impl KeyReader {
    /// Creates a reader of this number of keys that [`write()`] wrote.
    pub fn new(reader: Box<dyn Read + Send + Sync>, left: u64) -> Self {
        Self { reader, bytes: Vec::new(), at: 0, left }
    }

    /// Appends about `most` keys, at least one. Returns false at the end.
    ///
    /// # Errors
    ///
    /// I/O errors; an incomplete block; another number of keys.
    pub fn read<W: Word>(&mut self, most: usize, keys: &mut Vec<W>) -> io::Result<bool> {
        let (begin, most) = (keys.len(), most.max(1));
        let room = most * size_of::<W>() / 2 + HEAD;
        while keys.len() - begin < most {
            let before = keys.len();
            if let Some(length) = decode(&self.bytes[self.at..], keys) {
                self.at += length;
                self.left = left_after(self.left, keys.len() - before)?;
                continue;
            }
            self.bytes.drain(..self.at);
            self.at = 0;
            let rest = self.bytes.len();
            self.bytes.resize(rest + room, 0);
            let count = fill(&mut self.bytes[rest..], |room, _| self.reader.read(room))?;
            self.bytes.truncate(rest + count);
            if count == 0 {
                if rest > 0 || self.left > 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                return Ok(keys.len() > begin);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<W: Word>(bytes: Vec<u8>, left: usize, most: usize) -> io::Result<Vec<W>> {
        let mut reader = KeyReader::new(Box::new(io::Cursor::new(bytes)), left as u64);
        let mut keys = Vec::new();
        while reader.read(most, &mut keys)? {}
        Ok(keys)
    }

    proptest! {
        #[test]
        fn keys_come_back(
            mut keys in prop::collection::vec(any::<u64>(), 0..1000),
            shift in 0_u32..64,
            most in 1_usize..700,
        ) {
            keys.iter_mut().for_each(|key| *key >>= shift);
            keys.sort_unstable();
            let narrow: Vec<u32> = keys.iter().map(|&key| (key >> 32 >> (shift / 2)) as u32).collect();
            let mut bytes = Vec::new();
            write(&keys.clone().into(), &mut bytes).unwrap();
            let count = keys.len();
            prop_assert_eq!(read::<u64>(bytes.clone(), count, most).unwrap(), keys.clone());
            prop_assert!(read::<u64>(bytes.clone(), count + 1, most).is_err());
            if count > 0 {
                prop_assert!(read::<u64>(bytes.clone(), count - 1, most).is_err());
                bytes.pop();
                prop_assert!(read::<u64>(bytes, count, most).is_err());
            }
            let mut bytes = Vec::new();
            write(&narrow.clone().into(), &mut bytes).unwrap();
            prop_assert_eq!(read::<u32>(bytes, count, most).unwrap(), narrow);
        }

        #[test]
        fn any_bytes_are_keys_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
            let _ = read::<u64>(bytes, 1000, 100);
        }
    }
}
