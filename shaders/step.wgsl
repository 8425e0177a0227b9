// One network step on the whole array: comparison c by invocation c.
// The numbering of comparisons is that of the plan.

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

// arguments.a: half a block, a power of two.
@compute @workgroup_size(WORKGROUP_SIZE)
fn mirror(place: Place) {
    let half = arguments.a;
    let c = invocation_number(place);
    let offset = c & (half - 1u);
    let block = 2u * (c - offset);
    _ = compare_exchange(block + offset, block + 2u * half - 1u - offset);
}

// arguments.a: the stride, a power of two.
@compute @workgroup_size(WORKGROUP_SIZE)
fn stride(place: Place) {
    let c = invocation_number(place);
    let low = 2u * c - (c & (arguments.a - 1u));
    _ = compare_exchange(low, low + arguments.a);
}

// arguments.a: 0 for the even phase of odd-even sort, 1 for the odd; arguments.b: the phase's number.
@compute @workgroup_size(WORKGROUP_SIZE)
fn phase(place: Place) {
    if !is_over(arguments.b) {
        let low = 2u * invocation_number(place) + arguments.a;
        if compare_exchange(low, low + 1u) {
            note_swap(arguments.b);
        }
    }
}
