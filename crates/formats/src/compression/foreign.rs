//! Recognizes data by its first bytes: compressed data, archives, and formats of other programs.

use super::kind::{Compression, FORMS};
use super::refused::{Foreign, OTHERS};

/// The compression (`None` if the data is not compressed), or the unsupported format.
pub(crate) type Known = Result<Option<Compression>, &'static Foreign>;

/// The number of first bytes that always decide.
pub(crate) const LONGEST: usize = 16;

/// Returns what these first bytes tell; `None` if more bytes are needed to decide.
pub(crate) fn beginning(bytes: &[u8]) -> Option<Known> {
    let mut is_short = false;
    for (begins, known) in patterns() {
        if begins.iter().zip(bytes).all(|(&pattern, &byte)| fits(pattern, byte)) {
            if bytes.len() >= begins.len() {
                return Some(known);
            }
            is_short = true;
        }
    }
    (!is_short).then_some(Ok(None))
}

/// Returns the patterns of first bytes.
fn patterns() -> impl Iterator<Item = (&'static [u8], Known)> {
    let compressed = FORMS.iter().flat_map(|form| {
        form.begins.iter().map(|begins| (*begins, form.is.as_ref().map(|&compression| Some(compression))))
    });
    compressed.chain(OTHERS.iter().map(|(begins, foreign)| (*begins, Err(foreign))))
}

/// Returns true if a byte fits a byte of a pattern.
fn fits(pattern: u8, byte: u8) -> bool {
    match pattern {
        // The level of bzip2.
        b'#' => byte.is_ascii_digit(),
        // A letter of UTF-16.
        b'@' => matches!(byte, 1..=0x7f),
        // The first byte of a skippable frame of zstd.
        b'_' => byte & 0xf0 == 0x50,
        // A byte that does not continue a text.
        b'!' => !matches!(byte, b'\t'..=b'\r' | b' '..=b'~'),
        _ => pattern == byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_what_is_no_text() {
        let said = |bytes: &[u8]| match beginning(bytes) {
            Some(Err(foreign)) => foreign.what,
            Some(Ok(Some(compression))) => compression.name(),
            Some(Ok(None)) => "text",
            None => "short",
        };
        for (begins, known) in patterns() {
            let sample = |byte: &u8| match byte {
                b'#' => b'9',
                b'@' => b'a',
                b'_' => b'P',
                b'!' => 0x15,
                &byte => byte,
            };
            let bytes: Vec<u8> = begins.iter().map(sample).chain(*b"\x15\x04").collect();
            assert_eq!(beginning(&bytes), Some(known));
            for length in [2.min(begins.len() - 1), begins.len() - 1] {
                assert_eq!(said(&bytes[..length]), "short", "{bytes:?}");
            }
            assert!(begins.len() <= LONGEST);
        }
        for text in ["1 2\n", "ORC 7\n", "PAR1\n", "PAR12", "BZh9 1", "PK 3", "7zip", "Objects", "Q\n", "\n"]
        {
            assert_eq!(said(text.as_bytes()), "text", "{text:?}");
        }
        // A skippable frame of zstd begins with one of P to _.
        assert_eq!((said(b"PAR1"), said(b"Q")), ("short", "short"));
        // UTF-16 begins with letters; other text may begin with the same bytes.
        assert_eq!((said(b"\xFF\xFEx\0,\0"), said(b"\xFF\xFEx\0,y")), ("UTF-16", "text"));
    }
}
