#!/bin/sh
# Times gpusort, other wgpu sorts and, where there is nvcc, CUB on this machine's GPU, one after the other,
# and prints one table. Sizes may be given: sh benches/peers/run.sh 65536 1000000 16M
# All samples go to peers.csv, or where PEERS_CSV says.
set -eu
cd "$(dirname "$0")/../.."
csv="${PEERS_CSV:-peers.csv}"
[ $# -gt 0 ] || set -- 1024 65536 1000000 10000000 16M 64M
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cargo build --release --manifest-path benches/peers/Cargo.toml
echo "algorithm,type,n,median_ms,min_ms,samples_ms" > "$work/cub.csv"
if command -v nvcc > /dev/null; then
    nvcc -O3 -arch=native --extended-lambda -o "$work/cub_sort" benches/peers/cub_sort.cu
    plain="$(for size; do
        case "$size" in
            *K) echo $((${size%K} << 10)) ;;
            *M) echo $((${size%M} << 20)) ;;
            *G) echo $((${size%G} << 30)) ;;
            *) echo "$size" ;;
        esac
    done)"
    # shellcheck disable=SC2086 # sizes are words
    "$work/cub_sort" $plain > "$work/cub.csv"
fi
benches/peers/target/release/gpusort-peers --beside "$work/cub.csv" --csv "$csv" "$@"
