"""People who come with the token of an OIDC issuer: what they may do, and what they may not."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from redis.asyncio import Redis

from tests.factories import T0_MS, ManualClock
from tests.harness import Harness, Party, holder, opened, reason, record, refusal
from tests.issuer import T0_S, Server, a_key, serving
from tests.ruled import EDITABLE, LESS
from tests.rulefiles import Files

NOBODY = (401, "UNAUTHENTICATED")
NOT_AN_APPROVER = (403, "FORBIDDEN", "not-an-approver")
HIDDEN = (404, "APPROVAL_NOT_FOUND")
SELF = (403, "APPROVAL_SELF_APPROVAL")
LOST = (403, "FORBIDDEN", "approver-no-longer-entitled")

POLICY = """
[[rules]]
name = "two"
capabilities = ["payments.*"]
tenants = ["default"]
approvers = { groups = ["ops"] }
quorum = 2

[[rules]]
name = "lists"
capabilities = ["lists.*"]
tenants = ["default"]
approvers = { groups = ["ops"] }
quorum = 2
rejections = 2

[[rules]]
name = "edits"
capabilities = ["drafts.*"]
approvers = { groups = ["guests"] }
edit = "yes"

[[rules]]
name = "all"
capabilities = ["*"]
approvers = { groups = ["ops", "guests"] }
"""
DIRECTORY = """
[issuers."{ours}"]
audience = "placet"
groups_claim = "groups"

[issuers."{theirs}"]
tenant = "abroad"
audience = "placet"
groups_claim = "groups"

[[people]]
id = "ann"
name = "Ann Marsh"
groups = ["ops"]
aliases = ["ann@x.example"]
oidc = [{{ iss = "{ours}", sub = "u-1" }}]

[[people]]
id = "bob"
groups = ["ops"]

[[people]]
id = "cy"
groups = ["ops"]

[[people]]
id = "zed"
tenant = "abroad"
groups = ["ops"]
oidc = [{{ iss = "{theirs}", sub = "u-1" }}]
"""


class Scene:
    """A service, its files, and two issuers that each publish a key."""

    def __init__(self, h: Harness, files: Files, ours: Server, theirs: Server) -> None:
        self.h = h
        self.files = files
        self.ours = ours
        self.theirs = theirs

    def bearer(self, sub: str = "u-1", server: Server | None = None, **changes: Any) -> Party:
        """Somebody with a good token, of our issuer where no other is named."""
        return self.holder((server or self.ours).token(sub=sub, **changes))

    def holder(self, token: str) -> Party:
        """Somebody with this token."""
        return holder(self.h, "bearer", token)

    async def rotated(self, name: str) -> Party:
        """An approver with a second credential."""
        issued = await self.h.services.enrolment.rotate("default", f"approver:{name}")
        return self.holder(issued.credential)

    async def rewritten(self, directory: str) -> None:
        """Another directory is put in force."""
        self.files.write(POLICY, directory.format(ours=self.ours.url, theirs=self.theirs.url))
        await self.h.services.activation.reload()


@pytest.fixture
async def scene(
    client: Redis, ring_directory: Path, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[Scene]:
    """The stage of every test here, over a store of every kind in turn."""
    async with serving() as ours, serving() as theirs:
        ours.publish(a_key())
        theirs.publish(a_key(number=1))
        files = Files(tmp_path, POLICY, DIRECTORY.format(ours=ours.url, theirs=theirs.url))
        async with opened(client, ring_directory, clock, rules=files.source) as h:
            await h.client("runtime", tenant="abroad")
            yield Scene(h, files, ours, theirs)


async def test_a_person_of_the_directory_decides_with_a_token(scene: Scene) -> None:
    """The record names them as the directory does, over the API; what they granted is consumed."""
    runtime, ann = await scene.h.client(), scene.bearer()
    asked = await runtime.asked()
    assert (await ann.seen(asked["id"]))["digest"] == asked["digest"]
    approved = record(await ann.decide(asked))
    decision = approved["decisions"][0]
    assert approved["status"] == "approved"
    assert decision["approver"] == {"id": "ann", "display_name": "Ann Marsh"}
    assert (decision["channel"], decision["submitted_by"]) == ("api", None)
    assert "vouched" not in decision
    token = await runtime.token(asked["id"])
    assert record(await runtime.consume(asked, token))["status"] == "consumed"
    assert (await ann.trail(asked["id"])).json()["items"][1]["by"] == "ann"
    assert scene.ours.asked == ["/.well-known/openid-configuration", "/keys"]


async def test_a_person_counts_once_whichever_way_they_come(scene: Scene) -> None:
    """By token and by credential: the same vote; two people are two."""
    runtime, ann, also_ann = await scene.h.client(), scene.bearer(), await scene.h.approver("ann")
    asked = await runtime.asked(capability="payments.send")
    for _ in range(2):
        for who in (ann, also_ann):
            pending = record(await who.decide(asked))
            assert (pending["status"], pending["quorum"]["approved"]) == ("pending", 1)
    bob = await scene.h.approver("bob")
    assert record(await bob.decide(asked))["status"] == "approved"


async def test_whoever_could_be_another_person_does_not_count_among_several(scene: Scene) -> None:
    """The issuer calls Ann by Bob's name too."""
    runtime, ann = await scene.h.client(), scene.bearer(preferred_username="BOB")
    asked = await runtime.asked(capability="payments.send")
    assert reason(await ann.decide(asked)) == NOT_AN_APPROVER
    assert record(await ann.decide(await runtime.asked()))["status"] == "approved"


