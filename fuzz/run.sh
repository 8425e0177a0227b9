#!/bin/sh
# Fuzzes gpusort: builds the targets with the compiler that builds gpusort, tests that they notice what is wrong, and runs them.
#
#   sh fuzz/run.sh                               every target, a minute in all
#   sh fuzz/run.sh text 600                      one target for 600 seconds
#   sh fuzz/run.sh --executions 10000000 text    this many executions of a target, or of every one
#   sh fuzz/run.sh text FILE                     one input, such as one that was found to differ
#   sh fuzz/run.sh columns 600                   the same of Parquet and Arrow, which is built only for this
#   sh fuzz/run.sh --self-test                   only whether the targets notice what is wrong
#   sh fuzz/run.sh --shrink text                 the corpus in git made anew from all that was found, and as small as can be
#
# What is found is kept in target/corpus, and gone on from the next time; the corpus in git is where all begin. The C++
# compiler is for libFuzzer: a Debian-like system gets one if it has none.
set -eu
cd "$(dirname "$0")"

all='text csv json order binary npy costs slices compressed'
build=${CARGO_TARGET_DIR:-target}

fail() {
    echo "fuzz/run.sh: $*" >&2
    exit 2
}

self_test() {
    GPUSORT_FUZZ_CORPUS=corpus "$build/release/self-test" >"$build/self-test.log" 2>&1 || {
        cat "$build/self-test.log"
        echo "self-test: the comparisons do not notice what is wrong, or the corpus has a difference"
        return 1
    }
    echo "self-test: what is spoilt on purpose is noticed"
}

# Inputs are short, since what is to be found is in how bytes follow each other; a whole JSON or header needs some more.
most_bytes() {
    case $1 in
    costs) echo 1000 ;;
    npy) echo 300 ;;
    columns) echo 4000 ;;
    *) echo 240 ;;
    esac
}

# Seconds that an input may take: the parquet crate skips as many elements of a list as a damaged header claims, one by one.
most_seconds() {
    case $1 in
    columns) echo 300 ;;
    *) echo 10 ;;
    esac
}

# Runs a target with these limits of libFuzzer's; prints a line with the result.
fuzz() {
    target=$1
    shift
    mkdir -p "$build/corpus/$target" "$build/found"
    log=$build/$target.log
    begin=$(date +%s)
    failed=0
    "$build/release/$target" -max_len="$(most_bytes "$target")" -timeout="$(most_seconds "$target")" -rss_limit_mb=2048 -reload=0 \
        -dict="dictionaries/$target.dict" -artifact_prefix="$build/found/$target-" -print_final_stats=1 \
        "$@" "$build/corpus/$target" "corpus/$target" >"$log" 2>&1 || failed=$?
    seconds=$(($(date +%s) - begin))
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target: ${executions:-?} executions, $seconds s, $([ $failed -eq 0 ] && echo no || echo 1) crash or difference"
    if [ $failed -ne 0 ]; then
        sed -n '/panicked at/,/^note:\|^stack backtrace\|^==/p' "$log" | grep -v '^note:\|^stack backtrace\|^==' || tail -5 "$log"
        found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
        [ -z "$found" ] || echo "found: fuzz/$found
again: sh fuzz/run.sh $target fuzz/$found"
        return 1
    fi
}

# ---- what is asked -------------------------------------------------------------------------------

does=run
# A minute finds the same each time, where it gets as far.
limit='-max_total_time=8 -seed=1'
targets=
case ${1:-} in
--executions)
    [ $# -ge 2 ] || fail "--executions takes a number"
    limit=-runs=$2
    shift 2
    targets=$*
    ;;
--self-test) does=self-test ;;
--shrink)
    does=shrink
    shift
    targets=$*
    ;;
'') ;;
*)
    targets=$1
    if [ $# -gt 1 ]; then
        # Paths are relative to the caller's folder, or to the repository's.
        for file in "$OLDPWD/$2" "$2" "../$2"; do
            [ -f "$file" ] && does=file && break
        done
        if [ $does = run ]; then
            case $2 in
            *[!0-9]* | '') fail "$2 is neither a file nor a number of seconds" ;;
            esac
            limit=-max_total_time=$2
        fi
    fi
    ;;
esac
for target in $targets; do
    case " $all columns " in
    *" $target "*) ;;
    *) fail "no target $target; there are $all columns" ;;
    esac
done

# ---- the build -----------------------------------------------------------------------------------

if ! command -v "${CXX:-c++}" >/dev/null && ! command -v g++ >/dev/null; then
    command -v apt-get >/dev/null || fail "libFuzzer needs a C++ compiler: install g++ or clang++"
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    $sudo apt-get update -qq
    $sudo apt-get install -y -qq g++ >/dev/null
fi
mkdir -p "$build"
case " $targets " in
*" columns "*) features='--features columns' ;;
*) features= ;;
esac
# shellcheck disable=SC2086 # none, or two words
RUSTC_WRAPPER=$PWD/rustc.sh cargo build --quiet --release --locked $features

# ---- the runs ------------------------------------------------------------------------------------

export RUST_BACKTRACE=0
case $does in
self-test) self_test ;;
file) exec "$build/release/$targets" -timeout=10 -rss_limit_mb=2048 "$file" ;;
shrink)
    for target in ${targets:-$all}; do
        small=$build/small/$target
        rm -rf "$small"
        mkdir -p "$small" "$build/corpus/$target"
        # Which branches are taken is enough to begin with, and how often they are would make it many times as large.
        "$build/release/$target" -set_cover_merge=1 -use_counters=0 -max_len="$(most_bytes "$target")" -timeout=10 \
            "$small" "corpus/$target" "$build/corpus/$target" >"$build/$target.log" 2>&1
        # What differs is no beginning.
        for file in "$small"/*; do
            "$build/release/$target" "$file" >/dev/null 2>&1 || rm "$file"
        done
        rm -rf "corpus/$target" "$build/corpus/$target"
        mv "$small" "corpus/$target"
        echo "$target: $(find "corpus/$target" -type f | wc -l) inputs, $(cat "corpus/$target"/* | wc -c) bytes"
    done
    ;;
run)
    code=0
    self_test || code=1
    for target in ${targets:-$all}; do
        # shellcheck disable=SC2086 # several options
        fuzz "$target" $limit || code=1
    done
    exit $code
    ;;
esac
