#!/bin/sh
# Builds what is released, from a clean checkout, into target/dist/:
#
#   sh dist/build.sh            everything
#   sh dist/build.sh linux deb  some of it, by the names in dist/common.sh
#
# It is made for Debian and its like on x86-64, as root, and installs what it needs: tools into target/tools. arm and windows take
# their standard library from rustup, or, where that lacks it, build it in a folder with Debian's Rust (some 2 GB).
set -eu
cd "$(dirname "$0")/.."
. dist/common.sh
# The oldest C library that it runs with.
glibc=2.28
linux=x86_64-unknown-linux-gnu
windows=x86_64-pc-windows-gnu

# The same sources and compiler make the same bytes: no times but the commit's, no paths of this machine.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
home=${CARGO_HOME:-$HOME/.cargo}
mapped="--remap-path-prefix=$root=. --remap-path-prefix=$home=/cargo"
export RUSTFLAGS="$mapped" CFLAGS="-ffile-prefix-map=$home=/cargo -g0" CARGO_PROFILE_RELEASE_STRIP=symbols
export CARGO_TARGET_DIR="$root/target/release-build" PATH="$tools/bin:$PATH"

# The command, by zig for a chosen C library.
build_linux() {
    python_tools
    cargo zigbuild --release --locked --features arrow --target "$linux.$glibc"
}

build_arm() {
    python_tools
    cross "$arm" cargo zigbuild --release --locked --features arrow --target "$arm.$glibc"
}

build_windows() {
    needs gcc-mingw-w64-x86-64-posix
    has_target "$windows" || needs_in_sid gcc-mingw-w64-x86-64-posix
    cross "$windows" cargo build --release --locked --features arrow --target "$windows"
}

# What belongs to the command, and archives of it: see archive.py.
archive() {
    command -v cargo-about >/dev/null || cargo_install cargo-about@0.9.3 --features cli
    python3 dist/archive.py "$@"
}

native=$CARGO_TARGET_DIR/$linux/release/gpusort

make_linux() {
    build_linux
    archive "$linux" "$native" "$out"
}

make_arm() {
    build_linux
    build_arm
    archive "$arm" "$CARGO_TARGET_DIR/$arm/release/gpusort" "$out" "$native"
}

make_windows() {
    build_linux
    build_windows
    archive "$windows" "$CARGO_TARGET_DIR/$windows/release/gpusort.exe" "$out" "$native"
}

make_wheels() {
    build_linux
    archive wheels "$native"
    for package in python python/cli; do
        (cd "$package" && maturin build --quiet --release --locked --zig --target "$linux" --compatibility manylinux_2_28 --out "$out")
    done
}

make_deb() {
    build_linux
    needs dpkg-dev
    command -v cargo-deb >/dev/null || cargo_install cargo-deb@3.8.0
    rm -rf "$CARGO_TARGET_DIR/deb"
    archive folder "$CARGO_TARGET_DIR/deb" "$native"
    gzip -9n "$CARGO_TARGET_DIR"/deb/man/man1/*
    gzip -9nc CHANGELOG.md >"$CARGO_TARGET_DIR/deb/changelog.gz"
    when=$(date -Ru -d "@$SOURCE_DATE_EPOCH")
    maintainer=$(sed -n 's/^maintainer = "\(.*\)"/\1/p' Cargo.toml)
    printf 'gpusort (%s-1) unstable; urgency=medium\n\n  * Release %s: see changelog.gz.\n\n -- %s  %s\n' \
        "$version" "$version" "$maintainer" "$when" >"$CARGO_TARGET_DIR/deb/changelog"
    cargo deb --quiet --no-build --no-strip --target "$linux" --output "$out/"
}

make_npm() {
    (cd npm && npm ci --no-audit --no-fund --silent && npm pack --silent --pack-destination "$out" >/dev/null)
}

make_crates() {
    # Does all that publishing does but the upload. That leaves no package files, so they are made after it.
    env -u RUSTFLAGS -u CFLAGS cargo publish --workspace --locked --dry-run
    cargo package --quiet --locked --no-verify
    cp "$CARGO_TARGET_DIR"/package/gpusort*-"$version".crate "$out/"
}

make_container() {
    [ -f "$out/gpusort_$version-1_amd64.deb" ] || make_deb
    sh dist/container.sh
}

make_formulas() {
    python3 dist/formulas.py "$out"
}

# A tool of cargo's, once.
cargo_install() {
    say "installing $*"
    env -u RUSTFLAGS -u CFLAGS CARGO_TARGET_DIR="$tools/target" cargo install --quiet --locked --root "$tools" "$@"
}

# Files of other versions must not be released.
[ $# -gt 0 ] || rm -rf "$out"
mkdir -p "$out"
for what in ${*:-$all}; do
    case " $all " in *" $what "*) ;; *) say "no such artefact: $what; there are: $all" && exit 2 ;; esac
    say "$what"
    "make_$what"
done
(cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
cat "$out/SHA256SUMS"
