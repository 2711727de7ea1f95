"""Enrolment: entering, rotating and revoking clients and approvers."""

import asyncio
from typing import Any

import pytest
from msgspec import structs

from placet.application.enroll import ATTEMPTS_MAX, EnrolmentRefused
from placet.domain.principals import Approver, Client, Scope
from tests.harness import Harness, holder, record, refusal

UNKNOWN = (401, "UNAUTHENTICATED")


async def test_a_credential_is_shown_once_and_kept_as_a_hash(anywhere: Harness) -> None:
    """It names tenant and key, has 256 bits of secret, and the store has none of them in the clear."""
    runtime = await anywhere.client()
    plc, tenant, kid, secret = runtime.credential.split("_", 3)
    assert (plc, tenant, len(kid), len(secret)) == ("plc", "default", 12, 43)
    rows = (await anywhere.services.store.principals.all("default")).rows
    assert set(rows) == {"client:runtime"}
    assert secret.encode() not in rows["client:runtime"]


async def test_a_rotation_leaves_two_secrets_alive(pair: tuple[Harness, Harness]) -> None:
    """The one before goes on until the next rotation; older ones are dead everywhere at once."""
    here, there = pair
    secrets = [(await here.client()).credential]
    for _ in range(2):
        secrets.append((await here.services.enrolment.rotate("default", "client:runtime")).credential)
        for h in (here, there):
            states = [(await holder(h, "runtime", each).list()).status_code for each in secrets]
            assert states == [401] * (len(secrets) - 2) + [200, 200]


async def test_one_secret_can_be_taken_back(anywhere: Harness) -> None:
    """Revoking a key leaves the other one; an unknown key is told with those there are."""
    enrolment = anywhere.services.enrolment
    first = await anywhere.client()
    second = (await enrolment.rotate("default", "client:runtime")).credential
    kid = first.credential.split("_")[2]
    await enrolment.revoke("default", "client:runtime", kid)
    assert refusal(await first.list()) == UNKNOWN
    record(await holder(anywhere, "runtime", second).list())
    with pytest.raises(EnrolmentRefused, match=second.split("_")[2]):
        await enrolment.revoke("default", "client:runtime", kid)


async def test_a_name_that_was_revoked_stays_taken(anywhere: Harness) -> None:
    """Nobody inherits what a revoked client has open; a rotation brings that very client back."""
    enrolment = anywhere.services.enrolment
    old = await anywhere.client()
    asked = await old.asked()
    await enrolment.revoke("default", "client:runtime")
    assert refusal(await old.list()) == UNKNOWN
    with pytest.raises(EnrolmentRefused, match="was and has been revoked"):
        await anywhere.client()
    with pytest.raises(EnrolmentRefused, match="it was revoked before"):
        await enrolment.revoke("default", "client:runtime")
    assert (await enrolment.all("default")).clients == {}
    back = holder(anywhere, "runtime", (await enrolment.rotate("default", "client:runtime")).credential)
    assert refusal(await old.list()) == UNKNOWN
    assert (await back.seen(asked["id"]))["id"] == asked["id"]


FAULTY = {
    "no scope": Client(tenant="default", name="x", scopes=frozenset()),
    "both sides": Client(
        tenant="default", name="x", scopes=frozenset({Scope.DECIDE_AS, Scope.REQUEST}), people=("a",)
    ),
    "a bridge without people": Client(tenant="default", name="x", scopes=frozenset({Scope.DECIDE_AS})),
    "people without a bridge": Client(
        tenant="default", name="x", scopes=frozenset({Scope.READ}), people=("a",)
    ),
    "a tenant in capitals": Client(tenant="Default", name="x", scopes=frozenset({Scope.READ})),
    "a tenant with a brace": Client(tenant="a}b", name="x", scopes=frozenset({Scope.READ})),
    "a name with a blank": Client(tenant="default", name="a b", scopes=frozenset({Scope.READ})),
    "a name with a line feed": Client(tenant="default", name="a\n", scopes=frozenset({Scope.READ})),
    "an owner of two scripts": Client(
        tenant="default", name="x", scopes=frozenset({Scope.REQUEST}), owners=("\u0430nn",)
    ),
    "a pattern with a blank": Client(
        tenant="default", name="x", scopes=frozenset({Scope.REQUEST}), capabilities=("a b",)
    ),
    "a person without a name": Approver(tenant="default", id=" "),
    "a person with a zero width": Approver(tenant="default", id="a\u200bn"),
}


