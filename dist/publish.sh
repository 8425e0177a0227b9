#!/bin/sh
# Publishes the crates of this version, each after those that it needs: `sh dist/publish.sh`. A crate that the registry has is left out, so
# that a run that ended early can be repeated. A registry accepts only a few new names at once; it is asked again every 10 minutes.
set -eu
cd "$(dirname "$0")/.."
. dist/common.sh
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# In the order of their dependencies.
for crate in shaders order planner base values cpu gpu engine formats external files trace bench ''; do
    name=gpusort${crate:+-$crate}
    until cargo publish --locked --package "$name" >"$said" 2>&1; do
        if grep -q 'already exists\|already uploaded' "$said"; then
            say "$name $version is published already"
            continue 2
        fi
        grep -q '429\|published too many' "$said" || { cat "$said" >&2 && exit 1; }
        say "$name waits, since the registry accepts no more new names now"
        sleep "${GPUSORT_PUBLISH_WAIT:-600}"
    done
    say "$name $version is published"
done
