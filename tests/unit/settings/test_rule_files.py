"""Both files together: read whole or not at all, whatever bytes they are."""

import os
from pathlib import Path

import pytest

from placet.domain.canonical import sha256_hex
from placet.domain.limits import Limits
from placet.settings.rule_files import FILE_MAX_BYTES, Problem, RulesAt, RulesInvalid, load
from tests.rulefiles import DIRECTORY, POLICY, Files

DEPLOY = Path(__file__).parents[3] / "deploy"


def refused(files: Files) -> str:
    """The one fault there is."""
    (problem,) = files.problems()
    return problem


def test_the_examples_are_right() -> None:
    """Nothing about them is even doubtful."""
    found = load(DEPLOY / "policy.example.toml", DEPLOY / "directory.example.toml", Limits())
    assert found.warnings == ()
    assert found.rulebook.policies is not None
    assert [rule.name for rule in found.rulebook.policies.rules] == ["payments", "deploys", "own-notes"]


def test_files_are_named_by_their_bytes(files: Files) -> None:
    """Each, and both together."""
    generation = files.rulebook.generation
    assert generation.policy is not None
    assert generation.policy.sha256 == sha256_hex(POLICY.encode())
    assert files.rulebook.policies is not None
    assert files.rulebook.policies.version == generation.version
    files.write(POLICY + "# another\n")
    assert files.rulebook.generation.version != generation.version


def test_without_files_there_is_nothing() -> None:
    """And nothing wrong."""
    found = load(None, None, Limits()).rulebook
    assert (found.policies, found.people.members, found.generation.text) == (None, (), "")


def test_a_file_that_is_not_there(files: Files) -> None:
    """Is told without a line."""
    source = files.source
    files.policy.unlink()
    with pytest.raises(RulesInvalid) as caught:
        source.read()
    assert files.told(caught.value.problems) == [
        "policy.toml: The policy file can't be read (No such file or directory)."
    ]


def test_a_directory_in_place_of_a_file(tmp_path: Path) -> None:
    """Is told too."""
    with pytest.raises(RulesInvalid, match="can't be read"):
        load(tmp_path, None, Limits())


def test_bytes_that_are_no_text(files: Files) -> None:
    """With the line where they stand."""
    files.policy.write_bytes(POLICY.encode() + b'# \xff\nx = "\n')
    assert refused(files) == "policy.toml:6: It is not UTF-8 here: save the file as UTF-8."


def test_a_mark_at_the_beginning_is_forgiven(files: Files) -> None:
    """Some editors write one."""
    files.policy.write_bytes(b"\xef\xbb\xbf" + POLICY.encode())
    assert files.problems() == []


def test_a_file_that_is_too_large(files: Files) -> None:
    """Is not read to its end."""
    files.policy.write_bytes(b"#" * (FILE_MAX_BYTES + 1))
    assert refused(files) == f"policy.toml: A policy file has {FILE_MAX_BYTES} bytes at most."


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 5_000 + "]" * 5_000, "x = " + "{a=" * 5_000 + "1" + "}" * 5_000]
)
def test_a_file_that_is_too_deep(files: Files, text: str) -> None:
    """Is refused, and is no reason to fall over."""
    files.write(text)
    assert refused(files) == "policy.toml:1: It is nested too deeply."


def test_a_number_of_too_many_digits(files: Files) -> None:
    """Python does not read it; nor do we fall over it."""
    files.write("x = " + "9" * 5_000)
    assert refused(files) == "policy.toml:1: A number has too many digits: write a shorter one."


def test_files_that_are_exchanged_are_told_once(files: Files) -> None:
    """Not by all that a policy lacks that is a directory, and the other way round."""
    files.write(DIRECTORY, POLICY)
    assert refused(files) == (
        "policy.toml:2: This is a directory file, and the directory file is a policy file: exchange the two."
    )


def test_a_directory_in_place_of_a_policy(files: Files) -> None:
    """Says where it belongs, beside another directory or none."""
    for directory in (None, DIRECTORY):
        files.write('[issuers."https://login.example"]\naudience = "placet"\n' + DIRECTORY, directory)
        assert refused(files) == (
            "policy.toml:1: This is a directory file: give it as one (--directory or PLACET_DIRECTORY_FILE), "
            "and the policy in its place."
        )


