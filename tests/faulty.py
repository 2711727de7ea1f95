"""Vectors of files that are refused: the text of each, and what is said of which line."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_VECTORS = Path(__file__).parent / "vectors"
_CASE = re.compile(r"^=== (.+)\n", re.MULTILINE)
_MARK = " # ✗ "
_AND = " ✗ "


class Case(NamedTuple):
    """A file, and the lines that say what is wrong with it."""

    text: str
    said: list[str]


def cases(name: str) -> Mapping[str, Case]:
    """The cases of a vector file, by name."""
    _, *parts = _CASE.split((_VECTORS / f"{name}.txt").read_text(encoding="utf-8"))
    return {
        title: _case(text.rstrip("\n") + "\n") for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


def _case(text: str) -> Case:
    said = []
    for number, line in enumerate(text.split("\n"), start=1):
        _, *messages = f" {line}".split(_MARK)
        said += [f"{number}: {each}" for message in messages for each in message.split(_AND)]
    return Case(text, said)
