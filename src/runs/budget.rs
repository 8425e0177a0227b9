//! How much memory a sort may take.

use std::sync::OnceLock;

use crate::key::KeyWords;
use crate::memory;

/// The most memory that a sort may take.
#[derive(Debug)]
pub struct Budget {
    bytes: OnceLock<u64>,
    /// How many sorts at the same time share what is available.
    sharing: u64,
}

/// This much memory is not worth asking the system whether it is there.
const FEW: u64 = 64 << 20;

impl Default for Budget {
    /// Three quarters of what is available when it is first asked for; at once under a limit of the process, which may be low.
    fn default() -> Self {
        let budget = Self { bytes: OnceLock::new(), sharing: 1 };
        if memory::address_space_left().is_some() {
            let _ = budget.bytes();
        }
        budget
    }
}

impl Budget {
    /// This many bytes, raised to what a sort needs at least.
    #[must_use]
    pub fn of(bytes: u64) -> Self {
        const LEAST: u64 = 512;
        Self { bytes: OnceLock::from(bytes.max(LEAST)), sharing: 1 }
    }

    /// The part of one of this many sorts that share it.
    #[must_use]
    pub fn shared_by(self, sorts: u64) -> Self {
        match self.bytes.get() {
            Some(&bytes) => Self::of(bytes / sorts),
            None => Self { sharing: self.sharing * sorts, ..self },
        }
    }

    /// Without any limit.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::of(u64::MAX)
    }

    /// Bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let share = |available: u64| available / 4 * 3 / self.sharing;
        *self.bytes.get_or_init(|| memory::available().map_or(u64::MAX, share))
    }

    /// Whether this many bytes, which take `times` as much memory at most, fit.
    pub(crate) fn fits(&self, bytes: u64, times: u64) -> bool {
        let needed = bytes.saturating_mul(times);
        self.bytes.get().is_none() && needed <= FEW || needed <= self.bytes()
    }

    /// Whether this many elements with keys of this width can be sorted.
    #[must_use]
    pub fn fits_elements(&self, n: u64, key: KeyWords) -> bool {
        // The keys as read, those that are sorted, and what is written of them.
        const TIMES: u64 = 3;
        self.fits(n.saturating_mul(if key == KeyWords::One { 4 } else { 8 }), TIMES)
    }

    /// How much of binary files is read at once.
    pub(crate) fn piece(&self) -> u64 {
        // Without a limit as long as nobody has asked for it.
        self.bytes.get().map_or(u64::MAX, |bytes| bytes / 8)
    }

    /// How much is read at once of what may exceed the budget.
    pub(crate) fn step(&self) -> usize {
        self.bytes.get().map_or(1 << 22, |bytes| (bytes / 16).clamp(1 << 8, 1 << 25) as usize)
    }

    /// The size of the blocks in which runs are written and read: small enough that those of many runs fit.
    pub(crate) fn block(&self) -> usize {
        const BLOCK: std::ops::Range<u64> = 1 << 6..1 << 20;
        (self.bytes() / 1024).clamp(BLOCK.start, BLOCK.end) as usize
    }

    /// The most runs that are merged at once: their blocks take a quarter.
    pub(crate) fn fan_in(&self) -> usize {
        usize::try_from(self.bytes() / 4 / self.block() as u64).unwrap_or(usize::MAX).max(2)
    }
}
