// Moves the selected elements back to the beginning of their own array.

@compute @workgroup_size(WORKGROUP_SIZE)
fn bring_back(place: Place, @builtin(local_invocation_index) local: u32) {
    for (var i = invocation_number(place, local); i < arguments.k; i += place.grid.x * place.grid.y * WORKGROUP_SIZE) {
        write_key(i, read_key(i));
        move_payload(i, i, false);
    }
}
