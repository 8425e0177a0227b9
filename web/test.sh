#!/bin/sh
# Builds the page, and tests it in headless Chromium on its software adapter. CHROMIUM names another one than that in PATH.
set -eu
cd "$(dirname "$0")"
sh build.sh
size=$(for file in dist/generated/*.js; do gzip -9c "$file"; done | wc -c)
echo "traces: $size bytes compressed"
[ "$size" -lt 60000 ]
port=${PORT:-8379}
python3 -m http.server "$port" --bind 127.0.0.1 -d .. >/dev/null 2>&1 &
server=$!
log=$(mktemp)
profile=$(mktemp -d)
trap 'kill $server; rm -rf "$log" "$profile"' EXIT
timeout "${SECONDS_AT_MOST:-300}" "${CHROMIUM:-chromium}" --headless=new --no-sandbox --disable-gpu-sandbox --user-data-dir="$profile" \
    --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader --enable-logging=stderr \
    "http://127.0.0.1:$port/web/test/page.html" >"$log" 2>&1 || true
sed -n 's/.*CONSOLE[^"]*"\(.*\)", source.*/\1/p' "$log"
grep -q 'gpusort: done' "$log"
! grep -q 'gpusort: FAILED' "$log"
