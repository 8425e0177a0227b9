// Prepares a sort whose number of elements the device may have: what the passes count in becomes zero, and their arguments
// become known.
//
// What the host knows of a sort it tells without writing to any buffer, since of two sorts in one command buffer the second
// would overwrite what the first still has to read: a byte is which entry of a table is bound.

struct Fixed {
    // The most elements there is room for.
    capacity: u32,
    // Elements in a tile, and tiles in a chunk.
    tile: u32,
    chunk: u32,
    // Digits in a key.
    digits: u32,
}

@group(0) @binding(0) var<storage, read_write> parameters: array<u32>;
@group(0) @binding(1) var<storage, read_write> histograms: array<u32>;
@group(0) @binding(2) var<storage, read_write> varying_bits: array<u32>;
@group(0) @binding(3) var<uniform> fixed: Fixed;
@group(0) @binding(4) var<storage, read> counts: array<u32>;

// The most elements that slices hold, the lowest byte first.
@group(1) @binding(0) var<uniform> most_0: u32;
@group(1) @binding(1) var<uniform> most_1: u32;
@group(1) @binding(2) var<uniform> most_2: u32;
@group(1) @binding(3) var<uniform> most_3: u32;
// Where slices begin.
@group(1) @binding(4) var<uniform> first_key: u32;
@group(1) @binding(5) var<uniform> first_position: u32;
@group(1) @binding(6) var<uniform> first_count: u32;
// A bit each: whether positions are numbered, whether keys are left out at last, whether keys are copied before.
@group(1) @binding(7) var<uniform> flags: u32;

const RADIX: u32 = 256u;

// Words from one set of arguments to the next.
const SLOT: u32 = 64u;

// A workgroup for each digit.
@compute @workgroup_size(256)
fn prepare(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let digit = workgroup.x;
    histograms[digit * RADIX + local] = 0u;
    if local > 0u {
        return;
    }
    let most = most_0 | (most_1 << 8u) | (most_2 << 16u) | (most_3 << 24u);
    let n = min(min(counts[first_count], most), fixed.capacity);
    let tiles = (n + fixed.tile - 1u) / fixed.tile;
    // As struct Arguments has them.
    let first = digit * SLOT;
    parameters[first] = n;
    parameters[first + 1u] = tiles;
    parameters[first + 2u] = fixed.chunk;
    parameters[first + 3u] = (tiles + fixed.chunk - 1u) / fixed.chunk;
    parameters[first + 4u] = digit;
    parameters[first + 5u] = flags & 1u;
    parameters[first + 6u] = (flags >> 1u) & 1u;
    if digit == 0u {
        for (var i = 0u; i < 4u; i++) {
            varying_bits[i] = 0u;
        }
        // As struct Slices has them: of passes that read a caller's slices, and of those that write them.
        let of_sort = select(first_key, 0u, (flags & 4u) != 0u);
        let slot = fixed.digits * SLOT;
        parameters[slot] = of_sort;
        parameters[slot + 1u] = first_position;
        parameters[slot + 2u] = 0u;
        parameters[slot + 3u] = 0u;
        parameters[slot + SLOT] = 0u;
        parameters[slot + SLOT + 1u] = 0u;
        parameters[slot + SLOT + 2u] = of_sort;
        parameters[slot + SLOT + 3u] = first_position;
        // As the copy's own struct Arguments has them.
        parameters[slot + 2u * SLOT] = n;
        parameters[slot + 2u * SLOT + 1u] = first_key;
    }
}
