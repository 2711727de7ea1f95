"""A clock that came back from a jump ahead: callers are put off, the operator is told, and can mend it."""

from typing import Any

import pytest

from tests.harness import Harness, Party, record, refusal
from tests.tools import until

JUMP_MS = 3_600_000
DOWN = (503, "STORE_UNAVAILABLE")


def fault(who: str, wrong: str = "The store's clock is 3600 s behind what {} has already seen") -> str:
    """The sentence of ``/readyz``."""
    return (
        f"{wrong.format(who)}: nothing of it is judged. Set the server's clock right; where it is right, "
        "`placet doctor --reset-clock` sets the tenant's."
    )


async def jumped(h: Harness, tenant: str = "default") -> tuple[Party, dict[str, Any]]:
    """Somebody who was granted something while the clock was ahead; it is back again."""
    runtime, ann = await h.client(tenant=tenant), await h.approver(tenant=tenant)
    h.clock.move(JUMP_MS)
    asked = await runtime.asked()
    record(await ann.decide(await ann.seen(asked["id"])))
    h.clock.move(-JUMP_MS)
    return runtime, asked


async def faults(h: Harness) -> list[str]:
    """What ``/readyz`` says is wrong, after the sweeper has come by."""
    await h.services.sweeper.sweep()
    answer = await h.http.get("/readyz")
    found: list[str] = answer.json()["faults"]
    assert answer.status_code == (503 if found else 200)
    return found


class TestCallers:
    """They are told to try again; nothing they hear would be judged by a right time."""

    async def test_nobody_is_given_a_token(self, anywhere: Harness) -> None:
        """Nor anything else: not even a read is answered, and whoever waits is not kept waiting."""
        runtime, asked = await jumped(anywhere)
        read, waited = await runtime.read(asked["id"]), await runtime.read(asked["id"], wait=30)
        answers = [read, waited, await runtime.list()]
        assert [refusal(each) for each in answers] == [DOWN] * 3
        assert {each.json()["retryable"] for each in answers} == {True}
        assert all("retry-after" in each.headers for each in answers)

    async def test_nothing_is_consumed(self, anywhere: Harness) -> None:
        """Not with a token from before either."""
        runtime, ann = await anywhere.client(), await anywhere.approver()
        anywhere.clock.move(JUMP_MS)
        asked = await runtime.asked()
        record(await ann.decide(asked))
        token = await runtime.token(asked["id"])
        anywhere.clock.move(-JUMP_MS)
        assert refusal(await runtime.consume(asked, token)) == DOWN
        assert refusal(await runtime.introspect(asked, token)) == DOWN

    async def test_an_absurd_mark_is_no_fault_of_ours(self, anywhere: Harness) -> None:
        """A time beyond the year 9999, which could not even be written down, is a 503 as well."""
        runtime = await anywhere.client()
        await anywhere.redis.hset("{placet:default}:m", "now", "9000000000000000")
        assert refusal(await runtime.ask()) == DOWN

    async def test_credentials_are_still_judged(self, anywhere: Harness) -> None:
        """Who is nobody hears that; who is revoked is gone, and who is made is there."""
        runtime, asked = await jumped(anywhere)
        bob = await anywhere.approver("bob")
        assert refusal(await bob.read(asked["id"])) == DOWN
        await anywhere.services.enrolment.revoke("default", "client:runtime")
        assert refusal(await runtime.read(asked["id"])) == (401, "UNAUTHENTICATED")