@pytest.mark.parametrize("claims", [{"sub": "zoe"}, {"sub": "u-9", "preferred_username": "ZOE"}])
async def test_one_person_with_a_token_and_a_credential_is_not_two(scene: Scene, claims: Any) -> None:
    """Neither changes what the other approves; a no is anybody's."""
    runtime, by_token = await scene.h.client(), scene.bearer(groups=["guests"], **claims)
    zoe = await scene.h.approver("zoe", groups=("guests",))
    for first, second in ((by_token, zoe), (zoe, by_token)):
        asked = await runtime.asked(capability="drafts.send", **EDITABLE)
        changed = record(await first.decide(asked, "edit", input=LESS))
        assert reason(await second.decide(changed)) == NOT_AN_APPROVER
        assert record(await second.decide(changed, "reject"))["status"] == "rejected"


@pytest.mark.parametrize(
    ("claims", "actor"),
    [
        ({}, "ann@x.example"),
        ({"email": "a.marsh@x.example"}, "A.Marsh@X.example"),
        ({"preferred_username": "amarsh"}, "AMARSH"),
        ({"email": "bob@elsewhere", "upn": "bob"}, "bob"),
        ({}, "u-1"),
        ({"sub": "u-2", "groups": ["guests"], "email": "cy@x.example"}, "cy@x.example"),
        ({"sub": "u-2", "groups": ["guests"], "email": "ann@x.example"}, "ann"),
    ],
)
async def test_nobody_approves_their_own(scene: Scene, claims: dict[str, Any], actor: str) -> None:
    """B74: under whatever name the issuer or the directory has for them; rejecting it is theirs."""
    runtime, person = await scene.h.client(), scene.bearer(**claims)
    for how in ({"id": actor, "kind": "user"}, {"id": "a", "kind": "agent", "on_behalf_of": [actor]}):
        asked = await runtime.asked(actor=how)
        assert refusal(await person.decide(asked)) == SELF
        assert record(await person.decide(asked, "reject"))["status"] == "rejected"


async def test_a_stranger_s_groups_count_for_a_quarter_of_an_hour(scene: Scene) -> None:
    """Then the same token opens nothing; what was decided with it stands."""
    runtime = await scene.h.client()
    guest = scene.bearer("u-2", groups=["guests"], name="Gus", exp=T0_S + 3_600)
    first, second = await runtime.asked(expires_in_ms=3_600_000), await runtime.asked(input=2)
    approved = record(await guest.decide(first))
    person = approved["decisions"][0]["approver"]
    assert (person["id"][:5], len(person["id"]), person["display_name"]) == ("oidc:", 37, "Gus")
    scene.h.clock.move(900_000)
    assert record(await guest.read(second["id"]))["status"] == "pending"
    scene.h.clock.move(1)
    assert refusal(await guest.read(second["id"])) == HIDDEN
    assert (await guest.list()).json()["items"][0]["id"] == first["id"]
    token = await runtime.token(first["id"])
    assert record(await runtime.consume(first, token))["status"] == "consumed"


