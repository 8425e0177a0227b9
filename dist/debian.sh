#!/bin/sh
# A folder with a bare Debian: to build for targets whose standard library this Rust lacks, and to install what was built where
# nothing else is. Needs root.
#
#   sh dist/debian.sh DIR make SUITE [PACKAGE…]   makes it, unless it is there
#   sh dist/debian.sh DIR run COMMAND…            runs a command in it; the project is /project
set -eu
dir=$(realpath -m "$1")
action=$2
shift 2
cd "$(dirname "$0")/.."
. dist/common.sh
case $action in
make)
    [ ! -d "$dir" ] || exit 0
    suite=$1
    shift
    needs debootstrap
    # The mirror of this system.
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | sed -n 1p)
    # Under another name until it is whole. What is mounted for it ends with the namespace.
    rm -rf "$dir.partial"
    mkdir -p "$(dirname "$dir")"
    include=$(echo "ca-certificates $*" | tr ' ' ,)
    unshare --mount debootstrap --variant=minbase --include="$include" "$suite" "$dir.partial" "$mirror" >"$dir.log"
    mv "$dir.partial" "$dir"
    ;;
run)
    mkdir -p "$dir/project" "$dir/root/.cargo" "${CARGO_HOME:=$HOME/.cargo}"
    touch "$dir/etc/resolv.conf" "$dir/etc/hosts"
    export dir root CARGO_HOME
    # Crates are downloaded once, for this system and for that one.
    exec unshare --mount sh -euc '
        mount -t proc proc "$dir/proc"
        for path in /dev /etc/ssl/certs /etc/resolv.conf /etc/hosts; do mount --bind "$path" "$dir$path"; done
        mount --bind "$CARGO_HOME" "$dir/root/.cargo"
        mount --bind "$root" "$dir/project"
        unset CARGO_HOME
        exec chroot "$dir" env --chdir=/project HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt "$@"
    ' sh "$@"
    ;;
*)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' dist/debian.sh >&2
    exit 2
    ;;
esac
