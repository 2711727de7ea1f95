"""Rules of the operator's, end to end: what may be asked under them, and who decides it how."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from fakeredis import FakeAsyncRedis, FakeServer

from placet.application.enroll import EnrolmentRefused
from placet.domain.model import Risk
from placet.domain.principals import Client, Scope
from tests.factories import ManualClock
from tests.harness import Harness, Party, holder, opened, quorum, reason, record, refusal
from tests.rulefiles import DIRECTORY, Files

NOT_ENTITLED = (403, "FORBIDDEN", "not-an-approver")
HIDDEN = {"input": ..., "input_hash": "9fbb451d84f0774c7492da5f8a213a08fe5a94c5965596453903d24757107d27"}

Ruled = Callable[..., Awaitable[Harness]]


@pytest.fixture
async def ruled(ring_directory: Path, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Ruled]:
    """Opens a service under one rule, of these lines besides a name and what it is for."""
    async with AsyncExitStack() as exits:

        async def under(*lines: str, floors: str = "", directory: str | None = DIRECTORY) -> Harness:
            rule = ['[[rules]]\nname = "orders"\ncapabilities = ["orders.*"]', *lines]
            files = Files(tmp_path, "\n".join([floors, *rule]), directory)
            redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
            return await exits.enter_async_context(opened(redis, ring_directory, clock, rules=files.source))

        yield under


TREASURY = 'approvers = { groups = ["treasury"] }'


async def people(h: Harness, *names: str) -> list[Party]:
    """Approvers with credentials."""
    return [await h.approver(name) for name in names]


async def test_what_no_rule_is_for_is_not_asked(ruled: Ruled) -> None:
    """Refused with the reason, and nothing is made."""
    h = await ruled(TREASURY)
    runtime = await h.client()
    assert reason(await runtime.ask(capability="mail.send")) == (403, "FORBIDDEN", "no-rule")
    assert record(await runtime.list())["items"] == []


@pytest.mark.parametrize("dimension", ["tenants", "clients", "surfaces"])
async def test_a_rule_is_for_whom_it_names(ruled: Ruled, dimension: str) -> None:
    """Another tenant, client or surface is not meant."""
    h = await ruled(TREASURY, f'{dimension} = ["one*"]')
    names = {"tenant": "one", "name": "one", "surface": "one.b"}
    other = {"tenants": "tenant", "clients": "name", "surfaces": "surface"}[dimension]
    for chosen, status in ((names, 201), ({**names, other: "two"}, 403)):
        client = await h.client(f"{chosen['name']}-{status}", tenant=chosen["tenant"])
        response = await client.ask(surface=chosen["surface"])
        assert response.status_code == status


async def test_the_record_names_its_rule(ruled: Ruled) -> None:
    """And the version of the files."""
    h = await ruled(TREASURY)
    asked = await (await h.client()).asked()
    assert asked["rule"]["name"] == "orders"
    assert len(asked["rule"]["policy"]) == 64


async def test_who_is_not_among_the_approvers_decides_nothing(ruled: Ruled) -> None:
    """They do not even see it; whoever is named, or in a named group, does."""
    h = await ruled('approvers = { groups = ["treasury"], people = ["zoe"] }')
    ann, dana, zoe = await people(h, "ann", "dana", "zoe")
    runtime = await h.client()
    asked = await runtime.asked()
    assert refusal(await dana.decide(asked)) == (404, "APPROVAL_NOT_FOUND")
    assert record(await zoe.decide(asked))["status"] == "approved"
    assert record(await ann.decide(await runtime.asked()))["status"] == "approved"


async def test_groups_of_a_credential_are_not_a_members(ruled: Ruled) -> None:
    """Whoever is in the directory is in the groups it says; others in those their credential says."""
    h = await ruled(TREASURY)
    asked = await (await h.client()).asked()
    eve = await h.approver("eve", groups=("treasury",))
    dana = await h.approver("dana", groups=("treasury",))
    assert refusal(await dana.decide(asked)) == (404, "APPROVAL_NOT_FOUND")
    assert record(await eve.decide(asked))["status"] == "approved"


@pytest.mark.parametrize("name", ["ANN", "ann@example.com", "Ann@Example.com"])
async def test_an_alias_or_another_spelling_has_none_of_a_members_rights(ruled: Ruled, name: str) -> None:
    """They only take away."""
    h = await ruled('approvers = { groups = ["treasury"], people = ["ann"] }')
    asked = await (await h.client()).asked()
    assert refusal(await (await h.approver(name)).decide(asked)) == (404, "APPROVAL_NOT_FOUND")


@pytest.mark.parametrize("channel", ["web", "slack", "bridge"])
async def test_a_channel_that_is_not_named_is_closed(ruled: Ruled, channel: str) -> None:
    """For saying yes and for saying no."""
    h = await ruled(TREASURY, f'channels = ["{channel}"]')
    (ann,) = await people(h, "ann")
    asked = await (await h.client()).asked()
    for decision in ("approve", "reject"):
        response = await ann.decide(asked, decision)
        assert reason(response) == (403, "FORBIDDEN", "channel-not-allowed")


async def test_a_bridge_is_a_channel_by_its_name(ruled: Ruled) -> None:
    """What came over it is consumed, although the same person could not decide it another way."""
    h = await ruled(TREASURY, 'channels = ["chat"]')
    runtime, (ann,) = await h.client(), await people(h, "ann")
    asked = await runtime.asked()
    for name, expected in (("chats", 403), ("chat", 200)):
        bridge = await h.client(name, "decide_as", people=["ann"], max_risk="high")
        response = await bridge.decide(asked, approver={"id": "ann"})
        assert response.status_code == expected
    assert reason(await ann.decide(await runtime.asked(input=2)))[2] == "channel-not-allowed"
    record(await runtime.consume(asked, await runtime.token(asked["id"])))


async def test_a_bridge_speaks_for_whoever_is_in_its_groups(ruled: Ruled) -> None:
    """In those of the directory, or of their own credential; and no longer than they are."""
    h = await ruled('approvers = { groups = ["treasury", "platform"] }')
    runtime, _ = await h.client(), await h.approver("eve", groups=("treasury",))
    bridge = await h.client("chat", "decide_as", groups=["treasury"], max_risk="high")
    for number, (person, status) in enumerate({"ann": 200, "eve": 200, "dana": 403, "yan": 403}.items()):
        asked = await runtime.asked(input=number)
        response = await bridge.decide(asked, approver={"id": person})
        assert response.status_code == status, person
        if status == 200:
            record(await runtime.consume(asked, await runtime.token(asked["id"]), execution=person))
        else:
            assert reason(response) == NOT_ENTITLED


async def test_the_grant_of_a_bridge_ends_with_it(ruled: Ruled) -> None:
    """The person has a credential of their own, but that is not how they decided."""
    h = await ruled(TREASURY)
    runtime, _ = await h.client(), await people(h, "ann")
    bridge = await h.client("chat", "decide_as", people=["ann"], max_risk="high")
    asked = await runtime.asked()
    record(await bridge.decide(asked, approver={"id": "ann"}))
    token = await runtime.token(asked["id"])
    await h.services.enrolment.revoke("default", "client:chat")
    response = await runtime.consume(asked, token)
    assert reason(response) == (403, "FORBIDDEN", "approver-no-longer-entitled")


@pytest.mark.parametrize(
    ("rule", "approve", "reject"),
    [("never", True, True), ("on-reject", True, False), ("always", False, False)],
)
async def test_a_comment_is_asked_for(ruled: Ruled, rule: str, *, approve: bool, reject: bool) -> None:
    """A blank one is none."""
    h = await ruled(TREASURY, f'comment = "{rule}"')
    runtime, (ann,) = await h.client(), await people(h, "ann")
    for decision, without in (("approve", approve), ("reject", reject)):
        asked = await runtime.asked(input=decision)
        bare = await ann.decide(asked, decision, comment=" \t")
        assert (bare.status_code == 200) is without
        if not without:
            assert reason(bare) == (403, "FORBIDDEN", "comment-required")
            record(await ann.decide(asked, decision, comment="as agreed"))


USER = {"id": "ann", "kind": "user"}


@pytest.mark.parametrize(
    ("lines", "actor", "allowed"),
    [
        ([], USER, False),
        (["self_approval = true"], USER, True),
        (["self_approval = true"], {"id": "ann@EXAMPLE.com", "kind": "user"}, True),
        (["self_approval = true"], {"id": "ann", "kind": "agent"}, False),
        (["self_approval = true"], {"id": "bot", "kind": "user", "on_behalf_of": ["ann"]}, False),
        (["self_approval = true"], {**USER, "on_behalf_of": ["bob"]}, False),
        (
            ["self_approval = true", "[[rules.stricter]]", 'when = { effect = ["write"] }', "quorum = 2"],
            USER,
            False,
        ),
        (
            [
                "self_approval = true",
                "[[rules.stricter]]",
                'when = { risk = ["low"] }',
                "self_approval = false",
            ],
            USER,
            False,
        ),
    ],
)
async def test_a_plain_confirmation_is_for_the_person_who_acts(
    ruled: Ruled, lines: list[str], actor: dict[str, Any], *, allowed: bool
) -> None:
    """Where a rule says so, for a person who acts in their own name, alone."""
    h = await ruled(TREASURY, *lines)
    runtime, (ann,) = await h.client(), await people(h, "ann")
    asked = await runtime.asked(actor=actor, effect="write")
    response = await ann.decide(asked)
    if allowed:
        record(await runtime.consume(asked, await runtime.token(record(response)["id"])))
    else:
        assert refusal(response) == (403, "APPROVAL_SELF_APPROVAL")


@pytest.mark.parametrize(
    ("owner", "grave"),
    [("ann", {}), (None, {"effect": "destructive"}), (None, {"risk": "critical"})],
    ids=["of one's own client", "a grave effect", "a grave risk"],
)
async def test_no_claim_makes_a_plain_confirmation_of_it(
    ruled: Ruled, owner: str | None, grave: dict[str, Any]
) -> None:
    """Whoever owns the client that asks is known from authentication; a grave call takes somebody else."""
    h = await ruled(TREASURY, "self_approval = true")
    runtime = await h.client(owners=[owner] if owner else [])
    (ann,) = await people(h, "ann")
    asked = await runtime.asked(actor=USER, **{"effect": "write", **grave})
    assert refusal(await ann.decide(asked)) == (403, "APPROVAL_SELF_APPROVAL")


@pytest.mark.parametrize(
    "comment", ["\u200b", "\u2800", "\u3164", "\u00ad", "\u202e", "\U000e0041", "\x01", "\ue000"]
)
async def test_a_comment_that_shows_nothing_is_none(ruled: Ruled, comment: str) -> None:
    """Where one is required."""
    h = await ruled(TREASURY, 'comment = "always"')
    runtime, (ann,) = await h.client(), await people(h, "ann")
    asked = await runtime.asked()
    assert reason(await ann.decide(asked, comment=comment)) == (403, "FORBIDDEN", "comment-required")
    record(await ann.decide(asked, comment=f"{comment}ok"))


@pytest.mark.parametrize(
    "actor",
    [
        {"id": "ANN", "kind": "agent"},
        {"id": "Ann Marsh <ann@example.com>", "kind": "agent"},
        {"id": "bot", "kind": "agent", "on_behalf_of": ["mailto:Ann@Example.com"]},
        {"id": "Nightly", "kind": "service"},
        {"id": "bot", "kind": "agent", "on_behalf_of": ["nightly"]},
    ],
)
async def test_nobody_approves_for_themselves_under_any_name(ruled: Ruled, actor: dict[str, Any]) -> None:
    """Aliases of the directory, and the services it says one owns; rejecting is allowed."""
    h = await ruled('approvers = { people = ["ann", "dana"] }', "self_approval = true")
    runtime = await h.client()
    asked = await runtime.asked(actor=actor)
    (person,) = await people(h, "dana" if "ightly" in str(actor) else "ann")
    assert refusal(await person.decide(asked)) == (403, "APPROVAL_SELF_APPROVAL")
    assert record(await person.decide(asked, "reject"))["status"] == "rejected"


async def test_the_owner_of_the_asking_client_is_on_the_asking_side(ruled: Ruled) -> None:
    """Also where the directory alone says so."""
    h = await ruled('approvers = { people = ["dana"] }')
    (dana,) = await people(h, "dana")
    asked = await (await h.client("nightly")).asked()
    assert refusal(await dana.decide(asked)) == (403, "APPROVAL_SELF_APPROVAL")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, 600_000),
        ({"expires_in_ms": 3_600_000}, 3_600_000),
        ({"expires_in_ms": 3_600_001}, None),
    ],
)
async def test_a_question_waits_as_long_as_its_rule_lets_it(
    ruled: Ruled, clock: ManualClock, asked: dict[str, Any], expected: int | None
) -> None:
    """The default where nothing is asked, the maximum at most; beyond, the member is named."""
    h = await ruled(TREASURY, 'expires_in = { default = "10m", max = "1h" }')
    runtime = await h.client()
    response = await runtime.ask(**asked)
    if expected is None:
        assert refusal(response) == (422, "INPUT_INVALID")
        assert response.json()["model"]["issues"][0]["path"] == "/expires_in_ms"
        return
    answer = record(response, 201)
    clock.move(expected)
    assert (await runtime.seen(answer["id"]))["status"] == "pending"
    clock.move(1)
    assert (await runtime.seen(answer["id"]))["status"] == "expired"


async def test_a_moment_is_held_to_the_maximum_too(ruled: Ruled) -> None:
    """``expires_at`` as well as a duration."""
    h = await ruled(TREASURY, 'expires_in = { max = "1h" }')
    runtime = await h.client()
    assert refusal(await runtime.ask(expires_at="2027-01-15T09:00:00.001Z")) == (422, "INPUT_INVALID")
    record(await runtime.ask(expires_at="2027-01-15T09:00:00Z"), 201)


@pytest.mark.parametrize(("asked", "expected"), [({}, 60_000), ({"use_within_ms": 120_000}, 120_000)])
async def test_a_grant_waits_as_long_as_its_rule_lets_it(
    ruled: Ruled, clock: ManualClock, asked: dict[str, Any], expected: int
) -> None:
    """The default, or what was asked for up to the maximum."""
    h = await ruled(TREASURY, 'use_within = { default = "1m", max = "2m" }')
    runtime, (ann,) = await h.client(), await people(h, "ann")
    assert refusal(await runtime.ask(use_within_ms=120_001)) == (422, "INPUT_INVALID")
    answer = await runtime.asked(**asked)
    record(await ann.decide(answer))
    clock.move(expected)
    token = await runtime.token(answer["id"])
    clock.move(1)
    assert refusal(await runtime.consume(answer, token)) == (409, "APPROVAL_EXPIRED")


async def test_a_question_that_gives_up_is_over_by_then(ruled: Ruled, clock: ManualClock) -> None:
    """It expires; nobody has approved it."""
    h = await ruled(TREASURY, 'escalate = { after = "5m", give_up = true }')
    runtime = await h.client()
    asked = await runtime.asked()
    clock.move(300_001)
    seen = await runtime.seen(asked["id"])
    assert (seen["status"], seen["decisions"]) == ("expired", [])


FLOOR = '[[capabilities]]\nmatch = ["orders.*"]\nleast_effect = "external"\nleast_risk = "high"\n'


async def test_what_is_asked_below_its_floor_is_raised_and_marked(ruled: Ruled) -> None:
    """The record has both; it is consumed with the effect that was asked with, and with the raised one."""
    h = await ruled(TREASURY, floors=FLOOR)
    runtime, (ann,) = await h.client(), await people(h, "ann")
    for effect in ("read", "external"):
        asked = await runtime.asked(effect="read", risk="low", input=effect)
        assert (asked["effect"], asked["risk"]) == ("external", "high")
        assert asked["claimed"] == {"effect": "read", "risk": "low"}
        record(await ann.decide(asked))
        token = await runtime.token(asked["id"])
        wrong = await runtime.consume(asked, token, effect="write", execution=effect)
        assert refusal(wrong) == (409, "APPROVAL_INPUT_MISMATCH")
        record(await runtime.consume(asked, token, effect=effect, execution=effect))


async def test_what_is_asked_above_its_floor_stays_as_it_is(ruled: Ruled) -> None:
    """Nothing is raised, so nothing is marked; a claim can only be more than the floor."""
    h = await ruled(TREASURY, floors=FLOOR)
    asked = await (await h.client()).asked(effect="destructive", risk="critical")
    assert (asked["effect"], asked["risk"], asked["claimed"]) == ("destructive", "critical", None)


@pytest.mark.parametrize(
    ("lines", "members", "why"),
    [
        ([], {}, "hidden-input"),
        (["hidden_input = true"], {}, None),
        (["hidden_input = true"], {"effect": "external"}, "hidden-input"),
        (["hidden_input = true"], {"effect": "destructive"}, "hidden-input"),
        (["hidden_input = true"], {"risk": "high"}, "hidden-input"),
        (["hidden_input = true"], {"capability": "orders.floor"}, "hidden-input"),
        (
            ["hidden_input = true", "[[rules.stricter]]", 'when = { types = ["x"] }', "hidden_input = false"],
            {"types": ["x"]},
            "hidden-input",
        ),
    ],
)
async def test_an_input_stays_hidden_where_a_rule_lets_it(
    ruled: Ruled, lines: list[str], members: dict[str, Any], why: str | None
) -> None:
    """Never that of a grave call, whatever the rule says and whatever the agent calls it."""
    floors = FLOOR.replace("orders.*", "orders.floor")
    h = await ruled(TREASURY, *lines, floors=floors)
    runtime = await h.client()
    response = await runtime.ask(**{"effect": "write", **HIDDEN, **members})
    if why is None:
        assert record(response, 201)["input"] is None
    else:
        assert reason(response) == (403, "FORBIDDEN", why)


async def test_it_takes_as_many_people_as_the_rule_says(ruled: Ruled) -> None:
    """Distinct people of the directory: nobody twice, and nobody from outside."""
    h = await ruled('approvers = { groups = ["treasury"], people = ["zoe"] }', "quorum = 2")
    ann, bob, zoe = await people(h, "ann", "bob", "zoe")
    runtime = await h.client()
    asked = await runtime.asked()
    assert asked["quorum"] == quorum(required=2)
    assert refusal(await zoe.decide(asked)) == (404, "APPROVAL_NOT_FOUND")
    for _ in range(2):
        assert record(await ann.decide(asked))["quorum"] == quorum(required=2, approved=1)
    assert record(await bob.decide(asked))["status"] == "approved"
    record(await runtime.consume(asked, await runtime.token(asked["id"])))


async def test_one_no_is_enough_for_a_no(ruled: Ruled) -> None:
    """Unless the rule says that it takes more."""
    h = await ruled(TREASURY, "quorum = 2", "rejections = 2")
    ann, bob = await people(h, "ann", "bob")
    asked = await (await h.client()).asked()
    assert record(await ann.decide(asked, "reject"))["status"] == "pending"
    assert record(await bob.decide(asked, "reject"))["status"] == "rejected"


STRICTER = """
[[rules.stricter]]
when = { risk = ["high"], actor_kind = ["agent"] }
quorum = 2
[[rules.stricter]]
when = { types = ["bulk"] }
quorum = 3
approvers = { groups = ["treasury"] }
"""


@pytest.mark.parametrize(
    ("members", "required"),
    [
        ({}, 1),
        ({"risk": "high"}, 2),
        ({"risk": "critical"}, 2),
        ({"risk": "critical", "actor": {"id": "eve", "kind": "user"}}, 1),
        ({"types": ["bulk"]}, 3),
        ({"types": ["other", "bulk"], "risk": "high"}, 3),
        ({"capability": "orders.floor", "risk": "low"}, 2),
    ],
)
async def test_what_is_claimed_makes_it_stricter(
    ruled: Ruled, members: dict[str, Any], required: int
) -> None:
    """Each block that applies, for the risk it names and what is above that, floors included."""
    h = await ruled(TREASURY, STRICTER, floors=FLOOR.replace("orders.*", "orders.floor"))
    asked = await (await h.client()).asked(**members)
    assert asked["quorum"]["required"] == required


async def test_the_floor_of_a_kind_is_not_evaded_by_another_kind(ruled: Ruled) -> None:
    """Destructive is no less than external, but where the floor says external, blocks for that apply."""
    block = '[[rules.stricter]]\nwhen = { effect = ["external"] }\nquorum = 3'
    h = await ruled(TREASURY, block, floors=FLOOR)
    for effect in ("none", "external", "destructive"):
        asked = await (await h.client(f"runtime-{effect}")).asked(effect=effect)
        assert asked["quorum"]["required"] == 3


async def test_after_a_time_further_groups_decide(ruled: Ruled, clock: ManualClock) -> None:
    """Not before; and a grant of theirs is used like any other."""
    h = await ruled('approvers = { people = ["ann"] }', 'escalate = { after = "5m", groups = ["cfo"] }')
    runtime, (cy,) = await h.client(), await people(h, "cy")
    asked = await runtime.asked()
    clock.move(299_999)
    assert refusal(await cy.decide(asked)) == (404, "APPROVAL_NOT_FOUND")
    clock.move(1)
    assert record(await cy.decide(asked))["status"] == "approved"
    record(await runtime.consume(asked, await runtime.token(asked["id"])))


async def test_a_fresh_sign_in_is_nothing_a_bearer_can_show(ruled: Ruled) -> None:
    """Saying no needs none."""
    h = await ruled(TREASURY, "step_up = true")
    (ann,) = await people(h, "ann")
    asked = await (await h.client()).asked()
    assert reason(await ann.decide(asked)) == (403, "FORBIDDEN", "channel-not-allowed")
    assert record(await ann.decide(asked, "reject"))["status"] == "rejected"


async def test_a_bridge_is_no_way_into_a_channel_of_our_own(ruled: Ruled) -> None:
    """None can be called so; one that is from before is taken for nothing but itself."""
    h = await ruled(TREASURY, 'channels = ["web"]')
    web = Client(
        tenant="default",
        name="web",
        scopes=frozenset({Scope.DECIDE_AS}),
        people=("ann",),
        max_risk=Risk.HIGH,
    )
    enrolment = h.services.enrolment
    with pytest.raises(EnrolmentRefused, match="Placet's own"):
        await enrolment.create(web)
    bridge = holder(h, "web", (await enrolment._issue(web, expected=b"")).credential)
    asked = await (await h.client()).asked()
    response = await bridge.decide(asked, approver={"id": "ann"})
    assert reason(response) == (403, "FORBIDDEN", "channel-not-allowed")


async def test_a_refusal_is_by_the_rules_of_today(
    ring_directory: Path, clock: ManualClock, tmp_path: Path
) -> None:
    """A replica that has not noticed new rules looks again before it says no."""
    redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
    files = Files(tmp_path, f'[[rules]]\nname = "mail"\ncapabilities = ["mail.*"]\n{TREASURY}')
    async with (
        opened(redis, ring_directory, clock, rules=files.source) as here,
        opened(redis, ring_directory, clock, rules=files.source) as there,
    ):
        runtime = await here.client()
        afar = holder(there, "runtime", runtime.credential)
        assert reason(await afar.ask()) == (403, "FORBIDDEN", "no-rule")
        short = 'expires_in = { max = "1m" }'
        for number, rule in enumerate((short, "")):
            text = f'[[rules]]\nname = "orders"\ncapabilities = ["orders.*"]\n{TREASURY}\n{rule}'
            files.write(text)
            await here.services.activation.reload()
            response = await afar.ask(expires_in_ms=120_000, input=number)
            assert response.status_code == (422 if rule else 201)
