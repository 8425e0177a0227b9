#!/bin/sh
# Runs the unit tests of the crates that use memory by pointers under a sanitizer, which must also notice a planted fault:
#
#   sh tests/sanitizers.sh address   memory faults, by AddressSanitizer
set -eu
cd "$(dirname "$0")/.."
if [ "$*" != address ]; then
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' tests/sanitizers.sh >&2
    exit 2
fi
# The target is named, so that build scripts and macros are compiled without the sanitizer. Assertions that a release leaves out are on.
target=x86_64-unknown-linux-gnu
# Leaks are no memory faults: a map leaks the rest of its parts if one of them panics, and a test does that.
export ASAN_OPTIONS=detect_leaks=0
export RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR="$PWD/target/sanitizer" GPUSORT_TESTS=quick \
    CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OPT_LEVEL=1
run() {
    cargo test --quiet --release --locked --lib --package gpusort-base --package gpusort-cpu --target $target -- "$@"
}

run
said=$CARGO_TARGET_DIR/said
if run --ignored --exact vector::tests::a_write_past_the_end >"$said" 2>&1 || ! grep -q '^WRITE of size' "$said"; then
    cat "$said" >&2
    echo "tests/sanitizers.sh: the planted fault is not noticed" >&2
    exit 1
fi
