"""Another input for an approval: read strictly, and shown beside the one that was asked for."""

from pathlib import Path
from typing import TextIO

from msgspec import Raw, Struct

from placet.cli.card import LINES_MAX, changed
from placet.cli.console import Terminal
from placet.cli.exits import Exit, Stop
from placet.cli.layout import columns_of
from placet.cli.sheet import MARGIN, Sheet
from placet.domain.admission import Fault, admit_value
from placet.domain.fault_words import words_of
from placet.domain.presentation import COLUMNS_MIN, Budget
from placet.domain.presentation.edits import edits
from placet.domain.presentation.tree import DEPTH_MAX, tree
from placet.domain.text import visible


class Changes(Struct, frozen=True, kw_only=True):
    """What would be changed, on a terminal.

    Attributes:
        lines: Place by place, with a title.
        warnings: Where something in the new input could mislead.
        are_none: There are none.
        were_cut: Not all of them are there.
    """

    lines: tuple[str, ...]
    warnings: tuple[str, ...]
    are_none: bool
    were_cut: bool


def read_input(file: str, stdin: TextIO) -> Raw:
    """The new input, byte for byte.

    Args:
        file: Its path; ``-`` for standard input.
        stdin: That.

    Raises:
        Stop: It can't be read, or is no JSON that everybody would agree on.
    """
    try:
        raw = stdin.read().encode() if file == "-" else Path(file).read_bytes()
    except OSError as fault:
        raise Stop(f"{visible(file)} can't be read ({fault.strerror}).", Exit.USAGE) from fault
    try:
        admit_value(raw, max_depth=DEPTH_MAX)
    except Fault as fault:
        raise Stop(f"--input can't be used: {words_of(fault)}.", Exit.USAGE) from None
    return Raw(raw)


def changes(before: Raw, after: Raw, terminal: Terminal, *, full: bool) -> Changes:
    """Compare the new input with the one on the card.

    Args:
        before: That on the card, all of which is shown.
        after: The new one.
        terminal: Where; gives width and colours.
        full: Show everything to its end, however long.
    """
    columns = max(terminal.width - len(MARGIN), COLUMNS_MIN)
    budget = Budget.boundless(columns=columns, cost=columns_of)
    if not full:
        budget = Budget(lines=LINES_MAX, columns=columns, whole_view=True, cost=columns_of)
    found, sheet = edits(before, after, budget), Sheet(terminal)
    hazards = tree(after, budget, where="the new input").hazards
    return Changes(
        lines=(*sheet.section("Your changes", changed(found, sheet)), ""),
        warnings=tuple(line for hazard in hazards for line in sheet.warning(hazard.sentence)),
        are_none=not (found.changes or found.missing),
        were_cut=found.was_cut,
    )
