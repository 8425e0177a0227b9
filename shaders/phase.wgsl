// A phase of odd-even sort; see step.wgsl and last_swap.wgsl.

@compute @workgroup_size(WORKGROUP_SIZE)
fn phase(place: Place, @builtin(local_invocation_index) local: u32) {
    if !is_over(arguments.phase) {
        let low = 2u * invocation_number(place, local) + arguments.start;
        // Past the largest number there is no neighbour, not the first element.
        if compare_exchange(low, max(low, low + 1u)) {
            note_swap(arguments.phase);
        }
    }
}
