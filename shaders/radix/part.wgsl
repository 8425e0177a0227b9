// A range of elements that is sorted by itself; tiles divide it.

struct Part {
    // Its first element, and the end.
    begin: u32,
    end: u32,
    // Its first tile.
    first_tile: u32,
    // The place of the counts of this pass's digit in `histograms`.
    histogram: u32,
}

// Returns the beginning of a tile.
fn begin_of_tile(tile: u32, part: Part) -> u32 {
    return part.begin + (tile - part.first_tile) * TILE;
}
