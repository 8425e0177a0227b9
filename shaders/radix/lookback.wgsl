// How many elements of each digit are in earlier tiles: told by those tiles (D. Merrill, M. Garland, "Single-pass
// parallel prefix scan with decoupled look-back", 2016), or counted here where one keeps silent for long
// (T. Smith, R. Levien, J. Owens, "Decoupled fallback", 2025).
//
// A tile tells its counts as soon as it has them, and the sums up to its end once it knows them. A word has both the
// number and what it is, so that no order of memory accesses is needed.

const COUNTED: u32 = 0x40000000u;
const SUMMED: u32 = 0x80000000u;
const NUMBER: u32 = 0x3fffffffu;

// How often an invocation asks for the same row.
const PATIENCE: u32 = 64u;

// One more than the tile that keeps silent; 0 for none. Not where the sums are that are read before.
const SILENT: u32 = OFFSETS + RADIX - 1u;

fn begin_earlier(local: u32) {
    if local == 0u {
        atomicStore(&shared_words[SILENT], 0u);
    }
}

// Passes that rank use two parts in turn, and clear each other's.
fn status_row(current: Pass, row: u32) -> u32 {
    return ((current.before & 1u) * arguments.tiles + row) * RADIX;
}

fn tell_counts(counts: ptr<function, array<u32, DIGITS_EACH>>, current: Pass, own: Own) {
    let next = (((current.before + 1u) & 1u) * arguments.tiles + own.tile) * RADIX + own.digit;
    // unroll
    for (var d = 0u; d < DIGITS_EACH; d++) {
        if !current.is_last {
            atomicStore(&status[next + d], 0u);
        }
        let kind = select(COUNTED, SUMMED, own.tile == 0u);
        if own.tile != SILENT_TILE {
            atomicStore(&status[status_row(current, own.tile) + own.digit + d], kind | (*counts)[d]);
        }
    }
}

// Adds what earlier tiles tell, from where it was left off, until all of them are added or one is silent.
fn look_back(digit: u32, left: ptr<function, u32>, sum: ptr<function, u32>, current: Pass) -> bool {
    var patience = PATIENCE;
    while *left > 0u {
        var told: array<u32, ROWS>;
        // unroll
        for (var r = 0u; r < ROWS; r++) {
            told[r] = atomicLoad(&status[status_row(current, max(*left, r + 1u) - r - 1u) + digit]);
        }
        // A plain load may be answered by a cache that is not up to date.
        while told[0] == 0u && patience > 0u {
            patience -= 1u;
            told[0] = atomicOr(&status[status_row(current, *left - 1u) + digit], 0u);
        }
        if told[0] == 0u {
            return false;
        }
        var goes_on = true;
        // unroll
        for (var r = 0u; r < ROWS; r++) {
            goes_on = goes_on && told[r] != 0u;
            if goes_on {
                *sum += told[r] & NUMBER;
                *left -= 1u;
                if told[r] >= SUMMED {
                    *left = 0u;
                    goes_on = false;
                }
            }
        }
    }
    return true;
}

// Counts the digits of a whole tile in its place, and tells them. A number that is told twice is the same.
fn count_instead(tile: u32, current: Pass, local: u32) {
    for (var i = local; i < RADIX; i += WORKGROUP_SIZE) {
        atomicStore(&shared_words[OFFSETS + i], 0u);
    }
    workgroupBarrier();
    for (var i = tile * TILE + local; i < (tile + 1u) * TILE; i += WORKGROUP_SIZE) {
        atomicAdd(&shared_words[OFFSETS + digit_of(key_at(i, current), arguments.digit)], 1u);
    }
    workgroupBarrier();
    for (var i = local; i < RADIX; i += WORKGROUP_SIZE) {
        let kind = select(COUNTED, SUMMED, tile == 0u);
        atomicMax(&status[status_row(current, tile) + i], kind | atomicLoad(&shared_words[OFFSETS + i]));
    }
    workgroupBarrier();
    begin_earlier(local);
    workgroupBarrier();
}

fn add_earlier(
    earlier: ptr<function, array<u32, DIGITS_EACH>>,
    counts: ptr<function, array<u32, DIGITS_EACH>>,
    current: Pass,
    own: Own,
    local: u32,
) {
    var left: array<u32, DIGITS_EACH>;
    // unroll
    for (var d = 0u; d < DIGITS_EACH; d++) {
        left[d] = own.tile;
        (*earlier)[d] = 0u;
    }
    loop {
        if own.digit < RADIX {
            // unroll
            for (var d = 0u; d < DIGITS_EACH; d++) {
                var rows = left[d];
                var sum = (*earlier)[d];
                if !look_back(own.digit + d, &rows, &sum, current) {
                    atomicMax(&shared_words[SILENT], rows);
                }
                left[d] = rows;
                (*earlier)[d] = sum;
            }
        }
        let silent = workgroupUniformLoad(&shared_words[SILENT]);
        if silent == 0u {
            break;
        }
        count_instead(silent - 1u, current, local);
    }
    if own.digit < RADIX && select(own.tile > 0u, TELLS_LATE == 1u, own.tile == SILENT_TILE) {
        // unroll
        for (var d = 0u; d < DIGITS_EACH; d++) {
            let sum = (*earlier)[d] + (*counts)[d];
            atomicStore(&status[status_row(current, own.tile) + own.digit + d], SUMMED | sum);
        }
    }
}
