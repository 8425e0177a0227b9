// Clears the counters that other kernels add to.

@compute @workgroup_size(WORKGROUP_SIZE)
fn clear(place: Place, @builtin(local_invocation_index) local: u32) {
    let i = invocation_number(place, local);
    if i < DIGITS * RADIX {
        histograms[i] = 0u;
    }
    if i < 4u {
        varying_bits[i] = 0u;
    }
}
