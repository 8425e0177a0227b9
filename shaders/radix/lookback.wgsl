// The numbers of elements of each digit in earlier tiles. Earlier tiles publish them (D. Merrill,
// M. Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016); if a tile stalls,
// this workgroup counts it (T. Smith, R. Levien, J. Owens, "Decoupled fallback", 2025).
//
// A tile publishes its counts, and later the sums up to its end, as soon as it has them. One word
// holds both the number and its kind, so the protocol needs no order of memory accesses.

const COUNTED: u32 = 0x40000000u;
const SUMMED: u32 = 0x80000000u;
const NUMBER: u32 = 0x3fffffffu;

// Returns the tile of a workgroup. If workgroups may start in any order, each takes the next number
// when it starts, so that all tiles before its own have started.
fn tile_number(place: Place, local: u32) -> u32 {
    if TAKES_NUMBERS == 0u {
        return workgroup_number(place);
    }
    if local == 0u {
        atomicStore(&shared_words[0], atomicAdd(&status[2u * tiles_there() * RADIX + arguments.digit], 1u));
    }
    return workgroupUniformLoad(&shared_words[0]);
}

// Returns the first word of a tile's status. Passes that rank alternate between two halves of the
// status, and each clears the half of the next pass.
fn status_row(current: Pass, row: u32) -> u32 {
    return ((current.before & 1u) * tiles_there() + row) * RADIX;
}

fn publish_counts(counts: ptr<function, array<u32, DIGITS_EACH>>, current: Pass, own: Own) {
    let next = (((current.before + 1u) & 1u) * tiles_there() + own.tile) * RADIX + own.digit;
    // unroll
    for (var d = 0u; d < DIGITS_EACH; d++) {
        if !current.is_last {
            atomicStore(&status[next + d], 0u);
        }
        let kind = select(COUNTED, SUMMED, own.tile == own.part.first_tile);
        if own.tile != STALLED_TILE {
            atomicStore(&status[status_row(current, own.tile) + own.digit + d], kind | (*counts)[d]);
        }
    }
}

// Counts a digit in a whole tile, instead of the tile's own workgroup. Other workgroups may do the
// same, with an equal result.
fn count_instead(tile: u32, digit: u32, current: Pass, part: Part) -> u32 {
    var count = 0u;
    let begin = begin_of_tile(tile, part);
    for (var first = begin; first < begin + TILE; first += COUNTED_INSTEAD) {
        // unroll
        for (var i = 0u; i < COUNTED_INSTEAD; i++) {
            let key = key_of_read(read_key(first + i), current);
            count += u32(digit_of(key, current.digit) == digit);
        }
    }
    return count;
}

// Returns the number of elements of a digit in earlier tiles. It reads ROWS words of status
// together, and polls the nearest one at most PATIENCE times before it counts that tile itself: the
// loop ends even if no other workgroup makes progress.
fn look_back(digit: u32, tile: u32, current: Pass, part: Part) -> u32 {
    var sum = 0u;
    let first = part.first_tile;
    var left = tile - first;
    while left > 0u {
        var found: array<u32, ROWS>;
        // unroll
        for (var r = 0u; r < ROWS; r++) {
            found[r] = atomicLoad(&status[status_row(current, first + max(left, r + 1u) - r - 1u) + digit]);
        }
        // A plain load may return a stale value from a cache.
        for (var patience = PATIENCE; found[0] == 0u && patience > 0u; patience--) {
            found[0] = atomicOr(&status[status_row(current, first + left - 1u) + digit], 0u);
        }
        if found[0] == 0u {
            let kind = select(COUNTED, SUMMED, left == 1u);
            found[0] = kind | count_instead(first + left - 1u, digit, current, part);
            atomicMax(&status[status_row(current, first + left - 1u) + digit], found[0]);
        }
        var goes_on = true;
        // unroll
        for (var r = 0u; r < ROWS; r++) {
            goes_on = goes_on && found[r] != 0u;
            if goes_on {
                sum += found[r] & NUMBER;
                left -= 1u;
                if found[r] >= SUMMED {
                    left = 0u;
                    goes_on = false;
                }
            }
        }
    }
    return sum;
}

fn add_earlier(
    earlier: ptr<function, array<u32, DIGITS_EACH>>,
    counts: ptr<function, array<u32, DIGITS_EACH>>,
    current: Pass,
    own: Own,
) {
    if own.digit < RADIX {
        // unroll
        for (var d = 0u; d < DIGITS_EACH; d++) {
            (*earlier)[d] = look_back(own.digit + d, own.tile, current, own.part);
            // The first tile's counts are its sums, and already published.
            if select(own.tile > own.part.first_tile, STALLED_LATE == 1u, own.tile == STALLED_TILE) {
                let sum = (*earlier)[d] + (*counts)[d];
                atomicStore(&status[status_row(current, own.tile) + own.digit + d], SUMMED | sum);
            }
        }
    }
}
