// The count of a digit in the whole part, as earlier passes left it.

fn total_of(part: Part, first: u32, d: u32) -> u32 {
    return histograms[part.histogram + first + d];
}
