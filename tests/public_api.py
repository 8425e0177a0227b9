"""Joins the interfaces of gpusort's crates, as `cargo public-api` prints them, to that of the package.

    public_api.py FILE...    the first file is of the package, the others are of the crates that it exports items of

An item is printed under the path by which the package exports it, in whichever crate it is; internal types are printed
as `internal::Name`. Items are sorted by the type that they belong to.
"""

import re
import sys

PATH = re.compile(r"\bgpusort(?:_[a-z]+)?(?:::[A-Za-z_0-9]+)+")
HEADER = re.compile(r"(?:#\[\w+\] )*(?:pub (?:struct|enum|trait|union|mod|use|type|macro)|(?:unsafe )?impl)\b")
# Crates that the package exports as a whole.
CRATES = ["half", "wgpu"]
# The package exports these under other names.
RENAMED = {
    "gpusort_order::error::Error": "gpusort::PlanError",
    "gpusort_order::Error": "gpusort::PlanError",
    "gpusort_formats::fields::key::Kind": "gpusort::files::Kind",
    "gpusort_formats::fields::Kind": "gpusort::files::Kind",
    "gpusort_gpu::buffers::Count": "gpusort::buffers::Count",
    "gpusort_files::columns::argsort": "gpusort::columns::argsort",
    "gpusort_files::report::Report": "gpusort::files::Report",
    "gpusort_files::Report": "gpusort::files::Report",
}
# Types that the package does not export, though others of their names.
INTERNAL = [
    "gpusort_engine::sorter::Progress",
    "gpusort_external::Records",
    "gpusort_external::Source",
    "gpusort_external::elements::Source",
    "gpusort_external::records::Records",
    "gpusort_formats::Before",
    "gpusort_formats::fields::Column",
    "gpusort_formats::fields::column::Column",
    "gpusort_formats::keys::Column",
    "gpusort_formats::keys::column::Column",
    "gpusort_formats::records::Records",
    "gpusort_formats::text::Before",
    "gpusort_order::Pair",
    "gpusort_order::item::Pair",
    "gpusort_formats::arrow::parquet::Form",
    "gpusort_formats::compression::Limits",
    "gpusort_formats::compression::reader::Limits",
]


def split(path: str) -> tuple[str, str, str]:
    """The modules, the item, and what follows: a variant, a field or a method."""
    parts = path.split("::")
    item = next((i for i, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
    return "::".join(parts[:item]), parts[item], "".join("::" + part for part in parts[item + 1 :])


def main(files: list[str]) -> None:
    package, *others = [open(file).read().splitlines() for file in files]
    exports: dict[str, str] = {}
    for line in package:
        if found := re.fullmatch(r"pub use (gpusort(?:::\w+)*)::(\w+)", line):
            modules, name = found.groups()
            if name not in exports or len(modules) < len(exports[name]):
                exports[name] = modules

    def exported(path: str) -> str | None:
        modules, item, rest = split(path)
        if modules == "gpusort" or modules.startswith("gpusort::"):
            return path
        if renamed := RENAMED.get(f"{modules}::{item}"):
            return renamed + rest
        if f"{modules}::{item}" in INTERNAL:
            return None
        return f"{exports[item]}::{item}{rest}" if item in exports else None

    def owner(header: str) -> list[str]:
        """The paths of what a header defines, or of the trait and the type that it joins."""
        text = re.sub(r"^(#\[\w+\] )*(unsafe )?impl(<[^>]*>)? ", "", header)
        return [found[0] for part in text.split(" for ") if (found := PATH.search(part))]

    lines: dict[str, tuple[str, str]] = {}
    for interface in [package, *others]:
        keeps, under = False, ""
        for line in interface:
            free = re.match(r"pub (?:(?:[a-z]+ )*fn|const|static) (gpusort\w*(?:::\w+)*)", line)
            if HEADER.match(line) or free and not split(free[1])[2]:
                owners = [free[1]] if free else owner(line)
                names = [exported(path) for path in owners]
                keeps = any(names)
                under = next((name for name in reversed(names) if name), "")
            # Definitions are printed; of uses only second paths to an item, and crates.
            used = re.fullmatch(r"pub use ([\w:]+)::(\w+)", line)
            is_first = used and (exports.get(used[2]) == used[1] or "::".join(used.groups()) in RENAMED.values())
            if used and (interface is not package or used[2] not in CRATES and is_first):
                continue
            if keeps:
                shown = PATH.sub(lambda found: exported(found[0]) or "internal::" + "".join(split(found[0])[1:]), line)
                lines.setdefault(shown, (under, shown))
    for _, line in sorted(lines.values()):
        print(line)


main(sys.argv[1:])
