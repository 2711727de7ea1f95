"""What the README promises a reader who copies and pastes."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.processes import WITHIN_S, environment
from tests.e2e.stage import Stage, alone

pytestmark = [pytest.mark.e2e, pytest.mark.real]

README = Path(__file__).parents[2] / "README.md"
STORY = re.compile(r"<!-- story -->\n```sh\n(.+?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A fresh service."""
    with alone() as stage:
        yield stage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the reader has installed Placet: a folder with a virtual environment."""
    commands = tmp_path / ".venv" / "bin"
    commands.mkdir(parents=True)
    (commands / "python3").symlink_to(sys.executable)
    placet = commands / "placet"
    placet.write_text(f'#!/bin/sh\nexec {sys.executable} -m placet "$@"\n')
    placet.chmod(0o755)
    return tmp_path


def test_story(stage: Stage, folder: Path) -> None:
    """The story told with curl is what happens: asked, decided, refused where it differs, consumed once."""
    told = STORY.findall(README.read_text())
    assert len(told) == 1
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", told[0]],
        cwd=folder,
        env=environment({**stage.variables, "PLACET_URL": stage.replicas[0].url}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["approved", "APPROVAL_INPUT_MISMATCH", "consumed", "APPROVAL_CONSUMED"]
    assert [each.name for each in folder.iterdir()] == [".venv"], "it leaves nothing behind"
