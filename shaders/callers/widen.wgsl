// Copies a caller's elements of 8 or 16 bits to 32-bit keys, and back.

struct Arguments {
    // The maximum number of elements.
    n: u32,
    // The beginning of the elements, and the place of their number.
    first: u32,
    first_count: u32,
}

@group(0) @binding(0) var<storage, read_write> elements: array<u32>;
@group(0) @binding(1) var<storage, read_write> wide: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn widen(place: Place, @builtin(local_invocation_index) local: u32) {
    let n = min(arguments.n, counts[arguments.first_count]);
    let step = place.grid.x * place.grid.y * WORKGROUP_SIZE;
    for (var i = invocation_number(place, local); i < n; i += step) {
        let at = arguments.first + i;
        wide[i] = widened(extractBits(elements[at / PACKED], at % PACKED * NARROW_BITS, NARROW_BITS));
    }
}

// Each invocation writes whole words; elements of a word outside the slice keep their values.
@compute @workgroup_size(WORKGROUP_SIZE)
fn narrow(place: Place, @builtin(local_invocation_index) local: u32) {
    let n = min(arguments.n, counts[arguments.first_count]);
    let end = arguments.first + n;
    let step = place.grid.x * place.grid.y * WORKGROUP_SIZE;
    let first = arguments.first / PACKED + invocation_number(place, local);
    for (var word = first; word * PACKED < end; word += step) {
        var packed = elements[word];
        for (var e = 0u; e < PACKED; e++) {
            let at = word * PACKED + e;
            if at >= arguments.first && at < end {
                packed = insertBits(packed, narrowed(wide[at - arguments.first]), e * NARROW_BITS, NARROW_BITS);
            }
        }
        elements[word] = packed;
    }
}
