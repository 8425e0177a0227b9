"""The checkers of types have nothing to say of the README's examples and of all forms of keys."""

import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_types(checker, tmp_path):
    pytest.importorskip(checker)
    readme = (HERE.parent / "README.md").read_text()
    (tmp_path / "readme.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", readme, re.DOTALL)))
    (tmp_path / "typed.py").write_text((HERE / "typed.py").read_text())
    options = {"mypy": ["--cache-dir", str(tmp_path / "cache")], "pyright": ["--pythonpath", sys.executable]}[checker]
    command = [sys.executable, "-m", checker, *options, "readme.py", "typed.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
