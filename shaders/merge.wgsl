// Merges two sorted runs; what and why is in `kernels::merge`. One workgroup for each tile of
// TILE_SIZE elements of the result, EACH of them one after another by each invocation.
//
// Where the runs are, another file says: with `first_count` and `second_count`, elements in each;
// `load_first` and `load_second`, an element of one; `load_either`, that of the first or else that
// of the second; and `store_merged`.

alias Registers = array<Element, EACH>;

// Elements of the first run that come before the tile and before the next one: the least and the
// most that there may be.
var<workgroup> least: array<atomic<u32>, 2>;
var<workgroup> most: array<atomic<u32>, 2>;

// Invocations that look for one of the two.
const PROBES: u32 = WORKGROUP_SIZE / 2u;

// Finds how many of the `taken` first elements of the result are of the first run, by all
// invocations of one half together: each looks at one place, and what is left is between two of
// these.
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
        // Where runs are out of order, the most may be less than the least.
        let at = low + probe * ((max(low, high) - low) / PROBES + 1u);
        if at < high {
            // Of equal elements those of the first run come first.
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
    // No more than the tile has, whatever the elements are.
    let own = clamp(atomicLoad(&least[1]), before, before + count) - before;
    // Less the elements of the first run, so that it is the place of what follows these in the
    // tile.
    let second = begin - before - own;
    for (var r = 0u; r < EACH; r++) {
        let i = r * WORKGROUP_SIZE + local;
        if i < count {
            store_tile(i, load_either(before + i, second + i, i < own));
        }
    }
    workgroupBarrier();

    // Where this invocation's elements begin in both.
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
