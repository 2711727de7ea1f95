"""The registry, and that tenants never see each other."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from redis.asyncio import Redis
from redis.exceptions import RedisError

from placet.domain.errors import StoreUnavailable
from placet.domain.machine import Ruling
from placet.settings import StoreSettings
from placet.store.connection import connect
from placet.store.opened import Store
from placet.store.principals import Roll
from placet.store.registry import Registry
from tests.factories import ManualClock
from tests.steps import approval_of, asked, cancel, dump, events, read, report, spend, trail_of, voted

SEAL, PRINT = "seal-1", "print-1"
HERE, THERE = "https://here.example", "https://there.example"


async def test_tenants_are_listed_by_name(store: Store) -> None:
    """Each once, however often it was entered."""
    assert await store.registry.tenants() == []
    for tenant in ("beta", "alpha", "beta"):
        await store.registry.add_tenant(tenant)
    assert await store.registry.tenants() == ["alpha", "beta"]


class TestIssuer:
    """The public URL under which tokens are issued: one at a time, while somebody is there who does."""

    async def test_there_is_none_before_anybody_serves(self, store: Store) -> None:
        """Looking takes none."""
        assert await store.registry.issuer() is None
        assert await store.registry.issuer() is None

    async def test_it_is_the_first_to_say_so(self, store: Store) -> None:
        """Whoever comes with another is told which it is, and changes nothing."""
        assert await store.registry.hold_issuer(HERE) == HERE
        assert await store.registry.hold_issuer(THERE) == HERE
        assert await store.registry.hold_issuer(HERE) == HERE
        assert await store.registry.issuer() == HERE
        assert await store.registry.tenants() == []

    async def test_it_lapses_when_nobody_repeats_it(self, store: Store) -> None:
        """Then the next who comes has it."""
        await store.registry.hold_issuer(HERE, lease_ms=-1)
        assert await store.registry.issuer() is None
        assert await store.registry.hold_issuer(THERE) == THERE

    async def test_repeating_it_renews_it(self, store: Store) -> None:
        """From then on it lasts as long as any."""
        await store.registry.hold_issuer(HERE, lease_ms=-1)
        await store.registry.hold_issuer(HERE)
        assert await store.registry.hold_issuer(THERE) == HERE

    @pytest.mark.parametrize("held", [b"https://here.example", b"99999999999999 https://here.example", b""])
    async def test_what_no_replica_would_have_written_counts_for_nothing(
        self, store: Store, client: Redis, held: bytes
    ) -> None:
        """A deadline beyond every lease is of a clock that had jumped: nobody is locked out by it."""
        await client.hset("placet:registry", "issuer", held)
        assert await store.registry.issuer() is None
        assert await store.registry.hold_issuer(THERE) == THERE


@pytest.mark.parametrize("name", [b"t:", b"t:Upper", b"t:}:m", b"t:\xff", b"t:" + b"a" * 64, b"x:alpha"])
async def test_what_is_no_tenants_name_is_no_tenant(store: Store, client: Redis, name: bytes) -> None:
    """Whoever can only write the store names no key of ours with it."""
    await store.registry.add_tenant("alpha")
    await client.hset("placet:registry", name, "1")
    assert await store.registry.tenants() == ["alpha"]


async def test_the_keyring_is_no_tenant(store: Store) -> None:
    """Both are in one key."""
    await store.registry.agree_on_keyring(1, PRINT, SEAL)
    assert await store.registry.tenants() == []


async def test_a_removed_tenant_leaves_nothing(store: Store, client: Redis) -> None:
    """Nothing of its own, and everything of the others."""
    for tenant in ("alpha", "alpha-2"):
        await store.registry.add_tenant(tenant)
        await asked(store, tenant=tenant, run="run-1", new={"idempotency": ("key", b"a" * 32)})
        roll = Roll(epoch=1, rows={"client:x": b"row"}, manifest="m")
        assert await store.principals.enroll(tenant, roll, instead_of="", field="client:x", kids=["k"])
    kept = {key for key in await dump(client) if key.startswith("{placet:alpha-2}:")}
    await store.registry.remove_tenant("alpha")
    assert set(await dump(client)) == kept | {"placet:registry"}
    assert await store.registry.tenants() == ["alpha-2"]


async def test_one_generation_takes_the_place_of_another(store: Store) -> None:
    """Only of the one that was meant; no other field of the registry is touched."""
    registry = store.registry
    await registry.add_tenant("alpha")
    assert await registry.generation() == b""
    assert not await registry.replace_generation(b"two", instead_of=b"one")
    assert await registry.replace_generation(b"one", instead_of=b"")
    assert not await registry.replace_generation(b"two", instead_of=b"")
    assert await registry.replace_generation(b"two", instead_of=b"one")
    assert (await registry.generation(), await registry.tenants()) == (b"two", ["alpha"])


async def test_a_removal_that_is_cut_off_leaves_no_part_of_a_roll(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenant's people go at once: what is left is a tenant of nobody, and no forgery."""
    roll = Roll(epoch=1, rows={"client:x": b"row"}, manifest="m")
    await store.principals.enroll("alpha", roll, instead_of="", field="client:x", kids=["k"])

    def cut_off(**_: Any) -> Any:
        raise RedisError

    monkeypatch.setattr(store.client, "scan_iter", cut_off)
    with pytest.raises(StoreUnavailable):
        await store.registry.remove_tenant("alpha")
    assert (await store.principals.all("alpha")).is_blank
    assert await store.principals.by_key("alpha", "k") == (0, None)


