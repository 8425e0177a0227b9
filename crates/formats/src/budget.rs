//! The memory that a sort may take.

use std::sync::OnceLock;

use gpusort_order::key::{ElementType, KeyWords};

use crate::error::{Error, ErrorKind};
use crate::memory;

/// The maximum memory of a sort, and the maximum number of records in one part of it.
#[derive(Debug)]
pub struct Budget {
    /// The bytes for all sorts that share the budget.
    total: OnceLock<u64>,
    sharing: u64,
    /// True if the sort returns positions.
    positions: bool,
}

/// The minimum budget of a sort in bytes.
const LEAST: u64 = 512;

/// The bytes that a process takes beside its budget: stacks, small blocks, and pages of files.
const OWN: u64 = 4 << 20;

/// With fewer bytes, the process is killed now and then.
const NEEDED: u64 = 3 * OWN;

/// The maximum number of records in one part, so that 32 bits suffice for their places; slightly fewer,
/// since records are counted in steps.
pub const RECORDS: u64 = (u32::MAX - (1 << 28)) as u64;

/// For at most this number of bytes, the available memory is not queried, which would take a tenth of a
/// millisecond. Small control groups have little more memory.
const FEW: u64 = 16 << 20;

/// The least and the most bytes of a block of a run.
const BLOCK: std::ops::Range<u64> = 1 << 12..1 << 20;

/// The bytes of a long record that the program itself may take.
const MORE: u64 = 24 << 20;

fn too_little(available: u64) -> Error {
    Error::new(ErrorKind::Memory { what: "gpusort itself".to_owned(), needed: NEEDED, available })
}

impl Default for Budget {
    /// Three quarters of the memory available beside the process itself, determined on first use, or at
    /// once if the process has a limit, which may be low.
    fn default() -> Self {
        let budget = Self { total: OnceLock::new(), sharing: 1, positions: false };
        if memory::address_space_left().is_some() {
            let _ = budget.total();
        }
        budget
    }
}

impl Budget {
    /// Returns a budget of this number of bytes, raised to the minimum of a sort.
    pub fn of(bytes: u64) -> Self {
        Self { total: OnceLock::from(bytes.max(1)), sharing: 1, positions: false }
    }

    /// Returns the share of each of `sorts` sorts in this budget.
    pub fn shared_by(self, sorts: u64) -> Self {
        Self { sharing: self.sharing * sorts, ..self }
    }

    /// Returns this budget for a sort that returns positions: each position takes memory beside its key,
    /// and has 32 bits in one part.
    pub fn with_positions(self) -> Self {
        Self { positions: true, ..self }
    }

    /// Returns a budget without any limit.
    pub fn unlimited() -> Self {
        Self::of(u64::MAX)
    }

    /// Returns the bytes for all sorts that share the budget.
    pub fn total(&self) -> u64 {
        let total = || {
            let (untouched, space) = (memory::untouched(), memory::address_space_left());
            let available = untouched.into_iter().chain(space).min();
            let is_enough = untouched.is_none_or(|untouched| untouched >= NEEDED);
            if is_enough { available.map_or(u64::MAX, |bytes| bytes.saturating_sub(OWN) / 4 * 3) } else { 0 }
        };
        *self.total.get_or_init(total)
    }

    /// Checks that more memory is available than the process itself takes, if the total is known.
    ///
    /// # Errors
    ///
    /// Less memory is available.
    pub fn check(&self) -> Result<(), Error> {
        if self.total.get() != Some(&0) {
            return Ok(());
        }
        Err(too_little(memory::available().unwrap_or_default()))
    }

    /// Checks that the process has the memory that it needs before a budget is known.
    ///
    /// # Errors
    ///
    /// Less memory is available.
    pub fn check_process() -> Result<(), Error> {
        memory::untouched().filter(|&bytes| bytes < NEEDED).map_or(Ok(()), |bytes| Err(too_little(bytes)))
    }

