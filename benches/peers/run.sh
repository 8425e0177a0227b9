#!/bin/sh
# Times gpusort, other wgpu sorts and, where there is nvcc, CUB on this machine's GPU, one after the other,
# and prints one table. Sizes may be given: sh benches/peers/run.sh 65536 1000000 16M
set -eu
cd "$(dirname "$0")/../.."
sizes="${*:-1024 65536 1000000 10000000 16M 64M}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cargo build --release --example measure
cargo build --release --manifest-path benches/peers/Cargo.toml
# shellcheck disable=SC2086 # sizes are words
benches/peers/target/release/gpusort-peers $sizes > "$work/beside.csv"
if command -v nvcc > /dev/null; then
    nvcc -O3 -arch=native --extended-lambda -o "$work/cub_sort" benches/peers/cub_sort.cu
    plain="$(tail -n +2 "$work/beside.csv" | cut -d , -f 3 | sort -nu)"
    # shellcheck disable=SC2086
    "$work/cub_sort" $plain | tail -n +2 | cut -d , -f 1-5 >> "$work/beside.csv"
fi
cat "$work/beside.csv"
target/release/examples/measure --beside "$work/beside.csv" --algo bitonic --variant fused \
    --types u32,u32+p --sizes "$(echo "$sizes" | tr ' ' ',')"
