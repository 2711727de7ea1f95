"""The rules in force: put in force for everybody at once, on every replica, or not at all."""

import logging

import pytest

from placet.application.activation import ActivationRefused
from placet.domain.generation import generation_of
from placet.settings.rule_files import RulesInvalid
from tests.activating import MAIL, NO_RULE, UNAVAILABLE, Replica, at, faults, revision, roll
from tests.harness import Party, reason, record, refusal
from tests.rulefiles import DIRECTORY, POLICY, Files


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


async def test_before_it_begins_nobody_is_judged(
    alone: Replica, files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    """By the files here neither; the log says what is missing, which is no fault of this replica's."""
    h = await alone(files)
    assert (await h.services.directory.snapshot("default")).rules is None
    assert caplog.messages[-1] == "a tenant has neither client nor approver yet"
    await h.client()
    assert (await h.services.directory.snapshot("default")).rules is not None


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


async def test_without_files_there_is_nothing_to_read_again(
    replica: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    """Which is said, for whoever asked for it and sees nothing change."""
    h = await replica()
    await h.services.activation.start()
    with caplog.at_level(logging.INFO):
        await h.services.activation.reload()
    assert [each.getMessage() for each in caplog.records if "rule" in each.getMessage()] == [
        "there are no rule files to read again"
    ]


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
