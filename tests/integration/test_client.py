"""The client before the real service in this process: every call, for both faces."""

import asyncio
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from placet.client import (
    Actor,
    Approval,
    AsyncClient,
    Event,
    Introspection,
    Presentation,
    Retries,
    StillPending,
    Vote,
)
from placet.client.following import Following
from placet.domain.errors import (
    ApprovalAlreadyExists,
    ApprovalConsumed,
    ApprovalInputMismatch,
    ApprovalNotFound,
    Forbidden,
    InputInvalid,
    InvocationConflict,
    Unauthenticated,
)
from placet.tokens.jwks import VerificationKeys
from placet.tokens.verify import verify
from tests.agents import CALL, FACES, Agent, before
from tests.factories import ManualClock
from tests.harness import BASE_URL, Harness, record
from tests.listening import listening
from tests.ruled import Opening
from tests.tools import until


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    """Each face in turn."""
    return str(request.param)


class Cast:
    """Who takes part, through the client."""

    def __init__(self, h: Harness, face: str) -> None:
        self._h = h
        self._face = face

    def agent(self, credential: str) -> Agent:
        """Whoever has this credential."""
        return before(self._h.app, credential, self._face)

    async def runtime(self) -> Agent:
        """A runtime."""
        return self.agent((await self._h.client()).credential)

    async def approver(self, name: str = "ann") -> Agent:
        """An approver."""
        return self.agent((await self._h.approver(name)).credential)


@pytest.fixture
def cast(h: Harness, face: str) -> Cast:
    """Who takes part."""
    return Cast(h, face)


async def granted(runtime: Agent, ann: Agent, **terms: Any) -> Approval:
    """A question that was approved."""
    asked = await runtime.ask(CALL, **terms)
    await ann.decide(asked.id, "approve", (await ann.get(asked.id)).digest)
    approval: Approval = await runtime.get(asked.id)
    return approval


class TestStory:
    """Ask, wait, decide, consume, report."""

    async def test_from_question_to_outcome(self, h: Harness, cast: Cast) -> None:
        """Each answer is the record as it is by then."""
        h.services.store.stream.start()
        runtime, ann = await cast.runtime(), await cast.approver()
        asked = await runtime.ask(CALL, run="r-1", presentation=Presentation(title="Refund"), reasons=["new"])
        assert (asked.status, asked.run, asked.presentation.title) == ("pending", "r-1", "Refund")
        assert asked.model["code"] == "APPROVAL_REQUIRED"
        waiting = asyncio.create_task(runtime.wait(asked.id, timeout_s=30))
        shown = await ann.get(asked.id)
        assert (shown.input, shown.token) == (CALL.input, None)
        decided = await ann.decide(asked.id, "approve", shown.digest, comment="fine")
        assert decided.decisions[0].approver.id == "ann"
        approval = await waiting
        assert approval.is_approved
        assert await runtime.introspect(CALL, approval.token) == Introspection(active=True)
        spent = await runtime.consume(asked.id, approval.effective(CALL), token=approval.token)
        assert (spent.go_ahead, spent.replayed, spent.approval.status) == (True, False, "consumed")
        done = await runtime.report(asked.id, spent.execution_id, "failed", summary="no funds")
        assert (done.outcome.status, done.outcome.summary) == ("failed", "no funds")
        trail = await runtime.trail(asked.id)
        assert [line.type for line in trail] == ["requested", "approved", "consumed", "reported"]
        told = await runtime.introspect(CALL, approval.token, execution_id="other")
        assert told == Introspection(active=False, error="APPROVAL_CONSUMED")

    async def test_consumed_once(self, cast: Cast) -> None:
        """The same execution replays, another is too late; a changed input burns nothing."""
        runtime, ann = await cast.runtime(), await cast.approver()
        approval = await granted(runtime, ann)
        with pytest.raises(ApprovalInputMismatch):
            await runtime.consume(
                approval.id, structs.replace(CALL, input={"amount": 6}), token=approval.token
            )
        own = {"token": approval.token, "execution_id": "exec-1"}
        assert (await runtime.consume(approval.id, CALL, **own)).go_ahead
        again = await runtime.consume(approval.id, CALL, **own)
        assert (again.replayed, again.go_ahead) == (True, False)
        with pytest.raises(ApprovalConsumed) as late:
            await runtime.consume(approval.id, CALL, token=approval.token)
        assert late.value.details == {"execution_id": "exec-1"}
        assert len(str(late.value.request_id)) == 32

    async def test_a_token_is_checked_offline(self, cast: Cast, clock: ManualClock) -> None:
        """With the keys that the service publishes."""
        runtime, ann = await cast.runtime(), await cast.approver()
        approval = await granted(runtime, ann)
        keys = VerificationKeys.from_jwks(await runtime.jwks())
        claims = verify(
            approval.token or "",
            keys,
            issuer=BASE_URL,
            audience="runtime",
            tenant="default",
            now_ms=clock.now_ms(),
        )
        assert (claims.jti, claims.ih) == (approval.id, approval.input_hash)

    async def test_what_an_approver_made_of_it_runs(self, under: Opening, face: str) -> None:
        """The effective call is what is consumed."""
        ruled = await under('edit = "counts"')
        party, (person, _) = await ruled.parties()
        runtime, ann = (before(ruled.h.app, each.credential, face) for each in (party, person))
        call = structs.replace(CALL, effect="write")
        asked = await runtime.ask(call, allowed_decisions=["approve", "edit", "reject"])
        await ann.decide(asked.id, "edit", asked.digest, input={"order": "A-1", "amount": 4})
        approval = await runtime.wait(asked.id)
        effective = approval.effective(call)
        assert effective.input == {"order": "A-1", "amount": 4}
        assert (await runtime.consume(asked.id, effective, token=approval.token)).go_ahead


