//! From a fuzzer's bytes to options and inputs: the first bytes are options, the rest is data.
//!
//! So many bytes are options whatever they say, so that inserting data does not turn the options over.

use gpusort::Wanted;
use gpusort::unstable::io::csv::{By, Dialect};
use gpusort::unstable::io::{KeyOrder, Place, KeyOrder};
use gpusort::unstable::key::ElementType;

/// Between two inputs in the data. Nothing else has a meaning for it.
pub const BETWEEN: u8 = 0x1E;

/// Bytes of options.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// So many bytes of options, and the data behind them.
    pub fn new(bytes: &'a [u8], options: usize) -> (Self, &'a [u8]) {
        let (options, data) = bytes.split_at(options.min(bytes.len()));
        (Self(options), data)
    }

    /// The next byte; 0 where there is none.
    pub fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().map_or((0, self.0), |(&first, rest)| (first, rest));
        self.0 = rest;
        first
    }

    pub fn below(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % most
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// The type that text is read as.
    pub fn text_type(&mut self) -> Option<ElementType> {
        use ElementType::{F32, F64, I32, I64, U32, U64};
        // None asked for is what most people do, and most there is to it.
        let all = [None, Some(U32), Some(I32), Some(U64), Some(I64), Some(F32), Some(F64), None, None, None];
        self.of(&all)
    }

    fn place(&mut self) -> Place {
        self.of(&[Place::Last, Place::First, Place::Error])
    }

    /// Of text and binary.
    pub fn direction(&mut self) -> KeyOrder {
        KeyOrder { nan: self.place(), descending: self.below(2) == 1 }
    }

    pub fn rules(&mut self) -> KeyOrder {
        let (nan, empty) = (self.place(), self.place());
        KeyOrder { nan, empty, invalid: self.of(&[Place::Error, Place::Last, Place::First, Place::Skip]) }
    }

    pub fn wanted(&mut self) -> Wanted {
        let top = [None, None, None, Some(0), Some(1), Some(2), Some(3), Some(5), Some(usize::MAX)];
        Wanted { unique: self.below(4) == 1, top: self.of(&top) }
    }

    pub fn dialect(&mut self) -> Dialect {
        let delimiter = self.of(b",,,;\t| 1-e.");
        Dialect { delimiter, header: self.below(2) == 0 }
    }

    /// What a table is ordered by: up to three keys.
    pub fn by(&mut self) -> By {
        let keys = ["", "1", "2", "1:r", "a", "b", "2:a", "b:r", "3", "1:a", "x", "3:r"];
        let columns =
            (0..3).map(|_| self.of(&keys)).filter(|key| !key.is_empty()).map(str::to_owned).collect();
        By { columns, descending: self.below(2) == 1, element: self.text_type(), rules: self.rules() }
    }
}

/// The data of up to so many inputs.
pub fn inputs(data: &[u8], most: usize) -> Vec<&[u8]> {
    data.splitn(most, |&byte| byte == BETWEEN).collect()
}
