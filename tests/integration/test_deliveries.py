"""From a transition to whoever is told: the outbox, the lanes, and who tells them."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from placet.application import dispatch, spread
from placet.application.dispatch import Dispatcher, Job, Sent
from placet.application.enroll import Issued
from placet.application.grants import Seals
from placet.domain.deliveries import ATTEMPTS_MAX, BACKOFF_MS, LEASE_MS, Failure, Undelivered
from placet.domain.limits import JUDGED_MAX
from placet.domain.presentation import Budget, happened, present, read_seen
from placet.domain.principals import Endpoint
from placet.store.approvals import Rejudge
from placet.store.codec import encode
from placet.store.outbox import GROUP
from tests.harness import Harness, Party, record

MINUTE_MS = 60_000


class Ear:
    """A sender that remembers what it was given to tell, and fails as it is told to."""

    width = 8

    def __init__(self) -> None:
        self.told: list[tuple[str, str, list[str]]] = []
        self.faults: list[Undelivered | Exception] = []
        self.gate: asyncio.Event | None = None
        self.dead: str | None = None
        self.heard = asyncio.Event()
        self.begun = asyncio.Event()

    async def send(self, job: Job) -> Sent | None:
        """Tell all that is new."""
        if self.gate is not None and self.dead in {None, job.delivery.target}:
            self.begun.set()
            await self.gate.wait()
        if self.faults:
            raise self.faults.pop(0)
        news = [entry.type for entry in job.log[job.delivery.covered :]]
        self.told.append((job.delivery.target, job.approval.ask.id, news))
        self.heard.set()
        return Sent(covered=len(job.log), ref="r 1")


class Post:
    """A service with endpoints, whose deliveries a test moves on."""

    def __init__(self, h: Harness, runtime: Party, ann: Party) -> None:
        self.h, self.runtime, self.ann = h, runtime, ann
        self.ear = Ear()
        self.dispatcher = self.replica()
        h.services.dispatcher._senders = {}  # it would tell them itself

    def replica(self) -> Dispatcher:
        """What tells, in one process."""
        services, h = self.h.services, self.h
        return Dispatcher(
            services.store.deliveries,
            Seals(services.ring),
            services.directory,
            services.store.registry.tenants,
            {"webhook": self.ear},
            h.clock,
        )

    async def spread(self) -> None:
        """Wake whoever is to hear of what has happened."""
        while await self.h.services.spreader.once():
            pass

    async def deliver(self) -> list[tuple[str, str, list[str]]]:
        """Tell what is due: what was told."""
        await self.spread()
        await self.dispatcher.look()
        await self.dispatcher.drain()
        told, self.ear.told[:] = list(self.ear.told), []
        return told

    async def deliveries(self, approval_id: str) -> list[dict[str, Any]]:
        """What a record says of who was told."""
        found: list[dict[str, Any]] = (await self.ann.seen(approval_id))["deliveries"]
        return found

    async def trail(self, approval_id: str) -> list[tuple[str, ...]]:
        """The types of a record's trail, with who was told."""
        items = record(await self.ann.trail(approval_id))["items"]
        return [tuple(filter(None, (each["type"], each.get("target"), each.get("error")))) for each in items]


async def endpoint(h: Harness, name: str = "audit", **members: Any) -> Issued:
    """Enter an endpoint."""
    return await h.services.enrolment.create(
        Endpoint(tenant="default", name=name, url="https://hooks.example/x", **members)
    )


@pytest.fixture
async def post(anywhere: Harness) -> Post:
    """On every store."""
    return Post(anywhere, await anywhere.client(), await anywhere.approver())


async def test_each_transition_is_told_once(post: Post) -> None:
    """In order, whoever decides what; and the record and its trail say so."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    assert await post.deliver() == [("webhook:audit", asked["id"], ["requested"])]
    assert await post.deliver() == []
    record(await post.ann.decide(asked, "approve"))
    assert await post.deliver() == [("webhook:audit", asked["id"], ["delivered", "approved"])]
    [delivery] = await post.deliveries(asked["id"])
    assert delivery.items() >= {"target": "webhook:audit", "state": "delivered", "error": None}.items()
    assert await post.trail(asked["id"]) == [
        ("requested",),
        ("delivered", "webhook:audit"),
        ("approved",),
    ]


async def test_what_happens_while_it_is_told_is_told_next(post: Post) -> None:
    """Nothing falls between."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    post.ear.gate = asyncio.Event()
    await post.spread()
    await post.dispatcher.look()
    await asyncio.sleep(0)
    record(await post.ann.decide(asked, "reject"))
    await post.spread()
    post.ear.gate.set()
    await post.dispatcher.drain()
    assert [news for *_, news in post.ear.told] == [["requested"], ["rejected", "delivered"]]


