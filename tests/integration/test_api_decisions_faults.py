"""Several decisions in one call, while credentials change, the store goes away or something breaks."""

from typing import Any

import pytest

from placet.domain.errors import StoreUnavailable
from tests.harness import Harness, holder, record, refusal, results, vote_on

UNKNOWN = (401, "UNAUTHENTICATED")


class TestRejudged:
    """Credentials change while a batch is on its way."""

    async def test_a_change_of_others_is_no_matter(self, pair: tuple[Harness, Harness]) -> None:
        """A replica that does not know of it yet finds out once, and judges all items by what is so now."""
        here, there = pair
        runtime, ann = await here.client(), await here.approver()
        votes = [vote_on(await runtime.asked(input=n)) for n in range(5)]
        away = holder(there, "ann", ann.credential)
        record(await away.list())
        await here.approver("bob")
        assert [told for _, told in results(await away.decide_all(*votes))] == ["approved"] * 5

    async def test_it_is_found_out_once(
        self, pair: tuple[Harness, Harness], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Not once for each item."""
        here, there = pair
        runtime, ann = await here.client(), await here.approver()
        votes = [vote_on(await runtime.asked(input=n)) for n in range(15)]
        away = holder(there, "ann", ann.credential)
        record(await away.list())
        await here.approver("bob")
        genuine, readings = there.services.store.principals.all, 0

        async def counting(tenant: str) -> Any:
            nonlocal readings
            readings += 1
            return await genuine(tenant)

        monkeypatch.setattr(there.services.store.principals, "all", counting)
        record(await away.decide_all(*votes))
        assert readings == 1

    async def test_whoever_is_gone_decides_nothing(self, pair: tuple[Harness, Harness]) -> None:
        """A person revoked elsewhere is refused as on any other call."""
        here, there = pair
        runtime, ann = await here.client(), await here.approver()
        votes = [vote_on(await runtime.asked(input=n)) for n in range(3)]
        away = holder(there, "ann", ann.credential)
        record(await away.list())
        await here.services.enrolment.revoke("default", "approver:ann")
        assert refusal(await away.decide_all(*votes)) == UNKNOWN
        assert (await runtime.seen(votes[0]["id"]))["status"] == "pending"

    async def test_whoever_goes_meanwhile_decided_what_they_had(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What was judged before counts and is answered; what comes after is refused."""
        runtime, ann = await h.client(), await h.approver()
        votes = [vote_on(await runtime.asked(input=n)) for n in range(30)]
        genuine = h.services.store.approvals.decide
        decided = 0

        async def revoking(*args: Any, **options: Any) -> Any:
            nonlocal decided
            decided += 1
            if decided == 21:
                await h.services.enrolment.revoke("default", "approver:ann")
            return await genuine(*args, **options)

        monkeypatch.setattr(h.services.store.approvals, "decide", revoking)
        told = [status for _, status in results(await ann.decide_all(*votes))]
        assert told[:20] == ["approved"] * 20
        assert set(told[20:]) <= {"approved", "UNAUTHENTICATED"}
        assert told[20] == "UNAUTHENTICATED"
        reader = await h.client("reader", "read")
        seen = [(await reader.seen(vote["id"]))["status"] for vote in votes]
        assert seen == ["approved" if each == "approved" else "pending" for each in told]

    async def test_what_never_stops_changing_is_temporary(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An item that can't be judged under any epoch: the whole call is to come again."""
        runtime, ann = await h.client(), await h.approver()
        asked = await runtime.asked()
        genuine = h.services.store.approvals._run

        async def after_a_change(*args: Any) -> Any:
            await h.services.enrolment.count_change("default")
            return await genuine(*args)

        monkeypatch.setattr(h.services.store.approvals, "_run", after_a_change)
        assert refusal(await ann.decide_all(vote_on(asked))) == (503, "STORE_UNAVAILABLE")


class TestFaults:
    """The store, or the service itself, fails in between."""

    async def test_what_is_known_is_told(self, h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """Decided ones as decided, the rest as unavailable without another attempt; again is safe."""
        runtime, ann = await h.client(), await h.approver()
        votes = [vote_on(await runtime.asked(input=n)) for n in range(60)]
        genuine = h.services.store.approvals.decide
        calls = 0

        async def failing(*args: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > 25:
                raise StoreUnavailable
            return await genuine(*args, **options)

        monkeypatch.setattr(h.services.store.approvals, "decide", failing)
        told = [status for _, status in results(await ann.decide_all(*votes))]
        assert told == ["approved"] * 25 + ["STORE_UNAVAILABLE"] * 35
        assert calls == 40
        monkeypatch.undo()
        again = [status for _, status in results(await ann.decide_all(*votes))]
        assert again == ["approved"] * 60

    async def test_where_nothing_is_known_the_call_says_so(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A store that is away all the time is 503, as on any other call, with the time to come again."""
        runtime, ann = await h.client(), await h.approver()
        votes = [vote_on(await runtime.asked(input=n)) for n in range(30)]

        async def away(*_: Any, **__: Any) -> Any:
            raise StoreUnavailable

        monkeypatch.setattr(h.services.store.approvals, "get", away)
        answer = await ann.decide_all(*votes)
        assert refusal(answer) == (503, "STORE_UNAVAILABLE")
        assert answer.headers["retry-after"] == "1"

    async def test_a_fault_of_ours_is_one_items(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """That item is an internal error, the log has the cause, and the others are decided."""
        runtime, ann = await h.client(), await h.approver()
        votes = [vote_on(await runtime.asked(id=f"q-{n}")) for n in range(3)]
        genuine = h.services.store.approvals.get

        async def breaks(tenant: str, approval_id: str, **options: Any) -> Any:
            if approval_id == "q-1":
                raise RuntimeError("placet:default:secret-detail")
            return await genuine(tenant, approval_id, **options)

        monkeypatch.setattr(h.services.store.approvals, "get", breaks)
        answer = await ann.decide_all(*votes)
        assert [told for _, told in results(answer)] == ["approved", "INTERNAL_ERROR", "approved"]
        assert "secret-detail" not in answer.text
        assert any(line.exc_info for line in caplog.records)


async def test_refusals_inside_a_batch_are_counted(h: Harness) -> None:
    """Metrics know each by its code, as if it had been an answer of its own."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    await ann.decide_all(*({**vote_on(asked), "id": f"none-{n}"} for n in range(4)))

    def value(code: str) -> float | None:
        return h.services.metrics.registry.get_sample_value("placet_refusals_total", {"code": code})

    assert value("APPROVAL_NOT_FOUND") == 4
    assert value("APPROVAL_ALREADY_DECIDED") == 0
