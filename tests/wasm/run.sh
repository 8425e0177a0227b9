#!/bin/sh
# Builds the test page, and runs it in headless Chromium on its software adapter: 1,000,000 elements of each type, verified.
#
# It takes the target (rustup target add wasm32-unknown-unknown), wasm-bindgen of the version in Cargo.lock
# (cargo install wasm-bindgen-cli --version V) and Chromium. CARGO, WASM_BINDGEN and CHROMIUM name others than those in PATH, and
# WASM the folder where CARGO leaves gpusort_web.wasm.
set -eu
cd "$(dirname "$0")"
page=target/page
mkdir -p "$page"

${CARGO:-cargo} build --release --locked --target wasm32-unknown-unknown
${WASM_BINDGEN:-wasm-bindgen} --target web --remove-name-section --out-dir "$page" \
    "${WASM:-target/wasm32-unknown-unknown/release}/gpusort_web.wasm"
cp index.html "$page"
wasm=$page/gpusort_web_bg.wasm
echo "wasm: $(wc -c <"$wasm") bytes, $(gzip -9 <"$wasm" | wc -c) compressed"

python3 -m http.server "${PORT:-8377}" --bind 127.0.0.1 -d "$page" >target/server.log 2>&1 &
server=$!
trap 'kill $server' EXIT
timeout "${SECONDS_AT_MOST:-600}" "${CHROMIUM:-chromium}" --headless=new --no-sandbox --disable-gpu-sandbox \
    --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader --enable-logging=stderr \
    "http://127.0.0.1:${PORT:-8377}/" >target/chromium.log 2>&1 || true
sed -n 's/.*CONSOLE[^"]*"\(.*\)", source.*/\1/p' target/chromium.log
grep -q 'gpusort: done' target/chromium.log
! grep -q 'gpusort: FAILED' target/chromium.log
