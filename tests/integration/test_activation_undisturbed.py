"""The rules in force, when somebody tampers, something breaks, or two change them at once."""

import asyncio

import pytest

from placet.application.activation import ActivationRefused
from placet.application.enroll import Enrolment, EnrolmentRefused
from placet.application.in_force import InForce
from placet.domain.generation import generation_of
from placet.store.principals import Principals
from tests.activating import MAIL, NO_RULE, PAIR, Replica, at, faults, revision, roll
from tests.harness import Harness, Party, reason, record, refusal
from tests.rulefiles import DIRECTORY, POLICY, Files


async def test_what_is_in_force_is_written_by_us_alone(alone: Replica, files: Files, others: Files) -> None:
    """Made up in the registry, it is refused by every start, for new tenants, and by readiness."""
    h = await alone(files)
    others.write(MAIL)
    await h.redis.hset("placet:registry", "generation", "x" * 43 + others.rulebook.generation.text)
    with pytest.raises(ActivationRefused, match="Delete the field `generation`"):
        await alone(others)
    with pytest.raises(EnrolmentRefused, match="Delete the field `generation`"):
        await h.client(tenant="new")
    assert "not as it was last sealed" in (await faults(h))[0]


async def test_a_roll_s_generation_is_sealed_with_it(alone: Replica, files: Files, others: Files) -> None:
    """Nobody who can only write the store chooses the rules of a tenant."""
    h = await alone(files)
    runtime = await h.client()
    others.write(MAIL)
    for text in (others.rulebook.generation.text, ""):
        await h.redis.hset("{placet:default}:m", "generation", text)
        h.services.directory.forget("default")
        assert refusal(await runtime.ask()) == (500, "INTERNAL_ERROR")


async def test_an_old_word_in_the_registry_brings_no_older_revision_back(
    alone: Replica, files: Files, others: Files
) -> None:
    """The tenants' own rolls are asked too, before files are put in force."""
    files.write(revision(1, POLICY))
    h = await alone(files)
    await h.client()
    old = await h.redis.hget("placet:registry", "generation")
    files.write(revision(2, MAIL))
    await h.services.activation.reload()
    await h.redis.hset("placet:registry", "generation", old)
    others.write(revision(1, POLICY))
    with pytest.raises(ActivationRefused, match="revision 2 is in force"):
        await alone(others)
    await h.services.enrolment.carry("default")
    assert generation_of((await roll(h)).generation).policy.revision == 2  # type: ignore[union-attr]


