// Copies a caller's keys, which are to stay as they are.

struct Arguments {
    // Elements.
    n: u32,
    // Where they begin.
    first: u32,
}

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> copied: array<u32>;

@compute @workgroup_size(256)
fn copy(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    // Words, of which a key has one or two.
    let words = arguments.n * KEY_WORDS;
    let first = arguments.first * KEY_WORDS;
    for (var i = workgroup.x * 256u + local; i < words; i += grid.x * 256u) {
        copied[i] = keys[first + i];
    }
}
