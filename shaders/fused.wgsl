// What the kernels on tiles have in common. A tile's elements stay in registers, and are exchanged
// through workgroup memory when the next steps need other pairs in one invocation. One workgroup a
// tile of 2^TILE_LOG2 elements, ELEMENTS = 2^ELEMENTS_LOG2 of them in each invocation.
//
// Which elements an invocation holds is a layout, named by a number `low`: its registers are the
// bits low … low + ELEMENTS_LOG2 − 1 of an element's index in the tile, its number is the other
// bits:
//
//     index   ┌ invocation's high bits ┐┌ register ┐┌ invocation's low bits ┐
//     bit      TILE_LOG2 − 1         …  low + …  low  …                    0
//
// The high bits are in order but for layouts with 0 < low < 5, where the lowest five bits of an
// invocation's number, which tell the invocations apart that access workgroup memory together, are
// bits of the index that decide the bank: see `padded` and `first_index`.
//
// Where a tile has several PARTS, its highest index bits are the registers' highest in every
// layout, and `low` places the other PART_LOG2 bits. Nothing but steps on those bits goes from one
// part to another, so workgroup memory need only hold one part at a time.
//
// Steps whose strides are register bits need no exchange. The layout of the highest bits is the
// same whatever the number of parts; only there are steps mirrored.

alias Registers = array<Element, ELEMENTS>;

const LAST_LOW: u32 = TILE_LOG2 - ELEMENTS_LOG2;

// A word of every element of a part, with a gap after each 32, so that invocations whose elements
// are a power of two apart do not meet in one bank. All words at once would need fewer barriers,
// but the more memory a workgroup takes, the fewer share a core: that is slower.
var<workgroup> exchanged: array<u32, (1u << TILE_LOG2) / PARTS + (1u << TILE_LOG2) / PARTS / 32u>;

// Where the word of the element with this index is in `exchanged`. The sum over disjoint bits is
// the place of the index with all of them. Of the 32 banks, bits 0 to 4 of the index choose one,
// and so do bits 5 to 9, through the gaps.
fn padded(index: u32) -> u32 {
    return index + (index >> 5u);
}

// The index in the tile of an invocation's first element.
fn first_index(local: u32, low: u32) -> u32 {
    let low_bits = local & ((1u << low) - 1u);
    let high_bits = local >> low;
    if low == 0u || low >= 5u || PART_LOG2 >= 5u || TILE_LOG2 < 10u + PARTS_LOG2 {
        return low_bits | (high_bits << (low + PART_LOG2));
    }
    // So that 32 neighbours' indices differ in bits 0 … low − 1 and low + 5 … 9, and their banks in
    // all bits, those bits of the index change places with the ones between the registers and them.
    let near = high_bits & ((1u << (5u - low)) - 1u);
    let next = (high_bits >> (5u - low)) & ((1u << (5u - min(PART_LOG2, 5u))) - 1u);
    let far = high_bits >> (10u - low - PART_LOG2);
    return low_bits | (next << (low + PART_LOG2)) | (near << (low + 5u)) | (far << 10u);
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

// From one layout to another, a word of a part's elements at a time. Where a layout is mirrored,
// the upper half of its registers holds the elements of the invocation with all bits of its number
// flipped.
fn change_layout(
    e: ptr<function, Registers>,
    local: u32,
    before: u32,
    is_mirrored_before: bool,
    after: u32,
    is_mirrored_after: bool,
) {
    let other = local ^ (WORKGROUP_SIZE - 1u);
    let write_at = padded(first_index(local, before));
    let write_upper_at = padded(first_index(select(local, other, is_mirrored_before), before));
    let read_at = padded(first_index(local, after));
    let read_upper_at = padded(first_index(select(local, other, is_mirrored_after), after));
    // unroll
    for (var k = 0u; k < ELEMENT_WORDS; k++) {
        // unroll
        for (var p = 0u; p < PARTS; p++) {
            workgroupBarrier();
            // unroll
            for (var r = 0u; r < PART; r++) {
                exchanged[select(write_at, write_upper_at, p * PART + r >= HALF) + padded(r << before)] =
                    word((*e)[p * PART + r], k);
            }
            workgroupBarrier();
            // unroll
            for (var r = 0u; r < PART; r++) {
                (*e)[p * PART + r] = with_word(
                    (*e)[p * PART + r],
                    k,
                    exchanged[select(read_at, read_upper_at, p * PART + r >= HALF) + padded(r << after)],
                );
            }
        }
    }
}