class TestOperators:
    """They see it, and mend it."""

    async def test_the_replica_is_not_ready(self, anywhere: Harness) -> None:
        """And says why, in the words that it began with, so that a log of changes stays short."""
        await jumped(anywhere)
        assert await faults(anywhere) == [fault("a tenant")]
        anywhere.clock.move(1_000)
        assert await faults(anywhere) == [fault("a tenant")]

    async def test_several_tenants_are_counted(self, anywhere: Harness) -> None:
        """However many there are, it is one sentence, and names none: anybody may ask."""
        for tenant in ("a", "b", "c"):
            await jumped(anywhere, tenant)
        assert await faults(anywhere) == [fault("a tenant (and 2 more)")]

    async def test_one_tenant_s_clock_takes_nobody_else_away(self, anywhere: Harness) -> None:
        """The others are served, so calls are welcome; the tenant's own are refused one by one."""
        runtime, asked = await jumped(anywhere, "a")
        spared = await anywhere.client(tenant="spared")
        assert await faults(anywhere) == []
        assert refusal(await runtime.read(asked["id"])) == (503, "STORE_UNAVAILABLE")
        record(await spared.list())

    async def test_a_mark_that_is_no_time_is_called_that(self, anywhere: Harness) -> None:
        """There is no number of seconds to tell."""
        await anywhere.client()
        await anywhere.redis.hset("{placet:default}:m", "now", "soon")
        wrong = "What the store holds for the latest moment that {} has seen is no time"
        assert await faults(anywhere) == [fault("a tenant", wrong)]

    async def test_it_is_ready_when_time_has_caught_up(self, anywhere: Harness) -> None:
        """By itself."""
        await jumped(anywhere)
        assert len(await faults(anywhere)) == 1
        anywhere.clock.move(JUMP_MS)
        assert await faults(anywhere) == []

    async def test_a_tenant_that_is_gone_is_no_fault(self, anywhere: Harness) -> None:
        """Nobody will ever ask for it again."""
        await jumped(anywhere)
        assert len(await faults(anywhere)) == 1
        await anywhere.services.store.registry.remove_tenant("default")
        assert await faults(anywhere) == []

    async def test_the_sweeper_does_not_go_on_about_it(
        self, anywhere: Harness, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It comes by every second, and this may take days."""
        await jumped(anywhere)
        for _ in range(3):
            await anywhere.services.sweeper.sweep()
            await anywhere.services.sweeper.trim()
        assert [line.levelname for line in caplog.records] == ["ERROR"]

    async def test_a_reset_brings_all_replicas_back(self, pair: tuple[Harness, Harness]) -> None:
        """What was granted under the wrong time is cancelled; new questions are asked in the right one."""
        here, there = pair
        runtime, asked = await jumped(here)
        assert len(await faults(there)) == 1
        assert await here.services.reset_clock("default") == (asked["id"],)
        assert await faults(there) == []
        seen = await runtime.seen(asked["id"])
        assert (seen["status"], "token" in seen) == ("cancelled", False)
        last = record(await runtime.trail(asked["id"]))["items"][-1]
        assert (last["type"], last["by"], last["at"]) == ("cancelled", "operator", "2027-01-15T08:00:00.000Z")
        assert (await runtime.asked())["requested_at"] == "2027-01-15T08:00:00.000Z"

    async def test_more_than_a_step_is_reset_whole(self, anywhere: Harness) -> None:
        """However much is open."""
        runtime, asked = await jumped(anywhere)
        anywhere.clock.move(JUMP_MS)
        ids = {(await runtime.asked(context={"n": n}))["id"] for n in range(230)}
        anywhere.clock.move(-JUMP_MS)
        assert set(await anywhere.services.reset_clock("default")) == {asked["id"], *ids}

    async def test_whoever_waits_is_woken_by_it(self, anywhere: Harness) -> None:
        """It is a transition as any other."""
        runtime, asked = await jumped(anywhere)
        heard: list[str] = []
        services = anywhere.services
        services.store.stream.start()
        await services.store.stream.follow("default")
        woken = services.waiters.join("default", asked["id"])
        woken.add_done_callback(lambda _: heard.append(asked["id"]))
        await services.reset_clock("default")
        await until(lambda: heard == [asked["id"]], "the waiter is woken")
        services.waiters.leave("default", asked["id"], woken)
        assert (await runtime.seen(asked["id"]))["status"] == "cancelled"
