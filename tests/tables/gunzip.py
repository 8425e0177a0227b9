"""Checks that the first file is what the second one is, compressed by gzip."""

import gzip
import sys

compressed, plain = sys.argv[1:]
with gzip.open(compressed) as found, open(plain, "rb") as expected:
    assert found.read() == expected.read()
