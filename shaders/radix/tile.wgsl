// Sorts all elements in one workgroup, one digit after another, in registers and workgroup memory.
// Barriers separate the uses of workgroup memory: counters, then words of elements in their new
// order.

// The work of an invocation.
struct Own {
    // The number of its elements: the smallest for which the workgroup holds all.
    items: u32,
    // The first of its elements, and the distance from each to the next. The elements of a subgroup
    // are consecutive, lane by lane.
    first: u32,
    stride: u32,
}

// Moves words to the new places of their elements: the first barrier ends earlier reads of
// workgroup memory, the second one completes the writes.
fn move_words(words: ptr<function, Words>, ranks: ptr<function, Words>, own: Own) {
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        if i < own.items {
            atomicStore(&shared_words[(*ranks)[i]], (*words)[i]);
        }
    }
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        if i < own.items {
            (*words)[i] = atomicLoad(&shared_words[own.first + i * own.stride]);
        }
    }
}

fn move_key_words(e: ptr<function, Keys>, ranks: ptr<function, Words>, own: Own, k: u32) {
    var words: Words;
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        words[i] = key_word((*e)[i], k);
    }
    move_words(&words, ranks, own);
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        (*e)[i] = key_with_word((*e)[i], k, words[i]);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_in_tile(place: Place, @builtin(local_invocation_index) local: u32, subgroup: Subgroup) {
    let n = arguments.n;
    let size = subgroup_size(subgroup);
    let items = (n + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
    let own = Own(items, number_of(subgroup) * size * items + lane_of(subgroup), size);
    var e: Keys;
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        if i < items {
            // Past the end, keys that sort last.
            let at = own.first + i * size;
            let key = key_of_element(keys[own_key_at(min(at, n - 1u))]);
            e[i] = select(LAST_KEY, key, at < n);
        }
    }
    var payload: Payload;
    load_payload(&payload, own);

    let counters = number_of(subgroup) * RADIX;
    let lanes = lanes_here();
    let lower = lanes_before(lane_of(subgroup));
    let own_digit = (number_of(subgroup) * size + lane_of(subgroup)) * DIGITS_EACH;
    for (var digit = 0u; digit < DIGITS; digit++) {
        workgroupBarrier();
        clear_counters(local, subgroup, size);
        var ranks: Words;
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            if i < items {
                ranks[i] = rank(i, digit_of(e[i], digit), counters, lanes, lower);
            }
        }
        workgroupBarrier();
        // Replaces counts by the beginnings of each digit and subgroup.
        var count = 0u;
        if own_digit < RADIX {
            // unroll
            for (var d = 0u; d < DIGITS_EACH; d++) {
                // unroll
                for (var s = 0u; s < SUBGROUPS; s++) {
                    count += atomicLoad(&shared_words[s * RADIX + own_digit + d]);
                }
            }
        }
        var before = sums_before(vec2(count, 0u), subgroup, size).x;
        if own_digit < RADIX {
            // unroll
            for (var d = 0u; d < DIGITS_EACH; d++) {
                // unroll
                for (var s = 0u; s < SUBGROUPS; s++) {
                    let counter = s * RADIX + own_digit + d;
                    let here = atomicLoad(&shared_words[counter]);
                    atomicStore(&shared_words[counter], before);
                    before += here;
                }
            }
        }
        workgroupBarrier();
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            if i < items {
                ranks[i] += atomicLoad(&shared_words[counters + digit_of(e[i], digit)]);
            }
        }
        move_key_words(&e, &ranks, own, 0u);
        if KEY_WORDS == 2u {
            move_key_words(&e, &ranks, own, 1u);
        }
        move_payload(&payload, &ranks, own);
    }

    if arguments.drops_keys == 0u {
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            let at = own.first + i * size;
            if i < items && at < n {
                keys[own_key_at(at)] = element_of_key(e[i]);
            }
        }
    }
    store_payload(&payload, own);
}
