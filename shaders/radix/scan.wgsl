// Replaces the count of a digit in each chunk by its count in all chunks before. One workgroup for
// each value of the digit; each invocation adds up consecutive chunks.

const OFFSETS: u32 = 0u;

var<workgroup> shared_words: array<atomic<u32>, SHARED>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn scan(place: Place, subgroup: Subgroup) {
    let value = workgroup_number(place);
    let current = this_pass();
    if value >= RADIX || !current.runs || current.copies {
        return;
    }
    let size = subgroup_size(subgroup);
    let each = (arguments.chunks + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
    let first = value * arguments.chunks + min((number_of(subgroup) * size + lane_of(subgroup)) * each, arguments.chunks);
    let end = min(first + each, (value + 1u) * arguments.chunks);
    var sum = 0u;
    for (var i = first; i < end; i++) {
        sum += chunk_sums[i];
    }
    var before = sums_before(vec2(sum, 0u), subgroup, size).x;
    for (var i = first; i < end; i++) {
        let count = chunk_sums[i];
        chunk_sums[i] = before;
        before += count;
    }
    // The last invocation has the sum of all chunks, even without chunks of its own.
    if number_of(subgroup) * size + lane_of(subgroup) == WORKGROUP_SIZE - 1u {
        histograms[arguments.digit * RADIX + value] = before;
    }
}
