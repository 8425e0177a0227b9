// Sorts windows, each in one workgroup, in place or from the other array. Elements are nearly in
// order, with only neighbours out of order. Each invocation sorts EACH elements in registers. Then
// rounds alternately merge its second half with the first half of the next invocation, and its own
// two halves, until a round finds nothing out of order. In the rare case that ROUNDS rounds do not
// suffice, pairs of runs are merged instead.
//
// Merges of a round touch disjoint elements of workgroup memory; a barrier precedes each round.

alias Some = array<Element, EACH>;

const HALF: u32 = EACH / 2u;

// The maximum number of rounds before a merge of runs.
const ROUNDS: u32 = 12u;

// The words of a window, one word of all elements after another, with a gap after the words of each
// invocation: neighbouring invocations then access neighbouring banks.
const STRIDE: u32 = WINDOW + WINDOW / EACH;

var<workgroup> window_words: array<u32, ELEMENT_WORDS * STRIDE>;
var<workgroup> disorder: array<atomic<u32>, ROUNDS>;

fn put(i: u32, element: Element) {
    // unroll
    for (var k = 0u; k < ELEMENT_WORDS; k++) {
        window_words[k * STRIDE + i + i / EACH] = word(element, k);
    }
}

fn fetch(i: u32) -> Element {
    var element = LAST_ELEMENT;
    // unroll
    for (var k = 0u; k < ELEMENT_WORDS; k++) {
        element = with_word(element, k, window_words[k * STRIDE + i + i / EACH]);
    }
    return element;
}

fn fetch_some(e: ptr<function, Some>, first: u32) {
    // unroll
    for (var i = 0u; i < EACH; i++) {
        (*e)[i] = fetch(first + i);
    }
}

fn put_some(e: ptr<function, Some>, first: u32) {
    // unroll
    for (var i = 0u; i < EACH; i++) {
        put(first + i, (*e)[i]);
    }
}

fn exchange_some(e: ptr<function, Some>, low: u32, high: u32) {
    let a = (*e)[low];
    let b = (*e)[high];
    (*e)[low] = lesser(a, b);
    (*e)[high] = greater(a, b);
}

// A step of Batcher's odd-even merge sort, on blocks of 2 * run elements with sorted halves. It
// compares elements `stride` apart. In a block, the first step compares all elements of the first
// half; a later step leaves out the first `stride` elements, then alternately compares and leaves out
// `stride` elements.
fn merge_step(e: ptr<function, Some>, run: u32, stride: u32) {
    let first = select(stride, 0u, stride == run);
    // unroll
    for (var c = 0u; c < EACH; c++) {
        let high = min(c + stride, EACH - 1u);
        let is_lower = c >= first && ((c - first) / stride) % 2u == 0u;
        if is_lower && high == c + stride && c / (2u * run) == high / (2u * run) {
            exchange_some(e, c, high);
        }
    }
}

// Merges sorted halves.
fn merge_some(e: ptr<function, Some>) {
    merge_step(e, 4u, 4u);
    merge_step(e, 4u, 2u);
    merge_step(e, 4u, 1u);
}

fn sort_some(e: ptr<function, Some>) {
    merge_step(e, 1u, 1u);
    merge_step(e, 2u, 2u);
    merge_step(e, 2u, 1u);
    merge_some(e);
}

// Merges pairs of sorted runs until one run is left. Each invocation finds the beginning of its
// elements in both runs (O. Green, R. McColl, D. Bader, "GPU merge path", 2012). Each round has two
// barriers: one completes the runs, the other separates all reads from the writes of merged elements.
fn merge_runs(local: u32) {
    for (var run = HALF; run < WINDOW; run *= 2u) {
        workgroupBarrier();
        let first = local * EACH;
        let begin = first & ~(2u * run - 1u);
        let before = first - begin;
        var low = before - min(before, run);
        var high = min(before, run);
        while low < high {
            let middle = (low + high) / 2u;
            if less(fetch(begin + run + before - 1u - middle), fetch(begin + middle)) {
                high = middle;
            } else {
                low = middle + 1u;
            }
        }
        var left = low;
        var right = before - low;
        var e: Some;
        // unroll
        for (var i = 0u; i < EACH; i++) {
            let a = fetch(begin + min(left, run - 1u));
            let b = fetch(begin + run + min(right, run - 1u));
            let takes_left = right == run || (left < run && !less(b, a));
            e[i] = b;
            if takes_left {
                e[i] = a;
            }
            left += u32(takes_left);
            right += u32(!takes_left);
        }
        workgroupBarrier();
        put_some(&e, first);
    }
}

