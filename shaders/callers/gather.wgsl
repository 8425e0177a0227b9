// Gathers elements of up to three arrays by positions. The constants WORDS_0, … (words of an
// element of each array) and ARRAYS precede this text; `gather_array.wgsl` follows it for each
// array.

struct Arguments {
    // The maximum number of elements.
    n: u32,
    // The lowest byte is the beginning of the positions, the next byte the place of their number.
    firsts: u32,
    // For each array: the beginning of the source in words in the lowest byte, and of the target in
    // the next byte.
    firsts_0: u32,
    firsts_1: u32,
    firsts_2: u32,
    // For each array: the number of elements of the source; positions beyond it are ignored.
    elements_0: u32,
    elements_1: u32,
    elements_2: u32,
}

@group(0) @binding(0) var<storage, read_write> positions: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather(place: Place, @builtin(local_invocation_index) local: u32) {
    let n = min(arguments.n, counts[byte(arguments.firsts, 1u)]);
    // The workgroups of one array after those of another, because together the arrays would evict
    // each other from the device's cache. A block has one element for each invocation.
    let workgroups = place.grid.x * place.grid.y / ARRAYS;
    let array = workgroup_number(place) / workgroups;
    for (var block = workgroup_number(place) % workgroups; block * WORKGROUP_SIZE < n; block += workgroups) {
        gather_block(array, block * WORKGROUP_SIZE, min(n - block * WORKGROUP_SIZE, WORKGROUP_SIZE), local);
    }
}
