"""Rolls in the store: sealed rows by name and by credential, replaced as one and never in part."""

import asyncio

import pytest
from msgspec import structs
from redis.asyncio import Redis

from placet.store.opened import Store
from placet.store.principals import Roll
from tests.steps import TENANT, change_counted, dump

CLIENT, APPROVER = "client:runtime", "approver:ann"
ROW, CHANGED = b"seal" + b'{"name":"runtime"}\x00\xff', b"other"


async def enrolled(store: Store, field: str, row: bytes, *kids: str) -> Roll:
    """Write a row into the roll as it is; the roll from now on."""
    before = await store.principals.all(TENANT)
    after = Roll(
        epoch=before.epoch + 1, rows={**before.rows, field: row}, manifest=f"manifest {before.epoch + 1}"
    )
    assert await store.principals.enroll(TENANT, after, instead_of=before.manifest, field=field, kids=kids)
    return after


async def held(store: Store) -> Roll:
    """The roll as the store has it, at no particular time."""
    return structs.replace(await store.principals.all(TENANT), now_ms=0)


async def test_nobody_is_known_at_first(store: Store, client: Redis) -> None:
    """An empty tenant has a blank roll; asking writes nothing."""
    assert await store.principals.by_key(TENANT, "key1") == (0, None)
    roll = await held(store)
    assert (roll, roll.is_blank) == (Roll(epoch=0, rows={}), True)
    assert await dump(client) == {}


async def test_a_roll_is_read_as_it_was_written(store: Store) -> None:
    """Every member of it, byte for byte, at once."""
    roll = Roll(epoch=7, rows={CLIENT: ROW}, revoked=("kid2", "kid1"), manifest="m")
    assert await store.principals.enroll(TENANT, roll, instead_of="", field=CLIENT)
    assert await held(store) == roll


@pytest.mark.parametrize("roll", [Roll(epoch=1, rows={}), Roll(epoch=0, rows={"x": b""}),
    Roll(epoch=0, rows={}, revoked=("k",)), Roll(epoch=0, rows={}, manifest="m")])  # fmt: skip
def test_a_roll_with_anything_in_it_is_not_blank(roll: Roll) -> None:
    """What somebody left of a roll is not taken for a new tenant."""
    assert not roll.is_blank


async def test_a_reading_says_when_it_was(store: Store) -> None:
    """By the server's own clock, which the next epoch is made from."""
    first = (await store.principals.all(TENANT)).now_ms
    assert 1_700_000_000_000 < first <= (await store.principals.all(TENANT)).now_ms


async def test_a_credential_leads_to_its_principal(store: Store) -> None:
    """By key id, to the field."""
    await enrolled(store, CLIENT, ROW, "key1", "key2")
    found = [await store.principals.by_key(TENANT, kid) for kid in ("key1", "key2", "key3")]
    assert found == [(1, CLIENT), (1, CLIENT), (1, None)]


async def test_a_change_comes_in_the_place_of_what_it_was_made_from(store: Store, client: Redis) -> None:
    """Where another came in between nothing is written, be it about somebody else."""
    first = await enrolled(store, CLIENT, ROW)
    await enrolled(store, APPROVER, ROW)
    before = await dump(client)
    late = Roll(epoch=2, rows={CLIENT: CHANGED}, manifest="late")
    assert not await store.principals.enroll(TENANT, late, instead_of=first.manifest, field=CLIENT)
    assert not await store.principals.enroll(TENANT, late, instead_of="", field=CLIENT)
    assert await dump(client) == before


async def test_of_two_at_once_one_gets_through(store: Store) -> None:
    """The script compares and writes as one."""
    done = await asyncio.gather(
        *(
            store.principals.enroll(
                TENANT, Roll(epoch=1, rows={CLIENT: row}, manifest=row.decode()), instead_of="", field=CLIENT
            )
            for row in (b"one", b"two")
        )
    )
    assert sorted(done) == [False, True]


async def test_a_re_sent_change_meets_its_own_work(store: Store, client: Redis) -> None:
    """The very same change sent again by the link is taken and made once."""
    roll = await enrolled(store, CLIENT, ROW, "key1")
    before = await dump(client)
    assert await store.principals.enroll(TENANT, roll, instead_of="", field=CLIENT, kids=["key1"])
    assert await dump(client) == before


async def test_a_re_sent_change_that_another_came_after_is_no_change(store: Store, client: Redis) -> None:
    """It can't be told from one that came too late: whoever made it looks and sees."""
    roll = await enrolled(store, CLIENT, ROW)
    await enrolled(store, APPROVER, ROW)
    before = await dump(client)
    assert not await store.principals.enroll(TENANT, roll, instead_of="", field=CLIENT)
    assert await dump(client) == before


async def test_a_rotated_key_is_nobodys(store: Store) -> None:
    """Key ids that are no longer named are dropped with the change; another's stay."""
    await enrolled(store, APPROVER, ROW, "key0")
    await enrolled(store, CLIENT, ROW, "key1", "key2")
    await enrolled(store, CLIENT, CHANGED, "key2", "key3")
    found = [(await store.principals.by_key(TENANT, f"key{n}"))[1] for n in range(4)]
    assert found == [APPROVER, None, CLIENT, CLIENT]
    assert (await held(store)).rows == {APPROVER: ROW, CLIENT: CHANGED}


async def test_a_change_elsewhere_changes_nobody(store: Store) -> None:
    """Keys and policies change without a principal."""
    await enrolled(store, CLIENT, ROW, "key1")
    assert await change_counted(store) == 2
    assert (await held(store)).rows == {CLIENT: ROW}
    assert await store.principals.by_key(TENANT, "key1") == (2, CLIENT)


async def test_enrolling_is_no_moment(store: Store, client: Redis) -> None:
    """Nothing is judged by it, so the clock that records are judged by is not moved."""
    await enrolled(store, CLIENT, ROW)
    await change_counted(store)
    assert await client.hget("{placet:default}:m", "now") is None


async def test_what_is_no_text_is_told_from_all_that_is(store: Store, client: Redis) -> None:
    """Whoever writes the store can't make two names look like one."""
    for field in (b"client:\xff", b"client:\xfe", "client:\ufffd".encode()):
        await client.hset("{placet:default}:p", field, ROW)
    await client.hset("{placet:default}:m", mapping={"manifest": b"\xff", "revoked": b"\xfe \xff"})
    roll = await held(store)
    assert (len(roll.rows), len(set(roll.revoked)), roll.manifest) == (3, 2, "\udcff")


@pytest.mark.parametrize("tenant", ["other", "defaul", "default2"])
async def test_tenants_dont_share_principals(store: Store, tenant: str) -> None:
    """A credential is its tenant's, whatever the other is called."""
    await enrolled(store, CLIENT, ROW, "key1")
    assert await store.principals.by_key(tenant, "key1") == (0, None)
    assert (await store.principals.all(tenant)).is_blank
