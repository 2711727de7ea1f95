"""The operator's policy file and directory file, read together: a rulebook, or every fault with its line."""

import os
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Final, TypeVar

from msgspec import Struct

from placet.domain import checks
from placet.domain.authority import Rulebook
from placet.domain.canonical import sha256_hex
from placet.domain.generation import Generation, Stamp
from placet.domain.limits import Limits
from placet.domain.people import Fault, Path, People
from placet.domain.rules import Policies
from placet.settings import directory_file, policy_file, secret_files, slack_tables, toml_faults
from placet.settings.tables import Table
from placet.settings.toml_lines import line_at, lines_of

FILE_MAX_BYTES: Final = 4 * 1024 * 1024
"""Some 20 000 people. A larger file is probably another one."""

_T = TypeVar("_T")
_HOLDS: Final[Mapping[str, tuple[str, ...]]] = {
    "policy": ("rules", "capabilities"),
    "directory": ("people", "issuers", "slack"),
}
"""What tells one kind of file from the other."""
_OF_A_KIND: Final = frozenset(name for names in _HOLDS.values() for name in names)


class Problem(Struct, frozen=True, kw_only=True):
    """What is wrong in a file, where, and what to write instead."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


class RulesAt(Struct, frozen=True):
    """The files of a running service, to be read again and again.

    Args:
        policy: The policy file; ``None`` for none.
        directory: The directory file; ``None`` for none.
        limits: The service's own bounds.
    """

    policy: FilePath | None
    directory: FilePath | None
    limits: Limits

    def read(self) -> "RuleFiles":
        """What they say now; raises as :func:`load` does."""
        return load(self.policy, self.directory, self.limits)

    def look(self) -> tuple[tuple[int, int, int] | None, ...]:
        """Other numbers whenever a file was replaced or written: inode, time of change, size."""
        return tuple(None if path is None else _looks(path) for path in (self.policy, self.directory))


class RulesInvalid(Exception):  # noqa: N818 - reads as what was found
    """The files can't be used.

    Attributes:
        problems: All that is wrong, by file and line.
        warnings: What should be looked at besides.
    """

    def __init__(self, problems: tuple[Problem, ...], warnings: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems
        self.warnings = warnings


class RuleFiles(Struct, frozen=True, kw_only=True):
    """What the files say, what should be looked at, and what they name that can't be used on this machine."""

    rulebook: Rulebook
    warnings: tuple[Problem, ...] = ()
    unusable: tuple[Problem, ...] = ()


def load(policy: FilePath | None, directory: FilePath | None, limits: Limits) -> RuleFiles:
    """Read the files; ``None`` where there is none.

    Args:
        policy: The policy file.
        directory: The directory file.
        limits: The service's own bounds, which no rule can go beyond.

    Raises:
        RulesInvalid: Something is wrong with one.
    """
    people = _File("directory", directory)
    rules = _File("policy", policy)
    listed = people.read(directory_file.read, directory_file.DirectoryFile())
    ruled = rules.read(policy_file.read, policy_file.PolicyFile())
    _tell_swapped(rules, people)
    everybody = People(listed.members)
    for fault in checks.faults_of(
        ruled.rules,
        ruled.floors,
        everybody if people.tells(directory_file.says_who_is_in) else None,
        listed.issuers,
        listed.slack if people.tells(directory_file.says_who_is_told) else None,
        limits,
        listed=directory is not None,
        unsure=rules.unsure,
    ):
        rules.faults.append(fault)
    unusable = tuple(people.look_at_secrets(_secrets(listed)))
    found = [*rules.problems(), *people.problems()]
    problems = tuple(problem for problem, warns in found if not warns)
    warnings = tuple(problem for problem, warns in found if warns)
    if problems:
        raise RulesInvalid(problems, (*warnings, *unusable))
    generation = Generation(policy=rules.stamp(ruled.revision), directory=people.stamp(listed.revision))
    policies = Policies(
        version=generation.version,
        rules=tuple(ruled.rules.values()),
        floors=tuple(ruled.floors.values()),
    )
    rulebook = Rulebook(
        people=everybody,
        policies=None if policy is None else policies,
        issuers=listed.issuers,
        slack=listed.slack,
        generation=generation,
    )
    return RuleFiles(rulebook=rulebook, warnings=warnings, unusable=unusable)


