// Prepares a sort whose number of elements may be known only to the device: clears the counters of
// the passes, and writes their arguments. Each workgroup prepares one digit.
//
// Host parameters: the maximum number of elements in the slices; three bytes: the beginnings of the
// slices of keys and of payload, and the place of the count; a byte of flags: 1, the payload is
// iota; 2, the last pass drops keys; 4, keys are copied before.

struct Fixed {
    // The maximum number of elements in the workspace.
    capacity: u32,
    // The numbers of elements in a tile, and of tiles in a chunk.
    tile: u32,
    chunk: u32,
    // The number of digits in a key.
    digits: u32,
}

@group(0) @binding(0) var<storage, read_write> parameters: array<u32>;
@group(0) @binding(1) var<storage, read_write> histograms: array<u32>;
@group(0) @binding(2) var<storage, read_write> varying_bits: array<u32>;
@group(0) @binding(3) var<uniform> fixed: Fixed;
@group(0) @binding(4) var<storage, read> counts: array<u32>;

const RADIX: u32 = 256u;

// One workgroup for each digit, one invocation for each of its values.
@compute @workgroup_size(256)
fn prepare(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let digit = workgroup.x;
    histograms[digit * RADIX + local] = 0u;
    if local > 0u {
        return;
    }
    let flags = host_byte_3;
    let n = min(min(counts[host_byte_2], host_number()), fixed.capacity);
    let tiles = (n + fixed.tile - 1u) / fixed.tile;
    let first = digit * SLOT;
    parameters[first + RADIX_N] = n;
    parameters[first + RADIX_TILES] = tiles;
    parameters[first + RADIX_CHUNK] = fixed.chunk;
    parameters[first + RADIX_CHUNKS] = (tiles + fixed.chunk - 1u) / fixed.chunk;
    parameters[first + RADIX_DIGIT] = digit;
    parameters[first + RADIX_IOTA] = flags & 1u;
    parameters[first + RADIX_DROPS_KEYS] = (flags >> 1u) & 1u;
    if digit == 0u {
        for (var i = 0u; i < 4u; i++) {
            varying_bits[i] = 0u;
        }
        // Copied keys begin at their binding.
        let slot = fixed.digits * SLOT;
        put_slices(slot, select(host_byte_0, 0u, (flags & 4u) != 0u), host_byte_1);
        parameters[slot + 2u * SLOT + COPY_N] = n;
        parameters[slot + 2u * SLOT + COPY_FIRST] = host_byte_0;
    }
}