    /// Returns the bytes for this sort, raised to its minimum.
    pub fn bytes(&self) -> u64 {
        (self.total() / self.sharing).max(LEAST)
    }

    /// Returns the bytes for this sort, if the total is known.
    pub fn known(&self) -> Option<u64> {
        self.total.get().map(|_| self.bytes())
    }

    /// Returns true if one part may have this number of records.
    pub fn allows(&self, records: u64) -> bool {
        !self.positions || records <= RECORDS
    }

    /// Returns the memory of a sort as a multiple of its keys: with positions, a sort has pairs beside the
    /// keys.
    pub fn times_of_keys(&self) -> u64 {
        if self.positions { 3 } else { 1 }
    }

    /// Returns the bytes that a position adds to a record in memory.
    pub fn of_position(&self) -> u64 {
        if self.positions { 16 } else { 0 }
    }

    /// Returns true if `times` times this number of bytes fit into the budget.
    pub fn fits(&self, bytes: u64, times: u64) -> bool {
        let needed = bytes.saturating_mul(times);
        self.known().is_none() && needed <= FEW || needed <= self.bytes()
    }

    /// Returns true if this number of elements with keys of this width can be sorted.
    pub fn fits_elements(&self, n: u64, key: KeyWords) -> bool {
        self.allows(n) && self.fits(n, self.of_key(key))
    }

    /// Returns the number of these elements to sort at once.
    pub fn at_once(&self, n: u64, key: KeyWords) -> u64 {
        if self.fits_elements(n, key) { n } else { n.min(self.bytes() / self.of_key(key)) }
    }

    /// Returns the bytes for each element: its key as read, as sorted, and as written.
    fn of_key(&self, key: KeyWords) -> u64 {
        const TIMES: u64 = 3;
        u64::from(key.count()) * 4 * TIMES * self.times_of_keys()
    }

    /// Returns the number of bytes to read at once from binary files of `n` elements, if that number is
    /// known. Elements become words.
    pub fn piece(&self, element: ElementType, n: Option<u64>) -> u64 {
        if n.is_some_and(|n| self.fits_elements(n, element.key_words())) {
            return u64::MAX;
        }
        // Elements have at least one byte.
        let most = if self.positions { 1 << 27 } else { u64::MAX };
        let word = u64::from(element.key_words().count()) * 4;
        let times = self.times_of_keys() * word / element.bytes() as u64;
        most.min(self.bytes() / 8 / times)
    }

    /// Returns the maximum size in bytes of a record read in parts, in memory as read and as written.
    pub fn record(&self) -> u64 {
        self.known().map_or(u64::MAX, |bytes| (bytes / 2).saturating_add(MORE))
    }

    /// Returns the least total for a record of this size, in MiB.
    pub fn needed(&self, record: u64) -> u64 {
        (record.saturating_sub(MORE) * 2 * self.sharing).div_ceil(1 << 20)
    }

    /// Returns the number of bytes to read at once from input that may exceed the budget, after `read` bytes of it.
    pub fn step(&self, read: u64) -> usize {
        self.known().map_or(1 << 22, |bytes| (bytes / 16).clamp(Self::least(read), 1 << 25) as usize)
    }

    /// Returns the least number of bytes to read at once after `read` bytes: up to a block, so that a long input makes
    /// few runs.
    pub fn least(read: u64) -> u64 {
        (read / 64).clamp(1 << 8, BLOCK.start)
    }

    /// Returns the block size in bytes for writing and reading runs, small enough that the blocks of many
    /// runs fit.
    pub fn block(&self) -> usize {
        (self.bytes() / 2048).clamp(BLOCK.start, BLOCK.end) as usize
    }

    /// Returns the maximum number of runs to merge at once: their blocks take an eighth of the budget, or the memory
    /// that the program takes in any case.
    pub fn fan_in(&self) -> usize {
        const LEAST: usize = 64;
        usize::try_from(self.bytes() / 8 / self.block() as u64).unwrap_or(usize::MAX).max(LEAST)
    }
}
