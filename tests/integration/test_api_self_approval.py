"""Nobody approves their own request, under whatever name, on whatever route."""

from typing import Any

import pytest

from tests.harness import Harness, Party, reason, record, refusal

SELF = (403, "APPROVAL_SELF_APPROVAL")


async def bridged(h: Harness, *people: str) -> Party:
    """A bridge that may speak for these people."""
    return await h.client("bridge", "decide_as", people=people, max_risk="high")


ACTORS: dict[str, dict[str, Any]] = {
    "the actor": {"id": "zoe@x.example", "kind": "user"},
    "the actor in capitals": {"id": "Zoe@X.EXAMPLE", "kind": "user"},
    "the actor in full width": {"id": "\uff3aoe@x.example", "kind": "user"},
    "the actor with blanks around": {"id": "  zoe@x.example ", "kind": "user"},
    "the actor, said to be a service": {"id": "zoe@x.example", "kind": "service"},
    "someone behind an agent": {"id": "agent-7", "kind": "agent", "on_behalf_of": ["x", "zoe@x.example"]},
    "someone behind, in capitals": {"id": "agent-7", "kind": "agent", "on_behalf_of": ["ZOE@x.example"]},
    "an owner of the service that acts": {"id": "deployer", "kind": "service"},
    "an owner of the service, in capitals": {"id": "DEPLOYER", "kind": "service"},
    "an owner of the service, said to be an agent": {"id": "deployer", "kind": "agent"},
    "an owner of the service behind": {"id": "a", "kind": "agent", "on_behalf_of": ["deployer"]},
}


@pytest.mark.parametrize("actor", ACTORS.values(), ids=ACTORS.keys())
@pytest.mark.parametrize("way", ["own credential", "bridge"])
async def test_the_asking_side_does_not_approve(anywhere: Harness, actor: dict[str, Any], way: str) -> None:
    """B45, B74: through every name they go by and every channel; rejecting is theirs, and others approve."""
    runtime = await anywhere.client()
    await anywhere.client("deployer", "consume", owners=["zoe@x.example"])
    zoe, ann = await anywhere.approver("zoe@x.example"), await anywhere.approver()
    bridge = await bridged(anywhere, "zoe@x.example")
    first, second = await runtime.asked(actor=actor), await runtime.asked(actor=actor, input=1)
    person: dict[str, Any] = {}
    voter = zoe
    if way == "bridge":
        person, voter = {"approver": {"id": "zoe@x.example"}}, bridge
    response = await voter.decide(first, **person)
    assert refusal(response) == SELF
    assert response.json()["confirmation"]["details"] == {"reason": "self-approval"}
    assert (await runtime.seen(first["id"]))["status"] == "pending"
    assert record(await ann.decide(first))["status"] == "approved"
    assert record(await voter.decide(second, "reject", **person))["status"] == "rejected"


@pytest.mark.parametrize("owner", ["zoe@x.example", "ZOE@X.example", "\uff5aoe@x.example"])
async def test_an_owner_of_the_client_does_not_approve(anywhere: Harness, owner: str) -> None:
    """B74: whoever stands behind the asking client is on its side, however the owner is spelled."""
    runtime, zoe = await anywhere.client(owners=[owner]), await anywhere.approver("zoe@x.example")
    asked = await runtime.asked()
    assert refusal(await zoe.decide(asked)) == SELF
    assert record(await zoe.decide(asked, "reject"))["status"] == "rejected"


async def test_an_owner_when_it_was_asked_stays_one(anywhere: Harness) -> None:
    """Taking the owner off the client after it asked does not make room for an approval."""
    runtime, zoe = await anywhere.client(owners=["zoe"]), await anywhere.approver("zoe")
    asked = await runtime.asked()
    await anywhere.owned_by("runtime")
    assert refusal(await zoe.decide(asked)) == SELF
    await anywhere.services.enrolment.revoke("default", "client:runtime")
    assert refusal(await zoe.decide(asked)) == SELF


