"""What the README repeats from the code is what the code says."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import fields

from placet.application.commands import CallBack, Create
from placet.channels.webhooks.signing import proved, written
from placet.client import model_docs
from placet.client.hook_options import Decorating
from placet.client.questions import Terms
from placet.domain import delivery_docs
from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.error_docs import markdown_table
from placet.domain.faces import GENERIC_MESSAGE
from placet.tokens.claims import ApproverClaim
from placet.tokens.issue import mint
from placet.tokens.jwks import jwks
from placet.tokens.keyring import Keyring

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_table_of_errors_is_the_one_table() -> None:
    """The README's table is made from the error classes."""
    shown = README.split("<!-- errors -->\n")[1].split("<!-- /errors -->")[0]
    assert shown.strip() == markdown_table().strip()


def test_the_table_of_what_a_model_reads_is_made_of_what_is_raised() -> None:
    """And each situation says what there is to do."""
    shown = README.split("<!-- model -->\n")[1].split("<!-- /model -->")[0]
    assert shown == model_docs.markdown_table()
    assert not [line for line in shown.splitlines() if line.endswith(f"{GENERIC_MESSAGE} |")]


def test_the_table_of_failures_is_the_one_table() -> None:
    """Each way in which a delivery fails, and what to do about it."""
    shown = README.split("<!-- failures -->\n")[1].split("<!-- /failures -->")[0]
    assert shown == delivery_docs.markdown_table()


def test_the_table_of_members_has_all_that_a_question_can_say() -> None:
    """Each once, with what is there where it is left out."""
    table = README.split("<!-- members -->\n")[1].split("<!-- /members -->")[0]
    rows = {row.split("`")[1]: row for row in table.strip().splitlines()[2:]}
    assert sorted(rows) == sorted(Create.__struct_fields__)
    required = {name for name, row in rows.items() if row.endswith("| required |")}
    assert required == {field.name for field in fields(Create) if field.required}


def test_the_table_of_options_has_all_that_a_hook_takes() -> None:
    """Besides what a question can say."""
    table = README.split("<!-- options -->\n")[1].split("<!-- /options -->")[0]
    named = [row.split("`")[1] for row in table.strip().splitlines()[2:]]
    assert sorted(named) == sorted(Decorating.__optional_keys__ - Terms.__optional_keys__)


@pytest.fixture(scope="module")
def is_granted() -> Callable[..., bool]:
    """The README's check of a token elsewhere."""
    told = re.findall(r"<!-- offline -->\n```python\n(.+?)^```$", README, re.DOTALL | re.MULTILINE)
    assert len(told) == 1
    names: dict[str, Any] = {}
    exec(told[0], names)  # noqa: S102 - our own README
    check: Callable[..., bool] = names["is_granted"]
    return check


def test_a_token_is_checked_offline_as_the_readme_says(is_granted: Callable[..., bool]) -> None:
    """Good for the call that was approved and for no other; whatever else is presented is refused."""
    now_ms = time.time_ns() // 1_000_000
    ring, order = Keyring.create(now_ms), {"order": "A-1"}
    token = mint(
        ring.active,
        issuer="https://placet.example",
        audience="my-tool-server",
        asker="runtime",
        actor_id="agent-7",
        approval_id="apr-1",
        tenant="default",
        capability="orders.refund",
        digest="d" * 64,
        input_hash=sha256_hex(canonicalize(order)),
        approvers=(ApproverClaim(id="ann", at_ms=now_ms),),
        now_ms=now_ms,
        use_by_ms=now_ms + 60_000,
    )
    keys = jwks(ring, now_ms=now_ms)
    assert is_granted(token, keys, "orders.refund", "agent-7", order) is True
    assert is_granted(token, keys, "orders.cancel", "agent-7", order) is False
    assert is_granted(token, keys, "orders.refund", "agent-8", order) is False
    assert is_granted(token, keys, "orders.refund", "agent-7", {"order": "A-2"}) is False
    for refused in ("", token[:-4], f"{token}."):
        assert is_granted(refused, keys, "orders.refund", "agent-7", order) is False


def test_a_callback_is_signed_as_the_readme_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the library of the standard; what it says is a callback's body."""
    told = re.findall(r"<!-- callback -->\n```python\n(.+?)^```$", README, re.DOTALL | re.MULTILINE)
    assert len(told) == 1
    names: dict[str, Any] = {}
    exec(told[0], names)  # noqa: S102 - our own README
    sent: dict[str, Any] = {}
    monkeypatch.setattr(names["httpx"], "post", lambda url, **options: sent.update(url=url, **options))
    secret = bytes(range(32))
    shown = {"id": "apr-1", "digest": "0" * 64}
    names["call_back"]("https://placet.example/x", written(secret), shown, "approve", "ada@example.com")
    body = sent["content"].encode()
    headers = [(name.encode(), value.encode()) for name, value in sent["headers"].items()]
    assert proved([secret], headers, body, time.time_ns() // 10**9).message_id.startswith("msg_")
    said = msgspec.json.decode(body, type=CallBack)
    assert (said.approval_id, said.decision, said.approver.id) == ("apr-1", "approve", "ada@example.com")
