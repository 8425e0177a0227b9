// The last kernel of unique.wgsl. The invocations of all workgroups write the first elements, one
// after another.

@group(0) @binding(6) var<storage, read_write> values: array<u32>;
@group(0) @binding(7) var<storage, read_write> unique_values: array<u32>;
@group(0) @binding(8) var<storage, read_write> equal: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn write_firsts(place: Place, @builtin(local_invocation_index) local: u32) {
    let number = numbers[byte(arguments.keys, 3u)];
    let most = min(number, arguments.most);
    let step = place.grid.x * place.grid.y * WORKGROUP_SIZE;
    for (var i = invocation_number(place, local); i < most; i += step) {
        let first = firsts[i];
        write_unique(byte(arguments.keys, 2u) + i, read_keys(byte(arguments.keys, 0u) + first));
        if HAS_VALUES == 1u {
            unique_values[byte(arguments.values, 1u) + i] = values[byte(arguments.values, 0u) + first];
        }
        if HAS_COUNTS == 1u {
            var end = count();
            if i + 1u < number {
                end = firsts[i + 1u];
            }
            equal[byte(arguments.values, 2u) + i] = end - first;
        }
    }
}
