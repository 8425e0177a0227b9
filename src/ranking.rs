//! Which records stand where, for records of several keys: all of them, the first of each key, or the first few.
//!
//! Records have *words*, of which the first decides, and the next where those are equal. They are sorted by the last word,
//! then by the one before it, and so on to the first: since every sort is stable, what earlier ones did decides where
//! words are equal. Tables put short keys together to one word, so mostly there is only one.

use crate::cpu;
use crate::error::Error;
use crate::key::{Keys, Pieces, Word};
use crate::parallel;
use crate::sorter::{Method, Progress, Report, Sorter, number_of_records};

/// What of the sorted records is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Of records of equal keys only the first.
    pub unique: bool,
    /// Only so many, from the first.
    pub top: Option<usize>,
}

impl Wanted {
    /// Whether it is so few of `n` records that nobody need sort the others.
    #[must_use]
    pub fn is_few(self, n: u64) -> bool {
        let top = self.top.filter(|_| !self.unique);
        top.is_some_and(|top| cpu::is_few(top, usize::try_from(n).unwrap_or(usize::MAX)))
    }
}

/// Records in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// Where they stood in the input.
    pub positions: Vec<u32>,
    /// How many were left out because one of the same keys stood before them.
    pub repeated: usize,
    /// How the sort went.
    pub report: Report,
}

impl Sorter {
    /// The positions of the records that are wanted, in ascending order of their words; those of equal words keep their
    /// order.
    ///
    /// # Errors
    ///
    /// As for [`Sorter::sort`].
    ///
    /// # Panics
    ///
    /// When there are no words, or the words are not all of as many records.
    pub fn rank(
        &self,
        words: Vec<Pieces>,
        wanted: Wanted,
        method: Method,
        progress: Progress,
    ) -> Result<Ranking, Error> {
        number_of_records(words.first().map_or(0, Pieces::len))?;
        let few = wanted.top.filter(|_| !wanted.unique);
        let words = match (<[Pieces; 1]>::try_from(words), few) {
            // What was read need not even be put together.
            (Ok([word]), Some(top)) => {
                let (positions, report) = self.top_positions(word, top, method, progress)?;
                return Ok(Ranking { positions, repeated: 0, report });
            }
            (Ok([word]), None) if !wanted.unique => {
                let (positions, report) = self.argsort(word, method, progress)?;
                return Ok(Ranking { positions, repeated: 0, report });
            }
            (Ok(words), _) => words.into(),
            (Err(words), _) => words,
        };
        let mut words: Vec<Keys> = words.into_iter().map(Pieces::join).collect();
        assert!(words.iter().all(|word| word.len() == words[0].len()), "each record has all words");
        let mut before = None;
        if let Some(top) = few {
            // Only records whose first word is among the first ones can be.
            let (first, report) = self.top(words[0].clone(), top, method, progress)?;
            let candidates = words[0].positions_up_to(&first);
            words = words.iter().map(|word| word.gathered(&candidates)).collect();
            before = Some((candidates, report));
        }
        let (mut positions, mut report) = self.argsort_words(&words, method, progress)?;
        let mut repeated = 0;
        if wanted.unique {
            let all = positions.len();
            positions = firsts(&words, &positions);
            repeated = all - positions.len();
        }
        positions.truncate(wanted.top.unwrap_or(usize::MAX));
        if let Some((candidates, first)) = before {
            positions.iter_mut().for_each(|position| *position = candidates[*position as usize]);
            report = Report { variant: first.variant, ..report.after(&first) };
        }
        Ok(Ranking { positions, repeated, report })
    }

    /// Sorts by one word after another, from the last.
    fn argsort_words(
        &self,
        words: &[Keys],
        method: Method,
        progress: Progress,
    ) -> Result<(Vec<u32>, Report), Error> {
        let mut done: Option<(Vec<u32>, Report)> = None;
        for word in words.iter().rev() {
            done = Some(match done {
                None => self.argsort(word.clone(), method, progress)?,
                Some((before, first)) => {
                    let (order, report) = self.argsort(word.gathered(&before), method, progress)?;
                    (parallel::map(&order, |&place| before[place as usize]), report.after(&first))
                }
            });
        }
        Ok(done.expect("there is a word"))
    }
}

/// Of positions in sorted order the first of each run of equal words.
fn firsts(words: &[Keys], positions: &[u32]) -> Vec<u32> {
    let mut repeats = vec![false; positions.len().saturating_sub(1)];
    for (number, word) in words.iter().enumerate() {
        let equal = match word {
            Keys::One(keys) => equal_neighbours(keys, positions),
            Keys::Two(keys) => equal_neighbours(keys, positions),
        };
        repeats
            .iter_mut()
            .zip(equal)
            .for_each(|(repeats, equal)| *repeats = equal && (*repeats || number == 0));
    }
    let others =
        positions.iter().skip(1).zip(repeats).filter(|(_, repeats)| !repeats).map(|(&position, _)| position);
    positions.iter().copied().take(1).chain(others).collect()
}

/// For each of these positions but the first, whether its key is that of the one before.
fn equal_neighbours<W: Word>(keys: &[W], positions: &[u32]) -> Vec<bool> {
    let keys = parallel::map(positions, |&position| keys[position as usize]);
    keys.windows(2).map(|pair| pair[0] == pair[1]).collect()
}
