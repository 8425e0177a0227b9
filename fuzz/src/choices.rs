//! From a fuzzer's bytes to options and inputs: the first bytes are options, the rest is data.
//!
//! The number of option bytes is fixed, so inserted data does not change the options.

use gpusort::files::Kind;
use gpusort_order::{Invalid, KeyOrder, Nulls, Selection};

use crate::asked::Asked;

/// Separates two inputs in the data.
pub const BETWEEN: u8 = 0x1E;

/// Bytes of options.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// Splits off the first `options` bytes.
    pub fn new(bytes: &'a [u8], options: usize) -> (Self, &'a [u8]) {
        let (options, data) = bytes.split_at(options.min(bytes.len()));
        (Self(options), data)
    }

    /// The next byte; 0 after the last one.
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

    fn nulls(&mut self) -> Nulls {
        self.of(&[Nulls::Last, Nulls::First, Nulls::Error])
    }

    /// The order of binary elements, whose only nulls are NaN.
    pub fn order(&mut self) -> KeyOrder {
        KeyOrder { nan: self.nulls(), descending: self.below(2) == 1, ..KeyOrder::default() }
    }

    pub fn selection(&mut self) -> Selection {
        let first = [None, None, None, Some(0), Some(1), Some(2), Some(3), Some(5), Some(usize::MAX)];
        Selection { unique: self.below(4) == 1, first: self.of(&first) }
    }

    /// The options of a key from two bytes: one of these columns, then a kind and a direction.
    fn key(&mut self, columns: &[&str]) -> Option<String> {
        let kinds = [
            "",
            ":number",
            ":text",
            ":hex",
            ":version",
            ":time",
            ":size",
            ":duration",
            ":nocase",
            "",
            ":text:nocase",
        ];
        let (column, kind) = (self.of(columns), self.byte());
        // The keys of `sort` have letters of their own.
        let is_plain = !column.contains(',') && !column.ends_with(['n', 'h', 'V']);
        let kind = if is_plain {
            [kinds[usize::from(kind) % kinds.len()], ["", ":r", ":a"][usize::from(kind / 16) % 3]]
        } else {
            [""; 2]
        };
        (!column.is_empty()).then(|| [column, kind[0], kind[1]].concat())
    }

    /// Options of keys, kinds and nulls, with up to three keys in these columns.
    pub fn asked(&mut self, columns: &[&str]) -> Asked {
        let keys = (0..3).filter_map(|_| self.key(columns)).collect();
        let kind = self.of(&[
            None,
            None,
            None,
            Some(Kind::Number),
            Some(Kind::Text),
            Some(Kind::Hex),
            Some(Kind::Version),
            Some(Kind::Time),
            Some(Kind::Size),
            Some(Kind::Duration),
        ]);
        let [nan, empty] = [self.nulls(), self.nulls()];
        let invalid = self.of(&[Invalid::Error, Invalid::Last, Invalid::First, Invalid::Skip]);
        let (flags, more) = (self.byte(), self.byte());
        let na =
            self.of(&[None, None, Some("NA"), Some("-"), Some("n/a"), Some("a"), Some("-999"), Some("nan")]);
        let marks = [
            (None, None),
            (None, None),
            (None, None),
            (Some(','), None),
            (None, Some(',')),
            (Some(','), Some('.')),
            (Some('.'), Some('\'')),
            (Some(','), Some(' ')),
        ];
        let (decimal, thousands) = self.of(&marks);
        Asked {
            keys,
            kind,
            nan,
            empty: (empty != Nulls::Last).then_some(empty),
            invalid: (invalid != Invalid::Error).then_some(invalid),
            descending: flags & 1 > 0,
            unique: flags & 6 == 6,
            comments: flags & 24 == 24,
            zero_terminated: flags & 224 == 224,
            nocase: more & 3 == 3,
            leading: more & 12 == 12,
            numeric: more & 112 == 112,
            na,
            decimal,
            thousands,
            times: self.of(&[None, None, None, None, None, Some("epoch"), Some("clf"), Some("%d/%m/%Y")]),
            ..Asked::default()
        }
    }
}

/// The data of at most `most` inputs.
pub fn inputs(data: &[u8], most: usize) -> Vec<&[u8]> {
    data.splitn(most, |&byte| byte == BETWEEN).collect()
}
