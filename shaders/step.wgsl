// Performs one step of a sorting network on the whole array: invocation c performs comparison c of
// the plan.

struct Arguments {
    // The number of elements.
    n: u32,
    // The distance between the elements of a pair; for a mirrored step, half a block. A power of
    // two.
    stride: u32,
    // The beginning of the first pair of a phase: 0 or 1.
    start: u32,
    // The number of the phase.
    phase: u32,
    // The bit of an element's place that is set if an alternating step is descending.
    block_log2: u32,
}

fn compare_exchange(low: u32, high: u32) -> bool {
    var swapped = false;
    if high < arguments.n {
        let a = load(low);
        let b = load(high);
        if less(b, a) {
            store(low, b);
            store(high, a);
            swapped = true;
        }
    }
    return swapped;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn mirror(place: Place, @builtin(local_invocation_index) local: u32) {
    let half = arguments.stride;
    let c = invocation_number(place, local);
    let offset = c & (half - 1u);
    let block = 2u * (c - offset);
    _ = compare_exchange(block + offset, block + 2u * half - 1u - offset);
}

// Returns the lower position of comparison c.
fn lower_of(c: u32) -> u32 {
    return 2u * c - (c & (arguments.stride - 1u));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn stride(place: Place, @builtin(local_invocation_index) local: u32) {
    let low = lower_of(invocation_number(place, local));
    _ = compare_exchange(low, low + arguments.stride);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn alternating(place: Place, @builtin(local_invocation_index) local: u32) {
    let low = lower_of(invocation_number(place, local));
    let high = low + arguments.stride;
    if high < arguments.n {
        let a = load(low);
        let b = load(high);
        let descending = ((low >> arguments.block_log2) & 1u) == 1u;
        if (descending && less(a, b)) || (!descending && less(b, a)) {
            store(low, b);
            store(high, a);
        }
    }
}
