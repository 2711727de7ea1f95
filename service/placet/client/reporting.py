"""What is told of an execution: that it ended, in which way, and only what may be read by anybody."""

import logging
from collections.abc import Callable
from typing import Any, Final

from placet.client.quiet import Quiet
from placet.domain.cutting import cut
from placet.domain.errors import PlacetError

PATIENCE_S: Final = 2.0
"""How long a result waits for its report; the report goes on."""

_SUMMARY_MAX_CHARS: Final = 2_000
_INTERRUPTED: Final = "It was interrupted while it ran."
_FAILED: Final = "It failed."

_log: Final = logging.getLogger("placet.client.hook")


class Telling(Quiet, frozen=True, kw_only=True):
    """How an end is put into words.

    Attributes:
        summary: Makes a summary of a result; without it there is none.
        errors: Whether the text of an exception is the summary of a failure. It may hold anything.
    """

    summary: Callable[[Any], str] | None = None
    errors: bool = False

    def result(self, result: object) -> str | None:
        """Of a result. What goes wrong here is no failure of the tool's."""
        if self.summary is None:
            return None
        try:
            return _short(self.summary(result))
        except Exception as fault:  # noqa: BLE001 - the tool has run, whatever its words do
            _log.warning("no summary of a result: %s", type(fault).__name__)
            return None

    def failure(self, error: BaseException) -> str:
        """Of a failure."""
        if not isinstance(error, Exception):
            return _INTERRUPTED
        return _short(str(error)) or _FAILED if self.errors else _FAILED


def unreported(approval_id: str, fault: Exception) -> None:
    """Log that an outcome could not be told; it hides no result."""
    _log.warning("the outcome of approval %r is not reported: %s", approval_id, name_of(fault))


def name_of(fault: Exception) -> str:
    """What a log may say of a fault, which may hold anything."""
    return fault.code if isinstance(fault, PlacetError) else type(fault).__name__


def _short(text: str) -> str:
    return cut(text, _SUMMARY_MAX_CHARS).text
