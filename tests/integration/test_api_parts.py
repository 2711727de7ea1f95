"""People and programs: who speaks for whom, and how long what they said holds."""

from typing import Any

from tests.harness import Harness, holder, reason, record, refusal

UNKNOWN = (401, "UNAUTHENTICATED")


async def test_a_bridge_speaks_for_its_people_up_to_its_risk(anywhere: Harness) -> None:
    """The decision names the person and, as submitted by, the bridge; beyond its bounds there is none."""
    runtime = await anywhere.client()
    await anywhere.approver("ann", shown_as="Ann B.")
    bridge = await anywhere.client("slackbot", "decide_as", people=["ann", "bob"], max_risk="medium")
    asked = await runtime.asked()
    assert reason(await bridge.decide(asked, approver={"id": "eve"})) == (403, "FORBIDDEN", "not-an-approver")
    assert reason(await bridge.decide(asked, approver={"id": "ANN"})) == (403, "FORBIDDEN", "not-an-approver")
    missing = await bridge.decide(asked)
    assert refusal(missing) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in missing.json()["model"]["issues"]] == ["/approver"]
    (vote,) = record(await bridge.decide(asked, approver={"id": "ann"}))["decisions"]
    assert vote["approver"] == {"id": "ann", "display_name": "Ann B."}
    assert (vote["channel"], vote["submitted_by"]) == ("slackbot", "slackbot")
    risky = await runtime.asked(risk="high")
    assert refusal(await bridge.decide(risky, approver={"id": "ann"})) == (404, "APPROVAL_NOT_FOUND")
    low = await runtime.asked(risk="low")
    (vote,) = record(await bridge.decide(low, "reject", approver={"id": "bob"}))["decisions"]
    assert vote["approver"] == {"id": "bob", "display_name": None}
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [(line["by"], line.get("channel")) for line in trail] == [
        ("runtime", None),
        ("eve", "slackbot"),
        ("ANN", "slackbot"),
        ("ann", "slackbot"),
    ]


async def test_one_person_has_one_vote_in_every_channel(anywhere: Harness) -> None:
    """The same vote through a bridge and by one's own credential is the same vote."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    bridge = await anywhere.client("bridge", "decide_as", people=["ann"], max_risk="high")
    asked = await runtime.asked()
    first = record(await bridge.decide(asked, approver={"id": "ann"}))
    assert record(await ann.decide(asked)) == first


async def test_a_grant_ends_with_the_right_of_whoever_gave_it(pair: tuple[Harness, Harness]) -> None:
    """An approver who was revoked since grants nothing more; what was consumed before stays so."""
    here, there = pair
    runtime, ann = await here.client(), await here.approver()
    spent, unspent = await runtime.asked(input=1), await runtime.asked(input=2)
    for asked in (spent, unspent):
        record(await ann.decide(asked))
    token = await runtime.token(unspent["id"])
    record(await runtime.consume(spent, await runtime.token(spent["id"])))
    away = holder(there, "runtime", runtime.credential)
    record(await away.list())
    await here.services.enrolment.revoke("default", "approver:ann")
    for party in (away, runtime):
        lapsed = (403, "FORBIDDEN", "approver-no-longer-entitled")
        assert reason(await party.consume(unspent, token)) == lapsed
        assert "token" not in await party.seen(unspent["id"])
        assert record(await party.introspect(unspent, token)) == {"active": False, "error": "FORBIDDEN"}
        assert refusal(await party.consume(unspent, "x")) == (403, "APPROVAL_TOKEN_INVALID")
        assert record(await party.consume(spent, token))["replayed"] is True
    assert (await runtime.seen(unspent["id"]))["status"] == "approved"
    assert "FORBIDDEN" in [each.get("code") for each in record(await runtime.trail(unspent["id"]))["items"]]
    await there.services.enrolment.rotate("default", "approver:ann")
    assert reason(await away.consume(unspent, token)) == lapsed, "what a revoked secret said stays unsaid"


async def test_a_bridge_that_is_gone_takes_its_grants_along(anywhere: Harness) -> None:
    """Who was spoken for is entitled as long as that very credential of the bridge counts."""
    runtime = await anywhere.client()
    bounds: dict[str, Any] = {"people": ["bob"], "max_risk": "high"}
    bridge = await anywhere.client("bridge", "decide_as", **bounds)
    asked = await runtime.asked()
    record(await bridge.decide(asked, approver={"id": "bob"}))
    token = await runtime.token(asked["id"])
    await anywhere.services.enrolment.revoke("default", "client:bridge")
    response = await runtime.consume(asked, token)
    assert reason(response) == (403, "FORBIDDEN", "approver-no-longer-entitled")
    await anywhere.client("other-bridge", "decide_as", **bounds)
    response = await runtime.consume(asked, token)
    assert reason(response) == (403, "FORBIDDEN", "approver-no-longer-entitled")
    await anywhere.services.enrolment.rotate("default", "client:bridge")
    response = await runtime.consume(asked, token)
    assert reason(response) == (403, "FORBIDDEN", "approver-no-longer-entitled")


async def test_a_client_and_an_approver_may_share_a_name(anywhere: Harness) -> None:
    """They are two principals: each has its own rights, and revoking one leaves the other."""
    client, person = await anywhere.client("ann"), await anywhere.approver("ann")
    asked = await client.asked()
    assert reason(await client.decide(asked)) == (403, "FORBIDDEN", "scope")
    assert reason(await person.ask(input=1)) == (403, "FORBIDDEN", "scope")
    await anywhere.services.enrolment.revoke("default", "client:ann")
    assert refusal(await client.list()) == UNKNOWN
    assert refusal(await person.decide(asked)) == (403, "APPROVAL_SELF_APPROVAL"), "whoever asks is not asked"
    other = await (await anywhere.client("runtime")).asked()
    assert record(await person.decide(other))["status"] == "approved"
