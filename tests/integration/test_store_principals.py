"""Principals in the store: sealed documents by name and by credential, and the count of their changes."""

import asyncio

import pytest
from redis.asyncio import Redis

from placet.store.opened import Store
from tests.steps import TENANT, dump

CLIENT, APPROVER = "client:runtime", "approver:ann"
DOCUMENT, CHANGED = b"seal" + b'{"name":"runtime"}\x00\xff', b"other"


async def enrolled(
    store: Store, field: str = CLIENT, *kids: str, document: bytes = DOCUMENT, expected: bytes = b""
) -> int | None:
    """Write a principal; the new epoch."""
    return await store.principals.enroll(TENANT, field, expected=expected, document=document, kids=kids)


async def test_nobody_is_known_at_first(store: Store, client: Redis) -> None:
    """An empty tenant has epoch 0 and no principals; asking writes nothing."""
    assert await store.principals.by_key(TENANT, "key1") == (0, None)
    assert await store.principals.all(TENANT) == (0, {})
    assert await dump(client) == {}


async def test_a_principal_is_found_by_name_and_by_key(store: Store) -> None:
    """Byte for byte as it was sealed."""
    assert await enrolled(store, CLIENT, "key1", "key2") == 1
    assert await store.principals.all(TENANT) == (1, {CLIENT: DOCUMENT})
    assert await store.principals.by_key(TENANT, "key1") == (1, DOCUMENT)
    assert await store.principals.by_key(TENANT, "key2") == (1, DOCUMENT)
    assert await store.principals.by_key(TENANT, "key3") == (1, None)


async def test_every_change_is_counted(store: Store) -> None:
    """Each raises the epoch by one."""
    await enrolled(store)
    await enrolled(store, APPROVER)
    assert await enrolled(store, document=CHANGED, expected=DOCUMENT) == 3


async def test_a_change_replaces_what_was_expected(store: Store, client: Redis) -> None:
    """Who changes what another has changed meanwhile is told so, and nothing is written."""
    await enrolled(store)
    await enrolled(store, document=CHANGED, expected=DOCUMENT)
    before = await dump(client)
    assert await enrolled(store, document=b"third", expected=DOCUMENT) is None
    assert await dump(client) == before


async def test_a_name_that_is_taken_is_not_taken_again(store: Store) -> None:
    """Entering means that there was none."""
    await enrolled(store)
    assert await enrolled(store, document=CHANGED) is None
    assert await store.principals.all(TENANT) == (1, {CLIENT: DOCUMENT})


async def test_of_two_at_once_one_enters(store: Store) -> None:
    """The script compares and writes as one."""
    epochs = await asyncio.gather(enrolled(store, document=b"one"), enrolled(store, document=b"two"))
    assert sorted(epoch is None for epoch in epochs) == [False, True]


async def test_a_re_sent_change_meets_its_own_work(store: Store, client: Redis) -> None:
    """The very same change sent again by the link is taken and not counted twice."""
    await enrolled(store, CLIENT, "key1")
    before = await dump(client)
    assert await enrolled(store, CLIENT, "key1") == 1
    assert await dump(client) == before


async def test_a_rotated_key_is_nobodys(store: Store) -> None:
    """Key ids that are no longer named are dropped with the change."""
    await enrolled(store, CLIENT, "key1", "key2")
    await enrolled(store, CLIENT, "key2", "key3", document=CHANGED, expected=DOCUMENT)
    found = [(await store.principals.by_key(TENANT, kid))[1] for kid in ("key1", "key2", "key3")]
    assert found == [None, CHANGED, CHANGED]


async def test_a_removed_principal_takes_its_keys_along(store: Store) -> None:
    """Another's stay."""
    await enrolled(store, CLIENT, "key1")
    await enrolled(store, APPROVER, "key2")
    assert await enrolled(store, CLIENT, document=b"", expected=DOCUMENT) == 3
    assert await store.principals.all(TENANT) == (3, {APPROVER: DOCUMENT})
    assert await store.principals.by_key(TENANT, "key1") == (3, None)
    assert await store.principals.by_key(TENANT, "key2") == (3, DOCUMENT)


async def test_a_removal_can_be_sent_again(store: Store) -> None:
    """What is gone stays gone, and is counted once."""
    await enrolled(store)
    await enrolled(store, document=b"", expected=DOCUMENT)
    assert await enrolled(store, document=b"", expected=DOCUMENT) == 2


async def test_a_change_elsewhere_is_only_counted(store: Store, client: Redis) -> None:
    """Policies and directories change without a principal."""
    await enrolled(store)
    assert await store.principals.count_change(TENANT) == 2
    assert await store.principals.all(TENANT) == (2, {CLIENT: DOCUMENT})


async def test_enrolling_is_no_moment(store: Store, client: Redis) -> None:
    """It judges by no clock, so it moves none: the server's may differ from the one records are judged by."""
    await enrolled(store)
    await store.principals.count_change(TENANT)
    assert await client.hget("{placet:default}:m", "now") is None


@pytest.mark.parametrize("tenant", ["other", "defaul", "default2"])
async def test_tenants_dont_share_principals(store: Store, tenant: str) -> None:
    """A credential is its tenant's, whatever the other is called."""
    await enrolled(store, CLIENT, "key1")
    assert await store.principals.by_key(tenant, "key1") == (0, None)
    assert await store.principals.all(tenant) == (0, {})
