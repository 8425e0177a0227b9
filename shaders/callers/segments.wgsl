// Plans the sort of segments: lists short segments by classes of lengths, numbers the tiles of long
// segments, and writes the arguments of all passes. The first host parameter is the number of all
// elements.
//
// These constants precede this text: TILE (elements in a tile of the radix sort), DIGITS (of a
// key), LONGEST (the longest segment of any class), CLASSES, and FIRST_CLASS_LOG2 (the longest
// segment of the first class, as a power of two); for each class TILE_LOG2S (elements in a tile, as
// a power of two) and GROUPS (its group); GROUP_COUNT, and for each group GROUP_FIRSTS (its first
// class); BEGINS and EACH, the layout of the plan's words.

// Words of the plan: 1 if offsets are invalid, the number of long segments, the number of their
// tiles, and the number of segments of each class. From BEGINS on, EACH words for each long
// segment: its beginning, its end, and its first tile.
const IS_WRONG: u32 = 0u;
const LONG: u32 = 1u;
const TILES: u32 = 2u;
const LISTED: u32 = 3u;

@group(0) @binding(0) var<storage, read_write> plan: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> segment_list: array<u32>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read_write> payload: array<u32>;
@group(0) @binding(4) var<storage, read_write> segment_tiles: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> histograms: array<u32>;
@group(0) @binding(6) var<storage, read_write> varying_bits: array<u32>;
@group(0) @binding(7) var<storage, read_write> parameters: array<u32>;
@group(0) @binding(8) var<storage, read_write> segment_classes: array<vec4<u32>>;

const RADIX: u32 = 256u;

const WORKGROUP: u32 = 256u;

const NONE: u32 = 0xffffffffu;

fn class_of(length: u32) -> u32 {
    return max(firstLeadingBit(length - 1u) + 1u, FIRST_CLASS_LOG2) - FIRST_CLASS_LOG2;
}

// Returns the maximum number of segments of a class: each is longer than the segments of the class
// before.
fn most_listed(class_number: u32) -> u32 {
    let shorter = select(1u, 1u << (class_number + FIRST_CLASS_LOG2 - 1u), class_number > 0u);
    return host_number() / (shorter + 1u);
}

fn list_begin(class_number: u32) -> u32 {
    var begin = 0u;
    for (var c = 0u; c < class_number; c++) {
        begin += most_listed(c);
    }
    return begin;
}

fn tiles_of(length: u32) -> u32 {
    return (length + TILE - 1u) / TILE;
}

// Records a long segment, if there is room. Room is missing only if offsets are invalid.
fn note_long(number: u32, begin: u32, end: u32, first_tile: u32) {
    if number < host_number() / (LONGEST + 1u) {
        atomicStore(&plan[BEGINS + EACH * number], begin);
        atomicStore(&plan[BEGINS + EACH * number + 1u], end);
        atomicStore(&plan[BEGINS + EACH * number + 2u], first_tile);
    }
}

fn invocation_number(workgroup: vec3<u32>, grid: vec3<u32>, local: u32) -> u32 {
    return (workgroup.y * grid.x + workgroup.x) * WORKGROUP + local;
}

struct Segment {
    begin: u32,
    end: u32,
}

// Returns a segment by its offsets. If they are invalid, the plan records it, and the segment is
// empty.
fn segment_at(number: u32) -> Segment {
    let segment = Segment(offsets[host_byte_0 + number], offsets[host_byte_0 + number + 1u]);
    if segment.begin > segment.end || segment.end > host_number() {
        atomicStore(&plan[IS_WRONG], 1u);
        return Segment(0u, 0u);
    }
    return segment;
}

// Clears the first words of the plan.
@compute @workgroup_size(32)
fn begin(@builtin(local_invocation_index) local: u32) {
    atomicStore(&plan[local], 0u);
}

// For segments no longer than a row, sorted in the order of their offsets: one invocation checks
// each segment. Host parameters: the beginnings of offsets, keys and payload.
@compute @workgroup_size(WORKGROUP)
fn check(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let segment = invocation_number(workgroup, grid, local);
    let segments = arrayLength(&offsets) - host_byte_0 - 1u;
    if segment < segments {
        _ = segment_at(segment);
    }
    if segment == 0u {
        parameters[OFFSETS_SEGMENTS] = segments;
        parameters[OFFSETS_FIRST_OFFSET] = host_byte_0;
        parameters[OFFSETS_FIRST_KEY] = host_byte_1;
        parameters[OFFSETS_FIRST_PAYLOAD] = host_byte_2;
    }
}

var<workgroup> listed: array<atomic<u32>, CLASSES>;
var<workgroup> first_listed: array<u32, CLASSES>;

