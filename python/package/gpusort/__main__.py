"""Runs the ``gpusort`` command: ``python -m gpusort sort numbers.txt``."""

import os
import shutil
import subprocess
import sys
import sysconfig


def main() -> int:
    scripts = sysconfig.get_path("scripts")
    command = shutil.which("gpusort", path=scripts) or shutil.which("gpusort")
    if command is None:
        sys.stderr.write("gpusort: the command is not installed; pip install gpusort-cli\n")
        return 2
    if os.name == "posix":
        os.execv(command, [command, *sys.argv[1:]])
    return subprocess.call([command, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
