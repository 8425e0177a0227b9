#!/bin/sh
# Runs the unit tests of the sort on the CPU as a program for ARM, which sorts by NEON, in QEMU: `sh tests/neon.sh`. Needs root, and
# Debian or its like; it shares its compiler with dist/build.sh.
set -eu
cd "$(dirname "$0")/.."
. dist/common.sh
export CARGO_TARGET_DIR="$root/target/neon" PATH="$tools/bin:$PATH"
# Assertions that a release leaves out are on.
export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true

python_tools
needs qemu-user-static libc6-arm64-cross libgcc-s1-arm64-cross
built=$CARGO_TARGET_DIR/$arm/release/deps
rm -f "$built"/gpusort_cpu-*
cross "$arm" cargo-zigbuild test --release --locked --lib --package gpusort-cpu --no-run --target "$arm"
tests=$(find "$built" -name 'gpusort_cpu-*' ! -name '*.*')
said=$CARGO_TARGET_DIR/said
status=0
qemu-aarch64-static -L /usr/aarch64-linux-gnu "$tests" >"$said" 2>&1 || status=$?
cat "$said"
grep -q '^test vector::.* ok$' "$said" || { say "no test of vectors was run" && exit 1; }
exit $status
