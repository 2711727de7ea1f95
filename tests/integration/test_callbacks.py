"""Decisions that a bridge brings, signed: whose they are, what they decide, and what a replay comes to."""

import json
from typing import Any

import pytest
from fakeredis import FakeAsyncRedis, FakeServer

from placet.application.bridge_callbacks import KEPT_MS
from placet.application.signing_secrets import signing_secret
from placet.channels.webhooks.signing import WINDOW_S, headers
from placet.domain.errors import StoreUnavailable
from placet.domain.limits import FAILURES_BURST, JUDGED_MAX
from placet.domain.model import Risk
from placet.domain.principals import Client
from placet.store.approvals import Rejudge
from placet.store.callbacks import Callbacks
from tests.bridges import Bridge, a_bridge
from tests.factories import T0_MS
from tests.harness import Harness, Party, issues, reason, record, refusal
from tests.ruled import EDITABLE, LESS, Opening

NOBODY = (401, "UNAUTHENTICATED")


class Chat:
    """A service with somebody who asks, somebody who decides, and a bridge that speaks for them."""

    def __init__(self, h: Harness, runtime: Party, ann: Party, bridge: Bridge) -> None:
        self.h, self.runtime, self.ann, self.bridge = h, runtime, ann, bridge

    async def status(self, asked: dict[str, Any]) -> str:
        """How an approval stands."""
        return str((await self.ann.seen(asked["id"]))["status"])

    async def shown(self, **members: Any) -> dict[str, Any]:
        """A question as people are shown it."""
        return await self.ann.seen((await self.runtime.asked(**members))["id"])


@pytest.fixture
async def chat(anywhere: Harness) -> Chat:
    """On every store."""
    h = anywhere
    return Chat(h, await h.client(), await h.approver(shown_as="Ann"), await a_bridge(h))


async def test_a_person_decides_over_a_bridge(chat: Chat) -> None:
    """The channel is the bridge's name, and the trail names the key that had signed."""
    shown = await chat.shown()
    decided = record(await chat.bridge.decide(shown, comment="Fine."))
    assert decided["status"] == "approved"
    [vote] = decided["decisions"]
    assert vote["approver"]["id"] == "ann"
    assert (vote["channel"], vote["submitted_by"], vote["comment"]) == ("chat", "chat", "Fine.")
    assert "token" not in decided
    line = record(await chat.ann.trail(shown["id"]))["items"][-1]
    assert (line["type"], line["by"], line["credential"]) == ("approved", "ann", chat.bridge.kid)


async def test_a_person_rejects_or_changes_over_a_bridge(under: Opening) -> None:
    """Whatever the rule lets them decide."""
    ruled = await under('edit = "counts"')
    runtime, (ann, *_) = await ruled.parties()
    bridge = await a_bridge(ruled.h)
    first = await ann.seen((await runtime.asked(**EDITABLE))["id"])
    assert record(await bridge.decide(first, "reject", comment="No."))["status"] == "rejected"
    other = await ann.seen((await runtime.asked(**EDITABLE))["id"])
    changed = record(await bridge.decide(other, "edit", input=LESS))
    assert (changed["status"], changed["input"]) == ("approved", LESS)


async def test_it_speaks_for_its_people_and_no_further(chat: Chat) -> None:
    """Nobody else, no higher risk, and no card but the one that was shown; each is recorded."""
    await chat.h.approver("bob")
    shown = await chat.shown()
    bridge = await a_bridge(chat.h, "low", max_risk=Risk.LOW)
    assert reason(await chat.bridge.decide(shown, approver="bob"))[1:] == ("FORBIDDEN", "not-an-approver")
    assert refusal(await bridge.decide(shown)) == (404, "APPROVAL_NOT_FOUND")
    stale = {**shown, "digest": "0" * 64}
    assert refusal(await chat.bridge.decide(stale)) == (409, "APPROVAL_INPUT_MISMATCH")
    assert refusal(await chat.bridge.decide({**shown, "id": "apr-0"})) == (404, "APPROVAL_NOT_FOUND")
    assert await chat.status(shown) == "pending"
    lines = record(await chat.ann.trail(shown["id"]))["items"]
    assert "APPROVAL_INPUT_MISMATCH" in {line.get("code") for line in lines}


