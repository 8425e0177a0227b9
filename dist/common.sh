# What the scripts of dist/ share; the current folder is the project's.

root=$PWD
out=$root/target/dist
tools=$root/target/tools
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
all="linux arm windows wheels deb npm crates container formulas"

# Installs packages of Debian or Ubuntu, unless they are there.
needs() {
    for needed; do
        [ "$(dpkg-query --show --showformat '${db:Status-Status}' "$needed" 2>/dev/null)" != installed ] || continue
        [ -n "${updated:-}" ] || apt-get update -qq
        updated=1
        apt-get install -y -qq "$needed" >/dev/null
    done
}

# A bare Debian, which is made once, and a command in it, for which the project is in /project.
bare=$root/target/debian-bare
inside() {
    sh dist/debian.sh "$bare" make bookworm && sh dist/debian.sh "$bare" run "$@"
}

# Debian's newest Rust, and Wine; another folder with them saves the time to make it.
sid=${GPUSORT_SID:-$root/target/debian-sid}

image="buildah --storage-driver vfs"
