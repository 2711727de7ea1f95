"""The directory: who is calling, kept for as long as nothing changes."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from placet.application.directory import Caller, Directory
from placet.domain.errors import Unauthenticated
from placet.domain.principals import Approver, Client, Key, Principal, Scope
from placet.store.approvals import Rejudge
from placet.tokens.keys import new_seal_key
from placet.tokens.seal import Sealer
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


class Shelf:
    """A store of sealed documents that counts how often it is asked, and can hold an answer back."""

    def __init__(self, *principals: Principal) -> None:
        self.epoch = 1
        self.asked: list[str] = []
        self.held: asyncio.Event | None = None
        self.principals = list(principals)

    def documents(self) -> Mapping[str, bytes]:
        """Everything there is."""
        directory = Directory(self, lambda: SEALER)  # type: ignore[arg-type] # a fake of the one port
        return {each.field: directory.seal(each) for each in self.principals}

    async def by_key(self, tenant: str, kid: str) -> tuple[int, bytes | None]:
        """As the real one."""
        self.asked.append(f"key {kid}")
        found = [each for each in self.principals if kid in {key.kid for key in each.keys}]
        return self.epoch, self.documents()[found[0].field] if found else None

    async def all(self, tenant: str) -> tuple[int, Mapping[str, bytes]]:
        """As the real one."""
        self.asked.append("all")
        epoch, documents = self.epoch, self.documents()
        if self.held is not None:
            await self.held.wait()
        return epoch, documents

    async def enroll(self, *_: Any, kids: Sequence[str] = (), **__: Any) -> int | None:
        """Not asked here."""
        raise NotImplementedError


def over(shelf: Shelf, **options: Any) -> Directory:
    """A directory over the shelf."""
    return Directory(shelf, lambda: SEALER, **options)  # type: ignore[arg-type] # a fake of the one port


async def test_a_known_credential_costs_no_question() -> None:
    """Read once, everybody of the tenant is known until it is forgotten."""
    shelf = Shelf(a_client("one", "a" * 12), a_client("two", "b" * 12))
    directory = over(shelf)
    caller = await directory.authenticate(credential("a" * 12))
    assert (caller.name, caller.tenant, caller.epoch) == ("one", "default", 1)
    assert (await directory.authenticate(credential("b" * 12))).name == "two"
    assert await directory.authenticate(credential("a" * 12)) == caller
    assert shelf.asked == ["key " + "a" * 12, "all"]
    directory.forget("default")
    await directory.authenticate(credential("a" * 12))
    assert len(shelf.asked) == 4


async def test_a_person_is_named_by_their_id() -> None:
    """For the trail."""
    assert Caller(principal=Approver(tenant="t", id="ann"), epoch=1).name == "ann"


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
    assert set((await directory.known_to(caller)).clients) == {"one"}
    shelf.principals.append(a_client("two", "b" * 12))
    shelf.epoch = 2
    assert set((await directory.known_to(caller)).clients) == {"one"}, "nobody has noticed yet"
    with pytest.raises(Rejudge):
        await directory.confirm(caller)
    directory.forget("default")
    with pytest.raises(Rejudge):
        await directory.known_to(caller)
    fresh = await directory.authenticate(credential("a" * 12))
    assert set((await directory.known_to(fresh)).clients) == {"one", "two"}
    await directory.confirm(fresh)


async def test_a_late_reply_does_not_bring_the_past_back() -> None:
    """Of two readings under way the newer one is kept, in whichever order they come."""
    shelf = Shelf(a_client("one", "a" * 12))
    directory = over(shelf)
    shelf.held = asyncio.Event()
    slow = asyncio.create_task(directory.snapshot("default"))
    await until(lambda: shelf.asked == ["all"], "the first reading is under way")
    late, shelf.held = shelf.held, None
    shelf.epoch = 2
    assert (await directory.snapshot("default")).epoch == 2
    late.set()
    assert (await slow).epoch == 1
    assert (await directory.snapshot("default")).epoch == 2


async def test_documents_that_are_not_ours_are_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """A seal of another key, of another field or tenant, a cut or an empty document: ignored, and told."""
    directory = over(Shelf())
    genuine = directory.seal(a_client("one", "a" * 12))
    assert directory.open("default", "client:one", genuine) == a_client("one", "a" * 12)
    stranger = Directory(Shelf(), lambda: Sealer(new_seal_key()))  # type: ignore[arg-type]
    for tenant, field, document in (
        ("default", "client:two", genuine),
        ("other", "client:one", genuine),
        ("default", "approver:one", genuine),
        ("default", "client:one", genuine[:-1]),
        ("default", "client:one", b"\xff" * 43 + genuine[43:]),
        ("default", "client:one", b""),
        ("default", "client:one", stranger.seal(a_client("one", "a" * 12))),
    ):
        assert directory.open(tenant, field, document) is None
    assert caplog.messages == ["a principal's seal is broken: it is ignored"] * 7


async def test_a_credential_is_nobodys_once_it_is_forgotten_and_gone() -> None:
    """After a change was noticed, what was proven before is proven again, or not."""
    shelf = Shelf(a_client("one", "a" * 12))
    directory = over(shelf)
    await directory.authenticate(credential("a" * 12))
    shelf.principals.clear()
    shelf.epoch = 2
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
