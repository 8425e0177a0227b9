// Samples keys, and counts their pairs by the number of leading digits in common. Each workgroup sorts
// its own sample, so that keys with equal beginnings are neighbours. Each step of the sort ends with a
// barrier.

var<workgroup> sampled: array<Key, SAMPLED>;
var<workgroup> found: array<atomic<u32>, SAMPLE>;

// The number of preceding keys that a key is compared with. If more keys begin alike, the counted pairs
// suffice.
const COMPARED: u32 = 16u;

// C. Wellons' integer hash "lowbias32".
fn mixed(seed: u32) -> u32 {
    var x = seed;
    x = (x ^ (x >> 16u)) * 0x7feb352du;
    x = (x ^ (x >> 15u)) * 0x846ca68bu;
    return x ^ (x >> 16u);
}

// Returns the number of leading digits that two keys have in common.
fn digits_in_common(a: Key, b: Key) -> u32 {
    var leading = 0u;
    for (var w = 0u; w < KEY_WORDS; w++) {
        let differ = key_word(a, KEY_WORDS - 1u - w) ^ key_word(b, KEY_WORDS - 1u - w);
        leading += countLeadingZeros(differ);
        if differ != 0u {
            break;
        }
    }
    return leading / DIGIT_BITS;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sample(place: Place, @builtin(local_invocation_index) local: u32) {
    let number = workgroup_number(place);
    if number >= samples() || arguments.n == 0u {
        return;
    }
    for (var i = local; i < SAMPLE; i += WORKGROUP_SIZE) {
        atomicStore(&found[i], 0u);
    }
    workgroupBarrier();
    for (var i = local; i < SAMPLED; i += WORKGROUP_SIZE) {
        let key = key_of_element(read_key(mixed(mixed(number * SAMPLED + i) ^ arguments.chunk) % arguments.n));
        sampled[i] = key;
        for (var w = 0u; w < KEY_WORDS; w++) {
            atomicOr(&found[SAMPLED_BITS + 2u * w], key_word(key, w));
            atomicOr(&found[SAMPLED_BITS + 2u * w + 1u], ~key_word(key, w));
        }
    }
    workgroupBarrier();
    // A bitonic sort.
    for (var block = 2u; block <= SAMPLED; block *= 2u) {
        for (var stride = block / 2u; stride > 0u; stride /= 2u) {
            for (var pair = local; pair < SAMPLED / 2u; pair += WORKGROUP_SIZE) {
                let low = 2u * pair - (pair & (stride - 1u));
                let a = sampled[low];
                let b = sampled[low + stride];
                if key_less(b, a) == ((low & block) == 0u) {
                    sampled[low] = b;
                    sampled[low + stride] = a;
                }
            }
            workgroupBarrier();
        }
    }
    for (var i = local; i < SAMPLED; i += WORKGROUP_SIZE) {
        for (var before = 1u; before <= min(i, COMPARED); before++) {
            let alike = digits_in_common(sampled[i], sampled[i - before]);
            if alike == 0u {
                break;
            }
            atomicAdd(&found[alike], 1u);
        }
    }
    workgroupBarrier();
    for (var i = local; i < SAMPLE; i += WORKGROUP_SIZE) {
        key_samples[number * SAMPLE + i] = atomicLoad(&found[i]);
    }
}
