"""Pages: newest first, stable while others write, and bounded."""

import pytest
from redis.asyncio import Redis

from placet.domain.canonical import canonicalize
from placet.domain.model import Status
from placet.store import keys
from placet.store.approvals import PAGE_BYTES, Page
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock
from tests.steps import TENANT, approval_of, asked, dump, in_status, several, voted


async def page_of(store: Store, index: str = "x", *, after: str | None = None, limit: int = 10) -> Page:
    """A page of an index of the default tenant."""
    return await store.approvals.page(TENANT, index, after=after, limit=limit, epoch=0)


def ids_of(page: Page) -> list[str]:
    """The ids on it, in order."""
    return [record.approval().ask.id for record in page.records]


async def walk(store: Store, index: str = "x", *, limit: int = 10) -> list[str]:
    """All ids of an index, page by page."""
    found: list[str] = []
    after: str | None = None
    while True:
        page = await page_of(store, index, after=after, limit=limit)
        found += ids_of(page)
        after = page.last
        if after is None:
            return found


async def test_an_empty_index_is_an_empty_page(store: Store) -> None:
    """No records, no cursor, and the moment it was read at."""
    page = await page_of(store)
    assert (page.records, page.last, page.now_ms) == ((), None, T0_MS)


async def test_newest_come_first(store: Store, clock: ManualClock) -> None:
    """In the descending order of ``(requested_at, id)``."""
    asks = await several(store, clock, 5)
    assert ids_of(await page_of(store)) == [ask.id for ask in reversed(asks)]


async def test_ties_are_ordered_by_id(store: Store) -> None:
    """Records of the same millisecond have an order too."""
    asks = [await asked(store) for _ in range(5)]
    assert ids_of(await page_of(store)) == sorted((ask.id for ask in asks), reverse=True)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
async def test_pages_cover_everything_once(store: Store, limit: int) -> None:
    """Whatever their size, also within one millisecond."""
    asks = [await asked(store) for _ in range(4)]
    assert await walk(store, limit=limit) == sorted((ask.id for ask in asks), reverse=True)


@pytest.mark.parametrize(("limit", "more"), [(2, True), (3, False), (4, False)])
async def test_a_cursor_says_that_there_is_more(
    store: Store, clock: ManualClock, limit: int, *, more: bool
) -> None:
    """None at the end, also where the last page is full."""
    await several(store, clock, 3)
    assert ((await page_of(store, limit=limit)).last is not None) is more


async def test_pages_stay_put_while_others_ask(store: Store, clock: ManualClock) -> None:
    """What comes in between two pages neither repeats nor hides anything that was there."""
    asks = await several(store, clock, 4)
    first = await page_of(store, limit=2)
    await several(store, clock, 3)
    second = await page_of(store, after=first.last, limit=2)
    assert ids_of(first) + ids_of(second) == [ask.id for ask in reversed(asks)]


async def test_pages_stay_put_within_a_millisecond(store: Store) -> None:
    """New records of the very millisecond of the cursor don't shift what was there before."""
    asks = [await asked(store, id=f"m{i}") for i in range(4)]
    first = await page_of(store, limit=2)
    for name in ("a", "m15", "m25", "z"):
        await asked(store, id=name)
    rest = ids_of(await page_of(store, after=first.last))
    assert [name for name in rest if name in {ask.id for ask in asks}] == ["m1", "m0"]


async def test_pages_stay_put_while_records_leave(store: Store, clock: ManualClock) -> None:
    """A cursor still holds after the record it names has left the index."""
    asks = await several(store, clock, 4)
    first = await page_of(store, "x:p", limit=2)
    await voted(store, asks[2])
    second = await page_of(store, "x:p", after=first.last, limit=2)
    assert ids_of(second) == [asks[1].id, asks[0].id]


async def test_a_page_ends_early_by_bytes(store: Store, clock: ManualClock) -> None:
    """Records are counted by their size too, so that one answer stays bounded; nothing is lost."""
    big = canonicalize("x" * (PAGE_BYTES // 4))
    asks = []
    for _ in range(6):
        clock.move(1)
        asks.append(await asked(store, new={"input": big}))
    first = await page_of(store)
    assert (len(first.records), first.last is not None) == (4, True)
    assert await walk(store) == [ask.id for ask in reversed(asks)]


async def test_one_record_is_a_page_however_big(store: Store) -> None:
    """A page that could hold nothing would never end."""
    ask = await asked(store, new={"input": canonicalize("x" * PAGE_BYTES)})
    await asked(store, id="0")
    page = await page_of(store)
    assert (ids_of(page), page.last is not None) == ([ask.id], True)


async def test_forgotten_records_are_skipped(store: Store, client: Redis, clock: ManualClock) -> None:
    """Members of records whose retention has passed leave a short page, and the cursor goes on."""
    asks = await several(store, clock, 4)
    for ask in asks[1:3]:
        await client.delete("{placet:default}:a:" + ask.id)
    page = await page_of(store, limit=2)
    assert (ids_of(page), page.last) == ([asks[3].id], keys.member(T0_MS + 3, asks[2].id))
    assert await walk(store, limit=2) == [asks[3].id, asks[0].id]


async def test_three_pending_of_a_run_are_three(store: Store, clock: ManualClock) -> None:
    """A run's records are all reported, in order, and no others (B07)."""
    asks = []
    for _ in range(3):
        clock.move(1)
        asks.append(await asked(store, run="run-1"))
        await asked(store, run="run-2")
    assert await walk(store, keys.run_index("run-1"), limit=2) == [ask.id for ask in reversed(asks)]


@pytest.mark.parametrize(
    ("client_name", "found"), [("runtime", True), ("tool-server", True), ("other", False)]
)
async def test_a_client_finds_what_it_asked_or_may_consume(
    store: Store, client_name: str, *, found: bool
) -> None:
    """The client's index holds both."""
    ask = await asked(store, audience="tool-server")
    assert (await walk(store, keys.client_index(client_name)) == [ask.id]) is found


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.PENDING, Status.EXPIRED}))
async def test_the_pending_index_holds_what_waits(store: Store, clock: ManualClock, status: Status) -> None:
    """Decided and withdrawn records are no longer in it; in the tenant's index they stay."""
    gone = await in_status(store, clock, status)
    waits = await asked(store)
    assert await walk(store, keys.pending_index()) == [waits.id]
    assert set(await walk(store, keys.all_index())) == {gone.id, waits.id}


async def test_a_page_is_read_at_one_moment(store: Store, clock: ManualClock) -> None:
    """All its records are judged by the same now."""
    await several(store, clock, 3)
    page = await page_of(store)
    assert {record.now_ms for record in page.records} == {page.now_ms} == {T0_MS + 3}


async def test_a_list_reads_what_a_get_reads(store: Store, clock: ManualClock) -> None:
    """The same record either way."""
    for status in Status:
        await in_status(store, clock, status)
    for record in (await page_of(store)).records:
        approval = record.approval()
        assert approval == approval_of(await store.approvals.get(TENANT, approval.ask.id, epoch=0))


async def test_listing_writes_nothing(store: Store, client: Redis, clock: ManualClock) -> None:
    """A list is a read."""
    await several(store, clock, 3)
    before = await dump(client)
    await walk(store, limit=2)
    assert await dump(client) == before
