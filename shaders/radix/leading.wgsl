// What all kernels share that sort by leading digits; what they do and why is in `plan::leading`.

// Of `varying_bits`, after the bits that vary: the lowest of the leading digits.
const FROM: u32 = 4u;

// Of `cuts`: how many long runs there are. From twice as many words on as there are windows, where each
// of them begins and ends.
const RUNS: u32 = 0u;

// Workgroups that look at keys, and how many keys each looks at.
const SAMPLED: u32 = 512u;

fn samples() -> u32 {
    return clamp(arguments.n >> 17u, 8u, 8192u);
}

// A sample, as words: how many pairs of its keys have so many leading digits in common; then the bits
// that are set in some key, and those that are not set in some, of each word.
const SAMPLE: u32 = 16u;
const SAMPLED_BITS: u32 = 10u;
