// What all kernels of the radix sort share; what it does and why is in `plan::radix`.

struct Arguments {
    // Elements.
    n: u32,
    // Tiles of them.
    tiles: u32,
    // Tiles in a chunk, and chunks; `onesweep` has none. Of `leading` the first is a number that
    // nobody can know before, from which follows where the sample is taken.
    chunk: u32,
    chunks: u32,
    // The digit of this pass, counted from the lowest; of a pass of `leading` its number.
    digit: u32,
    // Whether the first pass that runs writes iota as payload.
    iota: u32,
    // Whether the last pass that runs writes the payload alone.
    drops_keys: u32,
}

// Values of a digit.
const RADIX: u32 = 256u;

const DIGIT_BITS: u32 = 8u;

fn digit_of_word(word: u32, digit: u32) -> u32 {
    return (word >> ((digit & 3u) * DIGIT_BITS)) & digit_mask(digit);
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
    // Whether no earlier pass runs, and no later one.
    is_first: bool,
    is_last: bool,
    // Earlier passes that do more than copy.
    before: u32,
    // The digit by which elements are distributed.
    digit: u32,
    // Whether the payload is written as iota, not read.
    numbers: bool,
}

// Of bits, a word of them for each word of a key, the digits with any that count: a bit for each.
fn digits_of(bits: vec2<u32>) -> u32 {
    // A bit for each byte, gathered from the lowest bits of all bytes by a product.
    var bytes = that_count(bits);
    bytes |= bytes >> vec2(4u);
    bytes |= bytes >> vec2(2u);
    bytes |= bytes >> vec2(1u);
    bytes = ((bytes & vec2(0x01010101u)) * 0x01020408u) >> vec2(24u);
    return bytes.x | (bytes.y << 4u);
}

// From the digits with bits that are set in some keys and not in others: a pass for a digit without
// such bits has nothing to do. Two neighbouring ones of a word are left out, since the elements are
// then in the array where the plan has them; a single one copies. Where all are left out and the
// payload is to be written as iota, the last two copy nonetheless.
fn pass_of(vary: u32, iota: bool) -> Pass {
    let all = (1u << DIGITS) - 1u;
    // Of the neighbours that are the same, in each word the lowest two, and the next if they are
    // apart from those.
    let same = all & ~vary;
    let pairs = same & (same >> 1u) & 0x77u;
    var first = pairs & 0x11u;
    first |= pairs & 0x22u & ~(first << 1u);
    first |= pairs & 0x44u & ~(first << 1u);
    var left_out = first | (first << 1u);
    if left_out == all && iota {
        left_out >>= 2u;
    }
    let own = 1u << arguments.digit;
    let earlier = own - 1u;
    let later = all & ~(earlier | own);
    return Pass(
        (left_out & own) == 0u,
        (vary & own) == 0u,
        (left_out & earlier) == earlier,
        (left_out & later) == later,
        countOneBits(vary & earlier),
        arguments.digit,
        iota && (left_out & earlier) == earlier,
    );
}

// The key of what a pass reads: the first one reads elements.
fn key_of_read(read: Key, current: Pass) -> Key {
    if MAPS_KEYS == 1u && current.is_first {
        return key_of_element(read);
    }
    return read;
}

// What a pass writes of a key: the last one writes elements.
fn written_of_key(key: Key, current: Pass) -> Key {
    if MAPS_KEYS == 1u && current.is_last {
        return element_of_key(key);
    }
    return key;
}
