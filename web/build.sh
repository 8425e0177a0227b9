#!/bin/sh
# Builds the package and the page: everything that a static server needs is then in web/dist/.
set -eu
cd "$(dirname "$0")/.."
[ -d npm/node_modules ] || (cd npm && npm ci --no-audit --no-fund >/dev/null)
npm/node_modules/.bin/tsc -p npm
rm -rf web/dist
npm/node_modules/.bin/tsc -p web
cp -R npm/dist web/dist/gpusort
find web/dist/gpusort -name '*.d.ts' -exec rm {} +
cp web/index.html web/style.css web/dist/
