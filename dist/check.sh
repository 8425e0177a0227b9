#!/bin/sh
# Checks what must agree before a release: versions, changelog, lock files, completions, manual pages, and which licences are accepted; for a
# release, also the licences and sources of all crates.
#
#   sh dist/check.sh            what must always be so
#   sh dist/check.sh 0.2.0      and that this is the version, with its date in the changelog
#   sh dist/check.sh --notes    prints what the changelog says of this version
#   sh dist/check.sh --self-test  whether it finds what it is to find, in what is committed
set -eu
cd "$(dirname "$0")/.."
. dist/common.sh
export PATH="$tools/bin:$PATH"
wanted=${1:-}
failed=0
wrong() { echo "dist/check.sh: $*" >&2 && failed=1; }

if [ "$wanted" = --notes ]; then
    # GitHub keeps the line breaks of release notes, so lines of one paragraph are joined.
    awk -v begin="## [$version]" 'index($0, begin) == 1 { on = 1; next } /^(## |\[)/ { on = 0 } on' CHANGELOG.md |
        sed -e ':more' -e '$!N' -e 's/\n  */ /' -e 'tmore' -e 'P' -e 'D'
    exit
fi

if [ "$wanted" = --self-test ]; then
    work=$(mktemp -d)
    trap 'git worktree remove --force "$work/tree"; rm -rf "$work"' EXIT
    git worktree add --quiet --detach "$work/tree"
    gpusort=$(realpath "${GPUSORT:-target/release/gpusort}")
    # What is done to a file, and what must be said of it.
    while IFS='|' read -r file change expected; do
        sed -i "$change" "$work/tree/$file"
        if (cd "$work/tree" && GPUSORT=$gpusort sh dist/check.sh) >"$work/said" 2>&1; then
            wrong "nothing is said of $file: $change"
        fi
        grep -q -- "$expected" "$work/said" || wrong "$file, $change: $(cat "$work/said")"
        git -C "$work/tree" checkout --quiet .
    done <<END
npm/package.json|s/"version": "[^"]*"/"version": "9.0.0"/|the version is $version, and 9.0.0
Cargo.toml|s/^gpusort-planner = { version = "=[^"]*"/gpusort-planner = { version = "=9.0.0"/|the version is $version, and 9.0.0
tests/wasm/Cargo.lock|/name = "gpusort"/,/version/s/version = .*/version = "9.0.0"/|tests/wasm/Cargo.lock is not in step
CHANGELOG.md|s/^## \\[$version\\].*//|CHANGELOG.md has no section for $version
CHANGELOG.md|s/^\\[Unreleased\\]: .*//|leads nowhere
README.md|s/^gpusort = { version = "[^"]*"/gpusort = { version = "9.0"/|README.md shows another version
docs/library/versions.md|s/ ${version%.*} / 9.0 /|versions.md lacks
docs/other-tools.md|s/^gpusort [0-9.]*, /gpusort 9.0.0, /|other-tools.md describes gpusort 9.0.0
dist/deny.toml|s/"MIT", //|accept different licences
END
    [ "$failed" = 0 ] || exit 1
    echo "dist/check.sh finds what it is to find"
    exit
fi

# One version, everywhere. Lock files have it, and are in step with what they lock.
for name in $(sed -n 's/^gpusort.* = { version = "=\([^"]*\)".*/\1/p' Cargo.toml) \
    "$(sed -n 's/^  "version": "\(.*\)",/\1/p' npm/package.json)" \
    $(sed -n '1,10s/^ *"version": "\(.*\)",/\1/p' npm/package-lock.json); do
    [ "$name" = "$version" ] || wrong "the version is $version, and $name in Cargo.toml or npm/; run: sh dist/version.sh $version"
done
for lock in $(git ls-files '*Cargo.lock'); do
    cargo metadata --quiet --locked --format-version 1 --manifest-path "$(dirname "$lock")/Cargo.toml" >/dev/null ||
        wrong "$lock is not in step with its Cargo.toml; run: sh dist/version.sh $version"
