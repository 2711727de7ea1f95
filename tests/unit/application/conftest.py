"""Seals under a keyring of a test's own."""

from pathlib import Path

import pytest

from placet.application.grants import Seals
from tests.sealed import a_seals


@pytest.fixture
def seals(tmp_path: Path) -> Seals:
    """Of a keyring of its own."""
    return a_seals(tmp_path)
