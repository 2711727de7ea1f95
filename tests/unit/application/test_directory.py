"""The directory: who is calling, kept for as long as nothing changes."""

import asyncio
import hashlib
from collections.abc import Collection, Sequence
from typing import Any, cast

import pytest
from msgspec import structs

from placet.application.callers import Snapshot
from placet.application.directory import Directory
from placet.application.roll import RollSpoilt, followed, sealed
from placet.application.strangers import Strangers
from placet.domain.authority import Rulebook
from placet.domain.errors import InternalError, Unauthenticated
from placet.domain.principals import Approver, Client, Key, Principal, Scope
from placet.store.approvals import Rejudge
from placet.store.principals import Principals, Roll
from placet.tokens.keyring_file import KeyringFile
from placet.tokens.keys import new_seal_key
from placet.tokens.seal import Sealer
from tests.factories import ManualClock, a_caller
from tests.tools import until

SEALER = Sealer(new_seal_key())
SECRET = "s" * 43


def credential(kid: str, secret: str = SECRET, tenant: str = "default") -> str:
    """A credential of this key."""
    return f"plc_{tenant}_{kid}_{secret}"


def a_client(name: str = "runtime", *kids: str) -> Client:
    """A client with these keys, all of one secret."""
    sha256 = hashlib.sha256(SECRET.encode()).hexdigest()
    keys = tuple(Key(kid=kid, sha256=sha256, created_at_ms=0) for kid in kids or ("k" * 12,))
    return Client(tenant="default", name=name, scopes=frozenset({Scope.READ}), keys=keys)


class Ring:
    """The keyring in use, which takes down what it is told to heed."""

    sealer = SEALER

    def __init__(self) -> None:
        self.heeded: set[str] = set()

    def heed(self, revoked: Collection[str]) -> None:
        """As the real one."""
        self.heeded.update(revoked)


class Shelf:
    """A store of one tenant's roll that counts how often it is asked, and can hold an answer back."""

    def __init__(self, *principals: Principal) -> None:
        self.roll = Roll(epoch=0, rows={})
        self.asked: list[str] = []
        self.held: asyncio.Event | None = None
        self.enter(*principals)

    def enter(self, *principals: Principal, revoked: Sequence[str] = ()) -> None:
        """The next roll: these principals besides or in place of those of their names."""
        for each in principals or (None,):
            change = None if each is None else (each.field, sealed(SEALER, each))
            self.roll = followed(SEALER, "default", self.roll, revoked=revoked, change=change)

    async def by_key(self, tenant: str, kid: str) -> tuple[int, str | None]:
        """As the real one."""
        self.asked.append(f"key {kid}")
        found = [field for field, row in self.roll.rows.items() if f'"{kid}"'.encode() in row]
        return self.roll.epoch, found[0] if found else None

    async def tenants(self) -> Sequence[str]:
        """As the registry."""
        self.asked.append("tenants")
        return ["default"]

    async def all(self, tenant: str) -> Roll:
        """As the real one."""
        self.asked.append("all")
        roll = self.roll
        if self.held is not None:
            await self.held.wait()
        return roll


def over(shelf: Shelf, ring: Ring | None = None, **options: Any) -> Directory:
    """A directory over the shelf."""
    strangers = Strangers(ManualClock(), shelf.tenants)
    return Directory(cast("Principals", shelf), cast("KeyringFile", ring or Ring()), strangers, **options)


async def test_a_known_credential_costs_no_question() -> None:
    """Read once, everybody of the tenant is known until it is forgotten."""
    shelf = Shelf(a_client("one", "a" * 12), a_client("two", "b" * 12))
    directory = over(shelf)
    caller = await directory.authenticate(credential("a" * 12))
    assert (caller.name, caller.tenant, caller.epoch) == ("one", "default", 2)
    assert (await directory.authenticate(credential("b" * 12))).name == "two"
    assert await directory.authenticate(credential("a" * 12)) == caller
    assert shelf.asked == ["key " + "a" * 12, "all"]
    directory.forget("default")
    await directory.authenticate(credential("a" * 12))
    assert shelf.asked == ["key " + "a" * 12, "all", "all"], "a tenant that is known is read whole at once"


async def test_a_person_is_named_by_their_id() -> None:
    """For the trail."""
    assert a_caller(Approver(tenant="t", id="ann")).name == "ann"


