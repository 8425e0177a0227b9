// What the host tells kernels that run before those of a plan, and what they write for those.
//
// The host tells it without writing to any buffer, since of two sorts in one command buffer the second would overwrite what the
// first still has to read: a byte is which entry of a table is bound. They are a number of 32 bits, the lowest byte first, and
// four numbers of a byte each.

@group(1) @binding(0) var<uniform> number_0: u32;
@group(1) @binding(1) var<uniform> number_1: u32;
@group(1) @binding(2) var<uniform> number_2: u32;
@group(1) @binding(3) var<uniform> number_3: u32;
@group(1) @binding(4) var<uniform> told_0: u32;
@group(1) @binding(5) var<uniform> told_1: u32;
@group(1) @binding(6) var<uniform> told_2: u32;
@group(1) @binding(7) var<uniform> told_3: u32;

fn told_number() -> u32 {
    return number_0 | (number_1 << 8u) | (number_2 << 16u) | (number_3 << 24u);
}

// Words from one set of arguments to the next.
const SLOT: u32 = 64u;

// Writes where slices begin, as struct Slices has it: for passes that read a caller's, and then for those that write them.
fn put_slices(slot: u32, first_key: u32, first_position: u32) {
    parameters[slot] = first_key;
    parameters[slot + 1u] = first_position;
    parameters[slot + 2u] = 0u;
    parameters[slot + 3u] = 0u;
    parameters[slot + SLOT] = 0u;
    parameters[slot + SLOT + 1u] = 0u;
    parameters[slot + SLOT + 2u] = first_key;
    parameters[slot + SLOT + 3u] = first_position;
}