async def test_it_is_tried_again_as_long_as_it_may_help(post: Post) -> None:
    """With growing pauses, and then no more; the question waits as before, and a person can try again."""
    await endpoint(post.h)
    asked = await post.runtime.asked(expires_in_ms=24 * 60 * MINUTE_MS)
    for attempt in range(1, ATTEMPTS_MAX + 1):
        post.ear.faults = [Undelivered(Failure.TIMEOUT)]
        assert await post.deliver() == []
        [delivery] = await post.deliveries(asked["id"])
        assert (delivery["attempts"], delivery["error"]) == (attempt, "timeout")
        if attempt < ATTEMPTS_MAX:
            assert delivery["state"] == "queued"
            assert await post.deliver() == [], "it is not due yet"
            post.h.clock.move(BACKOFF_MS[attempt - 1] * 12 // 10 + 1)
    assert delivery["state"] == "failed"
    assert (await post.ann.seen(asked["id"]))["status"] == "pending"
    assert (await post.trail(asked["id"]))[-1] == ("undelivered", "webhook:audit", "timeout")
    [(which, lane)] = await post.h.services.store.deliveries.failed("default", limit=10)
    assert (which, lane.target, lane.error) == (asked["id"], "webhook:audit", Failure.TIMEOUT)
    await post.h.services.store.deliveries.wake("default", asked["id"], ["webhook:audit"])
    assert [news[0] for *_, news in await post.deliver()] == ["requested"]
    assert await post.h.services.store.deliveries.failed("default", limit=10) == []
    assert (await post.trail(asked["id"]))[-1] == ("delivered", "webhook:audit")


async def test_people_read_who_was_told(post: Post) -> None:
    """In the trail as the pages and the audit tell it: who, and why not; nothing counts as spoilt by it."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    await post.deliver()
    post.ear.faults = [Undelivered(Failure.REFUSED)]
    record(await post.runtime.cancel(asked["id"]))
    await post.deliver()
    lines = await post.h.services.audit.trail("default", asked["id"])
    assert not any(line.spoilt for line in lines)
    trail = (await post.h.services.store.approvals.get("default", asked["id"], epoch=None)).record
    assert trail is not None
    card = present(read_seen(encode(await post.ann.seen(asked["id"]))), Budget(lines=9))
    told = happened(trail.trail(), card, Budget(lines=9)).items
    assert [(each.words, each.more) for each in told] == [
        ("asked", ""),
        ("told", "webhook:audit"),
        ("withdrawn", ""),
        ("could not tell", "webhook:audit (refused)"),
    ]


async def test_what_waits_or_has_failed_is_listed_and_tried_at_once(post: Post) -> None:
    """Whoever mended a receiver does not wait out the pause; what is told, or being told, is left alone."""
    await endpoint(post.h)
    lanes = post.h.services.store.deliveries
    first, second = await post.runtime.asked(), await post.runtime.asked(input={"order": "A-2"})
    post.ear.width = 1
    post.ear.faults = [Undelivered(Failure.TIMEOUT), Undelivered(Failure.REFUSED)]
    assert await post.deliver() == []
    waiting = await lanes.queued("default", limit=10)
    failed = await lanes.failed("default", limit=10)
    [(one, delivery, due_ms)], [(other, given_up)] = waiting, failed
    assert {one, other} == {first["id"], second["id"]}
    assert (delivery.error, given_up.error) == (Failure.TIMEOUT, Failure.REFUSED)
    assert post.h.clock.now_ms() < due_ms <= post.h.clock.now_ms() + 2_000
    assert [await lanes.retry("default", each, "webhook:audit") for each in (one, other)] == [True, True]
    queued = await lanes.queued("default", limit=10)
    assert [(lane.attempts, lane.error, due) for _, lane, due in queued] == [
        (0, None, post.h.clock.now_ms())
    ] * 2
    assert len(await lanes.queued("default", limit=1)) == 1
    assert {told[1] for told in await post.deliver()} == {one, other}
    assert (await lanes.queued("default", limit=10), await lanes.failed("default", limit=10)) == ([], [])
    assert not await lanes.retry("default", one, "webhook:audit"), "it knows all there is"
    assert not await lanes.retry("default", one, "webhook:other"), "nothing is to be told there"
    assert not await lanes.retry("default", "apr-0", "webhook:audit"), "there is no such question"
    record(await post.ann.decide(first, "approve"))
    await post.spread()
    epoch = (await post.h.services.directory.snapshot("default")).epoch
    await lanes.lease("default", "webhook:audit", limit=1, lease_ms=LEASE_MS, nonce="a", epoch=epoch)
    assert not await lanes.retry("default", first["id"], "webhook:audit"), "somebody tells it"


@pytest.mark.parametrize("failure", [Failure.REFUSED, Failure.NO_SUCH_TARGET, Failure.FORBIDDEN_ADDRESS])
async def test_what_is_hopeless_is_not_tried_again(post: Post, failure: Failure) -> None:
    """At once; but whatever happens next is told, in order."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    post.ear.faults = [Undelivered(failure)]
    assert await post.deliver() == []
    [delivery] = await post.deliveries(asked["id"])
    assert (delivery["state"], delivery["error"], delivery["attempts"]) == ("failed", failure, 1)
    record(await post.runtime.cancel(asked["id"]))
    assert await post.deliver() == [("webhook:audit", asked["id"], ["requested", "undelivered", "cancelled"])]


async def test_what_happens_during_the_last_attempt_is_told_all_the_same(post: Post) -> None:
    """Though that fails: it came too late to be part of it."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    post.ear.gate = asyncio.Event()
    post.ear.faults = [Undelivered(Failure.REFUSED)]
    await post.spread()
    await post.dispatcher.look()
    async with asyncio.timeout(5):
        await post.ear.begun.wait()
    record(await post.runtime.cancel(asked["id"]))
    await post.spread()
    post.ear.gate.set()
    await post.dispatcher.drain()
    assert [news for *_, news in post.ear.told] == [["requested", "cancelled", "undelivered"]]
    [delivery] = await post.deliveries(asked["id"])
    assert (delivery["state"], delivery["attempts"]) == ("delivered", 0)
    assert await post.h.services.store.deliveries.failed("default", limit=10) == []


async def test_patience_that_a_receiver_asks_for_is_the_target_s(post: Post) -> None:
    """Nothing else is told to it meanwhile."""
    await endpoint(post.h)
    post.ear.width = 1
    first, second = await post.runtime.asked(), await post.runtime.asked(input={"order": "A-2"})
    post.ear.faults = [Undelivered(Failure.RATE_LIMITED, retry_after_ms=30_000)]
    assert await post.deliver() == []
    post.h.clock.move(29_000)
    assert await post.deliver() == []
    post.h.clock.move(1_001)
    assert {told[1] for told in await post.deliver()} == {first["id"], second["id"]}


@pytest.mark.parametrize("failures", [5, ATTEMPTS_MAX - 1])
async def test_patience_lasts_as_long_as_it_was_asked_for(post: Post, failures: int) -> None:
    """Whatever the lane that met it has been through; and it does not count as an attempt."""
    await endpoint(post.h)
    first = await post.runtime.asked(expires_in_ms=24 * 60 * MINUTE_MS)
    for wait_ms in BACKOFF_MS[:failures]:
        post.ear.faults = [Undelivered(Failure.SERVER_ERROR)]
        assert await post.deliver() == []
        post.h.clock.move(wait_ms * 12 // 10 + 1)
    post.ear.faults = [Undelivered(Failure.RATE_LIMITED, retry_after_ms=2_000)]
    assert await post.deliver() == []
    other = await post.runtime.asked(input={"order": "A-2"})
    assert await post.deliver() == [], "it has asked for patience"
    post.h.clock.move(2_001)
    assert sorted(told[1] for told in await post.deliver()) == sorted([first["id"], other["id"]])


async def test_rules_that_never_hold_still_are_not_judged_for_ever(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked at again with whatever is due."""
    await endpoint(post.h)
    await post.runtime.asked()
    await post.spread()
    judged = 0

    async def changed(*_: Any, **__: Any) -> Any:
        nonlocal judged
        judged += 1
        raise Rejudge

    with monkeypatch.context() as patch:
        patch.setattr(post.h.services.store.deliveries, "lease", changed)
        async with asyncio.timeout(20):
            assert await post.deliver() == []
    assert judged == JUDGED_MAX
    assert len(await post.deliver()) == 1


async def test_a_replica_that_has_not_heard_of_an_endpoint_yet_loses_nothing_for_it(post: Post) -> None:
    """What it takes is judged by who there is now, not by who there was when it last read."""
    directory = post.h.services.directory
    nobody = await directory.snapshot("default")
    await endpoint(post.h)
    await post.spread()
    asked = await post.runtime.asked()
    directory._snapshots["default"] = nobody
    assert await post.h.services.spreader.once(wait=True) >= 1
    assert await post.deliver() == [("webhook:audit", asked["id"], ["requested"])]


async def test_a_dead_target_holds_up_nobody_else(post: Post) -> None:
    """Each has a worker of its own."""
    await endpoint(post.h, "dead")
    await endpoint(post.h, "alive")
    asked = await post.runtime.asked()
    post.ear.dead, post.ear.gate = "webhook:dead", asyncio.Event()
    await post.spread()
    await post.dispatcher.look()
    async with asyncio.timeout(5):
        await post.ear.heard.wait()
    assert post.ear.told == [("webhook:alive", asked["id"], ["requested"])]
    post.ear.gate.set()
    await post.dispatcher.drain()
    assert len(post.ear.told) == 2


async def test_what_a_replica_died_over_is_told_by_another(post: Post) -> None:
    """Once its lease is over; and that says so while it lasts."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    await post.spread()
    deliveries = post.h.services.store.deliveries
    epoch = (await post.h.services.directory.snapshot("default")).epoch
    [taken] = (
        await deliveries.lease("default", "webhook:audit", limit=1, lease_ms=LEASE_MS, nonce="a", epoch=epoch)
    ).lanes
    assert await post.deliver() == []
    post.h.clock.move(LEASE_MS + 1)
    assert [told[1] for told in await post.deliver()] == [asked["id"]]
    late = await post.dispatcher._told(post.ear, await post.h.services.directory.snapshot("default"), taken)
    assert not await deliveries.settle(taken, late), "the word of whoever comes too late counts no more"


async def test_an_entry_that_a_replica_died_over_is_spread_by_another(post: Post) -> None:
    """Nothing is lost between the outbox and the lanes."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    outbox = post.h.services.store.outbox
    await outbox.follow(["default"])
    assert [each.type for each in await outbox.news(["default"], 10, wait=False)] == ["requested"]
    assert await post.deliver() == []
    [forsaken] = await outbox.forsaken("default", idle_ms=0, count=10)
    await post.h.services.spreader.spread([forsaken])
    assert [told[1] for told in await post.deliver()] == [asked["id"]]


async def test_what_is_being_told_when_a_process_goes_down_comes_to_its_end(post: Post) -> None:
    """And nothing more is begun."""
    await endpoint(post.h)
    asked, other = await post.runtime.asked(), await post.runtime.asked(input={"order": "A-2"})
    post.ear.width, post.ear.gate = 1, asyncio.Event()
    await post.spread()
    await post.dispatcher.look()
    await post.ear.begun.wait()
    stopping = asyncio.ensure_future(post.dispatcher.stop())
    await asyncio.sleep(0)
    post.ear.gate.set()
    await stopping
    assert len(post.ear.told) == 1
    [first] = [each[1] for each in post.ear.told]
    [left] = {asked["id"], other["id"]} - {first}
    assert [(await post.deliveries(each))[0]["state"] for each in (first, left)] == ["delivered", "queued"]


async def test_what_hangs_when_a_process_goes_down_is_left(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To whoever takes it over once its lease is over."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    post.ear.gate = asyncio.Event()
    await post.spread()
    await post.dispatcher.look()
    await post.ear.begun.wait()
    monkeypatch.setattr(dispatch, "STOP_S", 0.01)
    await post.dispatcher.stop()
    post.ear.gate = None
    post.dispatcher = post.replica()
    assert await post.deliver() == []
    post.h.clock.move(LEASE_MS + 1)
    assert [told[1] for told in await post.deliver()] == [asked["id"]]


async def test_forgotten_approvals_are_no_failures(post: Post) -> None:
    """What can't be told any more is not counted."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    post.ear.faults = [Undelivered(Failure.REFUSED)]
    await post.deliver()
    lanes = post.h.services.store.deliveries
    assert (await lanes.ring("default", limit=1)).failed == 1
    await post.h.redis.delete(f"{{placet:default}}:a:{asked['id']}")
    assert (await lanes.ring("default", limit=1)).failed == 0


async def test_a_target_that_is_told_again_after_a_failure_is_told_of_in_the_trail(post: Post) -> None:
    """Each time that changes; and not each time that it is told."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    await post.deliver()
    post.ear.faults = [Undelivered(Failure.REFUSED)]
    record(await post.ann.decide(asked, "approve"))
    await post.deliver()
    record(await post.runtime.consume(asked, await post.runtime.token(asked["id"])))
    await post.deliver()
    record(await post.runtime.report(asked["id"]))
    await post.deliver()
    assert [kind for kind, *_ in await post.trail(asked["id"])] == [
        "requested",
        "delivered",
        "approved",
        "undelivered",
        "consumed",
        "delivered",
        "reported",
    ]


async def test_whoever_comes_later_is_not_told_of_the_past(post: Post) -> None:
    """While nobody is told of anything the outbox is passed by; from then on nothing is."""
    before = await post.runtime.asked()
    assert await post.deliver() == []
    await endpoint(post.h)
    asked = await post.runtime.asked(input={"order": "A-2"})
    assert await post.deliver() == [("webhook:audit", asked["id"], ["requested"])]
    assert (await post.ann.seen(before["id"]))["deliveries"] == []


async def test_a_tenant_that_was_removed_and_made_again_is_told_of(post: Post) -> None:
    """Its stream is another one."""
    assert await post.deliver() == []
    await post.h.redis.delete("{placet:default}:s")
    asked = await post.runtime.asked()
    for _ in range(2):
        assert await post.deliver() == []
    await endpoint(post.h)
    await post.h.redis.delete("{placet:default}:s")
    record(await post.runtime.cancel(asked["id"]))
    for _ in range(2):
        told = await post.deliver()
    assert told == [("webhook:audit", asked["id"], ["requested", "cancelled"])]


async def test_so_many_records_are_read_at_a_time(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many transitions have come at once: records are large."""
    await endpoint(post.h)
    for n in range(5):
        await post.runtime.asked(input={"order": f"A-{n}"})
    approvals, reading, most = post.h.services.store.approvals, 0, 0
    get = approvals.get

    async def counted(*args: Any, **named: Any) -> Any:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        try:
            return await get(*args, **named)
        finally:
            reading -= 1

    with monkeypatch.context() as patch:
        patch.setattr(spread, "AT_ONCE", 2)
        patch.setattr(approvals, "get", counted)
        assert len(await post.deliver()) == 5
    assert most == 2


async def test_a_stream_that_is_another_by_now_is_found_at_once(post: Post) -> None:
    """By whoever reads on; nobody asks for it in vain, again and again, until it is time to look."""
    await endpoint(post.h)
    assert await post.deliver() == []
    await post.h.redis.delete("{placet:default}:s")
    await post.runtime.asked()
    spreader = post.h.services.spreader
    assert [await spreader.once(wait=True) for _ in range(2)] == [0, 1]


async def test_a_tenant_that_is_gone_keeps_what_others_left_from_nobody(post: Post) -> None:
    """It is forgotten, and the next is looked at."""
    outbox = post.h.services.spreader._outbox
    await outbox.follow(["gone", "default"])
    await post.h.redis.delete("{placet:gone}:s")
    assert await post.h.services.spreader.again() == 0
    assert outbox.followed == ("default",)


@pytest.mark.parametrize("fields", [{"i": "apr-1"}, {"t": "requested", "n": "soon", "i": "apr-1"}])
async def test_a_spoilt_line_of_the_outbox_keeps_nothing_else_from_being_told(
    post: Post, fields: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """It is done with, and the log says so: whether it is just given, or somebody died over it."""
    await endpoint(post.h)
    stream = "{placet:default}:s"
    asked = []
    for n in range(2):
        await post.h.redis.xadd(stream, fields)
        asked.append(await post.runtime.asked(input={"order": f"A-{n}"}))
        if n == 0:
            assert len(await post.deliver()) == 1
    outbox = post.h.services.spreader._outbox
    await outbox._client.xreadgroup(GROUP, "replicas", {stream: ">"}, count=9)
    found = await outbox.forsaken("default", idle_ms=0, count=9)
    assert [each.approval_id for each in found] == [asked[1]["id"]]
    assert (await post.h.redis.xpending(stream, GROUP))["pending"] == 1
    assert [each.message for each in caplog.records].count("lines of the outbox can't be read") == 2


@pytest.mark.parametrize("packed", ["spoilt", "q 0 0 0 - - ", "z 0 0 0 - - r", "q 0 0 0 - wrong r"])
async def test_a_spoilt_lane_keeps_no_other_from_being_told(post: Post, packed: str) -> None:
    """Whatever somebody else has written into the store."""
    await endpoint(post.h)
    spoilt, other = await post.runtime.asked(), await post.runtime.asked(input={"order": "A-2"})
    await post.spread()
    await post.h.redis.hset(f"{{placet:default}}:a:{spoilt['id']}", "m:webhook:audit", packed)
    await post.h.redis.zadd("{placet:default}:n:webhook:audit", {spoilt["id"]: 0})
    assert other["id"] in [told[1] for told in await post.deliver()]


async def test_a_spoilt_line_of_a_list_keeps_nothing_from_being_told(post: Post) -> None:
    """Of what has failed, and of what was put off."""
    await endpoint(post.h)
    await post.h.redis.zadd("{placet:default}:f", {"spoilt": 0})
    await post.h.redis.zadd("{placet:default}:h", {"spoilt": 0})
    await post.runtime.asked()
    assert len(await post.deliver()) == 1
    await post.h.redis.zadd("{placet:default}:f", {"spoilt": 0})
    assert await post.h.services.store.deliveries.failed("default", limit=10) == []


async def test_a_fault_of_ours_is_a_failure_and_no_more(post: Post) -> None:
    """It is logged, and tried again."""
    await endpoint(post.h)
    asked = await post.runtime.asked()
    post.ear.faults = [ValueError("hm")]
    assert await post.deliver() == []
    [delivery] = await post.deliveries(asked["id"])
    assert (delivery["state"], delivery["error"]) == ("queued", "unreadable")


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"capabilities": ("orders.*",)}, ["requested", "approved"]),
        ({"capabilities": ("mail.*",)}, []),
        ({"clients": ("run*",)}, ["requested", "approved"]),
        ({"clients": ("shop",)}, []),
        ({"by_rule": True}, []),
        ({"events": frozenset({"approved"})}, ["requested", "approved"]),
    ],
)
async def test_an_endpoint_hears_of_what_it_is_for(post: Post, members: Any, told: Sequence[str]) -> None:
    """Its filters say so; one that hears of some events leaves the others out itself."""
    await endpoint(post.h, **members)
    asked = await post.runtime.asked()
    first = await post.deliver()
    record(await post.ann.decide(asked, "approve"))
    found = [event for *_, news in (*first, *await post.deliver()) for event in news if event != "delivered"]
    assert found == list(told)


async def test_a_revoked_endpoint_hears_of_nothing(post: Post) -> None:
    """Not of what is new."""
    await endpoint(post.h)
    await post.h.services.enrolment.revoke("default", "webhook:audit")
    await post.runtime.asked()
    assert await post.deliver() == []


async def test_who_waits_long_is_reminded_of(post: Post) -> None:
    """Once, when a quarter of its time is left; and of what has ended nobody is."""
    await endpoint(post.h)
    asked, other = await post.runtime.asked(), await post.runtime.asked(input={"order": "A-2"})
    assert len(await post.deliver()) == 2
    record(await post.ann.decide(other, "approve"))
    post.h.clock.move(15 * MINUTE_MS * 3 // 4 - 1)
    assert [news for *_, news in await post.deliver()] == [["delivered", "approved"]]
    post.h.clock.move(2)
    await post.dispatcher.look()
    assert await post.deliver() == [("webhook:audit", asked["id"], ["delivered", "reminded"])]
    post.h.clock.move(MINUTE_MS)
    assert await post.deliver() == []
