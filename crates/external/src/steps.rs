//! Merges runs step by step: reads more of them, merges what no unread record can precede, and writes the
//! result during the next step.

use std::thread;

use gpusort_formats::counts::Counts;

use crate::error::Error;
use crate::order::Selection;
use crate::parallel;

/// Results of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Records read.
    pub read: u64,
    /// Records written.
    pub written: u64,
    /// Records left out as repetitions of the previous key.
    pub repeated: u64,
    /// The numbers of null fields and of left-out records.
    pub counts: Counts,
}

impl Merged {
    /// Adds the results of another merge.
    pub fn add(&mut self, other: &Self) {
        self.read += other.read;
        self.written += other.written;
        self.repeated += other.repeated;
        self.counts.add_all(&other.counts);
    }
}

/// Merges adjacent runs until at most `most` are left, and no more runs than needed. `merge` makes one run of several.
///
/// # Errors
///
/// Errors of `merge`.
pub fn merge_down<R>(
    mut runs: Vec<R>,
    most: usize,
    mut merge: impl FnMut(Vec<R>) -> Result<R, Error>,
) -> Result<Vec<R>, Error> {
    let mut at = 0;
    while runs.len() > most {
        let count = most.min(runs.len() - most + 1);
        // Longer runs wait until the short ones are merged.
        if at + count > runs.len() {
            at = 0;
        }
        let longer = merge(runs.drain(at..at + count).collect())?;
        runs.insert(at, longer);
        at += 1;
    }
    Ok(runs)
}

/// A source of records or elements in order, with a buffer.
pub trait MergeSource: Send {
    /// Returns the approximate number of unmerged bytes in memory.
    fn held(&self) -> usize;

    /// Returns true if reads never wait for another process.
    fn is_ready(&self) -> bool;

    /// Reads about `most` bytes, and sets `wrong` to the error that follows them. Returns true if the
    /// source goes on.
    ///
    /// # Errors
    ///
    /// An error of the source, which takes effect behind its records in memory.
    fn read(&mut self, most: usize, wrong: &mut Option<Error>) -> Result<bool, Error>;
}

/// An input or a run to be merged. Its error is returned after all records before the error are merged.
pub struct RunCursor<S> {
    /// The source.
    pub source: S,
    /// The approximate number of bytes to hold if all runs are merged at one pace.
    pub(crate) share: usize,
    /// The approximate number of bytes to hold after the next read.
    pub(crate) most: usize,
    pub(crate) wrong: Option<Error>,
    pub(crate) is_over: bool,
}

impl<S: MergeSource> RunCursor<S> {
    /// Creates a cursor that holds about `share` bytes.
    pub fn new(source: S, share: usize) -> Self {
        Self { source, share, most: share, wrong: None, is_over: false }
    }

    /// Returns true if an unread record or a pending error may follow.
    pub fn is_open(&self) -> bool {
        !self.is_over || self.wrong.is_some()
    }

    /// Returns true if the source has more to read.
    fn goes_on(&self) -> bool {
        !self.is_over && self.wrong.is_none()
    }

    /// Returns true if the next merge needs more of this run; a small remainder suffices if reading may
    /// wait for another process.
    fn is_low(&self) -> bool {
        let held = self.source.held();
        self.goes_on() && (held == 0 || self.source.is_ready() && held < self.most / 8 * 7)
    }

    /// Returns the number of bytes to read next.
    fn missing(&self) -> usize {
        self.most.saturating_sub(self.source.held())
    }

    /// Returns true if another process writes this input, and may wait for our output.
    fn may_wait(&self) -> bool {
        !self.is_over && !self.source.is_ready()
    }

    /// Reads more, and keeps any error for later.
    pub(crate) fn read(&mut self) {
        match self.source.read(self.missing().max(1), &mut self.wrong) {
            Ok(more) => self.is_over = !more,
            Err(error) => self.wrong = Some(error),
        }
    }
}

/// Returns the share of `bytes` for a run of this length: in proportion to `all`, the length of all runs, so that a merge
/// reads all runs at one pace.
pub(crate) fn share(length: u64, all: u64, bytes: u64) -> usize {
    (u128::from(bytes) * u128::from(length) / u128::from(all.max(1))).clamp(1 << 8, 8 << 20) as usize
}

