"""Writes the Homebrew formula and the Scoop manifest, from Cargo.toml and the checksums of the archives.

    python3 dist/formulas.py FOLDER

The archives are those of FOLDER; one that is not there (macOS is built by .github/workflows/release.yml) is left out.
"""

import hashlib
import json
import pathlib
import sys
import tomllib

folder = pathlib.Path(sys.argv[1])
cargo = tomllib.loads(pathlib.Path("Cargo.toml").read_text(encoding="utf-8"))
version, repository, license_ = (cargo["workspace"]["package"][key] for key in ("version", "repository", "license"))
description = cargo["package"]["description"]


def archive(target, end="tar.xz"):
    """Where the archive will be, and its checksum; None if it is not built."""
    path = folder / f"gpusort-{version}-{target}.{end}"
    if not path.exists():
        return None
    return f"{repository}/releases/download/v{version}/{path.name}", hashlib.sha256(path.read_bytes()).hexdigest()


def homebrew():
    systems = []
    for system in ("macos", "linux"):
        targets = {"macos": "apple-darwin", "linux": "unknown-linux-gnu"}[system]
        for method, processor in (("on_arm", "aarch64"), ("on_intel", "x86_64")):
            if found := archive(f"{processor}-{targets}"):
                block = f'    {method} do\n      url "{found[0]}"\n      sha256 "{found[1]}"\n    end\n'
                systems.append((system, block))
    blocks = ""
    for system in ("macos", "linux"):
        own = "".join(block for name, block in systems if name == system)
        blocks += f"  on_{system} do\n{own}  end\n\n" if own else ""
    names = " ".join(f'"{name}"' for name in license_.split(" OR "))
    return f'''class Gpusort < Formula
  desc "{description}"
  homepage "{repository}"
  version "{version}"
  license any_of: [{names.replace(" ", ", ")}]

{blocks}  def install
    bin.install "gpusort"
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/gpusort"
    zsh_completion.install "completions/_gpusort"
    fish_completion.install "completions/gpusort.fish"
  end

  test do
    assert_equal "1\\n2\\n10\\n", pipe_output("#{{bin}}/gpusort sort -q", "10\\n2\\n1\\n")
  end
end
'''


def scoop():
    url, checksum = archive("x86_64-pc-windows-gnu", "zip") or sys.exit("the archive for Windows is not built")
    name = f"gpusort-{version}-x86_64-pc-windows-gnu"
    return {
        "version": version,
        "description": description,
        "homepage": repository,
        "license": license_.replace(" OR ", "|"),
        "architecture": {"64bit": {"url": url, "hash": checksum, "extract_dir": name}},
        "bin": "gpusort.exe",
        "checkver": "github",
        "autoupdate": {
            "architecture": {
                "64bit": {
                    "url": url.replace(version, "$version"),
                    "extract_dir": name.replace(version, "$version"),
                }
            },
            "hash": {"url": "$baseurl/SHA256SUMS"},
        },
    }


(folder / "gpusort.rb").write_text(homebrew(), encoding="utf-8")
(folder / "gpusort.json").write_text(json.dumps(scoop(), indent=4) + "\n", encoding="utf-8")