@pytest.mark.parametrize("principal", FAULTY.values(), ids=FAULTY.keys())
async def test_a_faulty_principal_is_not_entered(h: Harness, principal: Client | Approver) -> None:
    """Whatever could not be judged safely later is refused when it is entered, with a reason."""
    with pytest.raises(EnrolmentRefused, match=r"\."):
        await h.services.enrolment.create(principal)
    assert (await h.services.store.principals.all(principal.tenant)).is_blank


async def test_a_name_is_entered_once(anywhere: Harness) -> None:
    """Creating it again is refused, and the first credential goes on."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    with pytest.raises(EnrolmentRefused, match="rotate"):
        await anywhere.client()
    with pytest.raises(EnrolmentRefused, match="rotate"):
        await anywhere.approver()
    record(await runtime.list())
    record(await ann.list())


@pytest.mark.parametrize("field", ["client:nobody", "approver:nobody"])
async def test_who_is_not_there_can_not_be_changed(h: Harness, field: str) -> None:
    """Rotating or revoking nobody says how to find somebody."""
    for change in (h.services.enrolment.rotate, h.services.enrolment.revoke):
        with pytest.raises(EnrolmentRefused, match="list"):
            await change("default", field)


async def test_two_changes_at_once_do_not_undo_each_other(h: Harness) -> None:
    """Of two operators who change the same principal the later one is told to look again."""
    await h.client()
    enrolment = h.services.enrolment
    principal, stored = await enrolment._known("default", "client:runtime")
    await enrolment.rotate("default", "client:runtime")
    changed = structs.replace(principal, keys=())
    with pytest.raises(EnrolmentRefused, match="meanwhile"):
        await enrolment._write(principal, expected=stored, changed=changed)
    assert len((await enrolment.all("default")).clients["runtime"].keys) == 2


async def test_changes_of_different_people_at_once_are_all_made(anywhere: Harness) -> None:
    """Each is made on top of the others, however they come."""
    names = [f"client-{n}" for n in range(8)]
    parties = await asyncio.gather(*map(anywhere.client, names))
    assert set((await anywhere.services.enrolment.all("default")).clients) == set(names)
    for party in parties:
        record(await party.list())


async def test_a_change_whose_answer_was_lost_is_known_again(
    h: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made, another's came after it, and only then was it sent again: it is not made twice, nor refused."""
    store = h.services.store.principals
    genuine = store.enroll
    lost: list[bool] = []

    async def enroll(*args: Any, **options: Any) -> bool:
        if lost:
            return await genuine(*args, **options)
        lost.append(await genuine(*args, **options))
        await h.approver()
        return await genuine(*args, **options)

    monkeypatch.setattr(store, "enroll", enroll)
    runtime = await h.client()
    assert lost == [True]
    record(await runtime.list())
    found = await h.services.enrolment.all("default")
    assert (set(found.clients), set(found.approvers)) == ({"runtime"}, {"ann"})


@pytest.mark.parametrize("act", ["create", "count"])
async def test_a_tenant_that_never_rests_is_left_after_a_while(
    h: Harness, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Whoever always comes too late gives up, and has changed nothing."""
    tried: list[str] = []

    async def enroll(tenant: str, *_: Any, **__: Any) -> bool:
        tried.append(tenant)
        return False

    monkeypatch.setattr(h.services.store.principals, "enroll", enroll)
    with pytest.raises(EnrolmentRefused, match="try again in a moment"):
        await (h.client() if act == "create" else h.services.enrolment.count_change("default"))
    assert tried == ["default"] * ATTEMPTS_MAX


async def test_the_list_of_principals_is_fresh(pair: tuple[Harness, Harness]) -> None:
    """An operator sees what another process has just entered."""
    here, there = pair
    await here.client("one")
    assert set((await there.services.enrolment.all("default")).clients) == {"one"}
    await here.client("two")
    await here.approver("ann")
    found = await there.services.enrolment.all("default")
    assert (set(found.clients), set(found.approvers)) == ({"one", "two"}, {"ann"})
