//! From a fuzzer's bytes to options and inputs: the first bytes are options, the rest is data.
//!
//! How many bytes are options does not depend on what they say, so inserting data does not change
//! the options.

use gpusort::unstable::order::{Invalid, KeyOrder, Nulls, Reading, Selection};
use gpusort_planner::key::ElementType;

use crate::asked::{By, Dialect, Fields, LineEnd};

/// Between two inputs in the data. Nothing else has a meaning for it.
pub const BETWEEN: u8 = 0x1E;

/// Bytes of options.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// The first `options` bytes, and the data after them.
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
        // Mostly inferred: that is the usual case, and has the most cases of its own.
        let all = [None, Some(U32), Some(I32), Some(U64), Some(I64), Some(F32), Some(F64), None, None, None];
        self.of(&all)
    }

    fn nulls(&mut self) -> Nulls {
        self.of(&[Nulls::Last, Nulls::First, Nulls::Error])
    }

    /// The order of text and of binary elements, which has no other nulls than NaN.
    pub fn order(&mut self) -> KeyOrder {
        KeyOrder { nan: self.nulls(), descending: self.below(2) == 1, ..KeyOrder::default() }
    }

    /// The type and the order of text, whose tokens may be times or sizes, and whether a line may
    /// have one.
    pub fn text(&mut self) -> (Option<ElementType>, KeyOrder, bool) {
        let (element, nan, more) = (self.text_type(), self.nulls(), self.byte());
        let readings = [Reading::Numbers, Reading::Numbers, Reading::Times, Reading::Sizes];
        // A type is one of numbers.
        let reading = element.map_or(readings[usize::from(more / 2) % 4], |_| Reading::Numbers);
        let one_a_line = more / 8 % 4 == 1;
        (element, KeyOrder { nan, descending: more % 2 == 1, reading, ..KeyOrder::default() }, one_a_line)
    }

    pub fn selection(&mut self) -> Selection {
        let first = [None, None, None, Some(0), Some(1), Some(2), Some(3), Some(5), Some(usize::MAX)];
        Selection { unique: self.below(4) == 1, first: self.of(&first) }
    }

    pub fn dialect(&mut self) -> Dialect {
        let quoted = b",,,;\t| 1-e.".map(Fields::Quoted);
        let end = self.of(&[LineEnd::Lf, LineEnd::Lf, LineEnd::Nul]);
        let lines = [Fields::Blanks(end); 8].into_iter().chain(b":, \"".map(|byte| Fields::Split(byte, end)));
        let fields: Vec<Fields> = quoted.into_iter().chain(lines).collect();
        let fields = self.of(&fields);
        let more = self.byte();
        Dialect { fields, header: more % 2 == 0, comments: more / 2 % 4 == 1 }
    }

    /// The order of a table: up to three keys.
    pub fn by(&mut self) -> By {
        let keys = ["", "1", "2", "1:r", "a", "b", "2:a", "b:r", "3", "1:a", "x", "3:r"];
        let columns =
            (0..3).map(|_| self.of(&keys)).filter(|key| !key.is_empty()).map(str::to_owned).collect();
        let (descending, element) = (self.below(2) == 1, self.text_type());
        let (nan, empty) = (self.nulls(), self.nulls());
        let invalid = [Invalid::Error, Invalid::Last, Invalid::First, Invalid::Skip];
        let plain = (Reading::Numbers, false);
        let times = (Reading::NumbersOrTimes, false);
        let sizes = [false, true].map(|leading| (Reading::Sizes, leading));
        let readings = [
            plain,
            plain,
            (Reading::Numbers, true),
            times,
            times,
            (Reading::Times, false),
            sizes[0],
            sizes[1],
        ];
        let all: Vec<_> =
            readings.iter().flat_map(|&reading| invalid.map(|invalid| (invalid, reading))).collect();
        let (invalid, (reading, leading)) = self.of(&all);
        // A type is one of numbers.
        let (reading, leading) =
            if element.is_some() { (Reading::Numbers, leading) } else { (reading, leading) };
        By { columns, element, order: KeyOrder { descending, nan, empty, invalid, leading, reading } }
    }
}

/// The data of at most `most` inputs.
pub fn inputs(data: &[u8], most: usize) -> Vec<&[u8]> {
    data.splitn(most, |&byte| byte == BETWEEN).collect()
}
