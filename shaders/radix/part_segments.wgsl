// Segments are sorted each by itself. Of each tile is known: where its segment begins and ends, the
// segment's first tile, and the segment's number.

fn part_of(tile: u32) -> Part {
    let told = segment_tiles[tile];
    return Part(told.x, told.y, told.z, (told.w * DIGITS + arguments.digit) * RADIX);
}
