//! Blanks, which separate words and do not count around a field.

use super::text::LineEnd;

/// Returns true for a byte that separates words.
#[inline]
pub fn is_blank(byte: u8, line_end: LineEnd) -> bool {
    byte == b' ' || byte == b'\t' || byte == b'\n' && line_end == LineEnd::Nul
}

/// Returns the field without surrounding spaces and tabs.
#[inline]
pub fn trimmed(field: &[u8]) -> &[u8] {
    without_blanks(field, LineEnd::Lf)
}

/// Returns the field without the bytes around it that separate words.
#[inline]
pub fn without_blanks(field: &[u8], line_end: LineEnd) -> &[u8] {
    let is_inner = |&byte: &u8| !is_blank(byte, line_end);
    let begin = field.iter().position(is_inner).unwrap_or(field.len());
    let end = field.iter().rposition(is_inner).map_or(begin, |last| last + 1);
    &field[begin..end]
}

/// Returns true for a record of spaces, tabs and its line end alone.
pub fn is_blank_record(record: &[u8]) -> bool {
    record.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}
