#!/bin/sh
# Packs the package, installs it in an empty project, and uses it there as others do: in Node, by TypeScript, in a page that imports its
# files, in one that Vite 8 bundled, and in a worker of another such page; the example runs too. `sh test/package.sh short` leaves Vite out, and
# needs no network. Chromium must be there: test/run.sh installs it. TARBALL is a package that was packed before.
set -eu
cd "$(dirname "$0")/.."
form=${1:-long}
most=60000 # bytes that a page may load for keys of one type, compressed by gzip
[ -d node_modules ] || npm ci --no-audit --no-fund >/dev/null
if ! command -v "${CHROMIUM:-chromium}" >/dev/null; then
    echo "there is no Chromium; install it, or name one by CHROMIUM" >&2
    exit 1
fi
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# A copy is packed, since prepack builds anew, and others may be using dist/.
mkdir "$work/copy" "$work/copy/npm" "$work/project"
cp ../LICENSE-MIT ../LICENSE-APACHE "$work/copy/"
cp -R package.json README.md tsconfig.json src examples test "$work/copy/npm/"
ln -s "$PWD/node_modules" "$work/copy/npm/node_modules"
[ -n "${TARBALL:-}" ] || (cd "$work/copy/npm" && npm pack --silent --pack-destination "$work" >/dev/null)
tarball=${TARBALL:-$(echo "$work"/gpusort-*.tgz)}
# Packing built it; of one that was packed before it is taken out.
[ -z "${TARBALL:-}" ] || tar xzf "$tarball" -C "$work/copy/npm" --strip-components=1 package/dist
tar tzf "$tarball" >"$work/list"
echo "tarball: $(wc -c <"$tarball") bytes, $(wc -l <"$work/list") files"
for file in README.md LICENSE-MIT LICENSE-APACHE package.json dist/index.js dist/index.d.ts; do
    grep -qx "package/$file" "$work/list" || fail "the tarball lacks $file"
done
! grep -vE '^package/(dist/.*\.(js|d\.ts)|README\.md|LICENSE-(MIT|APACHE)|package\.json)$' "$work/list" || fail "nobody needs these files"

cd "$work/project"
echo '{ "private": true, "type": "module" }' >package.json
npm install --offline --no-audit --no-fund --silent "$tarball"
cp -R "$work/copy/npm/test/package/." "$work/copy/npm/test/support.js" .
node node.js

# The package's declarations are checked, too (no skipLibCheck), and use.ts uses every export.
declared=node_modules/gpusort/dist
names=$(sed -n 's/^export {\(.*\)} from.*/\1/p' $declared/index.d.ts | tr ',' '\n' | sed 's/type //')
members=$(sed -n 's/^    \(static \|get \)\{0,1\}\([a-zA-Z]*\)(.*/\2/p' $declared/sorter.d.ts | grep -v constructor)
[ -n "$names" ] && [ -n "$members" ] || fail "no exports are found in index.d.ts and sorter.d.ts"
for name in $names $members; do
    grep -qw "$name" use.ts || fail "test/package/use.ts does not use $name"
done
# The compiler of package $1 in npm/node_modules, with options.
compile() {
    tsc=$work/copy/npm/node_modules/$1/bin/tsc
    shift
    node "$tsc" --noEmit --strict --exactOptionalPropertyTypes --target es2022 --lib es2022,dom "$@"
}
# TypeScript 7 has types of WebGPU, and must not need @webgpu/types; TypeScript 5 needs them.
for compiler in typescript "typescript-5 --types @webgpu/types"; do
    case $compiler in *@webgpu*) cp -RL "$work/copy/npm/node_modules/@webgpu" node_modules/ ;; esac
    for resolution in "bundler --module es2022" "node16 --module node16"; do
        compile $compiler --moduleResolution $resolution use.ts || fail "use.ts does not compile: $compiler, $resolution"
        if compile $compiler --moduleResolution $resolution wrong.ts >wrong.log; then fail "wrong.ts compiles: $compiler"; fi
        grep -q '"f16"' wrong.log || fail "wrong.ts fails for another reason: $(cat wrong.log)"
    done
    echo "types: $compiler, $(compile $compiler --version): use.ts compiles by bundler and by node16; a wrong key type does not"
