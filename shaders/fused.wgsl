// Bitonic steps on tiles whose elements stay in registers, exchanged through workgroup memory when the
// next steps need other pairs in one invocation. One workgroup a tile of 2^TILE_LOG2 elements,
// 2^ELEMENTS_LOG2 of them in each invocation.
//
// Which elements an invocation holds is a layout, named by a number `low`: its registers are the bits
// low … low + ELEMENTS_LOG2 − 1 of an element's index in the tile, its number is the other bits:
//
//     index   ┌ invocation's high bits ┐┌ register ┐┌ invocation's low bits ┐
//     bit      TILE_LOG2 − 1         …  low + …  low  …                    0
//
// The high bits are in order but for layouts with low < 5, where the lowest five bits of an invocation's
// number, which tell the invocations apart that access workgroup memory together, are bits of the index
// that decide the bank: see `padded` and `first_index`.
//
// Steps whose strides are register bits need no exchange. In the layout of the highest bits,
// neighbouring invocations hold neighbouring elements, which is how tiles are loaded and stored.
//
// Tiles lie in the array in two ways. For `sort_tile`, `merge_tile` and `merge_halves` a tile is
// contiguous. For the other kernels its index is spread: the high `arguments.b` bits are the array index's bits from
// `arguments.a` on, the active ones, whose strides are the steps to be done; the low bits are the array
// index's low bits, so that memory is touched in runs.

alias Registers = array<Element, ELEMENTS>;

// A word of every element of a tile, with a gap after each 32, so that invocations whose elements are
// a power of two apart do not meet in one bank. All words at once would need fewer barriers, but the more
// memory a workgroup takes, the fewer share a core: that is slower.
var<workgroup> exchanged: array<u32, (1u << TILE_LOG2) + (1u << TILE_LOG2) / 32u>;

// Where the word of the element with this index is in `exchanged`. The sum over disjoint bits is the
// place of the index with all of them. Of the 32 banks, bits 0 to 4 of the index choose one, and so do
// bits 5 to 9, through the gaps.
fn padded(index: u32) -> u32 {
    return index + (index >> 5u);
}

// The index in the tile of an invocation's first element.
fn first_index(local: u32, low: u32) -> u32 {
    let low_bits = local & ((1u << low) - 1u);
    let high_bits = local >> low;
    if low == 0u || low >= 5u || ELEMENTS_LOG2 >= 5u || TILE_LOG2 < 10u {
        return low_bits | (high_bits << (low + ELEMENTS_LOG2));
    }
    // So that 32 neighbours' indices differ in bits 0 … low − 1 and low + 5 … 9, and their banks in all
    // bits, those bits of the index change places with the ones between the registers and them.
    let near = high_bits & ((1u << (5u - low)) - 1u);
    let next = (high_bits >> (5u - low)) & ((1u << (5u - ELEMENTS_LOG2)) - 1u);
    let far = high_bits >> (10u - low - ELEMENTS_LOG2);
    return low_bits | (next << (low + ELEMENTS_LOG2)) | (near << (low + 5u)) | (far << 10u);
}

// A dispatch may be for a part of the array that begins at tile `arguments.c`.
fn tile_number(place: Place) -> u32 {
    return arguments.c + workgroup_number(place);
}

fn load_or_last(i: u32) -> Element {
    var element = LAST_ELEMENT;
    if i < arguments.n {
        element = load(i);
    }
    return element;
}

fn store_inside(i: u32, element: Element) {
    if i < arguments.n {
        store(i, element);
    }
}

fn compare_exchange(e: ptr<function, Registers>, low: u32, high: u32) {
    let a = (*e)[low];
    let b = (*e)[high];
    (*e)[low] = lesser(a, b);
    (*e)[high] = greater(a, b);
}

// Compares each register with the one whose number has all bits flipped.
fn mirror_registers(e: ptr<function, Registers>) {
    // unroll
    for (var c = 0u; c < HALF; c++) {
        compare_exchange(e, c, ELEMENTS - 1u - c);
    }
}

