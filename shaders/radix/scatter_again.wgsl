// A few workgroups take one tile after another. Most dispatches have no work, and end sooner with
// fewer workgroups. A barrier separates the tiles.

@compute @workgroup_size(WORKGROUP_SIZE)
fn scatter(place: Place, @builtin(local_invocation_index) local: u32, subgroup: Subgroup) {
    let tiles = tiles_there();
    let current = this_pass();
    if !current.runs {
        return;
    }
    let workgroups = place.grid.x * place.grid.y;
    for (var number = workgroup_number(place); number < tiles; number += workgroups) {
        scatter_tile(tile_number(place, local), current, local, subgroup);
        workgroupBarrier();
    }
}
