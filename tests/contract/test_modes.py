"""Shows that the contract agrees with itself: check, sorting again, and merging hold for the oracle's own results."""

import gzip
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import modes  # noqa: E402
import oracle  # noqa: E402
import run  # noqa: E402
from generate import FAMILIES, case  # noqa: E402


def oracle_as_binary(one, folder: Path):
    """Give a function that answers as the binary does, by the oracle."""
    def call(words, stdin):
        words = words[:-2] if words[-2:] == ["--memory", "1"] else words
        files = {**one.files, "-": unpacked(stdin or b"")}
        packed = {word: word.removesuffix(".gz") for word in words if word.endswith(".gz")}
        files |= {name: unpacked((folder / word).read_bytes()) for word, name in packed.items()}
        words = [packed.get(word, word) for word in words]
        result = oracle.run(words, lambda name: files[name] if name in files else (folder / name).read_bytes())
        return result.output, result.error.encode(), result.code
    return call


def unpacked(data: bytes) -> bytes:
    """Decompress data that gzip made, and give other data as it is."""
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


class Modes(unittest.TestCase):
    def test_families(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            for family in FAMILIES:
                for number in range(8):
                    one = case(family, number, 3)
                    want = run.expected(one)
                    if want.code == 0 and one.words[0] != "check":
                        with self.subTest(command=one.command):
                            self.assertEqual(modes.differences(oracle_as_binary(one, Path(name)), one, want, Path(name)), "")

    def test_a_wrong_merge_is_noticed(self) -> None:
        one = case("words", 1, 1)
        want = oracle.Result(b"a\nb\n", parts=(b"b\n", b"a\n"))
        with tempfile.TemporaryDirectory() as name:
            wrong = modes.merged(lambda words, stdin: (b"b\na\n", b"", 0), one, want, Path(name))
        self.assertEqual(wrong, "-m of two sorted parts gives other output")


if __name__ == "__main__":
    unittest.main()
