// Leaves a tile's best elements; what and why is in `plan::top`. One workgroup for each tile of
// 2^TILE_LOG2 elements, ELEMENTS of them in the registers of each invocation, in any order.

struct Arguments {
    // Elements.
    n: u32,
    // Tiles of them.
    tiles: u32,
    // The elements of a tile that must be kept.
    k: u32,
    // The rank that is taken in each subset, counted from 1.
    rank: u32,
}

alias Registers = array<Element, ELEMENTS>;

const SLOTS: u32 = 1u << SLOTS_LOG2;

// All that was counted since the kernel began.
var<workgroup> counted: atomic<u32>;

// Neighbouring invocations hold neighbouring elements.
fn load_tile_registers(e: ptr<function, Registers>, number: u32, local: u32) {
    let first = number << TILE_LOG2;
    let is_whole = number < arguments.tiles && arguments.n - first >= (1u << TILE_LOG2);
    if is_whole {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            (*e)[r] = load(first + r * WORKGROUP_SIZE + local);
        }
    } else {
        // Without a branch, so that all loads of an invocation are under way together.
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            (*e)[r] = element_or_last(
                load(min(first + r * WORKGROUP_SIZE + local, arguments.n - 1u)),
                r * WORKGROUP_SIZE + local < arguments.n - first,
            );
        }
    }
}

// Not less than the k-th element, and as close to it as a look at the least elements of groups
// tells. Groups and subsets are interleaved, so that where elements are in order each has its share
// of the first.
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
        // Of equal ones the first has the lower rank, so that each rank is one invocation's.
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

// How many elements of the tile are less than `limit`: the same number in all invocations. `before`
// is what was counted before, and then what is counted now; `sooner`, how many of the elements
// belong to invocations that were counted sooner than this one. The two are apart from each other
// so that a compiler sees which is the same for all.
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

// The k-th element, bit by bit: the greatest that less than k are less than.
fn search(e: ptr<function, Registers>, before: ptr<function, u32>) -> Element {
    var found = flipped(LAST_ELEMENT, 0xffffffffu);
    var sooner = 0u;
    for (var w = 0u; w < ELEMENT_WORDS; w++) {
        // The high word of a key is the last of its words; the payload comes after the key.
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
        // Below k there are as many that equal the limit as are missing, or none at all.
        for (var s = count + local; s < SLOTS; s += WORKGROUP_SIZE) {
            store_scratch(run + s, element_or_last(limit, s < arguments.k));
        }
    }
}