class _File:
    """One file on its way from bytes to what it says."""

    def __init__(self, kind: str, path: FilePath | None) -> None:
        self._kind = kind
        self._path = path
        self._bytes = b""
        self._lines: Mapping[Path, int] = {}
        self._unreadable: Problem | None = None
        self.faults: list[Fault] = []
        self.is_other: str | None = None
        """What shows that it is of the other kind."""

    @property
    def unsure(self) -> tuple[Path, ...]:
        """The places of which nobody knows what their author means."""
        return tuple(place for fault in self.faults if not fault.warns for place in fault.hidden)

    def tells(self, matters: Callable[[Path], bool]) -> bool:
        """Whether it could be read, with nothing wrong at any place that matters."""
        is_read = self._unreadable is None and self.is_other is None
        return is_read and not any(map(matters, self.unsure))

    def read(self, reader: Callable[[Table], _T], nothing: _T) -> _T:
        """What it says; ``nothing`` where there is none that can be read, or one of the other kind."""
        if self._path is None:
            return nothing
        try:
            text = self._text(self._path)
            document = _document(text)
        except _Unreadable as fault:
            self._unreadable = self._problem(fault.line, str(fault))
            return nothing
        self._lines = lines_of(text)
        if not any(name in document for name in _HOLDS[self._kind]):
            self.is_other = next((name for name in document if name in _OF_A_KIND), None)
        if self.is_other is not None:
            return nothing
        return reader(Table(document, (), f"the {self._kind} file", self.faults))

    def look_at_secrets(self, named: Iterable[tuple[Path, str, str]]) -> Iterator[Problem]:
        """Secrets that can't be had here; those that everybody can have are noted as what deserves a look."""
        for path, file, needed in named:
            try:
                secret_files.read(file)
            except secret_files.SecretUnusable as fault:
                message = f"{fault}: where the service runs it must be there, or {needed}."
                yield self._problem(line_at(self._lines, path), message)
            if secret_files.is_open_to_all(file):
                message = (
                    f"Everybody on this machine can read {file}: take that right away (chmod o-r; of a "
                    "Kubernetes secret, defaultMode: 0440)."
                )
                self.faults.append(Fault(path=path, message=message, warns=True))

    def problems(self) -> list[tuple[Problem, bool]]:
        """All that was noted, by line, and whether it only warns."""
        found = [
            (self._problem(line_at(self._lines, fault.path), fault.message), fault.warns)
            for fault in self.faults
        ]
        if self._unreadable is not None:
            found.append((self._unreadable, False))
        return sorted(found, key=lambda each: each[0].line)

    def stamp(self, revision: int) -> Stamp | None:
        """What names it."""
        return None if self._path is None else Stamp(sha256=sha256_hex(self._bytes), revision=revision)

    def _problem(self, line: int, message: str) -> Problem:
        return Problem(file=str(self._path), line=line, message=message)

    def _text(self, path: FilePath) -> str:
        try:
            with path.open("rb") as stream:
                self._bytes = stream.read(FILE_MAX_BYTES + 1)
                mode = os.fstat(stream.fileno()).st_mode
        except OSError as fault:
            why = fault.strerror or type(fault).__name__
            raise _Unreadable(0, f"The {self._kind} file can't be read ({why}).") from fault
        if len(self._bytes) > FILE_MAX_BYTES:
            raise _Unreadable(0, f"A {self._kind} file has {FILE_MAX_BYTES} bytes at most.")
        if mode & stat.S_IWOTH:
            message = "Every user of this machine can write this file: take that right away."
            self.faults.append(Fault(path=(), message=message, warns=True))
        try:
            return self._bytes.decode("utf-8-sig")  # editors that begin a file with a mark are forgiven
        except UnicodeDecodeError as fault:
            line = self._bytes.count(b"\n", 0, fault.start) + 1
            raise _Unreadable(line, "It is not UTF-8 here: save the file as UTF-8.") from fault


def _secrets(listed: directory_file.DirectoryFile) -> Iterator[tuple[Path, str, str]]:
    """Every file with a secret that a directory names: where it does, its path, and what comes of it else."""
    for iss, issuer in listed.issuers.items():
        if issuer.sign_in is not None and issuer.sign_in.client_secret_file is not None:
            place = ("issuers", iss, "sign_in", "client_secret_file")
            yield place, issuer.sign_in.client_secret_file, "nobody signs in"
    yield from slack_tables.secrets(listed.slack)


def _looks(path: FilePath) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


class _Unreadable(Exception):  # noqa: N818 - caught here
    """Nothing of a file can be read."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def _document(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError as fault:
        raise _Unreadable(1, "It is nested too deeply.") from fault
    except ValueError as fault:  # numbers that are too long to be read are one too
        raise _Unreadable(*toml_faults.told(fault, text)) from fault


def _tell_swapped(rules: _File, people: _File) -> None:
    """Note that a file is of the other kind, in place of all that is wrong with it then; of two, once."""
    if rules.is_other and people.is_other:
        message = "This is a directory file, and the directory file is a policy file: exchange the two."
        rules.faults.append(Fault(path=(rules.is_other,), message=message))
    elif rules.is_other:
        message = (
            "This is a directory file: give it as one (--directory or PLACET_DIRECTORY_FILE), and the policy "
            "in its place."
        )
        rules.faults.append(Fault(path=(rules.is_other,), message=message))
    elif people.is_other:
        message = (
            "This is a policy file: give it as one (PLACET_POLICY_FILE), and the directory in its place."
        )
        people.faults.append(Fault(path=(people.is_other,), message=message))
