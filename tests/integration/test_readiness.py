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


async def test_replicas_under_one_name_are_ready(store: Store, ring: KeyringFile) -> None:
    """The same public URL and the same keyring: nothing is wrong."""
    one, other = Readiness(store, ring, HERE), Readiness(store, ring, HERE)
    await one.announce()
    await other.announce()
    assert (await one.faults(), await other.faults()) == ([], [])


async def test_the_earlier_of_two_names_goes_unready(store: Store, ring: KeyringFile) -> None:
    """Each would refuse the other's tokens; whoever started last is taken to be meant."""
    one, other = Readiness(store, ring, HERE), Readiness(store, ring, THERE)
    await one.announce()
    await other.announce()
    assert await other.faults() == []
    (fault,) = await one.faults()
    assert fault.startswith("Another replica issues tokens under another PLACET_PUBLIC_URL")
    assert fault.endswith("set the same one on all.")


async def test_a_name_changed_everywhere_is_agreed(store: Store, ring: KeyringFile) -> None:
    """Restarted under the new name, the earlier replica is ready again."""
    await Readiness(store, ring, HERE).announce()
    await Readiness(store, ring, THERE).announce()
    restarted = Readiness(store, ring, THERE)
    await restarted.announce()
    assert await restarted.faults() == []


async def test_a_command_has_nothing_to_disagree_with(store: Store, ring: KeyringFile) -> None:
    """A command that only works on the store, beside a service or alone, finds nothing wrong."""
    assert await Readiness(store, ring, HERE).faults() == []
    await Readiness(store, ring, THERE).announce()
    assert await Readiness(store, ring, HERE).faults() == []
