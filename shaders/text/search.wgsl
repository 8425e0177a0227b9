// Each invocation counts the sorted keys below one other key, by binary search.

struct Arguments {
    // The number of sorted keys.
    n: u32,
    // The number of other keys.
    count: u32,
}

var<immediate> arguments: Arguments;

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read> others: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn search(place: Place, @builtin(local_invocation_index) local: u32) {
    let i = invocation_number(place, local);
    if i >= arguments.count {
        return;
    }
    let other = others[i];
    var low = 0u;
    var high = arguments.n;
    while low < high {
        let middle = low + (high - low) / 2u;
        var key = vec2(keys[middle * WORDS], 0u);
        if WORDS == 2u {
            key.y = keys[middle * WORDS + 1u];
        }
        if key.y < other.y || (key.y == other.y && key.x < other.x) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    counts[i] = low;
}
