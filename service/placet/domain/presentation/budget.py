"""How much room a medium has, and what a text takes of it.

A chat message has little, a web page plenty; a terminal counts columns, Slack counts characters after it has
escaped them. Whatever does not fit is cut, with a mark that says so and how much there is in all.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from placet.domain.cutting import boundary

COLUMNS_MIN: Final = 80
"""Columns below which the marks themselves would not fit beside deep indentation."""
_LINES_MIN: Final = 4
_CHARS_MIN: Final = 64
_BOUNDLESS: Final = 2**53


def cut_mark(size: int) -> str:
    """What stands where a text was cut."""
    return f"⟨cut: {size:,} characters in all⟩"


class Budget(Struct, frozen=True, kw_only=True):
    """The room for a card.

    A tree (input, context, what was changed) takes at most ``lines`` times ``columns`` in all, as
    :func:`placet.domain.presentation.outline.outline` writes it with the same ``columns``.

    Attributes:
        lines: Most lines of a tree; a text longer than a line takes several.
        columns: Of a line, at least 80.
        text_chars: Most of one text outside trees: a name, a reason, a comment, the mark included.
        items: Most items of a list: reasons, decisions.
        gist_chars: Most of what stands in a list for the beginning of an input.
        whole_view: Whether this is where people can see all that an approver may see. Elsewhere a card that
            is redacted, or whose input is withheld, can't be approved (design §10).
        cost: What a text takes: characters, unless the medium counts otherwise. The cost of two texts
            together is the sum of theirs.

    Raises:
        ValueError: There is less room than a mark needs.
    """

    lines: int
    columns: int = 100
    text_chars: int = 2_000
    items: int = 64
    gist_chars: int = 80
    whole_view: bool = False
    cost: Callable[[str], int] = len

    def __post_init__(self) -> None:
        if self.lines < _LINES_MIN or self.columns < COLUMNS_MIN:
            raise ValueError(f"a tree takes at least {_LINES_MIN} lines of {COLUMNS_MIN} columns")
        if self.text_chars < _CHARS_MIN or self.items < 1:
            raise ValueError(f"a text takes at least {_CHARS_MIN} characters, a list at least 1 item")

    @classmethod
    def boundless(cls, *, columns: int = 100, cost: Callable[[str], int] = len) -> "Budget":
        """Room for everything, in a medium that shows everything."""
        return cls(
            lines=_BOUNDLESS,
            columns=max(columns, COLUMNS_MIN),
            text_chars=_BOUNDLESS,
            items=_BOUNDLESS,
            whole_view=True,
            cost=cost,
        )

    def within(self, shown: str, most: int, *, of: int, is_part: bool = False) -> str:
        """A visible text, cut where there is no room for it, and marked with its length before it was cut.

        Args:
            shown: The text.
            most: What it may cost, the mark included.
            of: Characters of it in full, as they were before they were made visible.
            is_part: Whether it is only the beginning of a text, and so is marked in any case.
        """
        if not is_part and self.cost(shown) <= most:
            return shown
        mark = f"… {cut_mark(of)}"
        return self.clip(shown, most - self.cost(mark)) + mark

    def clip(self, shown: str, most: int) -> str:
        """The longest beginning of a visible text that costs no more; no character is torn apart."""
        reach = max(most, 1)
        while reach < len(shown) and self.cost(shown[:reach]) <= most:
            reach *= 2
        if reach >= len(shown):
            if self.cost(shown) <= most:
                return shown
            reach = len(shown)
        low = 0
        while low < reach:  # the least length that costs too much lies in (low, reach]
            middle = (low + reach + 1) // 2
            low, reach = (middle, reach) if self.cost(shown[:middle]) <= most else (low, middle - 1)
        return shown[: boundary(shown, low)]
