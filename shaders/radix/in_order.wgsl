// What a workgroup puts in order: ITEMS elements in the registers of each invocation.

alias Keys = array<Key, ITEMS>;
alias Words = array<u32, ITEMS>;

// First the counters, RADIX for each subgroup; then, in their place, the elements by words. After both
// RADIX words more: sums while digits are added up, then where each digit's elements go.
var<workgroup> shared_words: array<atomic<u32>, SHARED>;

const OFFSETS: u32 = SHARED - RADIX;
