# What the scripts of dist/ share; the current folder is the project's.

root=$PWD
out=$root/target/dist
tools=$root/target/tools
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
all="linux arm windows wheels deb npm crates container formulas"

# Packages of Debian's or Ubuntu's.
needs() {
    for needed; do
        [ "$(dpkg-query --show --showformat '${db:Status-Status}' "$needed" 2>/dev/null)" != installed ] || continue
        [ -n "${updated:-}" ] || apt-get update -qq
        updated=1
        apt-get install -y -qq "$needed" >/dev/null
    done
}

# A bare Debian, and a command in it, for which the project is in /project.
bare=$root/target/debian-bare
inside() { sh dist/debian.sh "$bare" run "$@"; }
