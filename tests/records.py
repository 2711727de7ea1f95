"""Records as the scripts answer them, part by part."""

from typing import Any

from placet.store.codec import encode, person_mark
from placet.store.record import Record
from tests.factories import INPUT, T0_MS, an_ask, call_of, digest_of

ASK = an_ask(id="apr_1", audience="tool-server")
DEADLINE = T0_MS + 900_000
ANN, BOB = person_mark("ann"), person_mark("bob")


def a_line(at_ms: int, kind: str, document: Any) -> bytes:
    """One line of a log."""
    return b"%d %s %s" % (at_ms, kind.encode(), encode(document))


def _bytes(value: str | int | bytes) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def a_record(
    *lines: bytes,
    now_ms: int = T0_MS,
    held: bytes | None = INPUT,
    original: bytes | None = None,
    **fields: str | int | bytes,
) -> Record:
    """A record as a script answers it: pending unless its fields say otherwise."""
    compared: dict[str, str | int | bytes] = {
        "s": "pending",
        "g": bytes.fromhex(digest_of(ASK)),
        "c": bytes.fromhex(call_of(ASK)),
        "k": "runtime",
        "u": "tool-server",
        "x": DEADLINE,
        "q": 1,
        "t": T0_MS,
        "n": "nonce",
        **fields,
    }
    flat = [part for name, value in compared.items() for part in (name.encode(), _bytes(value))]
    log = [a_line(T0_MS, "requested", ASK), *lines]
    return Record.of("default", now_ms, b"apr_1", flat, log, held, original)