async def test_nobody_approves_their_own(chat: Chat) -> None:
    """Over a bridge neither."""
    shown = await chat.shown(actor={"id": "ann", "kind": "user"})
    assert refusal(await chat.bridge.decide(shown)) == (403, "APPROVAL_SELF_APPROVAL")
    assert record(await chat.bridge.decide(shown, "reject"))["status"] == "rejected"


def without(sent: dict[str, str], name: str) -> dict[str, str]:
    """The headers but for one."""
    return {each: value for each, value in sent.items() if each != name}


async def test_what_nobody_signed_is_nobodys(chat: Chat) -> None:
    """Missing, doubled, malformed, old, of the future, of other bytes, of another secret: one answer."""
    shown = await chat.shown()
    bridge, now_ms = chat.bridge, chat.h.clock.now_ms()
    body = json.dumps(bridge.said(shown)).encode()
    good = bridge.signed(body)
    other = await a_bridge(chat.h, "other")
    window_ms = WINDOW_S * 1_000
    forged: list[Any] = [
        *({**good, name: value} for name in good for value in ("", "x", "\xe9")),
        *(without(good, name) for name in good),
        *([*good.items(), (name, value)] for name, value in good.items()),
        bridge.signed(body, at_ms=now_ms - window_ms - 1_000),
        bridge.signed(body, at_ms=now_ms + window_ms + 1_000),
        *({**good, "webhook-timestamp": text} for text in ("1e9", "-1", "9" * 20, "١٢٣", " 1")),
        {**good, "webhook-id": "msg_2"},
        {**good, "webhook-signature": good["webhook-signature"].replace("v1,", "v1a,")},
        bridge.signed(body + b" "),
        other.signed(body),
        without(good, "webhook-signature") | {"authorization": f"Bearer {bridge.issued.credential}"},
    ]
    answers = [await bridge.send(body, sent=sent) for sent in _encodable(forged)]
    assert {refusal(answer) for answer in answers} == {NOBODY}
    assert len({answer.content for answer in answers}) == 1
    assert await chat.status(shown) == "pending"
    edge = bridge.signed(body, at_ms=now_ms - window_ms)
    assert record(await bridge.send(body, sent=edge))["status"] == "approved"


def _encodable(forged: list[Any]) -> list[Any]:
    """The headers as bytes: a test may say what httpx would not."""
    pairs = [sent.items() if isinstance(sent, dict) else sent for sent in forged]
    return [[(name.encode(), value.encode()) for name, value in each] for each in pairs]


async def test_names_are_not_told_apart(chat: Chat) -> None:
    """A bridge, a client that is none, one that was revoked, and names that nobody can have."""
    shown = await chat.shown()
    body = json.dumps(chat.bridge.said(shown)).encode()
    sent = chat.bridge.signed(body)
    gone = await a_bridge(chat.h, "gone")
    await chat.h.services.enrolment.revoke("default", "client:gone")
    names = ("other", "runtime", "gone", "blue.chat", "a.b.c", "-", "%20", "x" * 300, "default.chat")
    paths = [f"/v1/callbacks/{name}" for name in names]
    answers = [await gone.send(body), *[await chat.bridge.send(body, path=path, sent=sent) for path in paths]]
    assert {refusal(answer) for answer in answers} == {NOBODY}
    assert len({answer.content for answer in answers}) == 1
    assert await chat.status(shown) == "pending"


