#!/bin/sh
# Makes a container image of the Debian package in target/dist, with what that depends on and recommends in Debian 12, but for drivers of
# GPUs. Writes an archive that `podman load` and `docker load` read.
set -eu
cd "$(dirname "$0")/.."
. dist/common.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/root/tmp" "$folder/root/data"
chmod 1777 "$folder/root/tmp"
inside sh -euc 'rm -rf /var/tmp/packages; mkdir /var/tmp/packages; cd /var/tmp/packages
    apt-get update -qq; apt-get download -qq -o APT::Sandbox::User=root libc6 libvulkan1'
for package in "$bare"/var/tmp/packages/*.deb "$out/gpusort_$version-1_amd64.deb"; do
    dpkg -x "$package" "$folder/root"
done
# Documents of the libraries, and what a process without a shell has no use for; licences stay.
find "$folder/root/usr/share" -mindepth 1 -maxdepth 1 ! -name doc ! -name vulkan -exec rm -rf {} +
find "$folder/root/usr/share/doc" -type f ! -name copyright ! -name THIRD-PARTY.txt -delete
rm -rf "$folder/root/usr/lib/x86_64-linux-gnu/gconv" "$folder/root/usr/sbin" "$folder/root/sbin"
needs buildah xz-utils
$image bud --quiet --isolation chroot --timestamp "${SOURCE_DATE_EPOCH:-0}" --build-arg VERSION="$version" \
    --file dist/Containerfile --tag gpusort:latest "$folder/root" >/dev/null
archive=$out/gpusort-$version-container.tar
rm -f "$archive" "$archive.xz"
$image push --quiet gpusort:latest "docker-archive:$archive:gpusort:latest"
xz -9 "$archive"
