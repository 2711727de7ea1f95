"""What the doctor finds, without a store."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from placet.application.reset import ResetClock
from placet.cli import doctor
from placet.store.clock import Lag
from placet.store.connection import Level
from placet.store.embedded_errors import EmbeddedUnavailable
from tests.unit.cli.conftest import Ran, Type


def checks(ran: Ran) -> dict[str, str]:
    """Level by subject, of a JSON answer."""
    return {check["subject"]: check["level"] for check in ran.json()["checks"]}


class TestDoctor:
    """``placet doctor``."""

    def test_before_the_first_start_nothing_stands_in_the_way(self, cli: Type, tmp_path: Path) -> None:
        """And nothing is made."""
        ran = cli("doctor", "--data-dir", str(tmp_path / "data"))
        assert ran.status == 0
        assert "✓ store          Not there yet: `placet serve` makes it when it first starts." in ran.out
        assert ran.out.endswith("\nNothing stands in the way.\n")
        assert list(tmp_path.iterdir()) == []

    def test_wrong_settings_are_named_each(self, cli: Type) -> None:
        """A line for each, and status 1: the doctor has done its work."""
        ran = cli("doctor", environ={"PLACET_PORT": "x", "PLACET_HOST": "?"})
        assert ran.status == 1
        assert "✗ configuration  PLACET_PORT must be a whole number" in ran.out
        assert "✗ configuration  PLACET_HOST must be an IP address" in ran.out
        assert ran.out.endswith("\n2 of 2 failed.\n")

    def test_what_was_typed_is_named_as_it_was_typed(self, cli: Type) -> None:
        """The option; a variable is the variable."""
        ran = cli("doctor", "--data-dir", "", environ={"PLACET_PORT": "x"})
        assert "✗ configuration  --data-dir is set but empty" in ran.out
        assert "✗ configuration  PLACET_PORT must be a whole number" in ran.out

    def test_a_store_that_can_not_be_reached_is_a_failure(self, cli: Type, tmp_path: Path) -> None:
        """So are keys that are not there; neither keeps the other from being looked at."""
        environ = {
            "PLACET_REDIS_URL": f"unix://{tmp_path}/no.sock",
            "PLACET_KEYRING_FILE": str(tmp_path / "none"),
        }
        ran = cli("doctor", "--json", environ=environ)
        assert (ran.status, ran.json()["ok"]) == (1, False)
        assert checks(ran) == {"configuration": "good", "keys": "fail", "store": "fail"}

    def test_tls_files_are_tried(self, cli: Type, tmp_path: Path) -> None:
        """Before a start finds out."""
        junk = tmp_path / "junk.pem"
        junk.write_text("no certificate")
        environ = {"PLACET_TLS_CERT_FILE": str(junk), "PLACET_TLS_KEY_FILE": str(junk)}
        ran = cli("doctor", "--data-dir", str(tmp_path / "data"), environ=environ)
        assert (ran.status, "✗ tls" in ran.out) == (1, True)

    def test_a_directory_that_others_can_open_is_a_failure(self, cli: Type, tmp_path: Path) -> None:
        """Its store is then not touched."""
        tmp_path.chmod(0o755)
        ran = cli("doctor", "--data-dir", str(tmp_path), "--json")
        assert checks(ran)["data directory"] == "fail"
        assert "store" not in checks(ran)

    def test_a_platform_without_the_embedded_server_is_told(
        self, cli: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With the variable that helps."""

        def find_binary() -> Path:
            raise EmbeddedUnavailable("Set PLACET_REDIS_URL.")

        monkeypatch.setattr(doctor, "find_binary", find_binary)
        ran = cli("doctor", "--data-dir", str(tmp_path / "data"))
        assert (ran.status, "Set PLACET_REDIS_URL." in ran.out) == (1, True)


class TestResetClock:
    """``placet doctor --reset-clock`` where there is no store to reset."""

    def test_no_store_is_made_for_it(self, cli: Type, tmp_path: Path) -> None:
        """It has no clock."""
        ran = cli("doctor", "--reset-clock", "--data-dir", str(tmp_path / "data"))
        assert (ran.status, f"There is no store at {tmp_path / 'data'}." in ran.said) == (3, True)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("option", [["--yes"], ["--tenant", "default"]])
    def test_its_options_go_with_it_only(self, cli: Type, option: list[str]) -> None:
        """Whoever forgot it has not had a clock reset."""
        ran = cli("doctor", *option)
        assert (ran.status, "only go with --reset-clock" in ran.said) == (2, True)


class Clocks:
    """Services whose clocks differ: this machine's, the store's, and what a tenant remembers."""

    def __init__(self, *, here_ms: int, store_ms: int, lag: Lag | None = None) -> None:
        self.clock = SimpleNamespace(now_ms=lambda: here_ms)
        registry = SimpleNamespace(tenants=self._tenants)
        self.store = SimpleNamespace(client=self, registry=registry)
        self.reset_clock = ResetClock(cast("Any", self))
        self._store_ms = store_ms
        self._lag = lag

    async def _tenants(self) -> list[str]:
        return ["default"]

    async def time(self) -> tuple[int, int]:
        """The server's TIME."""
        return self._store_ms // 1000, self._store_ms % 1000 * 1000

    async def lag(self, _: str) -> Lag | None:
        """How far it is behind what the tenant remembers."""
        return self._lag


@pytest.mark.parametrize(
    ("clocks", "level", "said"),
    [
        (Clocks(here_ms=1_000_000, store_ms=1_000_003), Level.GOOD, "differ by 3 ms"),
        (Clocks(here_ms=1_000_000, store_ms=1_060_000), Level.WARN, "differ by 1m"),
        (Clocks(here_ms=1_000_000, store_ms=1_000_000, lag=Lag(ms=7_200_999)), Level.FAIL, "7200 s behind"),
        (Clocks(here_ms=1_000_000, store_ms=1_000_000, lag=Lag(ms=None)), Level.FAIL, "is no time"),
    ],
)
async def test_clocks_are_compared(clocks: Any, level: Level, said: str) -> None:
    """A store whose clock went back judges nothing of the tenants that saw it ahead: that is a failure."""
    finding = await doctor._clock(clocks)
    assert (finding.level, said in finding.text) == (level, True)


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        (httpx.Response(200, json={"status": "ready", "faults": []}), Level.GOOD),
        (
            httpx.Response(503, json={"status": "unready", "faults": ["The store can't be reached."]}),
            Level.FAIL,
        ),
        (httpx.Response(200, json=[]), Level.WARN),
        (httpx.Response(200, text="<html>"), Level.WARN),
    ],
)
async def test_the_service_is_asked_how_it_is(
    answer: httpx.Response, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says counts; what is no Placet is worth a look."""

    async def get(*_: Any) -> httpx.Response:
        return answer

    monkeypatch.setattr(httpx.AsyncClient, "get", get)
    assert (await doctor._service("http://127.0.0.1:1")).level is level
