"""Fixtures: replicas of a module's tests, and the cast of each test."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.e2e.browsers import launched
from tests.e2e.stage import Cast, Stage, alone, casting, several

POLICY = """
[[rules]]
name = "all"
capabilities = ["*"]
approvers = { people = ["ann", "bob"] }
edit = "counts"
"""


@pytest.fixture(scope="module")
def pair() -> Iterator[Stage]:
    """Two replicas over one store, for the tests of a module."""
    with several(2) as stage:
        yield stage


@pytest.fixture
async def cast(pair: Stage) -> AsyncIterator[Cast]:
    """Who takes part, with lines to both replicas of ``pair``."""
    async with casting(pair) as cast:
        yield cast


@pytest.fixture(scope="module")
def service() -> Iterator[Stage]:
    """One service over its own store, for the tests of a module."""
    with alone() as stage:
        yield stage


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """One service over its own store, whose pages people open."""
    with alone(policy=POLICY) as stage:
        yield stage


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    """Chromium, for the tests of a module."""
    async with launched() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """Chromium without anything open."""
    yield chromium
    for context in chromium.contexts:
        await context.close()
