//! Compressed data.
//!
//! Each compression is a sequence of members, usually with checksums. Compressed text is recognised by
//! its first bytes, whatever its name; compressed binary data only by its name, since any first bytes may
//! be elements.

mod codec;
mod decoder;
mod gzip;
mod kind;
mod reader;
mod writer;
mod zstd;

use crate::error::Error;

pub use self::kind::Compression;
pub(super) use self::kind::{Foreign, Known, LONGEST, beginning};
pub(super) use self::reader::sensible;
pub use self::reader::{Limit, Reader};
pub use self::writer::Writer;

/// Returns the compression of data that begins with these bytes, from the first few bytes.
///
/// # Errors
///
/// The data has an unsupported format.
pub fn of_beginning(bytes: &[u8]) -> Result<Option<Compression>, Error> {
    beginning(bytes).unwrap_or(Ok(None)).map_err(|foreign| Error::options(foreign.to_string()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn first_bytes_tell() {
        for (bytes, expected) in [
            (&b""[..], "short"),
            (b"\x1f", "short"),
            (b"\x1f\x8b", "gzip"),
            (b"\x1f\x8b\x08\0", "gzip"),
            (b"\x1f\x8c", "other"),
            (b"(", "short"),
            (b"(\xb5/", "short"),
            (b"(\xb5/\xfd", "zstd"),
            (b"(1)\n", "other"),
            (b"P*", "short"),
            (b"P*M\x18", "zstd"),
            (b"_*M\x18", "zstd"),
            (b"`*M\x18", "other"),
            (b"P\n", "other"),
            (b"PK\x03\x04", "foreign"),
            (b"12", "other"),
        ] {
            let found = match beginning(bytes) {
                Some(Ok(Some(compression))) => compression.name(),
                Some(Ok(None)) => "other",
                Some(Err(_)) => "foreign",
                None => "short",
            };
            assert_eq!(found, expected, "{bytes:?}");
        }
    }

    #[test]
    fn names_tell() {
        let of = |name: &str| {
            Compression::of_name(Path::new(name))
                .map(|(compression, name)| (compression.name(), name.display().to_string()))
        };
        assert_eq!(of("a/x.u32.gz"), Some(("gzip", "x.u32".to_owned())));
        assert_eq!(
            Compression::of_name(Path::new("x.bed.BGZ")),
            Some((Compression::Gzip, Path::new("x.bed")))
        );
        assert_eq!(of("x.ZST"), Some(("zstd", "x".to_owned())));
        assert_eq!(of("x.u32"), None);
        assert_eq!(of(".gz"), None);
        assert_eq!(of("gz"), None);
        assert_eq!(of("x.xz"), None);
        let program = |name: &str| Compression::program_of_name(Path::new(name));
        assert_eq!((program("x.TBZ"), program("x.gz"), program("xz")), (Some("bzip2"), None, None));
        assert_eq!(Compression::ALL.map(Compression::name), ["gzip", "zstd"]);
    }
}

#[cfg(test)]
mod noise {
    /// Bytes that cannot be compressed.
    pub(super) fn noise(count: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        std::iter::repeat_with(next).take(count).collect()
    }
}
