// Included in all kernels of the sort by leading digits; `plan::leading` explains the method.

// The word of `varying_bits` after the bits that vary: the lowest leading digit.
const FROM: u32 = 4u;

// The word of `cuts` with the number of long runs. The beginning and the end of each run follow after
// two words for each window.
const RUNS: u32 = 0u;

// The number of keys in a sample, which one workgroup takes.
const SAMPLED: u32 = 512u;

fn samples() -> u32 {
    return clamp(arguments.n >> 17u, 8u, 8192u);
}

// The words of a sample: for each number of digits, the pairs of keys with exactly this number of
// leading digits in common; then for each word of a key the bits that are set in some key, and the bits
// that are clear in some key.
const SAMPLE: u32 = 16u;
const SAMPLED_BITS: u32 = 10u;