@pytest.mark.parametrize(
    "text",
    ["", "plc_", "x" * 100, credential("a" * 12) + "x", credential("A" * 12), credential("a" * 11),
     credential("a" * 12, tenant="Default"), credential("a" * 12) + "\n", credential("a" * 12, "s" * 42)],
)  # fmt: skip
async def test_what_has_not_the_form_is_asked_nobody(text: str) -> None:
    """Malformed credentials cost the store nothing."""
    shelf = Shelf(a_client("one", "a" * 12))
    with pytest.raises(Unauthenticated):
        await over(shelf).authenticate(text)
    assert shelf.asked == []


async def test_a_made_up_key_reads_no_tenant() -> None:
    """An unknown key costs one small question, and leaves nothing behind."""
    shelf = Shelf()
    directory = over(shelf)
    with pytest.raises(Unauthenticated):
        await directory.authenticate(credential("z" * 12))
    assert (shelf.asked, directory._snapshots) == (["key " + "z" * 12], {})


async def test_a_wrong_secret_is_refused_from_memory() -> None:
    """Guessing costs the store nothing more."""
    shelf = Shelf(a_client("one", "a" * 12))
    directory = over(shelf)
    await directory.authenticate(credential("a" * 12))
    for _ in range(3):
        with pytest.raises(Unauthenticated):
            await directory.authenticate(credential("a" * 12, "t" * 43))
    assert len(shelf.asked) == 2


async def test_the_keyring_is_taken_up_before_a_reading() -> None:
    """Whatever changed may have been the keys."""
    told: list[str] = []
    shelf = Shelf(a_client("one", "a" * 12))
    await over(shelf, changed=lambda: told.append("changed")).authenticate(credential("a" * 12))
    assert told == ["changed"]


async def test_a_caller_is_judged_among_its_own_contemporaries() -> None:
    """Where the principals were read anew since, the caller is judged again."""
    shelf = Shelf(a_client("one", "a" * 12))
    directory = over(shelf)
    caller = await directory.authenticate(credential("a" * 12))
    assert set(caller.authority.clients) == {"one"}
    shelf.enter(a_client("two", "b" * 12))
    again = await directory.authenticate(credential("a" * 12))
    assert set(again.authority.clients) == {"one"}, "nobody has noticed yet"
    with pytest.raises(Rejudge):
        await directory.confirm(caller)
    directory.forget("default")
    fresh = await directory.authenticate(credential("a" * 12))
    assert set(fresh.authority.clients) == {"one", "two"}
    await directory.confirm(fresh)


async def test_a_late_reply_does_not_bring_the_past_back() -> None:
    """Of two readings under way the newer one is kept, in whichever order they come."""
    shelf = Shelf(a_client("one", "a" * 12))
    directory = over(shelf)
    shelf.held = asyncio.Event()
    slow = asyncio.create_task(directory.snapshot("default"))
    await until(lambda: shelf.asked == ["all"], "the first reading is under way")
    late, shelf.held = shelf.held, None
    shelf.enter()
    assert (await directory.snapshot("default")).epoch == 2
    late.set()
    assert (await slow).epoch == 1
    assert (await directory.snapshot("default")).epoch == 2


async def test_a_spoilt_roll_lets_nobody_in(caplog: pytest.LogCaptureFixture) -> None:
    """One row put back, and not even those are known who were known before; the log says what to do."""
    shelf = Shelf(a_client("one", "a" * 12), a_client("two", "b" * 12))
    old = shelf.roll
    directory = over(shelf)
    await directory.authenticate(credential("b" * 12))
    shelf.enter(a_client("one", "c" * 12))
    shelf.roll = structs.replace(shelf.roll, rows=old.rows)
    for kid in ("a" * 12, "b" * 12):
        directory.forget("default")
        with pytest.raises(InternalError):
            await directory.authenticate(credential(kid))
    assert caplog.messages == ["a tenant's principals are spoilt"] * 2
    told = caplog.records[0].__dict__
    assert (told["tenant"], "Restore the store from a backup" in told["fault"]) == ("default", True)


async def test_what_was_known_is_forgotten_when_a_roll_is_found_spoilt() -> None:
    """A stranger's call is enough to find out."""
    shelf = Shelf(a_client("one", "a" * 12))
    directory = over(shelf)
    await directory.authenticate(credential("a" * 12))
    shelf.roll = structs.replace(shelf.roll, rows={**shelf.roll.rows, "client:x": b'"xxxxxxxxxxxx"'})
    with pytest.raises(InternalError):
        await directory.authenticate(credential("x" * 12))
    with pytest.raises(InternalError):
        await directory.authenticate(credential("a" * 12))


