//! How much memory a sort may take.

use std::sync::OnceLock;

use crate::key::{ElementType, KeyWords};
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

/// The most records whose places in one part are told apart by 32 bits; a little fewer, since they are counted in steps.
pub(crate) const RECORDS: u64 = (u32::MAX - (1 << 28)) as u64;

/// This much memory is not worth asking the system whether it is there.
const FEW: u64 = 64 << 20;

impl Default for Budget {
    /// Three quarters of what is available when it is first asked for; at once under a limit of the process, which may be low.
    fn default() -> Self {
        let budget = Self { total: OnceLock::new(), sharing: 1, positions: false };
        if memory::address_space_left().is_some() {
            let _ = budget.total();
        }
        budget
    }
}

impl Budget {
    /// This many bytes.
    #[must_use]
    pub fn of(bytes: u64) -> Self {
        Self { total: OnceLock::from(bytes), sharing: 1, positions: false }
    }

    /// The part of one of this many sorts that share it.
    #[must_use]
    pub fn shared_by(self, sorts: u64) -> Self {
        Self { sharing: self.sharing * sorts, ..self }
    }

    /// The same for a sort that gives back positions: each takes memory beside its key, and has 32 bits in one part.
    #[must_use]
    pub fn with_positions(self) -> Self {
        Self { positions: true, ..self }
    }

    /// Without any limit.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::of(u64::MAX)
    }

    /// Bytes for all that share it.
    #[must_use]
    pub fn total(&self) -> u64 {
        *self.total.get_or_init(|| memory::available().map_or(u64::MAX, |available| available / 4 * 3))
    }

    /// Bytes for this sort, raised to what it needs at least.
    #[must_use]
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

    /// How many times the memory of their sort keys take, which with positions is one of pairs, and of the keys beside them.
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
    #[must_use]
    pub fn fits_elements(&self, n: u64, key: KeyWords) -> bool {
        // The keys as read, those that are sorted, and what is written of them.
        const TIMES: u64 = 3;
        let bytes = n.saturating_mul(u64::from(key.count()) * 4);
        self.allows(n) && self.fits(bytes, TIMES * self.times_of_keys())
    }

    /// How much of binary files of this type is read at once: it becomes words.
    pub(crate) fn piece(&self, element: ElementType) -> u64 {
        // Without a limit as long as nobody has asked for it. Elements have a byte at least.
        let most = if self.positions { 1 << 27 } else { u64::MAX };
        let word = u64::from(element.key_words().count()) * 4;
        let times = self.times_of_keys() * word / element.bytes() as u64;
        self.known().map_or(most, |bytes| most.min(bytes / 8 / times))
    }

    /// How much is read at once of what may exceed the budget.
    pub(crate) fn step(&self) -> usize {
        self.known().map_or(1 << 22, |bytes| (bytes / 16).clamp(1 << 8, 1 << 25) as usize)
    }

    /// A run has its positions beside it.
    fn files_of_run(&self) -> u64 {
        1 + u64::from(self.positions)
    }

    /// The size of the blocks in which runs are written and read: small enough that those of many runs fit.
    pub(crate) fn block(&self) -> usize {
        const BLOCK: std::ops::Range<u64> = 1 << 6..1 << 20;
        (self.bytes() / 2048 / self.files_of_run()).clamp(BLOCK.start, BLOCK.end) as usize
    }

    /// The most runs that are merged at once: their blocks take an eighth.
    pub(crate) fn fan_in(&self) -> usize {
        let each = self.block() as u64 * self.files_of_run();
        usize::try_from(self.bytes() / 8 / each).unwrap_or(usize::MAX).max(2)
    }
}
