// What every kernel has: the numbers of its workgroup and invocation in a 2-D grid.

// Which workgroup this is: the same for all its invocations. The number of the invocation in the
// workgroup is a parameter of its own beside this one, so that a compiler which proves that all
// invocations reach a barrier need not tell one member from another.
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
