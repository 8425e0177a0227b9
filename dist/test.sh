#!/bin/sh
# Installs and runs each artefact of target/dist/ where nothing else of gpusort's is, and removes it again:
#
#   sh dist/test.sh             all of them
#   sh dist/test.sh linux deb   some of them, by the names in dist/common.sh
#
# Needs root, and Debian or its like; it installs what it needs, and makes a bare Debian (some 300 MB) in target/debian-bare. What runs
# on a GPU, on macOS or on real Windows is not tested here.
set -eu
cd "$(dirname "$0")/.."
. dist/common.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*" >&2 && exit 1; }
ok() { echo "ok: $*"; }

check_bare() {
    inside true
    ! inside sh -c 'command -v cargo || command -v gpusort' || fail "the bare Debian is not bare"
}

# The README's first example, a table, binary by a pipe, a file beyond memory, an error: "$@" is the command, run in the project.
examples() {
    "$@" sort -q fixtures/elevations.txt | cmp - fixtures/elevations.sorted.txt || fail "$1: the first example"
    [ "$("$@" sort -q -k price -k id:r fixtures/sales.csv | sed -n 2p)" = 6,pen,1.2 ] || fail "$1: a table"
    "$@" gen --count 300K -t u32 --to bin | "$@" sort -q --memory 64M -f bin -t u32 | "$@" check -q -f bin -t u32 || fail "$1: a pipe"
    "$@" sort -q fixtures/cities.parquet -k city --to csv | "$@" check -q -f csv -k city || fail "$1: Parquet"
    if "$@" sort -q missing.txt 2>"$work/error"; then fail "$1: a missing file"; fi
    grep -q 'missing.txt' "$work/error" || fail "$1: $(cat "$work/error")"
    [ "$("$@" --version | sed -n 1p)" = "gpusort $version" ] || fail "$1: $("$@" --version)"
}

