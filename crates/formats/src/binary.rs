//! Raw binary: consecutive elements, without a header or behind the header of a .npy file.

use std::io::{self, Write};

use gpusort_order::key::{ElementType, KeyMap, KeyWords, Word};

use super::input::Input;
use super::input::opened::Opened;
use super::npy;
use super::records::{Print, write_text};
use super::text::BLOCK;
use crate::error::{Error, Hint};
use crate::key_buf::{KeyBuf, by_width};
use crate::order::{KeyOrder, Nulls};
use crate::parallel::{self, map_into};

/// Bytes read at once from an input of known size, by all cores: enough to use huge pages.
const MANY: u64 = 1 << 26;

/// A binary input.
#[derive(Clone, Debug)]
pub struct BinaryInput {
    input: Input,
    /// The type of the elements.
    pub element: ElementType,
    big_endian: bool,
    /// The number of elements according to the header, if there is one.
    pub count: Option<u64>,
    /// Bytes to skip before the first element.
    skip: usize,
}

impl BinaryInput {
    /// Little-endian elements without a header.
    pub fn raw(input: Input, element: ElementType) -> Self {
        Self { input, element, big_endian: false, count: None, skip: 0 }
    }

    /// The elements of a .npy file; reads the header.
    ///
    /// # Errors
    ///
    /// See [`npy::Header::read`].
    pub fn npy(input: Input) -> Result<Self, Error> {
        if input.path().is_some() && input.open_regular()?.is_none() && !input.can_be_read_again() {
            // It would have to be opened twice.
            let problem = "not a regular file; use - to read a .npy file from a pipe";
            return Err(Error::input(input.name(), problem));
        }
        let npy::Header { element, big_endian, count, bytes } = npy::Header::read(&input)?;
        // A pipe was read up to its first element already.
        let skip = if input.can_be_read_again() { bytes } else { 0 };
        let source = Self { input, element, big_endian, count: Some(count), skip };
        source.check_file()?;
        Ok(source)
    }

    /// Bytes of all elements, where known.
    pub fn size(&self) -> Option<u64> {
        match self.count {
            Some(count) => count.checked_mul(self.element.bytes() as u64),
            None => self.input.size(),
        }
    }

    /// Returns true if a NaN is an error.
    pub fn refuses_nan(&self, direction: KeyOrder) -> bool {
        direction.nan == Nulls::Error && self.element.is_float()
    }

    /// The error that this element is one.
    pub fn is_nan(&self, element: u64) -> Error {
        Error::input(self.input.name(), format!("element {element} is NaN")).hinting(Hint::Nan)
    }

    /// Skips the bytes before the elements of the source.
    ///
    /// # Errors
    ///
    /// I/O errors; an incomplete header.
    pub fn opened(&self, mut opened: Opened) -> Result<Opened, Error> {
        let mut skipped = vec![0; self.skip];
        if opened.fill(&mut skipped)? < skipped.len() {
            self.check(0)?;
        }
        Ok(opened)
    }

    /// Checks the size of a file before the first read.
    ///
    /// # Errors
    ///
    /// See [`check`](Self::check).
    pub fn check_file(&self) -> Result<(), Error> {
        self.input.size().map_or(Ok(()), |size| self.check(size.saturating_sub(self.skip as u64)))
    }

    /// Checks that this many bytes of elements are complete.
    ///
    /// # Errors
    ///
    /// Another number of bytes than the header has, or a part of an element.
    pub fn check(&self, bytes: u64) -> Result<(), Error> {
        let (element, size) = (self.element, self.element.bytes() as u64);
        let problem = match self.count {
            Some(count) if count.checked_mul(size) != Some(bytes) => {
                let needed = count.saturating_mul(size);
                format!("{count} {element} elements need {needed} bytes, but {bytes} follow the header")
            }
            _ if !bytes.is_multiple_of(size) => {
                format!("{bytes} bytes are not a multiple of {size}, the size of {element}")
            }
            _ => return Ok(()),
        };
        Err(Error::input(self.input.name(), problem))
    }
}

/// The number of keys that justifies a parallel task.
const PART: usize = 1 << 16;

/// Reads sources of a common type, piece by piece; all cores read regular files.
pub struct Reader<'a> {
    sources: &'a [BinaryInput],
    direction: KeyOrder,
    /// The first source, once open: its input (`None` after the end), and the bytes of its elements read so far.
    open: Option<(Option<Opened>, u64)>,
    /// The approximate maximum of bytes in one read.
    most: u64,
    /// Bytes read so far.
    pub bytes: u64,
}

impl<'a> Reader<'a> {
    /// Reads from the beginning of the sources, at most about this many bytes at a time.
    pub fn new(sources: &'a [BinaryInput], direction: KeyOrder, most: u64) -> Self {
        Self { sources, direction, open: None, most: most.max(1 << 12), bytes: 0 }
    }

    /// Returns true after the last element.
    pub fn is_over(&self) -> bool {
        self.sources.is_empty()
    }

