// Each segment is sorted by itself. An entry for each tile has the beginning and the end of its
// segment, the segment's first tile, and the segment's number.

fn tiles_there() -> u32 {
    return arguments.tiles;
}

fn part_of(tile: u32, digit: u32) -> Part {
    let entry = segment_tiles[tile];
    return Part(entry.x, entry.y, entry.z, (entry.w * DIGITS + digit) * RADIX);
}
