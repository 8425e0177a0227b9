//! Compressed data: gzip and zstd. Gzip is written as BGZF.
//!
//! Both formats are sequences of members (frames), usually with checksums. Compressed text is recognized by
//! its first bytes, whatever its name; compressed binary data only by its name, since any first bytes may
//! be elements.

mod bgzf;
mod foreign;
mod kind;
mod reader;
mod writer;

#[cfg(feature = "distributed")]
use crate::error::Error;

use self::foreign::Beginning;
pub(super) use self::foreign::{Foreign, LONGEST, Remedy};
pub use self::kind::Compression;
pub(super) use self::reader::sensible;
pub use self::reader::{Limit, Reader};
pub use self::writer::Writer;

/// Returns the compression of data that begins with these bytes, from the first few bytes.
///
/// # Errors
///
/// The data has an unsupported format.
pub(super) fn of_content(bytes: &[u8]) -> Result<Option<Compression>, &'static Foreign> {
    match Beginning::of(bytes) {
        Beginning::Of(compression) => Ok(Some(compression)),
        Beginning::Foreign(foreign) => Err(foreign),
        Beginning::Other | Beginning::Short => Ok(None),
    }
}

/// Returns the compression of data that begins with these bytes, from the first few bytes.
///
/// # Errors
///
/// The data has an unsupported format.
#[cfg(feature = "distributed")]
pub fn of_beginning(bytes: &[u8]) -> Result<Option<Compression>, Error> {
    of_content(bytes).map_err(|foreign| Error::options(foreign.to_string()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn first_bytes_tell() {
        use Beginning::{Foreign, Of, Other, Short};
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
            let found = match Beginning::of(bytes) {
                Of(compression) => compression.name(),
                Foreign(_) => "foreign",
                Other => "other",
                Short => "short",
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
