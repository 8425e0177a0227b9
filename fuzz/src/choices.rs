//! From a fuzzer's bytes to options and inputs: the first bytes are options, the rest is data.
//!
//! How many bytes are options does not depend on what they say, so inserting data does not change
//! the options.

use gpusort::files::Kind;
use gpusort_order::{Invalid, KeyOrder, Nulls, Reading, Selection};
use gpusort_planner::key::ElementType;

use crate::asked::{By, Dialect, Fields, LineEnd, Said, Spelling};

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

    /// The type and the order of text, whose tokens may be times, sizes or durations, and whether a
    /// line may have one.
    pub fn text(&mut self) -> (Option<ElementType>, KeyOrder, bool) {
        let (element, nan, more) = (self.text_type(), self.nulls(), self.byte());
        let times = if more < 128 { Reading::Times } else { Reading::Durations };
        let readings = [Reading::Numbers, Reading::Numbers, times, Reading::Sizes];
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
        let header = if more % 2 == 0 { [1, 1, 1, 1, 1, 1, 2, 3][usize::from(more / 8 % 8)] } else { 0 };
        Dialect { fields, header, comments: more / 2 % 4 == 1 }
    }

    /// The order of a table: up to three keys.
    pub fn by(&mut self) -> By {
        let columns = (0..3).map(|_| self.key()).filter(|key| !key.is_empty()).map(str::to_owned).collect();
        let (descending, mut element) = (self.below(2) == 1, self.text_type());
        let (nan, empty) = (self.nulls(), self.nulls());
        let invalid = [Invalid::Error, Invalid::Last, Invalid::First, Invalid::Skip];
        let number = (Some(Kind::Number), false, false);
        let numeric = (None, true, false);
        let kinds = [
            number,
            number,
            (Some(Kind::Number), false, true),
            numeric,
            numeric,
            (Some(Kind::Time), false, false),
            (Some(Kind::Size), false, false),
            (Some(Kind::Size), false, true),
        ];
        let all: Vec<_> = kinds.iter().flat_map(|&kind| invalid.map(|invalid| (invalid, kind))).collect();
        let (invalid, mut kind) = self.of(&all);
        if element.is_some() {
            // A type is one of numbers.
            kind = (None, false, kind.2);
        }
        // What text keys brought came later.
        let (other, said, spelling) = (self.byte(), self.byte(), self.spelling());
        let others = [
            Some((None, false, false)),
            Some((None, false, false)),
            Some((None, false, false)),
            Some((None, false, true)),
            Some((Some(Kind::Text), false, false)),
            Some((Some(Kind::Version), false, false)),
            Some((Some(Kind::Hex), false, false)),
            Some((Some(Kind::Duration), false, false)),
        ];
        if other > 0 {
            kind = others[usize::from(other) % others.len()].unwrap_or(kind);
            element = element.filter(|_| other > 200);
        }
        let (kind, numeric, leading) = kind;
        let nocase = said / 8 % 4 == 1;
        // Where nothing else is said, nothing is said of nulls, too, but sometimes.
        let nan = if said / 4 % 2 == 1 && nan == Nulls::Error { Nulls::Last } else { nan };
        let order = KeyOrder { descending, nan, empty, invalid, leading, nocase, ..KeyOrder::default() };
        let said = Said { kind, numeric, empty: said % 2 == 0, invalid: said / 2 % 2 == 0 };
        By { columns, element, order, said, spelling }.of_tables()
    }

    /// A key, which may be none.
    fn key(&mut self) -> &'static str {
        const NUMBERS: [&str; 12] = ["", "1", "2", "1:r", "a", "b", "2:a", "b:r", "3", "1:a", "x", "3:r"];
        const KINDS: [&str; 64] = [
            "1:text",
            "2:text",
            "1:number",
            "2:time",
            "2:size",
            "1:duration",
            "2:version",
            "1:hex",
            "2:hex:r",
            "1:nocase",
            "2:nocase:r",
            "a:text",
            "b:version:r",
            "a:text:nocase",
            "1:version:nocase",
            "0",
            "0:r",
            "0:version",
            "0:nocase",
            "0:text:a",
            "1,1",
            "2,2",
            "2,2n",
            "2,2r",
            "1,1f",
            "2,2V",
            "2,2h",
            "2n",
            "1,1b",
            "2,2nr",
            "2,2Vr",
            "3,3",
            "1,2",
            "2h",
            "1,2n",
            "2,2:r",
            "2,2:text",
            "b:time",
            "2:duration:r",
            "2,1",
            "2M",
            "1,1:nocase",
            "2,2fr",
            "1.1,1",
            "2.2,2",
            "2.1",
            "1nV",
            "1,1bf",
            "a:hex",
            "b:nocase",
            "a:r:text",
            "b:text:r",
            "a:number",
            "b:size:r",
            "a:version",
            "2",
            "1",
            "1",
            "2",
            "1:r",
            "2:r",
            "3",
            "1:text:r",
            "0:hex",
        ];
        let byte = self.byte();
        let (all, at) = if byte < 128 { (&NUMBERS[..], byte) } else { (&KINDS[..], byte - 128) };
        all[usize::from(at) % all.len()]
    }

    /// How fields are written, mostly as usual.
    fn spelling(&mut self) -> Spelling {
        let byte = self.byte();
        let na: [&[&str]; 6] = [&["NA"], &["-", "NA"], &["-999"], &["nan"], &["n/a", ""], &["a"]];
        let marks = [
            (Some(','), None),
            (None, Some(',')),
            (Some(','), Some('.')),
            (Some('.'), Some('\'')),
            (Some(','), Some(' ')),
            (Some('\''), Some('\u{202F}')),
            (None, Some('.')),
            (Some('_'), Some('.')),
        ];
        let at = usize::from(byte % 64);
        let na = if byte / 64 % 2 == 1 { na[at % na.len()].to_vec() } else { Vec::new() };
        let (decimal, thousands) =
            if byte >= 128 && at < 56 { marks[at % marks.len()] } else { (None, None) };
        let times = if byte >= 128 && at >= 56 { [Some("epoch"), Some("clf")][at % 2] } else { None };
        Spelling { na, decimal, thousands, times }
    }
}

/// The data of at most `most` inputs.
pub fn inputs(data: &[u8], most: usize) -> Vec<&[u8]> {
    data.splitn(most, |&byte| byte == BETWEEN).collect()
}
