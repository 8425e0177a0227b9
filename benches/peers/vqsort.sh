#!/bin/sh
# Builds Google's vqsort from the sources of Highway, which are in the folder given, as a library that the
# comparison of slices loads:
#
#   sh benches/peers/vqsort.sh highway libvqsort.so
#   VQSORT=$PWD/libvqsort.so cargo run --release --manifest-path benches/peers/Cargo.toml --bin slices
set -eu
highway="$1"
library="$2"
sort="$highway/hwy/contrib/sort"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cat > "$work/functions.cc" <<'END'
#include "hwy/contrib/sort/vqsort.h"
#include <cstddef>
#include <cstdint>
#define SORT(name, type) \
    extern "C" void vq_##name(type* first, size_t n) { hwy::VQSort(first, n, hwy::SortAscending()); }
SORT(u32, uint32_t)
SORT(f32, float)
SORT(u64, uint64_t)
SORT(f64, double)
END
c++ -O2 -std=c++17 -fPIC -shared -DHWY_SHARED_DEFINE -I"$highway" -o "$library" "$work/functions.cc" "$sort/vqsort.cc" \
    "$sort/vqsort_u32a.cc" "$sort/vqsort_f32a.cc" "$sort/vqsort_u64a.cc" "$sort/vqsort_f64a.cc" "$highway/hwy/abort.cc" \
    "$highway/hwy/aligned_allocator.cc" "$highway/hwy/per_target.cc" "$highway/hwy/print.cc" "$highway/hwy/targets.cc"
