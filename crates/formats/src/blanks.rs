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
pub fn without_blanks(mut field: &[u8], line_end: LineEnd) -> &[u8] {
    while let [first, rest @ ..] = field
        && is_blank(*first, line_end)
    {
        field = rest;
    }
    while let [rest @ .., last] = field
        && is_blank(*last, line_end)
    {
        field = rest;
    }
    field
}

/// Returns true for a record of spaces, tabs and its line end alone.
pub fn is_blank_record(record: &[u8]) -> bool {
    record.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}
