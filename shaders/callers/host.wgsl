// Host parameters of the kernels that run before those of a plan, and what these kernels write for
// those.
//
// The host writes them to no buffer: of two sorts in one command buffer the second would overwrite
// what the first still has to read. So a byte is which entry of a table is bound. They are a number
// of 32 bits, the lowest byte first, and four numbers of a byte each.
//
// Before this text there are the places of members in their structs, which are in the kernels' own
// files: RADIX_N, …

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

// Words from one set of arguments to the next.
const SLOT: u32 = 64u;

// Writes where slices begin, as struct Slices has it: for passes that read a caller's, and then for
// those that write them.
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