// The steps whose strides are the register bits top − 1 … bottom.
fn merge_registers(e: ptr<function, Registers>, top: u32, bottom: u32) {
    // unroll
    for (var s = 0u; s < ELEMENTS_LOG2; s++) {
        if ELEMENTS_LOG2 - 1u - s < top && ELEMENTS_LOG2 - 1u - s >= bottom {
            // unroll
            for (var c = 0u; c < HALF; c++) {
                compare_exchange(
                    e,
                    ((c >> (ELEMENTS_LOG2 - 1u - s)) << (ELEMENTS_LOG2 - s)) | (c & ((HALF >> s) - 1u)),
                    ((c >> (ELEMENTS_LOG2 - 1u - s)) << (ELEMENTS_LOG2 - s)) | (c & ((HALF >> s) - 1u)) | (HALF >> s),
                );
            }
        }
    }
}

// Sorts the registers of each invocation.
fn sort_registers(e: ptr<function, Registers>) {
    // unroll
    for (var s = 0u; s < ELEMENTS_LOG2; s++) {
        // unroll
        for (var c = 0u; c < HALF; c++) {
            compare_exchange(
                e,
                ((c >> s) << (s + 1u)) + (c & ((1u << s) - 1u)),
                ((c >> s) << (s + 1u)) + (2u << s) - 1u - (c & ((1u << s) - 1u)),
            );
        }
        merge_registers(e, s, 0u);
    }
}

// Reverses the order of all elements of this invocation, if `reverse` is 1, by flipping all their bits.
fn reverse_registers(e: ptr<function, Registers>, reverse: u32) {
    let mask = 0u - reverse;
    // unroll
    for (var r = 0u; r < ELEMENTS; r++) {
        (*e)[r] = flipped((*e)[r], mask);
    }
}

// Moves all elements of the tile, a word at a time: from places that begin at `write_at` (or, for the
// upper half of the registers, `write_upper_at`) to places that begin at `read_at`.
fn exchange(
    e: ptr<function, Registers>,
    write_at: u32,
    write_upper_at: u32,
    write_low: u32,
    read_at: u32,
    read_low: u32,
) {
    // unroll
    for (var k = 0u; k < ELEMENT_WORDS; k++) {
        workgroupBarrier();
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            exchanged[select(write_at, write_upper_at, r >= HALF) + padded(r << write_low)] = word((*e)[r], k);
        }
        workgroupBarrier();
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            (*e)[r] = with_word((*e)[r], k, exchanged[read_at + padded(r << read_low)]);
        }
    }
}

fn change_layout(e: ptr<function, Registers>, local: u32, before: u32, after: u32) {
    let write_at = padded(first_index(local, before));
    exchange(e, write_at, write_at, before, padded(first_index(local, after)), after);
}

// The layouts for the steps of a stage: number l is for the bits from l * ELEMENTS_LOG2 on; the last
// one has its registers as high as the tile allows.
fn layout_low(l: u32) -> u32 {
    return min(l * ELEMENTS_LOG2, TILE_LOG2 - ELEMENTS_LOG2);
}

