//! Zstd. Members are called frames.

use std::io::{self, Write};

use zstd::stream::raw::{Decoder, Operation};
use zstd::zstd_safe;

use super::codec::{Codec, Member};
use crate::{human, memory};

pub(super) struct Zstd;

impl Codec for Zstd {
    fn member(&self, bytes: &[u8]) -> io::Result<Member> {
        check_window(bytes)?;
        let mut decoder = Decoder::new()?;
        // The remaining content size if the frame declares it: the library does not compare it at an empty last
        // block.
        let mut left = self.content_size(bytes);
        Ok(Box::new(move |from, to| {
            let status = decoder.run_on_buffers(from, to)?;
            let is_over = status.remaining == 0;
            if let Some(left) = &mut left {
                let rest = left.checked_sub(status.bytes_written as u64);
                let rest = rest.filter(|&rest| !is_over || rest == 0);
                *left =
                    rest.ok_or_else(|| io::Error::other("the size differs from the one in the header"))?;
            }
            Ok((status.bytes_read, status.bytes_written, is_over))
        }))
    }

    fn length(&self, bytes: &[u8]) -> Option<usize> {
        zstd_safe::find_frame_compressed_size(bytes).ok()
    }

    fn content_size(&self, bytes: &[u8]) -> Option<u64> {
        zstd_safe::get_frame_content_size(bytes).ok().flatten()
    }

    fn compress(&self, content: &[u8]) -> io::Result<Vec<u8>> {
        let room = Vec::with_capacity(content.len() / 2);
        let mut frame = zstd::Encoder::new(room, zstd::DEFAULT_COMPRESSION_LEVEL)?;
        frame.include_checksum(true)?;
        frame.set_pledged_src_size(Some(content.len() as u64))?;
        frame.write_all(content)?;
        frame.finish()
    }
}

/// Checks the window size of a frame: exceeding the limit is an error, but no damage.
fn check_window(frame: &[u8]) -> io::Result<()> {
    /// The maximum window size in bytes, equal to the library's maximum.
    const MOST: u64 = (1 << 27) + 1;
    /// The logarithm of the largest window that `zstd` supports.
    const LARGEST: u32 = 31;
    // Skippable frames have no window.
    let &[0x28, 0xb5, 0x2f, 0xfd, descriptor, window, ..] = frame else { return Ok(()) };
    let content = Zstd.content_size(frame);
    let least = 1 << (10 + (window >> 3));
    // A frame without a window size is its own window.
    let window = match descriptor & 0x20 {
        0 => least + least / 8 * u64::from(window & 7),
        _ => content.unwrap_or(0),
    };
    if window <= MOST {
        return memory::ensure("the zstd window", content.map_or(window, |all| all.min(window)))
            .map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error.to_string()));
    }
    let log = (window - 1).ilog2() + 1;
    let remedy = match log {
        ..=LARGEST => format!("; use: zstd -dc --long={log} FILE | gpusort sort ..."),
        _ => String::new(),
    };
    let [window, most] = [window, MOST].map(human::bytes);
    let problem = format!("the zstd window of {window} exceeds the limit of {most}{remedy}");
    Err(io::Error::new(io::ErrorKind::Unsupported, problem))
}
