"""Replicas that disagree about what tokens rest on go unready, and say what to do."""

from pathlib import Path

import pytest

from placet.application.readiness import Readiness
from placet.store.opened import Store
from placet.tokens.keyring_file import KeyringFile, load_or_create
from tests.factories import T0_MS

HERE, THERE = "https://here.example", "https://there.example"


@pytest.fixture
def ring(tmp_path: Path) -> KeyringFile:
    """A keyring that all replicas share."""
    load_or_create(tmp_path / "keyring.json", T0_MS)
    return KeyringFile(tmp_path / "keyring.json")


@pytest.fixture
def one(store: Store, ring: KeyringFile) -> Readiness:
    """A replica that serves."""
    return serving(store, ring, HERE)


def serving(store: Store, ring: KeyringFile, issuer: str) -> Readiness:
    """A replica that has begun to serve."""
    replica = Readiness(store, ring, issuer)
    replica.announce()
    return replica


async def lapsed(store: Store, issuer: str) -> None:
    """As long after the last replica under this name as a lease lasts."""
    assert await store.registry.hold_issuer(issuer, lease_ms=-1) == issuer


async def test_replicas_under_one_name_are_ready(store: Store, ring: KeyringFile, one: Readiness) -> None:
    """The same public URL and the same keyring: nothing is wrong."""
    assert (await one.faults(), await serving(store, ring, HERE).faults()) == ([], [])


async def test_the_later_of_two_names_is_not_ready(store: Store, ring: KeyringFile, one: Readiness) -> None:
    """Each would refuse the other's tokens; it is told both names, and what to do."""
    assert await one.faults() == []
    (fault,) = await serving(store, ring, THERE).faults()
    assert f"issue tokens under {HERE}, this one would under {THERE}" in fault
    assert f"set PLACET_PUBLIC_URL={HERE} here" in fault


async def test_a_wrong_newcomer_does_no_harm(store: Store, ring: KeyringFile, one: Readiness) -> None:
    """However often it tries, those that were there stay ready, and are when it has gone."""
    wrong = serving(store, ring, THERE)
    assert await one.faults() == []
    for _ in range(3):
        assert len(await wrong.faults()) == 1
        assert await one.faults() == []
    assert await serving(store, ring, HERE).faults() == []


async def test_a_name_is_free_when_all_under_it_have_gone(
    store: Store, ring: KeyringFile, one: Readiness
) -> None:
    """Also to one that was refused it before; a replica that comes back under the old one is told."""
    await one.faults()
    other = serving(store, ring, THERE)
    assert await other.faults() != []
    await lapsed(store, HERE)
    assert await other.faults() == []
    (fault,) = await one.faults()
    assert f"issue tokens under {THERE}, this one would under {HERE}" in fault


async def test_every_look_renews_the_name(store: Store, ring: KeyringFile, one: Readiness) -> None:
    """As long as one replica lives, nobody else has it."""
    await one.faults()
    await lapsed(store, HERE)
    await one.faults()
    assert len(await serving(store, ring, THERE).faults()) == 1


async def test_who_has_the_wrong_keyring_takes_no_name(
    store: Store, ring: KeyringFile, tmp_path: Path
) -> None:
    """It does not start, and keeps nobody from starting."""
    assert await Readiness(store, ring, HERE).faults() == []
    load_or_create(tmp_path / "other.json", T0_MS)
    stranger = serving(store, KeyringFile(tmp_path / "other.json"), THERE)
    assert ["sealed with" in fault for fault in await stranger.faults()] == [True]
    assert await store.registry.issuer() is None


async def test_a_command_has_nothing_to_disagree_with(
    store: Store, ring: KeyringFile, one: Readiness
) -> None:
    """A command that only works on the store, beside a service or alone, takes no name and minds none."""
    assert await Readiness(store, ring, THERE).faults() == []
    assert await store.registry.issuer() is None
    assert await one.faults() == []
    assert await Readiness(store, ring, THERE).faults() == []
