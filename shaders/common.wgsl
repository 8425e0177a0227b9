// Included in every kernel: the numbers of workgroup and invocation in a two-dimensional grid.

// The place of a workgroup in the grid, equal for all its invocations. The index of an invocation
// in its workgroup is a separate parameter: a compiler that proves uniform control flow then need
// not distinguish the members of a struct.
struct Place {
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
}

fn workgroup_number(place: Place) -> u32 {
    return place.workgroup.y * place.grid.x + place.workgroup.x;
}

fn invocation_number(place: Place, local: u32) -> u32 {
    return workgroup_number(place) * WORKGROUP_SIZE + local;
}