async def test_a_stranger_without_a_group_sees_nothing(scene: Scene) -> None:
    """A good token is no right."""
    runtime, guest = await scene.h.client(), scene.bearer("u-2")
    asked = await runtime.asked()
    assert refusal(await guest.decide(asked)) == HIDDEN
    assert record(await guest.list())["items"] == []
    assert reason(await guest.ask())[:2] == (403, "FORBIDDEN")


async def test_another_tenant_s_issuer_opens_nothing_here(scene: Scene) -> None:
    """Its people are of its tenant, whatever groups they are in there, and whoever has the same subject."""
    runtime, zed = await scene.h.client(), scene.bearer(server=scene.theirs, groups=["ops"], tenant="default")
    scene.theirs.publish(a_key())  # and were its key the same
    asked = await runtime.asked()
    for response in (await zed.read(asked["id"]), await zed.decide(asked), await zed.trail(asked["id"])):
        assert refusal(response) == HIDDEN
    assert record(await zed.list())["items"] == []
    there = await scene.h.client("another", tenant="abroad")
    assert record(await zed.decide(await there.asked()))["tenant"] == "abroad"


async def test_a_token_of_one_issuer_is_not_taken_for_the_other_s(scene: Scene) -> None:
    """Signed with our issuer's key it names theirs, and the other way round."""
    await scene.h.client()
    assert refusal(await scene.bearer(key=a_key(number=1)).list()) == NOBODY
    assert refusal(await scene.bearer(server=scene.theirs).list()) == NOBODY
    assert record(await scene.bearer(server=scene.theirs, key=a_key(number=1)).list())["items"] == []