def test_a_policy_in_place_of_a_directory(files: Files) -> None:
    """Likewise; the rules of the other one are not held against it."""
    for policy in (None, POLICY.replace("treasury", "nobody")):
        files.write(policy, POLICY)
        assert refused(files) == (
            "directory.toml:2: This is a policy file: give it as one (PLACET_POLICY_FILE), and the directory "
            "in its place."
        )


def test_a_file_of_both_kinds_is_of_its_own(files: Files) -> None:
    """What it has of the other is unknown there."""
    files.write(POLICY + DIRECTORY, DIRECTORY)
    assert (
        refused(files)
        == "policy.toml:7: The policy file has no 'people'; there are capabilities, revision, rules."
    )


def test_what_everybody_can_write_deserves_a_look(files: Files) -> None:
    """Whoever writes it decides who decides."""
    files.policy.chmod(0o666)
    assert files.warnings() == [
        "policy.toml:1: Every user of this machine can write this file: take that right away."
    ]


def test_faults_come_by_file_and_line(files: Files) -> None:
    """The policy's first, then the directory's."""
    files.write("x = 1\n" + POLICY + "y = 1\n", DIRECTORY + "z = 1\n")
    assert [each.partition(": ")[0] for each in files.problems()] == [
        "policy.toml:1",
        "policy.toml:7",
        "directory.toml:20",
    ]


def test_a_problem_without_a_line_names_its_file() -> None:
    """And nothing more."""
    assert str(Problem(file="a", line=0, message="x.")) == "a: x."
    assert str(Problem(file="a", line=2, message="x.")) == "a:2: x."


def test_a_file_looks_other_when_it_is_replaced_or_written(files: Files) -> None:
    """Also by one of the same size and time, and when it is gone."""
    source: RulesAt = files.source
    looks = [source.look(), source.look()]
    assert looks[0] == looks[1]
    times = files.policy.stat().st_mtime_ns
    files.write()
    os.utime(files.policy, ns=(times, times))
    looks.append(source.look())
    files.policy.write_text("longer" * 100, encoding="utf-8")
    looks.append(source.look())
    files.policy.unlink()
    looks.append(source.look())
    assert len({repr(each) for each in looks}) == 4


SIGN_IN = """
[issuers."https://login.example".sign_in]
name = "example"
client_id = "c"
client_secret_file = "{file}"
"""


def test_a_secret_that_can_not_be_had_is_told(files: Files, tmp_path: Path) -> None:
    """With its path: the files can be used all the same, for the service may run where it can."""
    file = tmp_path / "oidc"
    files.write(directory=SIGN_IN.format(file=file) + DIRECTORY)
    missing = "directory.toml:5: {path} {why}: where the service runs it must be there, or nobody signs in."
    assert files.told(files.load().unusable) == [
        missing.format(path="oidc", why="can't be read (No such file or directory)")
    ]
    file.write_text("")
    file.chmod(0o440)
    assert files.told(files.load().unusable) == [missing.format(path="oidc", why="is empty")]
    file.write_text("s3cret")
    assert files.load().unusable == files.load().warnings == ()
    files.write("x = 1\n" + POLICY, SIGN_IN.format(file=tmp_path / "none") + DIRECTORY)
    with pytest.raises(RulesInvalid) as caught:
        files.load()
    assert [each.partition(" ")[0] for each in files.told(caught.value.warnings)] == ["directory.toml:5:"]


def test_a_secret_that_everybody_can_read_deserves_a_look(files: Files, tmp_path: Path) -> None:
    """Whatever leads to it."""
    (tmp_path / "..data").mkdir()
    file = tmp_path / "..data" / "oidc"
    file.write_text("s3cret")
    file.chmod(0o444)
    (tmp_path / "oidc").symlink_to(file)
    files.write(directory=SIGN_IN.format(file=tmp_path / "oidc") + DIRECTORY)
    (told,) = files.warnings()
    assert told == (
        "directory.toml:5: Everybody on this machine can read oidc: take that right away (chmod o-r; of a "
        "Kubernetes secret, defaultMode: 0440)."
    )
