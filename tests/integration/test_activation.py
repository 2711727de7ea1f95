"""The rules in force: put in force for everybody at once, on every replica, or not at all."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from msgspec import structs
from redis.asyncio import Redis

from placet.application.activation import ActivationRefused
from placet.application.enroll import Enrolment, EnrolmentRefused
from placet.application.in_force import InForce
from placet.domain.generation import generation_of
from placet.settings.rule_files import RulesInvalid
from placet.store.principals import Principals, Roll
from tests.factories import ManualClock
from tests.harness import Harness, Party, holder, opened, reason, record, refusal
from tests.rulefiles import DIRECTORY, POLICY, Files

UNAVAILABLE = (503, "STORE_UNAVAILABLE")
NO_RULE = (403, "FORBIDDEN", "no-rule")
MAIL = POLICY.replace('"*"', '"mail.*"')
"""Rules under which no order is refunded."""
PAIR = POLICY + "quorum = 2\n"

Replica = Callable[..., Awaitable[Harness]]


def revision(number: int, text: str) -> str:
    """A file with a revision."""
    return f"revision = {number}\n{text}"


@pytest.fixture
async def replica(client: Redis, ring_directory: Path, clock: ManualClock) -> AsyncIterator[Replica]:
    """Starts replicas over one store of every kind; without files where none are given."""
    async with AsyncExitStack() as exits:

        async def start(files: Files | None = None) -> Harness:
            rules = None if files is None else files.source
            return await exits.enter_async_context(opened(client, ring_directory, clock, rules=rules))

        yield start


@pytest.fixture
async def alone(ring_directory: Path, clock: ManualClock) -> AsyncIterator[Replica]:
    """The same over one fake store."""
    redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
    async with AsyncExitStack() as exits:

        async def start(files: Files | None = None) -> Harness:
            rules = None if files is None else files.source
            return await exits.enter_async_context(opened(redis, ring_directory, clock, rules=rules))

        yield start


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """The files of one replica."""
    return Files(tmp_path)


@pytest.fixture
def others(tmp_path: Path) -> Files:
    """Those of another one."""
    folder = tmp_path / "other"
    folder.mkdir()
    return Files(folder)


async def roll(h: Harness, tenant: str = "default") -> Roll:
    """What the store has of a tenant."""
    return structs.replace((await h.services.directory.roll(tenant))[0], now_ms=0)


async def faults(h: Harness) -> list[str]:
    """Why the replica is not ready."""
    return await h.services.readiness.faults()


def at(h: Harness, party: Party) -> Party:
    """The same one, before another replica."""
    return holder(h, party.name, party.credential)


async def test_a_start_puts_its_files_in_force(replica: Replica, files: Files) -> None:
    """For every tenant there is, with its epoch; a start with the same files changes nothing more."""
    before = await replica()
    runtime = await before.client()
    await before.client(tenant="other")
    epochs = [(await roll(before, tenant)).epoch for tenant in ("default", "other")]
    h = await replica(files)
    held = [await roll(h, tenant) for tenant in ("default", "other")]
    assert all(each.epoch > epoch for each, epoch in zip(held, epochs, strict=True))
    assert {generation_of(each.generation).version for each in held} == {files.rulebook.generation.version}
    asked = await at(h, runtime).asked()
    assert asked["rule"] == {"name": "all", "policy": files.rulebook.generation.version}
    again = await replica(files)
    assert await roll(again) == held[0]
    assert await faults(again) == []


async def test_without_files_nothing_is_changed(alone: Replica) -> None:
    """No replica has any, so rolls are as they were."""
    h = await alone()
    await h.client()
    before = await roll(h)
    await h.services.activation.start()
    assert (await roll(h), before.generation) == (before, "")


async def test_a_new_tenant_begins_with_what_is_in_force(replica: Replica, files: Files) -> None:
    """Also where it is entered by a command that has no files."""
    h, command = await replica(files), await replica()
    runtime = await command.client(tenant="new")
    there = Party(h.http, "new", "runtime", runtime.credential)
    assert (await there.asked())["rule"]["name"] == "all"
    assert (await command.services.directory.snapshot("new")).rules is None


async def test_a_tenant_that_was_removed_begins_anew_with_it(alone: Replica, files: Files) -> None:
    """Nothing of it is left, so it is a new one."""
    h = await alone(files)
    for _ in range(2):
        assert (await (await h.client()).asked())["rule"]["name"] == "all"
        await h.services.store.registry.remove_tenant("default")


async def test_files_read_again_hold_at_once(replica: Replica, files: Files) -> None:
    """On the replica that was told, and on the others that have the same files, which were told nothing."""
    here, there = await replica(files), await replica(files)
    runtime = await here.client()
    for number, h in enumerate((here, there)):
        record(await at(h, runtime).ask(input=number), 201)
    files.write(MAIL)
    record(await runtime.ask(input="written, but not yet read"), 201)
    await here.services.activation.reload()
    for h in (there, here):
        assert reason(await at(h, runtime).ask()) == NO_RULE
        assert await faults(h) == []


async def test_a_replica_with_other_files_answers_nothing(
    replica: Replica, files: Files, others: Files
) -> None:
    """It says why it is not ready, and goes on by itself once the files in force are its own."""
    here, there = await replica(files), await replica(others)
    runtime = await here.client()
    record(await at(there, runtime).ask(), 201)
    files.write(MAIL)
    await here.services.activation.reload()
    for _ in range(2):
        assert refusal(await at(there, runtime).ask()) == UNAVAILABLE
    (fault,) = await faults(there)
    version = files.rulebook.generation.version[:12]
    assert fault.startswith(f"Requests are judged by the rules of version {version}…, and this replica has")
    assert fault.endswith("install the same files here, and send it SIGHUP or start it again.")
    assert reason(await runtime.ask()) == NO_RULE
    others.write(MAIL)
    assert reason(await at(there, runtime).ask()) == NO_RULE
    assert await faults(there) == []


async def test_a_replica_without_files_answers_nothing_where_there_are_some(
    replica: Replica, files: Files
) -> None:
    """A built-in rule in place of the operator's would be a hole."""
    there = await replica()
    await there.services.activation.start()
    runtime = await there.client()
    record(await runtime.ask(), 201)
    await replica(files)
    assert refusal(await runtime.ask()) == UNAVAILABLE
    assert "this replica has no files" in (await faults(there))[0]


