"""The long wait: woken by a decision, a deadline or a shutdown, and by nobody else's affairs."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from placet.application.query import FALLBACK_S
from tests.harness import Harness, Party, record, refusal
from tests.tools import until
from tests.wire import HOST, Exchange, bearer


@pytest.fixture
async def live(anywhere: Harness) -> AsyncIterator[Harness]:
    """A service whose stream reader runs, on every kind of store."""
    anywhere.services.store.stream.start()
    yield anywhere
    await anywhere.services.store.stream.stop()


async def parked(
    h: Harness, party: Party, approval_id: str, *, wait: int = 30, waiters: int = 1
) -> asyncio.Task[httpx.Response]:
    """A wait that has taken its place and set its timer."""
    task = asyncio.create_task(party.read(approval_id, wait=wait))
    await until(lambda: h.clock.timers >= waiters or task.done(), "the waiter parks")
    assert len(h.services.waiters) == waiters
    return task


def waiting(h: Harness) -> float | None:
    """The gauge of waiters."""
    return h.services.metrics.registry.get_sample_value("placet_waiters")


@pytest.mark.parametrize("verdict", ["approve", "reject"])
async def test_a_decision_ends_the_wait_at_once(live: Harness, verdict: str) -> None:
    """Whoever waits has the decided record, and the token where there is one, without the clock moving."""
    runtime, ann = await live.client(), await live.approver()
    asked = await runtime.asked()
    task = await parked(live, runtime, asked["id"])
    assert waiting(live) == 1
    decided = record(await ann.decide(asked, verdict))
    seen = record(await task)
    assert seen["status"] == decided["status"]
    assert ("token" in seen) == (verdict == "approve")
    assert (len(live.services.waiters), live.clock.timers, waiting(live)) == (0, 0, 0)


async def test_all_who_wait_are_woken(live: Harness) -> None:
    """Asker, audience and approvers may wait for the same record, several times over."""
    runtime, tools = await live.client(), await live.client("tools", "consume")
    ann = await live.approver()
    asked = await runtime.asked(audience="tools")
    parties = [runtime, tools, ann, runtime, ann]
    tasks = [await parked(live, party, asked["id"], waiters=n) for n, party in enumerate(parties, start=1)]
    record(await ann.decide(asked))
    statuses = {record(answer)["status"] for answer in await asyncio.gather(*tasks)}
    assert statuses == {"approved"}
    assert len(live.services.waiters) == 0


async def test_a_withdrawal_ends_the_wait(live: Harness) -> None:
    """B30: cancelling a run wakes whoever waits for one of its questions."""
    runtime = await live.client()
    asked = await runtime.asked(run="r")
    task = await parked(live, runtime, asked["id"])
    record(await runtime.cancel_run("r"))
    assert record(await task)["status"] == "cancelled"


async def test_other_records_wake_nobody(live: Harness) -> None:
    """What happens to another record, or to one of the same id in another tenant, ends no wait."""
    runtime, ann = await live.client(), await live.approver()
    abroad, bob = await live.client(tenant="abroad"), await live.approver("bob", tenant="abroad")
    await runtime.asked(id="mine")
    task = await parked(live, runtime, "mine")
    record(await ann.decide(await runtime.asked(id="other")))
    theirs = await abroad.asked(id="mine")
    record(await bob.decide(theirs))
    seen = record(await abroad.read("mine", wait=30))
    assert seen["status"] == "approved"
    assert not task.done()
    live.clock.move(30_000)
    assert record(await task)["status"] == "pending"


async def test_a_decision_before_the_wait_is_not_missed(live: Harness) -> None:
    """B23: who begins to wait after the decision has the answer at once."""
    runtime, ann = await live.client(), await live.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    assert record(await runtime.read(asked["id"], wait=60))["status"] == "approved"
    assert live.clock.timers == 0


async def test_the_end_of_the_wait_is_an_answer(h: Harness) -> None:
    """When the time is up the record comes back as it is, pending, with what the runtime needs."""
    runtime = await h.client()
    asked = await runtime.asked()
    task = await parked(h, runtime, asked["id"], wait=10)
    h.clock.move(9_999)
    await asyncio.sleep(0)
    assert not task.done()
    h.clock.move(1)
    assert record(await task) == asked
    assert len(h.services.waiters) == 0


async def test_a_deadline_ends_the_wait(h: Harness) -> None:
    """A question that dies while someone waits is answered expired, by the clock alone."""
    runtime = await h.client()
    asked = await runtime.asked(expires_in_ms=2_000)
    task = await parked(h, runtime, asked["id"])
    h.clock.move(2_000)
    await asyncio.sleep(0.02)
    assert not task.done(), "alive at the very instant"
    h.clock.move(1)
    assert record(await task)["status"] == "expired"


async def test_a_lost_wake_up_costs_one_interval(h: Harness) -> None:
    """With no stream at all the waiter finds the decision when it looks for itself."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    task = await parked(h, runtime, asked["id"], wait=60)
    record(await ann.decide(asked))
    h.clock.move(round(FALLBACK_S * 1000) - 1)
    await asyncio.sleep(0)
    assert not task.done()
    h.clock.move(1)
    assert record(await task)["status"] == "approved"


