// Distributes the elements of a tile by one digit; elements with equal digits keep their order. A
// tile has WORKGROUP_SIZE * ITEMS elements, ITEMS of them in the registers of each invocation.
//
// Barriers of the workgroup separate the uses of workgroup memory: counters while elements are
// ranked, then the beginnings of each digit and subgroup, then words of elements in their new
// order.

// The work of an invocation.
struct Own {
    // The tile, and the part that it divides.
    tile: u32,
    part: Part,
    // The number of elements of the tile.
    count: u32,
    // The invocation's first element in the array, and the distance from each of its elements to
    // the next. The elements of a subgroup are consecutive, lane by lane.
    first: u32,
    stride: u32,
    // The invocation's first digit. Digits are assigned to invocations in the order of subgroups
    // and lanes.
    digit: u32,
    // The invocation's first place in the ordered tile.
    place: u32,
}

fn load_keys(e: ptr<function, Keys>, current: Pass, own: Own) {
    if own.count == TILE {
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            (*e)[i] = read_key(own.first + i * own.stride);
        }
        if MAPS_KEYS == 1u && current.is_first {
            // unroll
            for (var i = 0u; i < ITEMS; i++) {
                (*e)[i] = key_of_element((*e)[i]);
            }
        }
    } else {
        // Past the end, keys that sort last.
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            let at = own.first + i * own.stride;
            let key = key_of_read(read_key(min(at, own.part.end - 1u)), current);
            (*e)[i] = select(LAST_KEY, key, at < own.part.end);
        }
    }
}

fn store_keys(e: ptr<function, Keys>, places: ptr<function, Words>, current: Pass, own: Own) {
    if MAPS_KEYS == 1u && current.is_last {
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            (*e)[i] = element_of_key((*e)[i]);
        }
    }
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        if own.place + i * WORKGROUP_SIZE < own.count {
            write_key((*places)[i], (*e)[i]);
        }
    }
}

fn scatter_tile(tile: u32, current: Pass, local: u32, subgroup: Subgroup) {
    let size = subgroup_size(subgroup);
    let part = part_of(tile, current.digit);
    let begin = begin_of_tile(tile, part);
    let own = Own(
        tile,
        part,
        min(part.end - begin, TILE),
        begin + number_of(subgroup) * size * ITEMS + lane_of(subgroup),
        size,
        (number_of(subgroup) * size + lane_of(subgroup)) * DIGITS_EACH,
        local,
    );
    if current.copies {
        for (var first = local; first < own.count; first += COPIED_TOGETHER * WORKGROUP_SIZE) {
            var copied: array<Key, COPIED_TOGETHER>;
            // unroll
            for (var i = 0u; i < COPIED_TOGETHER; i++) {
                copied[i] = read_key(begin + min(first + i * WORKGROUP_SIZE, own.count - 1u));
            }
            // unroll
            for (var i = 0u; i < COPIED_TOGETHER; i++) {
                let at = first + i * WORKGROUP_SIZE;
                if at < own.count {
                    write_key(begin + at, written_of_key(key_of_read(copied[i], current), current));
                    copy_payload(begin + at, current, part);
                }
            }
        }
        return;
    }
    var e: Keys;
    load_keys(&e, current, own);
    var payload: Payload;
    load_payload(&payload, current, own);

    clear_counters(local, subgroup, size);

    // The rank of each key among the keys with its digit in its subgroup.
    let counters = number_of(subgroup) * RADIX;
    let lanes = lanes_here();
    let lower = lanes_before(lane_of(subgroup));
    var ranks: Words;
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        ranks[i] = rank(i, digit_of(e[i], current.digit), counters, lanes, lower);
    }
    workgroupBarrier();

    // The count of each digit in the tile, and in the whole part.
    var counts: array<u32, DIGITS_EACH>;
    var totals: array<u32, DIGITS_EACH>;
    var own_sums = vec2(0u);
    if own.digit < RADIX {
        // unroll
        for (var d = 0u; d < DIGITS_EACH; d++) {
            var sum = 0u;
            // unroll
            for (var s = 0u; s < SUBGROUPS; s++) {
                sum += atomicLoad(&shared_words[s * RADIX + own.digit + d]);
            }
            counts[d] = sum;
            totals[d] = total_of(part, own.digit, d);
            own_sums += vec2(sum, totals[d]);
        }
        publish_counts(&counts, current, own);
    }
    var sums = sums_before(own_sums, subgroup, size);

    // The beginning of each digit and subgroup in the tile, and the beginning of each digit in the
    // array less its beginning in the tile.
    var offsets: array<u32, DIGITS_EACH>;
    if own.digit < RADIX {
        // unroll
        for (var d = 0u; d < DIGITS_EACH; d++) {
            offsets[d] = part.begin + sums.y - sums.x;
            var at = sums.x;
            // unroll
            for (var s = 0u; s < SUBGROUPS; s++) {
                let counter = s * RADIX + own.digit + d;
                let count = atomicLoad(&shared_words[counter]);
                atomicStore(&shared_words[counter], at);
                at += count;
            }
            sums += vec2(counts[d], totals[d]);
        }
    }
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        ranks[i] += atomicLoad(&shared_words[counters + digit_of(e[i], current.digit)]);
    }
    workgroupBarrier();

    // The words with the digit, in order. Meanwhile, earlier tiles may publish their counts.
    let word = current.digit >> 2u;
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        atomicStore(&shared_words[ranks[i]], key_word(e[i], word));
    }
    var earlier: array<u32, DIGITS_EACH>;
    add_earlier(&earlier, &counts, current, own);
    if own.digit < RADIX {
        // unroll
        for (var d = 0u; d < DIGITS_EACH; d++) {
            atomicStore(&shared_words[OFFSETS + own.digit + d], offsets[d] + earlier[d]);
        }
    }
    workgroupBarrier();
    var places: Words;
    var moved: Words;
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        let at = local + i * WORKGROUP_SIZE;
        moved[i] = atomicLoad(&shared_words[at]);
        places[i] = atomicLoad(&shared_words[OFFSETS + digit_of_word(moved[i], current.digit)]) + at;
    }
    if !(current.is_last && arguments.drops_keys == 1u) {
        move_keys(&e, &ranks, &moved, &places, current, own);
    }
    scatter_payload(&payload, own, &ranks, &places);
}
