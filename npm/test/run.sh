#!/bin/sh
# Builds the package, and runs its tests in headless Chromium on its software adapter: quick, or with more sizes (`sh test/run.sh all`).
# Chromium is installed where a Debian-like system lacks it; CHROMIUM names another one than that in PATH.
set -eu
cd "$(dirname "$0")/.."
[ -d node_modules ] || npm ci --no-audit --no-fund >/dev/null
npx tsc -p .
if ! command -v "${CHROMIUM:-chromium}" >/dev/null && command -v apt-get >/dev/null; then
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    $sudo apt-get update -qq
    $sudo apt-get install -y -qq chromium >/dev/null
fi
port=${PORT:-8378}
python3 -m http.server "$port" --bind 127.0.0.1 >/dev/null 2>&1 &
server=$!
log=$(mktemp)
trap 'kill $server; rm -f "$log"' EXIT
timeout "${SECONDS_AT_MOST:-600}" "${CHROMIUM:-chromium}" --headless=new --no-sandbox --disable-gpu-sandbox \
    --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader --enable-logging=stderr \
    "http://127.0.0.1:$port/test/page.html#${1:-quick}" >"$log" 2>&1 || true
sed -n 's/.*CONSOLE[^"]*"\(.*\)", source.*/\1/p' "$log"
grep -q 'gpusort: done' "$log"
! grep -q 'gpusort: FAILED' "$log"