fn sort_window(local: u32) {
    var e: Some;
    fetch_some(&e, local * EACH);
    sort_some(&e);
    put_some(&e, local * EACH);
    for (var round = 0u; round < ROUNDS; round++) {
        workgroupBarrier();
        // Alternately the elements of two invocations, and of one invocation.
        let first = local * EACH + (1u - (round & 1u)) * HALF;
        if first + EACH <= WINDOW {
            if less(fetch(first + HALF), fetch(first + HALF - 1u)) {
                atomicStore(&disorder[round], 1u);
                fetch_some(&e, first);
                merge_some(&e);
                put_some(&e, first);
            }
        }
        if workgroupUniformLoad(&disorder[round]) == 0u {
            return;
        }
    }
    merge_runs(local);
}

// Loads a window, with padding after its end; sorts it; writes it. A barrier follows the loads, and
// another one precedes the writes.
fn finish_window(begin: u32, end: u32, local: u32, are_in_other: bool) {
    let count = end - begin;
    for (var i = local; i < ROUNDS; i += WORKGROUP_SIZE) {
        atomicStore(&disorder[i], 0u);
    }
    var loaded: array<Key, EACH>;
    if are_in_other {
        // unroll
        for (var i = 0u; i < EACH; i++) {
            loaded[i] = sorted_key(begin + min(local + i * WORKGROUP_SIZE, count - 1u), true);
        }
    } else {
        // unroll
        for (var i = 0u; i < EACH; i++) {
            loaded[i] = sorted_key(begin + min(local + i * WORKGROUP_SIZE, count - 1u), false);
        }
    }
    // unroll
    for (var i = 0u; i < EACH; i++) {
        let at = local + i * WORKGROUP_SIZE;
        put(at, element_or_last(element_of(loaded[i], at), at < count));
    }
    workgroupBarrier();
    sort_window(local);
    workgroupBarrier();
    if arguments.drops_keys == 0u {
        // unroll
        for (var i = 0u; i < EACH; i++) {
            let at = local + i * WORKGROUP_SIZE;
            if at < count {
                keys[own_key_at(begin + at)] = element_of_key(key_of(fetch(at)));
            }
        }
    }
    finish_payload(begin, count, local, are_in_other);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn finish(place: Place, @builtin(local_invocation_index) local: u32) {
    let number = workgroup_number(place);
    let count = windows();
    let passes = chosen();
    let are_in_other = (passes.passes & 1u) == 1u;
    let at = number * NOMINAL;
    if number >= count || !(passes.finishes || are_in_other) {
        return;
    }
    if !passes.finishes {
        for (var i = at + local; i < min(at + NOMINAL, arguments.n); i += WORKGROUP_SIZE) {
            keys[own_key_at(i)] = element_of_key(sorted_key(i, true));
            bring_payload_back(i);
        }
        return;
    }
    let begin = select(0u, cuts[2u * number + 1u], number > 0u);
    let end = select(arguments.n, cuts[2u * number + 2u], number + 1u < count);
    if begin < end {
        finish_window(begin, end, local, are_in_other);
    }
    // A run may lie between this window and the previous one; the first border inside the run sorts
    // it.
    let run = select(0u, cuts[2u * number], number > 0u);
    if run < begin && begin - run <= WINDOW && run + NOMINAL >= at {
        workgroupBarrier();
        finish_window(run, begin, local, are_in_other);
    }
}
