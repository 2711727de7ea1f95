"""What somebody can do who can write the store, but has no key: forge, move, exchange, break.

All of it in the tenant ``default`` unless a tag says otherwise.
"""

import json
from collections.abc import Callable
from typing import Any

from tests.factories import T0_MS
from tests.harness import Harness

TAG = "{placet:default}:"
BROKEN = (500, "INTERNAL_ERROR")
"""What a caller hears of a record that somebody tampered with."""
PARTS = "alio"
"""Letters of a record's own keys."""
MADE_UP_SEAL = b"A" * 43


def part(letter: str, approval_id: str, tag: str = TAG) -> str:
    """The key of a record's compared fields (a), log (l), input (i) or input as it was asked (o)."""
    return f"{tag}{letter}:{approval_id}"


def a(asked: dict[str, Any]) -> str:
    """The key of a record's compared fields."""
    return part("a", asked["id"])


def log(asked: dict[str, Any]) -> str:
    """The key of a record's log."""
    return part("l", asked["id"])


def held(asked: dict[str, Any]) -> str:
    """The key of a record's input."""
    return part("i", asked["id"])


def original(asked: dict[str, Any]) -> str:
    """The key of a record's input as it was asked."""
    return part("o", asked["id"])


async def rewritten(redis: Any, key: str, at: int, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the document of one line of a log, and leave its seal."""
    line = (await redis.lrange(key, at, at))[0]
    head, brace, document = line.partition(b"{")
    words = json.loads(brace + document)
    change(words)
    await redis.lset(key, at, head + json.dumps(words).encode())


async def flipped(h: Harness, asked: dict[str, Any], vote: bytes | None = None) -> None:
    """Have the store say that a pending record is approved, with a vote if there is one."""
    await h.redis.hset(a(asked), mapping={"s": "approved", "b": str(T0_MS + 900_000)})
    if vote is not None:
        await h.redis.rpush(log(asked), b"%d approved " % T0_MS + vote)


def a_vote(asked: dict[str, Any], seal: bytes = MADE_UP_SEAL, **changes: Any) -> bytes:
    """A vote as the store keeps it, with a seal that somebody made up."""
    vote = {
        "decision": "approve",
        "approver": {"id": "ann", "display_name": None},
        "channel": "api",
        "submitted_by": None,
        "comment": None,
        "digest": asked["digest"],
    }
    return seal + json.dumps({**vote, **changes}).encode()


async def copied(redis: Any, asked: dict[str, Any], to: str, tag: str = TAG) -> None:
    """Put the parts of a record under another id or into another tenant, and that into the indexes there."""
    for letter in PARTS:
        await redis.copy(part(letter, asked["id"]), part(letter, to, tag), replace=True)
    at_ms, client = await redis.hmget(a(asked), "t", "k")
    for index in ("x", "x:p", f"x:c:{client.decode()}"):
        await redis.zadd(tag + index, {f"{int(at_ms):013d}:{to}": 0})
