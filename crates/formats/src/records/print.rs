//! Printing on all cores: pieces are formatted in parallel and written in order.

use std::io::{self, Write};

use crate::parallel;

/// The most records per piece.
const PIECE: usize = 1 << 17;

/// Fewer records are not worth another core's while.
const LEAST: usize = 1 << 13;

/// The approximate bytes per piece.
const PIECE_BYTES: usize = 4 << 20;

/// Formats pieces of the records with `print`, each of about `expected` bytes, and writes the
/// results in order while the next are formatted, calling `progress` with the number of records
/// written so far.
///
/// # Errors
///
/// I/O errors.
pub fn write<T: Sync>(
    records: &[T],
    expected: usize,
    to: &mut impl Write,
    mut progress: impl FnMut(u64),
    print: impl Fn(&[T], &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let print_piece = |piece: &[T]| {
        let mut printed = Vec::with_capacity(piece.len() * expected);
        print(piece, &mut printed);
        printed
    };
    let most = (PIECE_BYTES / expected.max(1)).clamp(1, PIECE);
    let least = LEAST.min(most);
    if records.len() <= least {
        // Not worth waking another thread for, nor asking how many there are.
        to.write_all(&print_piece(records))?;
        progress(records.len() as u64);
        return Ok(());
    }
    // Some pieces for each core.
    let piece = (records.len() / (2 * parallel::threads())).clamp(least, most);
    let group = piece * parallel::threads();
    let print_group = |group: &[T]| parallel::map_parts(group.chunks(piece), print_piece);
    std::thread::scope(|scope| {
        let mut groups = records.chunks(group);
        let mut next = groups.next().map(print_group);
        let mut written = 0;
        while let Some(printed) = next.take() {
            // The pool formats, another thread waits for it, and this one writes.
            let printing = groups.next().map(|group| parallel::meanwhile(scope, move || print_group(group)));
            for piece in printed {
                to.write_all(&piece)?;
            }
            written = (written + group).min(records.len());
            progress(written as u64);
            next = printing.map(parallel::Meanwhile::wait);
        }
        Ok(())
    })
}
