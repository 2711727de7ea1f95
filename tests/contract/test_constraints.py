"""The pinned versions are those of what the project asks for, and say nothing of where they come from."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINNED = (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8")


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=;, ]", requirement)[0].lower()


def test_every_dependency_is_pinned_with_hashes() -> None:
    """What the base install and the server extra ask for has one version and at least one hash."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {_name(each) for each in (*project["dependencies"], *project["optional-dependencies"]["server"])}
    pinned = set(re.findall(r"^([a-z0-9.-]+)==\S+.*\\\n    --hash=sha256:", PINNED, re.MULTILINE))
    assert asked <= pinned


def test_no_download_address_is_recorded() -> None:
    """Where packages are fetched from is the installing machine's to say."""
    assert "://" not in PINNED
