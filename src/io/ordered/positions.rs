//! Positions of records, which are merged with them: in runs as words of 32 bits, or of 64 where there are more.

use std::io::Read;

use super::Written;
use crate::error::Error;
use crate::io::binary;
use crate::io::output::Output;
use crate::io::records::write_text;
use crate::key::{ElementType, KeyMap};
use crate::parallel;
use crate::words::Words;

/// Positions that go with merged records.
pub(crate) struct Positions<'a> {
    /// Those of the records of each run.
    pub(crate) runs: Vec<PositionReader>,
    /// Where to write those of the merged records, how, and as what.
    pub(crate) to: &'a mut Output,
    pub(crate) written: Written,
    pub(crate) element: ElementType,
}

/// The type of positions among this many records.
pub(crate) fn type_among(records: u64) -> ElementType {
    if records > 1 << 32 { ElementType::U64 } else { ElementType::U32 }
}

/// The positions of the records of a run, from the first.
pub(crate) struct PositionReader {
    name: String,
    reader: Box<dyn Read + Send + Sync>,
    element: ElementType,
}

impl PositionReader {
    /// Positions of this type, and the name of what is read in messages.
    pub(crate) fn new(name: &str, reader: impl Read + Send + Sync + 'static, element: ElementType) -> Self {
        Self { name: name.to_owned(), reader: Box::new(reader), element }
    }

    /// The next ones, as many.
    ///
    /// # Errors
    ///
    /// I/O errors; there are fewer.
    pub(crate) fn take(&mut self, count: usize) -> Result<Vec<u64>, Error> {
        let failed = |error| Error::io(&self.name, "read", error);
        if self.element == ElementType::U64 {
            let mut positions = vec![0_u64; count];
            self.reader.read_exact(bytemuck::cast_slice_mut(&mut positions)).map_err(failed)?;
            positions.iter_mut().for_each(|position| *position = u64::from_le(*position));
            return Ok(positions);
        }
        let mut positions = vec![0_u32; count];
        self.reader.read_exact(bytemuck::cast_slice_mut(&mut positions)).map_err(failed)?;
        Ok(positions.into_iter().map(|position| u32::from_le(position).into()).collect())
    }
}

/// Writes positions as elements of this type, which holds them.
pub(crate) fn write(
    positions: Vec<u64>,
    element: ElementType,
    written: Written,
    to: &mut Output,
) -> Result<(), Error> {
    let words: Words = if element == ElementType::U64 {
        positions.into()
    } else {
        parallel::map(&positions, |&position| position as u32).into()
    };
    let map = KeyMap::ascending(element);
    let result = match written {
        Written::AsRead => binary::write(&words, map, to, |_| {}),
        Written::InText(print) => write_text(words, map, print, to, |_| {}),
    };
    result.map_err(|error| to.failed(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::records::Print;

    #[test]
    fn positions_of_both_widths_come_back() {
        assert_eq!([1 << 32, (1 << 32) + 1].map(type_among), [ElementType::U32, ElementType::U64]);
        let narrow = vec![7, 0, u32::MAX.into(), 3];
        let wide = vec![u64::from(u32::MAX) + 1, 5, u64::MAX];
        for (positions, element) in [(narrow, ElementType::U32), (wide, ElementType::U64)] {
            let mut output = Output::memory();
            write(positions.clone(), element, Written::AsRead, &mut output).unwrap();
            let bytes = output.into_bytes();
            assert_eq!(bytes.len(), positions.len() * element.bytes());
            let mut reader = PositionReader::new("a run", std::io::Cursor::new(bytes), element);
            assert_eq!(reader.take(2).unwrap(), positions[..2]);
            assert_eq!(reader.take(positions.len() - 2).unwrap(), positions[2..]);
            assert!(reader.take(1).is_err());
            let mut output = Output::memory();
            write(positions.clone(), element, Written::InText(Print::Shortest), &mut output).unwrap();
            let lines = positions.iter().map(u64::to_string).collect::<Vec<_>>().join("\n") + "\n";
            assert_eq!(output.into_bytes(), lines.as_bytes());
        }
    }
}
