// What is sorted by itself, of which a tile is a part.

struct Part {
    // Its first element, and the first after it.
    begin: u32,
    end: u32,
    // Its first tile.
    first_tile: u32,
    // Where the counts of this pass's digit are.
    histogram: u32,
}

// Where a tile of it begins.
fn begin_of_tile(tile: u32, part: Part) -> u32 {
    return part.begin + (tile - part.first_tile) * TILE;
}
