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


def pasted(stage: Stage, folder: Path, url: str) -> subprocess.CompletedProcess[str]:
    """The story, told where that service is."""
    told = STORY.findall(README.read_text())
    assert len(told) == 1
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", told[0]],
        cwd=folder,
        env=environment({**stage.variables, "PLACET_URL": url}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )


def test_story(stage: Stage, folder: Path) -> None:
    """The story told with curl is what happens: asked, decided, refused where it differs, consumed once."""
    done = pasted(stage, folder, stage.replicas[0].url)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["approved", "APPROVAL_INPUT_MISMATCH", "consumed", "APPROVAL_CONSUMED"]
    assert [each.name for each in folder.iterdir()] == [".venv"], "it leaves nothing behind"


def test_story_without_a_service(stage: Stage, folder: Path) -> None:
    """It stops at the first call, and says in plain words why; so it does where the answer is a refusal."""
    done = pasted(stage, folder, "http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (1, "")
    *_, last = done.stderr.splitlines()
    assert last == "No id came back. Is a service running at http://127.0.0.1:9?"
    assert "Traceback" not in done.stderr
    done = pasted(stage, folder, f"{stage.replicas[0].url}/nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith('No id came back. {"type":"/errors/ROUTE_NOT_FOUND"')
