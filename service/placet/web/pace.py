"""How fast somebody approves on these pages. A hint for them, and never a refusal.

It is kept in this process alone: what it does not know of, because of a restart or another replica, it does
not mention. The page of statistics tells from the records.
"""

from collections import deque
from typing import Final

from placet.application.callers import Caller
from placet.application.clock import Clock
from placet.domain.pace import Approved, Haste, hasty

TOLD_FOR_MS: Final = 120_000
"""For how long after the last of them it is said: until it was read, and not for the rest of the day."""
PEOPLE_MAX: Final = 1_000
EACH_MAX: Final = 64
"""Whose approvals are remembered, and how many: some 10 MB at the very most."""


class RecentApprovals:
    """What people have approved of late.

    Args:
        clock: For its ``monotonic_s``.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._of: dict[tuple[str, str], deque[Approved]] = {}

    def add(self, caller: Caller, approval_id: str) -> None:
        """Remember that somebody approved it; sent twice, it is one approval."""
        name = _name(caller)
        known = self._of.pop(name, deque(maxlen=EACH_MAX))
        if approval_id not in {each.approval_id for each in known}:
            known.append(Approved(self._now_ms(), approval_id))
        if len(self._of) >= PEOPLE_MAX:
            del self._of[next(iter(self._of))]
        self._of[name] = known

    def hasty(self, caller: Caller) -> Haste | None:
        """What they have just approved too fast to have read it, if they have."""
        runs = hasty(self._of.get(_name(caller), ()))
        return runs[-1] if runs and self._now_ms() - runs[-1].to_ms <= TOLD_FOR_MS else None

    def _now_ms(self) -> int:
        return round(self._clock.monotonic_s() * 1000)


def _name(caller: Caller) -> tuple[str, str]:
    return caller.tenant, caller.principal.field
