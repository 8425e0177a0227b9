#!/bin/sh
# Checks that the adapters build with the releases in Cargo.lock. Bevy needs a newer Rust than gpusort: where
# this one is older, rustup fetches that.
set -eu
cd "$(dirname "$0")"
newer=1.97.1
cargo fmt --all --check
if [ "$(printf '%s\n' "$newer" "$(rustc --version | cut -d ' ' -f 2)" | sort -V | head -n 1)" = "$newer" ]; then
    cargo check --locked
elif rustup toolchain install "$newer" --profile minimal --no-self-update; then
    rustup run "$newer" cargo check --locked
else
    echo "Bevy's adapter is not checked: it needs Rust $newer, which could not be fetched" >&2
    cargo check --locked -p burn-adapter
fi
