#!/bin/sh
# Writes the version everywhere: `sh dist/version.sh 0.3.0`. Its place is Cargo.toml; the others follow.
set -eu
cd "$(dirname "$0")/.."
. dist/common.sh
version=${1:?which version? for example 0.3.0}
# That of the workspace, and of its packages among the dependencies.
sed -i -E "/^\[workspace.package\]/,/^\[package\]/s/^(version = \"|gpusort.*version = \"=)[0-9][^\"]*/\1$version/" Cargo.toml
# Its own is the first in the one, and the first two in the other.
sed -i -E "1,10s/^( *\"version\": \")[^\"]*/\1$version/" npm/package.json npm/package-lock.json
# What a program depends on, in documents.
sed -i -E "s/(gpusort = \{ version = \")[0-9][^\"]*/\1${version%.*}/" README.md src/lib.rs
# A minor version has a row that says its wgpu.
row="| ${version%.*} | $wgpu |"
grep -qxF "$row" docs/library/versions.md || sed -i "/^|---|---|\$/a $row" docs/library/versions.md
for lock in $(git ls-files '*Cargo.lock'); do
    cargo update --quiet --offline --workspace --manifest-path "$(dirname "$lock")/Cargo.toml"
done
