"""``placet stats`` over a real embedded store, beside a service that runs."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.serving import Said, served
from tests.unit.cli.conftest import Type, cli  # noqa: F401 - the fixture types a command line

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("data_dir", "logging_as_before")]

QUESTION = {
    "capability": "orders.refund",
    "actor": {"id": "agent-7", "kind": "agent"},
    "effect": "external",
}


def test_a_tenant_is_counted(data_dir: Path, cli: Type) -> None:  # noqa: F811
    """What was asked, decided and withdrawn; of another tenant nothing; and never an input."""
    where = ("--data-dir", str(data_dir))
    told: dict[str, Any] = {}

    def act(serving: Said) -> None:
        shop = cli("clients", "create", "shop", "--scopes", "request", *where, "--json").json()["token"]
        ann = cli("approvers", "create", "ann", "--name", "Ann", *where, "--json").json()["token"]
        with httpx.Client(base_url=serving["url"], trust_env=False) as http:
            for number in range(6):
                headers = {"authorization": f"Bearer {shop}"}
                body = {**QUESTION, "input": {"n": number, "secret": "hunter2"}}
                asked = http.post("/v1/approvals", json=body, headers=headers).json()
                headers = {"authorization": f"Bearer {ann}"}
                shown = http.get(f"/v1/approvals/{asked['id']}", headers=headers).json()
                vote = {"decision": "reject" if number == 5 else "approve", "digest": shown["digest"]}
                path = f"/v1/approvals/{asked['id']}/decision"
                assert http.post(path, json=vote, headers=headers).status_code == 200
        told["json"] = cli("stats", *where, "--json").json()
        told["shown"] = cli("stats", *where, "--days", "30").out
        told["abroad"] = cli("stats", *where, "--tenant", "abroad", "--json").json()

    served(data_dir, act)
    assert told["json"]["decisions"] == {"approved": 5, "rejected": 1, "changed": 0}
    assert told["json"]["endings"]["rejected"] == 1
    assert told["json"]["too_fast"][0]["count"] == 5
    assert "! Ann (ann) approved 5 in one second, from " in told["shown"]
    assert "orders.refund         5         1        0  under 1 s      0 %" in told["shown"]
    assert (told["abroad"]["records"], told["abroad"]["asked"]) == (0, 0)
    assert "hunter2" not in str(told)
