//! The memory that a sort may take.

use std::sync::OnceLock;

use gpusort_order::key::{ElementType, KeyWords};

use crate::error::{Error, ErrorKind};
use crate::memory;

/// The most memory that a sort may take, and the most records in one part of it.
#[derive(Debug)]
pub struct Budget {
    /// What there is for all that share it.
    total: OnceLock<u64>,
    sharing: u64,
    /// Whether positions are wanted.
    positions: bool,
}

/// A sort needs at least this.
const LEAST: u64 = 512;

/// What a process takes beside what it is told to take: stacks, small blocks, and pages of files.
const OWN: u64 = 4 << 20;

/// With less than this it is killed now and then.
const NEEDED: u64 = 3 * OWN;

/// The most records whose places in one part are told apart by 32 bits; a little fewer, since they
/// are counted in steps.
pub(crate) const RECORDS: u64 = (u32::MAX - (1 << 28)) as u64;

/// This much memory is not worth asking the system whether it is there, which takes a tenth of a
/// millisecond. Small control groups have little more.
const FEW: u64 = 16 << 20;

fn too_little(available: u64) -> Error {
    Error::new(ErrorKind::Memory { what: "gpusort itself".to_owned(), needed: NEEDED, available })
}

impl Default for Budget {
    /// Three quarters of what is available beside the process itself, when it is first asked for;
    /// at once under a limit of the process, which may be low.
    fn default() -> Self {
        let budget = Self { total: OnceLock::new(), sharing: 1, positions: false };
        if memory::address_space_left().is_some() {
            let _ = budget.total();
        }
        budget
    }
}

impl Budget {
    /// This many bytes, one at least: what is named is raised to what is needed.
    pub fn of(bytes: u64) -> Self {
        Self { total: OnceLock::from(bytes.max(1)), sharing: 1, positions: false }
    }

    /// The part of one of this many sorts that share it.
    pub fn shared_by(self, sorts: u64) -> Self {
        Self { sharing: self.sharing * sorts, ..self }
    }

    /// The same for a sort that gives back positions: each takes memory beside its key, and has 32
    /// bits in one part.
    pub fn with_positions(self) -> Self {
        Self { positions: true, ..self }
    }

    /// Without any limit.
    pub fn unlimited() -> Self {
        Self::of(u64::MAX)
    }

    /// Bytes for all that share it.
    pub fn total(&self) -> u64 {
        let total = || {
            let (untouched, space) = (memory::untouched(), memory::address_space_left());
            let available = untouched.into_iter().chain(space).min();
            let is_enough = untouched.is_none_or(|untouched| untouched >= NEEDED);
            if is_enough { available.map_or(u64::MAX, |bytes| bytes.saturating_sub(OWN) / 4 * 3) } else { 0 }
        };
        *self.total.get_or_init(total)
    }

    /// Checks that more is available than the process itself takes, if anybody has asked for it.
    ///
    /// # Errors
    ///
    /// It is not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.total.get() != Some(&0) {
            return Ok(());
        }
        Err(too_little(memory::available().unwrap_or_default()))
    }

    /// Checks that the process has the memory that it needs before a budget is known.
    ///
    /// # Errors
    ///
    /// Less is available.
    pub(crate) fn check_process() -> Result<(), Error> {
        memory::untouched().filter(|&bytes| bytes < NEEDED).map_or(Ok(()), |bytes| Err(too_little(bytes)))
    }

    /// Bytes for this sort, raised to what it needs at least.
    pub fn bytes(&self) -> u64 {
        self.part_of(self.total())
    }

    /// Bytes, if anybody has asked for them.
    fn known(&self) -> Option<u64> {
        self.total.get().map(|&total| self.part_of(total))
    }

    /// Whether anybody has asked for them.
    pub(crate) fn is_known(&self) -> bool {
        self.total.get().is_some()
    }

    fn part_of(&self, total: u64) -> u64 {
        (total / self.sharing).max(LEAST)
    }

    /// Whether one part may have this many records.
    pub(crate) fn allows(&self, records: u64) -> bool {
        !self.positions || records <= RECORDS
    }

    /// The memory of a sort as a multiple of its keys: with positions it sorts pairs, beside the
    /// keys.
    pub(crate) fn times_of_keys(&self) -> u64 {
        if self.positions { 3 } else { 1 }
    }

    /// What a record takes that has a place in memory in any case.
    pub(crate) fn of_position(&self) -> u64 {
        if self.positions { 16 } else { 0 }
    }

    /// Whether this many bytes, which take `times` as much memory at most, fit.
    pub(crate) fn fits(&self, bytes: u64, times: u64) -> bool {
        let needed = bytes.saturating_mul(times);
        self.known().is_none() && needed <= FEW || needed <= self.bytes()
    }

    /// Whether this many elements with keys of this width can be sorted.
    pub fn fits_elements(&self, n: u64, key: KeyWords) -> bool {
        self.allows(n) && self.fits(n, self.of_key(key))
    }

    /// How many of these elements are sorted at once.
    pub fn at_once(&self, n: u64, key: KeyWords) -> u64 {
        if self.fits_elements(n, key) { n } else { n.min(self.bytes() / self.of_key(key)) }
    }

    /// Bytes for each element: its key as read, as it is sorted, and what is written of it.
    fn of_key(&self, key: KeyWords) -> u64 {
        const TIMES: u64 = 3;
        u64::from(key.count()) * 4 * TIMES * self.times_of_keys()
    }

    /// How much of binary files is read at once that have so many elements of this type, if that is
    /// known: it becomes words.
    pub(crate) fn piece(&self, element: ElementType, n: Option<u64>) -> u64 {
        if n.is_some_and(|n| self.fits_elements(n, element.key_words())) {
            return u64::MAX;
        }
        // Elements have a byte at least.
        let most = if self.positions { 1 << 27 } else { u64::MAX };
        let word = u64::from(element.key_words().count()) * 4;
        let times = self.times_of_keys() * word / element.bytes() as u64;
        most.min(self.bytes() / 8 / times)
    }

    /// The longest record that is read in parts: it is in memory as read, and as it is written.
    pub(crate) fn record(&self) -> u64 {
        /// As much as the program itself may take.
        const MORE: u64 = 24 << 20;
        self.known().map_or(u64::MAX, |bytes| (bytes / 2).saturating_add(MORE))
    }

    /// How much is read at once of what may exceed the budget.
    pub(crate) fn step(&self) -> usize {
        self.known().map_or(1 << 22, |bytes| (bytes / 16).clamp(1 << 8, 1 << 25) as usize)
    }

    /// The size of the blocks in which runs are written and read: small enough that those of many
    /// runs fit.
    pub(crate) fn block(&self) -> usize {
        const BLOCK: std::ops::Range<u64> = 1 << 6..1 << 20;
        (self.bytes() / 2048).clamp(BLOCK.start, BLOCK.end) as usize
    }

    /// The most runs that are merged at once: their blocks take an eighth.
    pub(crate) fn fan_in(&self) -> usize {
        usize::try_from(self.bytes() / 8 / self.block() as u64).unwrap_or(usize::MAX).max(2)
    }
}
