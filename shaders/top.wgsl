// Reduces each tile to its best elements; `plan::top` explains the method. A workgroup works on one
// tile of 2^TILE_LOG2 elements, with ELEMENTS elements in the registers of each invocation, in any
// order.

struct Arguments {
    // The number of elements.
    n: u32,
    // The number of tiles.
    tiles: u32,
    // The number of elements to keep of a tile.
    k: u32,
    // The rank to select in each subset, counted from 1.
    rank: u32,
}

alias Registers = array<Element, ELEMENTS>;

const SLOTS: u32 = 1u << SLOTS_LOG2;

// The sum of all counts since the kernel began.
var<workgroup> counted: atomic<u32>;

// Loads a tile; neighbouring invocations hold neighbouring elements.
fn load_tile_registers(e: ptr<function, Registers>, number: u32, local: u32) {
    let first = number << TILE_LOG2;
    let is_whole = number < arguments.tiles && arguments.n - first >= (1u << TILE_LOG2);
    if is_whole {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            (*e)[r] = load(first + r * WORKGROUP_SIZE + local);
        }
    } else {
        // Without a branch, so that an invocation's loads overlap.
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            (*e)[r] = element_or_last(
                load(min(first + r * WORKGROUP_SIZE + local, arguments.n - 1u)),
                r * WORKGROUP_SIZE + local < arguments.n - first,
            );
        }
    }
}

// Returns an upper bound of the k-th element, from the least elements of groups. Groups and subsets
// are interleaved: in sorted input, each of them then has its share of the first elements. The
// first barrier completes the least elements of all invocations; the second one keeps the next
// group from overwriting them.
fn bound(e: ptr<function, Registers>, local: u32) -> Element {
    let subset = local % SUBSETS;
    // unroll
    for (var g = 0u; g < GROUPS; g++) {
        var least = (*e)[g];
        // unroll
        for (var i = 0u; i < GROUP; i++) {
            least = lesser(least, (*e)[i * GROUPS + g]);
        }
        store_tile(local, least);
        workgroupBarrier();
        // Of equal elements, the element of the lower invocation has the lower rank: each rank
        // belongs to one invocation.
        var rank = 1u;
        for (var j = 0u; j < SUBSET; j++) {
            let at = j * SUBSETS + subset;
            let other = load_tile(at);
            rank += u32(less(other, least) | ((at < local) & !less(least, other)));
        }
        if rank == arguments.rank {
            store_tile(WORKGROUP_SIZE + g * SUBSETS + subset, least);
        }
        workgroupBarrier();
    }
    var greatest = load_tile(WORKGROUP_SIZE);
    for (var s = 1u; s < GROUPS * SUBSETS; s++) {
        greatest = greater(greatest, load_tile(WORKGROUP_SIZE + s));
    }
    return greatest;
}

// Returns the number of elements of the tile below `limit`, equal in all invocations. `before`
// holds the sum of all previous counts, and is updated; `sooner` receives the number of elements of
// invocations that added their count earlier. The two are separate parameters so that a compiler
// recognizes the one that is uniform.
fn count_less(
    e: ptr<function, Registers>,
    limit: Element,
    before: ptr<function, u32>,
    sooner: ptr<function, u32>,
) -> u32 {
    var own = 0u;
    // unroll
    for (var r = 0u; r < ELEMENTS; r++) {
        own += u32(less((*e)[r], limit));
    }
    var at = *before;
    if own > 0u {
        at = atomicAdd(&counted, own);
    }
    *sooner = at - *before;
    let all = workgroupUniformLoad(&counted);
    let count = all - *before;
    *before = all;
    return count;
}

// Finds the k-th element bit by bit: the greatest value with fewer than k elements below it.
fn search(e: ptr<function, Registers>, before: ptr<function, u32>) -> Element {
    var found = flipped(LAST_ELEMENT, 0xffffffffu);
    var sooner = 0u;
    for (var w = 0u; w < ELEMENT_WORDS; w++) {
        // The high word of a key is its last word; the payload follows the key.
        let k = select(w, KEY_WORDS - 1u - w, w < KEY_WORDS);
        for (var bit = 0x80000000u; bit > 0u; bit >>= 1u) {
            let tried = with_word(found, k, word(found, k) | bit);
            if count_less(e, tried, before, &sooner) < arguments.k {
                found = tried;
            }
        }
    }
    return found;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn top_of_tile(place: Place, @builtin(local_invocation_index) local: u32) {
    let number = workgroup_number(place);
    if local == 0u {
        atomicStore(&counted, 0u);
    }
    var e: Registers;
    load_tile_registers(&e, number, local);
    var limit = bound(&e, local);
    var before = 0u;
    var sooner = 0u;
    var count = count_less(&e, limit, &before, &sooner);
    if count > SLOTS {
        limit = search(&e, &before);
        count = count_less(&e, limit, &before, &sooner);
    }
    if number < arguments.tiles {
        let run = number << SLOTS_LOG2;
        var slot = sooner;
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            if less(e[r], limit) & (slot < SLOTS) {
                store_scratch(run + slot, e[r]);
                slot += 1u;
            }
        }
        // The slots from `count` to k get copies of the limit, which the missing elements equal.
        // The slots from k on get padding.
        for (var s = count + local; s < SLOTS; s += WORKGROUP_SIZE) {
            store_scratch(run + s, element_or_last(limit, s < arguments.k));
        }
    }
}
