//! What `gpusort sort`, `check` and `sort --merge` do, by the library, with bytes in memory for its
//! output. The fuzz targets include this file.

use std::io::{self, Read};

use gpusort::files::{Check, Counts, Input, Merge, Options, Report, Sort};
use gpusort::{Error, Format, Sorter};

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sorted {
    pub bytes: Vec<u8>,
    pub counts: Counts,
    pub repeated: u64,
}

/// What is asked of the result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ask {
    pub first: Option<u64>,
    pub positions: bool,
    pub to: Option<Format>,
}

impl Ask {
    fn of<'a>(self, options: Options) -> Sort<'a> {
        let Self { first, positions, to } = self;
        let mut sort = Sort::new().options(options).temp_dir(std::env::temp_dir());
        if let Some(first) = first {
            sort = sort.top(first);
        }
        if let Some(format) = to {
            sort = sort.to(format);
        }
        if positions { sort.positions() } else { sort }
    }
}

/// Sorts in all memory.
///
/// # Errors
///
/// An input that cannot be sorted; a device that fails.
pub fn sort(sorter: &Sorter, options: Options, ask: Ask) -> Result<Sorted, Error> {
    run(ask.of(options.memory(u64::MAX)).sorter(sorter)).map(|(sorted, _)| sorted)
}

/// Sorts on the CPU in no more memory than this; also returns the number of runs.
///
/// # Errors
///
/// An input that cannot be sorted.
pub fn sort_in_parts(options: Options, ask: Ask, memory: u64) -> Result<(Sorted, usize), Error> {
    run(ask.of(options.memory(memory)))
}

fn run(sort: Sort) -> Result<(Sorted, usize), Error> {
    let mut bytes = Vec::new();
    let Report { counts, repeated, runs, .. } = sort.write_to(&mut bytes)?;
    // Only records of one part are compared with the record kept.
    let counts = Counts { respelled: None, ..counts };
    Ok((Sorted { bytes, counts, repeated }, runs))
}

/// How sorting in no more memory than this differs from sorting with all, of which this is what
/// came; `None` if it does not.
pub fn differs_in_parts(
    options: Options,
    may_differ: bool,
    ask: Ask,
    memory: u64,
    whole: Result<&Sorted, &str>,
) -> Option<String> {
    let parts = sort_in_parts(options, ask, memory);
    let parts = parts.map(|(sorted, _)| sorted).map_err(|error| error.to_string());
    let is_same = match (&parts, whole) {
        // Of what is not selected parts drop what they can, so that nobody knows how much of it is
        // repeated.
        (Ok(parts), Ok(whole)) if ask.first.is_some() => {
            (&parts.bytes, &parts.counts) == (&whole.bytes, &whole.counts)
        }
        (Ok(parts), Ok(whole)) => parts == whole,
        // With all memory the first rows of all tables are looked at before others.
        (Err(_), Err(_)) if may_differ => true,
        (Err(parts), Err(whole)) => parts == whole,
        _ => false,
    };
    let shown = |said: Result<&Sorted, &str>| match said {
        Ok(sorted) => format!("{:?} {sorted:?}", String::from_utf8_lossy(&sorted.bytes)),
        Err(message) => message.to_owned(),
    };
    (!is_same).then(|| {
        format!("in parts: {}\n   whole: {}", shown(parts.as_ref().map_err(String::as_str)), shown(whole))
    })
}

/// Merges into memory; also returns how many records were read.
///
/// # Errors
///
/// An input that is not in order.
pub fn merge(options: Options, ask: Ask) -> Result<(Sorted, u64), Error> {
    let mut merge = Merge::new().options(options);
    if let Some(first) = ask.first {
        merge = merge.top(first);
    }
    if let Some(format) = ask.to {
        merge = merge.to(format);
    }
    let mut bytes = Vec::new();
    let Report { records, counts, repeated, .. } = merge.write_to(&mut bytes)?;
    Ok((Sorted { bytes, counts, repeated }, records))
}

/// Where a disorder is, and what is out of order; so much is looked at together, and so much of
/// that by one core.
///
/// # Errors
///
/// An input that cannot be read.
pub fn check(options: Options, most: usize, piece: usize) -> Result<Option<(String, String)>, Error> {
    let found = Check::new().options(options).stretches(most, piece).run()?;
    Ok(found.disorder().map(|found| (found.place.clone(), found.to_string())))
}

/// An input that is like a file, or comes in pieces of these sizes, in turn.
pub fn input(name: &str, bytes: &[u8], pieces: &[usize]) -> Input {
    if pieces.is_empty() {
        return Input::bytes(name, bytes);
    }
    Input::reader(name, Pieces { bytes: bytes.to_vec(), sizes: pieces.to_vec(), at: 0, reads: 0 })
}

/// Bytes that come in pieces, as from a pipe.
struct Pieces {
    bytes: Vec<u8>,
    sizes: Vec<usize>,
    at: usize,
    reads: usize,
}

impl Read for Pieces {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let most = self.sizes[self.reads % self.sizes.len()].max(1);
        let count = room.len().min(most).min(self.bytes.len() - self.at);
        room[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        (self.at, self.reads) = (self.at + count, self.reads + 1);
        Ok(count)
    }
}
