// Reads integers from lines of text, and writes their keys in any order, since equal keys are identical.
//
//   window   halo │ tile 0 │ tile 1 │ …
//                    ◂── each line is read backwards from its end, so that a line may begin before its tile
//
// A workgroup reads the lines that end in its tile. An invocation finds the line ends among 16 bytes; after the first
// barrier, the list of line ends is complete, and an invocation reads every WORKGROUP_SIZEth line.

struct Arguments {
    // Bytes of text in the window, without the halo.
    bytes: u32,
    // The maximum number of keys.
    room: u32,
    // The largest integer.
    most_low: u32,
    most_high: u32,
    // 1 for types with negative integers.
    signed: u32,
    // The bits that differ between the integer and its key.
    flip_low: u32,
    flip_high: u32,
    // 1 if a carriage return may precede a line feed.
    returns: u32,
}

var<immediate> arguments: Arguments;

@group(0) @binding(0) var<storage, read> text: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> keys: array<u32>;
// The number of keys, and 1 if a line is not an integer in canonical form or there is no room for a key.
@group(0) @binding(2) var<storage, read_write> state: array<atomic<u32>>;

const LINE_FEED: u32 = 10u;
const CARRIAGE_RETURN: u32 = 13u;
const MINUS: u32 = 45u;
const ZERO: u32 = 48u;

// Sizes in words.
const TILE: u32 = 4u * WORKGROUP_SIZE;
const TILE_WITH_HALO: u32 = HALO + TILE;
// An integer and its line end have at least two bytes.
const MOST_LINES: u32 = 2u * TILE;

var<workgroup> words: array<u32, TILE_WITH_HALO>;
// The positions of line feeds in `words`, in bytes.
var<workgroup> ends: array<u32, MOST_LINES>;
var<workgroup> lines: atomic<u32>;
var<workgroup> first: u32;

// The highest bit of each byte that is a line feed.
fn line_feeds(word: u32) -> u32 {
    let other = word ^ (0x01010101u * LINE_FEED);
    return ~(((other & 0x7f7f7f7fu) + 0x7f7f7f7fu) | other | 0x7f7f7f7fu);
}

fn byte(at: u32) -> u32 {
    return (words[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu;
}

struct Digits {
    value: u32,
    count: u32,
}

// The digits before this byte, at most `most` and nine.
fn digits_before(end: u32, most: u32) -> Digits {
    var digits = Digits(0u, 0u);
    var power = 1u;
    while digits.count < most {
        let digit = byte(end - 1u - digits.count) - ZERO;
        if digit > 9u {
            break;
        }
        digits.value += digit * power;
        digits.count += 1u;
        power *= 10u;
    }
    return digits;
}

// Integers of 64 bits have their low word first.

fn sum(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + u32(low < a.x));
}

fn less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

// The 64-bit product, from 16-bit halves whose products fit a word.
fn product(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return vec2((low & 0xffffu) | (other << 16u), (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u));
}

const BILLION: u32 = 1000000000u;
// 10^18
const QUINTILLION: vec2<u32> = vec2(0xa7640000u, 0x0de0b6b3u);

@compute @workgroup_size(WORKGROUP_SIZE)
fn parse(place: Place, @builtin(local_invocation_index) local: u32) {
    let tile = workgroup_number(place);
    let sixteen = text[HALO / 4u + tile * WORKGROUP_SIZE + local];
    let begin = HALO + 4u * local;
    var found = 0u;
    for (var i = 0u; i < 4u; i += 1u) {
        words[begin + i] = sixteen[i];
        // Gathers the highest bits of the four bytes.
        found |= (((line_feeds(sixteen[i]) >> 7u) * 0x10204080u) >> 28u) << (4u * i);
    }
    if local < HALO / 4u {
        let before = text[tile * WORKGROUP_SIZE + local];
        for (var i = 0u; i < 4u; i += 1u) {
            words[4u * local + i] = before[i];
        }
    }
    if local == 0u {
        atomicStore(&lines, 0u);
    }
    let start = 4u * (tile * TILE + 4u * local);
    let there = min(arguments.bytes - min(start, arguments.bytes), 16u);
    found &= (1u << there) - 1u;
    workgroupBarrier();
    var line = atomicAdd(&lines, countOneBits(found));
    while found != 0u {
        if line < MOST_LINES {
            ends[line] = 4u * begin + firstTrailingBit(found);
        }
        line += 1u;
        found &= found - 1u;
    }
    workgroupBarrier();
    let all = atomicLoad(&lines);
    if local == 0u {
        first = atomicAdd(&state[0], all);
    }
    workgroupBarrier();
    var is_valid = all <= MOST_LINES;
    for (line = local; line < min(all, MOST_LINES); line += WORKGROUP_SIZE) {
        var end = ends[line];
        if arguments.returns == 1u && byte(end - 1u) == CARRIAGE_RETURN {
            end -= 1u;
        }
        let low = digits_before(end, 9u);
        var count = low.count;
        var value = vec2(low.value, 0u);
        if count == 9u {
            let middle = digits_before(end - count, 9u);
            count += middle.count;
            value = sum(value, product(middle.value, BILLION));
        }
        if WORDS == 2u && count == 18u {
            let high = digits_before(end - count, 2u);
            count += high.count;
            let more = sum(product(high.value, QUINTILLION.x), vec2(0u, high.value * QUINTILLION.y));
            value = sum(value, more);
            // 18 * 10^18 is less than 2^64.
            is_valid &= high.value <= 18u && !less(value, more);
        }
        let negative = u32(byte(end - count - 1u) == MINUS);
        let most = sum(vec2(arguments.most_low, arguments.most_high), vec2(negative, 0u));
        let is_padded = count > 1u && byte(end - count) == ZERO;
        is_valid &= count > 0u && !is_padded && !less(most, value);
        is_valid &= negative == 0u || (arguments.signed == 1u && any(value != vec2(0u)));
        is_valid &= byte(end - count - 1u - negative) == LINE_FEED;
        value = select(value, sum(~value, vec2(1u, 0u)), negative == 1u);
        let key = first + line;
        if key < arguments.room {
            keys[key * WORDS] = value.x ^ arguments.flip_low;
            if WORDS == 2u {
                keys[key * WORDS + 1u] = value.y ^ arguments.flip_high;
            }
        } else {
            is_valid = false;
        }
    }
    if !is_valid {
        atomicOr(&state[1], 1u);
    }
}
