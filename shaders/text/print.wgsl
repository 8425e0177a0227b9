// Writes sorted integers as lines of text, into a window of the output.
//
// Sorted integers of one sign and one number of digits are neighbours, and their lines have one length: a segment.
// So the place of every line follows from its segment. The lines at both ends of a window may lie in it in part.
//
// A workgroup writes a tile of the window, which it gathers in its memory. An invocation prints every
// WORKGROUP_SIZEth line of the tile.

struct Arguments {
    // Bytes of text in the window.
    bytes: u32,
    // The number of segments in the window.
    segments: u32,
    // The bits that differ between an integer and its key.
    flip_low: u32,
    flip_high: u32,
}

var<immediate> arguments: Arguments;

struct Segment {
    // The number of the first line in the window.
    line: u32,
    // The place of this line: less than 0, as an i32, if it begins before the window.
    begin: i32,
    // The length of a line, with its line end.
    length: u32,
    // 1 for negative integers.
    negative: u32,
}

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read> segments: array<Segment>;
@group(0) @binding(2) var<storage, read_write> text: array<u32>;

const LINE_FEED: u32 = 10u;
const MINUS: u32 = 45u;
const ZERO: u32 = 48u;

// Words of a tile. Neighbouring lines share a word, so bytes are ORed atomically.
const TILE: u32 = 2048u;
const TILE_BYTES: i32 = 8192;
var<workgroup> words: array<atomic<u32>, TILE>;

struct Quotient {
    value: vec2<u32>,
    rest: u32,
}

// Divides by 10000 in steps of 16 bits, so that each dividend fits a word.
fn divided(value: vec2<u32>) -> Quotient {
    var rest = 0u;
    var halves = vec4(value.y >> 16u, value.y & 0xffffu, value.x >> 16u, value.x & 0xffffu);
    for (var i = 0u; i < 4u; i += 1u) {
        let dividend = (rest << 16u) | halves[i];
        halves[i] = dividend / 10000u;
        rest = dividend - halves[i] * 10000u;
    }
    return Quotient(vec2((halves[2] << 16u) | halves[3], (halves[0] << 16u) | halves[1]), rest);
}

// ORs bytes into a word of the tile. A word before the tile has a large unsigned number, so it is skipped, too.
fn put(at: i32, bytes: u32) {
    let word = u32(at >> 2u);
    if word < TILE {
        atomicOr(&words[word], bytes);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn print(place: Place, @builtin(local_invocation_index) local: u32) {
    let tile = workgroup_number(place);
    let start = i32(tile) * TILE_BYTES;
    let end = min(start + TILE_BYTES, i32(arguments.bytes));
    for (var i = local; i < TILE; i += WORKGROUP_SIZE) {
        atomicStore(&words[i], 0u);
    }
    workgroupBarrier();
    if start < end {
        var s = 0u;
        while s + 1u < arguments.segments && segments[s + 1u].begin <= start {
            s += 1u;
        }
        var segment = segments[s];
        var line = segment.line + u32(start - segment.begin) / segment.length + local;
        loop {
            while s + 1u < arguments.segments && segments[s + 1u].line <= line {
                s += 1u;
                segment = segments[s];
            }
            let begin = segment.begin + i32((line - segment.line) * segment.length);
            if begin >= end {
                break;
            }
            var value = vec2(keys[line * WORDS] ^ arguments.flip_low, 0u);
            if WORDS == 2u {
                value.y = keys[line * WORDS + 1u] ^ arguments.flip_high;
            }
            if segment.negative == 1u {
                value = ~value;
                value.x += 1u;
                value.y += u32(value.x == 0u);
            }
            // From the last byte to the first.
            var at = begin + i32(segment.length) - 1 - start;
            var bytes = LINE_FEED << (8u * u32(at & 3));
            let digits = segment.length - 1u - segment.negative;
            var rest = value.x;
            for (var i = 0u; i < digits; i += 1u) {
                if (at & 3) == 0 {
                    put(at, bytes);
                    bytes = 0u;
                }
                at -= 1;
                if WORDS == 2u && i % 4u == 0u {
                    let quotient = divided(value);
                    value = quotient.value;
                    rest = quotient.rest;
                }
                let others = rest / 10u;
                bytes |= (rest - others * 10u + ZERO) << (8u * u32(at & 3));
                rest = others;
            }
            if segment.negative == 1u {
                if (at & 3) == 0 {
                    put(at, bytes);
                    bytes = 0u;
                }
                at -= 1;
                bytes |= MINUS << (8u * u32(at & 3));
            }
            put(at, bytes);
            line += WORKGROUP_SIZE;
        }
    }
    workgroupBarrier();
    for (var i = local; i < TILE; i += WORKGROUP_SIZE) {
        if start + i32(4u * i) < end {
            text[tile * TILE + i] = atomicLoad(&words[i]);
        }
    }
}
