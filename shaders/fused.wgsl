// Included in the kernels that sort tiles in registers. A workgroup works on one tile of
// 2^TILE_LOG2 elements. Each invocation holds ELEMENTS = 2^ELEMENTS_LOG2 elements in registers. If
// the next steps need other pairs in one invocation, the workgroup exchanges elements through
// workgroup memory.
//
// A layout assigns elements to invocations, and has a number `low`. Bits low … low + ELEMENTS_LOG2
// − 1 of an element's index in the tile are the register's number. The other bits are the
// invocation's number:
//
//     index   ┌ invocation's high bits ┐┌ register ┐┌ invocation's low bits ┐
//     bit      TILE_LOG2 − 1         …  low + …  low  …                    0
//
// The invocation's high bits are in order, except in layouts with 0 < low < 5. There, the lowest
// five bits of an invocation's number, which distinguish the invocations that access workgroup
// memory together, map to the bits of the index that select the bank: see `padded` and
// `first_index`.
//
// If a tile has several PARTS, the highest bits of the index are the highest bits of the register's
// number in every layout, and `low` places the other PART_LOG2 bits. Only steps on the highest bits
// pair elements of different parts, so workgroup memory holds one part at a time.
//
// A step whose stride is a register bit needs no exchange. The layout of the highest bits does not
// depend on the number of parts, and only this layout has mirrored steps.

alias Registers = array<Element, ELEMENTS>;

const LAST_LOW: u32 = TILE_LOG2 - ELEMENTS_LOG2;

// One word of each element of a part, with a gap after each 32 words: invocations whose elements
// are a power of two apart then access different banks. Exchanging all words together would need
// fewer barriers. But the more memory a workgroup takes, the fewer workgroups share a core, which
// costs more.
var<workgroup> exchanged: array<u32, (1u << TILE_LOG2) / PARTS + (1u << TILE_LOG2) / PARTS / 32u>;

// Returns the place in `exchanged` of the word of the element with this index. For disjoint bits,
// the place of their union is the sum of their places. Bits 0 to 4 of the index select one of 32
// banks, as do bits 5 to 9 through the gaps.
fn padded(index: u32) -> u32 {
    return index + (index >> 5u);
}

// Returns the index in the tile of an invocation's first element.
fn first_index(local: u32, low: u32) -> u32 {
    let low_bits = local & ((1u << low) - 1u);
    let high_bits = local >> low;
    if low == 0u || low >= 5u || PART_LOG2 >= 5u || TILE_LOG2 < 10u + PARTS_LOG2 {
        return low_bits | (high_bits << (low + PART_LOG2));
    }
    // The indices of 32 neighbouring invocations must differ in bits 0 … low − 1 and low + 5 … 9,
    // so that their banks differ in all bits. Bits low + 5 … 9 therefore change places with the
    // bits between them and the register bits.
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

// Compares each register with the register whose number has all bits flipped.
fn mirror_registers(e: ptr<function, Registers>) {
    // unroll
    for (var c = 0u; c < HALF; c++) {
        compare_exchange(e, c, ELEMENTS - 1u - c);
    }
}

// Performs the steps whose strides are the register bits top − 1 … bottom.
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

// Changes the layout, one word of the elements of one part at a time. A barrier precedes the
// writes, since invocations may still be reading the previous words, and another one follows them.
// In a mirrored layout, the upper half of an invocation's registers holds elements of the
// invocation whose number has all bits flipped.
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
