"""An operator ends all that somebody has open on the pages: at once, on every replica, however they came."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from placet.domain.limits import SESSION_LONGEST_MS
from tests.browsing import Browser
from tests.factories import ManualClock
from tests.harness import Harness
from tests.provider import signed_on
from tests.ruled import Opening
from tests.signing_on import Scene, signing_on


@pytest.fixture
async def scene(
    client: Redis, ring_directory: Path, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[Scene]:
    """People sign in with a provider, over a store of every kind in turn."""
    async with signing_on(client, ring_directory, tmp_path, clock) as scene:
        yield scene


async def is_in(browser: Browser) -> bool:
    """Whether somebody is signed in there."""
    return (await browser.get("/inbox")).status_code == 200


async def test_all_of_one_person_s_end(pair: tuple[Harness, Harness]) -> None:
    """On every replica, with the links that were not used yet; nobody else's. Then they sign in as before."""
    here, there = pair
    for name in ("ann", "bob"):
        await here.approver(name)
    for h in pair:
        h.services.directory.forget("default")
    ann = [await Browser(h).signed_in("ann") for h in (here, there, there)]
    bob = await Browser(here).signed_in("bob")
    link = await here.services.sessions.offer("default", "ann")
    for _ in range(2):
        assert await here.services.sessions.end_all("default", "ann")
        assert [await is_in(each) for each in ann] == [False] * 3
        ann = [await Browser(h).signed_in("ann") for h in (here, there, there)]
        assert [await is_in(each) for each in (*ann, bob)] == [True] * 4
    assert (await Browser(here).post("/signin", {"secret": link})).status_code == 401


async def test_in_another_tenant_it_is_somebody_else(anywhere: Harness) -> None:
    """Whoever has the same id there stays."""
    for tenant in ("default", "abroad"):
        await anywhere.approver("ann", tenant=tenant)
    ann, other = await Browser(anywhere).signed_in("ann"), await Browser(anywhere).signed_in("ann", "abroad")
    await anywhere.services.sessions.end_all("default", "ann")
    assert [await is_in(each) for each in (ann, other)] == [False, True]


@pytest.mark.parametrize("name", ["ann", "ANN", "ann@example.com"])
async def test_by_any_name_of_theirs(under: Opening, name: str) -> None:
    """As the directory has them, however it is spelled."""
    ruled = await under()
    await ruled.parties("cy")
    sessions = ruled.h.services.sessions
    ann, bob = await Browser(ruled.h).signed_in("ann"), await Browser(ruled.h).signed_in("bob")
    assert await sessions.end_all("default", name)
    assert [await is_in(each) for each in (ann, bob)] == [False, True]


async def test_whom_an_issuer_signed_in(scene: Scene) -> None:
    """By their id in the directory; whom it does not know, by the one that is made for them."""
    sessions = scene.h.services.sessions
    ann, stranger = scene.browser(), scene.browser()
    await signed_on(ann, scene.provider)
    scene.provider.claimed = {"sub": "u-9", "groups": ["ops"]}
    await signed_on(stranger, scene.provider)
    await sessions.end_all("default", "ann")
    assert [await is_in(each) for each in (ann, stranger)] == [False, True]
    found = await sessions.find(stranger.cookies["placet-8420"].strip('"'))
    assert await sessions.end_all("default", found.signed_in.person)
    assert not await is_in(stranger)
    await signed_on(stranger, scene.provider)
    assert await is_in(stranger)


async def test_whom_the_directory_has_come_to_know(scene: Scene) -> None:
    """What they began under another id is theirs by now."""
    sessions, other = scene.h.services.sessions, scene.browser()
    scene.provider.claimed = {"sub": "u-9", "groups": ["ops"]}
    await signed_on(other, scene.provider)
    await scene.rewritten(('"u-1" }', '"u-1" }, { iss = "' + scene.provider.server.url + '", sub = "u-9" }'))
    assert await is_in(other)
    await sessions.end_all("default", "ann")
    assert not await is_in(other)


async def test_a_mark_outlives_what_it_ends(anywhere: Harness) -> None:
    """No session lasts longer than one can be set to; nobody has to be there for it."""
    assert not await anywhere.services.sessions.end_all("default", "zoe")
    (key,) = await anywhere.redis.keys("{placet:default}:n:*")
    assert await anywhere.redis.pttl(key) > SESSION_LONGEST_MS
