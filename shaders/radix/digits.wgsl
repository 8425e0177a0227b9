// Included in kernels that count all digits in one reading, in workgroup memory.

var<workgroup> counted: array<atomic<u32>, COUNTERS>;

const BLOCK: u32 = WORKGROUP_SIZE * COUNTED_TOGETHER;

// The bits that are set in some key, and the bits that are clear in some key.
struct Bits {
    ones: Key,
    zeros: Key,
    // The lowest digit to count.
    first: u32,
}

fn count(element: Key, bits: ptr<function, Bits>) {
    let key = key_of_element(element);
    (*bits).ones |= key;
    (*bits).zeros |= ~key;
    // unroll
    for (var d = 0u; d < DIGITS; d++) {
        if is_counted(d, (*bits).first) {
            atomicAdd(&counted[d * RADIX + digit_of(key, d)], 1u);
        }
    }
}

// Counts a block from `begin` on, up to `end` at most.
fn count_block(begin: u32, end: u32, local: u32, bits: ptr<function, Bits>) {
    let first = begin + local;
    if end - begin >= BLOCK {
        var e: array<Key, COUNTED_TOGETHER>;
        // unroll
        for (var i = 0u; i < COUNTED_TOGETHER; i++) {
            e[i] = read_key(first + i * WORKGROUP_SIZE);
        }
        // unroll
        for (var i = 0u; i < COUNTED_TOGETHER; i++) {
            count(e[i], bits);
        }
    } else {
        for (var i = first; i < end; i += WORKGROUP_SIZE) {
            count(read_key(i), bits);
        }
    }
}

fn begin_counting(place: Place, local: u32) -> Bits {
    for (var i = local; i < COUNTERS; i += WORKGROUP_SIZE) {
        atomicStore(&counted[i], 0u);
    }
    begin_varying(local);
    prepare_status(place, local);
    workgroupBarrier();
    let none = key_flipped(LAST_KEY, 0xffffffffu);
    return Bits(none, none, first_digit());
}

fn end_counting(bits: Bits, local: u32, lane: Lane) {
    note_varying(bits.ones, bits.zeros, lane);
    workgroupBarrier();
    end_varying(local);
}

// Clears the status of tiles, and the numbers for workgroups to take.
fn prepare_status(place: Place, local: u32) {
    let invocations = place.grid.x * place.grid.y * WORKGROUP_SIZE;
    // The status of the first pass with work.
    for (var i = invocation_number(place, local); i < tiles_there() * RADIX; i += invocations) {
        atomicStore(&status[i], 0u);
    }
    // The next number for each pass.
    if invocation_number(place, local) < DIGITS {
        atomicStore(&status[2u * tiles_there() * RADIX + invocation_number(place, local)], 0u);
    }
}