// The steps of strides 2^(bits − 1) … 1, from layout 0, or from the last layout if `loaded`, to layout
// 0. `bits` is larger than ELEMENTS_LOG2. If loaded, the upper half of the registers is that of the
// invocation with the bits `flip` of its number flipped.
fn merge_tile_bits(e: ptr<function, Registers>, local: u32, bits: u32, loaded: bool, flip: u32) {
    // unroll
    for (var d = 0u; d < UPPER_LAYOUTS; d++) {
        if bits > (UPPER_LAYOUTS - d) * ELEMENTS_LOG2 {
            if d == 1u && loaded {
                leave_last_layout(e, local, layout_low(UPPER_LAYOUTS - d), flip);
            } else if d > 0u && bits > (UPPER_LAYOUTS - d + 1u) * ELEMENTS_LOG2 {
                change_layout(e, local, layout_low(UPPER_LAYOUTS - d + 1u), layout_low(UPPER_LAYOUTS - d));
            } else if !loaded {
                change_layout(e, local, 0u, layout_low(UPPER_LAYOUTS - d));
            }
            let low = layout_low(UPPER_LAYOUTS - d);
            merge_registers(e, bits - low, (UPPER_LAYOUTS - d) * ELEMENTS_LOG2 - low);
        }
    }
    if UPPER_LAYOUTS == 1u && loaded {
        leave_last_layout(e, local, 0u, flip);
    } else {
        change_layout(e, local, layout_low(1u), 0u);
    }
    merge_registers(e, ELEMENTS_LOG2, 0u);
}

fn leave_last_layout(e: ptr<function, Registers>, local: u32, after: u32, flip: u32) {
    exchange(e, padded(local), padded(local ^ flip), LAST_LOW, padded(first_index(local, after)), after);
}

const LAST_LOW: u32 = TILE_LOG2 - ELEMENTS_LOG2;

fn load_contiguous(e: ptr<function, Registers>, tile: u32, local: u32) {
    let first = tile + local;
    if tile + (1u << TILE_LOG2) <= arguments.n {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            (*e)[r] = load(first + (r << LAST_LOW));
        }
    } else {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            (*e)[r] = load_or_last(first + (r << LAST_LOW));
        }
    }
}

fn store_contiguous(e: ptr<function, Registers>, tile: u32, local: u32) {
    change_layout(e, local, 0u, LAST_LOW);
    let first = tile + local;
    if tile + (1u << TILE_LOG2) <= arguments.n {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            store(first + (r << LAST_LOW), (*e)[r]);
        }
    } else {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            store_inside(first + (r << LAST_LOW), (*e)[r]);
        }
    }
}

