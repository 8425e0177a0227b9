// All elements are sorted together.

fn part_of(tile: u32) -> Part {
    return Part(0u, arguments.n, 0u, arguments.digit * RADIX);
}
