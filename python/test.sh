#!/bin/sh
# Builds the Python packages, installs them, and tests them.
#
#   sh python/test.sh           one wheel, with the python3 that there is: types, tests with 2,000 cases of each kind
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
