"""Shows that `run.py` notices each way in which a binary may be wrong.

The binary is the oracle, which spoils its own output.
"""

import contextlib
import io
import stat
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import run  # noqa: E402

BINARY = """#!{python}
import sys
sys.path.insert(0, {here!r})
sys.dont_write_bytecode = True
import gzip
import oracle


def read(name):
    data = oracle.read_from_disk(name)
    return gzip.decompress(data) if data.startswith(b"\\x1f\\x8b") else data


# The file of the name without .gz is there, too.
words = [word.removesuffix(".gz") for word in sys.argv[1:]]
runs = {{"memory": False, "device": False}}
taken = [("--memory", "memory", 2), ("-d", "device", 2), ("--timing", "", 2), ("--json", "", 1)]
for option, name, count in taken:
    while option in words:
        at = words.index(option)
        if name == "device":
            runs[name] = words[at + 1] != "cpu"
        elif name:
            runs[name] = True
        del words[at:at + count]
if "--json" in sys.argv:
    kind = "software" if runs["device"] and {gpu} else "cpu"
    print('{{"device":{{"name":"x","kind":"%s"}}}}' % kind, file=sys.stderr)
result = oracle.run(words, read)
output, code, message = result.output, result.code, " ".join([result.error, *result.words])
lines = output.splitlines(keepends=True)
{fault}
sys.stderr.buffer.write(message.encode("utf-8", "surrogateescape"))
sys.stdout.buffer.write(output)
sys.exit(code)
"""

WRONG = {
    "two lines change places": 'output = b"".join(lines[:-2] + lines[:-3:-1])',
    "a line is lost": 'output = b"".join(lines[:-1])',
    "a line occurs twice": 'output = b"".join(lines + lines[-1:])',
    "another line stands in its place": 'output = b"".join(lines[:1] * len(lines))',
    "the last line has no end": 'output = output.rstrip(b"\\n")',
    "a byte differs": 'output = bytes([output[0] ^ 1]) + output[1:] if output else output',
    "nothing comes": 'output = b""',
    "an error is a success": "code = 0",
    "a success is an error": "code = 2",
    "a success is a disorder": "code = code or 1",
    "the message of an error names nothing": 'message = "error"',
    "there is output beside an error": 'output = output if code != 2 else b"x"',
    "it ends by a signal": "import os; os.abort()",
}


class Runs(unittest.TestCase):
    def found(self, fault: str, *words: str, gpu: bool = True) -> str:
        """Run `run.py` on a binary with the fault; give what it says, or nothing where no case differs."""
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder) / "gpusort"
            binary.write_text(BINARY.format(python=sys.executable, here=str(HERE), fault=fault, gpu=gpu))
            binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
            said = io.StringIO()
            arguments = ["run.py", str(binary), "--only", "mixed", "--cases", "12", "--skip-undecided"]
            with mock.patch.object(sys, "argv", arguments + list(words)), contextlib.redirect_stdout(said):
                code = run.main()
        return said.getvalue() if code else ""

    def test_a_right_binary_has_no_difference(self) -> None:
        self.assertEqual(self.found(""), "")
        self.assertEqual(self.found("", "--extra=-d cpu --memory 1", "--compare=-d 0"), "")

    def test_each_fault_is_noticed(self) -> None:
        for what, fault in WRONG.items():
            with self.subTest(what):
                self.assertIn("mixed", self.found(fault))

    def test_a_fault_in_little_memory_is_noticed(self) -> None:
        fault = 'output = b"".join(lines[:-1]) if runs["memory"] else output'
        self.assertIn("--memory 1", self.found(fault))
        self.assertIn("other output", self.found(fault, "--extra=--memory 1"))

    def test_a_fault_on_the_device_alone_is_noticed(self) -> None:
        for fault in ('output = b"".join(lines[:-1]) if runs["device"] else output',
                      'code = 3 if runs["device"] else code'):
            self.assertEqual(self.found(fault), "")
            self.assertIn("with -d 0", self.found(fault, "--extra=-d cpu", "--compare=-d 0"))

    def test_a_run_elsewhere_than_on_the_device_is_noticed(self) -> None:
        self.assertIn("not on the device of -d 0", self.found("", "--compare=-d 0", gpu=False))

    def test_no_case_is_a_failure(self) -> None:
        self.assertNotEqual(self.found("", "--cases=0"), "")


if __name__ == "__main__":
    unittest.main()
