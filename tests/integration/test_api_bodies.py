"""Bodies on the wire: media types, codings, sizes, pieces, and what is no JSON."""

import json
import re

import pytest

from placet.api import bodies
from tests.harness import QUESTION, Harness, record, refusal
from tests.wire import HOST, TYPE, Exchange, bearer

GOOD_TYPES = [
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
    "application/json ;\tcharset=Utf-8 ",
]
BAD_TYPES = [
    None,
    "",
    "text/plain",
    "text/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/problem+json",
    "application/json; charset=utf-16",
    "application/json; charset=iso-8859-1",
    "application/json; charset=utf-8; charset=utf-16",
    'application/json; charset="utf-8',
    "application/json, application/json",
    "application/json; profile=x",
    "application/jsonx",
    "*/*",
]


@pytest.mark.parametrize("media_type", GOOD_TYPES)
async def test_json_in_utf_8_is_taken(h: Harness, media_type: str) -> None:
    """The media type in any case, with charset UTF-8 or none."""
    runtime = await h.client()
    body = json.dumps({**QUESTION, "input": "\u00e9\U0001f600"}, ensure_ascii=False).encode()
    response = await runtime.call("POST", "/v1/approvals", content=body, headers={"content-type": media_type})
    assert record(response, 201)["input"] == "\u00e9\U0001f600"


@pytest.mark.parametrize("media_type", BAD_TYPES)
@pytest.mark.parametrize("path", ["/v1/approvals", "/v1/approvals/x/decision", "/v1/tokens/introspect"])
async def test_anything_else_is_415(h: Harness, media_type: str | None, path: str) -> None:
    """Other types, other charsets, several, or none at all."""
    party = await h.client("all", "request", "consume") if "decision" not in path else await h.approver()
    headers = {} if media_type is None else {"content-type": media_type}
    response = await party.call("POST", path, content=json.dumps(dict(QUESTION)).encode(), headers=headers)
    assert refusal(response) == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("coding", ["gzip", "identity", "br", ""])
async def test_a_coded_body_is_415(h: Harness, coding: str) -> None:
    """No content coding is understood, so none is guessed."""
    runtime = await h.client()
    headers = {"content-encoding": coding}
    response = await runtime.call("POST", "/v1/approvals", json=dict(QUESTION), headers=headers)
    assert refusal(response) == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    ("coding", "status"), [("gzip, chunked", 415), ("gzip", 415), ("chunked", 201), ("Chunked", 201)]
)
async def test_a_transfer_coding_that_nobody_undoes_is_415(h: Harness, coding: str, status: int) -> None:
    """Chunks are put together before they come here, and nothing else is."""
    runtime = await h.client()
    headers = {"transfer-encoding": coding}
    response = await runtime.call("POST", "/v1/approvals", json=dict(QUESTION), headers=headers)
    assert response.status_code == status


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"{}}",
        b"{} {}",
        b"{'a': 1}",
        b'{"a": 1,}',
        b"nul",
        b"NaN",
        b"[Infinity]",
        b"\xef\xbb\xbf{}",
        b'{"a": "\xff"}',
        b'{"a": "\xed\xa0\x80"}',
        '{"a": "é"}'.encode("utf-16"),
        b'{"a": "\n"}',
        b'{"a": 01}',
        b"[" * 200_000,
        b'{"a":' * 40_000,
        b"\x00",
        b"// comment\n{}",
    ],
)
async def test_what_is_not_json_is_400(h: Harness, body: bytes) -> None:
    """Malformed, truncated, in another encoding, or nested without end: 400, fast, and never repeated."""
    runtime = await h.client()
    headers = {"content-type": "application/json"}
    response = await runtime.call("POST", "/v1/approvals", content=body, headers=headers)
    assert refusal(response) == (400, "INPUT_INVALID")
    [issue] = response.json()["model"]["issues"]
    place = r"( \(at (line \d+, column \d+|byte \d+)\))?"
    assert issue["path"] == ""
    assert re.fullmatch(rf"It is not JSON in UTF-8{place}\.", issue["message"])


