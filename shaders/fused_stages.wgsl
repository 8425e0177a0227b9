// The stages of sorting a tile; see fused.wgsl. Inside a tile the order is kept alternating by
// reversing elements, not comparisons: before stage k, all elements whose index has bit k are
// reversed, so that every comparison is ascending and every pair of sorted blocks is bitonic. What
// the tile holds in the end is the same as by mirrored steps.

// Sorts the registers of each invocation, in blocks of 2^SORTED_LOG2.
fn sort_registers(e: ptr<function, Registers>) {
    // unroll
    for (var s = 0u; s < SORTED_LOG2; s++) {
        // unroll
        for (var c = 0u; c < HALF; c++) {
            compare_exchange(
                e,
                ((c >> s) << (s + 1u)) + (c & ((1u << s) - 1u)),
                ((c >> s) << (s + 1u)) + (2u << s) - 1u - (c & ((1u << s) - 1u)),
            );
        }
        merge_registers(e, s, 0u);
    }
}

// Reverses the order of a part's elements of this invocation, if `reverse` is 1, by flipping all
// their bits.
fn reverse_part(e: ptr<function, Registers>, part: u32, reverse: u32) {
    let mask = 0u - reverse;
    // unroll
    for (var r = 0u; r < ELEMENTS; r++) {
        if r / PART == part {
            (*e)[r] = flipped((*e)[r], mask);
        }
    }
}

fn exchange(e: ptr<function, Registers>, local: u32, before: u32, after: u32) {
    change_layout(e, local, before, false, after, false);
}

// The layouts for the steps of a stage: number l is for the bits from l * PART_LOG2 on; the last
// one has its registers as high as the tile allows.
fn layout_low(l: u32) -> u32 {
    return min(l * PART_LOG2, LAST_LOW);
}

// The steps of strides 2^(bits − 1) … 1, from layout 0 to layout 0. `bits` is larger than
// PART_LOG2.
fn merge_bits(e: ptr<function, Registers>, local: u32, bits: u32) {
    // unroll
    for (var d = 0u; d < UPPER_LAYOUTS; d++) {
        if bits > (UPPER_LAYOUTS - d) * PART_LOG2 {
            if d > 0u && bits > (UPPER_LAYOUTS - d + 1u) * PART_LOG2 {
                exchange(e, local, layout_low(UPPER_LAYOUTS - d + 1u), layout_low(UPPER_LAYOUTS - d));
            } else {
                exchange(e, local, 0u, layout_low(UPPER_LAYOUTS - d));
            }
            let low = layout_low(UPPER_LAYOUTS - d);
            merge_registers(e, min(bits - low, PART_LOG2), (UPPER_LAYOUTS - d) * PART_LOG2 - low);
        }
    }
    exchange(e, local, layout_low(1u), 0u);
    merge_registers(e, PART_LOG2, 0u);
}
