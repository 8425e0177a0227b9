// What all kernels of the radix sort share; what it does and why is in src/plan/radix.rs.

struct Arguments {
    // Elements.
    n: u32,
    // Tiles of them.
    tiles: u32,
    // Tiles in a chunk, and chunks; `onesweep` has none.
    chunk: u32,
    chunks: u32,
    // The digit of this pass, counted from the lowest.
    digit: u32,
    // Whether the first pass that runs numbers the positions.
    numbers: u32,
    // Whether the last pass that runs writes positions alone.
    drops_keys: u32,
}

// Values of a digit.
const RADIX: u32 = 256u;

fn digit_of_word(word: u32, digit: u32) -> u32 {
    return (word >> ((digit & 3u) * 8u)) & (RADIX - 1u);
}

fn digit_of(key: Key, digit: u32) -> u32 {
    return digit_of_word(key_word(key, digit >> 2u), digit);
}

// What this pass does.
struct Pass {
    // Whether elements move from one array to the other.
    runs: bool,
    // Whether each keeps its place in doing so.
    copies: bool,
    // Whether they are in the other array than where the plan has them.
    swapped: bool,
    // Whether no earlier pass ran.
    is_first: bool,
    // Whether no later pass runs.
    is_last: bool,
    // Earlier passes that did more than copy.
    before: u32,
}

// From the bits that are set in some keys and not in others, a word of them for each word of a key: a pass for a digit
// without such bits has nothing to do. Two of those in turn are left out; an odd one copies, so that the
// elements end up in the array where the plan has them. Where all are left out and positions are to be
// numbered, two copy nonetheless.
fn pass_of(mixed: vec2<u32>) -> Pass {
    // A bit for each byte, gathered from the lowest bits of all bytes by a product.
    var bytes = mixed | (mixed >> vec2(4u));
    bytes |= bytes >> vec2(2u);
    bytes |= bytes >> vec2(1u);
    bytes = ((bytes & vec2(0x01010101u)) * 0x01020408u) >> vec2(24u);
    let vary = bytes.x | (bytes.y << 4u);
    var same = ((1u << DIGITS) - 1u) & ~vary;
    var left_out = same;
    if (countOneBits(same) & 1u) == 1u {
        left_out ^= 1u << firstLeadingBit(same);
    } else if arguments.numbers == 1u && countOneBits(same) == DIGITS {
        left_out >>= 2u;
    }
    let earlier = (1u << arguments.digit) - 1u;
    let is_left_out = ((left_out >> arguments.digit) & 1u) == 1u;
    let later_run = ((1u << DIGITS) - 1u) & ~left_out & ~(earlier * 2u + 1u);
    let left_out_before = countOneBits(left_out & earlier);
    return Pass(
        !is_left_out,
        ((same >> arguments.digit) & 1u) == 1u,
        (left_out_before & 1u) == 1u,
        arguments.digit == left_out_before,
        later_run == 0u,
        countOneBits(vary & earlier),
    );
}
