// Writes the position of each element, one for each invocation, before the elements move.

struct Arguments {
    // The number of elements.
    n: u32,
    // The first position.
    begin: u32,
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn iota(place: Place, @builtin(local_invocation_index) local: u32) {
    let i = invocation_number(place, local);
    if i < arguments.n {
        payload[i] = arguments.begin + i;
    }
}
