"""Fixtures: replicas of a module's tests, and the cast of each test."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.e2e.stage import Cast, Stage, casting, several


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
