// How often a digit is in all elements: counted before.

fn total_of(part: Part, first: u32, d: u32) -> u32 {
    return histograms[part.histogram + first + d];
}
