//! Text: tokens separated by white space; lines that begin with `#` are comments.

use super::MARK;

/// A token and where it is.
#[derive(Clone, Debug)]
pub struct Token<'a> {
    pub bytes: &'a [u8],
    /// The number of its input.
    pub input: usize,
    /// From 1.
    pub line: usize,
    /// From 1, in bytes.
    pub column: usize,
}

/// The tokens of all inputs.
pub fn tokens<'a>(inputs: &[&'a [u8]]) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    for (input, bytes) in inputs.iter().enumerate() {
        let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
        for (line, content) in (1..).zip(lines(bytes)) {
            if content.starts_with(b"#") {
                continue;
            }
            let mut begin = None;
            for at in 0..=content.len() {
                let is_space = content.get(at).is_none_or(|byte| matches!(byte, b' ' | b'\t' | 0x0B | 0x0C));
                match begin {
                    None if !is_space => begin = Some(at),
                    Some(start) if is_space => {
                        let bytes = &content[start..at];
                        tokens.push(Token { bytes, input, line, column: start + 1 });
                        begin = None;
                    }
                    _ => {}
                }
            }
        }
    }
    tokens
}

/// The comments of all inputs.
pub fn comments(inputs: &[&[u8]]) -> u64 {
    let of_input = |bytes: &&[u8]| {
        let lines = lines(bytes.strip_prefix(MARK).unwrap_or(bytes));
        lines.iter().filter(|line| line.starts_with(b"#")).count() as u64
    };
    inputs.iter().map(of_input).sum()
}

/// Lines without their ends: LF, CR LF, or CR alone.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let length = match (bytes[at], bytes.get(at + 1)) {
            (b'\r', Some(b'\n')) => 2,
            (b'\r' | b'\n', _) => 1,
            _ => 0,
        };
        if length > 0 {
            lines.push(&bytes[start..at]);
            start = at + length;
        }
        at += length.max(1);
    }
    lines.push(&bytes[start..]);
    lines
}
