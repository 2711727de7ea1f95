"""The event stream: what happens, to whom may see it, from where they were left off."""

import asyncio
import gc

import pytest

from placet.application import feed
from placet.domain.limits import SSE_HEARTBEAT_S
from placet.domain.model import Approval
from placet.store.stream import Transition
from tests.factories import ManualClock
from tests.harness import Harness, Party, reason, record, refusal
from tests.listening import Listener, listening
from tests.tools import until

BEAT_MS = SSE_HEARTBEAT_S * 1000


@pytest.fixture
async def live(anywhere: Harness) -> Harness:
    """A service whose stream is read."""
    anywhere.services.store.stream.start()
    return anywhere


async def reader(h: Harness) -> Party:
    """A client that sees the whole tenant."""
    return await h.client("auditor", "read")


class TestHearing:
    """As it happens."""

    async def test_every_transition_is_told_once(self, live: Harness) -> None:
        """In order, with what kind of question it is about, and nothing of what is in it."""
        runtime, ann, auditor = await live.client(), await live.approver(), await reader(live)
        async with listening(live, auditor) as heard:
            assert (heard.status, heard.headers[b"content-type"]) == (200, b"text/event-stream")
            assert heard.headers[b"cache-control"] == b"no-store"
            assert (await heard.next()).retry == "2000"
            asked = await runtime.asked(run="r-1")
            first = await heard.next()
            assert first.data == {
                "id": asked["id"],
                "type": "requested",
                "at": "2027-01-15T08:00:00.000Z",
                "status": "pending",
                "capability": "orders.refund",
                "run": "r-1",
                "asked_by": "runtime",
            }
            record(await ann.decide(asked))
            token = await runtime.token(asked["id"])
            record(await runtime.consume(asked, token))
            record(await runtime.report(asked["id"]))
            told = await heard.heard(3)
            assert [kind for kind, _ in told] == ["approved", "consumed", "reported"]
            assert heard.is_silent

    async def test_approvers_hear_what_they_may_decide(self, live: Harness) -> None:
        """And not what they may not see; a runtime that may only ask does not listen."""
        runtime, ann = await live.client(), await live.approver()
        abroad = await live.approver("zed", tenant="abroad")
        async with listening(live, ann) as heard, listening(live, abroad) as elsewhere:
            asked = await runtime.asked()
            assert await heard.heard(1) == [("requested", asked["id"])]
            await elsewhere.next()
            assert elsewhere.is_silent
        assert reason(await runtime.call("GET", "/v1/events")) == (403, "FORBIDDEN", "scope")

    async def test_what_is_left_out_is(self, live: Harness) -> None:
        """By capability, actor and run."""
        runtime, auditor = await live.client(), await reader(live)
        query = "?capability=orders.refund&run=r-1&actor_id=agent-7"
        async with listening(live, auditor, query) as heard:
            await runtime.asked(run="r-2")
            await runtime.asked(run="r-1", capability="orders.delete")
            await runtime.asked(run="r-1", actor={"id": "other", "kind": "agent"})
            mine = await runtime.asked(run="r-1")
            assert await heard.heard(1) == [("requested", mine["id"])]

    async def test_one_reading_serves_everybody(self, live: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """The record is read once for all who listen here."""
        runtime, auditor, ann = await live.client(), await reader(live), await live.approver()
        readings = []
        reading = feed.Feed._reading

        async def counted(self: feed.Feed, transition: Transition) -> Approval | None:
            readings.append(transition.type)
            return await reading(self, transition)

        monkeypatch.setattr(feed.Feed, "_reading", counted)
        async with listening(live, auditor) as one, listening(live, ann) as other:
            await runtime.asked()
            await one.heard(1)
            await other.heard(1)
        assert readings == ["requested"]


class TestResuming:
    """From where they were left off."""

    async def test_nothing_is_missed(self, live: Harness) -> None:
        """What came meanwhile is told first, then what comes."""
        runtime, auditor = await live.client(), await reader(live)
        async with listening(live, auditor) as heard:
            await heard.next()
            await runtime.asked(input=1)
            last = (await heard.next()).id
        missed = [(await runtime.asked(input=number))["id"] for number in range(2, 5)]
        async with listening(live, auditor, after=last) as heard:
            new = (await runtime.asked(input=9))["id"]
            assert [name for _, name in await heard.heard(4)] == [*missed, new]

    @pytest.mark.parametrize("chunk", [1, 2, 3])
    async def test_the_past_is_read_in_chunks(
        self, live: Harness, chunk: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However many there are."""
        monkeypatch.setattr(feed, "CHUNK", chunk)
        runtime, auditor = await live.client(), await reader(live)
        first = await runtime.asked(input=0)
        (entry, _) = (await live.redis.xrange("{placet:default}:s"))[0]
        asked = [(await runtime.asked(input=number))["id"] for number in range(1, 4)]
        async with listening(live, auditor, after=entry.decode()) as heard:
            assert [name for _, name in await heard.heard(3)] == asked
        assert first["id"] not in asked

    async def test_a_gap_is_told_first(self, live: Harness) -> None:
        """Where the stream does not reach back so far; what there is follows."""
        runtime, auditor = await live.client(), await reader(live)
        await runtime.asked(input=1)
        (entry, _) = (await live.redis.xrange("{placet:default}:s"))[0]
        kept = await runtime.asked(input=2)
        await live.redis.xtrim("{placet:default}:s", maxlen=1, approximate=False)
        async with listening(live, auditor, after=entry.decode()) as heard:
            assert await heard.heard(2) == [("gap", ""), ("requested", kept["id"])]

    async def test_an_entry_of_another_stream_is_a_gap(self, live: Harness) -> None:
        """One that this one has not come to: nothing is withheld because of it."""
        runtime, auditor = await live.client(), await reader(live)
        await runtime.asked(input=1)
        async with listening(live, auditor, after="9" * 15 + "-0") as heard:
            assert await heard.heard(1) == [("gap", "")]
            asked = await runtime.asked(input=2)
            assert await heard.heard(1) == [("requested", asked["id"])]

    async def test_before_anything_has_happened(self, live: Harness) -> None:
        """An empty stream reaches back nowhere."""
        auditor = await reader(live)
        async with listening(live, auditor, after="1-0") as heard:
            assert await heard.heard(1) == [("gap", "")]

    @pytest.mark.parametrize("after", ["x", "1", "-1-0", "1-0 ", "1" * 16 + "-0"])
    async def test_what_is_no_entry_is_refused(self, live: Harness, after: str) -> None:
        """Nothing begins then; an empty one is none."""
        auditor = await reader(live)
        response = await auditor.call("GET", "/v1/events", headers={"last-event-id": after})
        assert refusal(response) == (422, "INPUT_INVALID")
        assert len(live.services.feed) == 0
        async with listening(live, auditor, after="") as heard:
            assert heard.status == 200


class TestHeartbeat:
    """Nothing new for a while."""

    async def test_silence_is_broken(self, live: Harness, clock: ManualClock) -> None:
        """By a comment, before a proxy takes it for dead."""
        auditor = await reader(live)
        async with listening(live, auditor) as heard:
            await heard.next()
            for _ in range(2):
                await until(lambda: clock.timers > 0, "the heartbeat to be awaited")
                clock.move(BEAT_MS)
                assert (await heard.next()).type == ""

    async def test_a_revoked_credential_ends_it(self, live: Harness, clock: ManualClock) -> None:
        """At the next heartbeat at the latest."""
        auditor = await reader(live)
        async with listening(live, auditor) as heard:
            await heard.next()
            await live.services.enrolment.revoke("default", "client:auditor")
            await until(lambda: clock.timers > 0, "the heartbeat to be awaited")
            clock.move(BEAT_MS)
            await heard.over()
            assert heard.ended.is_set()
        assert len(live.services.feed) == 0

    async def test_rules_of_now_say_what_is_told(self, live: Harness, clock: ManualClock) -> None:
        """An approver whose groups changed goes on under what they are by then."""
        runtime, ann = await live.client(), await live.approver()
        async with listening(live, ann) as heard:
            await heard.next()
            await live.approver("bob")
            await until(lambda: clock.timers > 0, "the heartbeat to be awaited")
            clock.move(BEAT_MS)
            await heard.next()
            asked = await runtime.asked()
            assert await heard.heard(1) == [("requested", asked["id"])]


class TestLeaving:
    """Whoever goes leaves nothing behind."""

    async def test_hanging_up_frees_the_place(self, live: Harness) -> None:
        """At once."""
        auditor = await reader(live)
        async with listening(live, auditor):
            assert len(live.services.feed) == 1
        assert len(live.services.feed) == 0

    async def test_coming_and_going_leaves_no_trace(self, live: Harness, clock: ManualClock) -> None:
        """Five hundred times."""
        auditor = await reader(live)
        for number in range(500):
            async with listening(live, auditor) as heard:
                if number % 2:
                    await heard.next()
        gc.collect()
        tasks = {task for task in asyncio.all_tasks() if "_stream" in repr(task) or "Listener" in repr(task)}
        assert (len(live.services.feed), live.services.feed._places, clock.timers, tasks) == (0, {}, 0, set())

    async def test_so_many_at_once(self, live: Harness) -> None:
        """One more is refused, and takes nothing; somebody else is not."""
        auditor, ann = await reader(live), await live.approver()
        most = live.services.settings.limits.streams_per_credential
        open_ = [Listener(live, auditor.credential, "/v1/events", []) for _ in range(most)]
        for listener in open_:
            await listener.answered()
        assert refusal(await auditor.call("GET", "/v1/events")) == (429, "RATE_LIMITED")
        async with listening(live, ann) as heard:
            assert heard.status == 200
        for listener in open_:
            await listener.hang_up()
        async with listening(live, auditor) as heard:
            assert heard.status == 200

    async def test_a_shutdown_ends_them(self, live: Harness) -> None:
        """And whoever comes later is let go at once."""
        auditor = await reader(live)
        async with listening(live, auditor) as heard:
            await heard.next()
            live.services.feed.close()
            await heard.over()
        async with listening(live, auditor) as late:
            await late.over()
            assert late.status == 200

    async def test_whoever_is_too_slow_is_let_go(
        self, live: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And hears the rest when they come back; the others are not kept waiting."""
        monkeypatch.setattr(feed, "QUEUE_MAX", 3)
        runtime, auditor, ann = await live.client(), await reader(live), await live.approver()
        async with listening(live, ann) as quick, listening(live, auditor) as slow:
            await slow.next()
            slow.reading.clear()
            asked = []
            for number in range(6):
                asked.append((await runtime.asked(input=number))["id"])
                assert await quick.heard(1) == [("requested", asked[-1])]
            slow.reading.set()
            await slow.over()
            first = await slow.next()
            assert first.data["id"] == asked[0]
        async with listening(live, auditor, after=first.id) as back:
            assert [name for _, name in await back.heard(5)] == asked[1:]

    async def test_head_answers_and_ends(self, live: Harness) -> None:
        """As for any other call."""
        auditor = await reader(live)
        response = await auditor.call("HEAD", "/v1/events")
        assert (response.status_code, response.content) == (200, b"")
        assert response.headers["content-type"] == "text/event-stream"
        assert len(live.services.feed) == 0


async def test_it_begins_where_the_store_can_be_asked(live: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it is refused, and may be tried again."""
    auditor = await reader(live)

    async def unavailable(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(live.services.store.client, "xrevrange", unavailable)
    response = await auditor.call("GET", "/v1/events", headers={"last-event-id": "1-0"})
    assert refusal(response) == (503, "STORE_UNAVAILABLE")
    assert len(live.services.feed) == 0
