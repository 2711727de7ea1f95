"""How the command is named in what is to be typed next."""

import sys
from pathlib import Path

import pytest

from placet.cli.invoked import placet


@pytest.mark.parametrize(
    ("started", "shown"),
    [
        (".venv/bin/placet", ".venv/bin/placet"),
        ("/opt/my tools/placet", "'/opt/my tools/placet'"),
        ("/usr/bin/pytest", "placet"),
    ],
)
def test_a_path_stays_where_the_name_leads_elsewhere(started: str, shown: str) -> None:
    """As it was typed, quoted for a shell."""
    assert placet(started, found="/usr/local/bin/placet") == shown


def test_a_path_stays_where_the_name_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this name is on the PATH."""
    monkeypatch.setenv("PATH", "")
    assert placet(".venv/bin/placet") == ".venv/bin/placet"


def test_the_name_is_enough_where_the_path_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An activated environment, or an installation for all."""
    installed = tmp_path / "placet"
    installed.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert placet(str(installed)) == "placet"


def test_a_module_is_named_with_its_interpreter() -> None:
    """``python -m placet`` has no path of its own."""
    assert placet("/x/placet/__main__.py") == f"{sys.executable} -m placet"
