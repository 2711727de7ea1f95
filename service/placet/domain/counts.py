"""What statistics count: decisions of each kind, how long something took, and how questions ended."""

from collections import Counter
from collections.abc import Iterable
from typing import Self

from msgspec import Struct

from placet.domain.facts import Ending, Said
from placet.domain.model import Verdict


class Decisions(Struct, frozen=True, kw_only=True):
    """How many decisions, of each kind."""

    approved: int = 0
    rejected: int = 0
    changed: int = 0

    @classmethod
    def of(cls, said: Iterable[Said]) -> Self:
        """These."""
        counts = Counter(each.verdict for each in said)
        return cls(
            approved=counts[Verdict.APPROVE], rejected=counts[Verdict.REJECT], changed=counts[Verdict.EDIT]
        )

    @property
    def total(self) -> int:
        """All of them."""
        return self.approved + self.rejected + self.changed


class Took(Struct, frozen=True, kw_only=True):
    """How long something took, of so many.

    Attributes:
        count: How many.
        median_ms: Half took no longer; of an even number it lies halfway between the middle two.
        p90_ms: Nine of ten took no longer: the time of one of them ("nearest rank").
    """

    count: int = 0
    median_ms: int | None = None
    p90_ms: int | None = None

    @classmethod
    def of(cls, times_ms: Iterable[int]) -> Self:
        """These."""
        times = sorted(times_ms)
        count = len(times)
        if not count:
            return cls()
        median_ms = (times[(count - 1) // 2] + times[count // 2]) // 2
        return cls(count=count, median_ms=median_ms, p90_ms=times[-(-9 * count // 10) - 1])


class Endings(Struct, frozen=True, kw_only=True):
    """How many questions ended, in each way (:class:`~placet.domain.facts.Ending`)."""

    used: int = 0
    rejected: int = 0
    cancelled: int = 0
    unanswered: int = 0
    unused: int = 0

    @classmethod
    def of(cls, ended: Iterable[Ending]) -> Self:
        """These."""
        counts = Counter(ended)
        return cls(**{each.value: counts[each] for each in Ending})

    @property
    def total(self) -> int:
        """All of them."""
        return self.used + self.rejected + self.cancelled + self.expired

    @property
    def expired(self) -> int:
        """Those that time ended, answered or not."""
        return self.unanswered + self.unused

    @property
    def share_expired(self) -> float | None:
        """Of all that ended, from 0 to 1; ``None`` where none did."""
        return self.expired / self.total if self.total else None
