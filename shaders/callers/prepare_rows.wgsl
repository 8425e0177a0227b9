// The arguments of rows. Told, as told.wgsl has it: elements of all rows; those of a row, in two bytes; where the slices of keys and
// of what is beside them begin.

@group(0) @binding(0) var<storage, read_write> parameters: array<u32>;

@compute @workgroup_size(1)
fn prepare_rows() {
    let length = told_0 | (told_1 << 8u);
    parameters[0] = told_number() / max(length, 1u);
    parameters[1] = length;
    parameters[2] = told_2;
    parameters[3] = told_3;
}
