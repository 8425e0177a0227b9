// Copies a caller's keys, for sorts that must not change them. Neighbouring invocations copy
// neighbouring words.

struct Arguments {
    // The number of elements.
    n: u32,
    // The beginning of the keys, in elements.
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
    // A key has one or two words.
    let words = arguments.n * KEY_WORDS;
    let first = arguments.first * KEY_WORDS;
    for (var i = workgroup.x * 256u + local; i < words; i += grid.x * 256u) {
        copied[i] = keys[first + i];
    }
}