async def test_all_that_is_wrong_is_told_at_once(h: Harness) -> None:
    """Whoever sends several faults need not find them one by one, nor guess what is allowed."""
    runtime = await h.client()
    response = await runtime.ask(effect="huge", risk="none", capability=..., colour="red")
    assert refusal(response) == (422, "INPUT_INVALID")
    assert {issue["path"]: issue["message"] for issue in response.json()["model"]["issues"]} == {
        "/colour": "There is no such member.",
        "/capability": "It is required.",
        "/effect": "It is not one of none, read, write, destructive, external.",
        "/risk": "It is not one of low, medium, high, critical.",
    }


@pytest.mark.parametrize("body", [b"[]", b"null", b'"text"', b"1", b"true", b"[{}]"])
async def test_json_that_is_no_object_is_422(h: Harness, body: bytes) -> None:
    """A body is an object."""
    runtime = await h.client()
    headers = {"content-type": "application/json"}
    for path in ("/v1/approvals", "/v1/approvals/x/cancel", "/v1/approvals/x/consume"):
        response = await runtime.call("POST", path, content=body, headers=headers)
        assert refusal(response) == (422, "INPUT_INVALID")
        assert [issue["path"] for issue in response.json()["model"]["issues"]] == [""]


async def test_a_member_given_twice_is_refused_everywhere(h: Harness) -> None:
    """Repeated names are no matter of taste: which of the two was meant?"""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    digest = asked["digest"]
    path = asked["links"]["self"]
    twice = f'{{"decision": "reject", "decision": "approve", "digest": "{digest}"}}'
    headers = {"content-type": "application/json"}
    response = await ann.call("POST", f"{path}/decision", content=twice, headers=headers)
    assert refusal(response) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in response.json()["model"]["issues"]] == ["/decision"]
    for body in (b'{"x": 1, "x": 1}', b'{"input": {"a": 1, "a": 2}}'):
        response = await runtime.call("POST", f"{path}/cancel", content=body, headers=headers)
        assert refusal(response) == (422, "INPUT_INVALID")
    assert (await runtime.seen(asked["id"]))["status"] == "pending"


@pytest.mark.parametrize("length", ["262145", "999999999999999999999", "9" * 5_000])
async def test_an_announced_excess_is_413_at_once(h: Harness, length: str) -> None:
    """A length beyond the bound is refused before a byte of the body is read, however it is spelled."""
    runtime = await h.client()
    headers = [HOST, TYPE, bearer(runtime.credential), (b"content-length", length.encode())]
    exchange = Exchange(h.app, "POST", "/v1/approvals", headers, chunks=())
    assert (await exchange.run()).refusal == (413, "INPUT_TOO_LARGE")


async def test_an_unannounced_excess_is_413_too(h: Harness) -> None:
    """Chunks are counted as they come; the rest is not waited for."""
    runtime = await h.client()
    headers = [HOST, TYPE, bearer(runtime.credential), (b"transfer-encoding", b"chunked")]
    exchange = Exchange(h.app, "POST", "/v1/approvals", headers, chunks=[b" " * 65_536] * 5, complete=False)
    assert (await exchange.run()).refusal == (413, "INPUT_TOO_LARGE")


async def test_a_body_in_pieces_is_one_body(h: Harness) -> None:
    """How the bytes arrive makes no difference."""
    runtime = await h.client()
    body = json.dumps(dict(QUESTION)).encode()
    headers = [HOST, TYPE, bearer(runtime.credential)]
    chunks = [body[at : at + 1] for at in range(len(body))]
    exchange = await Exchange(h.app, "POST", "/v1/approvals", headers, chunks=chunks).run()
    assert exchange.status == 201


async def test_a_client_that_goes_amid_its_body_asks_nothing(h: Harness) -> None:
    """Nothing is answered, nothing is made."""
    runtime = await h.client()
    body = json.dumps(dict(QUESTION)).encode()
    headers = [HOST, TYPE, bearer(runtime.credential)]
    exchange = Exchange(h.app, "POST", "/v1/approvals", headers, chunks=[body], complete=False)
    exchange.hang_up()
    assert (await exchange.run()).status is None
    assert record(await runtime.list())["items"] == []


async def test_a_body_that_never_ends_is_given_up(h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who trickles bytes is answered 400 after a while."""
    monkeypatch.setattr(bodies, "BODY_TIMEOUT_S", 0.02)
    runtime = await h.client()
    headers = [HOST, TYPE, bearer(runtime.credential)]
    exchange = Exchange(h.app, "POST", "/v1/approvals", headers, chunks=[b"{"], complete=False)
    assert (await exchange.run()).refusal == (400, "INPUT_INVALID")
