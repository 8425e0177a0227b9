// Windows: parts of the array in which workgroups finish what leading digits have begun. Keys with the
// same prefix are in one window, unless they are a long run.

// The most elements in a window, and from where one would begin to where the next one would.
const WINDOW: u32 = WINDOW_INVOCATIONS * EACH;
const NOMINAL: u32 = WINDOW - MOST_PASSED;

// A window begins where a prefix does: no further than this after where it would.
const MOST_PASSED: u32 = WINDOW / 16u;

fn windows() -> u32 {
    return (arguments.n + NOMINAL - 1u) / NOMINAL;
}
