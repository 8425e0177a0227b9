#!/bin/sh
# Runs unit tests of the library under a sanitizer, and then a planted fault, which it must notice.
#
#   sh tests/sanitizers.sh address   memory faults of the sort on the CPU and of files
#   sh tests/sanitizers.sh thread    data races of the sort on the CPU. The standard library is compiled with the sanitizer, too: this needs
#                                    a nightly Rust with the component rust-src
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
address)
    features=files filter= fault=cpu::vector::tests::a_write_past_the_end expected='^WRITE of size' build=
    ;;
thread)
    export RUSTUP_TOOLCHAIN=nightly
    features= filter='cpu:: parallel::' fault=parallel::tests::a_race expected='WARNING: ThreadSanitizer: data race' build=-Zbuild-std
    ;;
*)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' tests/sanitizers.sh >&2
    exit 2
    ;;
esac
# The target is named, so that build scripts and macros are compiled without the sanitizer. Assertions that a release leaves out are on.
target=x86_64-unknown-linux-gnu
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=$1" CARGO_TARGET_DIR="$PWD/target/sanitizer" GPUSORT_TESTS=quick \
    CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OPT_LEVEL=1
run() {
    cargo test --quiet --release --locked --no-default-features --features "$features" --lib --package gpusort --target $target $build -- "$@"
}

run $filter
said=$CARGO_TARGET_DIR/said
if run --ignored --exact $fault >"$said" 2>&1 || ! grep -q "$expected" "$said"; then
    cat "$said" >&2
    echo "tests/sanitizers.sh: the planted fault is not noticed" >&2
    exit 1
fi
