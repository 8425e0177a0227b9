// Windows: ranges of the array that workgroups sort after the passes by leading digits. Keys with
// equal prefixes lie in one window, unless they form a long run.

// The maximum number of elements in a window, and the distance between borders.
const WINDOW: u32 = WINDOW_INVOCATIONS * EACH;
const NOMINAL: u32 = WINDOW - MOST_PASSED;

// The maximum distance from a border to the beginning of its window, which is the beginning of a
// prefix.
const MOST_PASSED: u32 = WINDOW / 16u;

fn windows() -> u32 {
    return (arguments.n + NOMINAL - 1u) / NOMINAL;
}
