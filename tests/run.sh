#!/bin/sh
# Runs all tests. The kernels' tests need a Vulkan device: where a Debian-like system has none, its
# software driver is installed first.
set -eu
cd "$(dirname "$0")/.."

if ! ls /usr/share/vulkan/icd.d/*.json /etc/vulkan/icd.d/*.json >/dev/null 2>&1 &&
    [ -z "${VK_DRIVER_FILES:-}" ] && command -v apt-get >/dev/null; then
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    $sudo apt-get update -qq
    $sudo apt-get install -y -qq mesa-vulkan-drivers >/dev/null
fi

# Without this, Mesa asks a display server for its preferred device and complains if there is none.
export NODEVICE_SELECT=1
cargo test --release "$@"
