#!/bin/sh
# Stands before rustc (RUSTC_WRAPPER): the crates whose branches the fuzzer is to see are compiled with the counters that
# libFuzzer reads, all others as ever. It goes through every counter after every execution, so those of
# crates that are only linked would make it slow. The flags are those of cargo-fuzz with --sanitizer none.
rustc=$1
shift
crate=
previous=
for argument; do
    [ "$previous" = --crate-name ] && crate=$argument
    previous=$argument
done
sancov="--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
# The fuzzer tries the operands of comparisons in the library; those of the references would only repeat them.
compares=-Cllvm-args=-sanitizer-coverage-trace-compares
case $crate in
gpusort | gpusort_values | serde_json) exec "$rustc" "$@" $sancov $compares ;;
gpusort_fuzz) exec "$rustc" "$@" $sancov ;;
*) exec "$rustc" "$@" ;;
esac
