"""The names that are ours: a page of another site must not reach us by rebinding its own (DNS rebinding)."""

import logging
from collections.abc import Collection
from functools import lru_cache, partial
from typing import Final

from placet.application.clock import Clock
from placet.domain.cutting import cut
from placet.domain.errors import HostNotAllowed
from placet.domain.text import visible
from placet.settings.hosts import accepted

LOG_EVERY_S: Final = 60.0
"""How often a line is written about names that are not ours, however many requests bring them."""
_SHOWN_MAX_CHARS: Final = 100

_log = logging.getLogger("placet.api")


class Hosts:
    """Tells our names from others.

    Args:
        allowed: Ours (:mod:`placet.settings.hosts`).
        clock: For its ``monotonic_s``.
    """

    def __init__(self, allowed: Collection[str], clock: Clock) -> None:
        self._is_ours = lru_cache(maxsize=256)(partial(accepted, allowed=allowed))
        self._clock = clock
        self._refused = 0
        self._next_line_s = clock.monotonic_s()

    def check(self, host: str | None) -> None:
        """Nothing, where the ``Host`` header of a request is there and names us.

        Raises:
            HostNotAllowed: It does not.
        """
        if self._is_ours(host):
            return
        self._refused += 1
        now_s = self._clock.monotonic_s()
        if now_s >= self._next_line_s:
            shown = visible(cut(host or "", _SHOWN_MAX_CHARS).text)
            _log.warning(
                "a request was refused for its Host: is a name missing in PLACET_ALLOWED_HOSTS?",
                extra={"host": shown, "refused": self._refused},
            )
            self._refused = 0
            self._next_line_s = now_s + LOG_EVERY_S
        raise HostNotAllowed
