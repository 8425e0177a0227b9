// A phase of odd-even sort: each invocation compares one pair; see step.wgsl and last_swap.wgsl.

@compute @workgroup_size(WORKGROUP_SIZE)
fn phase(place: Place, @builtin(local_invocation_index) local: u32) {
    if !is_over(arguments.phase) {
        let low = 2u * invocation_number(place, local) + arguments.start;
        // The largest u32 has no upper neighbour; low + 1 would wrap to the first element.
        if compare_exchange(low, max(low, low + 1u)) {
            note_swap(arguments.phase);
        }
    }
}
