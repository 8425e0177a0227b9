//! The elements that one workgroup works on alone, and their place during the work.
//!
//! ```text
//! one after another   [ tile 0 ······ │ tile 1 ······ │ tile 2 ······ ]       run = a tile, count = 0
//! by bits             [ 0 ·│ 1 ·│ 2 ·│ 3 ·│ 0 ·│ 1 ·│ 2 ·│ 3 ·]               2^count runs, 2^low apart
//! mirrored            [ 0 ·│ 1 ·│ 2 ·│ 3 ·│ 3 ·│ 2 ·│ 1 ·│ 0 ·]
//! ```

/// The tiles of a dispatch. Elements are counted from its first element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Neighbours in a tile.
    pub run: u64,
    /// The distance between a tile's runs, as a power of two.
    pub low: u32,
    /// Runs in a tile, as a power of two.
    pub count: u32,
    /// True if the upper half of the runs lies mirrored in its block.
    pub mirrored: bool,
    /// The place of a tile between its loads and its stores.
    pub held: &'static str,
}

/// The place of elements while a workgroup works on them: memory that its invocations share.
pub const WORKGROUP: &str = "workgroup memory";
/// The place of elements: registers, with exchanges through workgroup memory.
pub const REGISTERS: &str = "registers";

impl Tiles {
    /// Returns consecutive tiles of `run` elements.
    pub(super) fn consecutive(run: u64, held: &'static str) -> Self {
        Self { run, low: 0, count: 0, mirrored: false, held }
    }

    /// Returns the number of elements in a tile.
    pub fn size(&self) -> u64 {
        self.run << self.count
    }

    /// Returns the number of the tile with this element.
    pub fn of(&self, index: u64) -> u64 {
        if self.count == 0 {
            return index / self.run;
        }
        let is_upper = index >> (self.low + self.count - 1) & 1 == 1;
        let below = if self.mirrored && is_upper { !index } else { index };
        let between = (below & ((1 << self.low) - 1)) / self.run;
        (index >> (self.low + self.count)) * ((1 << self.low) / self.run) + between
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_the_elements_that_their_bits_say() {
        let tiles = Tiles { run: 2, low: 2, count: 1, mirrored: false, held: REGISTERS };
        let of: Vec<u64> = (0..16).map(|index| tiles.of(index)).collect();
        assert_eq!(of, [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]);
        assert_eq!(tiles.size(), 4);
        let tiles = Tiles { mirrored: true, ..tiles };
        let of: Vec<u64> = (0..8).map(|index| tiles.of(index)).collect();
        assert_eq!(of, [0, 0, 1, 1, 1, 1, 0, 0]);
        let tiles = Tiles::consecutive(6, WORKGROUP);
        assert_eq!([0, 5, 6, 17].map(|index| tiles.of(index)), [0, 0, 1, 2]);
    }
}
