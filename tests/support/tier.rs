//! Two tiers of tests: all, and those of `sh tests/run.sh quick`. The quick tier leaves out the
//! tests that `tests/slow.txt` lists, and sets `GPUSORT_TESTS=quick`, for which some others take
//! fewer sizes or cases. `GPUSORT_TEST_SEED=NUMBER` draws other random cases.

use std::sync::OnceLock;

/// Whether this is the quick tier.
pub fn is_quick() -> bool {
    static QUICK: OnceLock<bool> = OnceLock::new();
    *QUICK.get_or_init(|| match std::env::var("GPUSORT_TESTS").as_deref() {
        Ok("quick") => true,
        Ok("") | Err(_) => false,
        Ok(other) => panic!("GPUSORT_TESTS={other}: it is 'quick' or not set"),
    })
}

/// A count of the full tier, lowered in the quick one; never to none.
pub fn count(all: usize, quick: usize) -> usize {
    assert!(0 < quick && quick < all);
    if is_quick() { quick } else { all }
}

/// Where random cases begin that may be others the next time.
pub fn seed() -> u64 {
    std::env::var("GPUSORT_TEST_SEED")
        .map_or(2026, |seed| seed.parse().expect("GPUSORT_TEST_SEED is a number"))
}
