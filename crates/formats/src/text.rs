//! The text of inputs, and positions in it for messages.

use std::ops::Range;

use super::number::ends_line;
use crate::parallel;

/// Bytes that one core reads at a time: small enough to balance the cores, large enough for keys in
/// huge pages.
pub const PIECE: Range<usize> = 1 << 18..8 << 20;

/// Bytes between two reports of progress.
pub const BLOCK: usize = 4 << 20;

/// The byte order mark, which some programs put before UTF-8 text.
pub const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The sum of `count` over the bytes; large inputs use all cores.
pub fn sum(bytes: &[u8], count: impl Fn(&[u8]) -> u64 + Sync + Send) -> u64 {
    const MANY: usize = 1 << 18;
    if bytes.len() <= MANY {
        return count(bytes);
    }
    parallel::map_parts(bytes.chunks(MANY), count).into_iter().sum()
}

/// The number of occurrences of this byte.
pub fn count(byte: u8, bytes: &[u8]) -> u64 {
    sum(bytes, |some| memchr::memchr_iter(byte, some).count() as u64)
}

impl Before {
    /// The position after these bytes of text. LF, CR LF and CR end lines.
    pub fn of_text(bytes: &[u8]) -> Self {
        let is_alone = |&at: &usize| bytes.get(at + 1) != Some(&b'\n');
        let lines = count(b'\n', bytes) + memchr::memchr_iter(b'\r', bytes).filter(is_alone).count() as u64;
        let line = memchr::memrchr2(b'\n', b'\r', bytes).map_or(0, |end| end + 1);
        Self { lines, columns: bytes.len() - line, line_end: None }
    }

    /// The position after further bytes, of tokens or of rows.
    pub fn after(self, bytes: &[u8], are_tokens: bool, end: LineEnd) -> Self {
        if !are_tokens {
            return Self { lines: self.lines + count(end.byte(), bytes), columns: 0, line_end: None };
        }
        let Self { lines, columns, .. } = Self::of_text(bytes);
        let columns = if lines == 0 { self.columns + columns } else { columns };
        Self { lines: self.lines + lines, columns, line_end: None }
    }
}

/// The end of a record in text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnd {
    /// LF, with or without a CR before it.
    #[default]
    Lf,
    /// NUL, so that lines may contain line feeds, like some file names.
    Nul,
}

impl LineEnd {
    /// Returns the first byte of the line end.
    pub fn byte(self) -> u8 {
        self.bytes()[0]
    }

    /// Returns the bytes of the line end.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::Nul => b"\0",
        }
    }
}

/// The text of all inputs, or of a part of them. A line end is appended to each input.
#[derive(Debug, Default)]
pub struct Text {
    /// The bytes of all parts.
    pub bytes: Vec<u8>,
    /// The parts, in order.
    pub parts: Vec<TextPart>,
    /// The line end appended to each input.
    pub line_end: LineEnd,
}

/// The text of one input, or of a part of one.
#[derive(Clone, Debug)]
pub struct TextPart {
    /// The name in messages.
    pub name: String,
    /// The range of its bytes, without the byte order mark.
    pub range: Range<usize>,
    /// The position of the part in its input; `None` at the beginning.
    pub before: Option<Before>,
}

/// The position of a part in its input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    /// Line ends before the part.
    pub lines: u64,
    /// Bytes between the last line end and the part.
    pub columns: usize,
    /// The input's first line end, if the part is read on its own.
    pub line_end: Option<&'static [u8]>,
}

impl Text {
    /// The text of one input, or of a part of one.
    pub fn of_one(name: &str, bytes: Vec<u8>, before: Option<Before>, line_end: LineEnd) -> Self {
        let mut text = Self { bytes, parts: Vec::new(), line_end };
        text.end_part(name.to_owned(), 0, before);
        text
    }

    /// Ends the text of one input, or of a part of one: the bytes from `begin` on.
    pub fn end_part(&mut self, name: String, begin: usize, before: Option<Before>) {
        let is_marked = before.is_none() && self.bytes[begin..].starts_with(MARK);
        let mark = if is_marked { MARK.len() } else { 0 };
        self.parts.push(TextPart { name, range: begin + mark..self.bytes.len(), before });
        // Separates the last token of one input from the next input.
        self.bytes.push(self.line_end.byte());
    }

    /// The number of bytes read.
    pub fn size(&self) -> u64 {
        (self.bytes.len() - self.parts.len()) as u64
    }

    /// `file:line:column` of a byte in tokens; line and column count from 1, the column in bytes.
    pub fn place(&self, byte: usize) -> String {
        let (name, earlier, here) = self.before(byte);
        let Before { lines, columns, .. } = earlier.after(here, true, self.line_end);
        format!("{name}:{}:{}", lines + 1, columns + 1)
    }

    /// `file:line` of a byte in a table; the line counts from 1.
    pub fn line(&self, byte: usize) -> String {
        self.line_of(byte, false)
    }

    /// The line of text around a byte, without a byte order mark.
    pub fn line_around(&self, byte: usize) -> &[u8] {
        let (_, _, here) = self.before(byte);
        let begin = byte - here.iter().rev().take_while(|&&byte| !ends_line(byte)).count();
        self.bytes[begin..].split(|&byte| ends_line(byte)).next().unwrap_or_default()
    }

    /// `file:line` of a byte in rows or tokens.
    pub fn line_of(&self, byte: usize, are_tokens: bool) -> String {
        let (name, earlier, here) = self.before(byte);
        format!("{name}:{}", earlier.after(here, are_tokens, self.line_end).lines + 1)
    }

    /// The name of a byte's input, the position of its part, and the part's bytes before it.
    fn before(&self, byte: usize) -> (&str, Before, &[u8]) {
        let part = self.parts.iter().rfind(|part| part.range.start <= byte);
        part.map_or(("", Before::default(), &[]), |part| {
            (&part.name, part.before.unwrap_or_default(), &self.bytes[part.range.start..byte])
        })
    }

    /// The byte order mark at the beginning of the text, or an empty slice.
    pub fn mark(&self) -> &[u8] {
        &self.bytes[..self.parts.first().map_or(0, |part| part.range.start)]
    }
}

/// The piece size for a text of this size.
pub fn piece_size(text: usize) -> usize {
    match text {
        // Querying the number of threads would start them, which a small text does not need.
        few if few <= PIECE.start => PIECE.start,
        many => (many / parallel::threads() / 4).clamp(PIECE.start, PIECE.end),
    }
}