async def test_a_bad_token_is_the_one_401(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever is wrong with it; the log has the word for it and no piece of it."""
    caplog.set_level(logging.INFO)
    await scene.h.client()
    good = await scene.bearer().list()
    assert good.status_code == 200
    bad = {
        "audience": scene.ours.token(aud="other"),
        "type": scene.ours.token(header={"typ": ...}),
        "expired": scene.ours.token(iat=T0_S - 900, exp=T0_S - 6),
        "machine": scene.ours.token(azp="u-1"),
        "delegated": scene.ours.token(act={"sub": "agent-7"}),
        "signature": scene.ours.token(a_key(number=1)),
        "unknown-key": scene.ours.token(a_key(kid="k2")),
        None: "e30.e30.e30",
    }
    answers = {word: await scene.holder(token).list() for word, token in bad.items()}
    assert {refusal(answer) for answer in answers.values()} == {NOBODY}
    bodies = {answer.text for answer in answers.values()}
    assert len(bodies) == 1
    told = [line.__dict__["reason"] for line in caplog.records if line.message == "a token was refused"]
    assert told == [word for word in bad if word]
    everything = "".join(str(line.__dict__) for line in caplog.records)
    pieces = {piece for token in bad.values() for piece in token.split(".") if len(piece) > 4}
    assert not any(piece in everything for piece in pieces)


async def test_a_token_dies_while_it_is_used(scene: Scene) -> None:
    """B61, B62: five seconds after its end at the latest."""
    await scene.h.client()
    ann = scene.bearer(exp=T0_S + 60)
    scene.h.clock.move(64_999)
    assert (await ann.list()).status_code == 200
    scene.h.clock.move(1)
    assert refusal(await ann.list()) == NOBODY


async def test_an_issuer_that_is_down_is_no_verdict(scene: Scene) -> None:
    """503 with a time to come again at; everybody else is served, and tokens are again once it is back."""
    runtime, bob = await scene.h.client(), await scene.h.approver("bob")
    documents = scene.ours.documents
    scene.ours.documents = {}
    response = await scene.bearer().list()
    assert refusal(response) == (503, "ISSUER_UNAVAILABLE")
    assert (response.headers["retry-after"], response.json()["retryable"]) == ("10", True)
    assert response.json()["model"]["code"] == "INTERNAL_ERROR"
    asked = await runtime.asked()
    for other in (bob, scene.bearer(server=scene.theirs, key=a_key(number=1))):
        assert (await other.list()).status_code == 200
    scene.ours.documents = documents
    scene.h.clock.move(10_000)
    assert record(await scene.bearer(iat=T0_S + 9).decide(asked))["status"] == "approved"


async def test_rotated_keys_are_taken_up(scene: Scene) -> None:
    """The new one at once, made-up ones not more than once a minute, the old one no more."""
    await scene.h.client()
    old = scene.bearer(exp=T0_S + 7_200)
    assert (await old.list()).status_code == 200
    scene.ours.publish(a_key(kid="k2", number=2))
    scene.h.clock.move(60_000)
    assert (await scene.bearer(key=a_key(kid="k2", number=2)).list()).status_code == 200
    for number in range(20):
        assert refusal(await scene.bearer(key=a_key(kid=f"x{number}")).list()) == NOBODY
    assert refusal(await old.list()) == NOBODY
    assert len(scene.ours.asked) == 4


async def test_the_directory_holds_at_once(scene: Scene) -> None:
    """Who is taken out of it is a stranger at the next call, and their votes are worth nothing."""
    runtime, ann = await scene.h.client(), scene.bearer()
    first, second = await runtime.asked(), await runtime.asked(input=2)
    record(await ann.decide(first))
    token = await runtime.token(first["id"])
    await scene.rewritten(DIRECTORY.replace('"{ours}", sub = "u-1"', '"{ours}", sub = "u-3"'))
    assert refusal(await ann.decide(second)) == HIDDEN
    assert reason(await runtime.consume(first, token)) == LOST
    back = scene.bearer("u-3")
    assert record(await back.decide(second))["decisions"][0]["approver"]["id"] == "ann"


async def test_an_issuer_that_is_taken_out_lets_nobody_in(scene: Scene) -> None:
    """Nor do votes count that came by it."""
    runtime, guest = await scene.h.client(), scene.bearer("u-2", groups=["guests"])
    asked = await runtime.asked()
    record(await guest.decide(asked))
    token = await runtime.token(asked["id"])
    other = DIRECTORY.replace('oidc = [{{ iss = "{ours}", sub = "u-1" }}]', "").replace(
        '[issuers."{ours}"]', '[issuers."https://id.example"]'
    )
    await scene.rewritten(other)
    assert refusal(await guest.list()) == NOBODY
    assert reason(await runtime.consume(asked, token)) == LOST


async def test_an_authoritative_issuer_s_verified_address_leads_to_a_person(scene: Scene) -> None:
    """Where it is declared so, and says so; a person whom it knows otherwise is not meant."""
    runtime = await scene.h.client()
    bob: dict[str, Any] = {"sub": "u-4", "email": "bob", "email_verified": True}
    asked = await runtime.asked()
    assert refusal(await scene.bearer(**bob).decide(asked)) == HIDDEN
    await scene.rewritten(DIRECTORY.replace('"placet"\n', '"placet"\nemail_authoritative = true\n', 1))
    assert refusal(await scene.bearer(**{**bob, "email_verified": "true"}).decide(asked)) == HIDDEN
    assert refusal(await scene.bearer(**{**bob, "email": "ann@x.example"}).decide(asked)) == HIDDEN
    decided = record(await scene.bearer(**bob).decide(asked))
    assert decided["decisions"][0]["approver"]["id"] == "bob"


async def test_an_issuer_of_a_tenant_that_there_is_not_lets_nobody_in(scene: Scene) -> None:
    """Its tokens are as good as any; there is nobody to be among."""
    await scene.rewritten(DIRECTORY.replace('tenant = "abroad"', 'tenant = "nowhere"'))
    zed = scene.bearer(server=scene.theirs, key=a_key(number=1))
    assert refusal(await zed.list()) == NOBODY
    assert scene.theirs.asked == []


async def test_a_credential_is_no_token_and_a_token_no_credential(scene: Scene) -> None:
    """B58: an approval token of ours opens nothing as a bearer."""
    runtime, ann = await scene.h.client(), scene.bearer()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    assert refusal(await scene.holder(token).list()) == NOBODY
    response = await runtime.consume(asked, scene.ours.token())
    assert refusal(response) == (403, "APPROVAL_TOKEN_INVALID")


async def test_without_rules_strangers_decide_nothing(ring_directory: Path, tmp_path: Path) -> None:
    """The built-in rule lets any approver decide; that is not whoever an issuer gives tokens to."""
    async with serving() as ours:
        ours.publish(a_key())
        files = Files(tmp_path, None, DIRECTORY.format(ours=ours.url, theirs="https://id.example"))
        redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
        async with opened(redis, ring_directory, ManualClock(T0_MS), rules=files.source) as h:
            runtime = await h.client()
            asked = await runtime.asked()
            stranger = holder(h, "x", ours.token(sub="u-2", groups=["ops"]))
            assert refusal(await stranger.decide(asked)) == HIDDEN
            assert record(await holder(h, "x", ours.token()).decide(asked))["status"] == "approved"


async def test_who_was_taken_out_of_the_directory_is_no_stranger_to_their_own_change(scene: Scene) -> None:
    """They changed the input with a credential of theirs, and come by their token."""
    runtime, ann, bob = await scene.h.client(), await scene.h.approver("ann"), await scene.h.approver("bob")
    asked = await runtime.asked(capability="drafts.send", **EDITABLE)
    everybody = DIRECTORY.replace('groups = ["ops"]', 'groups = ["ops", "guests"]')
    await scene.rewritten(everybody)
    changed = record(await ann.decide(asked, "edit", input=LESS))
    without = everybody.replace('oidc = [{{ iss = "{ours}", sub = "u-1" }}]', "").replace('"ann"', '"anna"')
    await scene.rewritten(without)
    assert reason(await scene.bearer(groups=["guests"]).decide(changed)) == NOT_AN_APPROVER
    assert record(await bob.decide(changed))["status"] == "approved"


class TestLinks:
    """A person who comes by two ways, whose link is changed while a question waits."""

    LINKED = 'oidc = [{{ iss = "{ours}", sub = "u-1" }}]'

    async def said_yes_and_no(self, scene: Scene) -> tuple[Party, dict[str, Any]]:
        """Ann approves with her credential and rejects with her token; then nobody knows whose that is."""
        runtime, ann = await scene.h.client(), await scene.h.approver("ann")
        asked = await runtime.asked(capability="lists.send")
        record(await ann.decide(asked))
        said_no = record(await scene.bearer().decide(asked, "reject"))
        assert (said_no["quorum"]["approved"], said_no["quorum"]["rejected"]) == (0, 1)
        await scene.rewritten(DIRECTORY.replace(self.LINKED, ""))
        return runtime, asked

    async def test_what_was_taken_back_does_not_come_back(self, scene: Scene) -> None:
        """Her no counts no more, and nor does her yes before it: others decide, and it stays readable."""
        runtime, asked = await self.said_yes_and_no(scene)
        seen = await runtime.seen(asked["id"])
        assert [vote["counts"] for vote in seen["decisions"]] == [False, False]
        bob = await scene.h.approver("bob")
        voted = record(await bob.decide(asked))
        assert (voted["status"], voted["quorum"]["approved"]) == ("pending", 1)
        cy = await scene.h.approver("cy")
        record(await cy.decide(asked))
        token = await runtime.token(asked["id"])
        claims = jwt.decode(token, options={"verify_signature": False})
        assert [each["id"] for each in claims["apr"]] == ["bob", "cy"]
        assert record(await runtime.consume(asked, token))["status"] == "consumed"

    async def test_she_says_it_anew(self, scene: Scene) -> None:
        """With what counts."""
        runtime, asked = await self.said_yes_and_no(scene)
        ann, bob = await scene.rotated("ann"), await scene.h.approver("bob")
        record(await ann.decide(asked))
        assert record(await bob.decide(asked))["status"] == "approved"
        record(await runtime.consume(asked, await runtime.token(asked["id"])))
