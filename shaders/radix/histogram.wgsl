// Counts all digits of all keys in one reading. Each workgroup takes one block after another, and
// adds its counts to the histograms at the end.

@compute @workgroup_size(WORKGROUP_SIZE)
fn histogram(
    place: Place,
    @builtin(local_invocation_index) local: u32,
    lane: Lane,
) {
    var bits = begin_counting(place, local);
    let blocks = (arguments.n + BLOCK - 1u) / BLOCK;
    for (var block = workgroup_number(place); block < blocks; block += place.grid.x * place.grid.y) {
        count_block(block * BLOCK, arguments.n, local, &bits);
    }
    end_counting(bits, local, lane);
    for (var i = local; i < COUNTERS; i += WORKGROUP_SIZE) {
        let sum = atomicLoad(&counted[i]);
        if sum > 0u {
            atomicAdd(&histograms[i], sum);
        }
    }
}
