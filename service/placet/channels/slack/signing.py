"""Whether a request is Slack's: its signature over the very bytes that came, no more than minutes ago.

https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

import re
from collections.abc import Collection, Iterable
from typing import Final

from slack_sdk.signature import Clock, SignatureVerifier

TIMESTAMP_HEADER: Final = b"x-slack-request-timestamp"
SIGNATURE_HEADER: Final = b"x-slack-signature"
WINDOW_S: Final = 300
"""By how much a request may be older, or newer, than we think it is: the SDK's own."""

_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)


def why_not(
    apps: Collection[object], body: bytes, timestamp: str | None, signature: str | None, now_ms: int
) -> str:
    """Why a request that nobody has signed is none of Slack's, in words for an operator."""
    if not apps:
        return "the directory has no Slack app"
    if not _TIMESTAMP.fullmatch(timestamp or "") or not _SIGNATURE.fullmatch(signature or ""):
        return "its headers are not Slack's"
    if not body.isascii():
        return "its body is not Slack's"
    off_s = now_ms // 1_000 - int(timestamp or 0)
    if abs(off_s) > WINDOW_S:
        return f"its time is {abs(off_s)} s {'behind' if off_s > 0 else 'ahead of'} ours: look at the clocks"
    return "no signing secret of the directory in force made its signature"


class _Now(Clock):
    """The time, as we know it."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def now(self) -> float:
        return self._now_ms / 1_000


def signers(
    secrets: Iterable[str], body: bytes, timestamp: str | None, signature: str | None, now_ms: int
) -> frozenset[str]:
    """Those of some secrets that a request is signed with: none, where it is malformed, old or of the future.

    Every secret is tried, whichever fits: how long it takes tells nothing.

    Args:
        secrets: Signing secrets.
        body: The body, byte for byte.
        timestamp: The one header that says when; ``None`` where there is none.
        signature: The one header with the signature; likewise.
        now_ms: What we think it is, Unix milliseconds.
    """
    is_formed = _TIMESTAMP.fullmatch(timestamp or "") and _SIGNATURE.fullmatch(signature or "")
    if not is_formed or not body.isascii():  # a form is ASCII, and the SDK decodes what it verifies
        return frozenset()
    now = _Now(now_ms)
    return frozenset(
        [secret for secret in secrets if SignatureVerifier(secret, now).is_valid(body, timestamp, signature)]
    )