async def test_an_owner_since_then_is_one_too(anywhere: Harness) -> None:
    """Becoming an owner after the question was asked takes the right away as well."""
    runtime, zoe = await anywhere.client(), await anywhere.approver("zoe")
    asked = await runtime.asked()
    await anywhere.owned_by("runtime", "zoe")
    assert refusal(await zoe.decide(asked)) == SELF


@pytest.mark.parametrize("way", ["acts", "is acted for"])
async def test_an_owner_of_a_client_that_was_revoked_stays_one(anywhere: Harness, way: str) -> None:
    """Taking a service's credentials back does not free its owners to approve what goes by its name."""
    runtime = await anywhere.client()
    await anywhere.client("deployer", "consume", owners=["zoe"])
    zoe, ann = await anywhere.approver("zoe"), await anywhere.approver()
    await anywhere.services.enrolment.revoke("default", "client:deployer")
    actor: dict[str, Any] = {"id": "Deployer", "kind": "service"}
    if way == "is acted for":
        actor = {"id": "agent-7", "kind": "agent", "on_behalf_of": ["deployer"]}
    first, second = await runtime.asked(actor=actor), await runtime.asked(actor=actor, input=1)
    assert refusal(await zoe.decide(first)) == SELF
    assert record(await zoe.decide(second, "reject"))["status"] == "rejected"
    assert record(await ann.decide(first))["status"] == "approved"


async def test_an_administrator_is_not_exempt(anywhere: Harness) -> None:
    """B74: a bridge that is also an administrator speaks for nobody on their own request."""
    runtime = await anywhere.client()
    boss = await anywhere.client("boss", "admin", "decide_as", people=["zoe"], max_risk="high")
    asked = await runtime.asked(actor={"id": "zoe", "kind": "user"})
    assert refusal(await boss.decide(asked, approver={"id": "zoe"})) == SELF


async def test_owners_of_others_do_approve(h: Harness) -> None:
    """Standing behind another client, or the audience, takes nothing away."""
    runtime = await h.client()
    await h.client("tools", "consume", owners=["zoe"])
    zoe = await h.approver("zoe")
    asked = await runtime.asked(audience="tools", actor={"id": "tools2", "kind": "service"})
    assert record(await zoe.decide(asked))["status"] == "approved"


async def test_a_decision_that_is_not_offered_comes_before_self_approval(h: Harness) -> None:
    """The order of judgement: what nobody may do is told before what this person may not."""
    runtime, zoe = await h.client(), await h.approver("zoe")
    asked = await runtime.asked(actor={"id": "zoe", "kind": "user"}, allowed_decisions=["reject"])
    assert reason(await zoe.decide(asked)) == (403, "FORBIDDEN", "decision-not-allowed")
    bridge = await h.client("bridge", "decide_as", people=["bob"], max_risk="high")
    response = await bridge.decide(asked, approver={"id": "zoe"})
    assert reason(response) == (403, "FORBIDDEN", "not-an-approver")
    assert refusal(await zoe.decide({**asked, "digest": "0" * 64})) == (409, "APPROVAL_INPUT_MISMATCH")


@pytest.mark.parametrize("name", ["zo\u200be", "z\u043ee", "zoe\u202e", "zoe\n", "zo\ue000e"])
async def test_ids_that_only_look_like_another_are_not_admitted(h: Harness, name: str) -> None:
    """What folding can't catch is refused at the door, for actors and for the people a bridge names."""
    runtime, bridge = await h.client(), await bridged(h, "zoe")
    for actor in ({"id": name, "kind": "user"}, {"id": "a", "kind": "agent", "on_behalf_of": [name]}):
        assert refusal(await runtime.ask(actor=actor)) == (422, "INPUT_INVALID")
    response = await bridge.decide(await runtime.asked(), approver={"id": name})
    assert refusal(response) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in response.json()["model"]["issues"]] == ["/approver/id"]
