"""``placet audit`` over a real embedded store, beside a service that runs."""

import json
from pathlib import Path

import httpx
import pytest

from tests.serving import Said, served
from tests.unit.cli.conftest import Type, cli  # noqa: F401 - the fixture types a command line

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("data_dir", "logging_as_before")]

QUESTION = {
    "id": "refund-1",
    "capability": "orders.refund",
    "actor": {"id": "agent-7", "kind": "agent"},
    "effect": "external",
    "input": {"order": "A-1042", "secret": "hunter2"},
}


def test_what_happened_is_shown_and_exported(data_dir: Path, cli: Type) -> None:  # noqa: F811
    """For a person, as JSON, and as JSON Lines; from a moment on; and never an input."""
    where = ("--data-dir", str(data_dir))
    said: dict[str, str] = {}

    def act(serving: Said) -> None:
        token = cli("clients", "create", "shop", "--scopes", "request", *where, "--json").json()["token"]
        with httpx.Client(base_url=serving["url"], trust_env=False) as http:
            http.headers["authorization"] = f"Bearer {token}"
            assert http.post("/v1/approvals", json=QUESTION).status_code == 201
            assert http.post("/v1/approvals/refund-1/cancel").status_code == 200
        said["shown"] = cli("audit", "show", "refund-1", *where).out
        said["json"] = cli("audit", "show", "refund-1", *where, "--json").out
        said["lines"] = cli("audit", "export", *where).out
        said["later"] = cli("audit", "export", "--since", "2100-01-01", *where).out
        missing = cli("audit", "show", "gone", *where)
        said["missing"] = f"{missing.status} {missing.said}"
        wrong = cli("audit", "export", "--since", "yesterday", *where)
        said["wrong"] = f"{wrong.status} {wrong.said}"

    served(data_dir, act)
    head, about, first, second = said["shown"].splitlines()
    assert (head, about) == ("refund-1", "orders.refund for agent-7, asked by shop")
    assert "  requested  by shop  rule built-in  credential " in first
    assert "cancelled  by shop" in second
    items = json.loads(said["json"])["items"]
    assert [item["type"] for item in items] == ["requested", "cancelled"]
    assert [json.loads(line) for line in said["lines"].splitlines()] == items
    assert said["later"] == ""
    assert said["missing"].startswith("1 ")
    assert "There is no approval gone in tenant default." in said["missing"]
    assert said["wrong"].startswith("2 ")
    assert "--since: write a duration such as 7d or 12h" in said["wrong"]
    assert "hunter2" not in "".join(said.values())
