// Included in all kernels of the radix sort; `plan::radix` explains the method.

struct Arguments {
    // The number of elements.
    n: u32,
    // The number of tiles.
    tiles: u32,
    // The number of tiles in a chunk, and the number of chunks; unused by `onesweep`. For
    // `leading`, the first is an unpredictable number that places the sample.
    chunk: u32,
    chunks: u32,
    // The digit of this pass, counted from the lowest; for a pass of `leading`, the number of the
    // pass.
    digit: u32,
    // 1 if the first pass with work writes iota as payload.
    iota: u32,
    // 1 if the last pass with work writes the payload alone.
    drops_keys: u32,
}

// The number of values of a digit.
const RADIX: u32 = 256u;

const DIGIT_BITS: u32 = 8u;

fn digit_of_word(word: u32, digit: u32) -> u32 {
    return (word >> ((digit & 3u) * DIGIT_BITS)) & digit_mask(digit);
}

fn digit_of(key: Key, digit: u32) -> u32 {
    return digit_of_word(key_word(key, digit >> 2u), digit);
}

// The work of a pass.
struct Pass {
    // True if elements move from one array to the other.
    runs: bool,
    // True if each element keeps its place.
    copies: bool,
    // True if no earlier pass, or no later pass, moves elements.
    is_first: bool,
    is_last: bool,
    // The number of earlier passes that do more than copy.
    before: u32,
    // The digit that distributes elements.
    digit: u32,
    // True if the payload is written as iota instead of read.
    numbers: bool,
}

// Returns the digits with at least one of these significant bits, as one bit for each digit. `bits`
// has a word for each word of a key.
fn digits_of(bits: vec2<u32>) -> u32 {
    // One bit for each byte: a product gathers the lowest bits of all bytes.
    var bytes = that_count(bits);
    bytes |= bytes >> vec2(4u);
    bytes |= bytes >> vec2(2u);
    bytes |= bytes >> vec2(1u);
    bytes = ((bytes & vec2(0x01010101u)) * 0x01020408u) >> vec2(24u);
    return bytes.x | (bytes.y << 4u);
}

// Returns the work of a pass, from the digits with bits that vary between keys. A pass for a digit
// without such bits has no work. Two neighbouring passes without work in the same word are left
// out, since the elements are then in the array that the plan expects; a single pass without work
// copies. If all passes are left out and the payload must be written as iota, the last two copy
// nevertheless.
fn pass_of(vary: u32, iota: bool) -> Pass {
    let all = (1u << DIGITS) - 1u;
    // Of neighbouring digits without varying bits, the lowest pair of each word, and the next pair
    // if it is disjoint from the lowest.
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

// Returns the key of a value that a pass reads: the first pass reads elements.
fn key_of_read(read: Key, current: Pass) -> Key {
    if MAPS_KEYS == 1u && current.is_first {
        return key_of_element(read);
    }
    return read;
}

// Returns the value that a pass writes for a key: the last pass writes elements.
fn written_of_key(key: Key, current: Pass) -> Key {
    if MAPS_KEYS == 1u && current.is_last {
        return element_of_key(key);
    }
    return key;
}
