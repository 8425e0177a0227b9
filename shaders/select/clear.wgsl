// Clears the counters, and the last selected key.

@compute @workgroup_size(WORKGROUP_SIZE)
fn clear(place: Place, @builtin(local_invocation_index) local: u32) {
    let i = invocation_number(place, local);
    if i < RADIX {
        digit_counts[i] = 0u;
    }
    if i == 0u {
        chosen[0] = 0u;
        chosen[1] = 0u;
        chosen[WANTED] = arguments.k;
        chosen[IS_WHOLE] = 0u;
    }
}
