// Writes the arguments of a selection. These constants precede this text: DIGITS (of the
// selection), SLICES (the slot for the beginnings of slices), and CHUNK_UNIT, MOST_WORKGROUPS,
// SHIFTS and WIDTHS of the selection.

@group(0) @binding(0) var<storage, read_write> parameters: array<u32>;
@group(0) @binding(1) var<storage, read> counts: array<u32>;

// One invocation for each digit. Host parameters: the maximum number of elements in the slices; the
// beginnings of the slices of keys and of payload, the place of the count, and 1 if the payload is
// iota.
@compute @workgroup_size(8)
fn prepare_top(@builtin(local_invocation_index) digit: u32) {
    let most = host_number();
    let n = min(counts[host_byte_2], most);
    if digit < DIGITS {
        let units = (most + CHUNK_UNIT - 1u) / CHUNK_UNIT;
        let chunk = (units + MOST_WORKGROUPS - 1u) / MOST_WORKGROUPS * CHUNK_UNIT;
        // All arguments except the number of selected elements, which `want` writes.
        let slot = digit * SLOT;
        parameters[slot + SELECT_N] = n;
        parameters[slot + SELECT_WORD] = digit / 3u;
        parameters[slot + SELECT_SHIFT] = SHIFTS[digit % 3u];
        parameters[slot + SELECT_WIDTH] = WIDTHS[digit % 3u];
        parameters[slot + SELECT_CHUNK] = chunk;
        parameters[slot + SELECT_CHUNKS] = (n + chunk - 1u) / chunk;
        parameters[slot + SELECT_IOTA] = host_byte_3;
    }
    if digit == 0u {
        put_slices(SLICES * SLOT, host_byte_0, host_byte_1);
    }
}

// Runs after `prepare_top`; one invocation for each digit. Host parameter: the number of elements
// to select.
@compute @workgroup_size(8)
fn want(@builtin(local_invocation_index) digit: u32) {
    if digit < DIGITS {
        parameters[digit * SLOT + SELECT_K] = min(host_number(), parameters[digit * SLOT + SELECT_N]);
    }
}
