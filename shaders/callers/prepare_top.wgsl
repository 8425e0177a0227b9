// The arguments of a selection. Before it there are the constants DIGITS (of the selection), SLICES (the slot of where slices begin),
// CHUNK_UNIT, MOST_WORKGROUPS, SHIFTS and WIDTHS, as the selection has them.

@group(0) @binding(0) var<storage, read_write> parameters: array<u32>;
@group(0) @binding(1) var<storage, read> counts: array<u32>;

// Told, as told.wgsl has it: the most elements that slices hold; where the slices of keys, of what is beside them and of the count
// begin; and whether positions are numbered. An invocation for each digit.
@compute @workgroup_size(8)
fn prepare_top(@builtin(local_invocation_index) digit: u32) {
    let most = told_number();
    let n = min(counts[told_2], most);
    if digit < DIGITS {
        let units = (most + CHUNK_UNIT - 1u) / CHUNK_UNIT;
        let chunk = (units + MOST_WORKGROUPS - 1u) / MOST_WORKGROUPS * CHUNK_UNIT;
        // As struct Arguments of the selection has them, but for how many are selected.
        let slot = digit * SLOT;
        parameters[slot] = n;
        parameters[slot + 2u] = digit / 3u;
        parameters[slot + 3u] = SHIFTS[digit % 3u];
        parameters[slot + 4u] = WIDTHS[digit % 3u];
        parameters[slot + 5u] = chunk;
        parameters[slot + 6u] = (n + chunk - 1u) / chunk;
        parameters[slot + 7u] = told_3;
    }
    if digit == 0u {
        put_slices(SLICES * SLOT, told_0, told_1);
    }
}

// Told: how many are selected. After the one above.
@compute @workgroup_size(8)
fn want(@builtin(local_invocation_index) digit: u32) {
    if digit < DIGITS {
        parameters[digit * SLOT + 1u] = min(told_number(), parameters[digit * SLOT]);
    }
}
