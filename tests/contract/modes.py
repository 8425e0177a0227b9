"""Comparisons that need the binary alone: check, sorting again, merging sorted parts, and a small memory."""

from generate import Case

LIMITING = ("-u", "-ru", "--top", "--argsort", "--invalid", "-o")


def has(options: list[str], names: tuple[str, ...]) -> bool:
    """Tell whether one of the options is among the words."""
    return any(word.partition("=")[0] in names for word in options)


def differences(call, one: Case, output: bytes) -> str:
    """Run all comparisons on a case whose sort went well; give the first difference, or nothing."""
    if has(one.options, ("--argsort",)):
        return ""
    if len(one.files) <= 1:
        for compare in (small_memory, checked, again, merged):
            wrong = compare(call, one, output)
            if wrong:
                return wrong
    return ""


def words_for(one: Case, command: str, options: list[str], name: str) -> tuple[list[str], str]:
    """Give the words of a command on one file of the same extension."""
    extension = name.rpartition(".")[2] if "." in name else ""
    return [command, *options], ("." + extension if extension else "")


def source(one: Case) -> str:
    """Give the name of the case's file, or `-`."""
    return next(iter(one.files), "-")


def small_memory(call, one: Case, output: bytes) -> str:
    """`--memory 1` gives the same bytes (section 6)."""
    got, messages, code = call([*one.words, "--memory", "1"], one.stdin)
    return "" if (code, got) == (0, output) else f"--memory 1 gives exit code {code} and other output: {messages[-200:]!r}"


def form_of(one: Case) -> list[str]:
    """Give `-f` for standard input where the file's extension decides the format."""
    extension = source(one).rpartition(".")[2]
    return ["-f", extension] if extension in ("csv", "tsv", "jsonl") else []


def checked(call, one: Case, output: bytes) -> str:
    """`check` of the sorted result says 0 (section 2)."""
    if has(one.options, ("--top", "--invalid")):
        return ""
    _, messages, code = call(["check", *one.options, *form_of(one)], output)
    return "" if code == 0 else f"check of the result says {code}: {messages[-200:]!r}"


def again(call, one: Case, output: bytes) -> str:
    """Sorting the result again gives the same bytes (section 4: equal keys keep their order)."""
    if has(one.options, ("--top", "--invalid")):
        return ""
    got, messages, code = call(["sort", *one.options, *form_of(one)], output)
    return "" if (code, got) == (0, output) else f"sorting again gives exit code {code} and other output: {messages[-200:]!r}"


def merged(call, one: Case, output: bytes) -> str:
    """Merging the sorted result with an empty input gives the same bytes (section 2)."""
    if has(one.options, ("--top", "--invalid")):
        return ""
    got, messages, code = call(["merge", *one.options, *form_of(one)], output)
    return "" if (code, got) == (0, output) else f"merging gives exit code {code} and other output: {messages[-200:]!r}"
