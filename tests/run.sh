#!/bin/sh
# Runs the tests.
#
#   sh tests/run.sh                     all of them, then the command under signals and limits; some of that needs root, and says so
#   sh tests/run.sh quick               without the tests in tests/slow.txt and the faults, and with fewer sizes and cases of some others
#   GPUSORT_TESTS=quick sh tests/run.sh the same, and the faults
#   sh tests/run.sh [quick] ARGUMENT... with arguments for `cargo test`, such as a part of tests' names; without the faults
#
# What they need is downloaded first, which takes a network: where a Debian-like system has no Vulkan device, Mesa's software driver by apt,
# which takes root or sudo; for the oracle of Parquet and Arrow, Python with pyarrow, DuckDB and Polars, in target/oracle.
set -eu
cd "$(dirname "$0")/.."

tier=all
if [ "${1:-}" = quick ]; then
    tier=quick
    export GPUSORT_TESTS=quick
    shift
fi

install() {
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    $sudo apt-get update -qq
    $sudo apt-get install -y -qq "$@" >/dev/null
}

if ! ls /usr/share/vulkan/icd.d/*.json /etc/vulkan/icd.d/*.json >/dev/null 2>&1 &&
    [ -z "${VK_DRIVER_FILES:-}" ] && command -v apt-get >/dev/null; then
    install mesa-vulkan-drivers
fi

oracle=target/oracle/bin/python
if [ -z "${GPUSORT_PYTHON:-}" ] && ! "$oracle" -c 'import duckdb, polars, pyarrow' 2>/dev/null; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || ! command -v apt-get >/dev/null || install python3-venv
    rm -rf target/oracle
    python3 -m venv target/oracle
    "$oracle" -m pip install --quiet --disable-pip-version-check -r tests/tables/requirements.txt
fi

# Without this, Mesa asks a display server for its preferred device and complains if there is none.
export NODEVICE_SELECT=1

skip=
if [ "${GPUSORT_TESTS:-}" = quick ]; then
    while read -r name; do
        skip="$skip --skip $name"
    done <tests/slow.txt
fi
# The names have neither blanks nor patterns.
# shellcheck disable=SC2086
case " $* " in
*" -- "*) cargo test --release --features arrow,distributed "$@" $skip ;;
*) cargo test --release --features arrow,distributed "$@" -- $skip ;;
esac
# Where only some tests are asked for, these are not.
if [ $tier = all ] && [ $# -eq 0 ]; then
    python3 tests/faults/run.py --self-test
    python3 tests/faults/run.py target/release/gpusort
fi
