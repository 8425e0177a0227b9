// The stages of a sort of a tile; see fused.wgsl. The order within a tile alternates by reversal of
// elements, not of comparisons: before stage k, all elements whose index has bit k set are
// reversed. Every comparison is then ascending, and every pair of sorted blocks is bitonic. The
// sorted tile is the same as with mirrored steps.

// Sorts the registers of each invocation, in blocks of 2^SORTED_LOG2 elements.
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

// Flips all bits of this invocation's elements of a part if `reverse` is 1, which reverses their
// order.
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

// Returns the layout for bits l * PART_LOG2 and above. In the last layout, the register bits are
// the highest bits of an index in a part.
fn layout_low(l: u32) -> u32 {
    return min(l * PART_LOG2, LAST_LOW);
}

// Performs the steps of strides 2^(bits − 1) … 1. It begins and ends in layout 0, and needs `bits`
// > PART_LOG2.
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
