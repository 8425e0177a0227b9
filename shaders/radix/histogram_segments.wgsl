// Counts all digits of the keys of each segment in one reading. Each workgroup takes consecutive
// tiles, and adds its counts of a segment to the segment's histograms after its last tile of the
// segment. Barriers separate the counts of one segment from those of the next.

@compute @workgroup_size(WORKGROUP_SIZE)
fn histogram(
    place: Place,
    @builtin(local_invocation_index) local: u32,
    lane: Lane,
) {
    let tiles = tiles_there();
    if tiles == 0u {
        return;
    }
    var bits = begin_counting(place, local);
    let workgroups = place.grid.x * place.grid.y;
    let each = (tiles + workgroups - 1u) / workgroups;
    let end = min((workgroup_number(place) + 1u) * each, tiles);
    var tile = workgroup_number(place) * each;
    while tile < end {
        let part = part_of(tile, 0u);
        let next = min(end, part.first_tile + (part.end - part.begin + TILE - 1u) / TILE);
        let stop = min(begin_of_tile(next, part), part.end);
        for (var begin = begin_of_tile(tile, part); begin < stop; begin += BLOCK) {
            count_block(begin, stop, local, &bits);
        }
        workgroupBarrier();
        for (var i = local; i < COUNTERS; i += WORKGROUP_SIZE) {
            let sum = atomicExchange(&counted[i], 0u);
            if sum > 0u {
                atomicAdd(&histograms[part.histogram + i], sum);
            }
        }
        workgroupBarrier();
        tile = next;
    }
    end_counting(bits, local, lane);
}
