// Chooses the leading digits: the fewest that distinguish nearly all keys. One workgroup adds up the
// samples in workgroup memory; after a barrier its first invocation chooses.

var<workgroup> sums: array<atomic<u32>, SAMPLE>;

// The number of pairs of keys in a sample.
const PAIRS: f32 = f32(SAMPLED) * f32(SAMPLED - 1u) / 2.0;

// These constants precede this text: MATES (the maximum number of other keys with the same leading
// digits, on average), SPARED (the minimum number of passes to save), and FORCED (the number of
// digits, if given).
fn first_of_leading() -> u32 {
    if FORCED > 0u {
        return DIGITS - FORCED;
    }
    let vary = digits_of(vec2(
        atomicLoad(&sums[SAMPLED_BITS]) & atomicLoad(&sums[SAMPLED_BITS + 1u]),
        atomicLoad(&sums[SAMPLED_BITS + 2u]) & atomicLoad(&sums[SAMPLED_BITS + 3u]),
    ));
    var alike = atomicLoad(&sums[DIGITS]);
    var first = 0u;
    for (var digit = 0u; digit + 1u < DIGITS; digit++) {
        // `alike` pairs have these digits in common, and possibly further ones.
        if f32(alike) / (f32(samples()) * PAIRS) * f32(arguments.n) > f32(MATES) {
            break;
        }
        first = digit;
        alike += atomicLoad(&sums[DIGITS - 1u - digit]);
    }
    return select(0u, first, countOneBits(vary & ((1u << first) - 1u)) >= SPARED);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn choose(place: Place, @builtin(local_invocation_index) local: u32) {
    for (var i = local; i < SAMPLE; i += WORKGROUP_SIZE) {
        atomicStore(&sums[i], 0u);
    }
    workgroupBarrier();
    for (var number = local; number < samples(); number += WORKGROUP_SIZE) {
        for (var i = 0u; i < SAMPLED_BITS; i++) {
            let pairs = key_samples[number * SAMPLE + i];
            if pairs > 0u {
                atomicAdd(&sums[i], pairs);
            }
        }
        for (var i = SAMPLED_BITS; i < SAMPLE; i++) {
            atomicOr(&sums[i], key_samples[number * SAMPLE + i]);
        }
    }
    workgroupBarrier();
    if local == 0u && workgroup_number(place) == 0u {
        varying_bits[FROM] = first_of_leading();
        cuts[RUNS] = 0u;
    }
}
