// The arguments of a selection. Before it there are the constants DIGITS (of the selection), SLICES
// (the slot of where slices begin), CHUNK_UNIT, MOST_WORKGROUPS, SHIFTS and WIDTHS, as the
// selection has them.

@group(0) @binding(0) var<storage, read_write> parameters: array<u32>;
@group(0) @binding(1) var<storage, read> counts: array<u32>;

// Host parameters: the most elements that slices hold; where the slices of keys, of payload and of
// the count begin; whether the payload is iota. An invocation for each digit.
@compute @workgroup_size(8)
fn prepare_top(@builtin(local_invocation_index) digit: u32) {
    let most = host_number();
    let n = min(counts[host_byte_2], most);
    if digit < DIGITS {
        let units = (most + CHUNK_UNIT - 1u) / CHUNK_UNIT;
        let chunk = (units + MOST_WORKGROUPS - 1u) / MOST_WORKGROUPS * CHUNK_UNIT;
        // All but how many are selected.
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

// Told: how many are selected. After the one above.
@compute @workgroup_size(8)
fn want(@builtin(local_invocation_index) digit: u32) {
    if digit < DIGITS {
        parameters[digit * SLOT + SELECT_K] = min(host_number(), parameters[digit * SLOT + SELECT_N]);
    }
}
