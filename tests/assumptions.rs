//! What the other tests need. The first by name, so that these run first, and a lack is told of at once.

use crate::support::{device, python, tier};

#[test]
fn there_is_an_adapter() {
    device::gpu();
}

#[test]
fn there_is_python_with_pandas() {
    python::ensure();
}

#[test]
fn the_tier_is_one_that_there_is() {
    tier::is_quick();
}
