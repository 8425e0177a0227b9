//! Printing on all cores: pieces are printed at once and written in order.

use std::io::{self, Write};

use crate::parallel::{self, ParallelIterator};

/// Records printed by one core before the pieces are put together, at most.
const PIECE: usize = 1 << 17;

/// Bytes that this may come to, about.
const PIECE_BYTES: usize = 4 << 20;

/// Prints pieces of the records with `print`, each as about `expected` bytes, and writes the results in order, calling `progress` with the number
/// of records written so far. The next pieces are printed while those before are being written.
pub(super) fn write<T: Sync>(
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
    let piece = (PIECE_BYTES / expected.max(1)).clamp(1, PIECE);
    if records.len() <= piece {
        // Not worth waking another thread for.
        to.write_all(&print_piece(records))?;
        progress(records.len() as u64);
        return Ok(());
    }
    let group = piece * parallel::threads();
    let print_group = |group: &[T]| parallel::chunks(group, piece).map(print_piece).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let mut groups = records.chunks(group);
        let mut next = groups.next().map(print_group);
        let mut written = 0;
        while let Some(printed) = next.take() {
            // Printed by the pool, and waited for by a thread of its own, while this one writes.
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
