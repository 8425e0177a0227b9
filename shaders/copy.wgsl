// Copies words to measure the memory bandwidth of the device: 16 bytes at a time. Neighbouring
// invocations copy neighbouring vectors, and each invocation loads all its vectors before it stores
// them.

@group(0) @binding(0) var<storage, read> copied_from: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> copied_to: array<vec4<u32>>;

const WORKGROUP_SIZE: u32 = 256;
const EACH: u32 = 4;

@compute @workgroup_size(WORKGROUP_SIZE)
fn copy(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let first = workgroup.x * WORKGROUP_SIZE * EACH + invocation;
    let a = copied_from[first];
    let b = copied_from[first + WORKGROUP_SIZE];
    let c = copied_from[first + 2 * WORKGROUP_SIZE];
    let d = copied_from[first + 3 * WORKGROUP_SIZE];
    copied_to[first] = a;
    copied_to[first + WORKGROUP_SIZE] = b;
    copied_to[first + 2 * WORKGROUP_SIZE] = c;
    copied_to[first + 3 * WORKGROUP_SIZE] = d;
}
