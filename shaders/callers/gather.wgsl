// Gathers elements of up to three arrays by positions. Before it there are the constants WORDS_0,
// … (of an element of each array) and ARRAYS; after it `gather_array.wgsl` for each of them.

struct Arguments {
    // The most elements.
    n: u32,
    // Where positions begin in the lowest byte, and where their number is in the next.
    firsts: u32,
    // Of each array, where the source begins in words in the lowest byte, and the target in the
    // next; and the elements of the source.
    firsts_0: u32,
    firsts_1: u32,
    firsts_2: u32,
    elements_0: u32,
    elements_1: u32,
    elements_2: u32,
}

@group(0) @binding(0) var<storage, read_write> positions: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather(place: Place, @builtin(local_invocation_index) local: u32) {
    let n = min(arguments.n, counts[byte(arguments.firsts, 1u)]);
    // One array after another: together they would drive each other out of the device's cache. A
    // block is of as many elements as there are invocations.
    let workgroups = place.grid.x * place.grid.y / ARRAYS;
    let array = workgroup_number(place) / workgroups;
    for (var block = workgroup_number(place) % workgroups; block * WORKGROUP_SIZE < n; block += workgroups) {
        gather_block(array, block * WORKGROUP_SIZE, min(n - block * WORKGROUP_SIZE, WORKGROUP_SIZE), local);
    }
}