async def test_a_secret_that_no_key_is_behind_counts_for_nobody(chat: Chat) -> None:
    """Not even one that stands in for those that are missing."""
    shown = await chat.shown()
    body = json.dumps(chat.bridge.said(shown)).encode()
    client = chat.bridge.issued.principal
    assert isinstance(client, Client)
    stand_in = signing_secret(chat.h.services.ring.sealer, client, "-")
    sent = headers([stand_in], "msg_1", chat.h.clock.now_ms() // 1_000, body)
    assert refusal(await chat.bridge.send(body, sent=sent)) == NOBODY


async def test_while_a_secret_is_rotated_either_is_good(chat: Chat) -> None:
    """Until one is taken back; and the trail tells them apart."""
    first = chat.bridge
    second = Bridge(chat.h, await chat.h.services.enrolment.rotate("default", "client:chat"))
    used = []
    for number, bridge in enumerate((first, second)):
        shown = await chat.shown(input={"order": f"A-{number}"})
        record(await bridge.decide(shown))
        used.append(record(await chat.ann.trail(shown["id"]))["items"][-1]["credential"])
    assert used == [first.kid, second.kid]
    await chat.h.services.enrolment.revoke("default", "client:chat", first.kid)
    shown = await chat.shown()
    assert refusal(await first.decide(shown)) == NOBODY
    assert record(await second.decide(shown))["status"] == "approved"


class TestReplay:
    """The same message again."""

    async def test_it_decides_nothing_and_is_answered_as_it_was(self, chat: Chat) -> None:
        """With the record as it is now; the trail has nothing of it."""
        shown = await chat.shown()
        body = json.dumps(chat.bridge.said(shown)).encode()
        first = record(await chat.bridge.send(body, message_id="msg_a"))
        before = record(await chat.ann.trail(shown["id"]))["items"]
        assert record(await chat.bridge.send(body, message_id="msg_a")) == first
        assert record(await chat.ann.trail(shown["id"]))["items"] == before

    async def test_it_changes_nothing_after_a_change_of_heart(self, chat: Chat) -> None:
        """Not the vote that stands by now, and no refusal is recorded."""
        shown = await chat.shown()
        body = json.dumps(chat.bridge.said(shown)).encode()
        record(await chat.bridge.send(body, message_id="msg_a"))
        record(await chat.runtime.cancel(shown["id"]))
        again = record(await chat.bridge.send(body, message_id="msg_a"))
        assert again["status"] == "cancelled"
        assert await chat.status(shown) == "cancelled"
        lines = record(await chat.ann.trail(shown["id"]))["items"]
        assert [line["type"] for line in lines] == ["requested", "approved", "cancelled"]

    async def test_what_was_refused_stays_refused(self, chat: Chat) -> None:
        """Though it would be taken by now: whoever means it says it anew."""
        shown = await chat.shown()
        body = json.dumps(chat.bridge.said({**shown, "id": "apr-later"})).encode()
        first = await chat.bridge.send(body, message_id="msg_a")
        assert refusal(first) == (404, "APPROVAL_NOT_FOUND")
        await chat.runtime.asked(id="apr-later")
        again = await chat.bridge.send(body, message_id="msg_a")
        assert (again.status_code, again.content) == (404, first.content)
        assert record(await chat.bridge.send(body, message_id="msg_b"))["status"] == "approved"

    async def test_an_id_is_of_one_message(self, chat: Chat) -> None:
        """Another body under it is refused, and decides nothing."""
        shown, other = await chat.shown(), await chat.shown(input={"order": "A-2"})
        record(await chat.bridge.decide(shown, message_id="msg_a"))
        answer = await chat.bridge.decide(other, message_id="msg_a")
        assert refusal(answer) == (409, "INVOCATION_CONFLICT")
        assert await chat.status(other) == "pending"
        bridge = await a_bridge(chat.h, "second")
        assert record(await bridge.decide(other, message_id="msg_a"))["status"] == "approved"

    async def test_what_was_not_judged_is_judged_when_it_comes_again(
        self, chat: Chat, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where the store was away the sender sends it again, as it should."""
        shown = await chat.shown()
        body = json.dumps(chat.bridge.said(shown)).encode()

        async def lost(*_: Any, **__: Any) -> Any:
            raise StoreUnavailable

        with monkeypatch.context() as patch:
            patch.setattr(chat.h.services.store.approvals, "decide", lost)
            answer = await chat.bridge.send(body, message_id="msg_a")
        assert refusal(answer) == (503, "STORE_UNAVAILABLE")
        assert record(await chat.bridge.send(body, message_id="msg_a"))["status"] == "approved"

    async def test_it_is_remembered_for_as_long_as_it_could_come(self, chat: Chat) -> None:
        """As long as its time is good, from however early that was."""
        record(await chat.bridge.decide(await chat.shown()))
        [name] = [each async for each in chat.h.redis.scan_iter(match="{placet:default}:r:*")]
        left_ms = await chat.h.redis.pttl(name)
        assert 2 * WINDOW_S * 1_000 < left_ms <= KEPT_MS

    async def test_whoever_was_revoked_hears_nothing_of_it(self, chat: Chat) -> None:
        """Not what it was answered before either, on whichever replica."""
        shown = await chat.shown()
        body = json.dumps(chat.bridge.said(shown, approver="bob")).encode()
        assert refusal(await chat.bridge.send(body, message_id="msg_a"))[0] == 403
        await chat.h.services.enrolment.revoke("default", "client:chat")
        assert refusal(await chat.bridge.send(body, message_id="msg_a")) == NOBODY


async def test_a_bridge_of_another_tenant_is_called_by_both_names(chat: Chat) -> None:
    """And one whose own name looks like that is none the less itself: the signature says who it is."""
    runtime, ann = await chat.h.client(tenant="blue"), await chat.h.approver(tenant="blue")
    theirs = await a_bridge(chat.h, "chat", tenant="blue")
    ours = await a_bridge(chat.h, "blue.chat")
    assert theirs.path == ours.path == "/v1/callbacks/blue.chat"
    asked, shown = await runtime.asked(), await chat.shown()
    assert record(await theirs.decide(await ann.seen(asked["id"])))["tenant"] == "blue"
    assert record(await ours.decide(shown))["tenant"] == "default"
    other = await runtime.asked(input={"order": "A-2"})
    assert refusal(await ours.decide(await ann.seen(other["id"]))) == (404, "APPROVAL_NOT_FOUND")


async def test_a_body_is_judged_like_every_other(chat: Chat) -> None:
    """Type and size before whose it is, which needs its bytes; then JSON, then members."""
    shown, bridge = await chat.shown(), chat.bridge
    said = json.dumps(bridge.said(shown)).encode()
    assert refusal(await bridge.send(said, media_type="text/plain")) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert refusal(await bridge.send(b" " * 262_145)) == (413, "INPUT_TOO_LARGE")
    assert refusal(await bridge.send(b"{", sent=bridge.signed(b"["))) == NOBODY
    assert refusal(await bridge.send(b"{")) == (400, "INPUT_INVALID")
    assert "/surprise" in issues(await bridge.decide(shown, surprise=1))
    for approver in ({}, {"approver": "ann"}, {"approver": None}):
        unnamed = {name: value for name, value in bridge.said(shown).items() if name != "approver"}
        assert "/approver" in issues(await bridge.send(json.dumps(unnamed | approver).encode()))
    twice = said[:-1] + b', "decision": "approve"}'
    assert refusal(await bridge.send(twice)) == (422, "INPUT_INVALID")
    unbound = json.dumps(bridge.said(shown, "edit") | {"input": ...}, default=lambda _: 2**53).encode()
    assert refusal(await bridge.send(unbound)) == (422, "APPROVAL_UNSERIALIZABLE_INPUT")
    assert await chat.status(shown) == "pending"
    assert refusal(await chat.h.http.get(bridge.path)) == (405, "METHOD_NOT_ALLOWED")


async def test_too_many_that_nobody_signed_are_told_when_to_come(chat: Chat) -> None:
    """Whoever has a good signature gets in all the same, from the same address; nothing is made of names."""
    shown = await chat.shown()
    body = json.dumps(chat.bridge.said(shown)).encode()
    wrong = (await a_bridge(chat.h, "wrong")).signed(body)
    ways = [wrong, chat.bridge.signed(body, at_ms=0), {**wrong, "webhook-timestamp": "x"}]
    for number in range(FAILURES_BURST):
        path = f"/v1/callbacks/t{number}.chat" if number % 2 else chat.bridge.path
        assert refusal(await chat.bridge.send(body, path=path, sent=ways[number % 3])) == NOBODY
    assert refusal(await chat.bridge.send(body, sent=wrong)) == (429, "RATE_LIMITED")
    assert not [tenant for tenant in chat.h.services.directory._latest if tenant.startswith("t")]
    assert record(await chat.bridge.send(body))["status"] == "approved"
    late = await a_bridge(chat.h, "late")
    chat.h.clock.move(1_000)
    assert record(await late.decide(await chat.shown(input={"order": "A-9"})))["status"] == "approved"


async def test_what_another_replica_did_holds_at_once(pair: tuple[Harness, Harness]) -> None:
    """A bridge that was made there is known here, and one that was revoked there is not."""
    here, there = pair
    runtime, ann = await here.client(), await here.approver()
    record(await ann.list())
    bridge = await a_bridge(there)
    shown = await ann.seen((await runtime.asked())["id"])
    body = json.dumps(bridge.said(shown)).encode()
    assert record(await bridge.send(body, at=here))["status"] == "approved"
    other = await ann.seen((await runtime.asked(input={"order": "A-2"}))["id"])
    await there.services.enrolment.revoke("default", "client:chat")
    refused = [json.dumps(bridge.said(other)).encode(), b"{", body]
    assert {refusal(await bridge.send(each, at=here, message_id="msg_1")) for each in refused} == {NOBODY}
    assert (await ann.seen(other["id"]))["status"] == "pending"


async def test_a_clock_is_ours(chat: Chat) -> None:
    """What was signed stays good for five minutes by our clock, and no longer."""
    shown = await chat.shown()
    body = json.dumps(chat.bridge.said(shown)).encode()
    sent = chat.bridge.signed(body, at_ms=T0_MS)
    chat.h.clock.move(WINDOW_S * 1_000 + 1_000)
    assert refusal(await chat.bridge.send(body, sent=sent)) == NOBODY


async def test_rules_that_keep_changing_are_not_waited_for(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked to come back; nothing was judged, so it may."""
    shown = await chat.shown()
    judged = 0

    async def changed(*_: Any, **__: Any) -> Any:
        nonlocal judged
        judged += 1
        raise Rejudge

    with monkeypatch.context() as patch:
        patch.setattr(chat.h.services.store.approvals, "decide", changed)
        answer = await chat.bridge.decide(shown, message_id="msg_a")
    assert (refusal(answer), judged) == ((503, "STORE_UNAVAILABLE"), JUDGED_MAX)
    assert record(await chat.bridge.decide(shown, message_id="msg_a"))["status"] == "approved"


async def test_where_it_can_not_be_told_what_was_judged_nothing_is(h: Harness) -> None:
    """The store is away: the same message is sent again."""
    server = FakeServer()
    server.connected = False
    store = Callbacks(FakeAsyncRedis(server=server))
    with pytest.raises(StoreUnavailable):
        await store.find("default", "x")
    with pytest.raises(StoreUnavailable):
        await store.keep("default", "x", b"{}", lives_ms=1)
    runtime, ann, bridge = await h.client(), await h.approver(), await a_bridge(h)
    shown = await ann.seen((await runtime.asked())["id"])
    h.services.bridges._store = store
    assert refusal(await bridge.decide(shown)) == (503, "STORE_UNAVAILABLE")
    assert (await ann.seen(shown["id"]))["status"] == "pending"


async def test_an_operator_is_told_why_nothing_comes_in(chat: Chat, caplog: pytest.LogCaptureFixture) -> None:
    """By a word of ours, and nothing of what was sent."""
    shown = await chat.shown()
    body = json.dumps(chat.bridge.said(shown)).encode()
    for sent, why in (
        (chat.bridge.signed(b"{}"), "no live secret of a bridge of this name made its signature"),
        (chat.bridge.signed(body, at_ms=T0_MS - (WINDOW_S + 1) * 1_000), "its signature or its time is old"),
    ):
        assert refusal(await chat.bridge.send(body, sent=sent)) == NOBODY
        told = [each for each in caplog.records if each.getMessage() == "a callback was refused"]
        assert (told[-1].callback, told[-1].why) == ("bridge", why)  # type: ignore[attr-defined] # extra facts
