// One workgroup for each tile.

@compute @workgroup_size(WORKGROUP_SIZE)
fn scatter(place: Place, @builtin(local_invocation_index) local: u32, subgroup: Subgroup) {
    // The number of remaining workgroups equals the number of tiles, whatever numbers they take.
    if workgroup_number(place) >= tiles_there() {
        return;
    }
    let current = this_pass();
    if !current.runs {
        return;
    }
    scatter_tile(tile_number(place, local), current, local, subgroup);
}
