// Host parameters: numbers that the host passes to the kernels before those of a plan. These
// kernels write the arguments of the plan's kernels.
//
// The host cannot write them to a buffer: of two sorts in one command buffer, the second would
// overwrite the parameters that the first has yet to read. Instead, each byte is a binding of an
// entry in a table of all bytes. The parameters are a 32-bit number, lowest byte first, and four
// bytes.
//
// Constants with the offsets of the members of the kernels' structs (RADIX_N, …) precede this text.

@group(1) @binding(0) var<uniform> number_0: u32;
@group(1) @binding(1) var<uniform> number_1: u32;
@group(1) @binding(2) var<uniform> number_2: u32;
@group(1) @binding(3) var<uniform> number_3: u32;
@group(1) @binding(4) var<uniform> host_byte_0: u32;
@group(1) @binding(5) var<uniform> host_byte_1: u32;
@group(1) @binding(6) var<uniform> host_byte_2: u32;
@group(1) @binding(7) var<uniform> host_byte_3: u32;

fn host_number() -> u32 {
    return number_0 | (number_1 << 8u) | (number_2 << 16u) | (number_3 << 24u);
}

// The distance between sets of arguments, in words.
const SLOT: u32 = 64u;

// Writes the beginnings of slices as two Slices structs: first for passes that read the caller's
// slices, then for passes that write them.
fn put_slices(slot: u32, first_key: u32, first_payload: u32) {
    parameters[slot + SLICES_READ_KEYS] = first_key;
    parameters[slot + SLICES_READ_PAYLOAD] = first_payload;
    parameters[slot + SLICES_WRITE_KEYS] = 0u;
    parameters[slot + SLICES_WRITE_PAYLOAD] = 0u;
    parameters[slot + SLOT + SLICES_READ_KEYS] = 0u;
    parameters[slot + SLOT + SLICES_READ_PAYLOAD] = 0u;
    parameters[slot + SLOT + SLICES_WRITE_KEYS] = first_key;
    parameters[slot + SLOT + SLICES_WRITE_PAYLOAD] = first_payload;
}