/// The result of one merge step.
pub struct Step<T> {
    /// The merged records.
    pub merged: T,
    /// The number of records taken.
    pub read: u64,
    /// The number of merged records.
    pub written: u64,
    /// The number of records left out as repetitions.
    pub repeated: u64,
    /// The number of bytes to be written.
    pub bytes: usize,
}

/// Merges runs: repeatedly lets `merge` merge the records in memory that no unread record can precede,
/// up to a limit, and `write` write them during the next merge.
///
/// # Errors
///
/// The first error of a run, of `merge` or of `write`.
pub fn merge_runs<S: MergeSource, T: Send>(
    runs: &mut [RunCursor<S>],
    selection: Selection,
    mut merge: impl FnMut(&mut [RunCursor<S>], u64) -> Result<Option<Step<T>>, Error>,
    mut write: impl FnMut(T) -> Result<(), Error> + Send,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let top = selection.first.map_or(u64::MAX, |first| first as u64);
    let (mut merged, mut waiting) = (Merged::default(), None);
    loop {
        let left = top - merged.written;
        let mut next = || {
            if left == 0 {
                return Ok::<_, Error>(None);
            }
            read_more(runs)?;
            // The writer of a pipe may wait for our output.
            Ok(merge(runs, left)?.map(|step| (step, runs.iter().any(RunCursor::may_wait))))
        };
        let next = match waiting.take() {
            None => next()?,
            Some(made) => thread::scope(|scope| {
                let output = parallel::meanwhile(scope, || write(made));
                let next = next();
                // An error of the output comes first.
                output.wait()?;
                next
            })?,
        };
        let Some((step, may_wait)) = next else { break };
        merged.read += step.read;
        merged.written += step.written;
        merged.repeated += step.repeated;
        if step.bytes < LITTLE || may_wait {
            write(step.merged)?;
        } else {
            waiting = Some(step.merged);
        }
        progress(merged.read);
    }
    if selection.first.is_some() {
        // The number of records read beyond the selection depends on the block size.
        merged.read = merged.written + merged.repeated;
    }
    Ok(merged)
}

/// Reads more of the runs with little left in memory.
pub(crate) fn read_more<S: MergeSource>(runs: &mut [RunCursor<S>]) -> Result<(), Error> {
    let low = runs.iter_mut().filter(|run| run.is_low());
    let (mut ready, mut waiting): (Vec<_>, Vec<_>) = low.partition(|run| run.source.is_ready());
    // A small read does not justify waking another thread.
    if ready.iter().map(|run| run.missing()).sum::<usize>() < LITTLE {
        ready.iter_mut().for_each(|run| run.read());
    } else {
        parallel::map_parts(ready.iter_mut(), |run| run.read());
    }
    waiting.iter_mut().for_each(|run| run.read());
    ready.append(&mut waiting);
    for run in ready {
        while run.source.held() == 0 && run.goes_on() {
            run.read();
        }
    }
    // An error takes effect once no record before the error remains.
    let mut empty = runs.iter_mut().filter(|run| run.source.held() == 0);
    empty.find_map(|run| run.wrong.take()).map_or(Ok(()), Err)
}

/// The number of merged bytes below which another thread is not worthwhile.
pub(crate) const LITTLE: usize = 1 << 17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_merged_in_their_order_and_no_more_than_needed() {
        for (count, most, expected) in
            [(3, 3, 0), (4, 3, 2), (5, 3, 3), (655, 256, 401), (100, 64, 37), (2, 1000, 0)]
        {
            let mut merged = 0;
            let runs = merge_down((0..count).map(|run| vec![run]).collect(), most, |some| {
                merged += some.len();
                Ok(some.concat())
            });
            let runs = runs.unwrap();
            assert!(runs.len() <= most && runs.concat() == (0..count).collect::<Vec<_>>(), "{count} {most}");
            assert_eq!(merged, expected, "{count} {most}");
        }
        let mut longest = 0;
        let runs = merge_down((0..10_000).map(|run| vec![run]).collect(), 10, |some: Vec<Vec<u32>>| {
            longest = longest.max(some.len());
            Ok(some.concat())
        });
        assert_eq!((runs.unwrap().concat(), longest), ((0..10_000).collect(), 10));
    }
}
