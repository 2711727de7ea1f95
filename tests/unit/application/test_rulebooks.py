"""Rulebooks: what this process judges by, and what it can look for in its files."""

import logging

import pytest

from placet.application.rulebooks import NoFiles, Rulebooks
from placet.settings.rule_files import RulesInvalid
from tests.rulefiles import POLICY, Files

MAIL = POLICY.replace('"*"', '"mail.*"')


@pytest.fixture
def files(tmp_path: object) -> Files:
    """The files of a process."""
    return Files(tmp_path)  # type: ignore[arg-type]


class Counting:
    """A source that counts how often it is read."""

    def __init__(self, files: Files) -> None:
        self.source = files.source
        self.reads = 0

    def read(self) -> object:
        """As the files are."""
        self.reads += 1
        return self.source.read()

    def look(self) -> object:
        """As they look."""
        return self.source.look()


def over(files: Files) -> tuple[Rulebooks, Counting]:
    """Rulebooks that judge by these files."""
    source = Counting(files)
    books = Rulebooks(source)  # type: ignore[arg-type] # it is one, but for the types
    books.adopt(books.read())
    return books, source


def test_without_files_the_built_in_rule_is_known() -> None:
    """And no other."""
    books = Rulebooks(NoFiles())
    assert books.at("") is books.own
    assert books.at("another") is None
    books.adopt(books.read())
    assert (books.own.policies, books.own.generation.text) == (None, "")


def test_with_files_the_built_in_rule_is_not_known(files: Files) -> None:
    """A tenant that is judged by it is answered nothing here, rather than by what its roll does not name."""
    books, _ = over(files)
    assert books.at("") is None
    assert books.at(files.rulebook.generation.text) is books.own


def test_files_that_were_replaced_are_found(files: Files) -> None:
    """When a roll names them, and not before; what was before is known on."""
    books, source = over(files)
    before = books.own
    files.write(MAIL)
    assert books.at(before.generation.text) is before
    assert source.reads == 1
    found = books.at(files.rulebook.generation.text)
    assert found is books.own
    assert found is not before
    assert books.at(before.generation.text) is before


def test_files_are_read_once_for_what_they_are_not(files: Files) -> None:
    """However often somebody asks, until they are written again."""
    books, source = over(files)
    files.write(MAIL)
    for _ in range(3):
        assert books.at("another") is None
    assert source.reads == 2
    files.write(MAIL + "# again\n")
    assert books.at("another") is None
    assert source.reads == 3


def test_broken_files_are_nobody_s(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing changes, and the log has each fault."""
    books, source = over(files)
    files.write(POLICY + "x = 1\n")
    assert books.at("another") is None
    assert books.at("another") is None
    assert source.reads == 2
    (line,) = caplog.records
    assert (line.message, line.__dict__["line"]) == ("a rule file is wrong", 6)
    with pytest.raises(RulesInvalid):
        books.read()
    assert len(caplog.records) == 1, "whoever reads them is told by who had them read"


def test_a_file_that_is_gone_is_told_without_a_line(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    """There is none that it could have."""
    books, _ = over(files)
    files.policy.unlink()
    assert books.at("another") is None
    (line,) = caplog.records
    assert "line" not in line.__dict__
    assert line.__dict__["fault"] == "The policy file can't be read (No such file or directory)."


def test_doubts_go_to_the_log(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    """With file and line."""
    files.write(POLICY.replace('"bob"', '"zoe"'))
    with caplog.at_level(logging.WARNING):
        over(files)
    (line,) = caplog.records
    assert (line.message, line.__dict__["line"]) == ("a rule file deserves a look", 5)
    assert line.__dict__["file"].endswith("policy.toml")
