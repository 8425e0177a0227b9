"""What scripts of generated cases share: their arguments, the loop over cases, and a wrong program that they must notice."""

import argparse
import os
import random
import sys
import tempfile


def arguments(*names):
    """Parse the arguments: the program, these further ones, the number of cases and their seed."""
    parser = argparse.ArgumentParser()
    for name in ("binary", *names):
        parser.add_argument(name)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def run_all(count, seed, case):
    """Run `case(rng, folder, number)` for each number, each in a folder of its own."""
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                case(random.Random(seed * 1_000_003 + number), folder, number)
            except Exception:
                print(f"case {number} of seed {seed}", file=sys.stderr)
                raise
    print(f"{count} cases as expected")


def noticed(rng, script, case):
    """Run `case(rng, binary, folder)` 20 times with a shell script as the program, and count the cases that fail."""
    with tempfile.TemporaryDirectory() as folder:
        stub = os.path.join(folder, "stub")
        with open(stub, "w") as program:
            program.write("#!/bin/sh\n" + script)
        os.chmod(stub, 0o755)
        found = 0
        for _ in range(20):
            try:
                case(rng, stub, folder)
            except Exception:
                found += 1
        return found
