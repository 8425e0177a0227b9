// The arguments of rows, told as prepare.wgsl is told those of a sort.

@group(0) @binding(0) var<storage, read_write> parameters: array<u32>;

// Elements of all rows, the lowest byte first.
@group(1) @binding(0) var<uniform> elements_0: u32;
@group(1) @binding(1) var<uniform> elements_1: u32;
@group(1) @binding(2) var<uniform> elements_2: u32;
@group(1) @binding(3) var<uniform> elements_3: u32;
// Elements of a row.
@group(1) @binding(4) var<uniform> length_0: u32;
@group(1) @binding(5) var<uniform> length_1: u32;
// Where slices begin.
@group(1) @binding(6) var<uniform> first_key: u32;
@group(1) @binding(7) var<uniform> first_position: u32;

@compute @workgroup_size(1)
fn prepare_rows() {
    let length = length_0 | (length_1 << 8u);
    parameters[0] = (elements_0 | (elements_1 << 8u) | (elements_2 << 16u) | (elements_3 << 24u)) / max(length, 1u);
    parameters[1] = length;
    parameters[2] = first_key;
    parameters[3] = first_position;
}
