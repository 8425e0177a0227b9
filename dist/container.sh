#!/bin/sh
# Makes a container image of the Debian package: `sh dist/container.sh FOLDER VERSION`, where FOLDER has the package. What it depends
# on and recommends, but for drivers of GPUs, comes from this system's Debian. Writes an OCI archive.
set -eu
cd "$(dirname "$0")/.."
out=$1
version=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/packages" "$folder/root/tmp" "$folder/root/data"
chmod 1777 "$folder/root/tmp"
(cd "$folder/packages" && apt-get download -qq libc6 libgcc-s1 libvulkan1)
for package in "$folder"/packages/*.deb "$out/gpusort_$version-1_amd64.deb"; do
    dpkg -x "$package" "$folder/root"
done
# Documents of the libraries, and what a process without a shell has no use for; licences stay.
find "$folder/root/usr/share" -mindepth 1 -maxdepth 1 ! -name doc ! -name vulkan -exec rm -rf {} +
find "$folder/root/usr/share/doc" -type f ! -name copyright ! -name THIRD-PARTY.txt -delete
rm -rf "$folder/root/usr/lib/x86_64-linux-gnu/gconv" "$folder/root/usr/sbin" "$folder/root/sbin"
buildah --storage-driver vfs bud --quiet --isolation chroot --timestamp "${SOURCE_DATE_EPOCH:-0}" --build-arg VERSION="$version" \
    --file dist/Containerfile --tag "gpusort:$version" "$folder/root" >/dev/null
rm -f "$out/gpusort-$version-container.tar"
buildah --storage-driver vfs push --quiet "gpusort:$version" "oci-archive:$out/gpusort-$version-container.tar:gpusort:$version"