    /// The next keys; `None` at the end.
    ///
    /// # Errors
    ///
    /// I/O errors; an input with an incomplete element, or with another number of elements than its header
    /// says; a file that shrinks during the read; NaN if the rules reject NaN.
    pub fn read(&mut self) -> Result<Option<KeyBuf<'static>>, Error> {
        while let Some((source, others)) = self.sources.split_first() {
            let (input, passed) = match &mut self.open {
                Some(open) => open,
                none => none.insert((Some(source.opened(source.input.open()?)?), 0)),
            };
            let Some(opened) = input else {
                source.check(*passed)?;
                (self.sources, self.open) = (others, None);
                continue;
            };
            let order = self.direction.map(source.element);
            let size = order.element.bytes() as u64;
            // The expected size and one more element, to detect the end.
            let left = opened.size.map(|all| all.saturating_sub(*passed));
            let expected = left.map_or(BLOCK as u64, |left| left.saturating_add(size).min(MANY));
            let room = (expected.min(self.most) / size * size) as usize;
            let mut bytes = 0;
            let fill = |room: &mut [u8]| {
                bytes = opened.fill(room)?;
                Ok(bytes)
            };
            let keys: KeyBuf = match order.element.key_words() {
                KeyWords::One => read_keys::<u32>(room, source, order, fill)?.into(),
                KeyWords::Two => read_keys::<u64>(room, source, order, fill)?.into(),
            };
            if bytes < room {
                *input = None;
            }
            let before = *passed / size;
            *passed += bytes as u64;
            self.bytes += bytes as u64;
            if source.refuses_nan(self.direction)
                && let Some(place) = first_nan(&keys, order)
            {
                return Err(source.is_nan(before + place as u64));
            }
            if !keys.is_empty() {
                return Ok(Some(keys));
            }
        }
        Ok(None)
    }
}

fn first_nan(keys: &KeyBuf, order: KeyMap) -> Option<usize> {
    by_width!(keys, blocks => {
        let map = Word::map(order);
        blocks.iter().flat_map(|block| &**block).position(|key| key.is_nan(map))
    })
}

/// Fills up to `room` bytes with `fill`; returns the keys of the whole elements in them.
///
/// # Errors
///
/// Errors of `fill`.
pub fn read_keys<W: Word>(
    room: usize,
    source: &BinaryInput,
    order: KeyMap,
    fill: impl FnOnce(&mut [u8]) -> Result<usize, Error>,
) -> Result<Vec<W>, Error> {
    let (size, map) = (order.element.bytes(), W::map(order));
    if size < size_of::<W>() {
        let mut elements = vec![0; room];
        let bytes = fill(&mut elements)?;
        elements.truncate(bytes);
        let key = |bits: u32| W::from(bits).key(map);
        let pair = if source.big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
        return Ok(match size {
            1 => parallel::map(&elements, |&byte| key(byte.into())),
            _ => parallel::map(elements.as_chunks().0, |&bytes| key(pair(bytes).into())),
        });
    }
    let mut words = vec![W::default(); room.div_ceil(size)];
    let bytes = fill(&mut bytemuck::cast_slice_mut(&mut words)[..room])?;
    words.truncate(bytes / size);
    let key = |word: W| if source.big_endian { W::from_be(word).key(map) } else { W::from_le(word).key(map) };
    if source.big_endian || !order.is_bits() {
        parallel::map_parts(words.chunks_mut(PART), |part| {
            part.iter_mut().for_each(|word| *word = key(*word));
        });
    }
    Ok(words)
}

/// The element of this key as text.
pub fn shown(key: u64, order: KeyMap) -> String {
    let key: KeyBuf = match order.element.key_words() {
        KeyWords::One => vec![key as u32].into(),
        KeyWords::Two => vec![key].into(),
    };
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_text(key, order, Print::Shortest, &mut text, |_| {});
    String::from_utf8_lossy(text.trim_ascii_end()).into_owned()
}

/// Converts keys back to the bits of their elements and writes them, little-endian, calling
/// `progress` with the number of elements written so far.
///
/// # Errors
///
/// I/O errors.
pub fn write(
    keys: &KeyBuf,
    order: KeyMap,
    to: &mut impl Write,
    mut progress: impl FnMut(u64),
) -> io::Result<()> {
    let (size, most) = (order.element.bytes(), BLOCK / 4 / order.element.key_words().count() as usize);
    let mut written = 0;
    by_width!(keys, blocks => {
        let (map, mut converted) = (Word::map(order), Vec::new());
        for keys in blocks.iter().flat_map(|block| block.chunks(most)) {
            let words = if order.is_bits() {
                keys
            } else {
                converted.resize(keys.len(), Default::default());
                // The conversion to little-endian bytes is also the conversion from them.
                map_into(keys, &mut converted, |key| Word::from_le(key.bits(map)));
                &converted[..]
            };
            let byte = |word: &_, number: usize| bytemuck::bytes_of(word)[number];
            match size {
                1 => to.write_all(&parallel::map(words, |word| byte(word, 0)))?,
                2 => {
                    to.write_all(parallel::map(words, |word| [0, 1].map(|at| byte(word, at))).as_flattened())?;
                }
                _ => to.write_all(bytemuck::cast_slice(words))?,
            }
            written += words.len() as u64;
            progress(written);
        }
    });
    Ok(())
}