class TestAsking:
    """Once, however often."""

    async def test_a_key_makes_it_one_question(self, cast: Cast) -> None:
        """Without one of one's own each is another; joining finds what is pending."""
        runtime = await cast.runtime()
        first = await runtime.ask(CALL, idempotency_key="job-7")
        assert (await runtime.ask(CALL, idempotency_key="job-7")).id == first.id
        with pytest.raises(InvocationConflict):
            await runtime.ask(CALL, idempotency_key="job-7", risk="high")
        assert (await runtime.ask(CALL)).id != first.id
        joined = await runtime.ask(structs.replace(CALL, capability="orders.cancel"), join=True)
        assert (
            await runtime.ask(structs.replace(CALL, capability="orders.cancel"), join=True)
        ).id == joined.id

    async def test_a_chosen_id_is_taken_once(self, cast: Cast) -> None:
        """A second question does not get the first one's record."""
        runtime = await cast.runtime()
        assert (await runtime.ask(CALL, id="apr-mine")).id == "apr-mine"
        with pytest.raises(ApprovalAlreadyExists):
            await runtime.ask(CALL, id="apr-mine")

    async def test_faults_are_named(self, cast: Cast) -> None:
        """As the service names them."""
        runtime = await cast.runtime()
        with pytest.raises(InputInvalid) as refused:
            await runtime.ask(structs.replace(CALL, effect="explode"), expires_in_ms=0)
        assert {issue.path for issue in refused.value.issues} == {"/effect", "/expires_in_ms"}


class TestWaiting:
    """For as long as one likes."""

    async def test_nobody_decides(self, cast: Cast) -> None:
        """The record is told."""
        runtime = await cast.runtime()
        asked = await runtime.ask(CALL)
        with pytest.raises(StillPending) as late:
            await runtime.wait(asked.id, timeout_s=0)
        assert late.value.approval is not None
        assert late.value.approval.id == asked.id

    async def test_it_can_be_cancelled(self, h: Harness) -> None:
        """As any task, and the service notices."""
        runtime = before(h.app, (await h.client()).credential, "async")
        asked = await runtime.ask(CALL)
        waiting = asyncio.create_task(runtime.wait(asked.id))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


