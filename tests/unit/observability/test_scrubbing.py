"""Secrets and inputs are taken out of log lines, by name and by content."""

import enum
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.observability.scrubbing import HIDDEN, TEXT_MAX_CHARS, scrub, scrub_text
from placet.settings import Secret

_JWT = "eyJhbGciOiJFZERTQSIsInR5cCI6ImFwcHJvdmFsK2p3dCJ9.eyJqdGkiOiJhLTEifQ.c2lnbmF0dXJl"
_CREDENTIAL = "plc_default_k1_" + "A1b2" * 10


def _scrub(**event: object) -> dict[str, object]:
    return dict(scrub(None, "info", dict(event)))


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        (f"got {_CREDENTIAL}, refused", "got [hidden], refused"),
        (f"x{_CREDENTIAL}", "x[hidden]"),
        (f"token={_JWT}&a=1", "token=[hidden]&a=1"),
        (f"id_{_JWT}", "[hidden]"),
        ("eyJhbGciOiJub25lIn0.eyJqdGkiOiJhIn0.", "[hidden]"),
        ("Bearer abcdefghijklmnop1234==", "[hidden]"),
        ("basic dXNlcjpwYXNzd29yZA==", "[hidden]"),
        ("Authorization: Digest username=x, response=y\nnext", "[hidden]\nnext"),
        ("[(b'authorization', b'Token s3cret')]", "[(b'[hidden]"),
        ("redis://ann:p@ss@store:6379/0 refused", "redis://[hidden]store:6379/0 refused"),
        ("-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\nx", "[hidden]\nx"),
        ("-----BEGIN EC PRIVATE KEY-----\nMC4C", "[hidden]"),
        ("no bearer credential was sent", "no bearer credential was sent"),
        ("prometheus_client.exposition.start failed", "prometheus_client.exposition.start failed"),
        ("http://127.0.0.1:8420/v1/approvals?a=b@c", "http://127.0.0.1:8420/v1/approvals?a=b@c"),
    ],
)
def test_credentials_in_texts(text: str, scrubbed: str) -> None:
    """Ours, JWTs, headers, URLs with passwords and private keys go; what resembles them stays."""
    assert scrub_text(text) == scrubbed


@given(st.text(), st.text(), st.sampled_from([_CREDENTIAL, _JWT]))
def test_a_credential_never_survives(before: str, after: str, credential: str) -> None:
    """Wherever it stands in a text."""
    assert credential not in scrub_text(before + credential + after)


def test_a_long_text_is_cut() -> None:
    """A line can't fill the disk."""
    assert len(scrub_text("x" * 1_000_000)) == TEXT_MAX_CHARS


@pytest.mark.parametrize("unit", ["ey-", "plc", "eyJ", "authorization", "://", "-----BEGIN PRIVATE KEY-----"])
def test_hostile_texts_come_back(unit: str) -> None:
    """No pattern runs away (the test would not end)."""
    assert scrub_text(unit * 40_000)


@pytest.mark.parametrize(
    "name",
    ["token", "Authorization", "set-cookie", "redis_url", "approval_token", "client_secret", "x-api-key",
     "input", "context", "comment", "body"],
)  # fmt: skip
def test_members_by_name(name: str) -> None:
    """A member called like a secret or an input is hidden whatever it holds, at any depth."""
    assert _scrub(**{name: {"a": 1}}) == {name: HIDDEN}
    assert _scrub(call={"deep": [{name: "x"}]}) == {"call": {"deep": [{name: HIDDEN}]}}


def test_plain_values_stay() -> None:
    """Numbers, words and paths are what logs are for."""

    class Colour(enum.Enum):
        RED = "red"

    event = {
        "event": "hello",
        "n": 1,
        "ok": True,
        "none": None,
        "f": 1.5,
        "path": Path("/a"),
        "colour": Colour.RED,
    }
    assert _scrub(**event) == event | {"path": "/a", "colour": "red"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"secret", "<6 bytes>"),
        (object(), "<object>"),
        (Secret("hunter2"), "<Secret>"),
        (KeyError(_CREDENTIAL), "KeyError: '[hidden]'"),
        ((1, {2}), [1, [2]]),
        (math.nan, "nan"),
        (math.inf, "inf"),
    ],
)
def test_other_values_are_named_not_shown(value: object, shown: object) -> None:
    """Bytes and objects may hold anything, so only what they are is said; the rest becomes JSON."""
    assert _scrub(value=value) == {"value": shown}


def test_deep_and_long_values_end() -> None:
    """Nesting and length are bounded."""
    deep: list[object] = []
    for _ in range(50):
        deep = [deep]
    assert str(_scrub(deep=deep)["deep"]) == "[" * 6 + "'<list>'" + "]" * 6
    assert len(str(_scrub(many=list(range(10_000)))["many"])) < 500
