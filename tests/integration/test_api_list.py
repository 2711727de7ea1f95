"""Lists: whose records, in which order, page by page."""

from typing import Any

import pytest
from msgspec import structs

from placet.application.grants import Seals
from tests.factories import a_creation, an_ask
from tests.harness import Harness, Party, record, refusal


def ids(response: Any) -> list[str]:
    """The ids of a page, in its order."""
    return [each["id"] for each in record(response)["items"]]


async def pages(party: Party, **query: Any) -> list[list[str]]:
    """The ids of all pages, to the last."""
    found: list[list[str]] = []
    cursor: str | None = None
    while True:
        page = record(await party.list(**query, **({"cursor": cursor} if cursor else {})))
        found.append([each["id"] for each in page["items"]])
        cursor = page["next_cursor"]
        if cursor is None:
            return found


async def test_newest_first_and_by_id_within_a_millisecond(anywhere: Harness) -> None:
    """The order is by time, then id, both descending."""
    runtime = await anywhere.client()
    for name in ("b", "c", "a"):
        await runtime.asked(id=name)
    anywhere.clock.move(1)
    await runtime.asked(id="aa")
    assert ids(await runtime.list()) == ["aa", "c", "b", "a"]


async def test_an_empty_list_is_an_empty_page(anywhere: Harness) -> None:
    """Nothing there is no error."""
    runtime = await anywhere.client()
    assert record(await runtime.list()) == {"items": [], "next_cursor": None}


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 200])
async def test_pages_are_the_list_in_pieces(anywhere: Harness, limit: int) -> None:
    """Whatever their size, the pages together are the list: each record once, and then no cursor."""
    runtime = await anywhere.client()
    for n in range(8):
        await runtime.asked(id=f"q-{n}")
        anywhere.clock.move(n % 2)
    found = await pages(runtime, limit=limit)
    assert [name for page in found for name in page] == [f"q-{n}" for n in reversed(range(8))]
    assert all(len(page) <= limit for page in found)


async def test_pages_hold_still_while_others_write(anywhere: Harness) -> None:
    """New questions and decisions between two pages neither repeat nor hide what was there."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = [await runtime.asked(id=f"q-{n}") for n in range(6)]
    first = record(await ann.list(limit=2))
    anywhere.clock.move(5)
    await runtime.asked(id="later")
    record(await ann.decide(asked[5]))
    record(await runtime.cancel("q-4"))
    cursor, found = first["next_cursor"], [each["id"] for each in first["items"]]
    while cursor is not None:
        page = record(await ann.list(limit=2, cursor=cursor))
        found += [each["id"] for each in page["items"]]
        cursor = page["next_cursor"]
    assert found == [f"q-{n}" for n in reversed(range(6))]


async def test_filters_narrow_and_combine(anywhere: Harness) -> None:
    """Each filter keeps what it names; together they keep what all of them name."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    actor = {"id": "user-1", "kind": "user"}
    await runtime.asked(id="a", run="r1")
    record(await ann.decide(await runtime.asked(id="b", run="r1", actor=actor)))
    record(await ann.decide(await runtime.asked(id="c", run="r2", capability="mail.send"), "reject"))
    record(await runtime.cancel((await runtime.asked(id="d", actor=actor))["id"]))
    for party in (runtime, ann):
        assert ids(await party.list(status="pending")) == ["a"]
        assert ids(await party.list(status="approved")) == ["b"]
        assert ids(await party.list(status="rejected")) == ["c"]
        assert ids(await party.list(status="cancelled")) == ["d"]
        assert ids(await party.list(status="consumed")) == []
        assert ids(await party.list(run="r1")) == ["b", "a"]
        assert ids(await party.list(run="none")) == []
        assert ids(await party.list(capability="mail.send")) == ["c"]
        assert ids(await party.list(actor_id="user-1")) == ["d", "b"]
        assert ids(await party.list(actor_id="user-1", run="r1", status="approved")) == ["b"]
        assert ids(await party.list(actor_id="user-1", run="r1", status="pending")) == []


async def test_a_list_judges_deadlines_as_a_reading_does(anywhere: Harness) -> None:
    """What has died since is listed as expired, not as pending or approved, though nobody swept."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    await runtime.asked(id="a", expires_in_ms=2_000)
    record(await ann.decide(await runtime.asked(id="b", use_within_ms=2_000)))
    anywhere.clock.move(2_000)
    assert ids(await runtime.list(status="expired")) == []
    anywhere.clock.move(1)
    for party in (runtime, ann):
        assert ids(await party.list(status="expired")) == ["b", "a"]
        assert ids(await party.list(status="pending")) == []
        assert ids(await party.list(status="approved")) == []


async def test_all_that_wait_in_a_run_are_told(anywhere: Harness) -> None:
    """B7, B49: every pending question of a run is listed, in a steady order, each decided on its own."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = {n: await runtime.asked(run="r", context={"n": n}) for n in range(5)}
    listed = ids(await ann.list(run="r", status="pending"))
    assert sorted(listed) == sorted(each["id"] for each in asked.values())
    assert ids(await ann.list(run="r", status="pending")) == listed
    for n, verdict in ((3, "approve"), (0, "reject"), (4, "approve"), (1, "reject"), (2, "approve")):
        assert record(await ann.decide(asked[n], verdict))["id"] == asked[n]["id"]
    listed = record(await ann.list(run="r"))["items"]
    assert {each["context"]["n"]: each["status"] for each in listed} == {
        0: "rejected",
        1: "rejected",
        2: "approved",
        3: "approved",
        4: "approved",
    }


