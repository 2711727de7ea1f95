"""The operator's two files, to be written as a test likes."""

from pathlib import Path

import pytest

from tests.rulefiles import Files


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Right ones."""
    return Files(tmp_path)
