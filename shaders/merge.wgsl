// Merges two sorted runs; `kernels::merge` explains the method. A workgroup makes one tile of
// TILE_SIZE elements of the result; each invocation merges EACH consecutive elements.
//
// Another file defines the places of the runs: `first_count` and `second_count` return the number
// of elements of a run; `load_first` and `load_second` load an element of a run; `load_either`
// loads an element of the first or of the second run; `store_merged` stores an element of the
// result.

alias Registers = array<Element, EACH>;

// The bounds of the number of elements of the first run before the tile, and before the next tile:
// `least` and `most`.
var<workgroup> least: array<atomic<u32>, 2>;
var<workgroup> most: array<atomic<u32>, 2>;

// The number of invocations that search for one of the two numbers.
const PROBES: u32 = WORKGROUP_SIZE / 2u;

// Finds the number of elements of the first run among the first `taken` elements of the result. The
// invocations of one half of the workgroup search together: in each round, each invocation probes
// one place, and the next round continues between two of these places. All invocations read the
// bounds between two barriers, before any of them narrows the bounds.
fn split(taken: u32, half: u32, probe: u32) {
    if probe == 0u {
        atomicStore(&least[half], max(taken, second_count()) - second_count());
        atomicStore(&most[half], min(taken, first_count()));
    }
    for (var round = 0u; round < ROUNDS; round++) {
        workgroupBarrier();
        let low = atomicLoad(&least[half]);
        let high = atomicLoad(&most[half]);
        workgroupBarrier();
        // If a run is not sorted, the upper bound may be below the lower bound.
        let at = low + probe * ((max(low, high) - low) / PROBES + 1u);
        if at < high {
            // Of equal elements, the element of the first run comes first.
            if less(load_second(taken - 1u - at), load_first(at)) {
                atomicMin(&most[half], at);
            } else {
                atomicMax(&least[half], at + 1u);
            }
        }
    }
    workgroupBarrier();
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn merge_runs(place: Place, @builtin(local_invocation_index) local: u32) {
    let all = first_count() + second_count();
    let begin = min(workgroup_number(place), (max(all, 1u) - 1u) / TILE_SIZE) * TILE_SIZE;
    let count = min(all - begin, TILE_SIZE);
    let half = local / PROBES;
    split(begin + half * count, half, local % PROBES);
    let before = atomicLoad(&least[0]);
    // At most `count`, even if a run is not sorted.
    let own = clamp(atomicLoad(&least[1]), before, before + count) - before;
    // The number of elements of the second run before the tile, less the tile's elements of the
    // first run: added to an index in the tile, this is the place in the second run.
    let second = begin - before - own;
    for (var r = 0u; r < EACH; r++) {
        let i = r * WORKGROUP_SIZE + local;
        if i < count {
            store_tile(i, load_either(before + i, second + i, i < own));
        }
    }
    workgroupBarrier();

    // The beginnings of this invocation's elements in the tile's parts of both runs.
    let taken = min(local * EACH, count);
    let other = count - own;
    var low = max(taken, other) - other;
    var high = min(taken, own);
    while low < high {
        let at = (low + high) / 2u;
        if less(load_tile(own + taken - 1u - at), load_tile(at)) {
            high = at;
        } else {
            low = at + 1u;
        }
    }
    var i = low;
    var j = own + taken - low;
    var a = load_tile(min(i, TILE_SIZE - 1u));
    var b = load_tile(min(j, TILE_SIZE - 1u));
    var e: Registers;
    // unroll
    for (var r = 0u; r < EACH; r++) {
        let takes_second = (i >= own) | ((j < count) & less(b, a));
        if takes_second {
            e[r] = b;
            j++;
            b = load_tile(min(j, TILE_SIZE - 1u));
        } else {
            e[r] = a;
            i++;
            a = load_tile(min(i, TILE_SIZE - 1u));
        }
    }
    workgroupBarrier();
    // unroll
    for (var r = 0u; r < EACH; r++) {
        store_tile(local * EACH + r, e[r]);
    }
    workgroupBarrier();
    for (var r = 0u; r < EACH; r++) {
        let i = r * WORKGROUP_SIZE + local;
        if i < count {
            store_merged(begin + i, load_tile(i));
        }
    }
}
