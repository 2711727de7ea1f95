"""Which question a call finds: the table of :mod:`placet.client.mcp.rounds`, row by row, and beyond it."""

from pathlib import Path
from typing import Any

import pytest

from placet.client.mcp.rounds import Rounds
from placet.domain.errors import PlacetError
from tests.harness import Harness, record
from tests.mcp_shop import Shop, both, code, refund, text

AGAIN_S = 300
SOON_MS, LATER_MS = AGAIN_S * 1000 - 1, 1


@pytest.fixture
async def shop(h: Harness, tmp_path: Path) -> Shop:
    """The shop."""
    h.services.store.stream.start()
    return Shop(h, await h.client(), await h.approver(), tmp_path)


async def numbers(shop: Shop) -> list[int]:
    """The rounds that there are, the newest first."""
    return [int(each["id"].rpartition("-")[2]) for each in await shop.questions()]


async def run(shop: Shop, client: Any) -> None:
    """Ask, approve, and call again."""
    assert code(await refund(client)) == "APPROVAL_REQUIRED"
    await shop.people.decide()
    assert not (await refund(client)).is_error


async def test_none(shop: Shop) -> None:
    """Asks."""
    async with shop.opened(reasons=["Over the limit."]) as client:
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
    assert (await numbers(shop), (await shop.asked())["reasons"]) == ([0], ["Over the limit."])


async def test_pending(shop: Shop) -> None:
    """Goes on with it, until it dies."""
    async with shop.opened() as client:
        await refund(client)
        shop.h.clock.move(900_000)
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
        assert await numbers(shop) == [0]


async def test_pending_under_other_words(shop: Shop) -> None:
    """Goes on with it: what is to run is the same, however a new release of the server presents it."""
    async with shop.opened() as client:
        await refund(client)
    async with shop.opened(risk="high", reasons=["New."]) as client:
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
        await shop.people.decide()
        assert not (await refund(client)).is_error
    assert await numbers(shop) == [0]


async def test_approved(shop: Shop) -> None:
    """Goes on with it, as long as it may be used."""
    async with shop.opened() as client:
        await refund(client)
        await shop.people.decide()
        shop.h.clock.move(900_000)
        assert not (await refund(client)).is_error
    assert await numbers(shop) == [0]


@pytest.mark.parametrize("ending", ["expired", "cancelled", "approved in vain"])
async def test_over_without_an_answer(shop: Shop, ending: str) -> None:
    """Asks at once, and says what was before."""
    async with shop.opened() as client:
        await refund(client)
        if ending == "cancelled":
            record(await shop.party.cancel((await shop.asked())["id"]))
        if ending == "approved in vain":
            await shop.people.decide()
        shop.h.clock.move(1 if ending == "cancelled" else 900_001)
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
    assert await numbers(shop) == [1, 0]
    newest, before = await shop.questions()
    assert newest["reasons"] == [f"The same call was asked about before: approval {before['id']}"]
    assert not shop.ran


async def test_the_tool_failed(shop: Shop) -> None:
    """Asks at once: its client was told."""

    def tool(order: str, amount: int = 5) -> None:
        shop.ran.append(order)
        raise ValueError

    async with shop.opened(tool) as client:
        await refund(client)
        await shop.people.decide()
        assert text(await refund(client)) == "Error executing tool refund"
        shop.h.clock.move(1)
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
    assert (await numbers(shop), shop.ran) == ([1, 0], ["A-1"])


async def test_rejected(shop: Shop) -> None:
    """Is answered with that, and asks then."""
    async with shop.opened(again_after_s=AGAIN_S) as client:
        await refund(client)
        shop.h.clock.move(100_000)
        await shop.people.decide("reject")
        shop.h.clock.move(SOON_MS)
        assert code(await refund(client)) == "APPROVAL_REJECTED"
        shop.h.clock.move(LATER_MS)
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
    assert await numbers(shop) == [1, 0]


async def test_has_run(shop: Shop) -> None:
    """Is answered with that, and asks then; each round runs once."""
    async with shop.opened(again_after_s=AGAIN_S) as client:
        for rounds in (1, 2, 3):
            await run(shop, client)
            shop.h.clock.move(SOON_MS)
            assert code(await refund(client)) == "APPROVAL_CONSUMED"
            shop.h.clock.move(LATER_MS)
            assert len(shop.ran) == rounds
    assert await numbers(shop) == [2, 1, 0]


