// The elements that a workgroup orders: ITEMS elements in the registers of each invocation.

alias Keys = array<Key, ITEMS>;
alias Words = array<u32, ITEMS>;

// First the counters, RADIX for each subgroup; later the elements in the same place, one word at a
// time. RADIX further words follow: sums during additions of digits, then the places of each digit's
// elements.
var<workgroup> shared_words: array<atomic<u32>, SHARED>;

const OFFSETS: u32 = SHARED - RADIX;
