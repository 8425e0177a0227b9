// The numbers of elements of each digit in earlier tiles, as `count` and `scan` left them.

fn tile_number(place: Place, local: u32) -> u32 {
    return workgroup_number(place);
}

fn publish_counts(counts: ptr<function, array<u32, DIGITS_EACH>>, current: Pass, own: Own) {}

fn add_earlier(
    earlier: ptr<function, array<u32, DIGITS_EACH>>,
    counts: ptr<function, array<u32, DIGITS_EACH>>,
    current: Pass,
    own: Own,
) {
    if own.digit < RADIX {
        // unroll
        for (var d = 0u; d < DIGITS_EACH; d++) {
            let in_chunks = chunk_sums[(own.digit + d) * arguments.chunks + own.tile / arguments.chunk];
            (*earlier)[d] = in_chunks + tile_sums[own.tile * RADIX + own.digit + d];
        }
    }
}
