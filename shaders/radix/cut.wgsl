// Cuts the array into windows; each invocation handles one border between two windows. If a run of
// equal prefixes continues far past a border, the windows end before the run, and begin after it.

// Returns the first index from `begin` to `end` whose prefix is not less than this one, or for an
// upper bound greater than it.
fn bound(prefix: Key, begin: u32, end: u32, is_upper: bool, mask: Key, are_in_other: bool) -> u32 {
    var low = begin;
    var high = end;
    while low < high {
        let middle = low + (high - low) / 2u;
        let there = sorted_key(middle, are_in_other) & mask;
        if key_less(there, prefix) || (is_upper && !key_less(prefix, there)) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// Lists a run that exceeds a window.
fn note_run(begin: u32, end: u32) {
    let entry = 2u * (windows() + atomicAdd(&cuts[RUNS], 1u));
    atomicStore(&cuts[entry], begin);
    atomicStore(&cuts[entry + 1u], end);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn cut(place: Place, @builtin(local_invocation_index) local: u32) {
    let border = invocation_number(place, local) + 1u;
    let passes = chosen();
    if border >= windows() || !passes.finishes {
        return;
    }
    let are_in_other = (passes.passes & 1u) == 1u;
    let mask = prefix_mask();
    let at = border * NOMINAL;
    let stop = min(at + MOST_PASSED, arguments.n);
    let prefix = sorted_key(at - 1u, are_in_other) & mask;
    var end = at;
    while end < stop && all((sorted_key(end, are_in_other) & mask) == prefix) {
        end++;
    }
    var begin = end;
    if end == stop && stop < arguments.n {
        begin = bound(prefix, 0u, at, false, mask, are_in_other);
        end = bound(prefix, stop, arguments.n, true, mask, are_in_other);
        // Only the first border inside the run lists it.
        if end - begin > WINDOW && begin >= at - NOMINAL {
            note_run(begin, end);
        }
    }
    atomicStore(&cuts[2u * border], begin);
    atomicStore(&cuts[2u * border + 1u], end);
}
