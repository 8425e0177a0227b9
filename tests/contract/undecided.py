"""A record of the places where the contract does not decide.

The oracle calls `mark` when an input reaches such a place. `UNDECIDED.md` explains each label.
A difference in a case with a label may be a gap of the contract and not a fault of the program.
"""

LABELS: set[str] = set()


def clear() -> None:
    """Forget the labels of the last run."""
    LABELS.clear()


def mark(label: str) -> None:
    """Note that the input reached the undecided place `label`."""
    LABELS.add(label)
