// What every kernel has: its arguments, and the number of its invocation or workgroup in a 2-D grid.

struct Arguments {
    // Elements in the array.
    n: u32,
    // The kernel's own; see there.
    a: u32,
    b: u32,
    c: u32,
}

var<immediate> arguments: Arguments;

struct Place {
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
}

fn workgroup_number(place: Place) -> u32 {
    return place.workgroup.y * place.grid.x + place.workgroup.x;
}

fn invocation_number(place: Place) -> u32 {
    return workgroup_number(place) * WORKGROUP_SIZE + place.local;
}
