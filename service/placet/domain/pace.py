"""Pace: approvals that came too fast, one after another, to have been read. A hint, never a refusal.

A card is made to be judged in ten seconds (design §10), so an approval within ten of the one before was
given in less time than its card takes. One such is nothing: two questions may be alike, or both open already.
Five in a row are what clicking through looks like. Rejections neither count nor break a run: nothing runs by
them, and many may be rejected at once.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

GAP_MS: Final = 10_000
"""The longest time between an approval and the next that is too short to have read a card in."""
TOGETHER_MS: Final = 600
"""A card's buttons do nothing for so long after it came (``static/card.js``): what is approved sooner after
another on the pages was approved with it, in one act, of cards that had each been opened before."""
RUN_MIN: Final = 5
"""How many approvals it takes, each so soon after the one before."""


class Approved(NamedTuple):
    """That somebody approved something, and when."""

    at_ms: int
    approval_id: str
    on_the_web: bool = False


class Haste(Struct, frozen=True, kw_only=True):
    """Approvals of one person in one run: the first and the last moment, and of what, in their order."""

    from_ms: int
    to_ms: int
    approval_ids: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many."""
        return len(self.approval_ids)

    @property
    def took_ms(self) -> int:
        """From the first to the last."""
        return self.to_ms - self.from_ms


def hasty(approvals: Iterable[Approved]) -> list[Haste]:
    """The runs among the approvals of one person, in any order and of any channel; the earliest first."""
    runs = (run for run in _runs(sorted(approvals)) if len(run) >= RUN_MIN)
    return [
        Haste(
            from_ms=run[0].at_ms,
            to_ms=run[-1].at_ms,
            approval_ids=tuple(each.approval_id for each in run),
        )
        for run in runs
    ]


def _runs(approvals: Sequence[Approved]) -> Iterator[list[Approved]]:
    """Parted wherever there was time to read; of what was approved in one act, the first."""
    run: list[Approved] = []
    before: Approved | None = None
    for each in approvals:
        together = before is not None and each.on_the_web and before.on_the_web
        gap_ms = 0 if before is None else each.at_ms - before.at_ms
        before = each
        if together and gap_ms < TOGETHER_MS:
            continue
        if gap_ms > GAP_MS:
            yield run
            run = []
        run.append(each)
    yield run