async def test_nobody_knows_how_it_ended(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    """Is answered with that, which is logged; then a person is asked, and told."""
    async with shop.opened() as client:
        await refund(client)
        decided = await shop.people.decide()
        await shop.party.consume(decided, await shop.party.token(decided["id"]))
        shop.h.clock.move(SOON_MS)
        unknown = await refund(client)
        assert text(unknown) == "Whether this ran is not known. Do not run it again; a person has to look."
        assert code(unknown) == "EXECUTION_UNKNOWN"
        assert "may have run, a person has to look: approval" in caplog.text
        assert "A-1" not in caplog.text
        shop.h.clock.move(LATER_MS)
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
        assert not shop.ran
        newest, before = await shop.questions()
        assert newest["reasons"] == [
            f"The same call was spent, and its end never reported, before: approval {before['id']}"
        ]
        await shop.people.decide()
        assert not (await refund(client)).is_error
    assert len(shop.ran) == 1


@pytest.mark.parametrize("wait_ms", [0, 2 * SOON_MS])
async def test_what_the_journal_knows_of_its_end_is_reported(shop: Shop, wait_ms: int) -> None:
    """However long ago that was; and it holds from now."""
    async with shop.opened(journaled=True) as client:
        await refund(client)
        await shop.people.decide()
        shop.runtime.hook.client.report = _failing
        assert not (await refund(client)).is_error
    assert (await shop.asked())["outcome"] is None
    shop.h.clock.move(wait_ms)
    async with shop.opened(journaled=True) as client:
        for _ in range(2):
            assert code(await refund(client)) == "APPROVAL_CONSUMED"
    assert (len(shop.ran), (await shop.asked())["outcome"]["status"]) == (1, "succeeded")


async def _failing(*_: Any, **__: Any) -> None:
    raise PlacetError


@pytest.mark.parametrize("wait_ms", [0, 2 * SOON_MS])
async def test_an_idempotent_tool_runs_again_under_its_key(shop: Shop, wait_ms: int) -> None:
    """However long that was ago: with no new question, and no new key."""
    keys: list[str] = []

    def tool(order: str, *, key: str, amount: int = 5) -> str:
        keys.append(key)
        return "refunded"

    said: Any = {"idempotent": True, "key": "key", "journaled": True}
    async with shop.opened(tool, **said) as client:
        await refund(client)
        await shop.people.decide()
        shop.runtime.hook.tell = _nothing  # as where the process ends while it runs
        await refund(client)
    shop.h.clock.move(wait_ms)
    async with shop.opened(tool, **said) as client:
        assert text(await refund(client)) == "refunded"
    assert (len(keys), len(set(keys)), await numbers(shop)) == (2, 1, [0])


async def _nothing(*_: Any) -> None:
    """Nothing is told."""


async def test_what_another_process_spends_at_that_moment_is_unknown(shop: Shop) -> None:
    """And no new question, though it was approved when it was looked at."""
    async with shop.opened() as client:
        await refund(client)
        decided = await shop.people.decide()
        token = await shop.party.token(decided["id"])

        async def spent(answer: Any) -> Any:
            shop.runtime.line.change.clear()
            await shop.party.consume(decided, token)
            return answer

        shop.runtime.line.change[decided["id"]] = spent
        assert code(await refund(client)) == "EXECUTION_UNKNOWN"
    assert (await numbers(shop), shop.ran) == ([0], [])


async def test_two_releases_ask_at_once(shop: Shop) -> None:
    """In other words each: one of them is refused for this time, and finds the question at the next call."""
    async with shop.opened() as one, shop.opened(risk="high") as two:
        answers = await both(refund(one), refund(two))
        codes = sorted(code(each) for each in answers)
        assert codes in (["APPROVAL_REQUIRED"] * 2, ["APPROVAL_REQUIRED", "INTERNAL_ERROR"])
        assert [code(each) for each in await both(refund(one), refund(two))] == ["APPROVAL_REQUIRED"] * 2
    assert await numbers(shop) == [0]


@pytest.mark.parametrize("rounds", [1, 2, 3, 7, 8])
async def test_the_newest_is_found_in_a_few_reads(shop: Shop, rounds: int) -> None:
    """And is the newest."""
    async with shop.opened(again_after_s=0) as client:
        for _ in range(rounds):
            await run(shop, client)
            shop.h.clock.move(1)
        await refund(client)
        shop.runtime.line.calls.clear()
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
        assert len(shop.runtime.line.calls) <= 2 + 2 * rounds.bit_length()
    assert (await numbers(shop))[0] == rounds
    assert len(shop.ran) == rounds


async def test_old_rounds_may_be_gone(shop: Shop) -> None:
    """Then their numbers come into use again: somebody is asked, and nothing runs by it."""
    async with shop.opened(again_after_s=0) as client:
        for _ in range(2):
            await run(shop, client)
            shop.h.clock.move(1)
        oldest = (await shop.questions())[-1]["id"]
        for key in await shop.h.redis.keys(f"*{oldest}*"):
            await shop.h.redis.delete(key)
        assert (await shop.party.read(oldest)).status_code == 404
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
        assert len(shop.ran) == 2
        await shop.people.decide()
        assert not (await refund(client)).is_error
    assert (len(shop.ran), (await numbers(shop))[0]) == (3, 0)


async def test_what_cannot_be_looked_up_is_refused(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what the service says of it."""

    async def refused(self: Rounds, approval_id: str) -> Any:
        raise PlacetError

    monkeypatch.setattr(Rounds, "_read", refused)
    async with shop.opened() as client:
        assert (await refund(client)).is_error
    assert not await shop.questions()
