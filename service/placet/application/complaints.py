"""What is refused before it is known whose it is, told to the operator, and not to whoever sent it.

The likeliest reasons are a wrong secret and a wrong clock, which nobody finds without a word. Of a flood the
log has a line now and then.
"""

import logging
from typing import Final

from placet.application.clock import Clock

EVERY_S: Final = 10.0
"""How often at most the log says the same of one door."""
_KINDS_MAX: Final = 64

_log = logging.getLogger(__name__)


class Complaints:
    """Says why.

    Args:
        clock: For its ``monotonic_s``.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._said_s: dict[tuple[str, str], float] = {}

    def say(self, door: str, why: str) -> None:
        """A callback was refused.

        Args:
            door: Which: a word of ours.
            why: Likewise; nothing of what was sent.
        """
        now_s = self._clock.monotonic_s()
        if now_s - self._said_s.get((door, why), -EVERY_S) < EVERY_S:
            return
        if len(self._said_s) >= _KINDS_MAX:
            self._said_s.clear()
        self._said_s[door, why] = now_s
        _log.warning("a callback was refused", extra={"callback": door, "why": why})