done
[ -z "$wanted" ] || [ "$wanted" = "$version" ] || wrong "the version is $version, not $wanted"
for file in README.md src/lib.rs; do
    grep -q "gpusort = { version = \"${version%.*}\"" $file || wrong "$file shows another version than ${version%.*}; run: sh dist/version.sh $version"
done
row="| ${version%.*} | $wgpu |"
grep -qxF "$row" docs/library/versions.md || wrong "docs/library/versions.md lacks '$row'; run: sh dist/version.sh $version"
# No script writes this version: the table is what programs were seen to do.
seen=$(sed -n 's/^gpusort \([0-9.]*\), GNU sort .*/\1/p' docs/other-tools.md)
[ "${seen%.*}" = "${version%.*}" ] || wrong "docs/other-tools.md describes gpusort $seen; run benches/behaviours/behaviours.py"

# The changelog tells of it; for a release, with the date.
line=$(grep -F "## [$version]" CHANGELOG.md) || wrong "CHANGELOG.md has no section for $version"
[ "$(sed -n 's/^## \[\(.*\)\].*/\1/p' CHANGELOG.md | sed -n 1p)" = Unreleased ] || wrong "CHANGELOG.md does not begin with [Unreleased]"
for name in $(sed -n 's/^## \[\(.*\)\].*/\1/p' CHANGELOG.md); do
    grep -q "^\[$name\]: https://" CHANGELOG.md || wrong "CHANGELOG.md: [$name] leads nowhere"
done
if [ -n "$wanted" ]; then
    echo "$line" | grep -Eq '^## \[[^]]*\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$' || wrong "CHANGELOG.md: $version has no date"
    [ -z "$(git status --porcelain)" ] || wrong "not all is committed"
    cargo publish --workspace --locked --dry-run --quiet || wrong "the crates cannot be published"
    ! grep -n 'not published yet' README.md docs/install.md || wrong "these say that $version is not published; remove that"
fi

# What is generated from the command names its commands and options: all of them, in completions and in manual pages.
[ -n "${GPUSORT:-}" ] || cargo build --quiet --release
gpusort=${GPUSORT:-target/release/gpusort}
[ "$("$gpusort" --version | sed -n 1p)" = "gpusort $version" ] || wrong "$gpusort is another version; build it"
completions=$("$gpusort" completions bash)
for name in $("$gpusort" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    [ "$name" != help ] || continue
    page=$("$gpusort" man "$name") || wrong "$name has no manual page"
    shown=$(echo "$page" | sed 's/\\f[BIR]//g; s/\\-/-/g')
    # Help leaves out a few options, which the page has.
    for option in $({ "$gpusort" "$name" --help; echo "$shown"; } | grep -o -- '^ *\(-.,\)\? *--[a-z0-9-]*' | grep -o -- '--.*'); do
        case $completions in *"$option"*) ;; *) wrong "$name $option is not completed" ;; esac
        case $page in *"$(echo "$option" | sed 's/-/\\-/g')"*) ;; *) wrong "$name $option is not in the manual page" ;; esac
    done
done

# Both know the same licences.
licences() { sed -n "/^$2 = \[/,/^\]/p" "$1" | grep -o '"[^"]*"' | sort; }
[ "$(licences dist/about.toml accepted)" = "$(licences dist/deny.toml allow)" ] || wrong "dist/about.toml and dist/deny.toml accept different licences"
# For a release, those of all crates are looked up.
if [ -n "$wanted" ]; then
    cargo_tool cargo-deny@0.20.2
    cargo deny --log-level error --workspace --config dist/deny.toml check licenses bans sources || wrong "licences or sources of crates"
fi

[ "$failed" = 0 ] || exit 1
echo "gpusort $version: versions, changelog, lock files, completions, manual pages and lists of licences agree"
