// Finds a digit of the last selected key. One workgroup; each invocation adds up EACH counts, and
// the invocation whose range of counts contains the wanted rank finds the digit.

const EACH: u32 = RADIX / WORKGROUP_SIZE;

var<workgroup> is_whole: u32;
var<workgroup> wanted: u32;
var<workgroup> sums: array<u32, WORKGROUP_SIZE>;

// Returns the sum over the invocations before this one. Two barriers in each step separate its
// writes from its reads.
fn sum_before(own: u32, local: u32) -> u32 {
    var sum = own;
    for (var distance = 1u; distance < WORKGROUP_SIZE; distance *= 2u) {
        sums[local] = sum;
        workgroupBarrier();
        if local >= distance {
            sum += sums[local - distance];
        }
        workgroupBarrier();
    }
    return sum - own;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn choose(place: Place, @builtin(local_invocation_index) local: u32) {
    if workgroup_number(place) > 0u {
        return;
    }
    if local == 0u {
        is_whole = chosen[IS_WHOLE];
        wanted = chosen[WANTED];
    }
    if workgroupUniformLoad(&is_whole) == 1u {
        return;
    }
    var own = 0u;
    for (var digit = local * EACH; digit < (local + 1u) * EACH; digit++) {
        own += digit_counts[digit];
    }
    let before = sum_before(own, local);
    if before < wanted && wanted <= before + own {
        var left = wanted - before;
        var digit = local * EACH;
        while digit_counts[digit] < left {
            left -= digit_counts[digit];
            digit++;
        }
        chosen[WANTED] = left;
        var bits = digit << arguments.shift;
        // The selection includes all keys with this digit: the last selected key may be taken as
        // the greatest possible one.
        if digit_counts[digit] == left {
            chosen[IS_WHOLE] = 1u;
            bits |= (1u << arguments.shift) - 1u;
            for (var w = 0u; w < arguments.word; w++) {
                chosen[w] = 0xffffffffu;
            }
        }
        chosen[arguments.word] |= bits;
    }
    // Cleared for the next digit.
    for (var digit = local * EACH; digit < (local + 1u) * EACH; digit++) {
        digit_counts[digit] = 0u;
    }
}