# Nothing newer than this C library is asked for.
check_glibc() {
    newest=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
    [ "$(printf '%s\nGLIBC_2.28\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.28 ] || fail "$1 needs $newest"
}

unpacked() {
    tar xJf "$out/gpusort-$version-$1.tar.xz" -C "$work"
    folder=$work/gpusort-$version-$1
    for file in README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE THIRD-PARTY.txt completions/gpusort completions/_gpusort \
        completions/gpusort.fish man/man1/gpusort.1 man/man1/gpusort-sort.1; do
        [ -s "$folder/$file" ] || fail "$1 lacks $file"
    done
    bash -n "$folder/completions/gpusort"
    size=$(wc -c <"$out/gpusort-$version-$1.tar.xz")
    [ "$size" -le 8000000 ] || fail "$1 has $size bytes"
    check_glibc "$folder/gpusort"
}

test_linux() {
    unpacked x86_64-unknown-linux-gnu
    check_bare
    rm -rf "$bare/opt/gpusort"
    cp -R "$folder" "$bare/opt/gpusort"
    examples inside /opt/gpusort/gpusort
    rm -r "$bare/opt/gpusort"
    ok "linux: $size bytes, from $newest on"
}

test_arm() {
    needs qemu-user-static libc6-arm64-cross libgcc-s1-arm64-cross
    unpacked aarch64-unknown-linux-gnu
    examples qemu-aarch64-static -L /usr/aarch64-linux-gnu "$folder/gpusort"
    ok "arm: $size bytes, run by QEMU"
}

test_wheels() {
    python3 -m venv "$work/venv"
    python=$work/venv/bin/python
    for wheel in "$out"/gpusort-"$version"-*.whl "$out"/gpusort_cli-"$version"-*.whl; do
        "$tools/bin/auditwheel" show "$wheel" | tr '\n' ' ' | grep -q 'manylinux_2_28_x86_64' || fail "$wheel is not manylinux_2_28"
        [ "$(python3 -m zipfile -l "$wheel" | grep -c 'LICENSE-MIT\|LICENSE-APACHE\|THIRD-PARTY')" = 3 ] || fail "$wheel lacks licences"
        "$python" -m pip install --quiet --disable-pip-version-check "$wheel"
    done
    "$python" -c 'import gpusort, numpy; assert gpusort.argsort(numpy.array([2.5, -1, 0])).tolist() == [1, 2, 0]'
    [ "$("$python" -c 'import gpusort; print(gpusort.__version__)')" = "$version" ] || fail "wheel: its version"
    examples "$work/venv/bin/gpusort"
    "$python" -m pip uninstall --quiet --yes gpusort gpusort-cli
    [ -z "$(find "$work/venv" -iname '*gpusort*')" ] || fail "wheels: files are left"
    ok "wheels"
}

files_inside() {
    inside find / -xdev '(' -path /proc -o -path /project -o -path /root/.cargo ')' -prune -o -print | LC_ALL=C sort
}

test_deb() {
    check_bare
    package=gpusort_$version-1_amd64.deb
    needs lintian
    lintian --allow-root --fail-on error --suppress-tags initial-upload-closes-no-bugs "$out/$package" || fail "lintian"
    files_inside >"$work/before"
    inside sh -euc "apt-get update -qq; apt-get install -y -qq --no-install-recommends /project/target/dist/$package" >"$work/log" 2>&1 || fail "$(tail -3 "$work/log")"
    examples inside gpusort
    [ -s "$bare/usr/share/bash-completion/completions/gpusort" ] || fail "deb: completions"
    inside sh -c 'ls /usr/share/man/man1/gpusort-sort.1.gz' >/dev/null || fail "deb: manual pages"
    dpkg-deb -f "$out/$package" Recommends | grep -q libvulkan1 || fail "deb: recommends"
    inside apt-get purge -y -qq gpusort >/dev/null 2>&1
    files_inside | LC_ALL=C comm -13 "$work/before" - |
        { ! grep gpusort; } || fail "deb: files are left"
    ok "deb: $(wc -c <"$out/$package") bytes"
}

# Wine is in the folder in which it was built.
test_windows() {
    needs_in_sid wine wine64
    rm -rf target/wine
    mkdir -p target/wine
    python3 -m zipfile -e "$out/gpusort-$version-x86_64-pc-windows-gnu.zip" target/wine
    mv target/wine/*/* target/wine/
    printf '3\r\n1\r\n' >target/wine/a.txt
    printf '2\r\n10\r\n' >target/wine/b.txt
    wine() { sh dist/debian.sh "$sid" run env --chdir=/project/"${at:-.}" WINEDEBUG=-all WINEPREFIX=/tmp/wine XDG_RUNTIME_DIR=/tmp wine "$@"; }
    examples wine target/wine/gpusort.exe
    at=target/wine
    [ "$(wine gpusort.exe sort -q '?.txt' | tr -d '\r' | tr '\n' ' ')" = "1 2 3 10 " ] || fail "windows: ?.txt"
    wine gpusort.exe sort -q -m b.txt -o merged.txt
    [ "$(tr -d '\r' <target/wine/merged.txt | tr '\n' ' ')" = "2 10 " ] || fail "windows: merge"
    printf 'b\r\na\r\n' >target/wine/c.txt
    wine gpusort.exe sort -q c.txt -o c.txt
    printf 'a\r\nb\r\n' | cmp - target/wine/c.txt || fail "windows: in place"
    if wine gpusort.exe check -q merged.txt a.txt; then fail "windows: check"; fi
    rm -rf target/wine
    ok "windows: $(wc -c <"$out/gpusort-$version-x86_64-pc-windows-gnu.zip") bytes, run by Wine"
}

test_npm() {
    TARBALL=$out/gpusort-$version.tgz sh npm/test/package.sh short
    ok "npm"
}

# As if the packages it depends on were published.
test_crates() {
    patches=
    for crate in "$out"/gpusort*-"$version".crate; do
        tar xzf "$crate" -C "$work"
        name=$(basename "$crate" "-$version.crate")
        [ -s "$work/$name-$version/Cargo.toml" ] || fail "$name has no Cargo.toml"
        [ "$name" = gpusort ] || patches="$patches --config patch.crates-io.$name.path=\"$work/$name-$version\""
    done
    # The names and the path have no blanks.
    # shellcheck disable=SC2086
    CARGO_TARGET_DIR=$root/target/release-build/installed cargo install --quiet --path "$work/gpusort-$version" --features arrow --root "$work/root" \
        $patches
    examples "$work/root/bin/gpusort"
    ok "crates: cargo install"
}

test_container() {
    needs buildah
    name=$($image from --quiet "docker-archive:$out/gpusort-$version-container.tar.xz")
    container() { $image run --isolation chroot --volume "$root:/data" "$name" -- /usr/bin/gpusort "$@"; }
    examples container
    $image rm "$name" >/dev/null
    ok "container: $(wc -c <"$out/gpusort-$version-container.tar.xz") bytes"
}

test_formulas() {
    needs ruby
    ruby -c "$out/gpusort.rb" >/dev/null || fail "the formula is not Ruby"
    # Each address is of a file that is there, and has its checksum.
    python3 - "$out" <<'END' || fail "formulas"
import hashlib, json, pathlib, re, sys
out = pathlib.Path(sys.argv[1])
scoop = json.loads((out / "gpusort.json").read_text())["architecture"]["64bit"]
brew = re.findall(r'url "(.*)"\s+sha256 "(.*)"', (out / "gpusort.rb").read_text())
assert brew
for url, checksum in [(scoop["url"], scoop["hash"]), *brew]:
    assert hashlib.sha256((out / url.rsplit("/", 1)[1]).read_bytes()).hexdigest() == checksum, url
END
    ok "formulas"
}

(cd "$out" && sha256sum --quiet --check SHA256SUMS) || fail "checksums"
for what in ${*:-$all}; do
    "test_$what"
done