async def test_a_change_that_was_interrupted_is_finished_by_the_next_start(
    alone: Replica, files: Files, others: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tenants that were not reached are judged by what was before, and answered where that is known."""
    h = await alone(files)
    runtime = await h.client()
    others.write(MAIL)

    async def interrupted(_self: Enrolment, _tenant: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Enrolment, "carry", interrupted)
        with pytest.raises(KeyboardInterrupt):
            await alone(others)
    record(await runtime.ask(), 201)
    there = await alone(others)
    assert reason(await at(there, runtime).ask()) == NO_RULE


async def test_one_spoilt_tenant_is_no_other_s_trouble(
    alone: Replica, files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    """It is left as it is, and told of; the others change."""
    before = await alone()
    await before.client(tenant="spoilt")
    runtime = await before.client()
    await before.redis.hdel("{placet:spoilt}:m", "manifest")
    h = await alone(files)
    assert (await at(h, runtime).asked())["rule"]["name"] == "all"
    assert "a tenant's rules can't be changed" in caplog.messages


async def test_rules_that_changed_are_judged_again_at_consume(alone: Replica, files: Files) -> None:
    """A grant that today's rules would not give is not used, and is kept: mended, it is."""
    h = await alone(files)
    runtime, ann = await h.client(), await h.approver("ann")
    asked = await runtime.asked()
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    hidden = POLICY + 'comment = "always"\n'
    for policy, directory, why in (
        (MAIL, DIRECTORY, "no-rule"),
        (PAIR, DIRECTORY, "quorum-no-longer-met"),
        (hidden, DIRECTORY, "approver-no-longer-entitled"),
        (POLICY + 'channels = ["web"]\n', DIRECTORY, "approver-no-longer-entitled"),
        (
            POLICY.replace('"ann", ', ""),
            DIRECTORY.replace('["treasury"]', '["x"]', 1),
            "approver-no-longer-entitled",
        ),
        (POLICY, DIRECTORY.replace('"ann@example.com"', '"agent-7"'), "approver-no-longer-entitled"),
    ):
        files.write(policy, directory)
        await h.services.activation.reload()
        assert reason(await runtime.consume(asked, token)) == (403, "FORBIDDEN", why)
        assert (await runtime.seen(asked["id"]))["status"] == "approved"
    files.write()
    await h.services.activation.reload()
    record(await runtime.consume(asked, token))


async def test_a_grant_that_is_refused_can_be_cancelled(alone: Replica, files: Files) -> None:
    """By the client that asked."""
    h = await alone(files)
    runtime, ann = await h.client(), await h.approver("ann")
    asked = await runtime.asked()
    record(await ann.decide(asked))
    files.write(MAIL)
    await h.services.activation.reload()
    assert record(await runtime.cancel(asked["id"]))["status"] == "cancelled"


async def test_a_vote_is_judged_by_the_rules_of_its_moment(alone: Replica, files: Files) -> None:
    """A question asked before takes as many people as today's rule says, where that is more."""
    h = await alone(files)
    runtime, ann, bob = await h.client(), await h.approver("ann"), await h.approver("bob")
    asked = await runtime.asked()
    files.write(PAIR)
    await h.services.activation.reload()
    assert record(await ann.decide(asked))["status"] == "pending"
    assert record(await bob.decide(asked))["status"] == "approved"


async def test_the_sweeper_and_commands_need_no_rules(alone: Replica, files: Files, others: Files) -> None:
    """What judges nobody goes on where the files are others."""
    others.write(MAIL)
    first = await alone(files)
    runtime = await first.client()
    asked = await runtime.asked()
    await alone(others)
    await first.services.sweeper.trim()
    assert await first.services.withdraw("default", "runtime") == (asked["id"],)


@pytest.mark.parametrize("numbers", [(0, 0), (1, 2), (2, 1)])
async def test_of_two_starts_at_once_one_wins_everywhere(
    replica: Replica, files: Files, others: Files, numbers: tuple[int, int]
) -> None:
    """The higher revision, where there are some; the other is refused or unready. No tenant is forgotten."""
    tenants = [f"t{number}" for number in range(8)]
    here, there = await replica(), await replica()
    for tenant in tenants:
        await here.client(tenant=tenant)
    found = [(files, POLICY), (others, MAIL)]
    for (each, text), number in zip(found, numbers, strict=True):
        each.write(revision(number, text) if number else text)
    for h, each in ((here, files), (there, others)):
        h.services.activation._rulebooks._source = each.source
    await asyncio.gather(
        here.services.activation.start(), there.services.activation.start(), return_exceptions=True
    )
    held = {generation_of((await roll(here, tenant)).generation).version for tenant in tenants}
    versions = [each.rulebook.generation.version for each in (files, others)]
    assert held == {(await here.services.activation.in_force()).version}
    assert held < set(versions)
    if numbers != (0, 0):
        assert held == {versions[numbers.index(2)]}


async def test_a_tenant_made_while_rules_change_is_not_left_behind(
    alone: Replica, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was in force when it was begun: it is looked at once more when it is there."""
    command = await alone()
    genuine = Enrolment._generation
    activated: list[Harness] = []

    async def late(self: Enrolment) -> str:
        before = await genuine(self)
        if self is command.services.enrolment and not activated:
            activated.append(await alone(files))  # the change comes between looking and writing
        return before

    monkeypatch.setattr(Enrolment, "_generation", late)
    runtime = await command.client(tenant="new")
    there = Party(activated[0].http, "new", "runtime", runtime.credential)
    assert (await there.asked())["rule"]["name"] == "all"


async def test_a_drop_does_not_undo_what_it_has_not_seen(
    alone: Replica, files: Files, others: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other rules that were put in force meanwhile stay."""
    await alone(files)
    others.write(MAIL)
    command = await alone()
    genuine = InForce.text

    async def late(self: InForce) -> str:
        before = await genuine(self)
        monkeypatch.setattr(InForce, "text", genuine)
        await alone(others)
        return before

    monkeypatch.setattr(InForce, "text", late)
    with pytest.raises(ActivationRefused, match="put in force meanwhile"):
        await command.services.activation.drop()
    assert await command.services.activation.in_force() == others.rulebook.generation


async def test_a_tenant_that_never_rests_is_left_after_a_while(
    alone: Replica, files: Files, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start goes on, and the next one tries again."""
    h = await alone()
    runtime = await h.client()

    async def never(*_: object, **__: object) -> bool:
        return False

    with monkeypatch.context() as patched:
        patched.setattr(Principals, "enroll", never)
        await alone(files)
    assert "a tenant's rules can't be changed" in caplog.messages
    there = await alone(files)
    assert (await at(there, runtime).asked())["rule"]["name"] == "all"


async def test_a_drop_tells_which_tenant_it_could_not_change(alone: Replica, files: Files) -> None:
    """All others are changed."""
    h = await alone(files)
    runtime = await h.client()
    await h.client(tenant="a-spoilt-one")
    await h.redis.hdel("{placet:a-spoilt-one}:m", "manifest")
    command = await alone()
    with pytest.raises(ActivationRefused, match="'a-spoilt-one' in the store are not as they were"):
        await command.services.activation.drop()
    bare = await alone()
    assert (await at(bare, runtime).asked())["rule"]["name"] == "built-in"