class TestKeyring:
    """Replicas that disagree about the keyring are told what to do."""

    async def test_the_first_is_right(self, store: Store) -> None:
        """There is nothing to compare it with."""
        assert await store.registry.agree_on_keyring(3, PRINT, SEAL) is None

    async def test_the_same_agrees(self, store: Store) -> None:
        """However many replicas show it."""
        await store.registry.agree_on_keyring(3, PRINT, SEAL)
        assert await store.registry.agree_on_keyring(3, PRINT, SEAL) is None

    async def test_a_newer_one_is_shown_to_the_others(self, store: Store) -> None:
        """The replica with the old one is told to follow."""
        await store.registry.agree_on_keyring(3, PRINT, SEAL)
        assert await store.registry.agree_on_keyring(4, "print-2", SEAL) is None
        wrong = await store.registry.agree_on_keyring(3, PRINT, SEAL)
        assert wrong is not None
        assert "newer keyring" in wrong

    async def test_two_of_one_generation_disagree(self, store: Store) -> None:
        """Edited apart: neither is right."""
        await store.registry.agree_on_keyring(3, PRINT, SEAL)
        wrong = await store.registry.agree_on_keyring(3, "print-2", SEAL)
        assert wrong is not None
        assert "same generation" in wrong

    @pytest.mark.parametrize("generation", [2, 3, 4])
    async def test_one_of_another_store_is_wrong(self, store: Store, generation: int) -> None:
        """A newer one of another store does not take over either."""
        await store.registry.agree_on_keyring(3, PRINT, SEAL)
        wrong = await store.registry.agree_on_keyring(generation, PRINT, "seal-2")
        assert wrong is not None
        assert "sealed with" in wrong
        assert await store.registry.agree_on_keyring(3, PRINT, SEAL) is None


class TestUnreachable:
    """A store that can't be asked is unavailable, never an answer."""

    @pytest.fixture
    async def registry(self, tmp_path: Path) -> AsyncIterator[Registry]:
        """The registry of a server that is not there."""
        client = connect(StoreSettings(data_dir=tmp_path), tmp_path / "nothing")
        yield Registry(client)
        await client.aclose()

    @pytest.mark.parametrize(
        "ask",
        [
            pytest.param(lambda registry: registry.add_tenant("alpha"), id="add_tenant"),
            pytest.param(lambda registry: registry.remove_tenant("alpha"), id="remove_tenant"),
            pytest.param(lambda registry: registry.tenants(), id="tenants"),
            pytest.param(lambda registry: registry.issuer(), id="issuer"),
            pytest.param(lambda registry: registry.hold_issuer("https://one.example"), id="hold_issuer"),
            pytest.param(lambda registry: registry.agree_on_keyring(1, PRINT, SEAL), id="agree"),
            pytest.param(lambda registry: registry.generation(), id="generation"),
            pytest.param(
                lambda registry: registry.replace_generation(b"new", instead_of=b""), id="replace_generation"
            ),
        ],
    )
    async def test_it_is_unavailable(
        self, registry: Registry, ask: Callable[[Registry], Awaitable[Any]]
    ) -> None:
        """The fault of the link is the cause."""
        with pytest.raises(StoreUnavailable) as caught:
            await ask(registry)
        assert caught.value.__cause__ is not None


class TestTenants:
    """Two tenants with records of the same id, run, key and question."""

    SAME: dict[str, Any] = {  # noqa: RUF012 - never changed
        "id": "same",
        "run": "run-1",
        "new": {"idempotency": ("key", b"a" * 32), "join": "same"},
    }

    async def test_each_has_its_own(self, store: Store, client: Redis) -> None:
        """Nothing of one is found, joined, replayed or taken by the other's."""
        await asked(store, tenant="one", **self.SAME)
        await asked(store, tenant="two", **self.SAME)
        assert await events(client, "one") == await events(client, "two") == [("same", "requested")]

    async def test_nothing_done_to_one_touches_the_other(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """Vote, consume, report, expire, sweep: the other's keys stay as they were."""
        one = await asked(store, tenant="one", **self.SAME)
        two = await asked(store, tenant="two", **self.SAME)
        before = {key: held for key, held in (await dump(client)).items() if "{placet:two}" in key}
        await voted(store, one)
        await spend(store, one)
        await report(store, one)
        clock.move(1_000_000)
        await store.approvals.sweep("one", limit=10)
        after = {key: held for key, held in (await dump(client)).items() if "{placet:two}" in key}
        assert after == before
        clock.move(-1_000_000)
        assert approval_of(await read(store, two)).status == "pending"

    async def test_one_is_missing_to_the_other(self, store: Store) -> None:
        """The id alone leads nowhere."""
        ask = await asked(store, tenant="one")
        elsewhere = structs.replace(ask, tenant="two")
        for attempt in (read, voted, cancel, spend, report):
            assert (await attempt(store, elsewhere)).ruling is Ruling.MISSING
        assert len(trail_of(await read(store, ask))) == 1

    @pytest.mark.parametrize("index", ["x", "x:p", "x:c:runtime", "x:r:run-1"])
    async def test_lists_hold_ones_own(self, store: Store, index: str) -> None:
        """In every index."""
        await asked(store, tenant="one", run="run-1")
        assert (await store.approvals.page("two", index, after=None, limit=9, epoch=0)).records == ()

    async def test_every_key_carries_its_tenants_tag(self, store: Store, client: Redis) -> None:
        """One hash tag, so one cluster slot (B68); outside of it only the registry."""
        await store.registry.add_tenant("one")
        ask = await asked(store, tenant="one", **self.SAME)
        await voted(store, ask, "bob")
        roll = Roll(epoch=1, rows={"client:x": b"row"}, manifest="m")
        assert await store.principals.enroll("one", roll, instead_of="", field="client:x", kids=["k"])
        keys = set(await dump(client)) - {"placet:registry"}
        assert {key.partition("}")[0] for key in keys} == {"{placet:one"}
