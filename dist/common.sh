# What the scripts of dist/ share; the current folder is the project's.

root=$PWD
out=$root/target/dist
tools=$root/target/tools
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
all="linux arm windows wheels deb npm crates container formulas"

# Programs of Debian's packages.
needs() {
    for needed; do
        dpkg -s "$needed" >/dev/null 2>&1 || apt-get install -y -qq "$needed" >/dev/null
    done
}