async def test_the_past_is_not_taken_for_the_present(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever has seen a later roll than the one put back lets nobody in, until there is one later still."""
    shelf = Shelf(a_client("one", "a" * 12))
    directory, before = over(shelf), shelf.roll
    await directory.authenticate(credential("a" * 12))
    shelf.enter(a_client("one", "b" * 12))
    now = shelf.roll
    directory.forget("default")
    await directory.authenticate(credential("b" * 12))
    shelf.roll = before
    directory.forget("default")
    for _ in range(2):
        with pytest.raises(InternalError):
            await directory.authenticate(credential("a" * 12))
    assert "went back" in caplog.records[0].__dict__["fault"]
    with pytest.raises(RollSpoilt, match="revoke again what has to be gone"):
        await directory.roll("default")
    shelf.roll = structs.replace(before, now_ms=now.epoch + 1)
    shelf.enter()
    assert (await directory.authenticate(credential("a" * 12))).epoch == now.epoch + 1


async def test_a_process_that_starts_takes_what_there_is() -> None:
    """It has nothing to compare it with: this is the limit."""
    shelf = Shelf(a_client("one", "a" * 12))
    before = shelf.roll
    shelf.enter(a_client("one", "b" * 12))
    shelf.roll = before
    assert (await over(shelf).authenticate(credential("a" * 12))).name == "one"


async def test_a_removed_tenant_has_nobody_and_can_be_made_again(caplog: pytest.LogCaptureFixture) -> None:
    """Its epochs go on with the store's time; what it was before stays the past."""
    shelf = Shelf(a_client("one", "a" * 12))
    directory, before = over(shelf), shelf.roll
    await directory.authenticate(credential("a" * 12))
    shelf.roll = Roll(epoch=0, rows={}, now_ms=1_800_000_000_000)
    directory.forget("default")
    with pytest.raises(Unauthenticated):
        await directory.authenticate(credential("a" * 12))
    empty = await directory.snapshot("default")
    assert (empty.epoch, empty.clients, empty.by_key) == (0, {}, {})
    assert caplog.messages == []
    shelf.enter(a_client("one", "b" * 12))
    assert (await directory.authenticate(credential("b" * 12))).epoch == 1_800_000_000_000
    shelf.roll = before
    directory.forget("default")
    with pytest.raises(InternalError):
        await directory.authenticate(credential("a" * 12))


async def test_revoked_signing_keys_are_heeded_before_anybody_is_let_in() -> None:
    """They come with the roll, in the same question."""
    shelf, ring = Shelf(a_client("one", "a" * 12)), Ring()
    shelf.enter(revoked=["kid1"])
    await over(shelf, ring).authenticate(credential("a" * 12))
    assert (ring.heeded, shelf.asked) == ({"kid1"}, ["key " + "a" * 12, "all"])


async def test_a_spoilt_roll_s_revocations_are_not_heeded() -> None:
    """Whoever can only write the store revokes no key of ours."""
    shelf, ring = Shelf(a_client("one", "a" * 12)), Ring()
    shelf.roll = structs.replace(shelf.roll, revoked=("kid1",))
    with pytest.raises(InternalError):
        await over(shelf, ring).snapshot("default")
    assert ring.heeded == set()


async def test_a_revoked_principal_is_in_no_snapshot() -> None:
    """Its name is taken, and that is all."""
    people: list[Principal] = [
        a_client("one"),
        structs.replace(a_client("two"), keys=()),
        Approver(tenant="default", id="ann"),
    ]
    snapshot = Snapshot.of("default", 3, people, Rulebook())
    assert (set(snapshot.clients), snapshot.approvers, set(snapshot.by_key)) == ({"one"}, {}, {"k" * 12})


async def test_a_credential_is_nobodys_once_it_is_forgotten_and_gone() -> None:
    """After a change was noticed, what was proven before is proven again, or not."""
    shelf = Shelf(a_client("one", "a" * 12))
    directory = over(shelf)
    await directory.authenticate(credential("a" * 12))
    shelf.enter(structs.replace(a_client("one"), keys=()))
    directory.forget("default")
    with pytest.raises(Unauthenticated):
        await directory.authenticate(credential("a" * 12))


async def test_forgetting_one_tenant_leaves_the_others() -> None:
    """Each tenant has an epoch of its own."""
    shelf = Shelf(a_client("one", "a" * 12))
    directory = over(shelf)
    await directory.authenticate(credential("a" * 12))
    asked = len(shelf.asked)
    directory.forget("other")
    await directory.authenticate(credential("a" * 12))
    assert len(shelf.asked) == asked
