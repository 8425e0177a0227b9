//! What the other tests need. The harness runs tests by name, so these come first and report at
//! once what is missing.

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
fn the_tier_is_known() {
    tier::is_quick();
}
