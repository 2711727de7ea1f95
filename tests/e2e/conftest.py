"""Fixtures: replicas of a module's tests, and the cast of each test."""

from collections.abc import AsyncIterator, Iterator

import pytest
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
def stage() -> Iterator[Stage]:
    """One service over its own store, whose pages people open."""
    with alone(policy=POLICY) as stage:
        yield stage


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Chromium."""
    async with launched() as browser:
        yield browser
