"""A folder that a sort wrote, and its ``manifest.json``."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _gpusort


def is_manifest(inputs: list[Any]) -> bool:
    """Returns True if the only input is the manifest of a sort's output."""
    path = inputs[0] if len(inputs) == 1 else None
    if not isinstance(path, str) or os.path.basename(path) != "manifest.json":
        return False
    with open(path, "rb") as file:
        begin = file.read(64)
    # A manifest that was cut or emptied still lies where a sort has ended.
    return b'"gpusort"' in begin or os.path.exists(os.path.join(os.path.dirname(path), "_SUCCESS"))


def parts_of(path: str) -> tuple[list[str], dict[str, Any], list[tuple[str, bool | None]]] | None:
    """Compares a folder with its manifest; returns the paths of its parts, and the options and keys of their check.

    None stands for parts whose order the manifest does not have.  Raises ValueError if the folder differs.
    """
    folder = os.path.dirname(path)
    try:
        with open(path, encoding="utf-8") as file:
            manifest: dict[str, Any] = json.load(file)
        parts: list[dict[str, Any]] = manifest["parts"]
        problems = _differences(folder, manifest, parts)
        keys = [(str(name), descending) for name, descending in manifest["keys"]]
        options = _options(manifest)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not a manifest: {error}") from error
    if problems:
        raise ValueError("; ".join(problems))
    has_order = manifest.get("checksum") is not None or keys
    return ([os.path.join(folder, part["name"]) for part in parts], options, keys) if parts and has_order else None


def _differences(folder: str, manifest: dict[str, Any], parts: list[dict[str, Any]]) -> list[str]:
    names = [str(part["name"]) for part in parts]
    problems: list[str] = []
    if not os.path.exists(os.path.join(folder, "_SUCCESS")):
        problems.append("_SUCCESS is missing: the sort did not finish, or the copy is incomplete")
    for name, part in zip(names, parts, strict=True):
        if os.path.basename(name) != name or name in ("", ".", ".."):
            raise ValueError(f"{name!r} is not the name of a part")
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            problems.append(f"{name} is missing")
        elif os.path.getsize(path) != part["bytes"]:
            problems.append(f"{name} has {os.path.getsize(path)} bytes, but {part['bytes']} were written")
        elif _gpusort.checksum(path) != int(part["xxh3"], 16):
            problems.append(f"{name} differs from what was written")
    others = sorted(set(os.listdir(folder or ".")) - set(names))
    problems += [f"{name} is not in the manifest" for name in others if name.startswith("part-")]
    records = _total(part.get("checksum") for part in parts)
    if sum(part["rows"] for part in parts) != manifest["rows"] or records != _total([manifest.get("checksum")]):
        problems.append("the totals of manifest.json do not match the parts")
    inputs: list[dict[str, Any]] = manifest.get("inputs", [])
    if not manifest.get("repeated") and records != _total(one["checksum"] for one in inputs):
        problems.append("the parts do not contain exactly the input records")
    return problems


def _total(checksums: Any) -> int:
    return sum(int(digits, 16) for digits in checksums if digits is not None) % (1 << 64)


def _options(manifest: dict[str, Any]) -> dict[str, Any]:
    """Returns the options of :func:`check_file` for those of ``gpusort check`` in a manifest."""
    options: dict[str, Any] = {"na": manifest["na"], "ignore_case": manifest["ignore_case"]}
    for option in manifest["check"]:
        name, _, value = option.removeprefix("--").partition("=")
        if name == "no-header":
            options["header"] = False
        elif name == "header":
            options["header"] = int(value)
        else:
            options["from_" if name == "from" else name.replace("-", "_")] = value or True
    return options
