// Sorts long runs of equal prefixes by their other digits. Each run is sorted by one workgroup, one
// digit and one tile after another. Runs are rare enough that their time does not matter.

// For each of the invocation's digits, its count in the run, and in the earlier tiles of the run.
var<private> totals_of_run: array<u32, DIGITS_EACH>;
var<private> before_tile: array<u32, DIGITS_EACH>;

var<private> run: Part;

// The word after the counters: 1 if the digit is constant in the run.
const IS_CONSTANT: u32 = OFFSETS;

fn tiles_there() -> u32 {
    return (run.end - run.begin + TILE - 1u) / TILE;
}

fn part_of(tile: u32, digit: u32) -> Part {
    return run;
}

fn total_of(part: Part, first: u32, d: u32) -> u32 {
    return totals_of_run[d];
}

fn publish_counts(counts: ptr<function, array<u32, DIGITS_EACH>>, current: Pass, own: Own) {}

fn add_earlier(
    earlier: ptr<function, array<u32, DIGITS_EACH>>,
    counts: ptr<function, array<u32, DIGITS_EACH>>,
    current: Pass,
    own: Own,
) {
    // unroll
    for (var d = 0u; d < DIGITS_EACH; d++) {
        (*earlier)[d] = before_tile[d];
        before_tile[d] += (*counts)[d];
    }
}

// Counts a digit, and returns true if it is constant in the run. A barrier precedes the counting, and
// another one follows it.
fn count_run(begin: u32, end: u32, digit: u32, local: u32, first: u32) -> bool {
    for (var i = local; i < RADIX; i += WORKGROUP_SIZE) {
        atomicStore(&shared_words[i], 0u);
    }
    if local == 0u {
        atomicStore(&shared_words[IS_CONSTANT], 0u);
    }
    workgroupBarrier();
    for (var i = begin + local; i < end; i += WORKGROUP_SIZE) {
        atomicAdd(&shared_words[digit_of(read_key(i), digit)], 1u);
    }
    workgroupBarrier();
    // unroll
    for (var d = 0u; d < DIGITS_EACH; d++) {
        let total = atomicLoad(&shared_words[min(first + d, RADIX - 1u)]);
        totals_of_run[d] = total;
        before_tile[d] = 0u;
        if total == end - begin {
            atomicStore(&shared_words[IS_CONSTANT], 1u);
        }
    }
    return workgroupUniformLoad(&shared_words[IS_CONSTANT]) == 1u;
}

fn sort_run(begin: u32, end: u32, begins_in_other: bool, local: u32, subgroup: Subgroup) {
    let first = (number_of(subgroup) * subgroup_size(subgroup) + lane_of(subgroup)) * DIGITS_EACH;
    let tiles = (end - begin + TILE - 1u) / TILE;
    run = Part(begin, end, 0u, 0u);
    are_in_other = begins_in_other;
    for (var digit = 0u; digit < varying_bits[FROM]; digit++) {
        if !count_run(begin, end, digit, local, first) {
            for (var tile = 0u; tile < tiles; tile++) {
                scatter_tile(tile, Pass(true, false, false, false, 0u, digit, false), local, subgroup);
                workgroupBarrier();
            }
            are_in_other = !are_in_other;
            storageBarrier();
        }
        workgroupBarrier();
    }
    for (var i = begin + local; i < end; i += WORKGROUP_SIZE) {
        bring_back(i, element_of_key(read_key(i)));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn runs(place: Place, @builtin(local_invocation_index) local: u32, subgroup: Subgroup) {
    let passes = chosen();
    if !passes.finishes {
        return;
    }
    for (var number = workgroup_number(place); number < cuts[RUNS]; number += place.grid.x * place.grid.y) {
        let entry = 2u * (windows() + number);
        sort_run(cuts[entry], cuts[entry + 1u], (passes.passes & 1u) == 1u, local, subgroup);
        workgroupBarrier();
    }
}
