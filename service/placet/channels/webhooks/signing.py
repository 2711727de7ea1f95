"""Signatures of Standard Webhooks 1.0.0 with a shared secret: on what goes out, and on what comes in.

1. What is signed is ``<id>.<timestamp>.<body>``, by HMAC-SHA256 ("Signature scheme"). The library of the
   standard does that, for both ways. Its own check is not used: it reads the machine's clock, takes ``1e9``
   for a time, and fails otherwise than by a refusal where a header is not well-formed.
2. An id has no full stop in it: what is signed could be cut in two ways.
3. Several secrets count at once while one takes another's place: each signs what goes out, any one of them
   proves what comes in.
4. What comes in has exactly one of each header. Its body is compared as it was sent, and nothing is made of
   it before it is proved.
"""

import base64
import binascii
import hmac
import re
import secrets as chance
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct
from standardwebhooks import Webhook

ID: Final = "webhook-id"
TIMESTAMP: Final = "webhook-timestamp"
SIGNATURE: Final = "webhook-signature"

WINDOW_S: Final = 300
"""How far the time of a message may be from ours, both ways."""
SECRET_MIN_BYTES: Final = 24
"""As the standard has it."""
SECRET_MAX_BYTES: Final = 64
"""As the standard has it: 512 bits."""
NEW_SECRET_BYTES: Final = 32
"""What HMAC-SHA256 makes full use of."""

_PREFIX: Final = "whsec_"
_HEADERS: Final = (ID, TIMESTAMP, SIGNATURE)
# Visible ASCII but the full stop.
_ID: Final = re.compile(r"[!-\-/-~]{1,256}")
_SECONDS: Final = re.compile(r"[0-9]{1,11}")
# Sixteen are more than any sender has secrets, and a check costs as many comparisons.
_SIGNATURES: Final = re.compile(r"[0-9a-z]{1,8},[!-+\--~]{1,512}(?: [0-9a-z]{1,8},[!-+\--~]{1,512}){0,15}")


class Unproved(StrEnum):
    """Why a message is not believed, for the log."""

    MISSING = "missing"
    DOUBLED = "doubled"
    MALFORMED = "malformed"
    OLD = "old"
    FUTURE = "future"
    WRONG = "wrong"


class SignatureInvalid(Exception):  # noqa: N818 - as TokenInvalid
    """A message is not from whom it should be, or not of now.

    Attributes:
        reason: Why. For the log alone: whoever sent it hears that it is refused.
    """

    def __init__(self, reason: Unproved) -> None:
        super().__init__(f"signature refused: {reason}")
        self.reason = reason


class Proved(Struct, frozen=True, kw_only=True):
    """A message that is from somebody who has the secret.

    Attributes:
        message_id: What it goes by: the same again is the same message again.
    """

    message_id: str


def headers(secrets: Sequence[bytes], message_id: str, at_s: int, body: bytes) -> dict[str, str]:
    """The headers that a message is sent with.

    Args:
        secrets: All that count now, at least one.
        message_id: Stable: an attempt that is made again has the same. 1 to 256 visible ASCII characters, no
            full stop.
        at_s: When this attempt is made; Unix seconds.
        body: Exactly what is sent, in UTF-8.

    Raises:
        ValueError: There is no secret, or the id or the body is not as above.
    """
    if not secrets:
        raise ValueError("There is no secret to sign with.")
    if _ID.fullmatch(message_id) is None:
        raise ValueError("A message id has 1 to 256 visible ASCII characters and no full stop.")
    return {
        ID: message_id,
        TIMESTAMP: str(at_s),
        SIGNATURE: " ".join(_signed(secrets, message_id, at_s, body)),
    }


def proved(
    secrets: Sequence[bytes], headers: Iterable[tuple[bytes, bytes]], body: bytes, now_s: int
) -> Proved:
    """What is proved of a message that came in.

    Args:
        secrets: All that count now. Without any, nothing is proved.
        headers: All of the request's, as they came: one that came twice stands there twice.
        body: The bytes as they came.
        now_s: Our clock; Unix seconds.

    Raises:
        SignatureInvalid: It is not believed.
    """
    message_id, timestamp, signatures = _well_formed(_one_of_each(headers))
    at_s = int(timestamp)
    if at_s < now_s - WINDOW_S:
        raise SignatureInvalid(Unproved.OLD)
    if at_s > now_s + WINDOW_S:
        raise SignatureInvalid(Unproved.FUTURE)
    try:
        good = _signed(secrets, message_id, at_s, body)
    except UnicodeDecodeError:
        raise SignatureInvalid(Unproved.MALFORMED) from None
    # As text: there is one way to write 32 bytes, and another version of a signature equals none of these.
    matches = [hmac.compare_digest(given, ours) for given in signatures.split(" ") for ours in good]
    if not any(matches):
        raise SignatureInvalid(Unproved.WRONG)
    return Proved(message_id=message_id)


def new_secret() -> bytes:
    """A secret of its own for one endpoint."""
    return chance.token_bytes(NEW_SECRET_BYTES)


def written(secret: bytes) -> str:
    """A secret as receivers are given it: ``whsec_`` and base64 ("Signature scheme")."""
    return _PREFIX + base64.b64encode(secret).decode()


def secret_of(text: str) -> bytes:
    """The secret that is written there.

    Raises:
        ValueError: It is none; the message follows its name and repeats nothing of it.
    """
    encoded = text.removeprefix(_PREFIX)
    try:
        secret = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if encoded == text or not SECRET_MIN_BYTES <= len(secret) <= SECRET_MAX_BYTES:
        raise ValueError(
            f"must be {_PREFIX} and the base64 of {SECRET_MIN_BYTES} to {SECRET_MAX_BYTES} random bytes"
        )
    return secret


def _signed(secrets: Sequence[bytes], message_id: str, at_s: int, body: bytes) -> list[str]:
    text = body.decode()
    at = datetime.fromtimestamp(at_s, UTC)
    return [Webhook(secret).sign(message_id, at, text) for secret in secrets]


def _one_of_each(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    for raw, value in headers:
        name = raw.lower().decode("latin-1")
        if name in found:
            raise SignatureInvalid(Unproved.DOUBLED)
        if name in _HEADERS:
            found[name] = value
    if len(found) < len(_HEADERS):
        raise SignatureInvalid(Unproved.MISSING)
    return found


def _well_formed(found: Mapping[str, bytes]) -> tuple[str, str, str]:
    # Latin-1 fails on nothing, and what is not ASCII matches none of these.
    message_id, timestamp, signatures = (found[name].decode("latin-1") for name in _HEADERS)
    good = _ID.fullmatch(message_id) and _SECONDS.fullmatch(timestamp) and _SIGNATURES.fullmatch(signatures)
    if not good:
        raise SignatureInvalid(Unproved.MALFORMED)
    return message_id, timestamp, signatures
