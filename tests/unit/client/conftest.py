"""Fixtures: scenes for clients of both faces."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.agents import FACES, Scene


@pytest.fixture(params=FACES)
def scene(request: pytest.FixtureRequest) -> Callable[..., Scene]:
    """Makes a scene of these answers, for each face in turn."""

    def make(*answers: Any, **options: Any) -> Scene:
        return Scene(request.param, answers, **options)

    return make
