#!/bin/sh
# Builds the Python packages, installs them, and tests them.
#
#   sh python/test.sh           one wheel, with the python3 that there is: types, tests with 2,000 cases of each kind
#   sh python/test.sh sanitizer the extension compiled anew with AddressSanitizer, and the tests with it
#   sh python/test.sh all       that wheel with every Python from 3.11 on that there is, NumPy 1.26 and the newest one; 20,000 cases
#
# What it needs is installed into target/python. The tests of GPUs need one, or Mesa's software driver.
set -eu
cd "$(dirname "$0")"

venvs=../target/python
# Without this, Mesa asks a display server for its preferred device and complains if there is none.
export NODEVICE_SELECT=1

# The wheels, built once for all.
python3 -c 'import ensurepip, venv' 2>/dev/null || apt-get install -y -qq python3-venv >/dev/null
[ -x $venvs/build/bin/python ] || python3 -m venv $venvs/build
rm -rf $venvs/wheels
$venvs/build/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $venvs/wheels . ./cli

# Tests with a Python, and the packages that a file requires.
tested() {
    name=$venvs/$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-$2
    rm -rf "$name"
    "$1" -m venv "$name"
    python=$name/bin/python
    "$python" -m pip install --quiet --disable-pip-version-check $venvs/wheels/*.whl -r "tests/$2"
    "$python" -c 'import gpusort, numpy, sys; print("Python", sys.version.split()[0], "NumPy", numpy.__version__, "gpusort", gpusort.__version__)'
    GPUSORT_COMMAND=yes "$python" -m pytest -p no:cacheprovider
}

if [ "${1:-}" = sanitizer ]; then
    # The one of a test that is installed is replaced by one in which every access to memory is checked; the
    # sanitizer's own part must be there before all others, and is GCC's: rustc has it for programs only.
    python=$(pwd)/$venvs/sanitizer/bin/python
    folder=../target/sanitizer
    host=$(rustc -vV | sed -n 's/^host: //p')
    PYO3_BUILD_EXTENSION_MODULE=1 RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=$folder \
        cargo build --quiet --release --locked -p gpusort-python --target "$host"
    [ -x "$python" ] || python3 -m venv "$venvs/sanitizer"
    "$python" -m pip install --quiet --disable-pip-version-check --force-reinstall $venvs/wheels/*.whl -r tests/requirements.txt
    cp "$folder/$host/release/lib_gpusort.so" "$("$python" -c 'import gpusort; print(gpusort._gpusort.__file__)')"
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so.6)"
    # Python frees little at its end, and a test asks for more memory than there is.
    export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
    beyond='import gpusort, numpy; gpusort.sort(numpy.lib.stride_tricks.as_strided(numpy.arange(1000), shape=(2000,)))'
    if "$python" -c "$beyond" 2>/dev/null; then
        echo "python/test.sh: the sanitizer does not notice what is read beyond an array" >&2
        exit 1
    fi
    # What is freed is kept, so as to notice who uses it still: memory cannot stay the same. Ray's own processes do not
    # start so.
    exec "$python" -m pytest -p no:cacheprovider -k 'not leaks and not clusters' --ignore tests/test_ray.py --ignore tests/test_datasets.py
fi
if [ "${1:-}" != all ]; then
    tested python3 requirements.txt
    "$python" -m pyright --pythonpath "$python"
    "$python" -m mypy.stubtest gpusort._gpusort
    exit
fi
export GPUSORT_CASES=20000
for version in 3.11 3.12 3.13 3.14; do
    for found in "$(command -v python$version)" ~/.pyenv/versions/$version*/bin/python; do
        if "$found" -c "" 2>/dev/null; then
            # NumPy 1.26 is of before 3.13.
            case $version in 3.11 | 3.12) tested "$found" requirements-numpy-1.txt ;; esac
            tested "$found" requirements.txt
            break
        fi
    done
done
