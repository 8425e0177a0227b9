// Writes the arguments of a sort of rows. Host parameters: the number of elements of all rows; two
// bytes of the length of a row, and the beginnings of the slices of keys and of payload.

@group(0) @binding(0) var<storage, read_write> parameters: array<u32>;

@compute @workgroup_size(1)
fn prepare_rows() {
    let length = host_byte_0 | (host_byte_1 << 8u);
    parameters[ROWS_ROWS] = host_number() / max(length, 1u);
    parameters[ROWS_LENGTH] = length;
    parameters[ROWS_FIRST_KEY] = host_byte_2;
    parameters[ROWS_FIRST_PAYLOAD] = host_byte_3;
}
