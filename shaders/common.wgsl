// What every kernel has: its arguments, and the number of its invocation or workgroup in a 2-D grid.

struct Arguments {
    // Where the elements end that the dispatch is for.
    n: u32,
    // The kernel's own; see there.
    a: u32,
    b: u32,
    c: u32,
}

var<immediate> arguments: Arguments;

// One more than the number of the last phase of odd-even sort that swapped something.
@group(0) @binding(2) var<storage, read_write> last_swap: atomic<u32>;

// Whether the two phases before this one swapped nothing: then neither would this one. All invocations
// of a dispatch agree, whenever they ask: where the two did swap, last_swap can but grow; where they
// did not, no invocation of this one does.
fn is_over(phase: u32) -> bool {
    return atomicLoad(&last_swap) + 2u <= phase;
}

fn note_swap(phase: u32) {
    if atomicLoad(&last_swap) <= phase {
        atomicMax(&last_swap, phase + 1u);
    }
}

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
