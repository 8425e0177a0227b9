// Every element's position, before any has moved.

@compute @workgroup_size(WORKGROUP_SIZE)
fn iota(place: Place) {
    let i = invocation_number(place);
    if i < arguments.n {
        positions[i] = i;
    }
}
