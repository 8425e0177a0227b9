// Segments are sorted each by itself. Of each tile is known: where its segment begins and ends, the
// segment's first tile, and the segment's number.

fn tiles_there() -> u32 {
    return arguments.tiles;
}

fn part_of(tile: u32, digit: u32) -> Part {
    let entry = segment_tiles[tile];
    return Part(entry.x, entry.y, entry.z, (entry.w * DIGITS + digit) * RADIX);
}
