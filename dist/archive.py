"""Packs the command with what belongs to it: documents, licences, completions, manual pages.

    python3 dist/archive.py folder FOLDER COMMAND           what belongs to it, in a folder
    python3 dist/archive.py wheels COMMAND                  what of it is in the wheels, where maturin takes it from
    python3 dist/archive.py TARGET BINARY FOLDER [COMMAND]  an archive gpusort-VERSION-TARGET.tar.xz, or .zip for Windows

COMMAND is a gpusort that runs here, and is BINARY itself unless that is for another system. `cargo about` must be there. The time
of all files is that of the commit, so the same sources make the same bytes.
"""

import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile

COMPLETIONS = {"bash": "gpusort", "zsh": "_gpusort", "fish": "gpusort.fish", "elvish": "gpusort.elv", "powershell": "gpusort.ps1"}
LICENCES = ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt")


def project():
    return tomllib.loads(pathlib.Path("Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def third_party():
    """The licences of all crates in the command or in the Python module: half a minute, so they are kept until a crate changes."""
    kept = pathlib.Path("target/THIRD-PARTY.txt")
    changed = max(pathlib.Path(name).stat().st_mtime for name in ("Cargo.lock", "Cargo.toml", "dist/about.toml", "dist/about.hbs"))
    if not kept.exists() or kept.stat().st_mtime < changed:
        settings = ["--locked", "--workspace", "--all-features", "--config", "dist/about.toml"]
        kept.write_bytes(output("cargo", "about", "generate", *settings, "dist/about.hbs"))
    return kept


def fill(folder, command):
    """Writes what belongs to the command."""
    for name in ("CHANGELOG.md", *LICENCES[:2], third_party()):
        shutil.copy(name, folder)
    # The files that it links to are in the repository only.
    package = project()
    at = f"{package['repository']}/blob/v{package['version']}/"
    readme = re.sub(r"\]\((?!https?:|#|CHANGELOG)", f"]({at}", pathlib.Path("README.md").read_text(encoding="utf-8"))
    (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")
    (folder / "completions").mkdir()
    for shell, name in COMPLETIONS.items():
        (folder / "completions" / name).write_bytes(output(command, "completions", shell))
    pages = folder / "man" / "man1"
    pages.mkdir(parents=True)
    (pages / "gpusort.1").write_bytes(output(command, "man"))
    # The commands are those that the manual page of all can be asked for.
    values = output(command, "man", "--help").decode().split("possible values: ")[1].split("]")[0]
    for name in values.replace(",", " ").split():
        (pages / f"gpusort-{name}.1").write_bytes(output(command, "man", name))


def wheels(command):
    """Licences for both packages, manual pages for that of the command. No commit has these folders."""
    data = pathlib.Path("python/cli/gpusort-cli.data")
    licences = [data / "data/share/doc/gpusort-cli", pathlib.Path("python/package/gpusort/licences")]
    for folder in (data, licences[1]):
        shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        fill(work, command)
        shutil.copytree(work / "man", data / "data/share/man")
        for folder in licences:
            folder.mkdir(parents=True)
            for name in LICENCES:
                shutil.copy(work / name, folder)


def pack(folder, archive, when):
    """Packs a folder, its files in the order of their names."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    entries = [(path, path.relative_to(folder.parent).as_posix()) for path in paths]
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
            for path, name in entries:
                entry = zipfile.ZipInfo(name, time.gmtime(when)[:6])
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                packed.writestr(entry, path.read_bytes())
        return
    # gzip makes it 1.4 times as large.
    with lzma.open(archive, "wb", preset=9) as zipped, tarfile.open(fileobj=zipped, mode="w") as packed:
        for path, name in entries:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = path.stat().st_size, when
            entry.mode = 0o755 if path.parent == folder and path.name == "gpusort" else 0o644
            with open(path, "rb") as content:
                packed.addfile(entry, content)


def main(target, binary, out=None, command=None):
    if target == "wheels":
        return wheels(binary)
    if target == "folder":
        pathlib.Path(binary).mkdir(parents=True)
        return fill(pathlib.Path(binary), out)
    name = f"gpusort-{project()['version']}-{target}"
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / name
        folder.mkdir()
        fill(folder, command or binary)
        if "windows" in target:
            shutil.rmtree(folder / "man")
        shutil.copy(binary, folder)
        end = "zip" if "windows" in target else "tar.xz"
        pack(folder, pathlib.Path(out) / f"{name}.{end}", int(output("git", "log", "-1", "--format=%ct")))


if __name__ == "__main__":
    main(*sys.argv[1:])