// Inside a tile the order is kept alternating by reversing elements, not comparisons: before stage k,
// all elements whose index has bit k are reversed, so that every comparison is ascending and every pair
// of sorted blocks is bitonic. What the tile holds in the end is the same as by mirrored steps.
@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_tile(place: Place) {
    let local = place.local;
    let tile = tile_number(place) << TILE_LOG2;
    var e: Registers;
    // The tile's order is of no consequence yet: as loaded is as good as layout 0.
    load_contiguous(&e, tile, local);
    reverse_registers(&e, local & 1u);
    sort_registers(&e);
    for (var k = ELEMENTS_LOG2 + 1u; k <= TILE_LOG2; k++) {
        let now = local >> (k - 1u - ELEMENTS_LOG2);
        let next = select(now >> 1u, 0u, k == TILE_LOG2);
        reverse_registers(&e, (now ^ next) & 1u);
        merge_tile_bits(&e, local, k, false, 0u);
    }
    store_contiguous(&e, tile, local);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn merge_tile(place: Place) {
    let tile = tile_number(place) << TILE_LOG2;
    var e: Registers;
    load_contiguous(&e, tile, place.local);
    merge_tile_bits(&e, place.local, TILE_LOG2, true, 0u);
    store_contiguous(&e, tile, place.local);
}

var<workgroup> over: u32;

// arguments.a: where the first tile begins; arguments.b: the phase's number.
@compute @workgroup_size(WORKGROUP_SIZE)
fn merge_halves(place: Place) {
    // Asked once, so that a whole workgroup leaves or stays.
    if place.local == 0u {
        over = u32(is_over(arguments.b));
    }
    if workgroupUniformLoad(&over) != 0u {
        return;
    }
    let local = place.local;
    let flip = WORKGROUP_SIZE - 1u;
    let tile = arguments.a + (workgroup_number(place) << TILE_LOG2);
    var e: Registers;
    // unroll
    for (var r = 0u; r < ELEMENTS; r++) {
        e[r] = load_or_last(tile + select(local, local ^ flip, r >= HALF) + (r << LAST_LOW));
    }
    var swaps = false;
    // unroll
    for (var c = 0u; c < HALF; c++) {
        swaps = swaps || less(e[ELEMENTS - 1u - c], e[c]);
    }
    if swaps {
        note_swap(arguments.b);
    }
    mirror_registers(&e);
    merge_registers(&e, ELEMENTS_LOG2 - 1u, 0u);
    merge_tile_bits(&e, local, TILE_LOG2, true, flip);
    store_contiguous(&e, tile, local);
}

// Where a tile's index lies in the array, from the tile's own place.
fn spread(index: u32, passive: u32) -> u32 {
    return (index & ((1u << passive) - 1u)) | ((index >> passive) << arguments.a);
}

// The steps whose strides are the active bits, from the highest down; the first one mirrored, if
// `mirrored`. Then the upper half of the registers holds, and comes from, the places whose bits below
// the highest active one, the registers' own excepted, are flipped. `wide` is for more active bits than
// registers have.
fn strided_pass(place: Place, mirrored: bool, wide: bool) {
    let local = place.local;
    let steps = arguments.b;
    let passive = TILE_LOG2 - steps;
    let middle_mask = (1u << (arguments.a - passive)) - 1u;
    let number = tile_number(place);
    let block = (number >> (arguments.a - passive)) << (arguments.a + steps);
    let middle = (number & middle_mask) << passive;
    let flips = (middle_mask << passive) | spread(WORKGROUP_SIZE - 1u, passive);
    let lower = block | middle | spread(local, passive);
    let upper = select(lower, lower ^ flips, mirrored);

    let is_whole = block + (1u << (arguments.a + steps)) <= arguments.n;
    var e: Registers;
    if is_whole {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            e[r] = load(select(lower, upper, r >= HALF) + spread(r << LAST_LOW, passive));
        }
    } else {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            e[r] = load_or_last(select(lower, upper, r >= HALF) + spread(r << LAST_LOW, passive));
        }
    }
    let in_registers = min(steps, ELEMENTS_LOG2);
    if mirrored {
        mirror_registers(&e);
        merge_registers(&e, ELEMENTS_LOG2 - 1u, ELEMENTS_LOG2 - in_registers);
    } else {
        merge_registers(&e, ELEMENTS_LOG2, ELEMENTS_LOG2 - in_registers);
    }
    if !wide {
        if is_whole {
            // unroll
            for (var r = 0u; r < ELEMENTS; r++) {
                store(select(lower, upper, r >= HALF) + spread(r << LAST_LOW, passive), e[r]);
            }
        } else {
            // unroll
            for (var r = 0u; r < ELEMENTS; r++) {
                store_inside(select(lower, upper, r >= HALF) + spread(r << LAST_LOW, passive), e[r]);
            }
        }
        return;
    }
    let index = first_index(local, passive);
    let write_upper_at = padded(select(local, local ^ (WORKGROUP_SIZE - 1u), mirrored));
    exchange(&e, padded(local), write_upper_at, LAST_LOW, padded(index), passive);
    merge_registers(&e, steps - ELEMENTS_LOG2, 0u);
    let is_upper = mirrored && (index >> (TILE_LOG2 - 1u)) == 1u;
    let first = block | (middle ^ select(0u, middle_mask << passive, is_upper)) | spread(index, passive);
    if is_whole {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            store(first + (r << arguments.a), e[r]);
        }
    } else {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            store_inside(first + (r << arguments.a), e[r]);
        }
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn stride_tile(place: Place) {
    strided_pass(place, false, false);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn stride_tile_wide(place: Place) {
    strided_pass(place, false, true);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn mirror_tile(place: Place) {
    strided_pass(place, true, false);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn mirror_tile_wide(place: Place) {
    strided_pass(place, true, true);
}