async def test_a_start_without_files_is_refused_where_there_are_some(alone: Replica, files: Files) -> None:
    """A variable was forgotten; what to do is said. The same for one of the two."""
    await alone(files)
    bare = await alone()
    with pytest.raises(ActivationRefused, match="set PLACET_POLICY_FILE to it; or take all files out"):
        await bare.services.activation.start()
    files.write(POLICY, None)
    with pytest.raises(ActivationRefused, match="set PLACET_DIRECTORY_FILE"):
        await alone(files)


async def test_an_older_revision_takes_nothing_back(alone: Replica, files: Files, others: Files) -> None:
    """At a start it is refused; read again, the rules in force stay."""
    files.write(revision(7, POLICY))
    others.write(revision(6, MAIL))
    h = await alone(files)
    runtime = await h.client()
    with pytest.raises(ActivationRefused, match=r"is revision 6, and revision 7 .* write revision = 8"):
        await alone(others)
    files.write(revision(6, MAIL))
    await h.services.activation.reload()
    record(await runtime.ask(), 201)
    assert await faults(h) == []
    files.write(revision(8, MAIL))
    await h.services.activation.reload()
    assert reason(await runtime.ask()) == NO_RULE


async def test_a_revision_means_one_content(
    alone: Replica, files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    """Of either file."""
    files.write(POLICY, revision(3, DIRECTORY))
    h = await alone(files)
    files.write(POLICY, revision(3, DIRECTORY) + "# changed\n")
    await h.services.activation.reload()
    assert "The directory file here differs" in caplog.records[-1].__dict__["fault"]
    with pytest.raises(ActivationRefused, match=r"both are revision 3: .* write revision = 4"):
        await alone(files)


async def test_a_revision_is_taken_off_nowhere(alone: Replica, files: Files) -> None:
    """A file without one is older than every file with one."""
    files.write(revision(1, POLICY))
    await alone(files)
    files.write(POLICY)
    with pytest.raises(ActivationRefused, match="is revision 0, and revision 1"):
        await alone(files)


async def test_without_revisions_the_last_start_counts(alone: Replica, files: Files, others: Files) -> None:
    """The first replica is unready then, and says so."""
    others.write(MAIL)
    first = await alone(files)
    runtime = await first.client()
    second = await alone(others)
    assert reason(await at(second, runtime).ask()) == NO_RULE
    assert refusal(await runtime.ask()) == UNAVAILABLE
    assert len(await faults(first)) == 1
    await first.services.activation.reload()
    record(await runtime.ask(), 201)
    assert await faults(first) == []


async def test_a_broken_file_changes_nothing_that_runs(
    alone: Replica, files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    """Every fault goes to the log with its line; the replica judges on by what is in force, and is ready."""
    h = await alone(files)
    runtime = await h.client()
    files.write(POLICY + "quorom = 2\nrejections = 0\n")
    with caplog.at_level(logging.INFO):
        await h.services.activation.reload()
    told = [
        (each.__dict__["line"], each.__dict__["fault"]) for each in caplog.records if "line" in each.__dict__
    ]
    assert told == [
        (6, "A rule has no 'quorom'; did you mean 'quorum'?"),
        (7, "rejections must be 1 to 100."),
    ]
    assert caplog.messages[-1] == "the rules in force stay: the files can't be used"
    record(await runtime.ask(), 201)
    assert await faults(h) == []
    with pytest.raises(RulesInvalid):
        await alone(files)


async def test_rules_are_dropped_by_an_operator_alone(alone: Replica, files: Files) -> None:
    """Then the built-in one holds again, on replicas without files; those with files don't answer."""
    h = await alone(files)
    runtime = await h.client()
    command = await alone()
    await command.services.activation.drop()
    assert refusal(await runtime.ask()) == UNAVAILABLE
    bare = await alone()
    await bare.services.activation.start()
    assert (await at(bare, runtime).asked())["rule"] == {"name": "built-in", "policy": None}
    await h.services.activation.reload()
    assert (await runtime.asked(input=2))["rule"]["name"] == "all"


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