async def test_waits_can_be_chained_for_as_long_as_the_question_lives(h: Harness) -> None:
    """B25: fifteen minutes of long polls: each ends on time, pending, and the last one decided."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked(expires_in_ms=1_800_000)
    for _ in range(15):
        task = await parked(h, runtime, asked["id"], wait=60)
        for _ in range(4):
            h.clock.move(15_000)
            await asyncio.sleep(0.01)
        seen = record(await task)
        assert (seen["status"], seen["expires_at"]) == ("pending", asked["expires_at"])
    record(await ann.decide(asked))
    assert record(await runtime.read(asked["id"], wait=60))["status"] == "approved"


@pytest.mark.parametrize("wait", ["61", "-1", "1.5", "abc", "", "1e1", "true", "null", "30&wait=30"])
async def test_a_wait_is_a_whole_number_of_seconds(h: Harness, wait: str) -> None:
    """From 0 to 60; anything else is refused at once."""
    runtime = await h.client()
    path = (await runtime.asked())["links"]["self"]
    response = await runtime.call("GET", f"{path}?wait={wait}")
    assert refusal(response) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in response.json()["model"]["issues"]] == ["/wait"]


async def test_a_wait_of_nothing_does_not_wait(h: Harness) -> None:
    """wait=0 is a plain reading."""
    runtime = await h.client()
    asked = await runtime.asked()
    assert record(await runtime.read(asked["id"], wait=0)) == asked


async def test_nobody_waits_for_what_they_may_not_see(h: Harness) -> None:
    """The one 404 comes at once, and takes no place."""
    runtime, stranger = await h.client(), await h.client("stranger")
    asked = await runtime.asked()
    for party, approval_id in ((runtime, "nope"), (stranger, asked["id"]), (stranger, "nope")):
        assert refusal(await party.read(approval_id, wait=30)) == (404, "APPROVAL_NOT_FOUND")
    assert (len(h.services.waiters), h.clock.timers) == (0, 0)


async def test_a_shutdown_answers_everybody(h: Harness) -> None:
    """Closing the waiters answers those who wait with the record as it is, and newcomers at once."""
    runtime = await h.client()
    asked = [await runtime.asked(id=f"q-{n}") for n in range(3)]
    tasks = [await parked(h, runtime, each["id"], waiters=n) for n, each in enumerate(asked, start=1)]
    h.services.waiters.close()
    assert [record(answer) for answer in await asyncio.gather(*tasks)] == asked
    assert record(await runtime.read("q-0", wait=60)) == asked[0]
    assert (len(h.services.waiters), h.clock.timers) == (0, 0)


async def test_a_credential_revoked_meanwhile_gets_no_answer(live: Harness) -> None:
    """Who was revoked while waiting hears 401 when woken, not what became of the record."""
    runtime, tools = await live.client(), await live.client("tools", "consume")
    ann = await live.approver()
    asked = await runtime.asked(audience="tools")
    task = await parked(live, tools, asked["id"])
    await live.services.enrolment.revoke("default", "client:tools")
    record(await ann.decide(asked))
    assert refusal(await task) == (401, "UNAUTHENTICATED")
    assert len(live.services.waiters) == 0


async def test_other_credentials_may_change_meanwhile(h: Harness) -> None:
    """However often the directory changes during a wait, the wait goes on."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    task = await parked(h, runtime, asked["id"], wait=60)
    for n in range(6):
        await h.client(f"other-{n}")
        h.services.waiters.wake("default", asked["id"])
        await asyncio.sleep(0.02)
        assert not task.done()
    record(await ann.decide(asked))
    h.services.waiters.wake("default", asked["id"])
    assert record(await task)["status"] == "approved"
    assert len(h.services.waiters) == 0


def poll(h: Harness, party: Party, approval_id: str) -> Exchange:
    """A wait whose client can hang up."""
    headers = [HOST, bearer(party.credential)]
    return Exchange(h.app, "GET", f"/v1/approvals/{approval_id}?wait=60", headers)


async def test_a_client_that_hangs_up_frees_its_place_at_once(h: Harness) -> None:
    """The place is free as soon as the client has gone, with no clock moving and nothing decided."""
    runtime = await h.client()
    asked = await runtime.asked()
    exchange = poll(h, runtime, asked["id"])
    task = asyncio.create_task(exchange.run())
    await until(lambda: h.clock.timers == 1, "the waiter parks")
    exchange.hang_up()
    await task
    assert (len(h.services.waiters), h.clock.timers, waiting(h)) == (0, 0, 0)


async def test_a_cancelled_call_frees_its_place(h: Harness) -> None:
    """A server that gives the call up leaves nothing behind either."""
    runtime = await h.client()
    asked = await runtime.asked()
    task = asyncio.create_task(poll(h, runtime, asked["id"]).run())
    await until(lambda: h.clock.timers == 1, "the waiter parks")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert (len(h.services.waiters), h.clock.timers, waiting(h)) == (0, 0, 0)


async def test_answers_never_cross(live: Harness) -> None:
    """B64, B65: after three hundred waits were closed early, each reading gets its own record."""
    runtime = await live.client()
    first, second = await runtime.asked(id="a", input="a"), await runtime.asked(id="b", input="b")
    exchanges = [poll(live, runtime, "a") for _ in range(300)]
    tasks = [asyncio.create_task(each.run()) for each in exchanges]
    for n, exchange in enumerate(exchanges):
        if n % 20 == 0:
            await asyncio.sleep(0)
        if n % 2 == 0:
            exchange.hang_up()
    while not all(task.done() for task in tasks):
        for task in tasks[1::2]:
            task.cancel()  # again and again: Python 3.11's wait_for, in the fake, swallows one now and then
        await asyncio.sleep(0.01)
    assert len(live.services.waiters) == 0
    for _ in range(100):
        assert await runtime.seen("b") == second
    assert await runtime.seen("a") == first
    answered = [json.loads(each.body)["id"] for each in exchanges if each.body]
    assert set(answered) == {"a"}
