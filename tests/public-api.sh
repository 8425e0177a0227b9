#!/bin/sh
# Compares the public interface of the library with docs/public-api.txt.
#
#   sh tests/public-api.sh          prints the differences, and fails if there are some
#   sh tests/public-api.sh write    writes the interface to the file
set -eu
# Cargo calls this script as rustdoc, whose JSON is an unstable option. The variable must not reach cargo: build scripts that read it
# would run again, and all crates be compiled anew.
[ -z "${PUBLIC_API_RUSTDOC:-}" ] || exec env RUSTC_BOOTSTRAP=1 rustdoc "$@"
cd "$(dirname "$0")/.."
. dist/common.sh
export PATH="$tools/bin:$PATH"
cargo_tool cargo-public-api@0.52.0
# The versions of the two must fit: this tool reads the JSON of this compiler.
case $(rustc --version) in "rustc 1.95."*) ;; *) export RUSTUP_TOOLCHAIN=1.95.0 ;; esac

file=docs/public-api.txt
# The crates that the package exports items of.
crates="base engine external files formats gpu order"
now=$(mktemp)

# The interface of a package; the arguments are for cargo.
interface() {
    RUSTDOC="$root/tests/public-api.sh" PUBLIC_API_RUSTDOC=1 cargo rustdoc --quiet --lib --package "$@" -- \
        -Z unstable-options --output-format json --cap-lints allow
    cargo public-api -sss --rustdoc-json "${CARGO_TARGET_DIR:-target}/doc/$(echo "$1" | tr - _).json"
}
grep '^# ' $file >"$now"
parts=$(mktemp -d)
trap 'rm -rf "$now" "$parts"' EXIT
interface gpusort --features arrow,distributed >"$parts/gpusort"
for crate in $crates; do
    interface "gpusort-$crate" --all-features >"$parts/$crate"
done
# shellcheck disable=SC2086
(cd "$parts" && python3 "$root/tests/public_api.py" gpusort $crates) >>"$now"
[ "${1:-}" != write ] || cat "$now" >$file
# A file that lacks a line differs.
! sed '$d' "$now" | cmp -s - "$now" || { say "differences are not noticed" && exit 1; }
diff -u $file "$now" || { say "the public interface has changed; if it is to, run: sh tests/public-api.sh write" && exit 1; }
