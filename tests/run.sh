#!/bin/sh
# Runs all tests. The kernels' tests need a Vulkan device: where a Debian-like system has none, its
# software driver is installed first. The oracle for tables needs Python with pandas, which is put into target/oracle. At the
# end the command is run under signals and limits; some of that needs root, and says so.
set -eu
cd "$(dirname "$0")/.."

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
if [ -z "${GPUSORT_PYTHON:-}" ] && ! "$oracle" -c 'import pandas' 2>/dev/null; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || ! command -v apt-get >/dev/null || install python3-venv
    rm -rf target/oracle
    python3 -m venv target/oracle
    "$oracle" -m pip install --quiet --disable-pip-version-check -r tests/tables/requirements.txt
fi

# Without this, Mesa asks a display server for its preferred device and complains if there is none.
export NODEVICE_SELECT=1
cargo test --release "$@"
# Where only some tests are asked for, these are not.
if [ $# -eq 0 ]; then
    python3 tests/faults/run.py --self-test
    python3 tests/faults/run.py target/release/gpusort
fi