// One invocation for each segment. Host parameters: the beginnings of offsets and of payload, and 1
// if the payload is iota. The workgroup counts its segments of each class in `listed`; a barrier
// later, one invocation for each class reserves their places in the list with one atomic addition;
// after another barrier each invocation lists its segment.
@compute @workgroup_size(WORKGROUP)
fn classify(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if local < CLASSES {
        atomicStore(&listed[local], 0u);
    }
    workgroupBarrier();
    let segment = invocation_number(workgroup, grid, local);
    var own_class = NONE;
    var before = 0u;
    if segment + 1u < arrayLength(&offsets) - host_byte_0 {
        let own = segment_at(segment);
        let length = own.end - own.begin;
        if length > LONGEST {
            note_long(atomicAdd(&plan[LONG], 1u), own.begin, own.end, atomicAdd(&plan[TILES], tiles_of(length)));
        } else if length > 1u {
            own_class = class_of(length);
            before = atomicAdd(&listed[own_class], 1u);
        } else if length == 1u && host_byte_2 == 1u {
            payload[host_byte_1 + own.begin] = 0u;
        }
    }
    workgroupBarrier();
    if local < CLASSES {
        first_listed[local] = atomicAdd(&plan[LISTED + local], atomicLoad(&listed[local]));
    }
    workgroupBarrier();
    if own_class != NONE {
        let number = first_listed[own_class] + before;
        // Room is missing only if offsets are invalid.
        if number < most_listed(own_class) {
            segment_list[list_begin(own_class) + number] = segment;
        }
    }
}

// One invocation for each row of equal length; all rows are long. Host parameters: four bytes of
// the length, lowest first.
@compute @workgroup_size(WORKGROUP)
fn number_rows(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = invocation_number(workgroup, grid, local);
    let length = max(host_byte_0 | (host_byte_1 << 8u) | (host_byte_2 << 16u) | (host_byte_3 << 24u), 1u);
    let rows = host_number() / length;
    if row < rows {
        note_long(row, row * length, (row + 1u) * length, row * tiles_of(length));
    }
    if row == 0u {
        atomicStore(&plan[IS_WRONG], 0u);
        atomicStore(&plan[LONG], rows);
        atomicStore(&plan[TILES], rows * tiles_of(length));
        for (var c = 0u; c < CLASSES; c++) {
            atomicStore(&plan[LISTED + c], 0u);
        }
    }
}

// The workgroups take the long segments in rotation. Host parameters: the beginnings of offsets,
// keys and payload, and 1 if the payload is iota.
@compute @workgroup_size(WORKGROUP)
fn fill(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let own = workgroup.y * grid.x + workgroup.x;
    // Invalid offsets: nothing is sorted.
    let is_right = atomicLoad(&plan[IS_WRONG]) == 0u;
    let long = select(0u, atomicLoad(&plan[LONG]), is_right);
    for (var number = own; number < long; number += grid.x * grid.y) {
        let begin = atomicLoad(&plan[BEGINS + EACH * number]);
        let end = atomicLoad(&plan[BEGINS + EACH * number + 1u]);
        let first_tile = atomicLoad(&plan[BEGINS + EACH * number + 2u]);
        for (var tile = local; tile < tiles_of(end - begin); tile += WORKGROUP) {
            segment_tiles[first_tile + tile] = vec4(begin, end, first_tile, number);
        }
        for (var i = local; i < DIGITS * RADIX; i += WORKGROUP) {
            histograms[number * DIGITS * RADIX + i] = 0u;
        }
    }
    if own > 0u {
        return;
    }
    if local < 4u {
        varying_bits[local] = 0u;
    }
    if local < DIGITS {
        let slot = local * SLOT;
        parameters[slot + RADIX_N] = host_number();
        parameters[slot + RADIX_TILES] = select(0u, atomicLoad(&plan[TILES]), is_right);
        parameters[slot + RADIX_CHUNK] = 0u;
        parameters[slot + RADIX_CHUNKS] = 0u;
        parameters[slot + RADIX_DIGIT] = local;
        parameters[slot + RADIX_IOTA] = host_byte_3;
        parameters[slot + RADIX_DROPS_KEYS] = 0u;
    }
    if local < GROUP_COUNT {
        var tile_log2s = TILE_LOG2S;
        var group_firsts = GROUP_FIRSTS;
        var groups = GROUPS;
        var tiles = 0u;
        for (var c = group_firsts[local]; c < CLASSES && groups[c] == local; c++) {
            let listed_log2 = tile_log2s[c] - (c + FIRST_CLASS_LOG2);
            let segments = select(0u, atomicLoad(&plan[LISTED + c]), is_right);
            segment_classes[c] = vec4(tiles, segments, list_begin(c), 0u);
            tiles += (segments + (1u << listed_log2) - 1u) >> listed_log2;
        }
        let slot = (DIGITS + 3u + local) * SLOT;
        parameters[slot + LISTED_TILES] = tiles;
        parameters[slot + LISTED_FIRST_OFFSET] = host_byte_0;
        parameters[slot + LISTED_FIRST_KEY] = host_byte_1;
        parameters[slot + LISTED_FIRST_PAYLOAD] = host_byte_2;
    }
    if local == 0u {
        put_slices(DIGITS * SLOT, host_byte_1, host_byte_2);
    }
}