async def test_everyone_lists_what_they_may_see(anywhere: Harness) -> None:
    """Askers and audiences their own, readers and people the tenant's, a bridge up to its risk."""
    one, other = await anywhere.client("one"), await anywhere.client("other")
    reader, boss = await anywhere.client("reader", "read"), await anywhere.client("boss", "admin")
    bridge = await anywhere.client("bridge", "decide_as", people=["ann"], max_risk="medium")
    ann, abroad = await anywhere.approver(), await anywhere.client("one", tenant="abroad")
    await one.asked(id="a")
    await one.asked(id="b", audience="other", risk="high")
    await other.asked(id="c")
    await abroad.asked(id="d")
    seen = {
        "one": ["b", "a"],
        "other": ["c", "b"],
        "reader": ["c", "b", "a"],
        "boss": ["c", "b", "a"],
        "bridge": ["c", "a"],
        "ann": ["c", "b", "a"],
    }
    for party in (one, other, reader, boss, bridge, ann):
        assert ids(await party.list()) == seen[party.name]
        assert ids(await party.list(status="pending")) == seen[party.name]
        assert [name for page in await pages(party, limit=1) for name in page] == seen[party.name]
    assert ids(await abroad.list()) == ["d"]


async def test_a_run_of_others_is_not_told(anywhere: Harness) -> None:
    """Naming a run shows of it only what the caller may see."""
    one, other = await anywhere.client("one"), await anywhere.client("other")
    await one.asked(id="a", run="r")
    await other.asked(id="b", run="r")
    assert ids(await other.list(run="r")) == ["b"]


async def test_a_narrow_page_may_be_short_but_goes_on(h: Harness) -> None:
    """A filter that matches little ends a page early, with a cursor, and loses nothing."""
    ann, rare = await h.approver(), {0, 700, 1_150}
    epoch = (await h.services.directory.authenticate(ann.credential)).epoch
    seals = Seals(h.services.ring)
    for n in range(1_200):
        capability = "rare" if n in rare else "usual"
        ask = an_ask(id=f"q-{n:04d}", asked_by=f"c{n % 2}", capability=capability)
        new = a_creation(ask)
        sealed = seals.ask(ask, new.nonce, digest=new.digest, call=new.call)
        await h.services.store.approvals.create(ask, structs.replace(new, sealed=sealed), epoch=epoch)
    found = await pages(ann, capability="rare", limit=10)
    assert found == [["q-1150", "q-0700"], ["q-0000"]]


async def test_large_records_are_listed_whole(anywhere: Harness) -> None:
    """A page holds records of any size, as many as its bytes allow; the pages together hold all."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    text = "x" * 200_000
    for n in range(14):
        await runtime.asked(id=f"q-{n:02d}", input={"n": n, "text": text})
    found = await pages(ann, limit=200)
    assert [name for page in found for name in page] == [f"q-{n:02d}" for n in reversed(range(14))]
    assert len(found) > 1
    first = record(await ann.list(limit=1))["items"][0]
    assert first["input"] == {"n": 13, "text": text}


@pytest.mark.parametrize(
    "cursor", ["", "x", "!!!", "A", "MTIz", "\u00e9", "a" * 513, "MDAwMDAwMDAwMDAwMDovLi4", "null"]
)
async def test_a_cursor_that_is_not_ours_is_refused(h: Harness, cursor: str) -> None:
    """Only a cursor that a page gave is taken; what else is sent says nothing and changes nothing."""
    runtime = await h.client()
    await runtime.asked()
    response = await runtime.list(cursor=cursor)
    assert refusal(response) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in response.json()["model"]["issues"]] == ["/cursor"]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("limit=0", "/limit"),
        ("limit=201", "/limit"),
        ("limit=-1", "/limit"),
        ("limit=1e1", "/limit"),
        ("limit=ten", "/limit"),
        ("limit=", "/limit"),
        ("limit=null", "/limit"),
        ("limit=00007", "/limit"),
        ("limit=" + "9" * 30, "/limit"),
        ("status=Pending", "/status"),
        ("status=null", "/status"),
        ("status=", "/status"),
        ("run=", "/run"),
        ("run=a%2Fb", "/run"),
        ("capability=a%20b", "/capability"),
        ("actor_id=", "/actor_id"),
        ("tenant=other", "/tenant"),
        ("wait=3", "/wait"),
        ("limit=1&limit=2", "/limit"),
        ("limit=1&limit=1", "/limit"),
        ("%6Cimit=1&limit=1", "/limit"),
        ("limit", ""),
        ("&", ""),
        ("run=%FF", ""),
        ("a=1&" * 21, ""),
    ],
)
async def test_a_wrong_query_is_named(h: Harness, query: str, path: str) -> None:
    """Unknown, repeated, malformed and excessive names and values: 422 with the name."""
    runtime = await h.client()
    response = await runtime.call("GET", f"/v1/approvals?{query}")
    assert refusal(response) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in response.json()["model"]["issues"]] == [path]