done

port=${PORT:-8379}
python3 -m http.server "$port" --bind 127.0.0.1 --directory "$work" >/dev/null 2>&1 &
server=$!
# Logs what a page logs, without "gpusort: ", into page.log. Without ANGLE on Vulkan the software adapter cannot draw into a canvas.
page() {
    timeout "${SECONDS_AT_MOST:-120}" "${CHROMIUM:-chromium}" --headless=new --no-sandbox --disable-gpu-sandbox --user-data-dir="$work/profile" \
        --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader --use-angle=swiftshader --use-vulkan=swiftshader --enable-features=Vulkan \
        --enable-logging=stderr "http://127.0.0.1:$port/$1" >chromium.log 2>&1 || true
    sed -n 's/.*CONSOLE[^"]*"gpusort: \(.*\)", source.*/\1/p' chromium.log >page.log
    grep -qx done page.log || fail "$1 did not end: $(tail -3 chromium.log)"
    ! grep FAILED page.log || fail "$1"
}
# The page $1 sorted, and loaded kernels once. All scripts under $2 but kernels, with the largest kernels of a type, are not too large.
check_app() {
    page "$1"
    grep -qx 'keys 10,10,20,30,4294967295 from 1,3,4,0,2' page.log || fail "$1: $(cat page.log)"
    grep -qx 'array 1,2,3' page.log || fail "$1: $(cat page.log)"
    kernels=$(sed -n 's/^loaded .*\/\([uif][0-9]*_[a-z0-9]*\)[^/]*$/\1/p' page.log)
    [ "$(echo "$kernels" | wc -w)" -eq 1 ] || fail "$1 loads the kernels: $kernels"
    sum=0
    largest=0
    for script in $(find "$2" -name '*.js'); do
        size=$(gzip -9c "$script" | wc -c)
        case ${script##*/} in
            [uif][0-9]*_*) [ "$size" -le "$largest" ] || largest=$size ;;
            *) sum=$((sum + size)) ;;
        esac
    done
    [ "$largest" -gt 0 ] || fail "$2 has no kernels in files of their own"
    echo "$3: compressed, $sum bytes without kernels, and at most $largest of kernels for one key type"
    [ $((sum + largest)) -le "$most" ] || fail "more than $most bytes"
}

cat >index.html <<'END'
<!doctype html>
<meta charset="utf-8">
<script type="module">
  import { Sorter, sort } from "./node_modules/gpusort/dist/index.js";
  import { run } from "./app.js";
  await run({ Sorter, sort });
</script>
END
check_app project/index.html node_modules/gpusort/dist "a page that imports the files"

page copy/npm/test/example.html
grep -v done page.log

if [ "$form" != short ]; then
    npm install --no-audit --no-fund --silent --save-dev vite@8
    mkdir app
    printf 'import { Sorter, sort } from "gpusort";\nimport { run } from "../app.js";\n\nrun({ Sorter, sort });\n' >app/main.js
    printf '<!doctype html>\n<meta charset="utf-8">\n<script type="module" src="./main.js"></script>\n' >app/index.html
    npx vite build app --base ./ --logLevel warn
    version=$(node -p 'require("./node_modules/vite/package.json").version')
    check_app project/app/dist/index.html app/dist "Vite $version"
    # The same in a worker, with the configuration of the README: without it the worker is one script with all kernels.
    mkdir worker
    cp app/index.html worker/
    sed 's/^run(.*)/&.then(() => postMessage("done"))/' app/main.js >worker/worker.js
    printf 'new Worker(new URL("./worker.js", import.meta.url), { type: "module" }).onmessage = () => window.close();\n' >worker/main.js
    sed -n '/^\/\/ vite.config.js/,/^```/{/^```/!p;}' node_modules/gpusort/README.md >worker/vite.config.js
    npx vite build worker --base ./ --logLevel warn
    check_app project/worker/dist/index.html worker/dist "a worker by Vite $version"
fi
