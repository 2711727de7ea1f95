"""What a receiver's answer comes to (RFC 9110 §15; Standard Webhooks, "Delivery success and failure").

1. Any 2xx: it is there. Whatever else the answer says, and however it ends, changes nothing about that.
2. A redirect is a refusal: where our messages go is for the operator to say.
3. 401 and 403 say that our signature does not count there. That is mended at either end, by whoever changes a
   secret, so it is tried again, where another 4xx is not.
4. 408, 425, 429 and 5xx are for now only; ``Retry-After`` says how long.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from placet.domain.deliveries import RETRY_AFTER_MAX_MS, Failure

_FAILURES: Final[Mapping[int, Failure]] = {
    401: Failure.CREDENTIAL,
    403: Failure.CREDENTIAL,
    404: Failure.UNREACHABLE,  # a receiver that is just being deployed answers so
    408: Failure.TIMEOUT,
    410: Failure.NO_SUCH_TARGET,
    413: Failure.TOO_LARGE,
    425: Failure.SERVER_ERROR,
    429: Failure.RATE_LIMITED,
}
_SUCCESS: Final = range(200, 300)
_SERVER_ERRORS: Final = range(500, 600)
_SECONDS: Final = re.compile("[0-9]+")
_DIGITS_MAX: Final = 9
"""Thirty years: whatever has more digits is more than is ever waited."""


def failure_of(status: int) -> Failure | None:
    """Why a message with this answer is not delivered; ``None``: it is."""
    if status in _SUCCESS:
        return None
    if status in _SERVER_ERRORS:
        return Failure.SERVER_ERROR
    return _FAILURES.get(status, Failure.REFUSED)


def retry_after_ms(values: Sequence[str], now_ms: int) -> int | None:
    """How long ``Retry-After`` (RFC 9110 §10.2.3) asks for, `RETRY_AFTER_MAX_MS` at most.

    Args:
        values: Of each such header of the answer. Several contradict each other and count for nothing.
        now_ms: Our clock, which a date is held against; Unix milliseconds.
    """
    if len(values) != 1:
        return None
    text = values[0].strip()
    if _SECONDS.fullmatch(text):
        wait_ms = RETRY_AFTER_MAX_MS if len(text) > _DIGITS_MAX else int(text) * 1_000
    else:
        try:
            at = parsedate_to_datetime(text)
        except (ValueError, OverflowError, IndexError):  # of what is not quite a date
            return None
        # HTTP has no time but UTC; a date that says none, or an unknown one, is taken for it.
        wait_ms = round(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1_000) - now_ms
    return min(max(wait_ms, 0), RETRY_AFTER_MAX_MS)