class TestOthers:
    """Several at once, withdrawing, listing, and who may not."""

    async def test_several_decisions(self, cast: Cast) -> None:
        """Each by itself."""
        runtime, ann = await cast.runtime(), await cast.approver()
        first, second = await runtime.ask(CALL), await runtime.ask(CALL)
        done, refused, strange = await ann.decide_many(
            [
                Vote(id=first.id, decision="reject", digest=first.digest, comment="no"),
                Vote(id=second.id, decision="approve", digest="0" * 64),
                Vote(id="apr_none", decision="approve", digest="0" * 64),
            ]
        )
        assert (done.approval.status, done.error) == ("rejected", None)
        assert isinstance(refused.error, ApprovalInputMismatch)
        assert isinstance(strange.error, ApprovalNotFound)

    async def test_withdrawn(self, cast: Cast) -> None:
        """One, and all of a run."""
        runtime = await cast.runtime()
        one, other = await runtime.ask(CALL, run="r=1"), await runtime.ask(CALL, run="r=1")
        assert (await runtime.cancel(one.id)).status == "cancelled"
        assert (await runtime.cancel(one.id)).status == "cancelled"
        ended = await runtime.cancel_run("r=1")
        assert (ended.cancelled, [each.id for each in ended.skipped]) == ((other.id,), [one.id])
        assert (await runtime.cancel_run("none")).cancelled == ()

    async def test_listed(self, cast: Cast) -> None:
        """Page after page, newest first."""
        runtime = await cast.runtime()
        asked = [await runtime.ask(CALL, run="r") for _ in range(5)]
        await runtime.ask(CALL)
        found = await runtime.first(99, "list", run="r", limit=2)
        assert sorted(each.id for each in found) == sorted(each.id for each in asked)
        page = await runtime.page(limit=4)
        assert (len(page.items), page.next_cursor is None) == (4, False)
        assert (await runtime.page(limit=4, cursor=page.next_cursor)).next_cursor is None

    async def test_refused(self, cast: Cast) -> None:
        """With the class, its details, and the id of the request."""
        runtime, ann = await cast.runtime(), await cast.approver()
        with pytest.raises(Forbidden) as forbidden:
            await ann.ask(CALL)
        assert forbidden.value.details == {"reason": "scope", "scopes": ("request",)}
        with pytest.raises(ApprovalNotFound):
            await runtime.get("apr_none")
        with pytest.raises(Unauthenticated):
            await cast.agent("plc_default_aaaaaaaaaaaa_" + "a" * 43).get("apr_none")

    async def test_an_actor_is_told_whole(self, cast: Cast) -> None:
        """And bound by id and kind alone."""
        runtime, ann = await cast.runtime(), await cast.approver()
        actor = Actor(id="bob", kind="user", display_name="Bob", attributes={"team": "a"})
        call = structs.replace(CALL, actor=actor)
        asked = await runtime.ask(call)
        assert asked.actor == actor
        await ann.decide(asked.id, "approve", asked.digest)
        approval = await runtime.get(asked.id)
        assert (await runtime.consume(asked.id, call, token=approval.token)).go_ahead


async def test_what_the_stream_tells_is_read(h: Harness) -> None:
    """The very bytes of the service."""
    h.services.store.stream.start()
    runtime, auditor = await h.client(), await h.client("auditor", "read")
    async with listening(h, auditor) as heard:
        asked = await runtime.asked(run="r-1")
        await heard.heard(1)
        (event,) = Following({}, None, Retries()).heard(heard.body)
    assert isinstance(event, Event)
    assert (event.id, event.type, event.status, event.run) == (asked["id"], "requested", "pending", "r-1")
    async with listening(h, auditor, after=event.entry) as heard:
        await until(lambda: heard.status == 200, "it goes on from there")


class TestReadme:
    """What the README shows."""

    @pytest.mark.parametrize(
        ("decision", "became", "ran"),
        [("approve", "refunded 5", [{"order": "A-1", "amount": 5}]), ("reject", "rejected", [])],
    )
    async def test_its_example_runs_what_was_approved(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch, decision: str, became: str, ran: list[Any]
    ) -> None:
        """And nothing else; what became of it is on record."""
        readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
        (told,) = re.findall(r"<!-- client -->\n```python\n(.+?)^```$", readme, re.DOTALL | re.MULTILINE)
        names: dict[str, Any] = {}
        exec(told, names)  # noqa: S102 - our own README
        here = partial(AsyncClient, http=h.http)
        monkeypatch.setitem(names, "AsyncClient", here)
        h.services.store.stream.start()
        runtime, ann = await h.client(), await h.approver()
        done: list[Any] = []

        async def run(order: Any) -> str:
            done.append(order)
            return f"refunded {order['amount']}"

        playing = asyncio.create_task(
            names["refund"](BASE_URL, runtime.credential, {"order": "A-1", "amount": 5}, run)
        )
        asked: list[Any] = []
        while not asked:
            asked = record(await ann.list())["items"]
        record(await ann.decide(asked[0], decision))
        assert await playing == became
        assert done == ran
        outcome = (await runtime.seen(asked[0]["id"]))["outcome"]
        assert (outcome or {}).get("summary") == (became if ran else None)
