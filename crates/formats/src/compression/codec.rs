//! The operations of each compression.

use std::io;

/// The functions of a compression.
pub(super) trait Codec: Sync {
    /// Creates the decoder of the member at the start of these bytes, which are its header or more.
    fn member(&self, bytes: &[u8]) -> io::Result<Member>;

    /// Returns the length in bytes that the member at the start of these bytes declares. The whole member
    /// may be needed.
    fn length(&self, bytes: &[u8]) -> Option<usize>;

    /// Returns the content size in bytes that the member at the start of these bytes declares. The whole
    /// member may be needed.
    fn content_size(&self, bytes: &[u8]) -> Option<u64>;

    /// Returns members with this content.
    fn compress(&self, content: &[u8]) -> io::Result<Vec<u8>>;

    /// The last bytes of written data.
    fn end(&self) -> &'static [u8] {
        &[]
    }

    /// Checks that data which begin with `first` may end with `last`.
    fn check_end(&self, _first: &[u8], _last: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// Returns true if these bytes may follow the last member.
    fn is_padding(&self, _bytes: &[u8]) -> bool {
        false
    }
}

/// Decompresses some bytes of one member, from its first byte on. Returns the numbers of bytes taken and made, and
/// true at the end of the member.
pub(super) type Member = Box<dyn FnMut(&[u8], &mut [u8]) -> io::Result<(usize, usize, bool)> + Send>;
